"""A reader that follows the log record by record, as a consumer: a range of the log is a batch, one at a time."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Final, NamedTuple, Protocol

from braid.knowledge.tally import Tally
from braid.ledger.record.record import Draft, Record
from braid.outcomes import Seen, Spent, bury, outcomes, settle
from braid.session import Session
from braid.work.job import Batch, Death
from braid.work.spans import Spans

EXTRACTION: Final = "session-extraction"
"""The consumer that reads what was said; each of its readers is a version."""
BATCH: Final = 500
"""How many records of the log are a batch."""


class RangeRead(NamedTuple):
    """What was found in a range: a record and what is to be appended above it; and counts."""

    found: Sequence[tuple[Record, Draft]]
    tally: Tally


class RangeReader(Protocol):
    """Reads ranges of the log, in order."""

    @property
    def version(self) -> str:
        """The method of what it finds."""
        ...

    @property
    def is_on(self) -> bool:
        """Whether what it reads may be read now (SPEC §19)."""
        ...

    def is_work(self, record: Record) -> bool:
        """Whether there may be something to read in a record."""
        ...

    def read(self, start: int, stop: int) -> RangeRead:
        """Return what the records from `start` to `stop` state; nothing is appended."""
        ...

    def reached(self, stop: int, own: Spans) -> None:
        """Take note that the log has an outcome of what is before `stop`, but for what is left, and that it has what
        this reader read of `own`. What lies between may be others', or left by a worker that died.
        """
        ...

    def reset(self) -> None:
        """Forget what was learned of the talk by reading: it is read again."""
        ...


class RangeConsumer:
    """One reader over one log. Implements `Consumer`."""

    needs: tuple[str, ...] = ()

    def __init__(self, session: Session, name: str, reader: RangeReader, *, batch: int = BATCH) -> None:
        """`batch`: records that are read together."""
        self.name = name
        self._session = session
        self._reader = reader
        self._batch = batch
        self._idle: tuple[int, int] = (0, 0)
        """From where to where nothing is to be read."""

    @property
    def version(self) -> str:
        """The method of what is found."""
        return self._reader.version

    def plan(self, most: int) -> list[Batch]:
        """Return what was queued again, else the next range that holds something to read."""
        del most
        if not self._reader.is_on:
            return []
        progress = outcomes(self._session).progress(self.name, self.version)
        if progress.left:
            first, stop = progress.left[0]
            return [Batch(self.name, self.version, ((first, min(stop, first + self._batch)),))]
        size = self._session.reader.size
        start = progress.upto
        begin = max(start, self._idle[1]) if self._idle[0] <= start <= self._idle[1] else start
        if not self._holds_work(begin, size):
            self._idle = (start, size)
            return []
        return [Batch(self.name, self.version, ((start, min(start + self._batch, size)),))]

    def _holds_work(self, start: int, stop: int) -> bool:
        for entries in self._session.reader.entries(start, stop):
            for record, _ in entries:
                if _recovers(record) or self._reader.is_work(record):
                    return True
        return False

    def run(self, batch: Batch, attempt: int) -> tuple[RangeRead, float] | None:
        """Do a batch, holding no lock; nothing is appended. None for one of another log, such as one since restored."""
        del attempt
        began = perf_counter()
        session = self._session
        session.refresh()  # another handle may have offered what was appended since this one last looked
        if any(stop > session.reader.size for _, stop in batch.spans):
            return None
        tally = Tally()
        found: list[tuple[Record, Draft]] = []
        try:
            for start, stop in batch.spans:
                read = self._reader.read(start, stop)
                found += read.found
                tally.add(read.tally)
        except BaseException:
            self._reader.reset()
            raise
        return RangeRead(found, tally), perf_counter() - began

    def settle(
        self, batch: Batch, made: tuple[RangeRead, float] | None, attempt: int, fence: Callable[[], None]
    ) -> bool:
        """Append what was made with its outcome; False where the log has one. `fence` raises LeaseLostError."""
        del attempt
        if made is None:
            return False
        read, seconds = made
        drafts = [draft for _, draft in read.found]
        read.tally.appended(drafts)
        is_new = settle(
            self._session,
            batch,
            seen=self._seen(batch),
            drafts=drafts,
            spent=Spent(
                counts=read.tally.counts(),
                refused=dict(read.tally.refused),
                failures=dict(read.tally.failures),
                ms={"read": round(1000 * seconds, 1)},
            ),
            fence=fence,
        )
        if is_new:
            self._reader.reached(outcomes(self._session).progress(self.name, self.version).upto, batch.spans)
        return is_new

    def bury(self, batch: Batch, died: Death, fence: Callable[[], None]) -> bool:
        """Append that a batch is dead; False where the log has an outcome."""
        return bury(self._session, batch, died, seen=self._seen(batch), fence=fence)

    def _seen(self, batch: Batch) -> Seen:
        upto = max(stop for _, stop in batch.spans)
        progress = outcomes(self._session).progress(self.name, self.version)
        passed = ((progress.upto, batch.spans[0][0]),) if batch.spans[0][0] > progress.upto else ()
        return Seen(upto, (*passed, *batch.spans))


def _recovers(record: Record) -> bool:
    return record.kind == "tombstone" and record.envelope.public.get("op") == "recover"
