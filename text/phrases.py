"""Times that several words name together: "the first Monday in December", "a week on Tuesday", "the Saturday after".

No word within such a phrase is read by itself. Where the phrase names no day for certain, it names none: "the Friday
after Easter", "every Sunday", and "next Friday" on a Monday, which some take for this week's. Pure, UTC.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from dateutil.relativedelta import relativedelta
from dateutil.relativedelta import weekday as weekday_rule

from braid.text import numbers
from braid.text.calendar import MONTH, MONTH_NAME, WEEKDAY_NAME, YEAR, floor, month_of, weekday_of
from braid.text.meanings import Lean, Match, each_year


class Day(NamedTuple):
    """A day, and where in a text it is named."""

    start: int
    stop: int
    at: datetime


class Phrase(NamedTuple):
    """Where a phrase stands, and its day; None for no day that is certain."""

    start: int
    stop: int
    at: datetime | None


class _Place(NamedTuple):
    """What a phrase is read by: now, where to look for a day without a year, and the days that the text names."""

    text: str
    said: datetime
    lean: Lean
    days: Callable[[], Sequence[Day]]

    @property
    def day_said(self) -> datetime:
        return floor(self.said, "day")


_NTH: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5,
    "last": -1,
}  # fmt: skip
_NUMBER: Final = r"(?:[0-3]?\d(?:st|nd|rd|th)?)"
_DATE: Final = (
    rf"(?:(?:{WEEKDAY_NAME},? )?(?:the )?(?:{_NUMBER}(?: of)? {MONTH_NAME}\b|{MONTH_NAME} (?:the )?{_NUMBER}\b)"
    rf"(?:,? (?:19|20)\d\d\b)?|the [0-3]?\d(?:st|nd|rd|th)\b|{WEEKDAY_NAME}\b)"
)
_ENDS: Final = (
    r"(?=\W*$|\s*[.,;:!?)–—-]|\s+(?:and|but|so|or|at|in|with|because|for|while|then|instead|too|as|we|i|he|she|they|it"
    r"|if)\b)"
)
"""Behind "the day after", where nothing is named that it comes after."""
_WAY: Final = r"(?P<way>before|after|following|previous|earlier|later)"
_OF_DATE: Final = rf"(?: (?P<date>{_DATE})|(?P<bare>{_ENDS})|(?=\W))"
_FAR: Final = timedelta(days=730)
"""Born on 3 May 1990, and the party is the day after: a day so far away is beside none."""
_SENTENCE: Final = re.compile(r"[.!?\n](?=\s)(?<!\d[.])")


def _nth_weekday(match: Match, place: _Place) -> datetime | None:
    """Read `the first Monday in December`, `the last Friday of next month`; no other."""
    nth, day = _NTH[match["nth"].lower()], weekday_of(match["weekday"])
    if match["which"]:
        months = int(match["which"].lower() == "next")
        return _nth_of(floor(place.said, "month") + relativedelta(months=months), day, nth)
    month = month_of(match["month"])
    if month is None:
        return None
    if match["year"]:
        return _nth_of(datetime(int(match["year"]), month, 1, tzinfo=place.said.tzinfo), day, nth)
    found = [_nth_of(first, day, nth) for first in each_year(place.said, month, 1)]
    fitting = [at for at in found if at is not None and _leans(at, place)]
    return min(fitting, key=lambda at: abs(at - place.day_said), default=None)


def _nth_of(first: datetime, day: int, nth: int) -> datetime | None:
    start = first if nth > 0 else first + relativedelta(day=31)
    at = start + relativedelta(weekday=weekday_rule(day, nth))
    return at if at.month == first.month else None


def _weeks_from(match: Match, place: _Place) -> datetime | None:
    """Read `a week on Tuesday`, `a fortnight on Friday`, `a week tomorrow`, `Tuesday week`."""
    parts = match.groupdict()
    count = numbers.value(parts.get("count") or "a")
    if count is None or place.lean == "past" or (parts.get("count") or "").lower() in numbers.VAGUE:
        return None
    weeks = count * (2 if match["unit"].lower().startswith("fortnight") else 1)
    by = {"today": 0, "tomorrow": 1}.get(match["day"].lower())
    if by is None:
        by = (weekday_of(match["day"]) - place.day_said.weekday()) % 7
        if by == 0:
            return None
    return place.day_said + timedelta(days=by, weeks=weeks)


def _week_day(match: Match, place: _Place) -> datetime | None:
    """Read `Tuesday next week`, `next week on Tuesday`."""
    if place.lean == "past":
        return None
    return floor(place.said, "week") + timedelta(days=7 + weekday_of(match["weekday"]))


def _next_weekday(match: Match, place: _Place) -> datetime | None:
    """Read `next Tuesday` where it can be of no other week than the next, or where that is said."""
    today, day = place.day_said, weekday_of(match["weekday"])
    if place.lean == "past":
        return None
    if match["not"]:
        return floor(place.said, "week") + timedelta(days=7 + day)
    by = (day - today.weekday()) % 7 or 7
    is_sunday = today.weekday() == 6
    return None if by < 7 and (day > today.weekday() or is_sunday) else today + timedelta(days=by)


def _beside(match: Match, place: _Place) -> datetime | None:
    """Read `the day before`, `two weeks later`, `the Saturday after 19 November`: of the date that is named there, else
    of the only one that stands before it in the sentence.
    """
    anchor = _anchor(match, place)
    if anchor is None:
        return None
    parts = match.groupdict()
    forward = (parts.get("way") or "after").lower() in ("after", "following", "later")
    if parts.get("weekday"):
        by = (weekday_of(match["weekday"]) - anchor.weekday()) % 7 or 7
        return anchor + timedelta(days=by if forward else by - 7 if by < 7 else -7)
    unit, count = (parts.get("unit") or "day").lower(), numbers.value(parts.get("count") or "a")
    if count is None or (parts.get("count") or "").lower() in numbers.VAGUE:
        return None
    days = {"week": 7, "fortnight": 14}.get(unit.removesuffix("s"), 1) * count
    return anchor + timedelta(days=days if forward else -days)


def _anchor(match: Match, place: _Place) -> datetime | None:
    parts = match.groupdict()
    if parts.get("date") is not None:
        first, stop = match.span("date")
        return next((one.at for one in place.days() if first <= one.start < stop), None)
    if parts.get("bare") is None:
        return None
    begin = max((cut.end() for cut in _SENTENCE.finditer(place.text, 0, match.start())), default=0)
    before = {one.at for one in place.days() if begin <= one.start and one.stop <= match.start()}
    if len(before) != 1:
        return None
    at = before.pop()
    return at if abs(at - place.said) < _FAR else None


def _no_day(match: Match, place: _Place) -> None:
    """Read what names no day that is certain."""
    del match, place


Read = Callable[[Match, _Place], datetime | None]


def _phrase(source: str, read: Read) -> tuple[re.Pattern[str], Read]:
    return re.compile(source.replace(" ", r"[^\S\n]{1,3}"), flags=re.IGNORECASE), read


_WEEKDAY: Final = rf"(?P<weekday>{WEEKDAY_NAME})\b"
_COUNT: Final = rf"(?<![\d.,])(?P<count>{numbers.COUNT})"
_PHRASES: Final = (
    _phrase(
        r"\b(?:easter|good|maundy|ash|shrove|palm|whit|black|cyber|holy|super|holiday|every(?: other| second)?|each"
        rf"|a|an|any|some|most|alternate) {WEEKDAY_NAME}\b",
        _no_day,
    ),
    _phrase(rf"\bweek (?:of|beginning|commencing|starting)(?: on)? (?:the )?(?:{_DATE})", _no_day),
    _phrase(rf"\b(?:the )?{WEEKDAY_NAME} after next\b", _no_day),
    _phrase(
        rf"\b(?:the )?(?P<nth>first|second|third|fourth|fifth|[1-5](?:st|nd|rd|th)) {_WEEKDAY}"
        rf"(?: (?:in|of) (?:{MONTH}(?:,? {YEAR})?|(?P<which>this|next) month\b))?",
        _nth_weekday,
    ),
    _phrase(
        rf"\b(?:the )?(?P<nth>last) {_WEEKDAY} (?:of|in(?= {MONTH_NAME}\b))"
        rf"(?: (?:{MONTH}(?:,? {YEAR})?|(?P<which>this|next) month\b))?",
        _nth_weekday,
    ),
    _phrase(
        rf"\b{_COUNT} (?P<unit>(?:week|fortnight)s?) (?:(?:on|from|this|from this) )?"
        rf"(?P<day>today|tomorrow|{WEEKDAY_NAME})\b",
        _weeks_from,
    ),
    _phrase(rf"\b(?P<day>today|tomorrow|{WEEKDAY_NAME}) (?P<unit>week|fortnight)\b{_ENDS}", _weeks_from),
    _phrase(rf"\b(?:on )?{_WEEKDAY},? (?:of )?next week\b(?!end)", _week_day),
    _phrase(rf"\bnext week,? (?:on )?{_WEEKDAY}", _week_day),
    _phrase(rf"\b{_COUNT} (?P<unit>(?:day|week|fortnight)s?) {_WAY}\b{_OF_DATE}", _beside),
    _phrase(
        rf"\bthe (?:day|evening|night|morning|afternoon) {_WAY}\b"
        rf"(?! (?:yesterday|tomorrow|last|now)\b){_OF_DATE}",
        _beside,
    ),
    _phrase(
        rf"\bthe (?:following|next) (?:day|evening|night|morning|afternoon|{_WEEKDAY})(?P<bare>{_ENDS})",
        _beside,
    ),
    _phrase(rf"\bthe {_WEEKDAY} {_WAY}\b{_OF_DATE}", _beside),
    _phrase(
        rf"\bnext {_WEEKDAY}(?P<not>(?:,|,? \(|,? -)?(?: (?:and|but))?(?: )?not"
        r" this(?: (?:one|week|coming one))?\b)?",
        _next_weekday,
    ),
)
"""What names no day comes first, what lies beside another day behind what may be that."""
_MARKS: Final = re.compile(rf"{WEEKDAY_NAME}|week|fortnight|day|night|morning|evening", re.IGNORECASE)


def phrases(text: str, now: datetime, lean: Lean, days: Callable[[], Sequence[Day]]) -> Iterator[Phrase]:
    """Yield the phrases of a text, none within another; `days` gives the days that its other words name."""
    if _MARKS.search(text) is None:
        return
    taken = bytearray(len(text))
    named: list[Day] = []

    def all_days() -> list[Day]:
        return [*named, *(day for day in days() if taken.find(1, day.start, day.stop) < 0)]

    place = _Place(text, now, lean, all_days)
    for pattern, read in _PHRASES:
        for match in pattern.finditer(text):
            first, stop = match.span()
            if taken.find(1, first, stop) >= 0:
                continue
            at: datetime | None = None
            with suppress(ValueError, OverflowError):  # beyond the calendar
                at = read(match, place)
            if at is not None and not _leans(at, place):
                at = None
            taken[first:stop] = b"\x01" * (stop - first)
            if at is not None:
                named.append(Day(first, stop, at))
            yield Phrase(first, stop, at)


def _leans(at: datetime, place: _Place) -> bool:
    """Whether a day lies where the text looks for it."""
    return place.lean == "near" or (at >= place.day_said if place.lean == "ahead" else at <= place.day_said)
