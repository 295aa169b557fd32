"""What took the place of what: each claim that lost its say, and the next one that took it. Pure.

A stance names what holds now and what takes the say of each other claim; of 900, 1,200 and 1,300 the last takes it of
both. A reader of changes wants the steps: 900 to 1,200, and 1,200 to 1,300.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from braid.stance.claims import RecordedClaim
from braid.stance.precedence import advantage
from braid.stance.rivals import RivalGroup, alikes
from braid.text.words import normal


class Step(NamedTuple):
    """A claim, the one that took its place, and why it did."""

    old: RecordedClaim
    new: RecordedClaim
    why: str


def steps(claims: Iterable[RecordedClaim]) -> list[Step]:
    """Return each change among claims, in the order in which they were said.

    What was said twice before it changed has changed once: from the last time that it was said.
    """
    found = [step for group in alikes(claims) for step in _steps(group)]
    return sorted(found, key=lambda step: (_order(step.new), _order(step.old)))


def _steps(group: Sequence[RecordedClaim]) -> Iterator[Step]:
    """Walk from the last said to the first: what was put on the shelf last is what came next."""
    shelf, seen = RivalGroup(), set[tuple[str, str]]()
    for old in sorted(group, key=_order, reverse=True):
        later = (
            (one, why) for one in shelf.excluding(old, latest=True, ever=True) if (why := advantage(one, old))
        )
        nearest = min(later, key=lambda pair: _order(pair[0]), default=None)
        if nearest and (change := (nearest[0].node, normal(old.text))) not in seen:
            seen.add(change)
            yield Step(old, *nearest)
        shelf.add(old)


def _order(said: RecordedClaim) -> tuple[datetime, int, int, bool]:
    return said.said, said.index, said.k, bool(said.derived)
