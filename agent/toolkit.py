"""The tools that come with Braid: sums, days, and a person who is asked. None of them changes anything."""

import ast
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from decimal import Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from typing import Final, Literal

import msgspec

from braid.agent.tool import Tool

MAX_CHARS: Final = 200
MAX_POWER: Final = 64
_DIGITS: Final = 30
_OPERATORS: Final[Mapping[type[ast.operator], Callable[[Decimal, Decimal], Decimal]]] = {
    ast.Add: Decimal.__add__, ast.Sub: Decimal.__sub__, ast.Mult: Decimal.__mul__,
    ast.Div: Decimal.__truediv__, ast.Mod: Decimal.__mod__, ast.Pow: Decimal.__pow__,
}  # fmt: skip


class Sum(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Numbers with + - * / % ** and brackets."""

    expression: str


class Total(msgspec.Struct, frozen=True):
    """What it comes to."""

    value: str


class Days(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two days (`until`), or one and a number of days behind it (`add`); ISO 8601."""

    day: date
    until: date | None = None
    add: int | None = None


class Day(msgspec.Struct, frozen=True):
    """Days between the two, or the day that is reached, with its name."""

    days: int
    day: date
    weekday: Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person is asked."""

    question: str


class Said(msgspec.Struct, frozen=True):
    """What the person says."""

    text: str


def calculate(asked: Sum, key: str) -> Total:
    """Return what an expression comes to, exactly where decimals are; raise ValueError for what is none."""
    del key
    if len(asked.expression) > MAX_CHARS:
        raise ValueError(f"an expression has at most {MAX_CHARS} characters")
    bare = asked.expression.replace(",", "").translate({ord(sign): None for sign in "£$€"})
    try:
        tree = ast.parse(bare.strip(), mode="eval")
        with localcontext(prec=_DIGITS):
            value = _value(tree.body).normalize()
    except (SyntaxError, RecursionError, InvalidOperation, DivisionByZero, Overflow, MemoryError) as error:
        raise ValueError(f"{asked.expression[:60]!r} is no sum: {type(error).__name__}") from None
    if not value.is_finite() or abs(value.adjusted()) > MAX_POWER:
        raise ValueError(f"{asked.expression[:60]!r} comes to a number of more than {MAX_POWER} digits")
    return Total(f"{value:f}")


def _value(node: ast.expr) -> Decimal:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return Decimal(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return -_value(node.operand) if isinstance(node.op, ast.USub) else _value(node.operand)
    if isinstance(node, ast.BinOp) and (act := _OPERATORS.get(type(node.op))) is not None:
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Pow) and abs(right) > MAX_POWER:
            raise ValueError(f"a power is at most {MAX_POWER}")
        return act(left, right)
    raise ValueError("a sum has numbers, + - * / % ** and brackets, and nothing else")


def count_days(asked: Days, key: str) -> Day:
    """Return the days between two days, or the day that so many behind one is."""
    del key
    if (asked.until is None) == (asked.add is None):
        raise ValueError("give `until`, or `add`; one of both")
    if asked.until is not None:
        return _day((asked.until - asked.day).days, asked.until)
    reached = asked.day + timedelta(days=asked.add or 0)
    return _day(asked.add or 0, reached)


def _day(days: int, reached: date) -> Day:
    names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return Day(days, reached, names[reached.weekday()])  # type: ignore[arg-type]


TOOLS: Final = (
    Tool(
        name="calculator", about="Sums: numbers, + - * / % ** and brackets.",
        args=Sum, result=Total, call=calculate, repeatable=True,
    ),
    Tool(
        name="calendar", about="Days between two days, or the day so many behind one.",
        args=Days, result=Day, call=count_days, repeatable=True,
    ),
    Tool(
        name="person", about="Asks a person; the program waits for what they say.",
        args=Question, result=Said, permission="ask", asks="person",
    ),
)  # fmt: skip
