"""Which turns of which sessions are to be read next: planned from the log and from what has an outcome already.

A session is read when it ends, and every so many turns. Nothing is kept between two plans: the same log gives the same.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from braid.knowledge.turns import Whose, ends_session, followed, living, session_of, spoken
from braid.learn.turn import Turn
from braid.ledger.record.record import Record
from braid.outcomes import Progress, Seen
from braid.session import Session
from braid.work.spans import Spans, indexes, minus, spans_of

BEFORE: Final = 12
"""Turns of a session that are kept as context for those after them."""
LOOKED_BACK: Final = 2_000
"""Records before the position that are looked through for such turns when a plan begins."""


class Portion(NamedTuple):
    """Turns of one session that are read together, and the ones before them."""

    key: Whose
    turns: tuple[Turn, ...]
    before: tuple[Turn, ...]

    @property
    def spans(self) -> Spans:
        """The places of its turns in the log."""
        return spans_of(turn.at for turn in self.turns)


class PortionPlan(NamedTuple):
    """Portions, oldest first; turns of sessions that go on; and how far the log was looked at for it."""

    portions: tuple[Portion, ...]
    open: tuple[Turn, ...]
    seen: Seen

    @property
    def turns(self) -> int:
        """How many turns are still to be read."""
        return sum(len(one.turns) for one in self.portions) + len(self.open)


class _Talk(NamedTuple):
    """An open session: its turns that wait, and the last ones before them."""

    waiting: list[Turn]
    before: deque[Turn]


class Planner:
    """Plans for one version of an extractor. `is_read` gives those of some records of which something was found."""

    def __init__(
        self,
        session: Session,
        *,
        turns_each: int,
        ended_only: bool,
        is_read: Callable[[list[str]], set[str]],
    ) -> None:
        """`ended_only`: what is left of a session that goes on waits for more."""
        self._session = session
        self._turns_each = turns_each
        self._ended_only = ended_only
        self._is_read = is_read
        self._talks: dict[Whose, _Talk] = {}
        self._found: list[Portion] = []

    def plan(
        self, progress: Progress, most: int, besides: Callable[[Portion], bool] = lambda _: False
    ) -> PortionPlan:
        """Return the next portions, `most` at the most, and none that is `besides`."""
        self._talks, self._found = {}, []
        start, size = progress.upto, self._session.reader.size
        passed: list[Portion] = []
        forgotten: list[int] = []
        left = deque(indexes(progress.left))
        self._look_back(start, set(left))
        upto = start
        for at, record in self._met(left, start, size, forgotten):
            upto = max(upto, at + 1)
            if record is None:
                continue
            for portion in self._meet(record):
                (passed if besides(portion) else self._found).append(portion)
            if len(self._found) >= most:
                break
        else:
            upto = size
            for key in [] if self._ended_only else list(self._talks):
                for portion in self._flush(key):
                    (passed if besides(portion) else self._found).append(portion)
        still = tuple(turn for talk in self._talks.values() for turn in talk.waiting)
        turns = [*still, *(turn for one in (*self._found, *passed) for turn in one.turns)]
        to_do = spans_of([*(turn.at for turn in turns), *forgotten, *left])
        return PortionPlan(tuple(self._found), still, Seen(upto, to_do, minus(progress.left, to_do)))

    def _look_back(self, start: int, again: set[int]) -> None:
        for record in followed(self._session, max(0, start - LOOKED_BACK), start):
            if record.index not in again and (turn := spoken(record)) is not None:
                self._talk(session_of(record)).before.append(turn)

    def _met(
        self, left: deque[int], start: int, size: int, forgotten: list[int]
    ) -> Iterator[tuple[int, Record | None]]:
        """Take what is left, then yield what is new, by place; what is forgotten waits until it is back or erased."""
        control = self._session.reader.control
        while left:
            at = left.popleft()
            if at in control.hidden and at not in control.erased:
                forgotten.append(at)
            yield at, living(self._session, at)
        for entries in self._session.reader.entries(start, size):
            for record, _ in entries:
                if record.index not in control.hidden:
                    yield record.index, record if record.raw is not None else None
                    continue
                if _may_come_back(record) and record.index not in control.erased:
                    forgotten.append(record.index)
                yield record.index, None

    def _talk(self, key: Whose) -> _Talk:
        return self._talks.setdefault(key, _Talk([], deque(maxlen=BEFORE)))

    def _meet(self, record: Record) -> list[Portion]:
        key = session_of(record)
        if ends_session(record):
            return self._flush(key)
        turn = spoken(record)
        if turn is None:
            return []
        talk = self._talk(key)
        talk.waiting.append(turn)
        return self._flush(key) if len(talk.waiting) >= self._turns_each else []

    def _flush(self, key: Whose) -> list[Portion]:
        """Return the turns of a session that wait, as a portion; none where there is nothing new of a person in it."""
        talk = self._talk(key)
        turns = tuple(talk.waiting)
        before = tuple(talk.before)
        talk.waiting.clear()
        talk.before.extend(turns)
        ids = {turn.at: self._session.reader.envelope(turn.at).id for turn in turns}
        done = self._is_read(list(ids.values())) if ids else set[str]()
        if not any(turn.role == "user" and ids[turn.at] not in done for turn in turns):
            return []
        return [Portion(key, turns, before)]


def _may_come_back(record: Record) -> bool:
    """Whether a forgotten record may be a turn: what was read of one is hidden and recovered with it."""
    return record.kind == "experience" and record.type != "inference"
