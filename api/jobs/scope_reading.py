"""The sessions of one scope, read by a model that whoever asks has brought: nothing of another scope is shown to it.

A job that fails waits, and is tried again, as any other: by whoever works the log off. No lock is held while the model
is asked, and what it says is appended once.
"""

from functools import partial
from typing import TYPE_CHECKING, Final

from braid.job_state import job_state
from braid.jobs.running import Models, attempt, by_model
from braid.session import Session
from braid.settings import settings
from braid.text.parse import ParserMissingError
from braid.work.backoff import WAITS_S, Retry
from braid.work.job import ACTIVE
from braid.work.worker import LEASE_S, Step, Worker

if TYPE_CHECKING:
    from braid.ledger.record.record import Scope
    from braid.text.chat import ChatModel
    from braid.text.parse import Parser

MOST: Final = 3
"""So many portions of sessions are read at once: whoever asked waits for them."""


def read_scope(
    session: Session, model: "ChatModel", scope: "Scope | None", *, ended_only: bool, most: int = MOST
) -> tuple[Step, ...]:
    """Let a model read what waits of a scope's sessions, each portion once; return how the attempts ended.

    It ends with the first that fails, and leaves alone what is to be tried later. `ended_only`: what is left of a
    session that goes on waits for more. Raises ValueError for a scope of one session, since what is known of a person
    is shown to the model; ReadOnlyError, FrozenError, TransportError, and what appending raises.
    """
    if scope is not None and scope.session_id is not None:
        raise ValueError("a model is shown what is known of a person: that is more than one session's")
    session.refresh()
    _ = session.writer  # refuses a store that is open for reading only, before anything is leased
    state = job_state(session)
    reader = by_model(
        session, model, Models(small=model, parser=_parser(session)), ended_only=ended_only, scope=scope
    )
    retry = Retry(waits_s=WAITS_S[: settings(session).job_attempts - 1])
    worker = Worker(state.transport, [reader], state.breakers, clock=partial(_now_s, session), retry=retry)
    ended: list[Step] = []
    for batch in reader.plan(most, _waiting(session)):
        if state.breakers.wait_s(reader.needs):
            break
        lease = state.transport.take(batch, worker.owner, _now_s(session), LEASE_S)
        if lease is None:
            continue  # a worker is at it
        ended.append(attempt(worker, lease))
        if ended[-1].ended not in ("done", "settled"):
            break
    return tuple(ended)


def _waiting(session: Session) -> frozenset[str]:
    """Return the jobs that failed, or were put off, and are not due yet: they are not asked for at each call."""
    now = _now_s(session)
    jobs = job_state(session).transport.jobs()
    return frozenset(one.batch.id for one in jobs if one.state in ACTIVE and one.due_at > now)


def _parser(session: Session) -> "Parser | None":
    """Return what vouches for what a model finds; without it that is staged."""
    try:
        return session.parser
    except ParserMissingError:
        return None


def _now_s(session: Session) -> float:
    return session.now().timestamp()
