"""Texts as they are compared where a name must be found however it is written, and where it stands in them. Pure."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

_GOES_ON: Final = (
    r"\u0590-\u109f\u1100-\u139f\u1400-\u1c7f\u3040-\u9fff\ua000-\ua63f\ua840-\uab2f\uabc0-\ud7ff\uf900-\ufaff"
    r"\ufb1d-\ufdff\ufe70-\ufefc\U00020000-\U0003ffff"
)
"""Scripts without capitals: they write words together (Thai, Chinese), or put particles on names (Korean, Arabic)."""
_WITHIN: Final = rf"[^\W_{_GOES_ON}]"
_ENDS: Final = re.compile(_WITHIN)
_VOWELS: Final = (
    *range(0x591, 0x5C8),
    *range(0x610, 0x61B),
    *range(0x64B, 0x660),
    0x670,
    *range(0x6D6, 0x6EE),
)
_ALIKE: Final = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201b\u02bc\u02b9\u2032\u00b4`", "'")
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63", "-")
    | {chr(mark): "" for mark in _VOWELS if unicodedata.category(chr(mark)) == "Mn"}
    | {"\u0640": ""}
)
"""Apostrophes and hyphens of one kind; without the marks for vowels of Hebrew and Arabic, which most leave out."""
_LETTERS: Final = ("L", "N")


class Folded(NamedTuple):
    """A text as it is compared: composed, of one width, without case. `spans`: where each of its characters stands."""

    text: str
    spans: Sequence[tuple[int, int]]


def folded(text: str) -> Folded:
    """Return a text as it is compared."""
    if text.isascii():
        return Folded(text.lower().translate(_ALIKE), [(at, at + 1) for at in range(len(text))])
    letters: list[str] = []
    spans: list[tuple[int, int]] = []
    at = 0
    while at < len(text):
        end = at + 1
        while end < len(text) and (unicodedata.combining(text[end]) or "\u1160" <= text[end] <= "\u11ff"):
            end += 1
        one = _fold(text[at:end])
        letters.append(one)
        spans += [(at, end)] * len(one)
        at = end
    return Folded("".join(letters), spans)


@lru_cache(maxsize=4_096)
def _fold(cluster: str) -> str:
    """Return a letter with its marks as it is compared: ﬁ is fi, ß is ss, and full width is none.

    A sign that only looks like letters (™, ¹, №) is none: it parts words.
    """
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", cluster).casefold())
    category = unicodedata.category(cluster[0])
    if category == "No" or (category[0] not in _LETTERS and any(map(str.isalnum, plain))):
        return " "
    return plain.translate(_ALIKE)


def whole(term: str) -> str:
    """Return a pattern that finds a term as whole words in a folded text, with any space between them.

    Where a script writes words together, or puts particles on a name, the term is found within. A term without a letter
    is found nowhere.
    """
    parts = folded(term).text.split()
    if not parts:
        return "(?!)"
    before = rf"(?<!{_WITHIN})" if ends_at(parts[0][0]) else ""
    behind = rf"(?!{_WITHIN}|[\u0300-\u036f])" if ends_at(parts[-1][-1]) else ""
    return before + r"\s+".join(map(re.escape, parts)) + behind


def ends_at(letter: str) -> bool:
    """Whether a word ends where such a letter stands at its edge; one of a script without capitals may go on."""
    return _ENDS.match(letter) is not None or not letter.isalnum()
