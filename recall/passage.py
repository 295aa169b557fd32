"""The part of a long text that a question is about, cut where sentences begin and end. Pure, and linear in the text."""

import re
from collections import deque
from collections.abc import Iterable
from typing import Final

from braid.text.words import stem

CUT: Final = "…"
_MIN_STEM_CHARS: Final = 3
_BEGINS: Final = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|\n\s*")
"""Behind which a sentence begins: read of the piece that is shown alone, never of the whole text."""


def passage(text: str, words: Iterable[str], limit: int) -> str:
    """Return a text, or of one longer than `limit` characters the part in which most of the words stand.

    `words`: lower case, as a question has them; they are found by their stems. Where none stands in it: its beginning.
    What is left out before or behind is marked by `…`; at most `limit` characters, the marks among them.
    """
    if len(text) <= limit:
        return text
    first, last = _densest(text, words, limit - 2)
    start = max(0, min(first - (limit - 2 - (last - first)) // 2, len(text) - (limit - 2)))
    stop = start + limit - 2
    if start:
        start = _begun(text, start, first)
    if stop < len(text):
        stop = _ended(text, last, stop)
    return f"{CUT if start else ''}{text[start:stop].strip()}{CUT if stop < len(text) else ''}"


def _densest(text: str, words: Iterable[str], room: int) -> tuple[int, int]:
    """Return where the first and behind the last of the words stand of the stretch that holds most of them."""
    starts = sorted({_start_of(word) for word in words} - {""}, key=lambda one: (-len(one), one))
    if not starts:
        return 0, 0
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, starts))})\w*", re.IGNORECASE)
    held: deque[tuple[int, int, str]] = deque()
    counts: dict[str, int] = {}
    best, found = 0, (0, 0)
    for match in pattern.finditer(text):
        word = stem(match[0].lower())
        held.append((match.start(), match.end(), word))
        counts[word] = counts.get(word, 0) + 1
        while match.end() - held[0][0] > room and len(held) > 1:
            gone = held.popleft()[2]
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
        if len(counts) > best:
            best, found = len(counts), (held[0][0], match.end())
    return found


def _start_of(word: str) -> str:
    """Return what the forms of a word begin with; a word of one letter says nothing."""
    short = stem(word)
    shared = short if word.startswith(short) else short[:-1] if word.startswith(short[:-1]) else word
    return shared if len(shared) >= _MIN_STEM_CHARS or word.isdigit() else word if len(word) > 1 else ""


def _begun(text: str, start: int, first: int) -> int:
    """Return where the first sentence between two places begins, else a word."""
    if (match := _BEGINS.search(text, start, first)) is not None and match.end() <= first:
        return match.end()
    at = text.find(" ", start, first)
    return at + 1 if at >= 0 else start


def _ended(text: str, last: int, stop: int) -> int:
    """Return where the last sentence between two places ends, else a word."""
    ends = [match.start() for match in _BEGINS.finditer(text, last, stop)]
    if ends:
        return ends[-1]
    at = text.rfind(" ", last, stop)
    return at if at > 0 else stop
