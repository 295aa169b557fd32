"""What a wording of a time means relative to a given now; it reads only where it can be placed. Pure, UTC.

"next Friday" is nothing in the past, "on Friday" nothing that is just near. python-dateutil does the calendar.
"""

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

import msgspec
from dateutil.relativedelta import relativedelta

from braid.text import numbers
from braid.text.calendar import SEASONS, Span, floor, month_of, step, weekday_of, whole

Lean = Literal["past", "near", "ahead"]
"""Where to look for what names no year or direction: before now, nearest to it, or from it on."""
Match = re.Match[str]
Meaning = tuple[Span, str]
"""A span, and its day, month or year as ISO text; empty where it is none that closely."""
_IN_WORDS: Final = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth
twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first
"""
_AROUND: Final = 3
"""How many months away a day is looked for that is told by its weekday and its number."""
DAY_WORDS: Final = {word: day for day, word in enumerate(_IN_WORDS.split(), 1)}
"""Days of a month in words."""
WHICH: Final = {"last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "coming": 1}
HOLIDAYS: Final = {
    "new year's day": (1, 1), "valentine's day": (2, 14), "halloween": (10, 31), "hallowe'en": (10, 31),
    "bonfire night": (11, 5), "christmas eve": (12, 24), "christmas day": (12, 25), "boxing day": (12, 26),
    "new year's eve": (12, 31),
}  # fmt: skip
"""The days that have the same date every year."""
NEAR: Final = {
    "the day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "this morning": 0,
    "this afternoon": 0, "this evening": 0, "just now": 0, "tomorrow": 1, "the day after tomorrow": 2,
}  # fmt: skip


def _found(start: datetime, unit: str, said: datetime | None = None) -> Meaning:
    """Return the unit that begins at a moment, and as ISO text what is meant by it: `said`, else where it begins."""
    at, single = said or start, unit.lower().removesuffix("s")
    iso = {"day": f"{at:%m-%d}", "week": f"{at:%m-%d}", "month": f"{at:%m}", "year": ""}.get(single)
    return whole(start, unit), "" if iso is None else f"{at.year:04d}-{iso}".removesuffix("-")


def iso_day(match: Match, now: datetime, lean: Lean) -> Meaning:
    """Read `2023-05-08`."""
    del now, lean
    return _found(datetime.fromisoformat(match[0]).replace(tzinfo=UTC), "day")


def calendar_day(match: Match, now: datetime, lean: Lean) -> Meaning:
    """Read `8 May 2023`, `May 8, 2023`, `8 May`, `May 8`, `the eighth of May`."""
    said = match["day"].lower()
    number = DAY_WORDS[said] if said in DAY_WORDS else int(said)
    return _day_of(month_of(match["month"]) or 0, number, match["year"], now, lean)


def holiday(match: Match, now: datetime, lean: Lean) -> Meaning:
    """Read `Christmas Eve`, `Boxing Day 2025`."""
    month, number = HOLIDAYS[" ".join(match["holiday"].lower().replace("’", "'").split())]
    return _day_of(month, number, match["year"], now, lean)


def _day_of(month: int, number: int, year: str | None, now: datetime, lean: Lean) -> Meaning:
    if year:
        return _found(datetime(int(year), month, number, tzinfo=UTC), "day")
    found, iso = _found(_chosen(each_year(now, month, number), now, lean), "day")
    return msgspec.structs.replace(found, exact=False, month=month, day=number), iso


def each_year(now: datetime, month: int, number: int) -> list[datetime]:
    """Return a day of the years about now, in UTC; of many for 29 February."""
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


def month_of_year(match: Match, now: datetime, lean: Lean) -> Meaning:
    """Read `May 2023`."""
    del now, lean
    return _found(datetime(int(match["year"]), month_of(match["month"]) or 0, 1, tzinfo=UTC), "month")


def ago(match: Match, now: datetime, lean: Lean) -> Meaning | None:
    """Read `two weeks ago`: that week, and as much leeway as the unit leaves."""
    del lean
    count, unit = numbers.value(match["count"]), match["unit"]
    if count is None:
        return None
    at = now - step(unit, count)
    found, iso = _found(floor(at, unit), unit, at)
    return found, "" if "few" in match["count"].lower() else iso


def within(match: Match, now: datetime, lean: Lean) -> Meaning | None:
    """Read `in the last three days`, `over the past few weeks`."""
    del lean
    count = numbers.value(match["count"])
    return None if count is None else (Span(now - step(match["unit"], count), now), "")


def to_come(match: Match, now: datetime, lean: Lean) -> Meaning | None:
    """Read `in three days`, `in a fortnight`, `in a year's time`."""
    del lean
    count, unit = numbers.value(match["count"]), match["unit"].lower()
    if count is None:
        return None
    if unit.startswith("fortnight"):
        count, unit = 2 * count, "weeks"
    found, iso = _found(floor(now, "day") + step(unit, count), unit)
    return found, "" if match["count"].lower() in numbers.VAGUE else iso


def period(match: Match, now: datetime, lean: Lean) -> Meaning | None:
    """Read `last month`, `this week`, `previous year`, `next weekend`, `last summer`."""
    unit, by = match["unit"].lower(), WHICH[match["which"].lower()]
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


def near_day(match: Match, now: datetime, lean: Lean) -> Meaning | None:
    """Read `yesterday`, `today`, `the day before yesterday`, `tomorrow`."""
    by = NEAR[" ".join(match[0].lower().split())]
    if (by > 0 and lean == "past") or (by < 0 and lean == "ahead"):
        return None
    return _found(floor(now, "day") + timedelta(days=by), "day")


def weekday(match: Match, now: datetime, lean: Lean) -> Meaning | None:
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


def year(match: Match, now: datetime, lean: Lean) -> Meaning | None:
    """Read `in 2019`, `since 2020`, `late 2021`; ahead, only what is to come."""
    lead, year = match["lead"].lower(), int(match["year"])
    if (lean == "near" and lead in ("for", "last")) or (lean == "ahead" and year < now.year):
        return None
    return _found(datetime(year, 1, 1, tzinfo=UTC), "year")


def month(match: Match, now: datetime, lean: Lean) -> Meaning | None:
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


def day_of_month(match: Match, now: datetime, lean: Lean) -> Meaning:
    """Read `the 3rd`, `Friday the 13th`, `Friday the thirteenth`."""
    return _found(_chosen(_days_of(match, now, range(-1, 2)), now, lean), "day")


def weekday_of_month(match: Match, now: datetime, lean: Lean) -> Meaning:
    """Read `Tuesday the 17th`: of the next months, or the last, the one in which that is a Tuesday; the nearest 17th
    where there is none."""
    named = weekday_of(match["weekday"])
    fitting = [at for at in _days_of(match, now, range(-_AROUND, _AROUND + 1)) if at.weekday() == named]
    return _found(_chosen(fitting, now, lean), "day") if fitting else day_of_month(match, now, lean)


def _days_of(match: Match, now: datetime, months: range) -> list[datetime]:
    """Return a day by its number, in the months so many away that have it."""
    first, choices = floor(now, "month"), list[datetime]()
    said = match["day"].lower()
    day = DAY_WORDS[said] if said in DAY_WORDS else int(said)
    for by in months:
        with suppress(ValueError):
            choices.append((first + relativedelta(months=by)).replace(day=day))
    return choices
