"""Text that somebody else wrote, as data in what a model is told: one line each, between tags it can't close. Pure."""

import re
from hashlib import sha256
from typing import Final

_STEERING: Final = re.compile(
    r"<\|[^|>]{0,40}\|>|\[/?(?:INST|SYS)\]|<</?SYS>>|</?s>|\b(?:system|assistant|user|human)\s*:(?=\s)"
    r"|^#{1,6}\s|```|~~~",
    flags=re.IGNORECASE | re.MULTILINE,
)


CUT: Final = "…"
"""Stands where a text was cut."""


def disarmed(text: str, limit: int) -> str:
    """Return stored text as one line of at most `limit` characters, without what steers a model."""
    # Control characters go first: between the letters of a token they would hide it, and then be gone.
    printable = "".join(c if c.isprintable() or c == "\n" else " " for c in text[: 4 * limit])
    short = " ".join(_STEERING.sub(lambda match: "·".join(match[0]), printable).split())
    return short if len(short) <= limit else short[: limit - 1] + CUT


def escaped(text: str) -> str:
    """Return text without what XML reads as markup."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    return clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace(chr(34), "&quot;")


def fence_of(data: list[str]) -> str:
    """Return a name that doesn't occur in the data: a hash over it, and over that again should it ever occur."""
    whole = "\n".join(data)
    name = f"data-{sha256(whole.encode()).hexdigest()[:16]}"
    while name in whole:
        name = f"data-{sha256(name.encode()).hexdigest()[:16]}"
    return name
