"""Jobs as an operator sees them: what waits, what is dead and why, and working it off."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from time import sleep
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec
from msgspec import Meta

from braid.errors import InvalidRequestError
from braid.ledger.errors import IntegrityError, KeyRefusedError, ReadOnlyError
from braid.operation import Request, Response, Scoped, operation
from braid.session import Session
from braid.wal.errors import OutcomeUnknownError
from braid.work.errors import TransportError, UnknownJobError
from braid.work.job import State
from braid.work.worker import Step

if TYPE_CHECKING:
    from braid.text.chat import ChatModel
    from braid.text.parse import Parser

_WRITES: Final = (ReadOnlyError, KeyRefusedError, IntegrityError, OutcomeUnknownError, TransportError)
_JOB: Final = "job_0123456789abcdef"
JobId = Annotated[
    str,
    Meta(
        pattern=r"^job_[0-9a-f]{16}$",
        description="A job's id, as `jobs` shows it.",
        extra={"refusal": "no id of a job: such ids are job_ and 16 hex digits, as `jobs` shows them"},
    ),
]
Consumer = Literal["session-extraction", "decision", "consolidation", "projection", "enrichment"]
Why = Annotated[str, Meta(min_length=1, description="Why; it is signed with the record.")]


class Work(Request, frozen=True, kw_only=True):
    """What is to be worked off: all consumers, or those named.

    `until_idle`: jobs that failed are waited for and tried again. `ended_only`: sessions that go on wait for their end.
    `most`: so many jobs at the most.
    """

    consumers: tuple[Consumer, ...] = ()
    until_idle: bool = False
    ended_only: bool = False
    most: Annotated[int, Meta(ge=1)] | None = None


class Worked(Response, frozen=True, kw_only=True):
    """How many jobs ended how, and in how many seconds the next is due; None where none waits.

    settled: the log had an outcome already. released: it could not be done now, which costs no attempt. lost: another
    worker has it by now. unserved: how many wait that nothing here does: where no model is named, what one is to read.
    """

    done: int
    settled: int
    retried: int
    dead: int
    released: int
    lost: int
    unserved: int
    next_s: float | None


@operation(
    Work,
    Worked,
    access="operate",
    cost="log",
    repeatable=True,
    example=Work(most=1),
    errors=(InvalidRequestError, *_WRITES),
)
def work(
    session: Session,
    asked: Work,
    *,
    model: "ChatModel | None" = None,
    larger: "ChatModel | None" = None,
    second: "ChatModel | None" = None,
    parser: "Parser | None" = None,
    wait: Callable[[float], None] | None = None,
    told: Callable[[Step], None] | None = None,
) -> Worked:
    """Work off what the log has and no outcome names: read sessions, decide, bring projections and meanings up to date.

    Each outcome is signed with what was found, as one transaction. What fails is tried again after 1, 5 and 30 seconds,
    each time with less context; then it is dead, and `jobs` lists it. With a `model`, sessions are read by it, too, by
    `second` where that fails, and by `larger` where it is unsure. Raises RemoteModelError for one that may not be
    asked. `told` is shown what became of each job; `wait` waits so many seconds.
    """
    from braid.jobs.running import Models, unserved, work_off, worker
    from braid.providers.policy import require_allowed

    session.refresh()
    require_allowed(session, (model, larger, second))
    _ = session.writer  # refuses a store that is open for reading only, before anything is leased
    one = worker(
        session,
        asked.consumers,
        Models(small=model, larger=larger, second=second, parser=parser),
        ended_only=asked.ended_only,
    )
    ended, next_s = work_off(one, most=asked.most, until_idle=asked.until_idle, wait=wait or sleep, told=told)
    return Worked(
        done=ended["done"],
        settled=ended["settled"],
        retried=ended["retried"],
        dead=ended["dead"],
        released=ended["released"],
        lost=ended["lost"],
        unserved=unserved(session, one, asked.consumers),
        next_s=next_s,
    )


class AskJobs(Request, frozen=True, kw_only=True):
    """Which jobs are shown: all, or those of a state, or of a consumer."""

    state: State | None = None
    consumer: Consumer | None = None
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 100


class ListedJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job: which records, from the first of each range up to the one behind its last; and how it stands.

    `stage` and `error`: where the last attempt failed, and the class of the error. `record` says that it is dead.
    """

    id: str
    consumer: str
    version: str
    state: State
    spans: tuple[tuple[int, int], ...]
    attempts: int
    due_at: datetime | None
    owner: str | None
    expires_at: datetime | None
    stage: str | None
    error: str | None
    record: str | None


class Jobs(Response, frozen=True, kw_only=True):
    """Jobs, those at work and waiting first, then the dead and the done; and how many there are of each state."""

    jobs: tuple[ListedJob, ...]
    counts: dict[str, int]


@operation(
    AskJobs,
    Jobs,
    access="operate",
    cost="index",
    pages="jobs",
    page_key=("id", "state"),
    repeatable=True,
    example=AskJobs(),
    errors=(TransportError,),
)
def jobs(session: Session, asked: AskJobs) -> Jobs:
    """Return the jobs: what the log has and no outcome names, what is leased, and what is dead by a signed record.

    What is done is listed until `retain` drops it, after 14 days or less, and follows from the log after that.
    """
    from braid.jobs.listing import listed

    session.refresh()
    every = listed(session)
    counts = Counter[str](one.state for one in every)
    wanted = [
        one for one in every if asked.state in (None, one.state) and asked.consumer in (None, one.consumer)
    ]
    return Jobs(jobs=tuple(wanted[: asked.limit]), counts=dict(counts))


class AskJob(Request, frozen=True, kw_only=True):
    """Which job is shown."""

    id: JobId


class JobOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """A record of what became of a job: who asked for it and why, where somebody did; what it took."""

    record: str
    ended: str
    by: str | None
    reason: str | None
    stage: str | None
    error: str | None
    attempts: int | None
    counts: dict[str, int]
    warnings: dict[str, int]
    model: str | None
    tokens_in: int
    tokens_out: int
    ms: dict[str, float]


class JobShown(Response, frozen=True, kw_only=True):
    """A job, None where only the log knows of it, and its outcomes, oldest first."""

    job: ListedJob | None
    outcomes: tuple[JobOutcome, ...]


@operation(
    AskJob,
    JobShown,
    access="operate",
    cost="log",
    repeatable=True,
    positional=("id",),
    example=AskJob(id=_JOB),
    errors=(UnknownJobError, TransportError),
)
def job(session: Session, asked: AskJob) -> JobShown:
    """Return how a job stands and what became of it, by signed records. Raises UnknownJobError."""
    from braid.jobs.listing import shown

    session.refresh()
    return shown(session, asked.id)


class AskProgress(Scoped, frozen=True, kw_only=True):
    """Which job is asked for; within a scope, only where it is about a record of that scope."""

    id: JobId


class Progress(Response, frozen=True, kw_only=True):
    """How a job stands, how often it was tried, when it is tried again; the class of the last error, and its stage.

    `discarded`: somebody decided that it is not done. It says nothing of what else the job reads.
    """

    id: str
    state: Literal["pending", "leased", "retry_scheduled", "dead", "done", "discarded"]
    attempts: int | None
    next_retry: datetime | None
    stage: str | None
    error: str | None


@operation(
    AskProgress,
    Progress,
    access="read",
    cost="log",
    repeatable=True,
    positional=("id",),
    example=AskProgress(id=_JOB),
    errors=(UnknownJobError, TransportError),
)
def job_progress(session: Session, asked: AskProgress) -> Progress:
    """Return how a job stands that `remember` named, to the caller who remembered.

    Raises UnknownJobError, in the same words for one that is about no record of the scope.
    """
    from braid.jobs.listing import progress

    session.refresh()
    return progress(session, asked)


class ChangeJob(Request, frozen=True, kw_only=True):
    """Which job, and why."""

    id: JobId
    reason: Why


class JobsChanged(Response, frozen=True, kw_only=True):
    """The jobs, and the signed records that say so, in the same order."""

    jobs: tuple[str, ...]
    records: tuple[str, ...]


@operation(
    ChangeJob,
    JobsChanged,
    access="operate",
    cost="log",
    repeatable=False,
    positional=("id",),
    example=ChangeJob(id=_JOB, reason="the model is back"),
    errors=(UnknownJobError, InvalidRequestError, *_WRITES),
)
def retry_job(session: Session, asked: ChangeJob) -> JobsChanged:
    """Let a job that waits or is dead be done now, from its first attempt on; a signed record says who and why.

    A worker that is at it loses its lease. Raises UnknownJobError, InvalidRequestError for one that is done.
    """
    from braid.jobs.listing import retried

    return retried(session, asked.id, asked.reason)


@operation(
    ChangeJob,
    JobsChanged,
    access="operate",
    cost="log",
    repeatable=False,
    positional=("id",),
    example=ChangeJob(id=_JOB, reason="a test talk"),
    errors=(UnknownJobError, InvalidRequestError, *_WRITES),
)
def discard_job(session: Session, asked: ChangeJob) -> JobsChanged:
    """Let a job that waits or is dead never be done; a signed record says who and why. `retry_job` brings it back.

    The records stay, unread. Raises UnknownJobError, InvalidRequestError for one that is done.
    """
    from braid.jobs.listing import discarded

    return discarded(session, asked.id, asked.reason)


class ReplayDead(Request, frozen=True, kw_only=True):
    """Why the dead are done again: all, or those of a consumer."""

    reason: Why
    consumer: Consumer | None = None


@operation(
    ReplayDead,
    JobsChanged,
    access="operate",
    cost="log",
    repeatable=False,
    example=ReplayDead(reason="the parser is mended"),
    errors=_WRITES,
)
def replay_dead(session: Session, asked: ReplayDead) -> JobsChanged:
    """Let all dead jobs be done again, from their first attempt on; signed records say who and why."""
    from braid.jobs.listing import replayed

    return replayed(session, asked.consumer, asked.reason)


def instant(seconds: float) -> datetime | None:
    """Return a time of a transport's as a time with its zone; None for 0."""
    return datetime.fromtimestamp(seconds, UTC) if seconds else None
