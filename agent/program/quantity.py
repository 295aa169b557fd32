"""Quantities put together: sums, products, quotients. Pure.

Money of two currencies, and things of two kinds, are never put together: nothing here converts but times into times of
which it is beyond doubt how many make one (days in a week, months in a year; not days in a month).
"""

from decimal import Decimal

from braid.agent.errors import UnitError
from braid.text.quantities import TIMES, Quantity


def add(one: Quantity, other: Quantity, sign: int = 1) -> Quantity:
    """Return the sum, or with `sign` -1 the difference; raise UnitError for things of two kinds.

    A number that says not what it counts counts the same as the other: £1,260 - 24.14.
    """
    if one.per != other.per and (one.unit or one.per) and (other.unit or other.per):
        raise UnitError(
            f"{one} and {other} can't be put together: what is paid once is not what is paid again"
        )
    if not (one.unit and other.unit):
        named = one if one.unit or one.per else other
        return Quantity(one.value + sign * other.value, named.unit, named.per)
    if one.kind != other.kind:
        raise UnitError(f"{one} and {other} can't be put together: {_two(one, other)}")
    value, unit = _alike(one, other)
    return Quantity(one.value * value[0] + sign * other.value * value[1], unit, one.per)


def times(one: Quantity, other: Quantity) -> Quantity:
    """Return the product: of a quantity and a number, or of what is paid for each period and so many of them.

    A number alone counts periods: "45 pounds a month" times 12 is 540 pounds. Raises UnitError for anything else.
    """
    if other.per and not one.per:
        one, other = other, one
    if one.per and not other.per:
        if not other.unit:
            return Quantity(one.value * other.value, one.unit)
        return Quantity(one.value * other.value * _in(other, one.per), one.unit)
    if one.unit and other.unit:
        raise UnitError(f"{one} times {other} is nothing that is counted")
    named = one if one.unit or one.per else other
    return Quantity(one.value * other.value, named.unit, named.per)


def over(one: Quantity, other: Quantity) -> Quantity:
    """Return the quotient: of a quantity and a number, of two of a kind, or so much for each of a time."""
    if not (other.unit or other.per):
        return Quantity(one.value / other.value, one.unit, one.per)
    if one.unit and one.kind == other.kind and one.per == other.per:
        value, _ = _alike(one, other)
        return Quantity(one.value * value[0] / (other.value * value[1]))
    period = other.unit.lower().removesuffix("s")
    if one.unit and not one.per and not other.per and period in TIMES:
        return Quantity(one.value / other.value, one.unit, period)
    raise UnitError(f"{one} over {other} is nothing that is counted")


def _alike(one: Quantity, other: Quantity) -> tuple[tuple[int, int], str]:
    """Return what each of two of a kind is to be multiplied by, and the unit of both then: the smaller time."""
    first, second = (each.unit.lower().removesuffix("s") for each in (one, other))
    if first not in TIMES or first == second:
        return (1, 1), one.unit
    smaller = min(TIMES[first][0], TIMES[second][0])
    unit = one.unit if TIMES[first][0] == smaller else other.unit
    return (TIMES[first][0] // smaller, TIMES[second][0] // smaller), unit


def _in(time: Quantity, period: str) -> Decimal:
    """Return how many periods one of a time has."""
    unit = time.unit.lower().removesuffix("s")
    if unit == period:
        return Decimal(1)
    if unit in TIMES and period in TIMES and TIMES[unit][1] == TIMES[period][1]:
        return Decimal(TIMES[unit][0]) / Decimal(TIMES[period][0])
    raise UnitError(f"how many times {period} goes into {time} isn't certain: say it as a number")


def _two(one: Quantity, other: Quantity) -> str:
    if one.is_money and other.is_money:
        return "they are of two currencies, and nothing is converted here"
    return f"one counts {one.unit}, the other {other.unit}"
