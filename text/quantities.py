"""Quantities as people write them: a number, what it counts, and how often: "£1,180 a month", "46 kilometres". Pure.

Neither dates nor times of day are quantities, nor are the numbers of ids.
"""

import re
from collections.abc import Iterator
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import Final

import msgspec

from braid.text.calendar import MONTH_NAME
from braid.text.numbers import SCALES, VALUES, WORD, value
from braid.text.words import STOP, stem

_DIGITS: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_SCALES: Final = SCALES | {"k": 1000}
_SIGNS: Final = "£$€"
MONEY: Final = {
    "£": "£", "pound": "£", "pounds": "£", "quid": "£", "gbp": "£",
    "€": "€", "euro": "€", "euros": "€", "eur": "€",
    "$": "$", "dollar": "$", "dollars": "$", "usd": "$",
}  # fmt: skip
"""The sign of each name of a currency."""
_CURRENCY: Final = "|".join((*(name for name in MONEY if name.isalpha()), "bucks"))
_SUM: Final = re.compile(
    rf"[{_SIGNS}]\s?\d|\d[\d,.]* ?(?:k )?(?:{_CURRENCY})\b|\b(?:{WORD}) (?:{_CURRENCY})\b", re.IGNORECASE
)
TIMES: Final = {
    "second": (1, "second"), "minute": (60, "second"), "hour": (3600, "second"), "day": (86_400, "second"),
    "week": (604_800, "second"), "month": (1, "month"), "year": (12, "month"),
}  # fmt: skip
"""How many of the smallest unit of its family each time has."""
_OTHERS: Final = {"km": "kilometr", "kilometer": "kilometr", "kg": "kilogram", "kilo": "kilogram", "hr": "hour",
                  "min": "minut", "mile": "mile"}  # fmt: skip
_PERIOD: Final = "second|minute|hour|day|night|week|month|year|person|head"
_OFTEN: Final = {"daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annually": "year"}
_NO_UNIT: Final = "|".join(
    ("per", "each", "every", "hundred", "thousand", "less", "now", "today", *VALUES, *_OFTEN, *sorted(STOP))
)
_UNIT: Final = rf"(?!(?:{_NO_UNIT})\b)[A-Za-z]+"


def _pattern(before: str, behind: str) -> "re.Pattern[str]":
    return re.compile(
        rf"(?:(?P<sign>[{_SIGNS}])\s?(?P<money>{_DIGITS})|{before}(?P<digits>{_DIGITS}){behind}"
        rf"|\b(?P<word>{WORD}|(?:dozen|hundred|thousand)\b))"
        r"(?:\s?(?P<scale>k|thousand|hundred|million)\b)?"
        rf"(?:\s?(?P<after>[{_SIGNS}])|(?:[ -](?P<unit>{_UNIT})|(?P<short>km|kg|h|min)\b))?"
        rf"(?:(?: an?| per| each| every|/)\s?(?P<per>{_PERIOD})s?\b| (?P<often>{'|'.join(_OFTEN)})\b)?",
        re.IGNORECASE,
    )


# A number inside a token with letters or a hyphen is an id, not a count; at a colon or a slash, part of a time, a date.
_SAID: Final = _pattern(r"(?<![\w.,:/-])", r"(?!\d|[:/-]\d|(?!(?:k|km|kg|h|min)\b)[A-Za-z])")
_RECKONED: Final = _pattern("", r"(?!\d)")
_MONTH: Final = re.compile(rf"{MONTH_NAME}\.?", re.IGNORECASE)
_BEFORE_A_DAY: Final = re.compile(rf"(?:\b{MONTH_NAME}\b\.?|day|\bthe)\s+$", re.IGNORECASE)
_DAYS: Final = re.compile(
    rf"\s?(?:to|until|and|or|-|–)\s?\d{{1,2}}(?:st|nd|rd|th)? {MONTH_NAME}\b", re.IGNORECASE
)
_CLOCK: Final = re.compile(r"\s?(?:[ap]\.?m\b|o['’]clock)", re.IGNORECASE)
_SOLE: Final = re.compile(
    rf"(?:(?P<unit>[{_SIGNS}]|\b(?:gbp|usd|eur)\s)\s{{0,3}})?(?P<number>-?(?:{_DIGITS}))(?:\s?(?P<k>k\b))?"
    rf"(?:\s{{0,3}}(?P<after>[%{_SIGNS}]|pounds?|dollars?|euros?|pence|p\b))?",
    re.IGNORECASE,
)
_PLACES: Final = Decimal("0.01")
_GROUPED: Final = 1000
_SHOWN_DIGITS: Final = 100


class Quantity(msgspec.Struct, frozen=True):
    """A number; `unit` is what it counts, as it was written, and `per` for each of what; empty where nothing says."""

    value: Decimal
    unit: str = ""
    per: str = ""

    @property
    def kind(self) -> str:
        """What it may be put together with: a currency's sign, a family of times, the stem of a noun; empty of none."""
        low = self.unit.lower()
        if low in MONEY:
            return MONEY[low]
        single = low.removesuffix("s")
        if single in TIMES:
            return TIMES[single][1]
        return _OTHERS.get(single) or _OTHERS.get(low) or stem(low)

    @property
    def is_money(self) -> bool:
        """Whether it counts a currency."""
        return self.kind in tuple(_SIGNS)

    def __str__(self) -> str:
        """Write it as people do: £1,180 a month, 46 kilometres, 1 day."""
        number = _number(self.value, exact=not self.unit)
        if self.is_money and "." in number:
            number = f"{number}0"[: number.index(".") + 3]  # £9.50
        if self.unit in _SIGNS and self.unit:
            sign = "-" if self.value < 0 else ""
            text = f"{sign}{self.unit}{number.removeprefix('-')}"
        else:
            text = f"{number} {_plural(self.unit, self.value)}".strip()
        if not self.per:
            return text
        return f"{text} {'an' if self.per == 'hour' else 'a'} {self.per}"


class Read(msgspec.Struct, frozen=True):
    """A quantity, and where in a text it stands."""

    quantity: Quantity
    start: int
    stop: int


def quantities(text: str) -> Iterator[Read]:
    """Yield the quantities of a text, in order; neither dates nor times of day, nor the numbers of ids."""
    for match in _SAID.finditer(text):
        found = _read(match)
        if not (_is_date(text, match) or (match["word"] and _is_alone(match, found.quantity))):
            yield found


def sum_in(text: str) -> "re.Match[str] | None":
    """Return where a text begins to say how much money: £40, 1.5 k euros, forty quid; None where it says none."""
    return _SUM.search(text)


def terms(expression: str) -> Iterator[Read]:
    """Yield the quantities of something to be reckoned, where signs stand between them: 340 pounds + 2*415 pounds."""
    return (_read(match) for match in _RECKONED.finditer(expression))


def _read(match: "re.Match[str]") -> Read:
    unit = match["sign"] or match["after"] or match["short"] or match["unit"] or ""
    per = (match["per"] or _OFTEN.get((match["often"] or "").lower(), "")).lower()
    return Read(Quantity(_value(match), unit, per), match.start(), match.end())


def _is_date(text: str, match: "re.Match[str]") -> bool:
    """Whether a number is that of a day or an hour: "6 June", "17 to 20 June", "June 6", "at 8 a.m."."""
    if match["sign"] or match["after"]:
        return False
    at = match.end("digits") if match["digits"] else match.end("word")
    if _MONTH.fullmatch(match["unit"] or "") or _CLOCK.match(text, at) or _DAYS.match(text, at):
        return True
    return (
        not match["unit"]
        and _BEFORE_A_DAY.search(text, max(0, match.start() - 20), match.start()) is not None
    )


def _is_alone(match: "re.Match[str]", found: Quantity) -> bool:
    """Whether a number in words counts nothing: "one of them"."""
    return not (found.unit or found.per or match["scale"]) and found.value < 100


def _value(match: "re.Match[str]") -> Decimal:
    written = match["money"] or match["digits"]
    number = Decimal(written.replace(",", "")) if written else Decimal(value(match["word"]) or 0)
    return number * _SCALES[match["scale"].lower()] if match["scale"] else number


def _number(value: Decimal, *, exact: bool) -> str:
    with localcontext(prec=_SHOWN_DIGITS):
        bare = (value if exact else value.quantize(_PLACES)).normalize()
    return f"{bare:f}" if exact or abs(bare) < _GROUPED else f"{bare:,f}"


def _plural(unit: str, value: Decimal) -> str:
    single = unit[:-1] if unit.endswith("s") and not unit.endswith("ss") else unit
    if value == 1:
        return single
    return f"{single}s" if single.lower() in TIMES else unit


@lru_cache(maxsize=20_000)
def sole(text: str) -> tuple[Decimal, str] | None:
    """Return the number that a text gives and its unit (£, $, €, %, pence, or none); None unless it gives just one."""
    found = list(_SOLE.finditer(text))
    if len(found) != 1:
        return None
    match = found[0]
    number = Decimal(match["number"].replace(",", "")) * (1000 if match["k"] else 1)
    unit = (match["unit"] or match["after"] or "").strip().lower()
    return number, MONEY.get(unit, "pence" if unit == "p" else unit)
