"""Truth maintenance against the naive labeller (tests/unit/stance/naive.py), and the cases that have names."""

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.stance.explain import MAX_DEPTH, Why, WhyNot
from braid.stance.jtms import Label, Network
from tests.unit.stance.naive import Rule
from tests.unit.stance.naive import label as naive_label

NODES = [f"n{i}" for i in range(8)]
node = st.sampled_from(NODES)
some = st.frozensets(node, max_size=3)
rules = st.lists(st.builds(Rule, node, some, some), max_size=20)


def network_of(given_rules: list[Rule]) -> tuple[Network, list[int]]:
    net = Network()
    return net, [net.justify(rule.head, sorted(rule.inn), sorted(rule.out)) for rule in given_rules]


def labels(net: Network) -> dict[str, str]:
    return {name: str(label) for name, label in net.labels().items()}


def expected(given_rules: list[Rule], net: Network) -> dict[str, str]:
    return naive_label(given_rules, net.labels())


# Labels.


@given(rules)
def test_labels_are_the_well_founded_model(given_rules: list[Rule]) -> None:
    net, _ = network_of(given_rules)
    assert labels(net) == expected(given_rules, net)


@given(rules, st.lists(st.integers(0, 19), max_size=30))
def test_every_change_leaves_the_labels_of_a_labeller_that_starts_anew(
    given_rules: list[Rule], switched: list[int]
) -> None:
    net, numbers = network_of([])
    on: list[Rule] = []
    for rule in given_rules:
        numbers.append(net.justify(rule.head, rule.inn, rule.out))
        on.append(rule)
        assert labels(net) == expected(on, net)
    live = [True] * len(given_rules)
    for k in (k for k in switched if k < len(given_rules)):
        live[k] = not live[k]
        (net.restore if live[k] else net.retract)(numbers[k])
        assert labels(net) == expected([r for r, alive in zip(given_rules, live, strict=True) if alive], net)


@given(st.data())
def test_larger_networks_under_batches_of_changes(data: st.DataObject) -> None:
    """Enough nodes for parts of a network to stay as they are, so that what is kept is put to the test."""
    random = Random(data.draw(st.integers(0, 2**32)))
    names = [f"m{i}" for i in range(random.randint(10, 60))]
    density = random.choice([1, 2, 3])

    def pick(most: int) -> frozenset[str]:
        return frozenset(random.choices(names, k=random.randint(0, most)))

    given_rules = [
        Rule(random.choice(names), pick(2), pick(random.choice([0, 1, 2])))
        for _ in range(len(names) * density)
    ]
    net, numbers = network_of(given_rules)
    live = [True] * len(given_rules)
    for _ in range(12):
        for _ in range(random.choice([1, 1, 2, 5])):
            k = random.randrange(len(live))
            live[k] = not live[k]
            (net.restore if live[k] else net.retract)(numbers[k])
        assert labels(net) == expected([r for r, alive in zip(given_rules, live, strict=True) if alive], net)


@given(rules, st.randoms(use_true_random=False))
def test_the_order_of_insertion_does_not_matter(given_rules: list[Rule], random: Random) -> None:
    net, _ = network_of(given_rules)
    shuffled = given_rules[:]
    random.shuffle(shuffled)
    other, _ = network_of([])
    for rule in shuffled:
        other.justify(rule.head, rule.inn, rule.out)
        if random.random() < 0.5:
            other.labels()
    assert labels(other) == labels(net)


@given(rules, st.lists(st.integers(0, 19), max_size=6, unique=True))
def test_retract_then_restore_gives_the_same_labels(given_rules: list[Rule], gone: list[int]) -> None:
    net, numbers = network_of(given_rules)
    before = labels(net)
    chosen = [numbers[k] for k in gone if k < len(numbers)]
    for number in chosen:
        net.retract(number)
        net.labels()
    for number in chosen:
        net.restore(number)
        net.labels()
    assert labels(net) == before


@given(rules)
def test_from_scratch_is_what_was_maintained(given_rules: list[Rule]) -> None:
    net, _ = network_of([])
    for rule in given_rules:
        net.justify(rule.head, rule.inn, rule.out)
        net.labels()
    before = net.labels()
    net.relabel()
    assert net.labels() == before


def test_believe_unless() -> None:
    net = Network()
    net.premise("bird")
    net.justify("flies", inn=["bird"], out=["penguin"], why="birds fly unless they are penguins")
    assert net.label("flies") is Label.IN
    net.premise("penguin")
    assert net.label("flies") is Label.OUT
    net.retract("penguin")
    assert net.label("flies") is Label.IN


def test_what_the_defeated_had_defeated_comes_and_goes() -> None:
    """Leeds, unless Hull is newer; Hull, unless it is retracted; the retraction, unless that is taken back."""
    net = Network()
    for name in ("leeds", "hull", "retraction", "take-back"):
        net.premise(f"r:{name}")
    net.justify("leeds", inn=["r:leeds"], out=["hull"])
    net.justify("hull", inn=["r:hull"], out=["retraction"])
    net.justify("retraction", inn=["r:retraction"], out=["take-back"])
    net.justify("take-back", inn=["r:take-back"])
    homes = [("r:take-back", "hull"), ("r:retraction", "leeds")]
    assert net.label("hull") is Label.IN
    net.retract("r:take-back")
    assert [net.label(one) for one in ("leeds", "hull")] == [Label.IN, Label.OUT]
    net.retract("r:retraction")
    assert [net.label(one) for one in ("leeds", "hull")] == [Label.OUT, Label.IN]
    for record, home in homes[::-1]:
        net.restore(record)
        assert net.label("hull" if home == "leeds" else home) in (Label.IN, Label.OUT)
    assert net.label("hull") is Label.IN


def test_support_is_well_founded() -> None:
    """Two that support each other, and nothing else does any more, are out: the classic trap of counting."""
    net = Network()
    net.premise("seen")
    net.justify("a", inn=["b"])
    net.justify("b", inn=["a"])
    net.justify("a", inn=["seen"])
    assert (net.label("a"), net.label("b")) == (Label.IN, Label.IN)
    net.retract("seen")
    assert (net.label("a"), net.label("b")) == (Label.OUT, Label.OUT)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 101])
def test_loops_through_out_lists_are_undecided(length: int) -> None:
    """Odd ones have no labels, even ones two sets: neither is chosen."""
    net = Network()
    for k in range(length):
        net.justify(f"l{k}", out=[f"l{(k + 1) % length}"])
    net.justify("beside", out=["nothing"])
    net.justify("above", inn=["l0"])
    loop = sorted(f"l{k}" for k in range(length))
    assert net.undecided() == tuple(sorted(["above", *loop]))
    assert net.label("beside") is Label.IN
    told = net.why_not("l0")
    assert told.undecided
    net.premise("l0")
    assert net.undecided() == ()
    assert net.label("above") is Label.IN
    net.retract("l0")
    assert net.undecided() == tuple(sorted(["above", *loop]))


# Why.


def walk(told: Why | WhyNot) -> Iterator[Why | WhyNot]:
    yield told
    below: list[Why | WhyNot] = []
    if isinstance(told, Why):
        below += [*told.inn, *told.out]
    else:
        for failed in told.failed:
            below += [*failed.missing, *failed.unless]
    for one in below:
        yield from walk(one)


@given(rules, st.lists(st.integers(0, 19), max_size=8))
def test_every_why_ends_in_what_needs_no_support(given_rules: list[Rule], switched: list[int]) -> None:
    net, numbers = network_of(given_rules)
    believed = net.labels()
    live = [True] * len(numbers)
    for k in (k for k in switched if k < len(numbers)):
        live[k] = not live[k]
        (net.restore if live[k] else net.retract)(numbers[k])
        believed = net.labels()
    by_number = dict(zip(numbers, given_rules, strict=True))
    for name, label in believed.items():
        if label is not Label.IN:
            assert net.why_not(name).undecided == (label is Label.UNDECIDED)
            with pytest.raises(ValueError, match="ask why_not"):
                net.why(name)
            continue
        with pytest.raises(ValueError, match="is in: ask why"):
            net.why_not(name)
        expanded = {one.node for one in walk(net.why(name)) if not one.elsewhere}
        for told in walk(net.why(name)):
            if isinstance(told, WhyNot):
                continue
            rule = by_number[told.justification]
            assert rule.head == told.node
            assert all(believed[one] is Label.IN for one in rule.inn)
            assert all(believed[one] is Label.OUT for one in rule.out)
            assert told.node in expanded
            if not told.elsewhere:
                assert {one.node for one in told.inn} == rule.inn
        assert not circular(net, name, by_number)


def circular(net: Network, name: str, by_number: dict[int, Rule]) -> bool:
    """Whether the supports below a node lead back to where they have been, along in-lists."""
    supports: dict[str, frozenset[str]] = {}

    def leads_back(one: str, path: frozenset[str]) -> bool:
        if one in path:
            return True
        supports.setdefault(one, by_number[net.why(one).justification].inn)
        return any(leads_back(below, path | {one}) for below in supports[one])

    return leads_back(name, frozenset())


def test_why_and_why_not_end_in_records() -> None:
    net = Network()
    net.premise("r:12", why="said on 3 May")
    net.premise("r:40", why="said on 9 June")
    net.justify("home is Hull", inn=["r:40"], out=["r:51"], why="claim 0 of r:40")
    net.justify("home is Leeds", inn=["r:12"], out=["home is Hull"], why="claim 0 of r:12")
    why = net.why("home is Hull")
    assert (why.because, [one.node for one in why.inn]) == ("claim 0 of r:40", ["r:40"])
    assert why.inn[0].because == "said on 9 June"
    assert why.out == (WhyNot("r:51"),)
    not_leeds = net.why_not("home is Leeds")
    (failed,) = not_leeds.failed
    assert (failed.because, failed.missing) == ("claim 0 of r:12", ())
    assert failed.unless == (why,)
    assert net.foundations("home is Hull") == ("r:40",)
    net.retract("r:12")
    (failed,) = net.why_not("home is Leeds").failed
    assert [one.node for one in failed.missing] == ["r:12"]
    assert failed.missing[0].failed[0].retracted


def test_a_deep_why_is_cut_and_its_foundations_are_not() -> None:
    net = Network()
    net.premise("c0")
    for k in range(5_000):
        net.justify(f"c{k + 1}", inn=[f"c{k}"])
    told = list(walk(net.why("c5000")))
    assert len(told) == MAX_DEPTH + 1
    assert told[-1].elsewhere
    assert net.foundations("c5000") == ("c0",)
    net.retract("c0")
    assert len(list(walk(net.why_not("c5000")))) == MAX_DEPTH + 1


def test_what_is_shared_is_explained_once() -> None:
    net = Network()
    net.premise("p")
    for k in range(40):  # 2⁴⁰ paths
        net.justify(f"d{k}", inn=[f"d{k - 1}" if k else "p", f"e{k - 1}" if k else "p"])
        net.justify(f"e{k}", inn=[f"d{k - 1}" if k else "p", f"e{k - 1}" if k else "p"])
    told = list(walk(net.why("d39")))
    assert sum(not one.elsewhere for one in told) <= 82 + sum(one.node == "p" for one in told)
    assert len(told) < 400


# Refusals.


def test_what_is_refused() -> None:
    net = Network()
    net.premise("p")
    net.justify("c", inn=["p"])
    net.assume("a", (1.0,))
    for ask in (net.label, net.why, net.why_not, net.foundations, net.retract, net.restore):
        with pytest.raises(ValueError, match="there is no node 'x'"):
            ask("x")
    for number in (-1, 99):
        with pytest.raises(ValueError, match=f"there is no justification {number}"):
            net.retract(number)
    with pytest.raises(ValueError, match="'c' is neither premise nor assumption: retract a justification"):
        net.retract("c")
    with pytest.raises(ValueError, match="assumed already, with rank"):
        net.assume("a", (2.0,))
    with pytest.raises(ValueError, match="not a number"):
        net.assume("b", (float("nan"),))
    with pytest.raises(ValueError, match="at least one node"):
        net.nogood([])
    net.retract("p")
    with pytest.raises(ValueError, match="'c' is out: it rests on nothing"):
        net.foundations("c")
    assert "x" not in net
    assert "b" not in net or net.label("b") is Label.OUT


def test_saying_it_twice_changes_nothing() -> None:
    net = Network()
    assert net.premise("p") == net.premise("p")
    assert net.assume("a", (1.0,)) == net.assume("a", (1.0,))
    net.retract("a")
    net.retract("a")
    assert net.label("a") is Label.OUT
    net.restore("a")
    assert net.label("a") is Label.IN
    assert len(net) == 2
