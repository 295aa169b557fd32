"""The tools that come with Braid: sums with units, days, and a person who is asked. None of them changes anything."""

from datetime import date, timedelta
from typing import Final, Literal

import msgspec

from braid.agent.program.sums import reckon
from braid.agent.program.tool import Tool


class Sum(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Quantities with + - * / % ** and brackets between them; sum, average, least, most of several."""

    expression: str


class Total(msgspec.Struct, frozen=True):
    """What it comes to, with its unit."""

    value: str


class Days(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two days (`until`), or one and a number of days behind it (`add`); ISO 8601."""

    day: date
    until: date | None = None
    add: int | None = None


class Day(msgspec.Struct, frozen=True):
    """Days between the two, or the day that is reached, with its name. `text`: what was asked for."""

    text: str
    days: int
    day: date
    weekday: Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


class PersonQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person is asked."""

    question: str


class PersonReply(msgspec.Struct, frozen=True):
    """What the person says."""

    text: str


def calculate(asked: Sum, key: str) -> Total:
    """Return what an expression comes to; raise ValueError for what is none, or mixes units."""
    del key
    return Total(str(reckon(asked.expression)))


def count_days(asked: Days, key: str) -> Day:
    """Return the days between two days, or the day that so many behind one is."""
    del key
    if (asked.until is None) == (asked.add is None):
        raise ValueError("give `until`, or `add`; one of both")
    if asked.until is not None:
        days = (asked.until - asked.day).days
        return _day(f"{days} {'day' if abs(days) == 1 else 'days'}", days, asked.until)
    reached = asked.day + timedelta(days=asked.add or 0)
    return _day(f"{reached:%A %-d %B %Y}", asked.add or 0, reached)


def _day(text: str, days: int, reached: date) -> Day:
    names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return Day(text, days, reached, names[reached.weekday()])  # type: ignore[arg-type]


TOOLS: Final = (
    Tool(
        name="calculator", about="Sums of quantities with units: + - * / % **, brackets, sum, average, least, most.",
        args=Sum, result=Total, call=calculate, repeatable=True,
    ),
    Tool(
        name="calendar", about="Days between two days, or the day so many behind one.",
        args=Days, result=Day, call=count_days, repeatable=True,
    ),
    Tool(
        name="person", about="Asks a person; the program waits for what they say.",
        args=PersonQuestion, result=PersonReply, permission="ask", asks="person",
    ),
)  # fmt: skip
