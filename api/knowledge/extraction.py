"""Extractors over a log, when somebody asks for them: events one by one, sessions by a model, as far as they have come.

Each has its own cursor in the log (`api/outcomes.py`). What two find in one turn has the turn's one voice: it counts
once. Background workers do the same through the same consumers (`api/jobs`).
"""

from collections.abc import Callable
from contextlib import suppress
from threading import RLock
from typing import Final, cast

from braid.job_state import job_state
from braid.knowledge.cursor import load, path_of
from braid.knowledge.event_reader import VERSION as EVENTS
from braid.knowledge.event_reader import EventReader
from braid.knowledge.operations import Extracted
from braid.knowledge.range_consumer import BATCH, EXTRACTION
from braid.knowledge.session_reader import Found, Read, SessionReader
from braid.knowledge.setting import setting
from braid.knowledge.tally import Tally
from braid.learn.candidate import Extractor
from braid.learn.gates.outcome import GateSettings
from braid.ledger.record.record import Draft, Record
from braid.outcomes import outcomes
from braid.providers.gate import Gate
from braid.session import Session
from braid.text.parse import Parser
from braid.work.backoff import Retry
from braid.work.breaker import Breakers
from braid.work.errors import NotNowError
from braid.work.worker import LEASE_S, PLANNED, JobFailedError, Worker

Told = Callable[[Record, Draft], None]
FAILED_RUN: Final = 3
"""So many sessions that fail one after the other end a run: their model is away, and the rest waits."""
RUNS: Final = Retry(waits_s=(0.0, 0.0), jitter=0.0)
"""Three runs try a portion; the extractor waits between its own tries."""


class _Turn:
    """Two threads that extract from one log would each ask the model: they take turns."""

    def __init__(self) -> None:
        self.lock = RLock()


def extract(
    session: Session,
    extractor: Extractor | None,
    *,
    gate: Gate | None = None,
    parser: Parser | None = None,
    settings: GateSettings | None = None,
    turns_each: int = 10,
    ended_only: bool = False,
    dry_run: bool = False,
    told: Told | None = None,
) -> Extracted:
    """Run the extractor of events, and one that reads sessions where one is given, over what they have not read yet.

    `gate`: the one before the models that it asks.
    """
    with session.kept(_Turn, _Turn).lock:
        run = _Run(session, settings or setting(session).allowed, told, dry_run=dry_run)
        position = run.events()
        if extractor is not None:
            run.sessions(extractor, gate, parser, turns_each, ended_only=ended_only)
    tally = run.tally
    return Extracted(
        sessions=tally.sessions,
        turns=tally.turns,
        records=tally.records,
        claims=tally.claims,
        staged=tally.staged,
        refused=dict(tally.refused),
        warnings=dict(tally.warnings),
        failures=dict(tally.failures),
        tokens_in=tally.tokens_in,
        tokens_out=tally.tokens_out,
        waiting=run.waiting,
        given_up=run.given_up,
        stopped=run.is_stopped,
        position=position,
        budget_spent=run.is_spent,
    )


class _Run:
    """One run over one log."""

    def __init__(self, session: Session, settings: GateSettings, told: Told | None, *, dry_run: bool) -> None:
        self.tally = Tally()
        self.waiting = self.given_up = 0
        self.is_stopped = self.is_spent = False
        self._session = session
        self._settings = settings
        self._told = told
        self._dry_run = dry_run

    def events(self) -> int:
        """Read what records state as data; return how far."""
        size = self._session.reader.size
        reader = EventReader(self._session, self._settings)
        saved = load(path_of(self._session.path / "views", EVENTS), size).position
        at = max(saved, outcomes(self._session).progress(EXTRACTION, EVENTS).upto)
        while at < size:
            stop = min(at + BATCH, size)
            read = reader.read(at, stop)
            self.tally.add(read.tally)
            self._take(self._append(read.found))
            at = stop
        if not self._dry_run:
            reader.reached(size, ((saved, size),))
        return size

    def _append(self, found: Found) -> Found:
        """Append readings as one transaction, or only count them; return those that are new."""
        if self._dry_run or not found:
            return found
        placed = self._session.append_drafts([draft for _, draft in found])
        return [one for one, at in zip(found, placed, strict=True) if not at.known]

    def _take(self, added: Found) -> None:
        self.tally.appended(draft for _, draft in added)
        for record, draft in added if self._told is not None else ():
            cast("Told", self._told)(record, draft)

    def sessions(
        self,
        extractor: Extractor,
        gate: Gate | None,
        parser: Parser | None,
        turns_each: int,
        *,
        ended_only: bool,
    ) -> None:
        """Let an extractor read the sessions that wait."""
        reader = SessionReader(
            self._session,
            lambda _: extractor,
            gate=gate,
            parser=parser,
            settings=self._settings,
            turns_each=turns_each,
            ended_only=ended_only,
            alone=False,
            done=self._done,
            failed=self.tally.add,
        )
        if self._dry_run:
            for portion in reader.portions(2**31).portions:
                with suppress(JobFailedError, NotNowError):
                    read = reader.read(portion, 1)
                    self._done(read, read.found)
        else:
            self._work(reader)
        self.waiting = reader.portions(2**31).turns
        dead = outcomes(self._session).dead().values()
        self.given_up = sum(
            stop - start
            for one in dead
            if one.outcome.version == reader.version
            for start, stop in one.outcome.spans
        )

    def _done(self, read: Read, added: Found) -> None:
        counted = read.tally
        counted.records = counted.claims = 0
        self.tally.add(counted)
        self._take(added)

    def _work(self, reader: SessionReader) -> None:
        """Lease and read portion by portion, each once, until none is left or the model is away."""
        transport = job_state(self._session).transport
        worker = Worker[Read | None](transport, [reader], Breakers(), clock=self._now_s, retry=RUNS)
        tried: set[str] = set()
        failed_run = 0
        while batches := reader.plan(PLANNED, frozenset(tried)):
            for batch in batches:
                tried.add(batch.id)
                lease = transport.take(batch, worker.owner, self._now_s(), LEASE_S)
                if lease is None:
                    continue  # a worker is at it
                step = worker.attempt(lease)
                if step.ended == "released":  # the day's tokens are spent
                    self.is_stopped, self.is_spent = True, step.kind == "budget" or step.stage == "budget"
                    return
                failed_run = failed_run + 1 if step.ended in ("retried", "dead") else 0
                if failed_run >= FAILED_RUN:
                    self.is_stopped = True
                    return

    def _now_s(self) -> float:
        return self._session.now().timestamp()
