"""When a question speaks of, read whole: "between March and May 2023", "Q2 2023", "the week before last". Pure.

What an end of a range leaves out, the other end says. Seasons are the meteorological ones of the north: spring is March
to May, and a winter begins in December of the year that it is named by. Only questions are read so: what a turn says is
read by `times.span` (`learn/`), and readings that are in logs already must come out as they did.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
from dateutil.relativedelta import relativedelta

from braid.recall.text import STOP
from braid.recall.times import DAY, MONTH, SEASONS, YEAR, Span, directed, month_of, span

_OF_YEAR: Final = rf",?(?: of| in)? {YEAR}"
_SEASON: Final = rf"(?P<season>{'|'.join(SEASONS)})\b"
_QUARTER: Final = r"(?:q(?P<quarter>[1-4])|(?P<nth>first|second|third|fourth|last|1st|2nd|3rd|4th) quarter)\b"
_QUARTERS: Final = {
    "1": 1, "2": 2, "3": 3, "4": 4, "first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4,
    "1st": 1, "2nd": 2, "3rd": 3, "4th": 4,
}  # fmt: skip
_WINTERS: Final = r"(?:[/–-](?:20)?\d\d\b)?"
"""The second year of "winter 2022/23"."""
_ENDS: Final = tuple(
    re.compile(source, flags=re.IGNORECASE)
    for source in (
        r"(?P<iso>\d{4}-\d\d-\d\d)\b",
        rf"{_QUARTER}(?:{_OF_YEAR})?",
        rf"{DAY}(?:(?: of)? {MONTH})?(?:{_OF_YEAR})?",
        rf"{MONTH} (?:the )?{DAY}(?:{_OF_YEAR})?",
        rf"{MONTH}(?:{_OF_YEAR})?",
        rf"{_SEASON}(?:{_OF_YEAR}{_WINTERS})?",
        YEAR,
    )
)
_BOTH: Final = ("between", "from", "since")
"""What says that two ends follow."""
_IDLE: Final = r"(?:(?:the|early|late|mid|(?:beginning|start|middle|end) of)[ -])*"
_START: Final = re.compile(
    rf"\b(?:(?P<lead>between|from|since|in|during|of|over|throughout) )?{_IDLE}(?=[\dadfjlmnoqstw])",
    flags=re.IGNORECASE,
)
_JOIN: Final = re.compile(
    rf"(?: (?P<word>and|to|until|till|through|thru|up to) | ?[-–—] ?){_IDLE}", flags=re.IGNORECASE
)
_NEXT: Final = re.compile(r" ?([\w'’]+)|[.:/–-]\d")
_ALSO_IDLE: Final = frozenset(("before", "after", "during", "since", "until", "while", "without"))
_OF_A_YEAR: Final = tuple(
    re.compile(rf"\b{source}", flags=re.IGNORECASE)
    for source in (
        rf"{_SEASON}{_OF_YEAR}{_WINTERS}",
        rf"{_QUARTER}{_OF_YEAR}",
        rf"{YEAR},? q(?P<quarter>[1-4])\b",
    )
)
_BEFORE_LAST: Final = re.compile(
    rf"\bthe (?P<unit>night|week|weekend|month|year|{'|'.join(SEASONS)}) before last\b(?! (?-i:[A-Z]\w))",
    flags=re.IGNORECASE,
)
_NAMED_YEAR: Final = re.compile(rf"\b(?:in|during|of) {YEAR}", flags=re.IGNORECASE)

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


def asked_time(text: str, now: datetime) -> Span | None:
    """Return the time that a question names: a range, a part of a year, else what `span` reads. Never raises."""
    for read in (_ranges, _parts, _before_last):
        found = next(read(text, now.astimezone(UTC)), None)
        if found is not None:
            return found
    return span(text, now)


def _ranges(text: str, now: datetime) -> Iterator[Span]:
    """Yield the ranges that a text names: the whole of both ends, and all between."""
    for start in _START.finditer(text):
        lead = (start["lead"] or "").lower()
        first, after = _end_at(text, start.end())
        join = _JOIN.match(text, after) if first is not None else None
        if first is None or join is None or ((join["word"] or "").lower() == "and" and lead != "between"):
            continue
        last, stop = _end_at(text, join.end())
        if last is None or (last.month is None and not _stands_alone(text, stop)):
            continue
        if _means_time(first, last, lead):
            found = _spanned(first, last, _NAMED_YEAR.search(text), now)
            if found is not None:
                yield found


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


def _means_time(first: _End, last: _End, lead: str) -> bool:
    """Whether two ends are a time: where no word before them and no year says so, they may be anything."""
    if first.year is None and last.year is None:  # "from spring to autumn" is a manner of speaking
        return lead in _BOTH and first.months == last.months == 1
    if first.year is None and last.month is None and last.day is None:  # "from May to 2023"
        return False
    if lead in _BOTH:
        return True
    return last.year is not None and (lead != "" or first.month is not None or first.day is not None)


def _spanned(first: _End, last: _End, named: re.Match[str] | None, now: datetime) -> Span | None:
    """Return the span of two ends. Where neither says a year, it is the one `named` beside them, else the latest."""
    both = _with_months(first, last)
    if both is None:
        return None
    first, last = both
    exact = named is not None or first.year is not None or last.year is not None
    if first.year is None and last.year is None:
        last = msgspec.structs.replace(last, year=int(named["year"]) if named else _latest(first, last, now))
    first, last = _with_years(first, last)
    try:
        return Span(min(first.since(), last.since()), max(first.until(), last.until()), exact)
    except (ValueError, OverflowError):  # 31 February: no time is meant that there could be
        return None


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
    return word is not None and (word[:1].isupper() or word.lower() in STOP or word.lower() in _ALSO_IDLE)


def _parts(text: str, now: datetime) -> Iterator[Span]:
    """Yield the seasons and quarters of a named year."""
    del now
    for form in _OF_A_YEAR:
        for match in form.finditer(text):
            part = _end(match)
            yield directed(Span(part.since(), part.until()), text[: match.start()])


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
