"""The well-founded model of a network: which nodes are IN, which OUT, which neither (Van Gelder, Ross, Schlipf 1991).

Justifications are rules of a normal logic program. Its well-founded model is the one set of labels that needs no
choice: a node is IN only by a derivation that ends in what needs no support, OUT only when every derivation fails,
and undecided when it hangs on its own absence. A loop through an odd number of out-lists has no two-valued labels at
all, one through an even number has several; both are undecided here. To choose among several would let the order of
the records, or of their names, decide what is true.

Three steps, each taken again while it finds something:
1. Counting (Dowling and Gallier 1984): a justification whose last antecedent is settled fires, a node whose last
   justification is blocked is OUT. Linear, and the end of it where no loop is.
2. What is left and leans only on itself is OUT: nodes without a *source*, a justification that could still fire and
   whose in-list does not lead back (the source pointers of Simons, Niemelä and Soininen 2002). Sources are looked for
   again only where one was lost, and only within one strongly connected part of the in-lists: the cost is linear but
   for loops inside loops.
3. What still has a source is undecided.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

UNDECIDED: Final = 0
IN: Final = 1
OUT: Final = 2
FREE: Final = -1
"""Nothing is known to block a justification."""
RETRACTED: Final = -2


class Rules:
    """Justifications as parallel lists, by number, and the labels of nodes with what they rest on."""

    def __init__(self) -> None:
        self.label: list[int] = []
        self.stamp: list[int] = []
        """When a label was found; see `dependencies`."""
        self.support: list[int] = []
        """Of an IN node: the justification it rests on."""
        self.concluding: list[list[int]] = []
        """Node to the justifications that conclude it."""
        self.by_in: list[list[int]] = []
        """Node to the justifications with it in their in-list."""
        self.by_out: list[list[int]] = []
        self.head: list[int] = []
        self.inn: list[tuple[int, ...]] = []
        self.out: list[tuple[int, ...]] = []
        self.blocker: list[int] = []
        """Of a justification whose head is OUT: the antecedent that fails; else FREE, or RETRACTED."""
        self.open: list[int] = []
        """Of a node being labelled: its justifications not yet blocked."""
        self.missing: list[int] = []
        """Of a justification of such a node: its antecedents not yet settled."""
        self.clock = 0

    def add_node(self) -> int:
        """Return the number of a new node, which nothing supports: OUT."""
        self.label.append(OUT)
        self.stamp.append(0)
        self.support.append(FREE)
        self.concluding.append([])
        self.by_in.append([])
        self.by_out.append([])
        self.open.append(0)
        return len(self.label) - 1

    def add_rule(self, head: int, inn: tuple[int, ...], out: tuple[int, ...]) -> int:
        """Return the number of a new justification."""
        number = len(self.head)
        self.head.append(head)
        self.inn.append(inn)
        self.out.append(out)
        self.blocker.append(FREE)
        self.missing.append(0)
        self.concluding[head].append(number)
        for node in inn:
            self.by_in[node].append(number)
        for node in out:
            self.by_out[node].append(number)
        return number

    def add_exception(self, rule: int, node: int) -> None:
        """Add a node to a justification's out-list."""
        self.out[rule] += (node,)
        self.by_out[node].append(rule)


def label_region(rules: Rules, region: Sequence[int]) -> None:
    """Label the nodes of a region: all undecided, and with every undecided node that hangs on one of them."""
    _close(rules, _begin(rules, region), region)


def label_all(rules: Rules) -> None:
    """Label every node, whatever the labels are."""
    _close(rules, _begin_all(rules), range(len(rules.label)))


def _close(rules: Rules, settled: list[int], region: Sequence[int]) -> None:
    _propagate(rules, settled)
    label = rules.label
    if left := [node for node in region if label[node] == UNDECIDED]:
        _starve(rules, left)


def _begin_all(rules: Rules) -> list[int]:
    """As `_begin`, of everything: nothing is settled yet, so that nothing is read but how long the lists are."""
    blocker, missing = rules.blocker, rules.missing
    rules.label = [UNDECIDED] * len(rules.label)
    rules.open = [len(concluding) for concluding in rules.concluding]
    rules.support = [FREE] * len(rules.label)
    for rule, (inn, out) in enumerate(zip(rules.inn, rules.out, strict=True)):
        if blocker[rule] == RETRACTED:
            rules.open[rules.head[rule]] -= 1
            continue
        blocker[rule] = FREE
        missing[rule] = count = len(inn) + len(out)
        if not count:
            rules.support[rules.head[rule]] = rule
    found = [
        node
        for node, (free, rule) in enumerate(zip(rules.open, rules.support, strict=True))
        if rule != FREE or not free
    ]
    _settle(rules, found)
    return found


def _begin(rules: Rules, region: Sequence[int]) -> list[int]:
    """Count what each justification of the region misses; return the nodes that are settled by that alone."""
    # Settled nodes get their labels after all is counted: propagating then subtracts each of them once.
    found: list[int] = []
    for node in region:
        free = 0
        for rule in rules.concluding[node]:
            if rules.blocker[rule] == RETRACTED or _is_blocked(rules, rule):
                continue
            free += 1
            if not rules.missing[rule]:
                rules.support[node] = rule
                found.append(node)
                break
        else:
            rules.open[node] = free
            if not free:
                rules.support[node] = FREE
                found.append(node)
    _settle(rules, found)
    return found


def _is_blocked(rules: Rules, rule: int) -> bool:
    """Note what blocks a justification, or how much it misses."""
    label, count = rules.label, 0
    for antecedents, wanted in ((rules.inn[rule], IN), (rules.out[rule], OUT)):
        for one in antecedents:
            if not label[one]:
                count += 1
            elif label[one] != wanted:
                rules.blocker[rule] = one
                return True
    rules.blocker[rule], rules.missing[rule] = FREE, count
    return False


def _settle(rules: Rules, nodes: Iterable[int]) -> None:
    """Label nodes by whether they have a support."""
    for node in nodes:
        rules.clock += 1
        rules.stamp[node] = rules.clock
        rules.label[node] = OUT if rules.support[node] == FREE else IN


def _propagate(rules: Rules, settled: list[int]) -> None:
    """Settle all that follows by counting; `settled` grows by it. First in, first out: the shortest reasons win."""
    label, stamp, support, head = rules.label, rules.stamp, rules.support, rules.head
    blocker, missing, free = rules.blocker, rules.missing, rules.open
    by_in, by_out = rules.by_in, rules.by_out
    clock = rules.clock
    for node in settled:
        if label[node] == IN:
            fed, cut = by_in[node], by_out[node]
        else:
            fed, cut = by_out[node], by_in[node]
        for rule in fed:
            # A blocked justification keeps its blocker among what it misses, so that it never gets to nothing.
            missing[rule] -= 1
            if not missing[rule] and blocker[rule] == FREE:
                above = head[rule]
                if not label[above]:
                    clock += 1
                    label[above], stamp[above], support[above] = IN, clock, rule
                    settled.append(above)
        for rule in cut:
            if blocker[rule] == FREE:
                blocker[rule] = node
                above = head[rule]
                free[above] -= 1
                if not free[above] and not label[above]:
                    clock += 1
                    label[above], stamp[above], support[above] = OUT, clock, FREE
                    settled.append(above)
    rules.clock = clock


def _starve(rules: Rules, left: list[int]) -> None:
    """Label OUT what leans only on itself, and what follows, until every undecided node has a source."""
    source: dict[int, int] = {}
    part: dict[int, int] = {}
    doubted = left
    while unfounded := _resource(rules, doubted, source):
        _drop_together(rules, unfounded)
        _propagate(rules, unfounded)
        lost = _lost(rules, unfounded, source)
        if lost and not part:  # most networks never get here
            part = _parts(rules, [node for node in left if rules.label[node] == UNDECIDED])
        doubted = _leaning(rules, lost, source, part)


def _drop_together(rules: Rules, nodes: Sequence[int]) -> None:
    """Label OUT, with one stamp, nodes each of whose justifications needs another of them."""
    rules.clock += 1
    together = set(nodes)
    for node in nodes:
        rules.label[node], rules.stamp[node], rules.support[node] = OUT, rules.clock, FREE
        for rule in rules.concluding[node]:
            if rules.blocker[rule] == FREE:
                rules.blocker[rule] = next(filter(together.__contains__, rules.inn[rule]))


def _resource(rules: Rules, nodes: Sequence[int], source: dict[int, int]) -> list[int]:
    """Find a source for each of the nodes, from what has one outwards; return those that get none."""
    head, inn, blocker, by_in = rules.head, rules.inn, rules.blocker, rules.by_in
    for node in nodes:
        source.pop(node, None)
    pending = set(nodes)
    is_pending = pending.__contains__
    waits: dict[int, int] = {}
    ready: list[int] = []
    for node in nodes:
        for rule in rules.concluding[node]:
            if blocker[rule] == FREE:
                count = sum(map(is_pending, inn[rule]))
                if not count:
                    source[node] = rule
                    ready.append(node)
                    break
                waits[rule] = count
    for node in ready:  # grows as it is walked
        for rule in by_in[node]:
            if rule in waits:
                waits[rule] -= 1
                above = head[rule]
                if not waits[rule] and above not in source:
                    source[above] = rule
                    ready.append(above)
    return [node for node in nodes if node not in source]


def _lost(rules: Rules, settled: Sequence[int], source: dict[int, int]) -> dict[int, None]:
    """Return the undecided nodes whose source is blocked by one of those that were just settled."""
    label, head = rules.label, rules.head
    lost: dict[int, None] = {}
    for node in settled:
        for rule in rules.by_out[node] if label[node] == IN else rules.by_in[node]:
            above = head[rule]
            if label[above] == UNDECIDED and source.get(above) == rule:
                lost[above] = None
    return lost


def _leaning(rules: Rules, lost: dict[int, None], source: dict[int, int], part: dict[int, int]) -> list[int]:
    """Return the nodes that lost their source, and those of the same part whose source leans on one of them."""
    doubted = list(lost)
    for node in doubted:  # grows as it is walked
        for rule in rules.by_in[node]:
            above = rules.head[rule]
            if rules.label[above] != UNDECIDED or above in lost or source.get(above) != rule:
                continue
            if part[above] == part[node]:
                lost[above] = None
                doubted.append(above)
    return doubted


def _parts(rules: Rules, nodes: Sequence[int]) -> dict[int, int]:
    """Number the strongly connected parts of undecided nodes along in-lists (Tarjan 1972, without recursion)."""
    part: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    for root in nodes:
        if root in low:
            continue
        low[root] = len(low)
        path.append(root)
        work = [(root, low[root], _below(rules, root))]
        while work:
            node, number, below = work[-1]
            for one in below:
                if one not in low:
                    low[one] = len(low)
                    path.append(one)
                    work.append((one, low[one], _below(rules, one)))
                    break
                if one not in part:
                    low[node] = min(low[node], low[one])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number:
                    while True:
                        one = path.pop()
                        part[one] = number
                        if one == node:
                            break
    return part


def _below(rules: Rules, node: int) -> Iterator[int]:
    """Yield the undecided nodes in the in-lists of a node's justifications that are not blocked."""
    for rule in rules.concluding[node]:
        if rules.blocker[rule] == FREE:
            for one in rules.inn[rule]:
                if rules.label[one] == UNDECIDED:
                    yield one
