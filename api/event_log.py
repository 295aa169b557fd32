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

LOGGER: Final = "braid.event"
FIELDS: Final = (
    "request_id",
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
    "status",
    "tokens",
    "percent",
    "count",
)
_PLAIN: Final = re.compile(r"[\w.:@/#+-]{1,200}", re.ASCII)
"""What an id, a class, or the name of a model looks like."""
_ID: Final = re.compile(r"(?:[a-z]{1,8}_)?[0-9a-fA-F-]{8,36}", re.ASCII)
"""What a request's id looks like that is taken from a caller: a number that stands for nothing else."""
_log = logging.getLogger(LOGGER)
_log.addHandler(logging.NullHandler())  # nothing is shown unless a program asks for it
_REQUEST: ContextVar[str | None] = ContextVar("braid_request", default=None)


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


def note(event: str, *, level: int = logging.INFO, **fields: str | float | None) -> None:
    """Log an event. ValueError for a field that isn't one of `FIELDS`; a text that is no id or name is left out."""
    if unknown := fields.keys() - set(FIELDS):
        raise ValueError(f"{', '.join(sorted(unknown))}: no field of the log")
    if not _log.isEnabledFor(level):
        return
    given = {"request_id": _REQUEST.get(), **fields}
    held = {name: _plain(value) for name, value in given.items() if value is not None}
    _log.log(level, "%s", event, extra={"braid": held})


def _plain(value: str | float) -> str | float:
    if not isinstance(value, str):
        return value
    return value if _PLAIN.fullmatch(value) else "?"
