"""Objects of claims as values: text, numbers and dates in one normal form, and when two of them mean the same. Pure.

"£45" and "£54.00" differ, "1,180" and "£1,180.00" don't; "21 June" is a coarser "21 June 2025".
"""

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast

import Stemmer

from braid.stance.relations import Of

_WORD: Final = re.compile(r"[^\W_]+(?:[.'&-][^\W_]+)*[+#]*|[£$€%]")
"""C, C++ and C# are three."""
_ARTICLE: Final = re.compile(r"^(?:(?:the|a|an|my|his|her|our|their|your)\s+)+")
_EDGES: Final = " \t\n.,;:!?\"'“”\u2018’()[]"
_NUMBER: Final = re.compile(
    r"(?P<unit>[£$€]|\b(?:gbp|usd|eur)\s)?\s*(?P<number>-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?)\s*(?P<k>k\b)?"
    r"\s*(?P<after>%|£|€|pounds?|dollars?|euros?|pence|p\b)?",
    re.IGNORECASE,
)
_UNITS: Final = {
    "gbp": "£", "pound": "£", "pounds": "£", "usd": "$", "dollar": "$", "dollars": "$", "eur": "€", "euro": "€",
    "euros": "€", "p": "pence",
}  # fmt: skip
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*\.?"
_DAY: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>\d{4})"
_DATES: Final = tuple(
    re.compile(source, re.IGNORECASE)
    for source in (
        r"\b(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)",
        rf"\b{_DAY}(?: of)? {_MONTH},? {_YEAR}\b",
        rf"\b{_MONTH} {_DAY},? {_YEAR}\b",
        rf"\b{_DAY}(?: of)? {_MONTH}\b",
        rf"\b{_MONTH} {_DAY}\b",
        rf"\b{_MONTH},? {_YEAR}\b",
    )
)


_STEMMER: Final = cast("Any", Stemmer).Stemmer("english")
_WORDS: Final = """about an and any are as at be been by can did do does for from get go goes going gone got had has
have her his in is it its make made my of off on or our out she so take that the their there they this to took up was we
went were what when which who will with would you your"""
_IDLE: Final = frozenset(_WORDS.split())


class Date(NamedTuple):
    """As much of a date as was said; None for what was not."""

    year: int | None
    month: int
    day: int | None


@lru_cache(maxsize=20_000)
def normal(text: str) -> str:
    """Return text as subjects and objects are compared: case folded, one space, no article, no punctuation at the ends.

    Never fails; two spellings that Unicode calls compatible are one.
    """
    folded = " ".join(unicodedata.normalize("NFKC", text).replace("’", "'").casefold().split()).strip(_EDGES)
    return _ARTICLE.sub("", folded) or folded


@lru_cache(maxsize=20_000)
def number(text: str) -> tuple[Decimal, str] | None:
    """Return the number that a text gives and its unit (£, $, €, %, pence, or none); None unless it gives just one."""
    found = list(_NUMBER.finditer(text))
    if len(found) != 1:
        return None
    match = found[0]
    value = Decimal(match["number"].replace(",", "")) * (1000 if match["k"] else 1)
    unit = (match["unit"] or match["after"] or "").strip().casefold()
    return value, _UNITS.get(unit, unit)


@lru_cache(maxsize=20_000)
def date(text: str) -> Date | None:
    """Return the first date that a text gives, as far as it gives it; None for none that the calendar could hold."""
    for pattern in _DATES:
        if match := pattern.search(text):
            parts = match.groupdict()
            month = parts["month"]
            number_ = int(month) if month.isdigit() else _MONTHS.index(month[:3].casefold()) + 1
            year, day = parts.get("year"), parts.get("day")
            if 1 <= number_ <= 12 and 0 < int(day or 1) < 32:
                return Date(int(year) if year else None, number_, int(day) if day else None)
    return None


def same(one: str, other: str, of: Of = "text", *, broad: bool = False) -> bool:
    """Whether two objects are the same one, compared as text, numbers or dates; `broad`: "Leeds" and "Leeds, in
    Meanwood" are, as more and less of one answer.
    """
    if of == "number" and (a := number(one)) and (b := number(other)):
        return a[0] == b[0] and (a[1] == b[1] or not a[1] or not b[1])
    if of == "date" and (c := date(one)) and (d := date(other)):
        return all(left == right or None in (left, right) for left, right in zip(c, d, strict=True))
    left, right = stemmed(one), stemmed(other)
    if left == right:
        return True
    return broad and (_begins(left, right) or _begins(right, left))


@lru_cache(maxsize=20_000)
def stemmed(text: str) -> tuple[str, ...]:
    """Return the words of a text's normal form, in the singular as far as an `s` tells."""
    words = _WORD.findall(normal(text)) or [normal(text)]  # an emoji is an object too
    return tuple(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in words
        if word
    )


@lru_cache(maxsize=20_000)
def telling(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that say something."""
    words = re.findall(r"[^\W_]+", normal(text))
    return frozenset(_STEMMER.stemWords([word for word in words if len(word) > 1 and word not in _IDLE]))


def _begins(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    return 0 < len(short) < len(long) and long[: len(short)] == short


def akin(one: str, other: str) -> bool:
    """Whether two objects are of one sort, as far as their words tell: they share one, or one is in the other
    (vim, neovim; morning flights, evening flights).
    """
    a, b = set(stemmed(one)), set(stemmed(other))
    return bool(a & b) or any(
        min(len(left), len(right)) > 2 and (left in right or right in left) for left in a for right in b
    )
