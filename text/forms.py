"""How times are worded, as a table: regular expressions, and what each means relative to a given now. Pure, UTC.

A form reads only where it can be placed: "next Friday" is nothing in the past, "on Friday" nothing that is just near.
python-dateutil does the calendar.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, NamedTuple

import msgspec
from dateutil.relativedelta import relativedelta

from braid.text import numbers
from braid.text.calendar import (
    DAY,
    MONTH,
    SEASONS,
    WEEKDAYS,
    YEAR,
    Span,
    floor,
    month_of,
    step,
    weekday_of,
    whole,
)

Lean = Literal["past", "near", "ahead"]
Match = re.Match[str]
Meaning = tuple[Span, str]
"""A span, and its day, month or year as ISO text; empty where it is none that closely."""
Read = Callable[[Match, datetime, Lean], Meaning | None]


class Form(NamedTuple):
    """A wording, what it means, and the leans under which it is read."""

    pattern: re.Pattern[str]
    read: Read
    leans: tuple[Lean, ...]

    @property
    def calendar(self) -> bool:
        """Whether it names a time by the calendar, not from now, by a weekday or as an ISO date."""
        return self.read in (_date, _month_of_year, _year, _month)


def _found(start: datetime, unit: str, said: datetime | None = None) -> Meaning:
    """Return the unit that begins at a moment, and as ISO text what is meant by it: `said`, else where it begins."""
    at, single = said or start, unit.lower().removesuffix("s")
    iso = {"day": f"{at:%m-%d}", "week": f"{at:%m-%d}", "month": f"{at:%m}", "year": ""}.get(single)
    return whole(start, unit), "" if iso is None else f"{at.year:04d}-{iso}".removesuffix("-")


def _iso(match: Match, now: datetime, lean: Lean) -> Meaning:
    del now, lean
    return _found(datetime.fromisoformat(match[0]).replace(tzinfo=UTC), "day")


def _date(match: Match, now: datetime, lean: Lean) -> Meaning:
    """Read `8 May 2023`, `May 8, 2023`, `8 May`, `May 8`."""
    month, number = month_of(match["month"]) or 0, int(match["day"])
    if match["year"]:
        return _found(datetime(int(match["year"]), month, number, tzinfo=UTC), "day")
    found, iso = _found(_chosen(_each_year(now, month, number), now, lean), "day")
    return msgspec.structs.replace(found, exact=False, month=month, day=number), iso


def _each_year(now: datetime, month: int, number: int) -> list[datetime]:
    """Return a day of the years about now; of many for 29 February."""
    reach = 8 if (month, number) == (2, 29) else 1
    years = range(max(1, now.year - reach), min(9999, now.year + reach) + 1)
    found: list[datetime] = []
    for year in years:
        with suppress(ValueError):
            found.append(datetime(year, month, number, tzinfo=UTC))
    return found


def _chosen(choices: list[datetime], now: datetime, lean: Lean) -> datetime:
    """Return the nearest, of those that lie where it leans; raise ValueError where there is none at all."""
    today = floor(now, "day")
    fitting = [at for at in choices if lean == "near" or (at >= today if lean == "ahead" else at <= today)]
    return min(fitting or choices, key=lambda at: abs(at - today))


def _month_of_year(match: Match, now: datetime, lean: Lean) -> Meaning:
    del now, lean
    return _found(datetime(int(match["year"]), month_of(match["month"]) or 0, 1, tzinfo=UTC), "month")


def _ago(match: Match, now: datetime, lean: Lean) -> Meaning | None:
    """Read `two weeks ago`: that week, and as much leeway as the unit leaves."""
    del lean
    count, unit = numbers.value(match["count"]), match["unit"]
    if count is None:
        return None
    at = now - step(unit, count)
    found, iso = _found(floor(at, unit), unit, at)
    return found, "" if "few" in match["count"].lower() else iso


def _within(match: Match, now: datetime, lean: Lean) -> Meaning | None:
    """Read `in the last three days`, `over the past few weeks`."""
    del lean
    count = numbers.value(match["count"])
    return None if count is None else (Span(now - step(match["unit"], count), now), "")


def _in(match: Match, now: datetime, lean: Lean) -> Meaning | None:
    """Read `in three days`, `in a year's time`."""
    del lean
    count = numbers.value(match["count"])
    if count is None:
        return None
    found, iso = _found(floor(now, "day") + step(match["unit"], count), match["unit"])
    return found, "" if "few" in match["count"].lower() else iso


def _period(match: Match, now: datetime, lean: Lean) -> Meaning | None:
    """Read `last month`, `this week`, `previous year`, `next weekend`, `last summer`."""
    unit, by = match["unit"].lower(), _WHICH[match["which"].lower()]
    if (by > 0 and lean == "past") or (by < 0 and lean == "ahead"):
        return None
    if unit in SEASONS:
        return None if lean == "near" else (_season(SEASONS[unit], now, by, lean), "")
    if unit == "weekend" and by > 0 and now.weekday() < 5:
        by = 0  # on a Wednesday the next weekend is the one to come
    found, iso = _found(floor(now, unit) + step(unit, by), unit)
    return found, "" if unit == "day" else iso


def _season(month: int, now: datetime, by: int, lean: Lean) -> Span:
    start, length = datetime(now.year, month, 1, tzinfo=UTC), relativedelta(months=3)
    if lean == "past" and (start > now or (by < 0 and start + length > now)):
        start -= relativedelta(years=1)
    if lean == "ahead" and (start + length <= now or (by > 0 and start <= now)):
        start += relativedelta(years=1)
    return Span(start, start + length)


def _near(match: Match, now: datetime, lean: Lean) -> Meaning | None:
    """Read `yesterday`, `today`, `the day before yesterday`, `tomorrow`."""
    by = _NEAR[" ".join(match[0].lower().split())]
    if (by > 0 and lean == "past") or (by < 0 and lean == "ahead"):
        return None
    return _found(floor(now, "day") + timedelta(days=by), "day")


def _weekday(match: Match, now: datetime, lean: Lean) -> Meaning | None:
    """Read `last Friday`, `on Monday`, `next Tuesday`; ahead, a bare `Friday` too."""
    which, today = (match["which"] or "").lower(), floor(now, "day")
    back = which in ("last", "past", "previous") or (which == "on" and lean == "past")
    if back and lean != "ahead":
        days = -((today.weekday() - weekday_of(match["weekday"])) % 7 or 7)
    elif not back and (lean == "ahead" or (lean == "near" and which in ("this", "next", "coming"))):
        days = (weekday_of(match["weekday"]) - today.weekday()) % 7 or (0 if which == "this" else 7)
    else:
        return None
    return _found(today + timedelta(days=days), "day")


def _year(match: Match, now: datetime, lean: Lean) -> Meaning | None:
    """Read `in 2019`, `since 2020`, `late 2021`; ahead, only what is to come."""
    lead, year = match["lead"].lower(), int(match["year"])
    if (lean == "near" and lead in ("for", "last")) or (lean == "ahead" and year < now.year):
        return None
    return _found(datetime(year, 1, 1, tzinfo=UTC), "year")


def _month(match: Match, now: datetime, lean: Lean) -> Meaning | None:
    """Read `in March`, `since March`, `next March`: the latest that has begun, or the next to come."""
    lead, month = match["lead"].lower(), month_of(match["month"]) or 0
    if lead == "this" and match["month"] in ("may", "march", "mar"):  # "this may be"
        return None
    start = datetime(now.year, month, 1, tzinfo=UTC)
    if lean == "past":
        if lead == "next" or (lead == "this" and start > now):
            return None
        start -= relativedelta(years=int(start > now))
    elif lead in ("in", "next", "this", "by", "until"):
        start += relativedelta(years=int(month < now.month or (lead == "next" and month == now.month)))
    else:
        return None
    return msgspec.structs.replace(whole(start, "month"), exact=False, month=month), ""


def _bare(match: Match, now: datetime, lean: Lean) -> Meaning:
    """Read `the 3rd`, `Friday the 13th`."""
    first, choices = floor(now, "month"), list[datetime]()
    for by in (-1, 0, 1):
        with suppress(ValueError):
            choices.append((first + relativedelta(months=by)).replace(day=int(match["day"])))
    return _found(_chosen(choices, now, lean), "day")


# -- the forms, the closest first ---------------------------------------------------------------------

_WHICH: Final = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1}
_NEAR: Final = {
    "the day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "this morning": 0,
    "this afternoon": 0, "this evening": 0, "just now": 0, "tomorrow": 1, "the day after tomorrow": 2,
}  # fmt: skip
_FULL_YEAR: Final = r"(?P<year>\d{4})\b"
_COUNT: Final = rf"(?<![\d.,])(?<!half\s)(?P<count>{numbers.COUNT})"
_UNIT: Final = r"(?P<unit>(?:hour|day|weekend|week|month|year)s?)\b"
_SAT: Final = r"sat(?! (?:at|by|down|for|in|next|on|with)\b)"
_SUN: Final = r"sun(?! (?-i:[a-z]))"
_NOT_A_NUMBER: Final = r"(?!:|[.,]\d)"
"""Behind a day: "May 8:30" and "May 5,000" name none."""


def _form(source: str, read: Read, *leans: Lean) -> Form:
    """Return a form of which each space stands for some blanks, but no end of a line."""
    pattern = re.compile(source.replace(" ", r"[^\S\n]{1,3}"), flags=re.IGNORECASE)
    return Form(pattern, read, leans or ("past", "near", "ahead"))


DATED: Final = (
    _form(r"\b(?P<year>\d{4})-(?P<number>\d\d)-(?P<day>\d\d)\b", _iso),
    _form(rf"\b{DAY}(?: of)? {MONTH}(?:,(?: )?| ){_FULL_YEAR}", _date),
    _form(rf"\b{MONTH} (?:the )?{DAY}(?:,(?: )?| ){_FULL_YEAR}", _date),
    _form(rf"\b{MONTH},?(?: of)? {YEAR}", _month_of_year),
)
BARE: Final = (
    _form(rf"\b{DAY}(?: of)? {MONTH}(?P<year>)", _date),
    _form(rf"\b{MONTH} (?:the )?{DAY}{_NOT_A_NUMBER}(?P<year>)", _date),
)
DAYS: Final = (
    *DATED[:3],
    *BARE,
    _form(rf"\b(?:{'|'.join(WEEKDAYS)}),? the {DAY}", _bare),
    _form(r"\bthe (?P<day>[0-3]?\d)(?:st|nd|rd|th)\b", _bare),
)
FORMS: Final = (
    *DATED,
    _form(rf"\b{_COUNT} {_UNIT} ago\b", _ago, "past", "near"),
    _form(
        rf"\b(?:last|past|previous) {_COUNT} (?P<unit>hours|days|weeks|months|years)\b",
        _within,
        "past",
        "near",
    ),
    _form(
        rf"\b(?P<which>{'|'.join(_WHICH)}) (?P<unit>hour|day|weekend|week|month|year|{'|'.join(SEASONS)})\b",
        _period,
    ),
    _form(rf"\b(?:{'|'.join(sorted(_NEAR, key=len, reverse=True))})\b", _near),
    *BARE,
    _form(
        rf"\b(?:(?P<which>last|on|past|previous|this|next|coming) )?(?P<weekday>{'|'.join(WEEKDAYS)})\b",
        _weekday,
    ),
    _form(
        rf"\b(?P<which>last|on|past|previous) (?P<weekday>mon|tues?|wed|thurs?|fri|{_SAT}|{_SUN})\b",
        _weekday,
        "past",
    ),
    _form(rf"\b(?P<lead>in|during|of|since|until|before|after|by|for|last|early|late|mid) {YEAR}", _year),
    _form(
        rf"\b(?P<lead>in|during|of|since|until|before|after|by|early|late|mid|last|next|this) {MONTH}",
        _month,
        "past",
        "ahead",
    ),
    _form(rf"\bin {_COUNT} (?P<unit>(?:day|week|month|year)s?)\b(?:['’]s? time\b)?", _in, "near", "ahead"),
)
