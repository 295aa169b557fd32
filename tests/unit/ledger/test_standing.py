"""The rule of standing: chains, what rests on them, circles; the same in whatever order records are judged."""

import itertools
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.ledger.record.envelope import Link
from braid.ledger.record.standing import Standing, StandingFacts, Standings, standing, supports_of

LIVING = Standing("living")


class Drawn:
    """Edges from two tables: what each record rests on, and what it supersedes."""

    def __init__(self, rests: Mapping[int, Sequence[int]], supersedes: Mapping[int, Sequence[int]]) -> None:
        self._rests = rests
        self._by: dict[int, list[int]] = {}
        for new, olds in supersedes.items():
            for old in olds:
                self._by.setdefault(old, []).append(new)

    def supports(self, index: int) -> Sequence[int]:
        return self._rests.get(index, ())

    def superseders(self, index: int) -> Sequence[int]:
        return self._by.get(index, ())


def judged(
    size: int,
    rests: Mapping[int, Sequence[int]],
    supersedes: Mapping[int, Sequence[int]],
    hidden: Sequence[int] = (),
    erased: Sequence[int] = (),
) -> list[Standing]:
    """Judge every record, and see that the order does not matter."""
    past, edges = StandingFacts(size, set(hidden), set(erased)), Drawn(rests, supersedes)
    forward, backward = Standings(past, edges), Standings(past, edges)
    found = [forward.of(at) for at in range(size)]
    assert list(reversed([backward.of(at) for at in reversed(range(size))])) == found
    assert standing(size // 2, past, edges) == found[size // 2]
    return found


@pytest.mark.parametrize("length", [2, 3, 4, 5])
def test_of_a_chain_the_last_that_is_there_stands(length: int) -> None:
    """Whichever of its members are forgotten or erased: all before it are replaced by it, and it is in force."""
    chain = {at: [at - 1] for at in range(1, length)}
    for fates in itertools.product(("there", "hidden", "erased"), repeat=length):
        of = {
            name: [at for at, fate in enumerate(fates) if fate == name]
            for name in ("there", "hidden", "erased")
        }
        found = judged(length, {}, chain, of["hidden"], of["erased"])
        last = max(of["there"], default=None)
        for at, fate in enumerate(fates):
            expected = Standing(fate) if fate != "there" else Standing("replaced", last)  # type: ignore[arg-type]
            assert found[at] == (LIVING if at == last else expected), (fates, at)


def test_what_rests_on_what_is_not_living_has_fallen_and_comes_back_with_it() -> None:
    rests = {1: [0], 2: [1], 3: [0, 4]}  # 1 was read of 0, 2 drawn from 1; 3 also rests on 4
    corrected = {5: [0]}
    assert judged(5, rests, {}) == [LIVING] * 5
    found = judged(6, rests, corrected)
    assert found[:4] == [Standing("replaced", 5), Standing("fallen", 0), Standing("fallen", 1), LIVING]
    assert judged(6, rests, corrected, hidden=[5])[:4] == [LIVING] * 4
    assert judged(5, rests, {}, hidden=[0])[1:4] == [Standing("fallen", 0), Standing("fallen", 1), LIVING]
    assert judged(5, rests, {}, erased=[0], hidden=[4])[3] == Standing("fallen", 0)


def test_what_has_fallen_replaces_nothing() -> None:
    """0 was read of 1; 2 was read of 3 and superseded it; 3 is corrected by 4: the reading of before is back."""
    rests, supersedes = {2: [3 - 2]}, {2: [0]}
    assert judged(3, rests, supersedes)[0] == Standing("replaced", 2)
    assert judged(3, rests, supersedes, hidden=[1])[0] == LIVING


def test_a_correction_drawn_from_what_it_corrects_stands() -> None:
    found = judged(2, {1: [0]}, {1: [0]})
    assert found == [Standing("replaced", 1), LIVING]
    # Behind a reading of it: the turn, what was read of it, and what corrects the turn by that reading.
    found = judged(3, {1: [0], 2: [1]}, {2: [0]})
    assert found == [Standing("replaced", 2), Standing("fallen", 0), LIVING]
    assert judged(3, {1: [0], 2: [1]}, {2: [0]}, hidden=[1])[2] == Standing("fallen", 1)


def test_what_is_later_is_not_there_and_replaces_nothing() -> None:
    past, edges = StandingFacts(1, (), ()), Drawn({}, {1: [0]})
    assert standing(0, past, edges) == LIVING
    assert standing(1, past, edges) == Standing("later")


def test_two_that_supersede_one_the_newer_is_named() -> None:
    assert judged(3, {}, {1: [0], 2: [0]})[0] == Standing("replaced", 2)
    assert judged(3, {}, {1: [0], 2: [0]}, hidden=[2])[0] == Standing("replaced", 1)


def test_what_stands_instead_is_known_of_what_is_gone_too() -> None:
    standings = Standings(StandingFacts(3, {0}, {1}), Drawn({}, {1: [0], 2: [1]}))
    assert standings.of(0) == Standing("hidden")
    assert (standings.instead(0), standings.instead(1), standings.instead(2)) == (2, 2, None)


def test_a_long_way_up_and_a_long_chain_take_no_stack() -> None:
    length = 5_000
    chain = {at: [at - 1] for at in range(1, length)}
    assert Standings(StandingFacts(length, {0}, ()), Drawn(chain, {})).of(length - 1) == Standing(
        "fallen", length - 2
    )
    assert Standings(StandingFacts(length, (), ()), Drawn({}, chain)).of(0) == Standing(
        "replaced", length - 1
    )


def test_links_say_what_a_record_rests_on() -> None:
    def link(role: str, index: int) -> Link:
        return Link(role, index, f"exp_{index}")

    assert supports_of(
        [link("parent", 3), link("evidence", 2), link("supersedes", 1), link("parent", 3)]
    ) == [3]
    assert supports_of([link("evidence", 2), link("supersedes", 1), link("candidate", 4)]) == [2, 4]
    assert supports_of([link("supersedes", 1), link("target", 2)]) == []


def slow(
    at: int, size: int, rests: Mapping[int, list[int]], by: Mapping[int, list[int]], gone: set[int]
) -> bool:
    """Whether a record is living, by the rule's own words; for links without circles."""
    if at in gone:
        return False

    def someone_instead(old: int) -> bool:
        return any(slow(new, size, rests, by, gone) or someone_instead(new) for new in by.get(old, ()))

    held = not rests.get(at) or any(slow(one, size, rests, by, gone) for one in rests[at])
    return held and not someone_instead(at)


@given(st.data())
def test_it_is_the_rule_in_words(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 9))
    some = st.lists(st.integers(0, size - 1), max_size=2)
    # Without circles: what supersedes something rests on nothing.
    new = {at: [one for one in data.draw(some) if one < at] for at in range(size) if data.draw(st.booleans())}
    new = {at: olds for at, olds in new.items() if olds}
    rests = {at: sorted({one for one in data.draw(some) if one < at}) for at in range(size) if at not in new}
    gone = set(data.draw(st.lists(st.integers(0, size - 1), max_size=3)))
    found = judged(size, rests, new, hidden=sorted(gone))
    by: dict[int, list[int]] = {}
    for one, olds in new.items():
        for old in olds:
            by.setdefault(old, []).append(one)
    assert [each.state == "living" for each in found] == [
        slow(at, size, rests, by, gone) for at in range(size)
    ]


@given(st.data())
def test_circles_end_and_do_not_depend_on_who_asks_first(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 10))
    some = st.lists(st.integers(0, size - 1), max_size=2)
    rests = {at: sorted({one for one in data.draw(some) if one < at}) for at in range(size)}
    new = {at: sorted({one for one in data.draw(some) if one < at}) for at in range(size)}
    gone = data.draw(st.lists(st.integers(0, size - 1), max_size=3))
    found = judged(size, rests, new, hidden=gone)
    for at, each in enumerate(found):
        if each.state == "replaced":
            assert each.by is not None
            assert found[each.by] == LIVING
            assert each.by > at


def test_corrections_that_are_each_drawn_from_the_one_before_are_judged_in_one_go() -> None:
    length = 3_000
    chain = {at: [at - 1] for at in range(1, length)}
    asked = 0

    class Counted(Drawn):
        def supports(self, index: int) -> Sequence[int]:
            nonlocal asked
            asked += 1
            return super().supports(index)

    standings = Standings(StandingFacts(length, (), ()), Counted(chain, chain))
    assert standings.of(0) == Standing("replaced", length - 1)
    assert standings.lives(length - 1)
    assert asked < 5 * length


def test_a_longer_log_keeps_what_was_judged() -> None:
    edges = Drawn({2: [0]}, {1: [0]})
    before = Standings(StandingFacts(3, (), ()), edges)
    assert [before.of(at).state for at in range(4)] == ["replaced", "living", "fallen", "later"]
    after = before.grown(4)
    assert [after.of(at).state for at in range(5)] == ["replaced", "living", "fallen", "living", "later"]
