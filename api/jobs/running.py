"""Working jobs off: which consumers a session has, and a worker over them."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from logging import ERROR, INFO, WARNING
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from braid.claims.decided import DECISION
from braid.errors import InvalidRequestError
from braid.event_log import note, request, within
from braid.job_state import job_state
from braid.jobs.consolidation import CONSOLIDATION, Consolidation
from braid.jobs.decision_consumer import DecisionConsumer
from braid.jobs.projecting import ENRICHMENT, PROJECTION, projecting
from braid.knowledge.event_reader import EventReader
from braid.knowledge.range_consumer import EXTRACTION, RangeConsumer
from braid.learn.gates.outcome import EVERY_SENSITIVITY
from braid.providers.gate import FirstOf, Gate, in_order
from braid.session import Session
from braid.settings import settings
from braid.severity import Severity
from braid.text.parse import ParserMissingError
from braid.work.backoff import WAITS_S, Retry
from braid.work.job import WAITING, Lease
from braid.work.worker import Consumer, Step, Worker

if TYPE_CHECKING:
    from braid.knowledge.session_reader import SessionReader
    from braid.ledger.record.record import Scope
    from braid.text.chat import ChatModel
    from braid.text.parse import Parser

CONSUMERS: Final = (EXTRACTION, DECISION, CONSOLIDATION, PROJECTION, ENRICHMENT)
"""The consumers that there are, in the order in which they work: projections come last, since reading appends."""
TURNS_EACH: Final = 10
_LEVELS: Final = {"retried": WARNING, "dead": ERROR}
_SEVERITIES: Final = {"retried": Severity.SILENT, "released": Severity.DEGRADED, "dead": Severity.FAILED}
_Done = TypeVar("_Done", Step, Step | None)
LONGEST_WAIT_S: Final = 120.0
"""Whoever waits until nothing is left waits so long for one job; what waits for the next day is left."""


class Models(msgspec.Struct, frozen=True):
    """What a worker may ask: models that read sessions, and a parser that vouches for what they find."""

    small: "ChatModel | None" = None
    larger: "ChatModel | None" = None
    second: "ChatModel | None" = None
    parser: "Parser | None" = None


def consumers(
    session: Session, names: Sequence[str], models: Models, *, ended_only: bool
) -> list[Consumer[Any]]:
    """Return the consumers of these names that have what they need. Raises InvalidRequestError for an unknown one."""
    if unknown := [name for name in names if name not in CONSUMERS]:
        raise InvalidRequestError(f"no consumer is called {unknown[0]!r}; there are {', '.join(CONSUMERS)}")
    wanted = names or CONSUMERS
    found: list[Consumer[Any]] = []
    if EXTRACTION in wanted:
        found += _readers(session, models, ended_only=ended_only)
    if DECISION in wanted:
        found.append(DecisionConsumer(session))
    if CONSOLIDATION in wanted:
        found.append(Consolidation(session))
    found += [one for one in projecting(session, job_state(session)) if one.name in wanted]
    return found


def _readers(session: Session, models: Models, *, ended_only: bool) -> list[Consumer[Any]]:
    from braid.knowledge.learner import learner_of

    found: list[Consumer[Any]] = []
    with suppress(ParserMissingError):  # `braid learn` says what to install; nothing else waits for it
        found += [RangeConsumer(session, EXTRACTION, learner_of(session, of)) for of in EVERY_SENSITIVITY]
    found.append(RangeConsumer(session, EXTRACTION, EventReader(session)))
    if models.small is not None:
        found.append(by_model(session, models.small, models, ended_only=ended_only))
    return found


def by_model(
    session: Session, small: "ChatModel", models: Models, *, ended_only: bool, scope: "Scope | None" = None
) -> "SessionReader":
    """Return the reader of sessions: each attempt has less to read, and the wait between them is the worker's.

    `scope`: it reads those of this scope alone.
    """
    from braid.knowledge.session_reader import SessionReader
    from braid.learn.model.extractor import TRIES, ModelExtractor

    breakers = job_state(session).breakers
    gate = Gate(session, "extract", "extract", waits=True)
    near = in_order(gate, small, models.second, with_breakers=True)
    far = (
        FirstOf([(gate.before(models.larger, "larger"), breakers["chat_large"])], is_needed=False)
        if models.larger is not None
        else None
    )

    def extractor(attempt: int) -> ModelExtractor:
        one = TRIES[min(attempt, len(TRIES)) - 1]._replace(wait_s=0.0)
        return ModelExtractor(near, larger=far, embedder=session.embedding()[0], tries=(one,))

    return SessionReader(
        session,
        extractor,
        gate=gate,
        parser=models.parser,
        settings=None,
        turns_each=TURNS_EACH,
        ended_only=ended_only,
        within=scope,
        needs=("chat_small",) if models.second is None else (),
    )


def worker(
    session: Session,
    names: Sequence[str],
    models: Models,
    *,
    ended_only: bool,
    random: Random | None = None,
) -> Worker[Any]:
    """Return a worker over a session's jobs."""
    state = job_state(session)
    return Worker[Any](
        state.transport,
        consumers(session, names, models, ended_only=ended_only),
        state.breakers,
        clock=lambda: session.now().timestamp(),
        retry=Retry(waits_s=WAITS_S[: settings(session).job_attempts - 1]),
        random=random,
    )


def unserved(session: Session, one: Worker[Any], names: Sequence[str]) -> int:
    """Return how many jobs of some consumers, or of all, wait for a worker that has their model or their rules."""
    return sum(
        job.state in WAITING and not one.does(job.batch) and (not names or job.batch.consumer in names)
        for job in job_state(session).transport.jobs()
    )


def step(one: Worker[Any]) -> Step | None:
    """Do the next job of a worker, and note how it ended: all that was noted meanwhile has one request id."""
    return _noted(one.step)


def attempt(one: Worker[Any], lease: Lease) -> Step:
    """Do a job that was leased, and note how it ended, as `step`."""
    return _noted(lambda: one.attempt(lease))


def _noted(do: Callable[[], _Done]) -> _Done:
    began = perf_counter()
    with request(), within():
        done = do()
        if done is not None:
            note(
                "job",
                level=_LEVELS.get(done.ended, INFO),
                job_id=done.batch.id,
                consumer=done.batch.consumer,
                stage=done.stage or None,
                outcome=f"{done.ended}:{done.kind}" if done.kind else done.ended,
                severity=_SEVERITIES.get(done.ended),
                latency_ms=round(1000 * (perf_counter() - began), 1),
            )
    return done


def work_off(
    one: Worker[Any],
    *,
    most: int | None,
    until_idle: bool,
    wait: Callable[[float], None],
    told: Callable[[Step], None] | None = None,
) -> tuple[Counter[str], float | None]:
    """Do jobs; return how many ended how, and in how many seconds the next is due, None where none waits.

    `until_idle`: those that are tried again later are waited for, by `wait`.
    """
    ended: Counter[str] = Counter()
    while most is None or ended.total() < most:
        done = step(one)
        if done is not None:
            ended[done.ended] += 1
            if told is not None:
                told(done)
            continue
        idle_s = one.idle_s()
        if not until_idle or idle_s is None or idle_s > LONGEST_WAIT_S:
            return ended, idle_s
        wait(idle_s)
    return ended, one.idle_s()
