"""Which jobs there are: what a transport knows, what the log says is to be done, what a signed record calls dead."""

from collections.abc import Iterable, Sequence
from typing import Final

from braid.errors import InvalidRequestError
from braid.job_state import job_state
from braid.jobs.operations import (
    AskProgress,
    JobOutcome,
    JobsChanged,
    JobShown,
    ListedJob,
    Progress,
    instant,
)
from braid.jobs.running import CONSUMERS, Models, consumers
from braid.ledger.record.scope import Ids, ids_of
from braid.outcomes import Signed, discard, outcomes, requeue
from braid.session import Session
from braid.work.errors import UnknownJobError
from braid.work.job import WAITING, Batch, Job, State
from braid.work.worker import PLANNED

_ORDER: Final[tuple[State, ...]] = ("leased", "pending", "retry_scheduled", "dead", "done")


def listed(session: Session) -> list[ListedJob]:
    """Return all jobs: those at work and waiting first, then the dead and the done."""
    dead = outcomes(session).dead()
    known = {one.batch.id: one for one in job_state(session).transport.jobs()}
    found = {id: _of_transport(one, dead.get(id)) for id, one in known.items()}
    found |= {id: _of_log(one) for id, one in dead.items()}
    for batch in _planned(session):
        if batch.id not in found or found[batch.id].state == "done":
            found[batch.id] = _state(Job(batch=batch, state="pending"), None)
    return sorted(found.values(), key=lambda one: (_ORDER.index(one.state), one.spans))


def _planned(session: Session) -> Iterable[Batch]:
    """Yield what needs no model and is to be done next; it need not have been offered yet."""
    for one in consumers(session, CONSUMERS, Models(), ended_only=False):
        yield from one.plan(PLANNED)


def _of_transport(job: Job, dead: Signed | None) -> ListedJob:
    return _of_log(dead) if dead is not None else _state(job, None)


def _of_log(one: Signed) -> ListedJob:
    said = one.outcome
    job = Job(
        batch=said.batch,
        state="dead",
        attempts=said.attempts or 0,
        stage=said.stage or "",
        error=said.error or "",
    )
    return _state(job, one.id)


def _state(job: Job, record: str | None) -> ListedJob:
    waits = job.state in WAITING
    return ListedJob(
        id=job.batch.id,
        consumer=job.batch.consumer,
        version=job.batch.version,
        state=job.state,
        spans=job.batch.spans,
        attempts=job.attempts,
        due_at=instant(job.due_at) if waits else None,
        owner=job.owner or None,
        expires_at=instant(job.expires_at) if job.state == "leased" else None,
        stage=job.stage or None,
        error=job.error or None,
        record=record,
    )


def shown(session: Session, id: str) -> JobShown:
    """Return a job and its outcomes. Raises UnknownJobError."""
    job, told = _found(session, id)
    return JobShown(job=job, outcomes=tuple(_outcome(one) for one in told))


def progress(session: Session, asked: AskProgress) -> Progress:
    """Return how a job stands. Raises UnknownJobError, also for one that is about no record of the scope."""
    job, told = _found(session, asked.id)
    about = job.spans if job is not None else told[-1].outcome.batch.spans
    if any(ids_of(asked)) and not _is_about(session, about, asked):
        raise _unknown(asked.id)
    if job is not None:
        return Progress(
            id=job.id,
            state=job.state,
            attempts=job.attempts,
            next_retry=job.due_at,
            stage=job.stage,
            error=job.error,
        )
    last = told[-1].outcome
    return Progress(
        id=asked.id,
        state="pending" if last.ended == "requeued" else last.ended,
        attempts=last.attempts,
        next_retry=None,
        stage=last.stage,
        error=last.error,
    )


def _is_about(session: Session, spans: Sequence[tuple[int, int]], asked: Ids) -> bool:
    """Whether a record among these is of a scope; what is erased is nobody's any more."""
    wanted = ids_of(asked)
    for index in (index for first, behind in spans for index in range(first, behind)):
        record = session.reader.unless_erased(index)
        own = ids_of(getattr(record.body, "scope", None)) if record is not None else ()
        if own and all(want in (None, has) for want, has in zip(wanted, own, strict=True)):
            return True
    return False


def _found(session: Session, id: str) -> tuple[ListedJob | None, list[Signed]]:
    job = next((one for one in listed(session) if one.id == id), None)
    told = [one for one in outcomes(session).every() if one.outcome.batch.id == id]
    if job is None and not told:
        raise _unknown(id)
    return job, told


def _unknown(id: str) -> UnknownJobError:
    return UnknownJobError(f"no job has the id {id}")


def _outcome(one: Signed) -> JobOutcome:
    said = one.outcome
    return JobOutcome(
        record=one.id,
        ended=said.ended,
        by=said.by,
        reason=one.reason,
        stage=said.stage,
        error=said.error,
        attempts=said.attempts,
        counts=said.spent.counts,
        warnings=said.spent.warnings,
        model=said.spent.model,
        tokens_in=said.spent.tokens_in,
        tokens_out=said.spent.tokens_out,
        ms=said.spent.ms,
    )


def retried(session: Session, id: str, reason: str) -> JobsChanged:
    """Let a job be done from its first attempt on. Raises UnknownJobError, InvalidRequestError for one that is done."""
    batch = _open(session, id)
    return _requeued(session, [batch], reason)


def discarded(session: Session, id: str, reason: str) -> JobsChanged:
    """Let a job never be done. Raises UnknownJobError, InvalidRequestError for one that is done."""
    batch = _open(session, id)
    records = discard(session, [batch], reason)
    job_state(session).transport.discard(batch)
    return JobsChanged(jobs=(id,), records=tuple(records))


def replayed(session: Session, consumer: str | None, reason: str) -> JobsChanged:
    """Let the dead be done from their first attempt on."""
    dead = [one.outcome.batch for one in outcomes(session).dead().values()]
    return _requeued(session, [one for one in dead if consumer in (None, one.consumer)], reason)


def _requeued(session: Session, batches: Sequence[Batch], reason: str) -> JobsChanged:
    """Sign first: if the process dies in between, the log says that they are to be done."""
    records = requeue(session, batches, reason)
    state = job_state(session)
    for batch in batches:
        state.transport.requeue(batch, session.now().timestamp())
    return JobsChanged(jobs=tuple(one.id for one in batches), records=tuple(records))


def _open(session: Session, id: str) -> Batch:
    session.refresh()
    shown_job = shown(session, id)
    if shown_job.job is None or shown_job.job.state == "done":
        ended = shown_job.outcomes[-1].ended if shown_job.outcomes else "done"
        if ended != "discarded":
            raise InvalidRequestError(f"{id} is {ended}: only what waits or is dead can be changed")
        return next(
            one.outcome.batch for one in outcomes(session).every("discarded") if one.outcome.batch.id == id
        )
    one = shown_job.job
    return Batch(one.consumer, one.version, one.spans)
