"""What failed and nobody was told of yet: a short list in a file, shown at the next start. Standard library alone."""

import json
import time
from typing import Any, Final

from braid.tools.hooks.state import StateFolder, as_list, as_object, locked, read_json, replace

MOST: Final = 50
"""How many are kept; of more, the oldest are only counted."""
_CHARS: Final = 400


class Troubles:
    """The troubles of one store's harness, each with its time, session, event and how often."""

    def __init__(self, folder: StateFolder) -> None:
        self._folder = folder
        self._path = folder.path / "troubles"

    def add(self, session: str, event: str, what: str) -> None:
        """Note that something failed. OSError is left alone."""
        self._folder.make()
        what = " ".join(what.split())[:_CHARS]
        with locked(self._path.with_suffix(".lock")):
            kept = self.all()
            known = next((one for one in kept if (one["session"], one["what"]) == (session, what)), None)
            if known is not None:
                known["times"] += 1
                known["at"], known["event"] = _now(), event
            else:
                kept.append({"at": _now(), "session": session, "event": event, "what": what, "times": 1})
            self._write(kept)

    def take(self) -> list[dict[str, Any]]:
        """Return the troubles, and forget them: whoever takes them tells them. OSError is left alone."""
        if not self._path.exists():
            return []
        with locked(self._path.with_suffix(".lock")):
            kept = self.all()
            self._path.unlink()
        return kept

    def all(self) -> list[dict[str, Any]]:
        """Return the troubles, oldest first; of a damaged file that it was damaged."""
        if not self._path.exists():
            return []
        found = as_list(read_json(self._path))
        if found is None or not all(_is_trouble(one) for one in found):
            return [_lost("the list of what failed was damaged")]
        return found

    def _write(self, kept: list[dict[str, Any]]) -> None:
        if len(kept) > MOST:
            over = kept[: len(kept) - MOST + 1]
            count = sum(one["times"] for one in over)
            kept = [_lost("older failures, of which only the number is kept", count), *kept[len(over) :]]
        replace(self._path, json.dumps(kept).encode())


def said(one: dict[str, Any]) -> str:
    """Return a trouble in words."""
    times = f" ({one['times']} times)" if one["times"] > 1 else ""
    where = f"{one['event']} of session {one['session'][:8]}: " if one["session"] else ""
    return f"{one['at']} {where}{one['what']}{times}"


def _is_trouble(one: Any) -> bool:
    texts = ("at", "session", "event", "what")
    found = as_object(one)
    return (
        found is not None
        and all(isinstance(found.get(name), str) for name in texts)
        and isinstance(found.get("times"), int)
    )


def _lost(what: str, times: int = 1) -> dict[str, Any]:
    return {"at": _now(), "session": "", "event": "", "what": what, "times": times}


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
