"""The log of events, one line each: as JSON for programs, or as text for people. Neither ever shows what was said.

Of a record that isn't an event (a library's, or an error that nobody expected) a line has the logger, the level and the
class of the error alone: its message may quote anything.
"""

import json
import logging
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final, Literal, TextIO

from braid.event_log import LOGGER

Form = Literal["json", "text"]
SERVICE: Final = "braid"


class EventLines(logging.Formatter):
    """Formats events."""

    def __init__(self, form: Form) -> None:
        super().__init__()
        self._form = form

    def format(self, record: logging.LogRecord) -> str:
        """Return a record's line; with BRAID_DEBUG set, all that a library says, and where an error was raised."""
        if os.environ.get("BRAID_DEBUG") and record.name != LOGGER:
            return super().format(record)
        fields = _fields(record)
        if self._form == "json":
            return json.dumps(fields, ensure_ascii=True)
        at, level, event = (str(fields.pop(name)) for name in ("time", "level", "event"))
        fields.pop("service")
        return " ".join((at, level, event, *(f"{name}={value}" for name, value in fields.items())))


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    known = {"time": at, "level": record.levelname.lower(), "service": SERVICE}
    held: dict[str, Any] | None = getattr(record, "braid", None)
    if record.name == LOGGER and held is not None:
        return {**known, "event": record.getMessage(), **held}
    failed = record.exc_info[0] if record.exc_info else None
    return {
        **known,
        "event": "log",
        "logger": record.name,
        **({"outcome": failed.__name__} if failed is not None else {}),
    }


@contextmanager
def shown(form: Form, *, level: int = logging.INFO, stream: TextIO | None = None) -> Generator[None]:
    """Write events from `level` on, and what libraries warn of, to `stream` (stderr) while the block runs."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(EventLines(form))
    root, events = logging.getLogger(), logging.getLogger(LOGGER)
    handlers, before = root.handlers[:], events.level
    root.handlers[:] = [handler]
    events.setLevel(level)
    try:
        yield
    finally:
        root.handlers[:] = handlers
        events.setLevel(before)
