"""Salience: what retrieval has learned of a record from the answers that it was found for, one bounded number. Pure.

A lesson is an event named `salience`: its `target` links name records, its steps say of each how far it helped, from
-1 to 1. A record's salience is a fold over its newest living lessons, oldest first, each moving it a quarter of the
way towards its step: so it never leaves [-1, 1], and what was learned long ago fades as more is learned. Same log, same
salience: no clock, no model and no tone has a part in it (SPEC §22). What somebody said of a memory's importance is
where the fold begins.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from braid.ledger.record.record import EventBody, Record
from braid.recall.hit_reader import raised
from braid.recall.hits import Hit

MEMORY: Final = "memory"
"""The name of the events that set something of a memory (SPEC §9.8)."""
NAME: Final = "salience"
RATE: Final = 0.25
MOST: Final = 16
"""How many of a record's lessons count, the newest: those before them weigh a hundredth together."""
LOOKED_AT: Final = 64
"""Among how many of the newest records that target a record these are looked for: tombstones do, too."""
WEIGHT: Final = 0.3
"""What full salience adds to a score, or takes from it: it decides between records that fit about as well."""


class SalienceLesson(msgspec.Struct, frozen=True):
    """What a lesson says: of the k-th link a step in [-1, 1]."""

    steps: list[tuple[int, float]] = []


def taught(steps: Iterable[tuple[int, float]]) -> dict[str, Any]:
    """Return an event's data that says this."""
    return {"steps": [[link, step] for link, step in steps]}


def step_for(lesson: Record, index: int) -> float | None:
    """Return the step that a record takes by a lesson, in [-1, 1]; None where it is none, or says nothing of it."""
    body = lesson.body
    if not isinstance(body, EventBody) or body.name != NAME:
        return None
    try:
        said = msgspec.convert(body.data, SalienceLesson)
    except msgspec.ValidationError:
        return None
    places = {k for k, link in enumerate(lesson.links) if link.role == "target" and link.index == index}
    step = next((step for link, step in said.steps if link in places), None)
    return None if step is None else max(-1.0, min(step, 1.0))


class Lessons(msgspec.Struct, frozen=True):
    """The lessons of a log, as they can be had."""

    read: Callable[[int], Record | None]
    """A record by log index, verified; None for one that is forgotten or gone."""
    naming: Callable[[int, int], Iterable[int]]
    """(index, most) → the newest records that target this one, newest first."""
    lives: Callable[[int], bool]
    """Whether a record is neither forgotten nor gone."""

    def salience(self, index: int) -> float:
        """Return the salience of a record, in [-1, 1]; 0 where nothing was learned, nor said of its importance.

        A lesson goes with the reflection that it follows from.
        """
        naming = [one for at in self.naming(index, LOOKED_AT) if (one := self.read(at)) is not None]
        found = islice(self._steps(index, naming), MOST)
        begin = next((said for one in naming if (said := importance_of(one)) is not None), 0.0)
        return folded(reversed(list(found)), begin)

    def _steps(self, index: int, naming: Iterable[Record]) -> Iterator[float]:
        for lesson in naming:
            if not all(self.lives(link.index) for link in lesson.targets("parent")):
                continue
            if (step := step_for(lesson, index)) is not None:
                yield step


def importance_of(event: Record) -> float | None:
    """Return the salience that an event sets by the importance it names, in [-1, 1]; None where it names none."""
    body = event.body
    said: object = (
        body.data.get("importance") if isinstance(body, EventBody) and body.name == MEMORY else None
    )
    if isinstance(said, bool) or not isinstance(said, int | float) or not 0 <= said <= 1:
        return None
    return 2.0 * said - 1.0


def folded(steps: Iterable[float], begin: float = 0.0) -> float:
    """Return the salience that steps come to, oldest first, from where it begins, in [-1, 1]."""
    salience = begin
    for step in steps:
        salience += RATE * (step - salience)
    return salience


def salient(hits: Sequence[Hit], salience: Callable[[int], float] | None) -> list[Hit]:
    """Return the hits, each weighed by its salience, best first."""
    if salience is None:
        return list(hits)
    weighed = [
        raised(hit, NAME, learned, WEIGHT) if (learned := salience(hit.index)) else hit for hit in hits
    ]
    return sorted(weighed, key=lambda hit: -hit.score)


def unlearned(hit: Hit) -> Hit:
    """Return a hit without what its salience adds: that a record answered before is no evidence that it does now."""
    added = hit.parts.get(NAME, 0.0)
    return msgspec.structs.replace(hit, score=hit.score - added) if added else hit
