"""Contradictions: who gives way, what comes back, and that it does not depend on the order."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import combinations, pairwise, permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.ledger.record.record import SourceType
from braid.stance.culprit import STANDING
from braid.stance.jtms import Label, Network, NetworkConflict

OLD, NEW = datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)
ASSUMED = [f"a{i}" for i in range(6)]
nogoods = st.lists(st.sets(st.sampled_from(ASSUMED), min_size=1, max_size=4).map(sorted), max_size=8)


def accepted(
    ranked: Sequence[str], rules: Sequence[tuple[str, Sequence[str]]], bad: Sequence[Sequence[str]]
) -> set[str]:
    """Accept assumptions from the highest rank down, each unless it then contradicts: what backtracking should find."""
    chosen: set[str] = set()
    for one in ranked:
        true = chosen | {one}
        while more := {head for head, inn in rules if set(inn) <= true} - true:
            true |= more
        if not any(set(nogood) <= true for nogood in bad):
            chosen.add(one)
    return chosen


def held(net: Network, names: Sequence[str]) -> set[str]:
    return {name for name in names if net.label(name) is Label.IN}


def test_the_lowest_rank_gives_way_and_comes_back() -> None:
    net = Network()
    net.assume("stated", (3.0,))
    net.assume("inferred", (1.0,))
    net.justify("follows", inn=["inferred"])
    net.nogood(["stated", "inferred"], why="one home")
    assert held(net, ["stated", "inferred", "follows"]) == {"stated"}
    told = net.why_not("inferred").failed[0]
    assert [one.node for one in told.unless] == ["inferred is defeated"]
    net.retract("stated")
    assert held(net, ["stated", "inferred", "follows"]) == {"inferred", "follows"}
    net.restore("stated")
    assert held(net, ["stated", "inferred", "follows"]) == {"stated"}


def test_a_nogood_can_be_taken_back() -> None:
    net = Network()
    net.assume("a", (2.0,))
    net.assume("b", (1.0,))
    clash = net.nogood(["a", "b"])
    assert net.label("b") is Label.OUT
    net.retract(clash)
    assert held(net, "ab") == {"a", "b"}
    net.restore(clash)
    assert held(net, "ab") == {"a"}


def test_who_gave_way_to_the_defeated_holds_again() -> None:
    """c gives way to b, b to a: so c holds. With a gone, b holds and c does not."""
    net = Network()
    for rank, name in enumerate("cba"):
        net.assume(name, (float(rank),))
    net.nogood("bc")
    net.nogood("ab")
    assert held(net, "abc") == {"a", "c"}
    net.retract("a")
    assert held(net, "abc") == {"b"}


def test_equal_ranks_are_undecided() -> None:
    net = Network()
    net.assume("sure", (2.0,))
    for name in ("leeds", "hull"):
        net.assume(name, (1.0,))
    net.nogood(["leeds", "hull", "sure"])
    assert net.label("sure") is Label.IN
    assert net.undecided() == ("hull", "leeds")
    net.retract("hull")
    assert net.label("leeds") is Label.IN


def test_a_derived_contradiction_finds_its_culprit_below() -> None:
    net = Network()
    net.premise("r:1")
    net.assume("low", (1.0,))
    net.assume("high", (2.0,))
    net.assume("apart", (0.0,))
    net.justify("x", inn=["low", "r:1"])
    net.justify("y", inn=["high"])
    last = net.justify("absurd", inn=["x", "y"], out=["excused"])
    net.contradiction("absurd")
    assert held(net, ["low", "high", "apart", "absurd"]) == {"high", "apart"}
    for back in ("r:1", "high", last):  # each was needed for the contradiction
        net.retract(back)
        assert net.label("low") is Label.IN
        net.restore(back)
        assert net.label("low") is Label.OUT
    net.premise("excused")
    assert held(net, ["low", "high", "absurd"]) == {"low", "high"}


def test_contradictions_among_premises_stand_and_are_named() -> None:
    net = Network()
    net.premise("r:2")
    net.premise("r:1")
    net.assume("a", (1.0,))
    net.nogood(["r:1", "r:2"], why="born twice")
    net.justify("absurd", inn=["r:1"])
    net.contradiction("absurd")
    assert net.conflicts() == (
        NetworkConflict("absurd", ("r:1",)),
        NetworkConflict("born twice", ("r:1", "r:2")),
    )
    assert net.label("a") is Label.IN
    net.retract("r:1")
    assert net.conflicts() == ()


def test_what_is_already_in_can_be_called_a_contradiction() -> None:
    net = Network()
    net.assume("a", (1.0,))
    net.justify("x", inn=["a"])
    assert net.label("x") is Label.IN
    net.contradiction("x")
    assert held(net, "ax") == set()


@given(nogoods, st.permutations(ASSUMED), st.randoms(use_true_random=False))
def test_nogoods_of_assumptions(bad: list[list[str]], ranked: list[str], random: Random) -> None:
    """The outcome is that of accepting from the top, whatever came first and whenever it was asked for."""
    acts = [("assume", [name]) for name in ASSUMED] + [("nogood", one) for one in bad]
    random.shuffle(acts)
    net = Network()
    for act, names in acts:
        if act == "assume":
            net.assume(names[0], (float(-ranked.index(names[0])),))
        else:
            net.nogood(names)
        if random.random() < 0.3:
            net.labels()
    assert held(net, ASSUMED) == accepted(ranked, [], bad)
    gone = set(random.sample(ASSUMED, 2))
    for name in gone:
        net.retract(name)
    assert held(net, ASSUMED) == accepted([one for one in ranked if one not in gone], [], bad)
    for name in gone:
        net.restore(name)
    assert held(net, ASSUMED) == accepted(ranked, [], bad)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["d0", "d1", "d2", "d3"]),
            st.sets(st.sampled_from([*ASSUMED, "d0", "d1", "d2", "d3"]), min_size=1, max_size=3).map(sorted),
        ),
        max_size=8,
    ),
    st.lists(
        st.sets(st.sampled_from([*ASSUMED, "d0", "d1", "d2", "d3"]), min_size=1, max_size=3).map(sorted),
        max_size=5,
    ),
    st.permutations(ASSUMED),
    st.randoms(use_true_random=False),
)
def test_derived_contradictions(
    rules: list[tuple[str, list[str]]], bad: list[list[str]], ranked: list[str], random: Random
) -> None:
    """The same where the contradictions are derived, through in-lists: with rules taken back and given again, too."""
    acts: list[tuple[str, str, list[str]]] = [("assume", name, []) for name in ASSUMED]
    acts += [("nogood", "", one) for one in bad] + [("justify", head, inn) for head, inn in rules]
    random.shuffle(acts)
    net = Network()
    numbers: list[tuple[int, str, list[str]]] = []
    for act, head, names in acts:
        if act == "assume":
            net.assume(head, (float(-ranked.index(head)),))
        elif act == "nogood":
            net.nogood(names)
        else:
            numbers.append((net.justify(head, names), head, names))
        if random.random() < 0.3:
            net.labels()
    everything = {name for _, _, names in acts for name in names}

    def check(kept: Sequence[tuple[str, Sequence[str]]]) -> None:
        assert held(net, ASSUMED) == accepted(ranked, kept, bad)
        for one in bad:
            assert not all(net.label(name) is Label.IN for name in one), "a nogood is never all in"

    assert all(name in net for name in everything)
    check(rules)
    if numbers:
        number, *_ = gone = random.choice(numbers)
        net.retract(number)
        check([(head, names) for one, head, names in numbers if one != gone[0]])
        net.restore(number)
    check(rules)


@pytest.mark.soak
@given(st.data())
def test_nogoods_are_never_all_in(data: st.DataObject) -> None:
    """Also with out-lists below them, and with equal ranks."""
    names = [*ASSUMED, "d0", "d1", "d2", "d3"]
    some = st.lists(st.sampled_from(names), max_size=2)
    net = Network()
    for name in ASSUMED:
        net.assume(name, (float(data.draw(st.integers(0, 3))),))
    for head, inn, out in data.draw(st.lists(st.tuples(st.sampled_from(names[6:]), some, some), max_size=8)):
        net.justify(head, inn, out)
    bad = data.draw(
        st.lists(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True), max_size=5)
    )
    for one in bad:
        net.nogood(one)
    standing = {conflict.node for conflict in net.conflicts()}
    for one in bad:
        if all(net.label(name) is Label.IN for name in one):
            assert standing, "only what no assumption is to blame for is left"
            assert not any(foundation in ASSUMED for name in one for foundation in net.foundations(name))


@pytest.mark.parametrize("size", [2, 3])
def test_every_order_of_a_small_case(size: int) -> None:
    for bad in combinations([*combinations("abc", 2), ("a", "b", "c")], size):
        found: set[frozenset[str]] = set()
        for order in permutations(bad):
            net = Network()
            for one in order:
                net.nogood(one)
                net.labels()
            for rank, name in enumerate("abc"):
                net.assume(name, (float(rank),))
                net.labels()
            found.add(frozenset(held(net, "abc")))
        assert len(found) == 1


def test_the_culprit_order() -> None:
    """Corrected over stated over observed over inferred."""
    sources: list[SourceType] = ["corrected", "explicit", "implicit_intentional", "inferred"]
    assert all(STANDING[above] > STANDING[below] for above, below in pairwise(sources))
    assert set(STANDING) == {*sources, "implicit_unintentional"}
    assert STANDING["implicit_intentional"] == STANDING["implicit_unintentional"]
