"""What kind of thing a turn says: whether it tells of times, numbers, plans, reasons; whether it asks. Pure."""

import math
import re
from collections.abc import Iterable
from typing import Final

_TIME_WORDS: Final = """yesterday today tonight tomorrow ago recently since weekend january february march april may
june july august september october november december year years month months week weeks day days monday tuesday
wednesday thursday friday saturday sunday"""
_NUMBER_WORDS: Final = """one two three four five six seven eight nine ten once twice couple few several dozen
hundred first second third"""
_TIMES: Final = frozenset(_TIME_WORDS.split())
_NUMBERS: Final = frozenset(_NUMBER_WORDS.split())
_FIRST: Final = frozenset(("i", "my", "we", "our"))
_FUTURE: Final = frozenset(("will", "plan", "planning", "gonna", "next", "soon"))
_REASONS: Final = frozenset(("because", "since", "reason", "inspired", "motivated", "help", "helps"))
_DIGIT: Final = re.compile(r"\d")
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
_PHRASES: Final = tuple(
    (frozenset(opening.split()), re.compile(pattern, flags=re.IGNORECASE))
    for opening, pattern in (
        ("last next this", r"\b(?:last|next|this) \w"),
        ("going can looking", r"\b(?:going to|can't wait|looking forward)\b"),
        ("so due made", r"\b(?:so that|due to|made me)\b"),
    )
)
"""Phrases, each looked for only where a word that opens it stands: that spares most turns the search."""
TRAITS: Final = (
    "times", "numbers", "first", "future", "reasons", "names", "asks", "ends_asking", "length", "short",
)  # fmt: skip
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")


def traits(text: str, spoken: Iterable[str]) -> tuple[float, ...]:
    """Return what kind of thing a text says, in the order of `TRAITS`; `spoken` are its words, as `text.words`."""
    said = frozenset(spoken)
    digits = _DIGIT.search(text) is not None
    near, ahead, why = (
        not opening.isdisjoint(said) and pattern.search(text) is not None for opening, pattern in _PHRASES
    )
    length = len(text.split())
    return (
        float(near or not _TIMES.isdisjoint(said) or (digits and _YEAR.search(text) is not None)),
        float(not _NUMBERS.isdisjoint(said) or (digits and any(word.isdigit() for word in said))),
        float(not _FIRST.isdisjoint(said)),
        float(ahead or not _FUTURE.isdisjoint(said)),
        float(why or not _REASONS.isdisjoint(said)),
        min(len(_NAME.findall(text)), 3) / 3,
        float("?" in text),
        float(text.rstrip().endswith("?")),
        math.log1p(length) / 4,
        float(length < 6),
    )
