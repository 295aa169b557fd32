"""What kind of thing a turn says: whether it tells of times, numbers, plans, reasons; whether it asks. Pure."""

import math
import re
from collections.abc import Collection
from typing import Final

from braid.text import numbers
from braid.text.calendar import MONTHS, WEEKDAYS

_TIME_WORDS: Final = " ".join(
    (
        "yesterday today tonight tomorrow ago recently since weekend year years month months week weeks day days",
        *MONTHS,
        *WEEKDAYS,
    )
)
_NUMBER_WORDS: Final = " ".join(
    ("once twice couple few several dozen hundred", *numbers.ONES[1:11], *numbers.ORDINALS[:3])
)
"""The weights of a recall were fitted with these words and no others."""
_WORDS: Final = (
    _TIME_WORDS,
    _NUMBER_WORDS,
    "i my we our",
    "will plan planning gonna next soon",
    "because since reason inspired motivated help helps",
    "last next this",
    "going can looking",
    "so due made",
)
_TIME, _NUMBER, _FIRST, _FUTURE, _REASON, _NEAR, _AHEAD, _WHY = (1 << place for place in range(len(_WORDS)))
_KINDS: Final = {
    word: sum(1 << place for place, words in enumerate(_WORDS) if word in words.split())
    for word in " ".join(_WORDS).split()
}
"""What kinds of word each is, as bits."""
_KIND_WORDS: Final = frozenset(_KINDS)
_DIGIT: Final = re.compile(r"\d")
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
_LAST: Final = re.compile(r"\b(?:last|next|this) \w", flags=re.IGNORECASE)
_GOING_TO: Final = re.compile(r"\b(?:going to|can't wait|looking forward)\b", flags=re.IGNORECASE)
_SO_THAT: Final = re.compile(r"\b(?:so that|due to|made me)\b", flags=re.IGNORECASE)
"""Phrases, each looked for only where a word that opens it stands: that spares most turns the search."""
TRAITS: Final = (
    "times", "numbers", "first", "future", "reasons", "names", "asks", "ends_asking", "length", "short",
)  # fmt: skip
_NAME: Final = re.compile(r"[A-Z](?<=[a-z,] .)[a-z]+")
"""A capitalised word amid a sentence. It begins with what is rare, so that the search skips from capital to capital."""


def traits(text: str, spoken: Collection[str]) -> tuple[float, ...]:
    """Return what kind of thing a text says, in the order of `TRAITS`; `spoken` are its words, as `text.words`."""
    kinds = 0
    for word in _KIND_WORDS.intersection(spoken):
        kinds |= _KINDS[word]
    digits = not "".join(spoken).isalpha() and _DIGIT.search(text) is not None
    length = len(text.split())
    return (
        float(
            kinds & _TIME != 0
            or (kinds & _NEAR != 0 and _LAST.search(text) is not None)
            or (digits and _YEAR.search(text) is not None)
        ),
        float(kinds & _NUMBER != 0 or (digits and any(word.isdigit() for word in spoken))),
        float(kinds & _FIRST != 0),
        float(kinds & _FUTURE != 0 or (kinds & _AHEAD != 0 and _GOING_TO.search(text) is not None)),
        float(kinds & _REASON != 0 or (kinds & _WHY != 0 and _SO_THAT.search(text) is not None)),
        min(len(_NAME.findall(text)), 3) / 3,
        float("?" in text),
        float(text.rstrip().endswith("?")),
        math.log1p(length) / 4,
        float(length < 6),
    )
