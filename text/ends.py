"""Ranges as they are worded: two ends, what leads to them and what joins them: "from 5 May to 9 June". Pure.

What an end leaves out is None here; what it means is for `text/ranges.py` to say.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
from dateutil.relativedelta import relativedelta

from braid.text.calendar import DAY, MONTH, SEASONS, YEAR, month_of
from braid.text.words import STOP

OF_YEAR: Final = rf",?(?: of| in)? {YEAR}"
SEASON: Final = rf"(?P<season>{'|'.join(SEASONS)})\b"
SEASON_OF_YEAR: Final = rf",?(?: of)? {YEAR}(?:[/–-](?:20)?\d\d\b)?"
"""Not "in": a summer, a fall and Autumn "in 2023" are something else. The second year is that of "winter 2022/23"."""
QUARTER: Final = r"(?:q(?P<quarter>[1-4])|(?P<nth>first|second|third|fourth|last|1st|2nd|3rd|4th) quarter)\b"
_QUARTERS: Final = {
    "1": 1, "2": 2, "3": 3, "4": 4, "first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4,
    "1st": 1, "2nd": 2, "3rd": 3, "4th": 4,
}  # fmt: skip
_ENDS: Final = tuple(
    re.compile(source, flags=re.IGNORECASE)
    for source in (
        r"(?P<iso>\d{4}-\d\d-\d\d)\b",
        rf"{YEAR},? q(?P<quarter>[1-4])\b",
        rf"{QUARTER}(?:{OF_YEAR})?",
        rf"{DAY}(?:(?: of)? {MONTH})?(?:{OF_YEAR})?",
        rf"{MONTH} (?:the )?{DAY}(?:{OF_YEAR})?",
        rf"{MONTH}(?:{OF_YEAR})?",
        rf"{SEASON}(?:{SEASON_OF_YEAR})?",
        YEAR,
    )
)
BOTH: Final = ("between", "from", "since")
"""What says that two ends follow."""
_IDLE: Final = r"(?:(?:the|early|late|mid|(?:beginning|start|middle|end) of)[ -]){0,4}"
"""What is passed over before an end; bounded, for texts of nothing else."""
START: Final = re.compile(
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


class End(msgspec.Struct, frozen=True):
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


class Range(msgspec.Struct, frozen=True):
    """Two ends as they are worded; `last` is None for "now"."""

    lead: str
    first: End
    join: str
    """ "and", "to" and the like, or a dash with what stands around it."""
    last: End | None
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


def range_at(text: str, start: re.Match[str]) -> tuple[Range | None, int]:
    """Return the range that is worded from this place on, and the place after its first end."""
    first, after = _end_at(text, start.end())
    join = _JOIN.match(text, after) if first is not None else None
    if first is None or join is None:
        return None, after
    present = _NOW.match(text, join.end())
    last, stop = (None, present.end()) if present is not None else _end_at(text, join.end())
    if present is None and (last is None or (last.month is None and not stands_alone(text, stop))):
        return None, after
    if first.months == 3 and _is_verb(text, start):
        return None, after
    joined = (join["word"] or join["dash"]).lower()
    return Range((start["lead"] or "").lower(), first, joined, last, start.start(), stop), after


def _is_verb(text: str, start: re.Match[str]) -> bool:
    """Whether a "fall" is rather something that is done: nothing leads to it."""
    return not start[0] and start.end() > 0 and text[start.end() : start.end() + 4] == "fall"


def _end_at(text: str, at: int) -> tuple[End | None, int]:
    """Return the end that is worded from this place on, and the place after it."""
    match = next((found for form in _ENDS if (found := form.match(text, at)) is not None), None)
    return (None, at) if match is None else (end_of(match), match.end())


def end_of(match: re.Match[str]) -> End:
    parts = match.groupdict()
    if parts.get("iso"):
        return End(*map(int, parts["iso"].split("-")))
    year = int(parts["year"]) if parts.get("year") else None
    if parts.get("season"):
        return End(year, SEASONS[parts["season"].lower()], months=3)
    if quarter := parts.get("quarter") or parts.get("nth"):
        return End(year, 3 * _QUARTERS[quarter.lower()] - 2, months=3)
    named, number = month_of(parts.get("month")), parts.get("day")
    return End(year, named, int(number) if number else None, months=1 if named or number else 12)


def stands_alone(text: str, at: int) -> bool:
    """Whether what follows a number isn't what it counts ("between 1900 and 2000 calories")."""
    following = _NEXT.match(text, at)
    if following is None:
        return True
    word = following[1]
    if word is None or word.lower() in _COUNTED or (word.isupper() and word not in ("A", "I")):  # "EUR"
        return False
    return word[:1].isupper() or word.lower() in STOP or word.lower() in _ALSO_IDLE
