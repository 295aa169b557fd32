"""Refusals as RFC 9457 writes them, with the hint that the command line gives."""

import errno
from typing import Any, Final

from braid.event_log import current_request
from braid.tools.cli.errors import explain
from braid.transport import Problem

MEDIA_TYPE: Final = "application/problem+json"
_STATUS: Final = {
    "UnknownOperationError": 404,
    "UnknownRecordError": 404,
    "ErasedError": 410,
    "ForgottenError": 410,
    "FrozenError": 423,
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


def problem(error: BaseException) -> Problem:
    """Return why something was refused. Of an error that nobody foresaw, only the request's id, which the log has."""
    names = [kind.__name__ for kind in type(error).__mro__]
    status = 507 if isinstance(error, OSError) and error.errno in _DISK_FULL else status_of(type(error))
    if status == 500 and "OutcomeUnknownError" not in names:
        return Problem(
            title="Unexpected error",
            status=500,
            detail=f"unexpected {names[0]}; the server's log has it under {current_request() or names[0]}",
        )
    detail, hint = explain(error)
    return Problem(
        title=names[0].removesuffix("Error"),
        status=status,
        detail=detail,
        hint=hint,
        error=names[0],
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
    return {
        name: value
        for name, value in held.items()
        if not name.startswith("_") and (value is None or isinstance(value, str | int | float | bool))
    }
