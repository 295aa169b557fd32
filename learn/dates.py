"""When a claim holds: from when and before when, by the times that words name. Pure, UTC.

Times are read by `text/dates.py`; here is how states are bounded: "since", "from", "until", "for two years".
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from braid.text import dates, numbers
from braid.text.calendar import MONTH_NAME, WEEKDAY_NAME, Span, floor, step

_BOUND: Final = re.compile(
    r"\b(?P<word>since|from|starting(?: from| on)?|as of|until|till|effective)\s+(?P<what>[^,.;!?]{2,40})",
    flags=re.IGNORECASE,
)
_MOVED: Final = re.compile(
    r"\b(?:mov|chang|push|shift|postpon|reschedul|rebook|brought|bring|put|slip|switch|swapp|bump|delay)[a-z]*\b"
    rf"[^,.;!?]{{0,24}}\bfrom (?:the )?(?:\d|{WEEKDAY_NAME}\b|{MONTH_NAME}\b)[^,.;!?]{{0,40}}?\b(?:to|until|till)\b",
    re.IGNORECASE,
)
_NEXT_DAY: Final = re.compile(rf"\bnext {WEEKDAY_NAME}\b", re.IGNORECASE)
_UP_TO: Final = re.compile(r"\s(?:to|until|till|through)\s+(?P<last>.+)|\s[-–—]\s(?P<end>.+)", re.IGNORECASE)
_TO_ITS_END: Final = re.compile(
    r"\b(?:end|late|through|including|mid|middle|summer|winter|spring|autumn|fall)\b", re.IGNORECASE
)
_END_OF: Final = re.compile(r"^(?:the )?(?:very )?end of (?=\w)", re.IGNORECASE)
_LEADS: Final = re.compile(
    r"(?:(?:the|start|beginning|end|middle|of|on|in|at|about|around|roughly|early|late|mid|next|last|this|very|morning"
    r"|evening|week|month|day|some|time|now|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|\d{1,2}(?:st|nd|rd|th)?)\W+)*",
    re.IGNORECASE,
)
"""What may stand between "from" and its date."""
_JUST: Final = timedelta(days=45)
_FAR: Final = timedelta(days=200)
"""From 2 June, said on the 12th: this June."""
_LONG: Final = timedelta(days=6)
_LASTED: Final = re.compile(rf"\bfor (?P<n>{numbers.COUNT}) (?P<unit>day|week|month|year)s?(?: now)?\b")


class Validity(NamedTuple):
    """From `since` to before `until`; None is open or unknown."""

    since: datetime | None = None
    until: datetime | None = None


NEVER: Final = Validity()
LEAP: Final = datetime(2024, 1, 1, tzinfo=UTC)
"""A year that has every day that a birthday may have."""


def day(text: str, when: datetime, *, forward: bool | None = None) -> Validity:
    """Return the first calendar day that a text names. Without a year: the nearest, `forward` or back."""
    return _held(dates.day(text, when, "near" if forward is None else "ahead" if forward else "past"))


def ahead(text: str, when: datetime) -> Validity:
    """Return the time to come that a text names: a date, tomorrow, next week, on Friday, in June."""
    return _held(dates.ahead(text, when))


def is_ahead(text: str, when: datetime) -> bool:
    """Whether a text names a time to come, be it none that is certain: next Friday, said on a Monday."""
    return ahead(text, when) != NEVER or _NEXT_DAY.search(text) is not None


def past(text: str, when: datetime) -> Validity:
    """Return the past time that a text names: yesterday, last week, on Saturday, in March."""
    return _held(dates.day(text, when, "past") or dates.span(text, when))


def is_moved(text: str) -> bool:
    """Whether a text tells of something that was moved from one time to another: it began on neither."""
    return _MOVED.search(text) is not None


def bounds(text: str, when: datetime, *, lasted: bool = True) -> Validity:
    """Return from when, and before when, a state holds by "since", "from", "starting", "until".

    `lasted`: "for a week" is how long it has been so, not how long it will be.
    """
    since: datetime | None = None
    until: datetime | None = None
    for match in _BOUND.finditer(text):
        word, what = match["word"].lower(), match["what"]
        if word in ("until", "till"):
            until = until or _until(what, when)
        elif word == "since":
            since = since or _since(what, when)
        elif word != "from":
            since = since or ahead(what, when).since
        elif since is None and not is_moved(text):
            since = _starts(what, when)
            until = until or (_ends(what, since) if since is not None else None)
    found = _LASTED.search(text) if since is None and lasted else None
    if found is not None:
        since = floor(when.astimezone(UTC), "day") - step(found["unit"], numbers.value(found["n"]) or 1)
    return Validity(since, until)


def _until(what: str, when: datetime) -> datetime | None:
    """Return before when it holds until something: a month or a year ends it where it begins, a day where it ends."""
    last = _END_OF.sub("", what)
    ends = ahead(f"until {last}", when).until
    if last != what:
        return ends
    begins = ahead(what, when).since or ahead(f"in {what}", when).since
    if ends is None or begins is None or begins <= when or _TO_ITS_END.search(what):
        return ends
    return begins if ends - begins > _LONG else ends


def _starts(what: str, when: datetime) -> datetime | None:
    """Return from when it holds, where a time stands right behind the word: from 3 July; not: from ops, on 3 July."""
    found = sorted(
        start for calendar in (True, False) for start, _ in dates.places(what, when, calendar=calendar)
    )
    if found and _LEADS.fullmatch(what, 0, found[0]) is None:
        return None
    starts, begun = ahead(what, when).since, day(what, when, forward=False).since
    if starts is None or begun is None or starts - when < _FAR or when - begun > _JUST:
        return starts
    return begun


def _ends(what: str, since: datetime) -> datetime | None:
    """Return before when what lasts from one day to another is over: from 28 December to 2 January."""
    first = _UP_TO.search(what)
    if first is None or day(what[: first.start()], since, forward=True).since is None:
        return None
    return day(first["last"] or first["end"], since, forward=True).until


def _since(what: str, when: datetime) -> datetime | None:
    exact = day(what, when, forward=False)
    return exact.since or _held(dates.span(f"since {what}", when)).since


def _held(found: Span | None) -> Validity:
    return NEVER if found is None else Validity(found.since, found.until)
