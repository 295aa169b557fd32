"""What truth maintenance and pooling cost: labelling from scratch, one retraction, one pooled answer."""

from collections.abc import Iterator
from functools import partial
from itertools import cycle
from random import Random

from braid.stance.jtms import Network
from braid.stance.pool import Evidence, pool
from braid.tools.bench.context import Bench, Measure
from braid.tools.bench.measure import Figure, Floor, Target, against, figure, per_second, seconds_of

MOST = 100_000
"""Beyond it only memory is measured."""
JUSTIFICATIONS = 3
PREMISES = 10
"""One node in so many is a premise: a record."""
LOOSE = 50
"""One justification in so many may name any node, so that loops come about, through out-lists too."""
RETRACTED = 200
RETELLINGS = 4
LABELLING = Target("value", "≤", 2.0, 100_000)


def labelling(bench: Bench, n: int) -> Iterator[Figure]:
    """Label a network of n nodes and 3 n justifications; then take premises away and bring them back."""
    if n > MOST:
        return
    bench.told(f"building a network of {n:,} nodes")
    net = network(n, bench.seed)
    floor = Floor("looking at each antecedent once", partial(_look, antecedents(n, bench.seed)))
    relabelled = against(
        "stance.label", n, "s", partial(seconds_of, net.relabel), floor=floor, rounds=bench.rounds
    )
    yield relabelled.held_to(LABELLING)
    names = [f"n{k}" for k in range(premises(n))]
    chosen = Random(bench.seed).sample(names, min(RETRACTED, len(names)))
    before = net.visited
    seconds = seconds_of(partial(_take_and_give, net, chosen))
    yield figure("stance.retract", n, "ms", seconds * 1e3 / (2 * len(chosen)))
    yield figure("stance.retract.visited", n, "nodes", (net.visited - before) / (2 * len(chosen)))


def network(n: int, seed: int) -> Network:
    """Return a network of n nodes: beliefs over beliefs over records, half of them with exceptions."""
    net = Network()
    for k in range(premises(n)):
        net.premise(f"n{k}")
    for head, inn, out in _justifications(n, seed):
        net.justify(f"n{head}", [f"n{one}" for one in inn], [f"n{one}" for one in out])
    return net


def premises(n: int) -> int:
    """Return how many of n nodes are premises: the first ones."""
    return max(1, n // PREMISES)


def antecedents(n: int, seed: int) -> list[int]:
    """Return every antecedent of the network, in the order of its justifications."""
    return [one for _, inn, out in _justifications(n, seed) for one in (*inn, *out)]


def _justifications(n: int, seed: int) -> Iterator[tuple[int, list[int], list[int]]]:
    random, first = Random(seed), premises(n)
    for number in range(n * JUSTIFICATIONS):
        head = first + number if first + number < n else random.randrange(first, n)
        below = n if number % LOOSE == 0 else head
        inn = [random.randrange(below) for _ in range(random.randint(1, 2))]
        yield head, inn, [random.randrange(below) for _ in range(random.randint(0, 1))]


def _look(nodes: list[int]) -> float:
    """Return the seconds that the least of a labeller takes: to ask for the label of each antecedent."""
    labels = [0] * (max(nodes) + 1)

    def act() -> None:
        for node in nodes:
            if not labels[node]:
                labels[node] = 1

    return seconds_of(act)


def _take_and_give(net: Network, names: list[str]) -> None:
    for name in names:
        net.retract(name)
        net.label(name)
        net.restore(name)
        net.label(name)


def pooling(bench: Bench, n: int) -> Iterator[Figure]:
    """Pool n pieces of evidence, each occurrence of which has been retold a few times."""
    if n > MOST:
        return
    ps = cycle((0.7, 0.4, 0.15, 0.05))
    evidence = [Evidence(next(ps), frozenset((k // RETELLINGS,))) for k in range(n)]
    floor = Floor("the log-odds of each, summed", partial(_sum, evidence))
    yield against(
        "stance.pool",
        n,
        "pieces/s",
        lambda: per_second(partial(pool, evidence), n),
        floor=floor,
        rounds=bench.rounds,
    )


def _sum(evidence: list[Evidence]) -> float:
    from math import fsum

    from braid.stance.pool import logit

    return per_second(lambda: fsum(logit(one.p) for one in evidence), len(evidence))


MEASURES = (
    Measure(("stance.label", "stance.retract", "stance.retract.visited"), labelling),
    Measure(("stance.pool",), pooling),
)
