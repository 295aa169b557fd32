"""Values of a kind in a text: sums, days, clock times, weekdays, people, numbers of something. Pure.

A number is of what stands beside it: a phone number, a reference and a day are no price.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from braid.text.calendar import MONTH_NAME, SHORT_DAYS, WEEKDAYS
from braid.text.numbers import ORDINAL
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
    ("sum", r"\b(?:prices?|costs?|quotes?|fees?|bills?|rents?|offers?|amounts?|budgets?|salar(?:y|ies)|wages?"
            r"|estimates?|payments?|invoices?|sums?)\b"),
    ("day", r"\b(?:dates?|deadlines?|days)\b"),
    ("clock", r"\b(?:times|hours)\b"),
    ("number", r"\b(?:numbers?|counts?|dos(?:e|es|age)|weights?|intervals?|levels?|scores?|totals?|limits?|sizes?"
               r"|readings?|results?|values?|figures?)\b"),
    ("person", r"\b(?:people|persons?|doctors?|staff|colleagues|guests|names of)\b|^who\b"),
)  # fmt: skip
_FORMS: Final[tuple[tuple[Sort, re.Pattern[str]], ...]] = tuple(
    (sort, re.compile(form, re.IGNORECASE)) for sort, form in _WANTED
)
_DAY: Final = re.compile(
    rf"\b(?:19|20)\d\d-[01]\d-[0-3]\d\b"
    rf"|\b[0-3]?\d(?:st|nd|rd|th)\b|\b[0-3]?\d\.? (?:of )?{MONTH_NAME}\b"
    rf"|\b{MONTH_NAME}\.? (?:the )?[0-3]?\d\b(?![:.]\d)"
    rf"|\b(?:{ORDINAL})\b(?= of\b| {MONTH_NAME}\b|\s*$|[.,;!?])|(?<=\bthe )(?:{ORDINAL})\b",
    re.IGNORECASE,
)
_CLOCK: Final = re.compile(
    r"\b(?:[01]?\d|2[0-3])[:.][0-5]\d\b(?!\s?(?:%|kg|km|[£€$]))|\b\d{1,2}\s?[ap]\.?m\b|\b(?:noon|midnight)\b"
    r"|\b(?:half|quarter) (?:past|to|\w+)\b|\b\w+ o['’]clock\b",
    re.IGNORECASE,
)
_WEEKDAY: Final = re.compile(
    rf"\b(?:{'|'.join((*WEEKDAYS, *SHORT_DAYS))}|weds|tues|thurs)s?\b", re.IGNORECASE
)
_PERSON: Final = re.compile(r"(?<![.!?] )(?<!^)(?:\b(?:Dr|Mr|Mrs|Ms|Miss|Prof)\.? )?\b[A-Z][a-zé]+\b(?:'s)?")
_LONG: Final = re.compile(r"\d{5,}|\b0\d{2,}[ /-]\d|\+\d|\d{3}[ -]\d{3,4}\b")
"""A phone number, a reference, an account."""
_AT: Final = re.compile(r"\b(?:at|by) $|@ ?$", re.IGNORECASE)
_HEADS: Final = frozenset(("head", "person"))
_TIMES: Final = frozenset(("second", "month", "minut", "hour"))
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
        return [text[one.start : one.stop].strip() for one in _numbers(kind, text, topic)]
    form = {"day": _DAY, "clock": _CLOCK, "weekday": _WEEKDAY, "person": _PERSON}[kind.sort]
    return [match[0] for match in form.finditer(text)]


def amounts(kind: ValueKind, text: str) -> list[Quantity]:
    """Return the numbers of a text, where the kind is one of numbers."""
    if kind.sort not in ("number", "rate"):
        return []
    return [one.quantity for one in _numbers(kind, text, frozenset())]


def _numbers(kind: ValueKind, text: str, topic: frozenset[str]) -> Iterator[Read]:
    barred = [(match.start(), match.end()) for match in (*_LONG.finditer(text), *_DAY.finditer(text))]
    for one in quantities(text):
        if any(start < one.stop and one.start < stop for start, stop in barred):
            continue
        if _is_of(kind, text, one, topic):
            yield one


def _is_of(kind: ValueKind, text: str, one: Read, topic: frozenset[str]) -> bool:
    """Whether a number is of a kind."""
    if kind.sort == "rate":
        return _is_rate(kind, one.quantity)
    return kind.sort == "number" or (_may_be_sum(one.quantity, topic) and not _is_time(text, one))


def _is_time(text: str, one: Read) -> bool:
    """Whether a bare number is a time: "at 11"."""
    return not one.quantity.unit and _AT.search(text, max(0, one.start - 4), one.start) is not None


def _is_rate(kind: ValueKind, one: Quantity) -> bool:
    """Whether a number is so much for each of what is asked: a head is a person."""
    return bool(one.per) and (
        stem(one.per) in kind.names or (one.per in _HEADS and not _HEADS.isdisjoint(kind.names))
    )


def _may_be_sum(one: Quantity, topic: frozenset[str]) -> bool:
    """Whether a number may be a sum of money: of a currency, or of nothing that it counts."""
    if one.is_money:
        return True
    return one.value >= _BIG and (not one.kind or one.kind in topic or one.kind not in _TIMES)
