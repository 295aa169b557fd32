"""The signed settings of decisions, of forgetting, and of what is frozen: typed, each with its default.

Each change is a notice in the log (SPEC §3.5) with who signed it and why; the newest of a key counts. What this release
can't read in one is passed over.
"""

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from braid.caller import Caller
from braid.errors import AccessDeniedError, FrozenError
from braid.notices import notice_count, notices

if TYPE_CHECKING:
    from braid.operation import Access
    from braid.session import Session

EVENT: Final = "setting"
Phase = Literal["shadow", "add_only", "full"]
_PROGRAMS: Final = ("agent", "autonomous", "model")
_BY_ITSELF: Final = ("autonomous", "model")


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every key with its type and its default."""

    phase: Annotated[
        Phase, Meta(description="How far decisions go that no person made; full is not offered yet.")
    ] = "shadow"
    allow_update_delete: Annotated[
        bool, Meta(description="Whether such decisions may update and delete, once the phase is full.")
    ] = False
    mutations_frozen: Annotated[
        bool, Meta(description="Nobody modifies, corrects or forgets; recover and erase go on.")
    ] = False
    autonomous_frozen: Annotated[
        bool, Meta(description="Callers that act by themselves (autonomous, model) can only read.")
    ] = False
    forget_dry_run_only: Annotated[
        bool, Meta(description="Forgetting by query shows what is meant, and does no more.")
    ] = False
    forget_confirm_above: Annotated[
        int,
        Meta(ge=0, le=100, description="From so many on, whoever forgets by query says how many they are."),
    ] = 10
    forget_max: Annotated[
        int, Meta(ge=1, le=100, description="So many are forgotten by one query at most.")
    ] = 100


class SettingsFold:
    """The settings of one store; looks again when the log has more that may say so. Safe between threads."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._known: tuple[int, Settings, dict[str, int]] = (-1, Settings(), {})

    def now(self) -> tuple[Settings, dict[str, int]]:
        """Return what is set, and by which record each key was."""
        count, known, by = self._known
        if (held := notice_count(self._session)) != count:
            said: dict[str, Any] = {}
            by = {}
            for index, body in notices(self._session, EVENT):
                key: Any = body.data.get("key")
                value: Any = body.data.get("value")
                if _fits({**said, key: value}):
                    said[key], by[key] = value, index
            known = msgspec.convert(said, Settings)
            self._known = (held, known, by)
        return known, by


def _fits(said: dict[Any, Any]) -> bool:
    try:
        msgspec.convert(said, Settings)
    except msgspec.ValidationError:
        return False
    return True


def settings(session: "Session") -> Settings:
    """Return what is set in the log as the session has followed it."""
    return fold_of(session).now()[0]


def fold_of(session: "Session") -> SettingsFold:
    """Return the fold of a session's settings, kept while it is open."""
    return session.kept(SettingsFold, lambda: SettingsFold(session))


def require_unfrozen(
    session: "Session", access: "Access", caller: Caller | None, what: str, *, reads: bool = False
) -> None:
    """Raise FrozenError where a setting stops this. `reads`: it may read alone, such as a preview."""
    mutates = access == "modify" or (access == "forget" and not reads)
    by_itself = caller is not None and caller.kind in _BY_ITSELF
    if access == "read" or not (mutates or by_itself):
        return
    session.refresh()  # another process may have set it
    now = settings(session)
    if mutates and now.mutations_frozen:
        raise FrozenError(f"{what} would change a memory, and mutations_frozen is set")
    if by_itself and now.autonomous_frozen:
        raise FrozenError(f"{what} is asked by a caller of its own accord, and autonomous_frozen is set")


def require_person(session: "Session", caller: Caller | None, what: str) -> None:
    """Raise AccessDeniedError where a program would decide, and the phase doesn't let it."""
    now = settings(session)
    may = now.phase == "full" and now.allow_update_delete
    if caller is not None and caller.kind in _PROGRAMS and not may:
        raise AccessDeniedError(f"in phase {now.phase} {what} is for a person or an operator")
