"""When a question speaks of: a span of time read from its words, relative to a given now.

Rules for spans ("in May 2023", "last month", "two weeks ago", "since March"); python-dateutil for the calendar.
Ranges are read by `recall/ranges.py`.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
from dateutil.relativedelta import MO, relativedelta

_NAMES: Final = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
MONTH: Final = (
    r"(?P<month>january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
)
DAY: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b"
YEAR: Final = r"(?P<year>(?:19|20)\d\d)\b"
_COUNTS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "couple of": 2, "a couple of": 2, "few": 3, "a few": 3,
}  # fmt: skip
SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


class Span(msgspec.Struct, frozen=True):
    """From `since` to before `until`, in UTC; None is open. `exact` is false where the words name no year."""

    since: datetime | None
    until: datetime | None
    exact: bool = True
    month: int | None = None
    """The month that was named without a year: of any year."""
    day: int | None = None


_Rule = tuple[re.Pattern[str], Callable[[re.Match[str], datetime], Span | None]]


def span(text: str, now: datetime) -> Span | None:
    """Return the first span of time that a text names, None if it names none. Never raises."""
    for rule in _RULES:
        for match, found in _read(rule, text, now):
            lead = match.groupdict().get("lead")
            return directed(found, f"{lead} " if lead else text[: match.start()])
    return None


def places(text: str, now: datetime, *, calendar: bool) -> Iterator[tuple[int, int]]:
    """Yield where a text names times by the calendar ("in May 2023"), or else from now, by weekday or ISO date."""
    for rule in _RULES:
        if (rule[1] is _calendar) == calendar:
            for match, _ in _read(rule, text, now):
                yield match.span()


def _read(rule: _Rule, text: str, now: datetime) -> Iterator[tuple[re.Match[str], Span]]:
    pattern, read = rule
    for match in pattern.finditer(text):
        with suppress(
            ValueError, OverflowError
        ):  # 31 February, the year 0: no time is meant that there could be
            found = read(match, now.astimezone(UTC))
            if found is not None:
                yield match, found


def directed(found: Span, before: str) -> Span:
    """Return what "since", "after", "before" and "until" make of a span that follows them."""
    word = re.search(r"\b(since|after|before|until|till|by)\s+(?:the\s+)?$", before, flags=re.IGNORECASE)
    if word is None:
        return found
    if word[1].lower() in ("since", "after"):
        return Span(found.since if word[1].lower() == "since" else found.until, None)
    return Span(None, found.since if word[1].lower() == "before" else found.until)


def month_of(name: str | None) -> int | None:
    """Return the number of a month by its name or the first three letters of it; None for no name."""
    return next((n for n, full in enumerate(_NAMES, 1) if name and full.startswith(name[:3].lower())), None)


def _calendar(match: re.Match[str], now: datetime) -> Span | None:
    """Read `8 May 2023`, `May 8, 2023`, `May 2023`, `8 May`, `May`, `2023`."""
    parts = match.groupdict()
    name, year, day = parts.get("month"), parts.get("year"), parts.get("day")
    month = month_of(name)
    if month is None:
        start = datetime(int(year or now.year), 1, 1, tzinfo=UTC)
        return Span(start, start + relativedelta(years=1))
    start = datetime(int(year or now.year), month, int(day or 1), tzinfo=UTC)
    if not year and start > now:
        start -= relativedelta(years=1)
    until = start + (timedelta(days=1) if day else relativedelta(months=1))
    return Span(start, until, exact=bool(year), month=month, day=int(day) if day else None)


def _iso(match: re.Match[str], now: datetime) -> Span | None:
    del now
    start = datetime.fromisoformat(match[0]).replace(tzinfo=UTC)
    return Span(start, start + timedelta(days=1))


def _near(match: re.Match[str], now: datetime) -> Span | None:
    """Read `yesterday`, `today`, `the day before yesterday`."""
    today = _floor(now, "day")
    back = {"today": 0, "tonight": 0, "yesterday": 1, "last night": 1}.get(match[0].lower(), 2)
    return Span(today - timedelta(days=back), today - timedelta(days=back - 1))


def _relative(match: re.Match[str], now: datetime) -> Span | None:
    """Read `last month`, `this week`, `previous year`."""
    unit = match["unit"].lower()
    if unit in SEASONS:
        return _season(unit, now, last=match["which"].lower() != "this")
    if unit == "weekend":
        start = _floor(now, "week") + timedelta(days=5 if match["which"].lower() == "this" else -2)
        return Span(start, start + timedelta(days=2))
    start = _floor(now, unit)
    if match["which"].lower() != "this":
        start -= _step(unit, 1)
    return Span(start, start + _step(unit, 1))


def _ago(match: re.Match[str], now: datetime) -> Span | None:
    """Read `two weeks ago`: that week, and as much leeway as the unit leaves."""
    unit = match["unit"].lower()
    moment = now - _step(unit, _number(match["count"]))
    start = _floor(moment, unit)
    return Span(start, start + _step(unit, 1))


def _within(match: re.Match[str], now: datetime) -> Span | None:
    """Read `in the last three days`, `over the past few weeks`."""
    return Span(now - _step(match["unit"].lower(), _number(match["count"] or "one")), now)


def _weekday(match: re.Match[str], now: datetime) -> Span | None:
    """Read `last Friday`, `on Monday`: the latest that is past."""
    wanted = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"].index(
        match["weekday"].lower()
    )
    today = _floor(now, "day")
    start = today - timedelta(days=(today.weekday() - wanted) % 7 or 7)
    return Span(start, start + timedelta(days=1))


def _season(unit: str, now: datetime, *, last: bool) -> Span:
    start = datetime(now.year, SEASONS[unit], 1, tzinfo=UTC)
    if start > now or (last and start + relativedelta(months=3) > now):
        start -= relativedelta(years=1)
    return Span(start, start + relativedelta(months=3))


def _number(text: str) -> int:
    known = _COUNTS.get(text.lower().strip())
    return known if known is not None else min(int(text), 10_000)


def _step(unit: str, count: int) -> relativedelta:
    steps: dict[str, Any] = {f"{unit.rstrip('s')}s": count}
    return relativedelta(**steps)


def _floor(moment: datetime, unit: str) -> datetime:
    start = moment.replace(minute=0, second=0, microsecond=0)
    unit = unit.rstrip("s")
    if unit == "hour":
        return start
    start = start.replace(hour=0)
    if unit == "week":
        monday: datetime = start + relativedelta(weekday=MO(-1))
        return monday
    if unit == "month":
        return start.replace(day=1)
    return start.replace(month=1, day=1) if unit == "year" else start


_UNIT: Final = r"(?P<unit>hours?|days?|weeks?|months?|years?)\b"
_COUNT: Final = (
    r"(?P<count>\d{1,4}|(?:a )?couple of|(?:a )?few|an?|one|two|three|four|five|six|seven|eight|nine|ten)"
)
_SOURCES: Final[tuple[tuple[str, Callable[[re.Match[str], datetime], Span | None]], ...]] = (
    (r"\b\d{4}-\d\d-\d\d\b", _iso),
    (rf"\b{DAY}(?: of)? {MONTH},? {YEAR}", _calendar),
    (rf"\b{MONTH} {DAY},? {YEAR}", _calendar),
    (rf"\b{MONTH},?(?: of)? {YEAR}", _calendar),
    (rf"\b{_COUNT} {_UNIT} ago\b", _ago),
    (rf"\b(?:last|past|previous) (?:{_COUNT} )(?P<unit>hours|days|weeks|months|years)\b", _within),
    (
        r"\b(?P<which>last|this|previous|past)"
        r" (?P<unit>hour|day|weekend|week|month|year|spring|summer|autumn|fall|winter)\b",
        _relative,
    ),
    (r"\b(?:the day before yesterday|yesterday|last night|today|tonight)\b", _near),
    (rf"\b{DAY}(?: of)? {MONTH}", _calendar),
    (rf"\b{MONTH} {DAY}", _calendar),
    (r"\b(?:last|on|past|previous) (?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b", _weekday),
    (rf"\b(?P<lead>in|during|of|since|until|before|after|by|for|last|early|late|mid) {YEAR}", _calendar),
    (rf"\b(?P<lead>in|during|of|since|until|before|after|by|early|late|mid|last) {MONTH}", _calendar),
)
_RULES: Final[tuple[_Rule, ...]] = tuple(
    (re.compile(source, flags=re.IGNORECASE), read) for source, read in _SOURCES
)
