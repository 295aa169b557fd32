"""The one reader of times: what words name, relative to a given now: "in May 2023", "two weeks ago", "next Friday".

The forms are those of `text/forms.py`. Where words name no year, `lean` says where to look: in the past (a question, a
tale), ahead (a plan), or near (whatever lies nearest). Ranges are read by `text/ranges.py`. Pure, UTC; a text takes
time in proportion to its length.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from braid.text.calendar import TIME_WORDS, Span, month_of
from braid.text.forms import BARE, DATED, DAYS, FORMS, Form
from braid.text.meanings import HOLIDAYS, Lean
from braid.text.phrases import Day, Phrase, phrases

_TIMELY: Final = TIME_WORDS | {"fortnight", "fortnights", "weekends", "hallowe", *" ".join(HOLIDAYS).split()}
_WORDS: Final = re.compile(r"[a-z]+")


class Time(msgspec.Struct, frozen=True):
    """A time, and where in a text it is named; `iso` is its day, month or year, empty where it is none that closely."""

    span: Span
    start: int
    stop: int
    iso: str = ""
    lead: str = ""
    calendar: bool = False
    """Whether it is named by the calendar ("in May 2023"), not from now, by a weekday or as an ISO date."""


class Partial(NamedTuple):
    """As much of a date as was said; None for what was not."""

    year: int | None
    month: int
    day: int | None


def times(text: str, now: datetime, lean: Lean = "past") -> Iterator[Time]:
    """Yield the times that a text names, by their forms, the closest form first; they may overlap. Never raises."""
    yield from _read(text, now, lean, (form for form in FORMS if lean in form.leans))


def places(text: str, now: datetime, *, calendar: bool) -> Iterator[tuple[int, int]]:
    """Yield where a text names times by the calendar ("in May 2023"), or else from now, by weekday or ISO date."""
    yield from ((one.start, one.stop) for one in times(text, now) if one.calendar == calendar)


def span(text: str, now: datetime) -> Span | None:
    """Return the first span of time that a text names, None if it names none. Never raises."""
    for found in times(text, now):
        lead = f"{found.lead} " if found.lead else text[max(0, found.start - 80) : found.start]
        return directed(found.span, lead)
    return None


def ahead(text: str, now: datetime) -> Span | None:
    """Return the time to come that a text names: a date, else the first of tomorrow, next week, on Friday, in June."""
    exact = day(text, now, "ahead")
    if exact is not None:
        return exact
    first = min(times(text, now, "ahead"), key=lambda one: (one.start, -one.stop), default=None)
    return None if first is None else first.span


def day(text: str, now: datetime, lean: Lean = "near") -> Span | None:
    """Return the first calendar day that a text names, also without its month: "the 3rd"."""
    return next((found.span for found in _read(text, now, lean, DAYS)), None)


def iso_dates(text: str, said: date) -> list[str]:
    """Return what a text names, in its order, each once: `2025-05-17`, `2025-05` or `2025`.

    A day without a year is the nearest one. What can't be placed to a year is left alone.
    """
    taken = bytearray(len(text))
    found: list[tuple[int, str]] = []
    for one in times(text, datetime.combine(said, time(12), UTC), "near"):
        if taken.find(1, one.start, one.stop) < 0:
            taken[one.start : one.stop] = b"\x01" * (one.stop - one.start)
            found.append((one.start, one.iso))
    return list(dict.fromkeys(iso for _, iso in sorted(found) if iso))


@lru_cache(maxsize=20_000)
def partial(text: str) -> Partial | None:
    """Return the first calendar date that a text gives, as far as it gives it; None for none that there could be."""
    for form in (*DATED[:3], *BARE, DATED[3]):
        if match := form.pattern.search(text):
            parts = match.groupdict()
            month = int(parts["number"]) if parts.get("number") else month_of(parts["month"])
            year, number = parts.get("year"), parts.get("day")
            if month is not None and 1 <= month <= 12 and 0 < int(number or 1) < 32:
                return Partial(int(year) if year else None, month, int(number) if number else None)
    return None


def directed(found: Span, before: str) -> Span:
    """Return what "since", "after", "before" and "until" make of a span that follows them."""
    word = re.search(r"\b(since|after|before|until|till|by)\s+(?:the\s+)?$", before, flags=re.IGNORECASE)
    if word is None:
        return found
    if word[1].lower() in ("since", "after"):
        return Span(found.since if word[1].lower() == "since" else found.until, None)
    return Span(None, found.since if word[1].lower() == "before" else found.until)


def _read(text: str, now: datetime, lean: Lean, forms: Iterable[Form]) -> Iterator[Time]:
    """Yield what forms read outside of phrases of several words, then the phrases that name a day."""
    if not _may_name_time(text):
        return
    now = now.astimezone(UTC)
    found = list(phrases(text, now, lean, lambda: _days(text, now, lean)))
    taken = _taken(text, found)
    for one in _formed(text, now, lean, forms):
        if taken.find(1, one.start, one.stop) < 0:
            yield one
    for phrase in found:
        if phrase.at is not None:
            with suppress(OverflowError):  # on the last day of the calendar
                day = Span(phrase.at, phrase.at + timedelta(days=1))
                yield Time(day, phrase.start, phrase.stop, phrase.at.date().isoformat())


def _may_name_time(text: str) -> bool:
    """Whether a text has a digit or a word that every form and phrase needs: most sentences have neither."""
    low = text.casefold()
    return not _TIMELY.isdisjoint(_WORDS.findall(low)) or any(map(str.isdigit, low))


def _taken(text: str, found: Iterable[Phrase]) -> bytearray:
    taken = bytearray(len(text))
    for one in found:
        taken[one.start : one.stop] = b"\x01" * (one.stop - one.start)
    return taken


def _days(text: str, now: datetime, lean: Lean) -> list[Day]:
    """Return the days that forms alone read, none twice, in their order."""
    taken = bytearray(len(text))
    found: list[Day] = []
    forms = (*DAYS, *(form for form in FORMS if lean in form.leans))
    for one in _formed(text, now, lean, forms):
        since, until = one.span.since, one.span.until
        if taken.find(1, one.start, one.stop) < 0 and since and until and until - since == timedelta(days=1):
            taken[one.start : one.stop] = b"\x01" * (one.stop - one.start)
            found.append(Day(one.start, one.stop, since))
    return sorted(found)


def _formed(text: str, now: datetime, lean: Lean, forms: Iterable[Form]) -> Iterator[Time]:
    for form in forms:
        for match in form.pattern.finditer(text):
            with suppress(ValueError, OverflowError):  # 31 February, the year 0: no time that there could be
                found = form.read(match, now, lean)
                if found is not None:
                    lead = match.groupdict().get("lead") or ""
                    yield Time(found[0], match.start(), match.end(), found[1], lead, form.calendar)
