"""How long what is no longer in force is kept, by class, and the sweep of what is past its window (SPEC §9.9).

Four classes: the forgotten, what was corrected (`history`), jobs that are done, and jobs that are dead. The first two
are erased with certificates; of the others no record goes, since the log holds no word in them.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

import msgspec

from braid.job_state import job_state
from braid.ledger.erase import erasure as erasing
from braid.ledger.erase.cascade import plan
from braid.ledger.erase.erasure import Certificate
from braid.ledger.errors import InvalidRecordError, KeyRefusedError, NoVaultError, ReadOnlyError
from braid.ledger.read.gathered import ROLES
from braid.ledger.read.reader import Reader
from braid.ledger.record.envelope import DERIVATION_ROLES
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import ANSWER, ExperienceBody
from braid.ledger.record.standing import SUPERSEDES
from braid.log.chain import chain_of, kept
from braid.operation import Index, Request, Response, operation
from braid.outcomes import discard, outcomes
from braid.session import Session
from braid.settings import settings
from braid.wal.errors import OutcomeUnknownError
from braid.wal.failpoint import failpoint
from braid.work.errors import TransportError
from braid.work.job import Batch, Job

Class = Literal["forgotten", "history", "jobs", "dead"]
_WRITES: Final = (ReadOnlyError, KeyRefusedError, OutcomeUnknownError)
_JOBS_NAMED: Final = 1_000
"""Jobs that one event of a sweep names."""


class Overdue(msgspec.Struct, frozen=True, kw_only=True):
    """What is past its window: a record by id and `index`, or a job by its id; in its state `since` then."""

    what: Class
    id: str
    index: Index | None
    since: datetime


class Retain(Request, frozen=True, kw_only=True):
    """The sweep of what is past its window."""


class Retained(Response, frozen=True, kw_only=True):
    """What a sweep took: certificates of what was forgotten and of what was corrected; jobs by id.

    `jobs` are those that were dropped from the list, `dead` those of them that are discarded by a signed record each.
    """

    forgotten: tuple[Certificate, ...]
    history: tuple[Certificate, ...]
    jobs: tuple[str, ...]
    dead: tuple[str, ...]


@operation(
    Retain,
    Retained,
    access="erase",
    cost="log",
    repeatable=True,
    destructive=True,
    example=Retain(),
    errors=(NoVaultError, TransportError, *_WRITES),
)
def retain(session: Session, asked: Retain) -> Retained:
    """Erase what was forgotten, then what was corrected, longer ago than its window; then let go of jobs that ended.

    A signed event says at what time each sweep looked. What was corrected goes only where `history_days` is set.
    Raises TransportError where what carries the jobs gives no answer; the records are erased by then.
    """
    del asked
    session.refresh()
    now, purge = session.now(), session.views.purge
    erasing.finish(session.writer, purge)
    forgotten = erasing.retain(session.writer, now, purge)
    failpoint("retain.forgotten")
    history = erasing.erase(
        session.writer,
        lambda: [index for index, _ in _outdated(session, now)],
        purge,
        reason="retention of history",
        prelude=[erasing.sweep(now, of="history", days=settings(session).history_days)],
    )
    failpoint("retain.history")
    dead, jobs = release_jobs(session, now)
    return Retained(forgotten=tuple(forgotten), history=tuple(history), jobs=jobs, dead=dead)


def release_jobs(session: Session, now: datetime) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Let go of the jobs that ended longer ago than their windows; return the dead that are discarded, and all that
    leave the list. No record is erased, and no operator's key is needed. Raises TransportError."""
    return _discard_dead(session, now), _drop_jobs(session, now)


class RetentionDue(Request, frozen=True, kw_only=True):
    """The question what the next sweep would take."""


class Due(Response, frozen=True, kw_only=True):
    """What is past its window: the forgotten, then what was corrected, then jobs."""

    due: tuple[Overdue, ...]


@operation(
    RetentionDue,
    Due,
    access="read",
    cost="log",
    pages="due",
    page_key=("what", "id"),
    returns="due",
    example=RetentionDue(),
    errors=(TransportError,),
)
def retention_due(session: Session, asked: RetentionDue) -> Due:
    """Return what the next `retain` would take; what is derived from it alone goes with it (`plan_erase`)."""
    del asked
    session.refresh()
    now = session.now()
    dead = [_of_job("dead", one, since) for one, since in _dead(session, now)]
    named = {one.id for one in dead}
    done = [
        _of_job("jobs", one.batch, datetime.fromtimestamp(one.changed_at, now.tzinfo))
        for one in _ended(session, now)
        if one.batch.id not in named
    ]
    return Due(due=(*due_records(session, now), *done, *dead))


def due_records(session: Session, now: datetime) -> tuple[Overdue, ...]:
    """Return the records that a sweep at `now` would choose."""
    reader = session.reader
    forgotten = ((index, reader.control.hidden[index][1]) for index in erasing.due(reader, now))
    return (
        *(_of_record(reader, "forgotten", index, datetime.fromisoformat(at)) for index, at in forgotten),
        *(_of_record(reader, "history", index, since) for index, since in _outdated(session, now)),
    )


def _of_record(reader: Reader, what: Class, index: int, since: datetime) -> Overdue:
    return Overdue(what=what, id=reader.envelope(index).id, index=index, since=since)


def _of_job(what: Class, batch: Batch, since: datetime) -> Overdue:
    return Overdue(what=what, id=batch.id, index=None, since=since)


# -- what was corrected -----------------------------------------------------------------------------


def _outdated(session: Session, now: datetime) -> list[tuple[int, datetime]]:
    """Return what was corrected longer ago than `history_days`, and since when; none where that isn't set."""
    days = settings(session).history_days
    return [] if days is None else outdated(session.reader, now, timedelta(days=days))


def outdated(reader: Reader, now: datetime, window: timedelta) -> list[tuple[int, datetime]]:
    """Return the records that were replaced more than `window` before `now`, in log order, and since when.

    Of memories alone, and of what was said: what was drawn goes with what it was drawn from. Not of a pinned memory,
    and none with which something would go that stands, or is pinned.
    """
    memories = _Memories(reader)
    found = {
        index: since
        for index in _replaced(reader, now - window)
        if (since := _since(reader, index, memories)) is not None and now - since > window
    }
    while harmed := [
        one.index for one in plan(reader, found).derived if _is_held(reader, one.index, memories)
    ]:
        for index in _above(reader, harmed) & found.keys():
            del found[index]
    return sorted(found.items())


class _Memory(NamedTuple):
    """A memory as the sweep needs it. `derived`: those of its records that rest on others; `touched`: the newest
    tombstone that hid one of them or brought it back."""

    members: tuple[int, ...]
    derived: tuple[int, ...]
    touched: int
    pinned: bool


class _Memories:
    """The memories of records, each looked at once, however many records it has."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._by_member: dict[int, _Memory | None] = {}

    def of(self, index: int) -> _Memory | None:
        """Return the memory of a record; None where it is none."""
        if index not in self._by_member:
            found = self._made(index)
            for member in (index, *(found.members if found is not None else ())):
                self._by_member[member] = found
        return self._by_member[index]

    def _made(self, index: int) -> _Memory | None:
        try:
            chain = chain_of(self._reader, index)
        except InvalidRecordError:
            return None
        derived = tuple(at for at in chain.members if any(_parents(self._reader, at)))
        touched = max(chain.tombstones, default=0)
        return _Memory(chain.members, derived, touched, kept(self._reader, chain).pinned)


def _replaced(reader: Reader, before: datetime) -> Iterator[int]:
    """Yield what somebody said before a time and a living record of its kind has replaced."""
    if not reader.backlinks.superseding:
        return
    _, roles, targets = reader.backlinks.every()
    standings = reader.standings()
    for index in sorted(set(targets[roles == ROLES.index(SUPERSEDES)].tolist())):
        if index in reader.control.erased or reader.envelope(index).kind != "experience":
            continue
        if datetime.fromisoformat(reader.envelope(index).created_at) >= before:
            continue
        if standings.of(index).state == "replaced" and not any(_parents(reader, index)):
            yield index


def _since(reader: Reader, index: int, memories: _Memories) -> datetime | None:
    """Return since when a record is replaced for sure; None where its memory is pinned, or is none.

    Since the first of what replaces it and is there, or was corrected in its turn; not from before its memory, or
    anything that what replaces it rests on, was last forgotten, brought back or corrected: it may have stood in
    between.
    """
    memory = memories.of(index)
    if memory is None or memory.pinned:
        return None
    standings, replacing = reader.standings(), list[int]()
    for child, role in reader.backlinks.of(index):
        if role == SUPERSEDES and child in memory.members:
            in_force = standings.of(child).state in ("living", "replaced")
            stands = child if in_force else standings.instead(child)
            replacing += [] if stands is None else [stands]
    newer = [at for at in memory.derived if at > index]
    beneath = (change for at in _above(reader, newer) for change in _changes(reader, at))
    last = max((min(replacing), memory.touched, *beneath))
    return datetime.fromisoformat(reader.envelope(last).created_at)


def _changes(reader: Reader, index: int) -> Iterator[int]:
    """Yield what a record stood or fell by: its tombstones, what superseded it, and the tombstones of that."""
    waiting = [index]
    while waiting:
        for at, role in reader.backlinks.of(waiting.pop()):
            if role == SUPERSEDES:
                waiting.append(at)
                yield at
            elif role == "target" and reader.envelope(at).kind == "tombstone":
                yield at


def _is_held(reader: Reader, index: int, memories: _Memories) -> bool:
    """Whether a record is one that history may not take: of a pinned memory, or it stands, and is no answer."""
    if reader.envelope(index).kind != "experience":
        return False
    memory = memories.of(index)
    if memory is not None and memory.pinned:
        return True
    body = reader.at(index, include_forgotten=True).body
    is_answer = isinstance(body, ExperienceBody) and body.provenance.method == ANSWER
    return not is_answer and reader.standings().lives(index)


def _parents(reader: Reader, index: int) -> Iterator[int]:
    """Yield what a record is derived from."""
    return (link.index for link in reader.links(index) if link.role in DERIVATION_ROLES)


def _above(reader: Reader, indexes: list[int]) -> set[int]:
    """Return all that records are derived from."""
    found, waiting = set[int](), list(indexes)
    while waiting:
        for at in _parents(reader, waiting.pop()):
            if at not in found:
                found.add(at)
                waiting.append(at)
    return found


# -- jobs -------------------------------------------------------------------------------------------


def _limits(session: Session, now: datetime) -> tuple[datetime, datetime]:
    """Return before which times jobs were done, or died, of which a sweep at `now` lets go."""
    at = settings(session)
    return now - timedelta(days=at.jobs_days), now - timedelta(days=at.dead_days)


def _ended(session: Session, now: datetime) -> list[Job]:
    """Return the jobs that a transport lists and that ended longer ago than their window."""
    done, dead = (limit.timestamp() for limit in _limits(session, now))
    limits = {"done": done, "dead": dead}
    listed = job_state(session).transport.jobs()
    return [one for one in listed if one.changed_at < limits.get(one.state, float("-inf"))]


def _dead(session: Session, now: datetime) -> list[tuple[Batch, datetime]]:
    """Return the jobs that the log calls dead for longer than their window, and since when."""
    _, limit = _limits(session, now)
    found = (
        (one.outcome.batch, datetime.fromisoformat(session.reader.envelope(one.index).created_at))
        for one in outcomes(session).dead().values()
    )
    return [(batch, since) for batch, since in found if since < limit]


def _discard_dead(session: Session, now: datetime) -> tuple[str, ...]:
    """Sign that what is dead for too long is not done any more; `retry_job` brings it back."""
    batches = [batch for batch, _ in _dead(session, now)]
    discard(session, batches, f"retention: dead for more than {settings(session).dead_days} days")
    failpoint("retain.discarded")
    return tuple(one.id for one in batches)


def _drop_jobs(session: Session, now: datetime) -> tuple[str, ...]:
    """Sign which jobs leave the list, then let go of them. Dying in between, the next sweep names them once more."""
    ids = [RecordId(one.batch.id) for one in _ended(session, now)]
    for first in range(0, len(ids), _JOBS_NAMED):
        session.append_drafts([erasing.sweep(now, of="jobs", jobs=ids[first : first + _JOBS_NAMED])])
    failpoint("retain.announced")
    done, dead = (limit.timestamp() for limit in _limits(session, now))
    job_state(session).transport.drop_ended(done, dead)
    return tuple(ids)
