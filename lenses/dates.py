"""Days, months and years that a sentence names, resolved against the day on which it was said. Pure.

English only; a day without a year is the nearest one. What can't be placed to a year is left alone.
"""

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS: Final = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_MONTH: Final = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_COUNT: Final = rf"(\d{{1,3}}|an?|a couple of|{'|'.join(_NUMBERS)})"
_UNIT: Final = r"(day|week|month|year)s?"
_ORDINAL: Final = r"(\d{1,2})(?:st|nd|rd|th)?"
_NEAR: Final = {
    "today": 0, "tonight": 0, "this morning": 0, "yesterday": -1, "last night": -1, "tomorrow": 1,
    "the day before yesterday": -2, "the day after tomorrow": 2,
}  # fmt: skip
Found = tuple[int, str]
"""Where in the sentence it is named, and the day, month or year as ISO text."""


def dates(sentence: str, said: date) -> list[str]:
    """Return what a sentence names, in its order, each once: `2025-05-17`, `2025-05` or `2025`."""
    found: list[Found] = []
    taken: list[tuple[int, int]] = []
    for pattern, resolve in _PATTERNS:
        for match in pattern.finditer(sentence):
            if any(match.start() < end and begin < match.end() for begin, end in taken):
                continue
            try:
                day = resolve(match, said)
            except (ValueError, OverflowError):
                continue  # 31 February
            taken.append(match.span())
            found.append((match.start(), day))
    return list(dict.fromkeys(day for _, day in sorted(found)))


def _iso(match: re.Match[str], _: date) -> str:
    return date.fromisoformat(match[0]).isoformat()


def _day_month(match: re.Match[str], said: date) -> str:
    return _near(said, _month(match[2]), int(match[1]), match[3])


def _month_day(match: re.Match[str], said: date) -> str:
    return _near(said, _month(match[1]), int(match[2]), match[3])


def _near(said: date, month: int, day: int, year: str | None) -> str:
    if year:
        return date(int(year), month, day).isoformat()
    years = [one for one in (said.year, said.year - 1, said.year + 1) if _exists(one, month, day)]
    if not years:
        raise ValueError(f"there is no day {day} in month {month}")
    return min((date(one, month, day) for one in years), key=lambda at: abs(at - said)).isoformat()


def _exists(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _month_year(match: re.Match[str], _: date) -> str:
    return f"{int(match[2]):04d}-{_month(match[1]):02d}"


def _year(match: re.Match[str], _: date) -> str:
    return match[1]


def _named(match: re.Match[str], said: date) -> str:
    return (said + timedelta(days=_NEAR[" ".join(match[0].lower().split())])).isoformat()


def _weekday(match: re.Match[str], said: date) -> str:
    wanted, way = _WEEKDAYS.index(match[2].lower()), match[1].lower()
    ahead = (wanted - said.weekday()) % 7
    if way == "last":
        return (said - timedelta(days=(said.weekday() - wanted) % 7 or 7)).isoformat()
    return (said + timedelta(days=ahead or (7 if way == "next" else 0))).isoformat()


def _period(match: re.Match[str], said: date) -> str:
    return _moved(said, match[2].lower(), {"last": -1, "this": 0, "next": 1}[match[1].lower()])


def _ago(match: re.Match[str], said: date) -> str:
    return _moved(said, match[2].lower(), -_count(match[1]), exact=True)


def _ahead(match: re.Match[str], said: date) -> str:
    return _moved(said, match[2].lower(), _count(match[1]), exact=True)


def _moved(said: date, unit: str, by: int, *, exact: bool = False) -> str:
    if unit == "day":
        return (said + timedelta(days=by)).isoformat()
    if unit == "week":
        monday = said if exact else said - timedelta(days=said.weekday())
        return (monday + timedelta(weeks=by)).isoformat()
    if unit == "year":
        return f"{said.year + by:04d}"
    months = 12 * said.year + said.month - 1 + by
    return f"{months // 12:04d}-{months % 12 + 1:02d}"


def _month(name: str) -> int:
    return next(at for at, month in enumerate(_MONTHS, 1) if month.startswith(name.lower()[:3]))


def _count(text: str) -> int:
    low = text.lower()
    if low.isdigit():
        return int(low)
    return 2 if low == "a couple of" else 1 if low in ("a", "an") else _NUMBERS.index(low) + 1


_PATTERNS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], str]], ...]] = tuple(
    (re.compile(source, re.IGNORECASE), resolve)
    for source, resolve in (
        (r"\b\d{4}-\d\d-\d\d\b", _iso),
        (rf"\b{_ORDINAL}(?: of)? ({_MONTH})\b\.?(?:,? (\d{{4}})\b)?", _day_month),
        (rf"\b({_MONTH})\b\.? {_ORDINAL}\b(?!:)(?:,? (\d{{4}})\b)?", _month_day),
        (rf"\b({_MONTH})\b\.?,? (?:of )?((?:19|20)\d\d)\b", _month_year),
        (rf"\b{_COUNT} {_UNIT} ago\b", _ago),
        (rf"\bin {_COUNT} {_UNIT}(?:['’]s? time)?\b", _ahead),
        (rf"\b({'|'.join(sorted(_NEAR, key=len, reverse=True))})\b".replace(" ", r"\s+"), _named),
        (rf"\b(last|this|next) ({'|'.join(_WEEKDAYS)})\b", _weekday),
        (r"\b(last|this|next) (week|month|year)\b", _period),
        (r"\b(?:in|since|until|by|of|during) ((?:19|20)\d\d)\b", _year),
    )
)
