"""When a question speaks of, read whole: "between March and May 2023", "Q2 2023", "the week before last". Pure.

What an end of a range leaves out, the other end says. Seasons are the meteorological ones of the north: spring is March
to May, and a winter begins in December of the year that it is named by. A wrong range that is taken for exact is worse
than none: what isn't clear, or may be the topic and not the time, is left to `times.span`. Only questions are read so:
what a turn says is read by `times.span` (`learn/`), and readings that are in logs already must come out as they did.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Final

import msgspec
from dateutil.relativedelta import relativedelta

from braid.recall.text import STOP
from braid.recall.times import DAY, MONTH, SEASONS, YEAR, Span, directed, month_of, places, span

_OF_YEAR: Final = rf",?(?: of| in)? {YEAR}"
_SEASON: Final = rf"(?P<season>{'|'.join(SEASONS)})\b"
_SEASON_OF_YEAR: Final = rf",?(?: of)? {YEAR}(?:[/–-](?:20)?\d\d\b)?"
"""Not "in": a summer, a fall and Autumn "in 2023" are something else. The second year is that of "winter 2022/23"."""
_QUARTER: Final = r"(?:q(?P<quarter>[1-4])|(?P<nth>first|second|third|fourth|last|1st|2nd|3rd|4th) quarter)\b"
_QUARTERS: Final = {
    "1": 1, "2": 2, "3": 3, "4": 4, "first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4,
    "1st": 1, "2nd": 2, "3rd": 3, "4th": 4,
}  # fmt: skip
_ENDS: Final = tuple(
    re.compile(source, flags=re.IGNORECASE)
    for source in (
        r"(?P<iso>\d{4}-\d\d-\d\d)\b",
        rf"{YEAR},? q(?P<quarter>[1-4])\b",
        rf"{_QUARTER}(?:{_OF_YEAR})?",
        rf"{DAY}(?:(?: of)? {MONTH})?(?:{_OF_YEAR})?",
        rf"{MONTH} (?:the )?{DAY}(?:{_OF_YEAR})?",
        rf"{MONTH}(?:{_OF_YEAR})?",
        rf"{_SEASON}(?:{_SEASON_OF_YEAR})?",
        YEAR,
    )
)
_BOTH: Final = ("between", "from", "since")
"""What says that two ends follow."""
_IDLE: Final = r"(?:(?:the|early|late|mid|(?:beginning|start|middle|end) of)[ -]){0,4}"
"""What is passed over before an end; bounded, for texts of nothing else."""
_START: Final = re.compile(
    rf"\b(?:(?P<lead>between|from|since|in|on|during|of|over|throughout) )?{_IDLE}(?=[\dadfjlmnoqstw])",
    flags=re.IGNORECASE,
)
_JOIN: Final = re.compile(
    rf"(?: (?P<word>and|to|until|till|through|up to) |(?P<dash> ?[-–—] ?)){_IDLE}", flags=re.IGNORECASE
)
_NOW: Final = re.compile(r"(?:right )?now\b|today\b(?!['’])|present(?: day)?\b(?! \w)", flags=re.IGNORECASE)
_NEXT: Final = re.compile(
    r" (?:an?|per|each) (?:hour|day|night|week|month|year)\b| ?([\w'’]+)| ?[€$£¥%°]|[.:/–-]\d",
    flags=re.IGNORECASE,
)
_ALSO_IDLE: Final = frozenset(("before", "after", "during", "last", "since", "until", "while", "without"))
_COUNTED: Final = frozenset(
    (
        "am", "calories", "dollar", "dollars", "euro", "euros", "franc", "francs", "kcal", "metres", "meters", "miles",
        "pm", "points", "pound", "pounds", "rupees", "steps", "volt", "volts", "watt", "watts", "yen",
    )
)  # fmt: skip
"""What is no name where it is written large after a number."""
_OF_A_YEAR: Final = tuple(
    re.compile(rf"\b{source}", flags=re.IGNORECASE)
    for source in (
        rf"{_SEASON}{_SEASON_OF_YEAR}",
        rf"{_QUARTER}{_OF_YEAR}",
        rf"{YEAR},? q(?P<quarter>[1-4])\b",
    )
)
_BEFORE_LAST: Final = re.compile(
    rf"\bthe (?P<unit>night|week|weekend|month|year|{'|'.join(SEASONS)}) before last\b(?! (?-i:[A-Z]\w))",
    flags=re.IGNORECASE,
)
_LED: Final = re.compile(
    r"(?:\b(?P<lead>in|during|of|since|before|after|until|till|by|over|throughout) )?"
    r"(?P<idle>(?:\b(?:the|early|late|mid|my|our|that|this|last|(?:beginning|start|middle|end) of)[ -]){0,4})$",
    flags=re.IGNORECASE,
)
"""What leads to a part of a year."""
_NAME: Final = re.compile(r"\w\W+([A-Z]\w*) $")
_NAMED_YEAR: Final = re.compile(
    rf"\b(?:(?:in|during|of) {YEAR}|(?P<before>the year before last)\b(?! (?!between|from|during|in)\w)"
    r"|(?P<which>last|previous|past|this|next) year\b"
    r"|(?P<ago>(?:\d\d?|an?|one|two|three|four|five|six|seven|eight|nine|ten) years? ago)\b|years?\b)",
    flags=re.IGNORECASE,
)
_YEARS_ON: Final = {"last": -1, "previous": -1, "past": -1, "this": 0, "next": 1}

_STEPS: Final = {
    "night": relativedelta(days=1),
    "week": relativedelta(weeks=1),
    "weekend": relativedelta(weeks=1),
    "month": relativedelta(months=1),
}


class _End(msgspec.Struct, frozen=True):
    """One end of a range as it is worded: what isn't said is None. `months`: how long it is where no day is named."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    months: int = 1

    @property
    def place(self) -> tuple[int, int]:
        """Where in a year it lies."""
        return self.month or 1, self.day or 1

    def since(self) -> datetime:
        """Return when it begins; raise ValueError for the 31st of February."""
        return datetime(self.year or 0, self.month or 1, self.day or 1, tzinfo=UTC)

    def until(self) -> datetime:
        """Return before when it ends."""
        return self.since() + (timedelta(days=1) if self.day else relativedelta(months=self.months))


class _Range(msgspec.Struct, frozen=True):
    """Two ends as they are worded; `last` is None for "now"."""

    lead: str
    first: _End
    join: str
    """ "and", "to" and the like, or a dash with what stands around it."""
    last: _End | None
    start: int
    stop: int

    @property
    def dash(self) -> bool:
        """Whether nothing but a dash joins its ends."""
        return self.join.strip() in ("-", "–", "—")

    @property
    def year(self) -> int | None:
        """A year that either end says."""
        return self.first.year if self.last is None else self.first.year or self.last.year

    @property
    def parts_of_years(self) -> bool:
        """Whether both ends are seasons or quarters."""
        return self.first.months == 3 and (self.last is None or self.last.months == 3)


def asked_time(text: str, now: datetime) -> Span | None:
    """Return the time that a question names: a range, a part of a year, else what `span` reads. Never raises."""
    try:
        now = now.astimezone(UTC)
    except OverflowError:  # at the ends of the calendar
        now = now.replace(tzinfo=UTC)
    for read in (_ranges, _parts, _before_last):
        found = next(read(text, now), None)
        if found is not None:
            return found
    return span(text, now)


def _ranges(text: str, now: datetime) -> Iterator[Span]:
    """Yield the ranges that a text names: the whole of both ends, and all between."""
    year, beside, done = _named_year(text, now), _Beside(text, now), 0
    for start in _START.finditer(text):
        if start.start() < done:  # within an end that was read
            continue
        found, done = _range_at(text, start)
        if found is None or not _means_time(found) or _is_topic(found, beside):
            continue
        read = _spanned(found, year, now)
        if read is not None:
            yield read


def _range_at(text: str, start: re.Match[str]) -> tuple[_Range | None, int]:
    """Return the range that is worded from this place on, and the place after its first end."""
    first, after = _end_at(text, start.end())
    join = _JOIN.match(text, after) if first is not None else None
    if first is None or join is None:
        return None, after
    present = _NOW.match(text, join.end())
    last, stop = (None, present.end()) if present is not None else _end_at(text, join.end())
    if present is None and (last is None or (last.month is None and not _stands_alone(text, stop))):
        return None, after
    if first.months == 3 and _is_verb(text, start):
        return None, after
    joined = (join["word"] or join["dash"]).lower()
    return _Range((start["lead"] or "").lower(), first, joined, last, start.start(), stop), after


def _is_verb(text: str, start: re.Match[str]) -> bool:
    """Whether a "fall" is rather something that is done: nothing leads to it."""
    return not start[0] and start.end() > 0 and text[start.end() : start.end() + 4] == "fall"


def _end_at(text: str, at: int) -> tuple[_End | None, int]:
    """Return the end that is worded from this place on, and the place after it."""
    match = next((found for form in _ENDS if (found := form.match(text, at)) is not None), None)
    return (None, at) if match is None else (_end(match), match.end())


def _end(match: re.Match[str]) -> _End:
    parts = match.groupdict()
    if parts.get("iso"):
        return _End(*map(int, parts["iso"].split("-")))
    year = int(parts["year"]) if parts.get("year") else None
    if parts.get("season"):
        return _End(year, SEASONS[parts["season"].lower()], months=3)
    if quarter := parts.get("quarter") or parts.get("nth"):
        return _End(year, 3 * _QUARTERS[quarter.lower()] - 2, months=3)
    named, number = month_of(parts.get("month")), parts.get("day")
    return _End(year, named, int(number) if number else None, months=1 if named or number else 12)


def _means_time(found: _Range) -> bool:
    """Whether two ends are a time: where no word before them and no year says so, they may be anything."""
    first, last, led = found.first, found.last, found.lead in _BOTH
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


def _is_dated(found: _Range, first: _End, last: _End) -> bool:
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


def _is_dashed(found: _Range, first: _End, last: _End) -> bool:
    """Whether it is "May 5-9", or "12-14 May" or "March-May" behind a word that says when."""
    if not found.dash or found.join[:1] == " " or (first.month or last.month) is None:
        return False
    return found.lead != "" or (first.month is not None and first.day is not None and last.day is not None)


class _Beside:
    """Where a text names times that `span` reads: told from now, by a weekday or an ISO date, and all."""

    def __init__(self, text: str, now: datetime) -> None:
        self._text, self._now = text, now

    @cached_property
    def _told(self) -> list[tuple[int, int]]:
        return list(places(self._text, self._now, calendar=False))

    @cached_property
    def _by_calendar(self) -> list[tuple[int, int]]:
        return list(places(self._text, self._now, calendar=True))

    def told(self, start: int, stop: int) -> bool:
        """Whether a time that is told from now, by a weekday or an ISO date stands outside of these places."""
        return _outside(self._told, start, stop)

    def any(self, start: int, stop: int) -> bool:
        """Whether any time stands outside of these places."""
        return self.told(start, stop) or _outside(self._by_calendar, start, stop)


def _is_topic(found: _Range, beside: _Beside) -> bool:
    """Whether another time says when, and this may be what was spoken of: "last week about the May–June 2023 trip"."""
    if found.lead in _BOTH or (found.lead and found.year is not None):
        return False
    if found.parts_of_years and beside.any(found.start, found.stop):
        return True
    return beside.told(found.start, found.stop)


def _spanned(found: _Range, named: int | None, now: datetime) -> Span | None:
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


def _until_now(first: _End, named: int | None, exact: bool, now: datetime) -> Span | None:
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


def _with_months(first: _End, last: _End) -> tuple[_End, _End] | None:
    """Give an end that is a mere day the month of the other; None where that makes no range."""
    if first.day and first.month is None:
        first = msgspec.structs.replace(first, month=last.month)
    elif last.day and last.month is None:
        last = msgspec.structs.replace(last, month=first.month)
    else:
        return first, last
    return (first, last) if first.month is not None and first.place < last.place else None


def _with_years(first: _End, last: _End) -> tuple[_End, _End]:
    """Give an end without a year that of the other: the last before it, or the next after it."""
    over = first.month is not None and last.month is not None and first.place > last.place
    if first.year is None:
        first = msgspec.structs.replace(first, year=(last.year or 0) - over)
    elif last.year is None:
        last = msgspec.structs.replace(last, year=first.year + over)
    return first, last


def _latest(first: _End, last: _End, now: datetime) -> int:
    """Return the year in which the latest such range that has begun ends."""
    return now.year - (first.place > (now.month, now.day)) + (first.place > last.place)


def _stands_alone(text: str, at: int) -> bool:
    """Whether what follows a number isn't what it counts ("between 1900 and 2000 calories")."""
    following = _NEXT.match(text, at)
    if following is None:
        return True
    word = following[1]
    if word is None or word.lower() in _COUNTED or (word.isupper() and word not in ("A", "I")):  # "EUR"
        return False
    return word[:1].isupper() or word.lower() in STOP or word.lower() in _ALSO_IDLE


def _parts(text: str, now: datetime) -> Iterator[Span]:
    """Yield the seasons and quarters of a named year, but none that may be the topic of another time."""
    beside = _Beside(text, now)
    for form in _OF_A_YEAR:
        for match in form.finditer(text):
            before = text[max(0, match.start() - 80) : match.start()]
            if beside.told(*match.span()) or not (
                _is_led(match, before) or (_may_stand_bare(match, before) and not beside.any(*match.span()))
            ):
                continue
            part = _end(match)
            yield directed(Span(part.since(), part.until()), before)


def _is_led(match: re.Match[str], before: str) -> bool:
    led = _LED.search(before)
    return led is not None and led["lead"] is not None


def _may_stand_bare(match: re.Match[str], before: str) -> bool:
    """Whether a part of a year is neither what is done ("prices fall 2022") nor a name ("the Audi Q3 2021")."""
    led, name = _LED.search(before), _NAME.search(before) if match[0][0].isupper() else None
    if match[0].startswith("fall") and before and (led is None or not led["idle"]):
        return False
    return name is None or name[1].lower() in STOP


def _outside(found: list[tuple[int, int]], start: int, stop: int) -> bool:
    return any(before <= start or after >= stop for after, before in found)


def _before_last(text: str, now: datetime) -> Iterator[Span]:
    """Yield "the week before last": what was last then."""
    for match in _BEFORE_LAST.finditer(text):
        unit = match["unit"].lower()
        last = span(f"last {unit}", now)
        if last is None or last.since is None or last.until is None or not _stands_alone(text, match.end()):
            continue
        step = _STEPS.get(unit, relativedelta(years=1))
        with suppress(ValueError, OverflowError):  # in the year 1 there is none
            yield directed(Span(last.since - step, last.until - step), text[: match.start()])
