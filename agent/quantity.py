"""Quantities as people write them: a number, what it counts, and how often: "£1,180 a month", "46 kilometres". Pure.

Money of two currencies, and things of two kinds, are never put together: nothing here converts but times into times of
which it is beyond doubt how many make one (days in a week, months in a year; not days in a month).
"""

import re
from collections.abc import Iterator
from decimal import Decimal, localcontext
from typing import Final

import msgspec

from braid.agent.errors import UnitError
from braid.recall.text import STOP, stem

_DIGITS: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_ONES: Final = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS: Final = {
    **{word: Decimal(value) for value, word in enumerate(_ONES, 1)},
    **{word: Decimal(10 * value) for value, word in enumerate(_TENS, 2)},
    "dozen": Decimal(12), "a dozen": Decimal(12), "a hundred": Decimal(100), "a thousand": Decimal(1000),
}  # fmt: skip
_SCALES: Final = {
    "k": Decimal(1000), "hundred": Decimal(100), "thousand": Decimal(1000), "million": Decimal(1_000_000),
}  # fmt: skip
_SIGNS: Final = "£$€"
_MONEY: Final = {
    "£": "£", "pound": "£", "pounds": "£", "quid": "£", "gbp": "£",
    "€": "€", "euro": "€", "euros": "€", "eur": "€",
    "$": "$", "dollar": "$", "dollars": "$", "usd": "$",
}  # fmt: skip
_TIMES: Final = {
    "second": (1, "second"), "minute": (60, "second"), "hour": (3600, "second"), "day": (86_400, "second"),
    "week": (604_800, "second"), "month": (1, "month"), "year": (12, "month"),
}  # fmt: skip
"""How many of the smallest unit of its family each time has."""
_OTHERS: Final = {"km": "kilometr", "kilometer": "kilometr", "kg": "kilogram", "kilo": "kilogram", "hr": "hour",
                  "min": "minut", "mile": "mile"}  # fmt: skip
_PERIOD: Final = "second|minute|hour|day|night|week|month|year|person|head"
_OFTEN: Final = {"daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annually": "year"}
_NO_UNIT: Final = "|".join(
    ("per", "each", "every", "hundred", "thousand", "less", "now", "today", *_OFTEN, *sorted(STOP))
)
_UNIT: Final = rf"(?!(?:{_NO_UNIT})\b)[A-Za-z]+"


def _pattern(before: str, behind: str) -> "re.Pattern[str]":
    return re.compile(
        rf"(?:(?P<sign>[{_SIGNS}])\s?(?P<money>{_DIGITS})|{before}(?P<digits>{_DIGITS}){behind}"
        rf"|\b(?P<word>(?:a )?(?:dozen|hundred|thousand)|{'|'.join([*_ONES[::-1], *_TENS])})\b)"
        r"(?:\s?(?P<scale>k|thousand|hundred|million)\b)?"
        rf"(?:\s?(?P<after>[{_SIGNS}])|(?:[ -](?P<unit>{_UNIT})|(?P<short>km|kg|h|min)\b))?"
        rf"(?:(?: an?| per| each| every|/)\s?(?P<per>{_PERIOD})s?\b| (?P<often>{'|'.join(_OFTEN)})\b)?",
        re.IGNORECASE,
    )


# A number inside a token with letters or a hyphen is an id, not a count; at a colon or a slash, part of a time, a date.
_SAID: Final = _pattern(r"(?<![\w.,:/-])", r"(?!\d|[:/-]\d|(?!(?:k|km|kg|h|min)\b)[A-Za-z])")
_RECKONED: Final = _pattern("", r"(?!\d)")
_MONTHS: Final = frozenset((
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
))  # fmt: skip
_BEFORE_A_DAY: Final = re.compile(
    r"(?:\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?|day|\bthe)\s+$", re.IGNORECASE
)
_DAYS: Final = re.compile(
    rf"\s?(?:to|until|and|or|-|–)\s?\d{{1,2}}(?:st|nd|rd|th)? (?:{'|'.join(sorted(_MONTHS))})\b",
    re.IGNORECASE,
)
_CLOCK: Final = re.compile(r"\s?(?:[ap]\.?m\b|o['’]clock)", re.IGNORECASE)
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
        if low in _MONEY:
            return _MONEY[low]
        single = low.removesuffix("s")
        if single in _TIMES:
            return _TIMES[single][1]
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
    if (match["unit"] or "").lower() in _MONTHS or _CLOCK.match(text, at) or _DAYS.match(text, at):
        return True
    return not match["unit"] and _BEFORE_A_DAY.search(text, 0, match.start()) is not None


def _is_alone(match: "re.Match[str]", found: Quantity) -> bool:
    """Whether a number in words counts nothing: "one of them"."""
    return not (found.unit or found.per or match["scale"])


def _value(match: "re.Match[str]") -> Decimal:
    written = match["money"] or match["digits"]
    value = Decimal(written.replace(",", "")) if written else _WORDS[match["word"].lower()]
    return value * _SCALES[match["scale"].lower()] if match["scale"] else value


def _number(value: Decimal, *, exact: bool) -> str:
    with localcontext(prec=_SHOWN_DIGITS):
        bare = (value if exact else value.quantize(_PLACES)).normalize()
    return f"{bare:f}" if exact or abs(bare) < _GROUPED else f"{bare:,f}"


def _plural(unit: str, value: Decimal) -> str:
    single = unit[:-1] if unit.endswith("s") and not unit.endswith("ss") else unit
    if value == 1:
        return single
    return f"{single}s" if single.lower() in _TIMES else unit


# -- reckoning ----------------------------------------------------------------------------------------


def add(one: Quantity, other: Quantity, sign: int = 1) -> Quantity:
    """Return the sum, or with `sign` -1 the difference; raise UnitError for things of two kinds.

    A number that says not what it counts counts the same as the other: £1,260 - 24.14.
    """
    if one.per != other.per and (one.unit or one.per) and (other.unit or other.per):
        raise UnitError(
            f"{one} and {other} can't be put together: what is paid once is not what is paid again"
        )
    if not (one.unit and other.unit):
        named = one if one.unit or one.per else other
        return Quantity(one.value + sign * other.value, named.unit, named.per)
    if one.kind != other.kind:
        raise UnitError(f"{one} and {other} can't be put together: {_two(one, other)}")
    value, unit = _alike(one, other)
    return Quantity(one.value * value[0] + sign * other.value * value[1], unit, one.per)


def times(one: Quantity, other: Quantity) -> Quantity:
    """Return the product: of a quantity and a number, or of what is paid for each period and so many of them.

    A number alone counts periods: "45 pounds a month" times 12 is 540 pounds. Raises UnitError for anything else.
    """
    if other.per and not one.per:
        one, other = other, one
    if one.per and not other.per:
        if not other.unit:
            return Quantity(one.value * other.value, one.unit)
        return Quantity(one.value * other.value * _in(other, one.per), one.unit)
    if one.unit and other.unit:
        raise UnitError(f"{one} times {other} is nothing that is counted")
    named = one if one.unit or one.per else other
    return Quantity(one.value * other.value, named.unit, named.per)


def over(one: Quantity, other: Quantity) -> Quantity:
    """Return the quotient: of a quantity and a number, of two of a kind, or so much for each of a time."""
    if not (other.unit or other.per):
        return Quantity(one.value / other.value, one.unit, one.per)
    if one.unit and one.kind == other.kind and one.per == other.per:
        value, _ = _alike(one, other)
        return Quantity(one.value * value[0] / (other.value * value[1]))
    period = other.unit.lower().removesuffix("s")
    if one.unit and not one.per and not other.per and period in _TIMES:
        return Quantity(one.value / other.value, one.unit, period)
    raise UnitError(f"{one} over {other} is nothing that is counted")


def _alike(one: Quantity, other: Quantity) -> tuple[tuple[int, int], str]:
    """Return what each of two of a kind is to be multiplied by, and the unit of both then: the smaller time."""
    first, second = (each.unit.lower().removesuffix("s") for each in (one, other))
    if first not in _TIMES or first == second:
        return (1, 1), one.unit
    smaller = min(_TIMES[first][0], _TIMES[second][0])
    unit = one.unit if _TIMES[first][0] == smaller else other.unit
    return (_TIMES[first][0] // smaller, _TIMES[second][0] // smaller), unit


def _in(time: Quantity, period: str) -> Decimal:
    """Return how many periods one of a time has."""
    unit = time.unit.lower().removesuffix("s")
    if unit == period:
        return Decimal(1)
    if unit in _TIMES and period in _TIMES and _TIMES[unit][1] == _TIMES[period][1]:
        return Decimal(_TIMES[unit][0]) / Decimal(_TIMES[period][0])
    raise UnitError(f"how many times {period} goes into {time} isn't certain: say it as a number")


def _two(one: Quantity, other: Quantity) -> str:
    if one.is_money and other.is_money:
        return "they are of two currencies, and nothing is converted here"
    return f"one counts {one.unit}, the other {other.unit}"
