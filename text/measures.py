"""Measures and numbers of papers in one normal form: "1.20 m" is "120 cm", "RB 883 041" is "RB883041". Pure."""

import re
from decimal import Decimal
from functools import lru_cache
from typing import Final

from braid.text.numbers import value
from braid.text.quantities import MONEY

_UNITS: Final = {
    "gram": {"mg": "0.001", "g": "1", "gram": "1", "kg": "1000", "kilo": "1000", "kilogram": "1000"},
    "metre": {"mm": "0.001", "cm": "0.01", "m": "1", "metre": "1", "meter": "1", "km": "1000", "kilometre": "1000",
              "kilometer": "1000"},
    "litre": {"ml": "0.001", "cl": "0.01", "dl": "0.1", "l": "1", "litre": "1", "liter": "1"},
    "second": {"ms": "0.001", "s": "1", "sec": "1", "second": "1", "min": "60", "minute": "60", "h": "3600",
               "hr": "3600", "hour": "3600"},
    "bar": {"mbar": "0.001", "bar": "1"},
}  # fmt: skip
_KNOWN: Final = {unit: (kind, Decimal(by)) for kind, units in _UNITS.items() for unit, by in units.items()}
_MEASURE: Final = re.compile(
    r"(?P<sign>[£$€])?\s?(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|[a-z]+(?:-[a-z]+)?)"
    r"(?:\s?(?P<thousand>k)\b)?(?:\s?(?P<unit>[£$€%]|(?<=\d)[a-z]+|(?<=[\sk])[a-z]+))?",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"[a-z]{0,4}\d{5,}[a-z]{0,2}")
_PARTED: Final = re.compile(r"[\s-]+")
_THOUSAND: Final = 1_000


@lru_cache(maxsize=20_000)
def measure(text: str) -> tuple[Decimal, str] | None:
    """Return how much a text says, and of what: a unit, a currency's sign, or nothing; None where it says more.

    Units of one kind are brought to one: grams, metres, litres, seconds, bar.
    """
    match = _MEASURE.fullmatch(text.strip())
    if match is None or (match["sign"] and match["unit"]):
        return None
    written = match["number"]
    number = Decimal(written.replace(",", "")) if written[0].isdigit() else _in_words(written)
    if number is None:
        return None
    number *= _THOUSAND if match["thousand"] else 1
    unit = (match["sign"] or match["unit"] or "").lower()
    single = unit[:-1] if len(unit) > 3 and unit.endswith("s") else unit
    kind, by = _KNOWN.get(single, (MONEY.get(unit, single), Decimal(1)))
    return number * by, kind


def _in_words(written: str) -> Decimal | None:
    found = value(written)
    return None if found is None else Decimal(found)


@lru_cache(maxsize=20_000)
def number(text: str) -> str | None:
    """Return the number of a paper or a telephone as one word: five digits or more, parted by spaces or hyphens; None
    for anything else.
    """
    bare = _PARTED.sub("", text.strip().lower())
    return bare if _NUMBER.fullmatch(bare) else None
