"""Salience is bounded whatever is learned, and a lesson says nothing of records that it doesn't name."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.ledger.record.envelope import Link
from braid.ledger.record.record import EventBody, Record
from braid.recall.hits import Hit
from braid.recall.salience import (
    LOOKED_AT,
    MOST,
    NAME,
    RATE,
    WEIGHT,
    Lessons,
    folded,
    salient,
    step_for,
    taught,
    unlearned,
)

STEPS = st.lists(st.floats(-1, 1), max_size=40)


class Lesson(Record):
    """A record of which only the links and the body count."""

    __slots__ = ()

    def __init__(self, body: Any, *links: tuple[str, int]) -> None:
        self.links = [Link(role, index, f"exp_{index}") for role, index in links]
        self.__dict__["body"] = body


def lesson(*steps: tuple[int, float], about: Sequence[int] = (7,)) -> Lesson:
    links = [("parent", 3), *(("target", index) for index in about)]
    return Lesson(EventBody(name=NAME, data=taught(steps)), *links)


@given(STEPS)
def test_nothing_runs_away(steps: list[float]) -> None:
    assert abs(folded(steps)) < 1
    assert abs(folded([1.0] * 10_000)) <= 1


@given(STEPS, st.floats(-1, 1))
def test_one_lesson_moves_a_quarter_of_the_way(steps: list[float], step: float) -> None:
    before, after = folded(steps), folded([*steps, step])
    assert after - before == pytest.approx(RATE * (step - before))
    assert min(before, step) - 1e-12 <= after <= max(before, step) + 1e-12


def test_what_was_learned_long_ago_fades() -> None:
    assert abs(folded([1.0] * 40 + [-1.0] * MOST) - folded([-1.0] * MOST)) < 0.02


@pytest.mark.parametrize(
    ("body", "step"),
    [
        (EventBody(name=NAME, data=taught([(1, 0.5)])), 0.5),
        (EventBody(name=NAME, data=taught([(1, 1e300)])), 1.0),
        (EventBody(name=NAME, data=taught([(1, -7.0)])), -1.0),
        (EventBody(name=NAME, data=taught([(0, 1.0)])), None),  # the reflection: no target
        (EventBody(name=NAME, data=taught([(2, 1.0)])), None),  # another record
        (EventBody(name=NAME, data=taught([(99, 1.0), (-1, 1.0)])), None),
        (EventBody(name=NAME, data={"steps": "many"}), None),
        (EventBody(name=NAME, data={"steps": [[1]]}), None),
        (EventBody(name="calibration", data=taught([(1, 1.0)])), None),
    ],
)
def test_a_lesson_is_read_as_what_it_may_say(body: EventBody, step: float | None) -> None:
    assert step_for(Lesson(body, ("parent", 3), ("target", 7), ("target", 8)), 7) == step


def test_the_newest_living_lessons_count() -> None:
    log: dict[int, Record | None] = {at: lesson((1, 1.0)) for at in range(100, 200)}
    naming = lambda index, most: sorted(log, reverse=True)[:most] if index == 7 else []  # noqa: E731  # noqa: PLR2004 - one decision a line
    lessons = Lessons(log.get, naming, lambda index: True)
    assert lessons.salience(7) == pytest.approx(folded([1.0] * MOST))
    assert lessons.salience(8) == 0.0
    log[199] = None  # forgotten
    log |= {198: lesson((1, -1.0)), 197: Lesson(EventBody(name="forget"), ("target", 7))}
    assert lessons.salience(7) == pytest.approx(folded([*[1.0] * (MOST - 1), -1.0]))
    assert Lessons(log.get, naming, lambda index: index != 3).salience(7) == 0.0
    log |= {200 + at: Lesson(EventBody(name="noise"), ("target", 7)) for at in range(LOOKED_AT)}
    assert lessons.salience(7) == 0.0


class Placed(Record):
    """A record of which only the place counts."""

    __slots__ = ()

    def __init__(self, index: int) -> None:
        self.__dict__["at"] = index

    @property
    def index(self) -> int:
        at: int = self.__dict__["at"]
        return at


@given(st.lists(st.tuples(st.floats(-30, 30), st.floats(-1, 1)), max_size=8))
def test_what_is_learned_stays_within_its_weight_and_can_be_taken_out(
    known: list[tuple[float, float]],
) -> None:
    found = [Hit(Placed(at), score, {}, {}) for at, (score, _) in enumerate(known)]
    weighed = salient(found, lambda index: known[index][1])
    assert [hit.score for hit in weighed] == sorted((hit.score for hit in weighed), reverse=True)
    for hit in weighed:
        before, learned = known[hit.index]
        assert hit.score == pytest.approx(before + WEIGHT * learned)
        assert unlearned(hit).score == pytest.approx(before)
    assert salient(found, None) == found
