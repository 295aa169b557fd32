"""Sums over quantities: + - * / % ** and brackets, sum, average, least, most; units are kept, never mixed. Pure."""

import ast
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from functools import reduce
from typing import Final

from braid.agent.errors import UnitError
from braid.agent.program.quantity import add, over, times
from braid.text.quantities import Quantity, terms

MAX_CHARS: Final = 400
MAX_POWER: Final = 64
_DIGITS: Final = 30
_SHOWN: Final = 60
_Reckons = Callable[[Quantity, Quantity], Quantity]


def reckon(expression: str) -> Quantity:
    """Return what an expression comes to, exactly where decimals are; raise ValueError, UnitError, for what is none."""
    if len(expression) > MAX_CHARS:
        raise ValueError(f"an expression has at most {MAX_CHARS} characters")
    shown = repr(expression[:_SHOWN])
    source, given = _named(expression)
    try:
        tree = ast.parse(source, mode="eval")
        with localcontext(prec=_DIGITS):
            found = _value(tree.body, given)
    except UnitError:
        raise
    except (SyntaxError, RecursionError, InvalidOperation, DivisionByZero, Overflow, MemoryError) as error:
        raise ValueError(f"{shown} is no sum: {type(error).__name__}") from None
    if not found.value.is_finite() or abs(found.value.adjusted()) > MAX_POWER:
        raise ValueError(f"{shown} comes to a number of more than {MAX_POWER} digits")
    return found


def _named(expression: str) -> tuple[str, list[Quantity]]:
    """Return an expression with a name of ours for each quantity, and these; no other word but a function's passes."""
    given: list[Quantity] = []
    parts: list[str] = []
    at = 0
    for term in terms(expression):
        parts += [_refuse_words(expression[at : term.start]), f" _{len(given)} "]
        given.append(term.quantity)
        at = term.stop
    parts.append(_refuse_words(expression[at:]))
    return "".join(parts).strip(), given


def _refuse_words(between: str) -> str:
    left = between.lower()
    for name in _FUNCTIONS:
        left = left.replace(name, "")
    if any(char not in "+-*/%(), \t" for char in left):
        raise ValueError(
            f"{between.strip()[:_SHOWN]!r}: a sum has quantities, + - * / % ** and brackets,"
            f" {', '.join(_FUNCTIONS)}, and nothing else"
        )
    return between.lower()


def _value(node: ast.expr, given: Sequence[Quantity]) -> Quantity:
    if isinstance(node, ast.Name) and node.id.startswith("_"):
        return given[int(node.id[1:])]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        inner = _value(node.operand, given)
        return Quantity(-inner.value, inner.unit, inner.per) if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp) and (act := _OPERATORS.get(type(node.op))) is not None:
        return act(_value(node.left, given), _value(node.right, given))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        function = _FUNCTIONS.get(node.func.id)
        if function is not None and node.args:
            return function([_value(one, given) for one in node.args])
    raise ValueError("a sum has quantities with + - * / % ** between them, and nothing else")


def _sum(some: Sequence[Quantity]) -> Quantity:
    return reduce(add, some)


def _average(some: Sequence[Quantity]) -> Quantity:
    return over(_sum(some), Quantity(Decimal(len(some))))


def _least(some: Sequence[Quantity]) -> Quantity:
    return min(some, key=lambda one: add(one, some[0], -1).value)


def _most(some: Sequence[Quantity]) -> Quantity:
    return max(some, key=lambda one: add(one, some[0], -1).value)


def _minus(one: Quantity, other: Quantity) -> Quantity:
    return add(one, other, -1)


def _bare(sign: str, act: Callable[[Decimal, Decimal], Decimal]) -> _Reckons:
    """Return an operation on numbers alone."""

    def of(one: Quantity, other: Quantity) -> Quantity:
        if one.unit or one.per or other.unit or other.per:
            raise UnitError(f"{one} {sign} {other}: only of numbers without a unit")
        if sign == "**" and abs(other.value) > MAX_POWER:
            raise ValueError(f"a power is at most {MAX_POWER}")
        return Quantity(act(one.value, other.value))

    return of


_OPERATORS: Final[Mapping[type[ast.operator], _Reckons]] = {
    ast.Add: add, ast.Sub: _minus, ast.Mult: times, ast.Div: over,
    ast.Mod: _bare("%", Decimal.__mod__), ast.Pow: _bare("**", Decimal.__pow__),
}  # fmt: skip
_FUNCTIONS: Final[Mapping[str, Callable[[Sequence[Quantity]], Quantity]]] = {
    "sum": _sum, "average": _average, "least": _least, "most": _most,
}  # fmt: skip
