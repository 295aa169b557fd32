"""Events for a log of one line each: what was done, how it ended and how long it took, and never what was said.

`note` takes fields of `FIELDS` alone, and each only as an id, a name or a number. So no caller can bring words into it.
Who shows the events, and how, is for the program: they go to the logger `braid.event`.
"""

import logging
import re
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from secrets import token_hex
from typing import Final

from braid.severity import severity_of

LOGGER: Final = "braid.event"
FIELDS: Final = (
    "component",
    "request_id",
    "session_id",
    "operation",
    "memory_id",
    "job_id",
    "consumer",
    "stage",
    "provider",
    "model",
    "tier",
    "latency_ms",
    "outcome",
    "severity",
    "status",
    "tokens",
    "percent",
    "count",
)
COMPONENTS: Final = {
    "request": "server",
    "denied": "server",
    "notice_unsigned": "server",
    "request_failed": "server",
    "operation": "operations",
    "remembered": "remember",
    "job": "jobs",
    "worker_rests": "jobs",
    "model_kept_away": "jobs",
    "model_asked": "providers",
    "model_refused": "providers",
    "budget_runs_out": "providers",
    "budget_spent": "providers",
    "outbound_log_failed": "providers",
    "outbound_log_lost": "providers",
    "alarm": "alarms",
    "freeze_unsigned": "alarms",
    "undone_unread": "alarms",
    "demotion_unsigned": "decisions",
}
"""Which part of the program each event is of; of another one nothing is said."""
_PLAIN: Final = re.compile(r"[\w.:@/#+-]{1,200}", re.ASCII)
"""What an id, a class, or the name of a model looks like."""
_ID: Final = re.compile(r"(?:[a-z]{1,8}_)?[0-9a-fA-F-]{8,36}", re.ASCII)
"""What a request's id looks like that is taken from a caller: a number that stands for nothing else."""
_log = logging.getLogger(LOGGER)
_log.addHandler(logging.NullHandler())  # nothing is shown unless a program asks for it
_REQUEST: ContextVar[str | None] = ContextVar("braid_request", default=None)
_SESSION: ContextVar[list[str | None] | None] = ContextVar("braid_session", default=None)


@contextmanager
def request(id: str | None = None) -> Generator[str]:
    """Give all that is noted within the block one request id: `id` where it looks like one, else a fresh one."""
    name = id if id is not None and _ID.fullmatch(id) else f"req_{token_hex(8)}"
    before = _REQUEST.set(name)
    try:
        yield name
    finally:
        _REQUEST.reset(before)


def current_request() -> str | None:
    """Return the id of the request that is being answered; None outside one."""
    return _REQUEST.get()


@contextmanager
def within(session_id: object = None) -> Generator[None]:
    """Give all that is noted within the block one session: the one that is named, or that `name_session` names."""
    held = _SESSION.set([_session_id(session_id)])
    try:
        yield
    finally:
        _SESSION.reset(held)


def name_session(session_id: str | None) -> None:
    """Say of which session the rest of the block is, once that is known."""
    held = _SESSION.get()
    if held is not None:
        held[0] = _session_id(session_id)


def _session_id(said: object) -> str | None:
    """Return a session's id where it looks like one: another name is somebody's words, and stays out."""
    return said if isinstance(said, str) and _ID.fullmatch(said) else None


def note(
    event: str,
    *,
    level: int = logging.INFO,
    error: BaseException | None = None,
    **fields: str | float | None,
) -> None:
    """Log an event; of an `error` its class is the outcome, beside how bad it is.

    ValueError for a field that isn't one of `FIELDS`; a text that is no id or name is left out.
    """
    if unknown := fields.keys() - set(FIELDS):
        raise ValueError(f"{', '.join(sorted(unknown))}: no field of the log")
    if not _log.isEnabledFor(level):
        return
    session = _SESSION.get()
    given = {
        "component": COMPONENTS.get(event),
        "request_id": _REQUEST.get(),
        "session_id": session[0] if session is not None else None,
        **({} if error is None else {"outcome": type(error).__name__, "severity": severity_of(error)}),
        **fields,
    }
    held = {name: _plain(value) for name, value in given.items() if value is not None}
    _log.log(level, "%s", event, extra={"braid": held})


def _plain(value: str | float) -> str | float:
    if not isinstance(value, str):
        return value
    return value if _PLAIN.fullmatch(value) else "?"
