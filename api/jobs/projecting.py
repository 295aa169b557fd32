"""Projections as consumers: tables in DuckDB with the catalogue, and meanings in LanceDB.

How far one has come stands in its own files, committed with its rows: that is its outcome, and it goes with them. A
signed one would be untrue as soon as a projection is thrown away. Only exceptions are signed.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from braid.job_state import JobState
from braid.outcomes import Progress, Seen, bury, outcomes, settle
from braid.session import Session
from braid.views.embedder import EmbeddingError
from braid.views.errors import ViewBusyError
from braid.work.breaker import Breakers
from braid.work.errors import NotNowError
from braid.work.job import Batch, Death
from braid.work.worker import JobFailedError

PROJECTION: Final = "projection"
ENRICHMENT: Final = "enrichment"
BUSY_S: Final = 1.0


class _Projecting:
    """What both have in common: a batch is what a projection lacks."""

    name: str
    version: str

    def __init__(self, session: Session) -> None:
        self._session = session

    def _lacking(self, position: int) -> list[Batch]:
        """Return the one batch from a projection's position to the log's end, less what is dead."""
        size = self._session.reader.size
        progress = self._progress()
        spans = progress.left or (((start, size),) if (start := max(position, progress.upto)) < size else ())
        return [Batch(self.name, self.version, spans)] if spans else []

    def _progress(self) -> Progress:
        return outcomes(self._session).progress(self.name, self.version)

    def settle(self, batch: Batch, made: int, attempt: int, fence: Callable[[], None]) -> bool:
        """Sign the outcome where somebody had it queued again; the projection has it otherwise."""
        del made, attempt
        if self._progress().left:
            seen = Seen(self._progress().upto, ())
            return settle(self._session, batch, seen=seen, fence=fence)
        return True

    def bury(self, batch: Batch, died: Death, fence: Callable[[], None]) -> bool:
        """Append that a batch is dead; False where the log has an outcome."""
        seen = Seen(self._session.reader.size + 1, ())  # this record is no work of its own
        return bury(self._session, batch, died, seen=seen, fence=fence)


class Projection(_Projecting):
    """Brings DuckDB's tables and the catalogue to the log's end. Implements `Consumer`."""

    name = PROJECTION
    needs = ("duckdb",)

    def __init__(self, session: Session, breakers: Breakers) -> None:
        super().__init__(session)
        self._breakers = breakers

    @property
    def version(self) -> str:  # type: ignore[override]
        """The version of the tables."""
        from braid.views.duck.generations import DuckHome

        return f"duck@{DuckHome.version}"

    def plan(self, most: int) -> list[Batch]:
        """Return what is to be done next, at most `most` batches, oldest first."""
        del most
        positions = [one.position for one in self._session.views.status() if one.name in ("duck", "catalog")]
        return self._lacking(min(positions))

    def run(self, batch: Batch, attempt: int) -> int:
        """Do a batch, holding no lock; nothing is appended. Returns the position."""
        del batch, attempt
        self._session.refresh()
        with _unless_busy(), self._breakers["duckdb"].passing(ViewBusyError):
            return min(one.position for one in self._session.views.catch_up(meanings=False))


class Enrichment(_Projecting):
    """Brings meanings to the log's end, and asks the model for those that wait. Implements `Consumer`."""

    name = ENRICHMENT
    needs = ("lance", "embedder")

    def __init__(self, session: Session, breakers: Breakers) -> None:
        super().__init__(session)
        self._breakers = breakers
        self._unfilled_at = -1
        """At which size of the log the model gave nothing for what waits."""

    @property
    def version(self) -> str:  # type: ignore[override]
        """The model by which meanings are compared; `words` where there is none."""
        embedder = self._session.embedding()[0]
        return "words" if embedder is None else f"{embedder.name}@{embedder.version}"

    def plan(self, most: int) -> list[Batch]:
        """Return what is to be done next; nothing before somebody has searched, since it is made then."""
        del most
        search = self._session.views.search
        if not search.exists:
            return []
        at = search.status()
        waits = at.pending > 0 and self._session.embedding()[0] is not None
        if waits and self._unfilled_at != self._session.reader.size:
            return self._lacking(0)
        return self._lacking(at.position)

    def run(self, batch: Batch, attempt: int) -> int:
        """Do a batch, holding no lock; nothing is appended. Returns how many meanings the model gave."""
        del batch, attempt
        self._session.refresh()
        search = self._session.views.search
        with _unless_busy():
            with self._breakers["lance"].passing(ViewBusyError):
                search.catch_up()
            embedder = self._session.embedding()[0]
            if embedder is None or not search.status().pending:
                return 0
            try:
                with self._breakers["embedder"].passing(ViewBusyError):
                    filled = search.fill(embedder)
            except EmbeddingError as error:
                raise JobFailedError("embed", type(error).__name__) from error
            if not filled:
                self._unfilled_at = self._session.reader.size
            return filled


@contextmanager
def _unless_busy() -> Generator[None]:
    """Let a job wait while another process is at work on the projection."""
    try:
        yield
    except ViewBusyError as error:
        raise NotNowError(str(error), "busy", BUSY_S) from error


def projecting(session: Session, state: JobState) -> list[Projection | Enrichment]:
    """Return the consumers that follow the log into projections."""
    return [Projection(session, state.breakers), Enrichment(session, state.breakers)]
