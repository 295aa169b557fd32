"""From words that are durable to what they state: read in the caller until a timeout, and what is left by a job.

No lock of the store is held while something is read. If the process dies here, the log has the words and no outcome:
whoever works off the log reads them.
"""

from threading import Event, Lock, Thread
from time import monotonic
from typing import NamedTuple

from braid.job_state import job_state
from braid.knowledge.learner import Learner, learner_of
from braid.knowledge.range_consumer import BATCH, EXTRACTION
from braid.knowledge.setting import readers
from braid.memories.remember_operations import Status
from braid.outcomes import outcomes
from braid.session import Session
from braid.settings import Mode, settings
from braid.text.parse import ParserMissingError
from braid.work.errors import TransportError
from braid.work.job import ACTIVE, Batch


class Read(NamedTuple):
    """What became of words: how they stand, the job that reads them, and why they weren't read."""

    status: Status
    job_id: str | None = None
    warnings: tuple[str, ...] = ()


class _LateError(Exception):
    """The time was over."""


class _Turn:
    """Who reads in a caller: one at a time, so that one that hangs holds up no more than one thread."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.is_loaded = False


def read_or_queue(session: Session, mode: Mode, timeout_ms: int | None, behind: int) -> Read:
    """Read what the log states up to before index `behind`, or offer a job for it; this never raises for either."""
    if not session.followers:
        return Read("raw_saved", None, ("learning is off in this process: nothing was read of it",))
    if mode == "async":
        return _queued(session, behind)
    limit_ms = _limit_ms(session, mode)
    error = _read_within(session, limit_ms, timeout_ms)
    if error is None:
        return _queued(session, behind)  # only what was remembered before may be left, by a job that waits
    if isinstance(error, _LateError):
        limit = limit_ms if timeout_ms is None else timeout_ms
        return _queued(session, behind, f"reading took longer than {limit:,} ms: a job goes on with it")
    if isinstance(error, ParserMissingError):
        return Read("raw_saved", None, (_missing(error),))
    left = _queued(session, behind, f"reading failed ({type(error).__name__}): a job tries it again")
    return left._replace(status="raw_saved")


def _limit_ms(session: Session, mode: Mode) -> int:
    """Return how long a caller reads. By default `auto` stays, with the append, within the 2.5 s of `003_` §19.3."""
    now = settings(session)
    return now.remember_sync_ms if mode == "sync" else now.remember_auto_ms


def _missing(error: ParserMissingError) -> str:
    return f"the words are kept, and were not read: {error}"


# -- reading --------------------------------------------------------------------------------------


def _read_within(session: Session, limit_ms: int, timeout_ms: int | None) -> Exception | None:
    """Let what follows the log take it in; return what stood against it, None where nothing did.

    It is done in a thread, which is left alone once the time is over: what it still finds is appended once, as what a
    job finds is. Loading the parser, once a process, counts only against a limit that the caller has set.
    """
    turn = session.kept(_Turn, _Turn)
    if timeout_ms is None and not turn.is_loaded:
        try:
            session.parser.parse(())
        except Exception as error:
            return error
    ends = monotonic() + (limit_ms if timeout_ms is None else timeout_ms) / 1000
    if not turn.lock.acquire(timeout=max(ends - monotonic(), 0)):
        return _LateError()
    ended, failed = Event(), list[Exception]()

    def read() -> None:
        try:
            session.follow()
            turn.is_loaded = True
        except Exception as error:
            failed.append(error)
        finally:
            turn.lock.release()
            ended.set()

    try:
        Thread(target=read, name="braid-remember", daemon=True).start()
    except RuntimeError as error:  # no thread can be had: nobody would let go of the turn
        turn.lock.release()
        return error
    if not ended.wait(max(ends - monotonic(), 0)):
        return _LateError()
    return failed[0] if failed else None


# -- queueing -------------------------------------------------------------------------------------


def _queued(session: Session, behind: int, *warnings: str) -> Read:
    """Offer what is left as a job, one for each reader; the answer names that of the first. None: it is processed."""
    transport, now = job_state(session).transport, session.now().timestamp()
    try:
        learners = [learner_of(session, of) for of in readers(session)]
        left = [batch for one in learners if (batch := _left(session, one, behind)) is not None]
        offered = [transport.offer(batch, now) for batch in left]
    except ParserMissingError as error:
        return Read("raw_saved", None, (*warnings, _missing(error)))
    except TransportError:
        return Read(
            "raw_saved", None, (*warnings, "the queue gave no answer: the log offers the job when it does")
        )
    if not left:
        return Read("processed")
    if "full" in offered:
        return Read(
            "raw_saved", None, (*warnings, "too many jobs wait: the log offers this one when there is room")
        )
    return Read("queued", left[0].id, warnings)


def _left(session: Session, learner: Learner, behind: int) -> Batch | None:
    """Return the batch that reads up to before an index: the one that waits for it, else what none does."""
    known = outcomes(session).progress(EXTRACTION, learner.version)
    start = max(known.upto, learner.position)
    if start >= behind:  # all was read by now, but for what an earlier job has left
        left = [first for first, stop in known.left if first < behind <= stop]
        if not left:
            return None
        start = max(left[0], behind - BATCH)
    for job in job_state(session).transport.jobs():
        batch = job.batch
        if job.state not in ACTIVE or (batch.consumer, batch.version) != (EXTRACTION, learner.version):
            continue
        for first, stop in batch.spans:
            if first < behind <= stop:
                return batch
            start = max(start, stop) if stop < behind else start
    # What lies before is planned from the log, in portions of its own.
    return Batch(EXTRACTION, learner.version, ((max(start, behind - BATCH), behind),))
