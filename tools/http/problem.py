"""Refusals as RFC 9457 writes them, each with a hint for who asks from elsewhere: by operations, not by commands."""

import errno
import re
from typing import Any, Final, cast

from braid.event_log import current_request
from braid.severity import severity_of
from braid.tools.cli.errors import HINTS, LISTS, explain, for_elsewhere, is_full_file
from braid.transport import Problem

MEDIA_TYPE: Final = "application/problem+json"
_STATUS: Final = {
    "UnknownOperationError": 404,
    "UnknownRecordError": 404,
    "UnknownSnapshotError": 404,
    "ErasedError": 410,
    "ForgottenError": 410,
    "FrozenError": 423,
    "NoTokenError": 401,
    "AccessDeniedError": 403,
    "ConfirmationError": 403,
    "PinnedError": 409,
    "LostPlaceError": 409,
    "VersionConflictError": 412,
    "IdempotencyConflictError": 409,
    "LogLockedError": 503,
    "ViewBusyError": 503,
    "TransportError": 503,
    "ReadOnlyError": 409,
    "SqlTimeoutError": 408,
    "BodyTooLargeError": 413,
    "SqlError": 400,
    "InvalidRecordError": 400,
    "InvalidRequestError": 400,
    "OutcomeUnknownError": 500,
}
_DISK_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_TITLES: Final = {"ValueError": "Refused", "LookupError": "Not found", "OSError": "Not done"}
"""Titles of Python's own errors; those of Braid have the names of their classes."""
_COMMAND: Final = re.compile(r"braid |--[a-z]")


def _for_elsewhere(hint: str) -> str:
    """Return a hint that says where to do it, if that is by a command."""
    return f"on the store's machine: {hint}" if _COMMAND.search(hint) else hint


_HINTS: Final = {name: _for_elsewhere(hint) for name, hint in HINTS.items()} | {
    "LogLockedError": "wait a little, and ask again",
    "ViewBusyError": "wait a little, and ask again",
    "NoTokenError": "an operator makes one by `issue_token`, or `braid token create`",
    "UnknownOperationError": "GET /v1 lists the operations",
    "UnknownTokenError": "`tokens` lists those there are",
    "UnknownSnapshotError": "`snapshots` lists those there are",
    "UnknownJobError": "`jobs` lists those there are",
    "UnknownRecordError": "`recall` finds records by what they say; `memories` lists them",
    "UnknownEntityError": "`entities` lists them, with the same scope",
    "ErasedError": "what was erased can't be brought back; `certificate` says what went",
    "ForgottenError": "`get` with include_forgotten shows it; `recover` brings it back",
    "IdempotencyConflictError": "`get` shows that record; `correct` says what is right instead",
    "VersionConflictError": "`history` shows what has changed; then name the version that it has now",
    "PinnedError": "an operator: `forget` with force, or `modify` with pinned false",
    "ConfirmationError": "`preview_forget` shows what would be forgotten, and gives a token",
    "FrozenError": "an operator looks into it, and lifts it: `unfreeze`, or `change_setting`",
    "RemoteModelError": "an operator: `change_setting` makes local_only false, and adds the host to remote_hosts",
    "ProgramTakenError": "`program_trace` says how it stands now",
    "BrokenProgramError": "`program_trace` shows what is left of it; ask the question again",
    "CorruptLogError": "`verify` lists all that is affected; restore the named file from a backup",
    "IntegrityError": "`verify` lists all that is affected; nothing was changed",
    "OutcomeUnknownError": "ask the same again if it had an idempotency_key: what is in the log is not added twice; "
    "without one, look first whether it is there",
    "UnpurgedError": "once that is mended, `retain` finishes it",
    "DamagedViewError": "`replay` rebuilds the projections from the log",
}
"""What to do next: in operations that are asked over HTTP; where there is none, by a command beside the store."""
_LISTS: Final = {name: name for name in LISTS}
_FULL_HINT: Final = (
    "free some space on the store's machine, and ask again; `erase` and `compact` work on a full disk"
)


def problem(error: BaseException) -> Problem:
    """Return why something was refused. Of an error that nobody foresaw, only the request's id, which the log has."""
    names = [kind.__name__ for kind in type(error).__mro__]
    is_full = is_full_file(error) or (isinstance(error, OSError) and error.errno in _DISK_FULL)
    status = 507 if is_full else status_of(type(error))
    if status == 500 and "OutcomeUnknownError" not in names:
        return Problem(
            title="Unexpected error",
            status=500,
            detail=f"unexpected {names[0]}; the server's log has it under {current_request() or names[0]}",
            severity=severity_of(error),
        )
    detail, hint = explain(error, _HINTS, _LISTS)
    return Problem(
        title="Disk full" if is_full else _TITLES.get(names[0]) or names[0].removesuffix("Error"),
        status=status,
        detail=for_elsewhere(error, detail),
        hint=_FULL_HINT if is_full else hint,
        error=names[0],
        severity=severity_of(error),
        members=_members(error),
    )


def status_of(kind: type[BaseException]) -> int:
    """Return the status that an exception of a class is answered with; a full disk, an OSError, has its own."""
    names = [one.__name__ for one in kind.__mro__]
    found = next((_STATUS[name] for name in names if name in _STATUS), None)
    if found is not None:
        return found
    if "WalError" in names or "LedgerError" in names or "ViewError" in names:
        return 409
    if issubclass(kind, LookupError) and not issubclass(kind, KeyError | IndexError):
        return 404
    if issubclass(kind, ValueError) and not issubclass(kind, UnicodeError):
        return 400
    return 500


def _members(error: BaseException) -> dict[str, Any]:
    """Return what an exception carries beside its message, as far as JSON has it."""
    held = getattr(error, "__dict__", {})
    return {name: value for name, value in held.items() if not name.startswith("_") and _is_plain(value)}


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, cast("tuple[object, ...]", value)))
    return value is None or isinstance(value, str | int | float | bool)
