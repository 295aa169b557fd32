"""When a claim holds: days and spans that words name, relative to the time they were said at. Pure, UTC.

The past is read by `recall.times`; here is what questions don't have: days to come, bare days of the month, and the
bounds "since", "from", "until", "starting".
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from dateutil.relativedelta import relativedelta

from braid.learn.words import MONTHS, NUMBERS, WEEKDAYS
from braid.recall.times import span

_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WEEKDAY: Final = r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
_DAY: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_CALENDAR: Final = (
    re.compile(r"\b(?P<iso>\d{4}-\d\d-\d\d)\b"),
    re.compile(rf"\b(?:the )?{_DAY}(?: of)? {_MONTH}(?:,? (?P<year>(?:19|20)\d\d)\b)?", flags=re.IGNORECASE),
    re.compile(rf"\b{_MONTH} (?:the )?{_DAY}\b(?!:)(?:,? (?P<year>(?:19|20)\d\d)\b)?", flags=re.IGNORECASE),
    re.compile(rf"\b(?:next |this |on |last )?{_WEEKDAY}(?:,)? the {_DAY}\b", flags=re.IGNORECASE),
    re.compile(r"\bthe (?P<day>[0-3]?\d)(?:st|nd|rd|th)\b", flags=re.IGNORECASE),
)
_AHEAD: Final = re.compile(
    rf"\b(?:(?P<word>tomorrow|the day after tomorrow|tonight|today|this (?:morning|afternoon|evening))"
    rf"|(?P<which>next|this|coming) (?P<unit>week|weekend|month|year)"
    rf"|in (?P<count>\d{{1,3}}|an?|one|two|three|four|five|six|a few|a couple of) (?P<units>day"
    rf"|week|month|year)s?"
    rf"|(?P<nextday>next |this |on |coming )?{_WEEKDAY}"
    rf"|(?:in|next|this|by) {_MONTH}(?: (?P<year>20\d\d))?)\b",
    flags=re.IGNORECASE,
)
_BOUND: Final = re.compile(
    r"\b(?P<word>since|from|starting(?: from| on)?|as of|until|till|effective)\s+(?P<what>[^,.;!?]{2,40})",
    flags=re.IGNORECASE,
)


_LASTED: Final = re.compile(
    r"\bfor (?P<n>\d{1,2}|an?|two|three|four|five|six|seven|eight|nine|ten) "
    r"(?P<unit>day|week|month|year)s?(?: now)?\b"
)


class Held(NamedTuple):
    """From `since` to before `until`; None is open or unknown."""

    since: datetime | None = None
    until: datetime | None = None


NEVER: Final = Held()
LEAP: Final = datetime(2024, 1, 1, tzinfo=UTC)
"""A year that has every day that a birthday may have."""


def day(text: str, when: datetime, *, forward: bool | None = None) -> Held:
    """Return the first calendar day, or span, that a text names. Without a year: the nearest, `forward` or back."""
    for pattern in _CALENDAR:
        match = pattern.search(text)
        if match is not None:
            found = _calendar(match.groupdict(), when, forward)
            if found is not None:
                return Held(found, found + timedelta(days=1))
    return NEVER


def ahead(text: str, when: datetime) -> Held:
    """Return the time to come that a text names: a date, tomorrow, next week, on Friday, in June."""
    exact = day(text, when, forward=True)
    if exact.since is not None:
        return exact
    match = _AHEAD.search(text)
    return NEVER if match is None else _ahead(match, when)


def past(text: str, when: datetime) -> Held:
    """Return the past time that a text names: yesterday, last week, on Saturday, in March."""
    exact = day(text, when, forward=False)
    if exact.since is not None:
        return exact
    if (match := _WEEKENDS.search(text)) is not None:
        monday = _midnight(when) - timedelta(days=when.astimezone(UTC).weekday())
        start = monday - timedelta(days=7 * _count(match["n"].lower()) - 5)
        return Held(start, start + timedelta(days=2))
    found = span(_SHORT_DAY.sub(_whole_day, text), when)
    if found is None:
        today = re.search(
            r"\b(?:this morning|this afternoon|just now|earlier today)\b", text, flags=re.IGNORECASE
        )
        start = _midnight(when)
        return Held(start, start + timedelta(days=1)) if today else NEVER
    return Held(found.since, found.until)


_SHORT_DAY: Final = re.compile(
    r"\b(?P<which>last|on|this|past) (?P<day>mon|tues?|wed|thurs?|fri|sat|sun)\b(?!\w)", flags=re.IGNORECASE
)
_WEEKENDS: Final = re.compile(
    r"\b(?P<n>two|three|four|a few|a couple of|a couple) weekends ago\b", flags=re.IGNORECASE
)


def _whole_day(match: re.Match[str]) -> str:
    short = match["day"].lower()[:3]
    return f"{match['which']} {next(name for name in WEEKDAYS if name.startswith(short))}"


def bounds(text: str, when: datetime) -> Held:
    """Return from when, and before when, a state holds by "since", "from", "starting", "until"."""
    since: datetime | None = None
    until: datetime | None = None
    for match in _BOUND.finditer(text):
        word, what = match["word"].lower(), match["what"]
        if word in ("until", "till"):
            until = until or ahead(what, when).until
        elif word == "since":
            since = since or _since(what, when)
        else:
            since = since or ahead(what, when).since
    lasted = _LASTED.search(text) if since is None else None
    if lasted is not None:
        since = _midnight(when) - _step(lasted["unit"], _count(lasted["n"]))
    return Held(since, until)


def _since(what: str, when: datetime) -> datetime | None:
    exact = day(what, when, forward=False)
    if exact.since is not None:
        return exact.since
    found = span(f"since {what}", when)
    if found is not None:
        return found.since
    return past(what, when).since


def _calendar(parts: dict[str, str | None], when: datetime, forward: bool | None) -> datetime | None:
    try:
        if parts.get("iso"):
            return datetime.fromisoformat(str(parts["iso"])).replace(tzinfo=UTC)
        number = int(str(parts["day"]))
        name, year = parts.get("month"), parts.get("year")
        if name is None:
            return _nearest_day(number, when, forward)
        month = next(n for n, full in enumerate(MONTHS, 1) if full.startswith(name[:3].lower()))
        if year:
            return datetime(int(year), month, number, tzinfo=UTC)
        choices = [datetime(when.year + shift, month, number, tzinfo=UTC) for shift in (-1, 0, 1)]
    except ValueError:  # 31 February: no day is meant that there could be
        return None
    return _choose(choices, when, forward)


def _nearest_day(number: int, when: datetime, forward: bool | None) -> datetime | None:
    choices: list[datetime] = []
    for shift in (-1, 0, 1):
        first = _midnight(when).replace(day=1) + relativedelta(months=shift)
        try:
            choices.append(first.replace(day=number))
        except ValueError:
            continue
    return _choose(choices, when, forward) if choices else None


def _choose(choices: list[datetime], when: datetime, forward: bool | None) -> datetime:
    today = _midnight(when)
    fitting = [at for at in choices if forward is None or (at >= today if forward else at <= today)]
    return min(fitting or choices, key=lambda at: abs((at - today).days))


def _ahead(match: re.Match[str], when: datetime) -> Held:
    today = _midnight(when)
    if word := match["word"]:
        shift = {"tomorrow": 1, "the day after tomorrow": 2}.get(word.lower(), 0)
        return Held(today + timedelta(days=shift), today + timedelta(days=shift + 1))
    if match["which"]:
        return _next(match["which"].lower(), match["unit"].lower(), today)
    if match["count"]:
        count = _count(match["count"].lower())
        start = today + _step(match["units"].lower(), count)
        return Held(start, start + _step(match["units"].lower(), 1))
    if match["weekday"]:
        wanted = WEEKDAYS.index(match["weekday"].lower())
        start = today + timedelta(days=(wanted - today.weekday()) % 7 or 7)
        return Held(start, start + timedelta(days=1))
    month = next(n for n, full in enumerate(MONTHS, 1) if full.startswith(match["month"][:3].lower()))
    year = int(match["year"]) if match["year"] else today.year + (month < today.month)
    start = datetime(year, month, 1, tzinfo=UTC)
    return Held(start, start + relativedelta(months=1))


def _next(which: str, unit: str, today: datetime) -> Held:
    ahead_by = 0 if which == "this" else 1
    if unit == "weekend":
        start = today + timedelta(
            days=(5 - today.weekday()) % 7 + 7 * (which == "next" and today.weekday() >= 5)
        )
        return Held(start, start + timedelta(days=2))
    if unit == "week":
        start = today - timedelta(days=today.weekday()) + timedelta(weeks=ahead_by)
    elif unit == "month":
        start = today.replace(day=1) + relativedelta(months=ahead_by)
    else:
        start = today.replace(month=1, day=1) + relativedelta(years=ahead_by)
    return Held(start, start + _step(unit, 1))


def _count(said: str) -> int:
    """Return how many a word for a number means; "a few" are three."""
    if said.isdigit():
        return int(said)
    return 2 if "couple" in said else 3 if "few" in said else NUMBERS.get(said, 1)


def _step(unit: str, count: int) -> relativedelta:
    return relativedelta(
        days=count if unit == "day" else 0,
        weeks=count if unit == "week" else 0,
        months=count if unit == "month" else 0,
        years=count if unit == "year" else 0,
    )


def _midnight(when: datetime) -> datetime:
    return when.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
