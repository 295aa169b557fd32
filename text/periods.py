"""Parts of a year that a question names: "Q2 2023", "the spring of 2022", "the week before last". Pure.

Such words may be the topic and not the time: where another time stands beside them, that one says when.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from typing import Final

from dateutil.relativedelta import relativedelta

from braid.text.calendar import SEASONS, YEAR, Span, step
from braid.text.dates import directed, places, span
from braid.text.ends import OF_YEAR, QUARTER, SEASON, SEASON_OF_YEAR, end_of, stands_alone
from braid.text.words import STOP

_OF_A_YEAR: Final = tuple(
    re.compile(rf"\b{source}", flags=re.IGNORECASE)
    for source in (
        rf"{SEASON}{SEASON_OF_YEAR}",
        rf"{QUARTER}{OF_YEAR}",
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


class Beside:
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


def _outside(found: list[tuple[int, int]], start: int, stop: int) -> bool:
    return any(before <= start or after >= stop for after, before in found)


def parts(text: str, now: datetime) -> Iterator[Span]:
    """Yield the seasons and quarters of a named year, but none that may be the topic of another time."""
    beside = Beside(text, now)
    for form in _OF_A_YEAR:
        for match in form.finditer(text):
            before = text[max(0, match.start() - 80) : match.start()]
            if beside.told(*match.span()) or not (
                _is_led(match, before) or (_may_stand_bare(match, before) and not beside.any(*match.span()))
            ):
                continue
            part = end_of(match)
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


def before_last(text: str, now: datetime) -> Iterator[Span]:
    """Yield "the week before last": what was last then."""
    for match in _BEFORE_LAST.finditer(text):
        unit = match["unit"].lower()
        last = span(f"last {unit}", now)
        if last is None or last.since is None or last.until is None or not stands_alone(text, match.end()):
            continue
        back = relativedelta(years=1) if unit in SEASONS else step(unit.replace("night", "day"), 1)
        with suppress(ValueError, OverflowError):  # in the year 1 there is none
            yield directed(Span(last.since - back, last.until - back), text[: match.start()])
