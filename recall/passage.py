"""The part of a long text that a question is about, cut where sentences begin and end. Pure, and linear in the text."""

import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import Final

from braid.text.words import stem

CUT: Final = "…"
_WORD: Final = re.compile(r"[^\W_]+")
_LONGEST: Final = 64
"""No word is longer: what is has no stem."""
_MOST_SOUGHT: Final = 64
"""How many words of a question are looked for as pieces of longer ones: of an unspaced script, of an identifier."""
_BEGINS: Final = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|\n\s*")
"""Behind which a sentence begins: read of the piece that is shown alone, never of the whole text."""


def passage(text: str, words: Iterable[str], limit: int) -> str:
    """Return a text, or of one longer than `limit` characters the part in which most of the words stand.

    `words`: lower case, as a question has them; they are found by their stems, else as pieces of longer words. Where
    none stands in it: its beginning. What is left out before or behind is marked by `…`; at most `limit` characters,
    the marks among them.
    """
    start, stop = span(text, words, limit)
    if (start, stop) == (0, len(text)):
        return text
    return f"{CUT if start else ''}{text[start:stop].strip()}{CUT if stop < len(text) else ''}"


def span(text: str, words: Iterable[str], limit: int) -> tuple[int, int]:
    """Return where that part begins and ends."""
    if len(text) <= limit:
        return 0, len(text)
    sought = {word for word in words if len(word) > 1 or word.isdigit()}
    room = limit - 2
    first, last = _densest([*_as_words(text, sought)] or [*_as_pieces(text, sought)], room)
    start = max(0, min(first - (room - (last - first)) // 2, len(text) - room))
    stop = start + room
    if start:
        start = _begun(text, start, first)
    if stop < len(text):
        stop = _ended(text, last, stop)
    return start, stop


def _as_words(text: str, sought: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Yield where forms of some words stand, and their stems."""
    stems = set(map(stem, sought))
    for match in _WORD.finditer(text):
        if match.end() - match.start() <= _LONGEST and (found := stem(match[0].lower())) in stems:
            yield match.start(), match.end(), found


def _as_pieces(text: str, sought: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Yield where some words stand, whatever stands beside them, in the order of the text."""
    low = text.lower()
    if len(low) != len(text):
        return  # places would differ
    found: list[tuple[int, int, str]] = []
    for word in sorted(sought, key=lambda one: (-len(one), one))[:_MOST_SOUGHT]:
        found += [(match.start(), match.end(), word) for match in re.finditer(re.escape(word), low)]
    yield from sorted(found)


def _densest(found: Iterable[tuple[int, int, str]], room: int) -> tuple[int, int]:
    """Return where the first begins and the last ends of the words within `room` that say most: the rarer, the more."""
    places = list(found)
    worth = {word: 1 / (1 + math.log(count)) for word, count in Counter(word for *_, word in places).items()}
    held: deque[tuple[int, int, str]] = deque()
    counts: Counter[str] = Counter()
    total, best, densest = 0.0, 0.0, (0, 0)
    for start, end, word in places:
        held.append((start, min(end, start + room), word))
        counts[word] += 1
        total += worth[word] if counts[word] == 1 else 0.0
        while held[-1][1] - held[0][0] > room:
            gone = held.popleft()[2]
            counts[gone] -= 1
            total -= worth[gone] if not counts[gone] else 0.0
        if total > best + 1e-9:
            best, densest = total, (held[0][0], held[-1][1])
    return densest


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
