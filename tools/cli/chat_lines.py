"""Lines of a chat: as they are typed, or again where a line was no answer to what was asked."""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Literal

Read = Callable[[str], str]
"""Prompt → what was typed; raises EOFError at the end and KeyboardInterrupt for Ctrl-C."""
_YES: Final = re.compile(r"(?:y|yes|yep|yeah)(?:[ ,]+(?:please|do|do it|thanks))?\W*", re.IGNORECASE)
_NO: Final = re.compile(
    r"(?:no?|nope|nah|cancel|stop|leave it|keep it|never ?mind|don['’]?t)"
    r"(?:\W+(?:no|thanks|thank you|please|stop|leave it|keep it|don['’]?t))*\W*",
    re.IGNORECASE,
)
_ONLY: Final = re.compile(r"only(?: what (?:i|you) told)?\W*", re.IGNORECASE)


def is_reply(text: str) -> bool:
    """Whether a line says yes or no and nothing else, which is worth nothing where nothing was asked."""
    return _YES.fullmatch(text) is not None or _NO.fullmatch(text) is not None


class Lines:
    """Gives a chat its lines. What is neither yes nor no, where that was asked, is taken as the line after it."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._left: str | None = None

    def line(self) -> str:
        """Return the next line; raises as `Read` does."""
        left, self._left = self._left, None
        return self._read("> ").strip() if left is None else left

    def says(self, choice: str = "yes or no") -> Literal["yes", "no", "only"]:
        """Return what the next line says to a choice, which may have "only" in it. What says none of it is taken for
        no, and is the line after it.
        """
        with suppress(EOFError, KeyboardInterrupt):
            reply = self._read(f"{choice}> ").strip()
            if _YES.fullmatch(reply):
                return "yes"
            if "only" in choice and _ONLY.fullmatch(reply):
                return "only"
            if reply and not _NO.fullmatch(reply):
                self._left = reply
        return "no"
