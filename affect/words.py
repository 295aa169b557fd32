"""Words and marks of a text as this room reads them: straight apostrophes, a bound on what is read. Pure."""

import re
from itertools import pairwise
from typing import Final

MAX_CHARS: Final = 20_000
"""What is read of a text: tone shows in the first pages, and a megabyte must not take a minute."""
_WORD: Final = re.compile(r"[a-zA-Z]+(?:'[a-zA-Z]+)*")
_GRAM: Final = re.compile(r"[a-z]+(?:'[a-z]+)*|[!?]+|\.\.+|\d+|[^\sa-z0-9]")
_STEM: Final = 5
_CURLY: Final = str.maketrans({"\u2018": "'", "\u2019": "'"})


def plain(text: str) -> str:
    """Return what is read of a text, with straight apostrophes."""
    return text[:MAX_CHARS].translate(_CURLY)


def words(text: str) -> list[str]:
    """Return the Latin words of a plain text in order, as they are written."""
    return _WORD.findall(text)


def grams(text: str) -> list[str]:
    """Return the words and marks of a plain text in lower case, each two side by side, and how long words begin."""
    single = _GRAM.findall(text.lower())
    pairs = [f"{one} {other}" for one, other in pairwise(single)]
    return single + pairs + [f"{word[:_STEM]}*" for word in single if len(word) > _STEM]
