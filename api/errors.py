"""What the front door refuses, whatever is asked of it.

Misuse is a ValueError; what may not be done here is a PermissionError. What reading and writing raise comes from the
rooms below: LedgerError, WalError, ViewError, and OSError, which is left alone.

    InvalidRequestError(ValueError)     a request that can't be meant: a bound, a type, an unknown member
    UnknownOperationError(ValueError)   no operation has this name
    AccessDeniedError(PermissionError)  who asks may not do this
      FrozenError                       the store is frozen: an operator alone changes it
    NotInScopeError(LookupError, ValueError)  nothing in the scope has this id or name
      UnknownEntityError                no entity of it is called so
    LostPlaceError(ValueError)          what a cursor goes on behind is gone
    UnreachableError(ConnectionError)   no server answers where a client asks
    NoTokenError(PermissionError)       a server knows no token that was sent with a request, or none was
    TooOftenError(RuntimeError)         a server was asked too often; `wait_s` says when it may be asked again
    RemoteError(RuntimeError)           a server failed in a way that has no name here
    VersionConflictError(ValueError)    what was to change has changed since
    ConfirmationError(PermissionError)  what destroys was not confirmed, or not what was shown
    PinnedError(PermissionError)        a memory that is kept on purpose
    RemoteModelError(PermissionError)   a model that is not on this machine, and that the settings keep away
"""

from typing import Final, Self, TypeVar

LISTED_BY: Final = "listed_by"
"""The attribute of an error that names the operation by which one sees what there is."""
_Error = TypeVar("_Error", bound=Exception)


def listed_by(error: _Error, operation: str) -> _Error:
    """Return an error that names the operation which lists what there is: each face says how it is asked for there."""
    setattr(error, LISTED_BY, operation)
    return error


class InvalidRequestError(ValueError):
    """A request that can't be meant; the message names the member, what was expected and what was given."""


class UnknownOperationError(ValueError):
    """No operation has the name that was asked for; the message says which one is near."""


class AccessDeniedError(PermissionError):
    """The session may not do what was asked; the message names the access that it needs."""


class FrozenError(AccessDeniedError):
    """An operator has frozen the store, and who asks is none: nothing is written, changed or destroyed."""


class NotInScopeError(LookupError, ValueError):
    """Nothing in the scope that was asked has the id or the name that was given."""


class UnknownEntityError(NotInScopeError):
    """No entity of the scope has the name or the id that was given."""


class LostPlaceError(ValueError):
    """All that a cursor names has gone from the list: where its next page begins can't be said."""


class UnreachableError(ConnectionError):
    """No server answers, or it was lost on the way; nothing was done that could not be asked again."""


class NoTokenError(PermissionError):
    """A server answers only whoever sends a token that counts; nothing was done."""


class TooOftenError(RuntimeError):
    """A server was asked too often, and nothing was done: it may be asked again after `wait_s` seconds."""

    wait_s: int


class RemoteError(RuntimeError):
    """A server failed in a way that has no name here; the message is the server's."""


class VersionConflictError(ValueError):
    """A memory has changed since its `if_version`: `asked` is that, `actual` what it has now; nothing was written."""

    def __init__(self, id: str, asked: int, actual: int) -> None:
        self.id = id
        self.asked = asked
        self.actual = actual
        why = "somebody changed it since" if asked < actual else "there is no such version yet"
        super().__init__(f"{id} has version {actual}, not {asked}: {why}; nothing was written")

    def __reduce__(self) -> tuple[type[Self], tuple[str, int, int]]:
        """Make it anew from what it was made of, where it comes from another process."""
        return type(self), (self.id, self.asked, self.actual)


class ConfirmationError(PermissionError):
    """What destroys was not confirmed as it must be: the message says what is missing, and nothing was changed."""


class PinnedError(PermissionError):
    """A memory is pinned, and so is not forgotten without an operator's force; nothing was changed."""


class RemoteModelError(PermissionError):
    """A model that is not on this machine may not be asked: the signed settings say so; nothing was sent."""
