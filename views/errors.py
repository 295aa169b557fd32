"""Errors of the projections.

ViewError
├── DamagedViewError   a working file can't be used: it is thrown away and rebuilt, never reported as a failure
│   └── UnsealedError     nobody who holds the vault made it, or somebody has changed it since
├── ViewBusyError      another process is at work on the view, and there is nothing else to read
├── SnapshotError      a snapshot is damaged or foreign
│   └── UnknownSnapshotError   there is none of that name (a LookupError)
└── SqlError           a statement that can't be answered, with a hint
    ├── SqlTimeoutError   it took longer than it may
    ├── SqlStoppedError   who asked it wants no answer any more
    └── SqlLimitError     it needs more memory, rows or bytes than it may have

The environment's `OSError` is left alone.
"""

import errno
import os
from pathlib import Path
from typing import Final

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def told(error: Exception) -> str:
    """Return what an answer says of trouble with a view."""
    return error.reason if isinstance(error, ViewBusyError) else str(error)


class ViewError(Exception):
    """Root of this room's errors."""


class DamagedViewError(ViewError):
    """A view's file is missing, unreadable, or not what this release wrote; rebuild it from the log."""


def spoilt(reason: str, cause: Exception) -> "DamagedViewError | OSError":
    """Return what to raise where a library could not read or write a file: no room to grow is no damage of the file's.

    Libraries say it in words alone.
    """
    number = next((one for one in _NO_ROOM if os.strerror(one) in str(cause)), None)
    return DamagedViewError(reason) if number is None else OSError(number, os.strerror(number))


class UnsealedError(DamagedViewError):
    """A view's file is not what the vault's holder wrote: nothing may be told from it."""


class ViewBusyError(ViewError):
    """Another process holds the view, and no generation can stand in for it."""

    def __init__(self, reason: str, place: Path | None = None) -> None:
        """`reason` alone is for answers, which go to models and into signed records; `place` is for who is at hand."""
        self.reason = reason
        super().__init__(reason if place is None else f"{place}: {reason}; try again shortly")


class SnapshotError(ViewError):
    """A snapshot that is damaged, of another log, or holds what has been erased."""


class UnknownSnapshotError(SnapshotError, LookupError):
    """No snapshot has this name."""


class SqlError(ViewError, ValueError):
    """A statement that is refused or fails; `hint` says what would work."""

    def __init__(self, reason: str, hint: str = "") -> None:
        self.reason = reason
        self.hint = hint
        super().__init__(f"{reason}; {hint}" if hint else reason)


class SqlTimeoutError(SqlError):
    """The statement took longer than its limit and was stopped."""


class SqlStoppedError(SqlError):
    """The statement was stopped by whoever asked it, or because they have gone."""


class SqlLimitError(SqlError):
    """The statement went beyond its memory, rows or bytes and was stopped."""
