"""Names of months, weekdays and seasons, and spans of time. Pure, UTC.

Seasons are the meteorological ones of the north: spring is March to May, and a winter begins in December.
"""

from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from dateutil.relativedelta import relativedelta

MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS_AND_WEEKDAYS: Final = frozenset((*MONTHS, *WEEKDAYS))
SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month that each begins in."""
SHORT_MONTHS: Final = ("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec")
SHORT_DAYS: Final = ("mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun")
_TIMES: Final = """
today tonight tomorrow yesterday now noon midnight midday morning afternoon evening night day days week weeks weekend
month months year years decade decades century hour hours minute minutes seconds ago last next bc ad utc gmt before
after until till since during
"""
TIME_WORDS: Final = frozenset(
    (*MONTHS, *SHORT_MONTHS, *WEEKDAYS, *SHORT_DAYS, *SEASONS, *_TIMES.split()),
)
"""Words that speak of a time."""

MONTH_NAME: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
"""A regular expression without groups, to be used with IGNORECASE like those below."""
WEEKDAY_NAME: Final = rf"(?:{'|'.join(WEEKDAYS)})"
MONTH: Final = rf"(?P<month>{MONTH_NAME})\b\.?"
DAY: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b"
YEAR: Final = r"(?P<year>(?:19|20)\d\d)\b"


class Span(msgspec.Struct, frozen=True):
    """From `since` to before `until`, in UTC; None is open. `exact` is false where the words name no year."""

    since: datetime | None
    until: datetime | None
    exact: bool = True
    month: int | None = None
    """The month that was named without a year: of any year."""
    day: int | None = None


def month_of(name: str | None) -> int | None:
    """Return the number of a month by its name or the first three letters of it; None for no name."""
    return next((n for n, full in enumerate(MONTHS, 1) if name and full.startswith(name[:3].lower())), None)


def weekday_of(name: str) -> int:
    """Return the number of a weekday, Monday 0, by its name or the first three letters of it."""
    return next(n for n, full in enumerate(WEEKDAYS) if full.startswith(name[:3].lower()))


def step(unit: str, count: int) -> relativedelta:
    """Return so many hours, days, weeks, weekends, months or years, of a unit in the singular or plural."""
    single = unit.lower().removesuffix("s").replace("weekend", "week")
    steps: dict[str, Any] = {f"{single}s": count}
    return relativedelta(**steps)


def floor(moment: datetime, unit: str) -> datetime:
    """Return when the hour, day, week, weekend, month or year of a moment begins; a week on Monday."""
    single = unit.lower().removesuffix("s")
    start = moment.replace(minute=0, second=0, microsecond=0)
    if single == "hour":
        return start
    start = start.replace(hour=0)
    if single in ("week", "weekend"):
        return start - timedelta(days=start.weekday() - (5 if single == "weekend" else 0))
    if single == "month":
        return start.replace(day=1)
    return start.replace(month=1, day=1) if single == "year" else start


def whole(start: datetime, unit: str) -> Span:
    """Return the span of the unit that begins at a moment: a weekend has two days."""
    single = unit.lower().removesuffix("s")
    return Span(start, start + (timedelta(days=2) if single == "weekend" else step(single, 1)))
