"""What became of work, signed: the newest outcome of a consumer is its cursor, and all of them are its history.

An outcome is an event `work`. The first of a consumer's version links to genesis, the others to that first one: whoever
looks for the cursor looks at these links alone. Each says how far the consumer has come and what is left before that,
so the list of what is to be done can always be made again from the log (SPEC §25). It names records by index, and holds
no word of them.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Literal

import msgspec

from braid.caller import asking
from braid.ledger.errors import ClockError, ErasedError, KeyRefusedError, ReadOnlyError
from braid.ledger.record.record import Draft, EventBody
from braid.session import Session
from braid.wal.errors import OutcomeUnknownError, WriterPoisonedError
from braid.wal.failpoint import failpoint
from braid.work.errors import LogAwayError
from braid.work.job import Batch, Death
from braid.work.spans import Spans, covers, minus, union

EVENT: Final = "work"
ROLES: Final = frozenset(("recorder", "operator"))
"""Whose signature counts. A key for somebody's own words says nothing of what was done with them."""
_NOT_THE_JOBS: Final = (
    OSError,
    ClockError,
    KeyRefusedError,
    OutcomeUnknownError,
    ReadOnlyError,
    WriterPoisonedError,
)
"""Why the log takes nothing, whatever it is given: a full disk, a clock that went back, a key that was revoked."""
Ending = Literal["done", "dead", "requeued", "discarded"]


class Spent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a batch took: counts by name, warnings by class, refusals by gate and stages that failed, each with its
    class behind a colon; tokens, milliseconds by stage."""

    counts: dict[str, int] = {}
    warnings: dict[str, int] = {}
    refused: dict[str, int] = {}
    failures: dict[str, int] = {}
    model: str | None = None
    prompt: str | None = None
    """The version of the prompt."""
    tokens_in: int = 0
    tokens_out: int = 0
    ms: dict[str, float] = {}


class Outcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The data of an event `work`. `spans` are the batch; `upto` and `left` are the cursor behind it."""

    ended: Ending
    consumer: str
    version: str
    spans: Spans
    upto: int
    left: Spans = ()
    spent: Spent = Spent()
    stage: str | None = None
    error: str | None = None
    attempts: int | None = None
    by: str | None = None
    """Who asked for it, where somebody did."""
    clock: str | None = None
    """What the store's clock said, of a consumer that time starts: the record's own time never goes back."""

    @property
    def batch(self) -> Batch:
        """The batch that it is about."""
        return Batch(self.consumer, self.version, self.spans)


class Signed(msgspec.Struct, frozen=True):
    """An outcome as it stands in the log, and why somebody asked for it."""

    index: int
    id: str
    outcome: Outcome
    reason: str | None


class Progress(msgspec.Struct, frozen=True):
    """How far a consumer has come: everything before `upto` has an outcome, but for what is `left`."""

    upto: int = 0
    left: Spans = ()

    def remaining(self, size: int) -> Spans:
        """Return what of a log of `size` records has no outcome."""
        return union(self.left, [(self.upto, size)])


class Seen(msgspec.Struct, frozen=True):
    """What was found when a batch was planned: up to where the log was looked at; what of it is to be done, the batch
    included; and what was left of earlier but turned out to be nothing to do.
    """

    upto: int
    to_do: Spans
    nothing: Spans = ()


class Outcomes:
    """The outcomes of one log. Follows it; safe between threads, which may do the same twice."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._firsts: tuple[int, dict[tuple[str, str], int]] = (-1, {})
        self._newest: dict[int, tuple[int, Signed | None]] = {}

    def progress(self, consumer: str, version: str) -> Progress:
        """Return how far a consumer has come; the beginning where the log has no outcome of this version."""
        newest = self.newest(consumer, version)
        return Progress() if newest is None else Progress(newest.outcome.upto, newest.outcome.left)

    def newest(self, consumer: str, version: str) -> Signed | None:
        """Return the newest outcome of a consumer's version that can be read; None where there is none."""
        first = self.firsts().get((consumer, version))
        if first is None:
            return None
        behind = self._session.reader.backlinks.of(first)
        known = self._newest.get(first)
        if known is not None and known[0] == len(behind):
            return known[1]
        every = (*(at for at, role in reversed(behind) if role == "target"), first)
        found = next((one for one in map(self._read, every) if one is not None), None)
        self._newest[first] = (len(behind), found)
        return found

    def firsts(self) -> dict[tuple[str, str], int]:
        """Return the first outcome of every consumer and version, by log order."""
        reader = self._session.reader
        behind = reader.backlinks.of(0)
        if self._firsts[0] != len(behind):
            found: dict[tuple[str, str], int] = {}
            for index, role in behind:
                public = reader.envelope(index).public
                if role == "target" and public.get("name") == EVENT and self._counts(index):
                    found.setdefault((str(public.get("consumer")), str(public.get("version"))), index)
            self._firsts = (len(behind), found)
        return self._firsts[1]

    def every(self, *endings: Ending) -> Iterator[Signed]:
        """Yield the outcomes that ended so, or all, consumer by consumer in log order."""
        reader = self._session.reader
        for first in self.firsts().values():
            behind = [first, *(at for at, role in reader.backlinks.of(first) if role == "target")]
            for index in behind:
                if endings and reader.envelope(index).public.get("ended") not in endings:
                    continue
                if (one := self._read(index)) is not None:
                    yield one

    def dead(self) -> dict[str, Signed]:
        """Return the batches that are dead, by the id of their job: neither queued again nor discarded since."""
        found: dict[str, Signed] = {}
        for one in self.every("dead", "requeued", "discarded"):
            if one.outcome.ended == "dead":
                found[one.outcome.batch.id] = one
            else:
                found.pop(one.outcome.batch.id, None)
        return found

    def _counts(self, index: int) -> bool:
        reader = self._session.reader
        envelope = reader.envelope(index)
        if envelope.kind != "event" or envelope.public.get("name") != EVENT:
            return False
        return reader.control.keys[envelope.key].role in ROLES

    def _read(self, index: int) -> Signed | None:
        """Return an outcome; None for one that doesn't count, is erased, or that this release can't read."""
        if not self._counts(index):
            return None
        reader = self._session.reader
        try:
            body = reader.at(index, include_forgotten=True).body
            if (
                not isinstance(body, EventBody)
                or "imported" in reader.at(index, include_forgotten=True).members
            ):
                return None
            said = msgspec.convert(body.data, Outcome)
        except (ErasedError, msgspec.ValidationError, ValueError):
            return None
        return Signed(index, reader.envelope(index).id, said, body.reason)


def outcomes(session: Session) -> Outcomes:
    """Return the outcomes of a session's log, kept while it is open."""
    return session.kept(Outcomes, lambda: Outcomes(session))


def settle(
    session: Session,
    batch: Batch,
    *,
    seen: Seen,
    ended: Ending = "done",
    drafts: Sequence[Draft] = (),
    spent: Spent | None = None,
    fence: Callable[[], None] | None = None,
    stage: str | None = None,
    error: str | None = None,
    attempts: int | None = None,
    also_dead: Sequence[tuple[Batch, str, str]] = (),
    clock: str | None = None,
) -> bool:
    """Append drafts and the outcome of a batch as one transaction; False, and nothing, where it has an outcome already.

    `fence` is called under the store's write lock. `also_dead`: parts of the batch that failed alone, each with stage
    and class. If the process dies before the append, nothing is there; after it, all is.
    """
    with session.writer.turn():
        session.refresh()
        if fence is not None:
            fence()
        now = outcomes(session).progress(batch.consumer, batch.version)
        if not covers(now.remaining(max(now.upto, session.reader.size)), batch.spans):
            return False
        to_do = union(minus(now.left, seen.nothing), minus(seen.to_do, [(0, now.upto)]))
        data = Outcome(
            ended=ended,
            consumer=batch.consumer,
            version=batch.version,
            spans=batch.spans,
            upto=max(now.upto, seen.upto),
            left=minus(to_do, batch.spans),
            spent=spent or Spent(),
            stage=stage,
            error=error,
            attempts=attempts,
            clock=clock,
        )
        every = [
            msgspec.structs.replace(
                data, ended="dead", spans=one.spans, spent=Spent(), stage=where, error=kind, attempts=attempts
            )
            for one, where, kind in also_dead
        ]
        with telling_log_away():
            _append(session, [*every, data], None, drafts)
    return True


def bury(
    session: Session,
    batch: Batch,
    died: Death,
    *,
    seen: Seen | None = None,
    fence: Callable[[], None],
    clock: str | None = None,
) -> bool:
    """Append that a batch is dead, of what and after how many attempts; False where the log has an outcome already.

    `seen`: as for `settle`; the log up to the batch's end, and the batch alone to be done, where it is left out.
    """
    return settle(
        session,
        batch,
        seen=seen or Seen(max(stop for _, stop in batch.spans), batch.spans),
        ended="dead",
        fence=fence,
        stage=died.stage,
        error=died.error,
        attempts=died.attempts,
        clock=clock,
    )


@contextmanager
def telling_log_away() -> Generator[None]:
    """Let LogAwayError be raised in the block where the log takes nothing, whatever it is given."""
    try:
        yield
    except _NOT_THE_JOBS as why:
        raise LogAwayError(why) from why


def requeue(session: Session, batches: Sequence[Batch], reason: str) -> list[str]:
    """Append that batches are to be done again, and why; return the ids of the records."""
    return _amend(session, batches, "requeued", reason)


def discard(session: Session, batches: Sequence[Batch], reason: str) -> list[str]:
    """Append that batches are not to be done, and why; return the ids of the records."""
    return _amend(session, batches, "discarded", reason)


def _amend(session: Session, batches: Sequence[Batch], ended: Ending, reason: str) -> list[str]:
    ids: list[str] = []
    for batch in batches:
        with session.writer.turn():
            session.refresh()
            now = outcomes(session).progress(batch.consumer, batch.version)
            inside = batch.spans if ended == "requeued" else ()
            beyond = max([now.upto, *(stop for _, stop in batch.spans)])
            passed = minus([(now.upto, beyond)], batch.spans)
            data = Outcome(
                ended=ended,
                consumer=batch.consumer,
                version=batch.version,
                spans=batch.spans,
                upto=beyond,
                left=union(minus(now.left, batch.spans), passed, inside),
                by=_who(),
            )
            ids += _append(session, [data], reason)
    return ids


def _who() -> str:
    caller = asking()
    return "operator" if caller is None else f"{caller.kind} {caller.name}"


def _append(
    session: Session, data: Sequence[Outcome], reason: str | None, drafts: Sequence[Draft] = ()
) -> list[str]:
    first = outcomes(session).firsts().get((data[0].consumer, data[0].version), 0)
    batch = [
        *drafts,
        *(
            Draft(
                kind="event",
                body=EventBody(name=EVENT, data=msgspec.to_builtins(one), reason=reason),
                links=[("target", session.reader.envelope(first).id)],
                public={
                    "name": EVENT,
                    "consumer": one.consumer,
                    "version": one.version,
                    "ended": one.ended,
                },
            )
            for one in data
        ),
    ]
    failpoint("work.append")
    placed = session.append_drafts(batch)
    failpoint("work.append.done")
    return [str(one.id) for one in placed[len(drafts) :]]
