"""When consolidation is due: it follows from the log and the time, and from nothing that is kept beside them."""

from contextlib import suppress
from datetime import datetime, timedelta
from math import ceil
from typing import Final, NamedTuple

from braid.knowledge.staging import METHOD as ACCEPTED
from braid.ledger.record.record import REFLECTION, ExperienceBody, Record, is_reading
from braid.ledger.write.sequence import CLOCK_TOLERANCE, is_clock_behind
from braid.outcomes import Signed
from braid.session import Session
from braid.settings import settings
from braid.views.errors import ViewError

ENOUGH: Final = 15.0
"""So much importance since the last round starts one at once: the 150 of ADR-0008, whose scores are ten times ours."""
LOOKED_AT: Final = 2_000
"""So many records of before it first looks are looked at, the newest."""
NEAR: Final = 8
"""So many records may the projection lack where importance is added up: outcomes of other work."""
_RECONCILIATION: Final = "reconciliation"
_WEIGHT: Final = "SELECT coalesce(sum(score), 0.0) FROM importance WHERE log_index >= ?"


class Tail(NamedTuple):
    """What stands in the log from `start` to before `stop`: whether anything was said, whether anything is claimed or
    waits, and whether there is a reflection."""

    start: int = 0
    stop: int = 0
    said: bool = False
    news: bool = False
    reflected: bool = False


class Due:
    """Whether a round is due. It looks at each record of the log once while it is kept."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._tail = Tail()
        self._weighed: tuple[int, int] = (-1, 0)
        """From where importance was added up, and at which size of the log it is worth doing again."""

    def is_due(self, start: int, last: Signed | None) -> bool:
        """Whether a round is due on what stands from `start` on; `last`: the newest outcome."""
        if not _takes_records(self._session):
            return False
        tail = self._follow(start)
        if tail.said and self._is_time(last):
            return True
        return tail.news and (tail.reflected or self._weighs_enough(tail))

    def _follow(self, start: int) -> Tail:
        """Take in what was appended. Of what was there before it first looks, the newest records are enough: an older
        reflection waits for the hours to pass."""
        size = self._session.reader.size
        known = self._tail if self._tail.start == start else Tail(start, start)
        at = max(known.stop, size - LOOKED_AT)
        said, news, reflected = known.said or at > known.stop, known.news, known.reflected
        for entries in self._session.reader.entries(at, size) if at < size else ():
            for record, _ in entries:
                body = _words(record)
                said = said or body is not None or record.kind == "tombstone"
                news = news or record.kind == "tombstone" or (body is not None and _is_news(record, body))
                reflected = reflected or (body is not None and body.provenance.method == REFLECTION)
        self._tail = Tail(start, size, said, news, reflected)
        return self._tail

    def _is_time(self, last: Signed | None) -> bool:
        """Whether the hours have passed by the store's clock. One that stands before the last round's can measure
        nothing: a round is due, and its outcome says what the clock says now."""
        session = self._session
        passed = session.now() - _clock_of(session, last)
        hours = timedelta(hours=settings(session).consolidation_hours)
        return passed >= hours or passed < -CLOCK_TOLERANCE

    def _weighs_enough(self, tail: Tail) -> bool:
        """Whether what was said since weighs enough, as far as the projection has come.

        No record weighs more than 1: until as many came as are lacking, nothing is added up again.
        """
        start, least = self._weighed
        if start != tail.start:
            least = tail.start + ceil(ENOUGH)
        if tail.stop < least or not self._is_projected(tail):
            return False
        weight = 0.0
        with suppress(ViewError, OSError), self._session.views.tables() as tables:
            ((weight,),) = tables.rows(_WEIGHT, [tail.start])
        self._weighed = (tail.start, tail.stop + max(0, ceil(ENOUGH - weight)))
        return weight >= ENOUGH

    def _is_projected(self, tail: Tail) -> bool:
        """Whether the projection has come to the log's end, but for outcomes: its own consumer brings it there."""
        at = next(one.position for one in self._session.views.status() if one.name == "duck")
        return tail.stop - at <= NEAR


def _words(record: Record) -> ExperienceBody | None:
    """Return what a record says; None for what is no experience, and for what was accepted from staging, which is no
    news of its own."""
    body = record.body if record.raw is not None and record.kind == "experience" else None
    return body if isinstance(body, ExperienceBody) and body.provenance.method != ACCEPTED else None


def _is_news(record: Record, body: ExperienceBody) -> bool:
    """Whether an experience may change what a round finds: it claims something, or lets something wait."""
    if record.type == _RECONCILIATION:
        return False
    return bool(body.symbolic) or (is_reading(body) and bool(body.content.structured.get("staged")))


def _clock_of(session: Session, last: Signed | None) -> datetime:
    """Return what the clock said when a round was last signed; before the first, when the store was made."""
    said = None if last is None else last.outcome.clock
    if said is not None:
        with suppress(ValueError):
            found = datetime.fromisoformat(said)
            if found.tzinfo is not None:
                return found
    return datetime.fromisoformat(session.reader.envelope(0 if last is None else last.index).created_at)


def _takes_records(session: Session) -> bool:
    """Whether the log takes records: not while the clock stands far behind it, until somebody accepts that."""
    return not is_clock_behind(session.reader, session.now())
