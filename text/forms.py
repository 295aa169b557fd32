"""How times are worded: a table of regular expressions, the closest first; what each means is in `text/meanings.py`."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple

from braid.text import meanings, numbers
from braid.text.calendar import DAY, MONTH, MONTH_NAME, SEASONS, WEEKDAY_NAME, YEAR
from braid.text.meanings import NEAR, WHICH, Lean, Match, Meaning

Read = Callable[[Match, datetime, Lean], Meaning | None]


class Form(NamedTuple):
    """A wording, what it means, and the leans under which it is read."""

    pattern: re.Pattern[str]
    read: Read
    leans: tuple[Lean, ...]

    @property
    def calendar(self) -> bool:
        """Whether it names a time by the calendar, not from now, by a weekday or as an ISO date."""
        return self.read in (
            meanings.calendar_day, meanings.holiday, meanings.month_of_year, meanings.year, meanings.month,
        )  # fmt: skip


_FULL_YEAR: Final = r"(?P<year>1\d{3}|2[01]\d\d)\b"
_NO_COUNTED: Final = r"(?!\d+ [a-z]+s\b)"
"""Behind a comma, "1 December, 2000 words" is no year."""
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
    _form(r"\b(?P<year>\d{4})-(?P<number>\d\d)-(?P<day>\d\d)\b", meanings.iso_day),
    _form(rf"\b{DAY}(?: of)? {MONTH}(?:,(?: )?{_NO_COUNTED}| ){_FULL_YEAR}", meanings.calendar_day),
    _form(rf"\b{MONTH} (?:the )?{DAY}(?:,(?: )?{_NO_COUNTED}| ){_FULL_YEAR}", meanings.calendar_day),
    _form(rf"\b{MONTH},?(?: of)? {YEAR}", meanings.month_of_year),
)
_NO_COUNT: Final = (
    r"(?! (?:quarter|floor|time|place|grade|round|half|period|lap|edition|anniversary|birthday|attempt|chapter|row"
    r"|century|generation|year|week|season|inning|set|game|level|stage|draft|step|point|one)\b)"
)
"""What is counted by an ordinal: "the 4th quarter" is no day."""
_DAY_WORD: Final = rf"(?P<day>{'|'.join(sorted(meanings.DAY_WORDS, key=len, reverse=True))})\b"
_HOLIDAY: Final = "|".join(meanings.HOLIDAYS).replace("'", "['’]?")
BARE: Final = (
    _form(rf"\b{DAY}(?: of)? {MONTH}(?P<year>)", meanings.calendar_day),
    _form(rf"\b{MONTH} (?:the )?{DAY}{_NOT_A_NUMBER}(?P<year>)", meanings.calendar_day),
)
_IN_WORDS: Final = (
    _form(rf"\b{_DAY_WORD} of {MONTH}(?:,? {_FULL_YEAR})?", meanings.calendar_day),
    _form(rf"\b{MONTH} the {_DAY_WORD}(?:,? {_FULL_YEAR})?", meanings.calendar_day),
    _form(rf"\b(?P<holiday>{_HOLIDAY})\b(?:,? {_FULL_YEAR})?", meanings.holiday),
)
_NO_MONTH: Final = rf"(?!,? (?:of )?{MONTH_NAME}\b)"
_WEEKDAY_THE: Final = (
    _form(
        rf"\b(?:on )?(?P<weekday>{WEEKDAY_NAME}),? the {DAY}{_NO_MONTH}{_NO_COUNT}", meanings.weekday_of_month
    ),
    _form(
        rf"\b(?:on )?(?P<weekday>{WEEKDAY_NAME}),? (?P<day>[0-3]?\d)(?:st|nd|rd|th)\b{_NO_MONTH}{_NO_COUNT}",
        meanings.weekday_of_month,
    ),
)
DAYS: Final = (
    *DATED[:3],
    *BARE,
    *_IN_WORDS,
    *_WEEKDAY_THE,
    _form(rf"\bthe (?P<day>[0-3]?\d)(?:st|nd|rd|th)\b{_NO_COUNT}", meanings.day_of_month),
    _form(
        rf"\b{WEEKDAY_NAME},? the {_DAY_WORD}",
        meanings.day_of_month,
    ),
)
_NO_DATE: Final = (
    rf"(?!,? (?:the )?[0-3]?\d(?:st|nd|rd|th)?(?: of)? {MONTH_NAME}\b|,? {MONTH_NAME} (?:the )?[0-3]?\d\b"
    rf"|,? the {DAY.replace('?P<day>', '?:')}{_NO_COUNT}|,? [0-3]?\d(?:st|nd|rd|th)\b{_NO_COUNT})"
)
"""Behind a weekday: of "Tuesday 10 November" and "Tuesday the 10th" the date says which."""
FORMS: Final = (
    *DATED,
    _form(rf"\b{_COUNT} {_UNIT} ago\b", meanings.ago, "past", "near"),
    _form(
        rf"\b(?:last|past|previous) {_COUNT} (?P<unit>hours|days|weeks|months|years)\b",
        meanings.within,
        "past",
        "near",
    ),
    _form(
        rf"\b(?P<which>{'|'.join(WHICH)}) (?P<unit>hour|day|weekend|week|month|year|{'|'.join(SEASONS)})\b",
        meanings.period,
    ),
    _form(rf"\b(?:{'|'.join(sorted(NEAR, key=len, reverse=True))})\b", meanings.near_day),
    *BARE,
    *_IN_WORDS,
    *_WEEKDAY_THE,
    _form(
        rf"\b(?:(?P<which>last|on|past|previous|this|next|coming) )?(?P<weekday>{WEEKDAY_NAME})\b{_NO_DATE}",
        meanings.weekday,
    ),
    _form(
        rf"\b(?P<which>last|on|past|previous) (?P<weekday>mon|tues?|wed|thurs?|fri|{_SAT}|{_SUN})\b",
        meanings.weekday,
        "past",
    ),
    _form(
        rf"\b(?P<lead>in|during|of|since|until|before|after|by|for|last|early|late|mid) {YEAR}", meanings.year
    ),
    _form(
        rf"\b(?P<lead>in|during|of|since|until|before|after|by|early|late|mid|last|next|this) {MONTH}",
        meanings.month,
        "past",
        "ahead",
    ),
    _form(
        rf"\bin {_COUNT} (?P<unit>(?:day|week|fortnight|month|year)s?)\b(?:['’]s? time\b)?",
        meanings.to_come,
        "near",
        "ahead",
    ),
)
