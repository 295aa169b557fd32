"""Which of two paths has a session: the plugin where it is there, else the hook. Pure; standard library alone.

Each callback is answered once. The plugin takes a session over as soon as it is called at all: then it works. The hook
takes it back where the plugin has missed two callbacks that the hook has seen: two, because both are called at once and
either may come first. What nobody brought meanwhile lies unread in the transcript, and is brought then.
"""

from typing import Final

from braid.tools.hooks.events import Callback
from braid.tools.hooks.state import SessionState

PLUGIN, HOOK = "plugin", "hook"
_MISSES: Final = 2


class Turn:
    """What a path does at a callback. `takes`: it answers. `decides`: why it has just got the session, if it has."""

    def __init__(self, *, takes: bool, decides: str | None = None) -> None:
        self.takes = takes
        self.decides = decides


def turn_of(state: SessionState, path: str, callback: Callback) -> Turn:
    """Return what a path does, and note it in the session's state."""
    reason = _takes_over(state, path)
    if reason is None and state.path != path:
        return Turn(takes=False)
    if reason is not None:
        state.number += state.path is not None
        state.path, state.reason, state.misses, state.seen = path, reason, 0, -1
    answered = state.last == callback.key and state.last_path not in ("", path)
    state.last, state.last_path = callback.key, path
    state.turn += 1
    return Turn(takes=not answered, decides=reason)


def _takes_over(state: SessionState, path: str) -> str | None:
    """Return why a path gets a session that it hasn't; None where it doesn't."""
    if state.path == path:
        return None
    if state.path is None:
        return "the first that came"
    if path == PLUGIN:
        return "the plugin is there"
    state.misses = state.misses + 1 if state.turn == state.seen else 0
    state.seen = state.turn
    return "the plugin was silent" if state.misses >= _MISSES else None
