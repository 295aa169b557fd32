"""The freeze switch: while it is on, nobody but an operator changes anything, whatever the face.

It is a notice in the log, so it outlives every process. Whoever opened the store in this process holds its keys and is
its operator; a caller whom a server or an agent's tools put in front of it is not, unless their token says so.
"""

from typing import TYPE_CHECKING, Any, Final

import msgspec

from braid.errors import FrozenError
from braid.notices import notice_count, notices

if TYPE_CHECKING:
    from braid.session import Session

EVENT: Final = "freeze"


class Freeze(msgspec.Struct, frozen=True):
    """A freeze that is on: the record that says so, and why."""

    index: int
    reason: str | None


class FreezeSwitch:
    """Whether a store is frozen; looks again when the log has more that may say so. Safe between threads."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._known: tuple[int, Freeze | None] = (-1, None)

    def state(self) -> Freeze | None:
        """Return the freeze that is on; None where there is none."""
        count, known = self._known
        if (now := notice_count(self._session)) != count:
            known = None
            for index, body in notices(self._session, EVENT):
                said: Any = body.data.get("frozen")
                known = Freeze(index, body.reason) if said is True else None
            self._known = (now, known)
        return known


def require_thawed(session: "Session", what: str) -> None:
    """Raise FrozenError where the store is frozen; `what` would change it."""
    session.refresh()  # another process may have frozen it
    found = session.kept(FreezeSwitch, lambda: FreezeSwitch(session)).state()
    if found is not None:
        why = f": {found.reason}" if found.reason else ""
        raise FrozenError(f"{what} would change the store, which an operator has frozen{why}")
