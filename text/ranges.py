"""When a question speaks of, read whole: "between March and May 2023", "Q2 2023", "the week before last". Pure.

What an end of a range leaves out, the other end says. Seasons are the meteorological ones of the north: spring is March
to May, and a winter begins in December of the year that it is named by. A wrong range that is taken for exact is worse
than none: what isn't clear, or may be the topic and not the time, is left to `dates.span`. Only questions are read so:
what a turn says is read by `dates.span`.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import msgspec

from braid.text import numbers
from braid.text.calendar import YEAR, Span
from braid.text.dates import span
from braid.text.ends import BOTH, START, End, Range, range_at
from braid.text.periods import Beside, before_last, parts

_NAMED_YEAR: Final = re.compile(
    rf"\b(?:(?:in|during|of) {YEAR}|(?P<before>the year before last)\b(?! (?!between|from|during|in)\w)"
    r"|(?P<which>last|previous|past|this|next) year\b"
    rf"|(?P<ago>(?:\d\d?|an?|{numbers.WORD}) years? ago)\b|years?\b)",
    flags=re.IGNORECASE,
)
_YEARS_ON: Final = {"last": -1, "previous": -1, "past": -1, "this": 0, "next": 1}


def asked_time(text: str, now: datetime) -> Span | None:
    """Return the time that a question names: a range, a part of a year, else what `span` reads. Never raises."""
    try:
        now = now.astimezone(UTC)
    except OverflowError:  # at the ends of the calendar
        now = now.replace(tzinfo=UTC)
    for read in (_ranges, parts, before_last):
        found = next(read(text, now), None)
        if found is not None:
            return found
    return span(text, now)


def _ranges(text: str, now: datetime) -> Iterator[Span]:
    """Yield the ranges that a text names: the whole of both ends, and all between."""
    year, beside, done = _named_year(text, now), Beside(text, now), 0
    for start in START.finditer(text):
        if start.start() < done:  # within an end that was read
            continue
        found, done = range_at(text, start)
        if found is None or not _means_time(found) or _is_topic(found, beside):
            continue
        read = _spanned(found, year, now)
        if read is not None:
            yield read


def _means_time(found: Range) -> bool:
    """Whether two ends are a time: where no word before them and no year says so, they may be anything."""
    first, last, led = found.first, found.last, found.lead in BOTH
    if last is None:
        said = first.year is not None or (first.month is not None and first.months == 1)
        return said and (led or found.join in ("until", "till", "through"))
    if found.join == "and" and found.lead != "between":  # "Q1 and Q2 2023"
        return found.parts_of_years and last.month == (first.month or 0) + 3 and last.year is not None
    if found.year is None:  # "from spring to autumn" is a manner of speaking
        return first.months == last.months == 1 and (led or _is_dashed(found, first, last))
    if first.year is None and last.month is None and last.day is None:  # "from May to 2023"
        return False
    return led or _is_dated(found, first, last)


def _is_dated(found: Range, first: End, last: End) -> bool:
    """Whether a year makes a time of two ends that no "from" leads to."""
    if first.year is not None and found.parts_of_years:
        return True
    if (
        first.month is None
        and first.day is not None
        and found.join[0] == " "
        and not found.lead
        and found.start
    ):
        return False  # "session 3 - 8 May 2023"
    named = first.month is not None or first.day is not None
    return last.year is not None and (named or found.lead not in ("", "on"))


def _is_dashed(found: Range, first: End, last: End) -> bool:
    """Whether it is "May 5-9", or "12-14 May" or "March-May" behind a word that says when."""
    if not found.dash or found.join[:1] == " " or (first.month or last.month) is None:
        return False
    return found.lead != "" or (first.month is not None and first.day is not None and last.day is not None)


def _is_topic(found: Range, beside: Beside) -> bool:
    """Whether another time says when, and this may be what was spoken of: "last week about the May–June 2023 trip"."""
    if found.lead in BOTH or (found.lead and found.year is not None):
        return False
    if found.parts_of_years and beside.any(found.start, found.stop):
        return True
    return beside.told(found.start, found.stop)


def _spanned(found: Range, named: int | None, now: datetime) -> Span | None:
    """Return the span of two ends. Where neither says a year, it is the one `named` beside them, else the latest."""
    if found.year is None and named == 0:
        return None
    exact = named is not None or found.year is not None
    try:
        if found.last is None:
            return _until_now(found.first, named, exact, now)
        both = _with_months(found.first, found.last)
        if both is None:
            return None
        first, last = both
        if found.year is None:
            if named is not None and first.place > last.place:  # of which of two years?
                return None
            last = msgspec.structs.replace(last, year=named or _latest(first, last, now))
        first, last = _with_years(first, last)
        return Span(min(first.since(), last.since()), max(first.until(), last.until()), exact)
    except (ValueError, OverflowError):  # 31 February: no time is meant that there could be
        return None


def _until_now(first: End, named: int | None, exact: bool, now: datetime) -> Span | None:
    """Return the span from an end till now; raise ValueError for the 31st of February."""
    year = first.year or named or now.year - (first.place > (now.month, now.day))
    since = msgspec.structs.replace(first, year=year).since()
    return Span(since, now, exact) if since < now else None


def _named_year(text: str, now: datetime) -> int | None:
    """Return the year that stands beside a range: None where none does, 0 where it isn't clear which."""
    years = {_year_of(match, now) for match in _NAMED_YEAR.finditer(text)}
    return years.pop() if len(years) == 1 else 0 if years else None


def _year_of(match: re.Match[str], now: datetime) -> int:
    if match["year"]:
        return int(match["year"])
    if match["which"]:
        return now.year + _YEARS_ON[match["which"].lower()]
    if match["before"]:
        return now.year - 2
    found = span(match["ago"], now) if match["ago"] else None
    return found.since.year if found is not None and found.since is not None else 0


def _with_months(first: End, last: End) -> tuple[End, End] | None:
    """Give an end that is a mere day the month of the other; None where that makes no range."""
    if first.day and first.month is None:
        first = msgspec.structs.replace(first, month=last.month)
    elif last.day and last.month is None:
        last = msgspec.structs.replace(last, month=first.month)
    else:
        return first, last
    return (first, last) if first.month is not None and first.place < last.place else None


def _with_years(first: End, last: End) -> tuple[End, End]:
    """Give an end without a year that of the other: the last before it, or the next after it."""
    over = first.month is not None and last.month is not None and first.place > last.place
    if first.year is None:
        first = msgspec.structs.replace(first, year=(last.year or 0) - over)
    elif last.year is None:
        last = msgspec.structs.replace(last, year=first.year + over)
    return first, last


def _latest(first: End, last: End, now: datetime) -> int:
    """Return the year in which the latest such range that has begun ends."""
    return now.year - (first.place > (now.month, now.day)) + (first.place > last.place)
