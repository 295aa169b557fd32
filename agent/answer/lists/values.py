"""Values of a kind in a text: sums, days, clock times, weekdays, people, numbers of something. Pure.

A number is of what stands beside it: a phone number, a reference and a day are no price.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from braid.text.calendar import MONTH_NAME, SHORT_DAYS, WEEKDAYS
from braid.text.numbers import ORDINALS
from braid.text.quantities import Quantity, Read, quantities
from braid.text.words import stem

Sort = Literal["sum", "day", "clock", "weekday", "number", "person", "rate"]


class ValueKind(msgspec.Struct, frozen=True):
    """What kind of value each piece of a list must have; `names`: the stems of the question's words for the kind."""

    sort: Sort
    names: frozenset[str] = frozenset()


_WANTED: Final[tuple[tuple[Sort, str], ...]] = (
    ("rate", r"\b(?:price|cost|fee|rate)s? (?:per|a|each) (?:person|head|night|month|week|hour|year)\b"),
    ("weekday", r"\bweek ?days?\b|\bdays of the week\b"),
    ("sum", r"\b(?:prices?|costs?|quotes?|fees?|bills?|rents?|offers?|amounts?|budgets?|salar(?:y|ies)|wages?|estimates?"
            r"|payments?|invoices?|sums?)\b"),
    ("day", r"\b(?:dates?|deadlines?|days)\b"),
    ("clock", r"\b(?:times|hours)\b"),
    ("number", r"\b(?:numbers?|counts?|dos(?:e|es|age)|weights?|intervals?|levels?|scores?|totals?|limits?|sizes?"
               r"|readings?|results?|values?|figures?)\b"),
    ("person", r"\b(?:people|persons?|doctors?|staff|colleagues|guests|names of)\b|^who\b"),
)  # fmt: skip
_FORMS: Final = tuple((sort, re.compile(form, re.IGNORECASE)) for sort, form in _WANTED)
_ORDINAL: Final = (
    r"(?:(?:twenty|thirty)[ -])?(?:" + "|".join(ORDINALS) + r"|eleventh|twelfth|thirteenth|fourteenth|fifteenth"
    r"|sixteenth|seventeenth|eighteenth|nineteenth)|twentieth|thirtieth"
)
_DAY: Final = re.compile(
    rf"\b(?:19|20)\d\d-[01]\d-[0-3]\d\b"
    rf"|\b[0-3]?\d(?:st|nd|rd|th)\b|\b[0-3]?\d\.? (?:of )?{MONTH_NAME}\b|\b{MONTH_NAME}\.? (?:the )?[0-3]?\d\b(?![:.]\d)"
    rf"|\b(?:{_ORDINAL})\b(?= of\b| {MONTH_NAME}\b|\s*$|[.,;!?])|(?<=\bthe )(?:{_ORDINAL})\b",
    re.IGNORECASE,
)
_CLOCK: Final = re.compile(
    r"\b(?:[01]?\d|2[0-3])[:.][0-5]\d\b(?!\s?(?:%|kg|km|[£€$]))|\b\d{1,2}\s?[ap]\.?m\b|\b(?:noon|midnight)\b"
    r"|\b(?:half|quarter) (?:past|to|\w+)\b|\b\w+ o['’]clock\b",
    re.IGNORECASE,
)
_WEEKDAY: Final = re.compile(rf"\b(?:{'|'.join((*WEEKDAYS, *SHORT_DAYS))}|weds|tues|thurs)s?\b", re.IGNORECASE)
_PERSON: Final = re.compile(r"(?<![.!?] )(?<!^)(?:\b(?:Dr|Mr|Mrs|Ms|Miss|Prof)\.? )?\b[A-Z][a-zé]+\b(?:'s)?")
_LONG: Final = re.compile(r"\d{5,}|\b0\d{2,}[ /-]\d|\+\d|\d{3}[ -]\d{3,4}\b")
"""A phone number, a reference, an account."""
_BIG: Final = 5
"""From which worth on a bare number may be a sum."""


def wanted(question: str) -> ValueKind | None:
    """Return the kind of value that a question's words name, None where they name none."""
    for sort, form in _FORMS:
        if match := form.search(question):
            names = frozenset(stem(word) for word in re.findall(r"[a-z]+", match[0].lower()))
            return ValueKind(sort, names)
    return None


def values(kind: ValueKind, text: str, topic: frozenset[str] = frozenset()) -> list[str]:
    """Return the values of a kind that a text gives, as they are written. `topic`: what a number may count."""
    if kind.sort in ("sum", "rate", "number"):
        return [text[one.start : one.stop].strip() for one in _numbers(kind.sort, text, topic)]
    form = {"day": _DAY, "clock": _CLOCK, "weekday": _WEEKDAY, "person": _PERSON}[kind.sort]
    return [match[0] for match in form.finditer(text)]


def units(kind: ValueKind, text: str) -> set[str]:
    """Return the units of the numbers of a text that say what they are of by themselves: mcg, kg, tests."""
    if kind.sort not in ("number", "rate"):
        return set()
    return {one.quantity.kind for one in _numbers(kind.sort, text, frozenset()) if one.quantity.kind}


def _numbers(sort: Sort, text: str, topic: frozenset[str]) -> Iterator[Read]:
    barred = [(match.start(), match.end()) for match in (*_LONG.finditer(text), *_DAY.finditer(text))]
    for one in quantities(text):
        if any(start < one.stop and one.start < stop for start, stop in barred):
            continue
        if sort == "number" or (sort == "rate" and one.quantity.per) or (sort == "sum" and _may_be_sum(one.quantity, topic)):
            yield one


def _may_be_sum(one: Quantity, topic: frozenset[str]) -> bool:
    """Whether a number may be a sum of money: of a currency, or of nothing that it counts."""
    if one.is_money:
        return True
    counted = one.kind
    return one.value >= _BIG and (not counted or counted in topic or not counted.endswith(("minut", "second", "hour", "month")))
