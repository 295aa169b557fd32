"""Times as people type them, and the options of the past that several commands share."""

import re
from datetime import UTC, date, datetime, time
from typing import Annotated, Final

import typer

AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="INDEX|TIME",
        help="As the log was once it held this record, or at this time.",
        show_default="now",
    ),
]
ValidAt = Annotated[
    str | None,
    typer.Option(
        "--valid-at",
        metavar="TIME",
        help="Only what had happened and held at this time.",
        show_default=False,
    ),
]
IncludeForgotten = Annotated[bool, typer.Option("--include-forgotten", help="Show what is forgotten, too.")]


_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d")


def instant(text: str) -> datetime:
    """Return an RFC 3339 time, or the beginning (UTC) of a date; ValueError says what would be one."""
    try:
        if _DATE.fullmatch(text):
            return datetime.combine(date.fromisoformat(text), time(), UTC)
        found = datetime.fromisoformat(text if _TIME.match(text) else "")
    except ValueError:
        raise ValueError(f"{text!r} is not a time, such as 2025-05-17 or 2025-05-17T10:00:00+01:00") from None
    if found.tzinfo is None:
        raise ValueError(f"{text} has no time zone: write {text}Z for UTC, or another offset")
    return found


def index_or_instant(text: str) -> int | datetime:
    """Return a log index, or a time as `instant` reads it."""
    return int(text) if text.isascii() and text.isdigit() else instant(text)


def past(text: str | None) -> tuple[int | None, datetime | None]:
    """Return `as_of` and `as_of_time` of a request: a log index or a time, neither for the present."""
    found = None if text is None else index_or_instant(text)
    return (found, None) if isinstance(found, int) else (None, found)
