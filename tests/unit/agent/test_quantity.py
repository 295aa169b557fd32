"""Quantities: how people write them, what may be put together, and what a sum of them comes to."""

from decimal import Decimal

import pytest

from braid.agent.errors import UnitError
from braid.agent.program.sums import MAX_CHARS, reckon
from braid.text.quantities import Quantity, quantities


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The sofa was £1,250 and the lamp 80 euros.", ["£1,250", "80 euros"]),
        ("We pay 615€ per month, 12 quid a week for the bins.", ["€615 a month", "12 quid a week"]),
        ("It costs $9.50 monthly, or 99 dollars an hour.", ["$9.50 a month", "99 dollars an hour"]),
        ("She ran 12 km, then forty minutes more.", ["12 km", "40 minutes"]),
        ("I make 31k, he two hundred a day.", ["31000", "200 a day"]),
        ("640 a month, all in.", ["640 a month"]),
        ("A dozen eggs and a 3-week holiday", ["12 eggs", "3 weeks"]),
        ("See you on 6 June at 8 a.m., or 7:30, Monday 4.", []),
        ("From 14 to 18 August, May 3, the 21st, 2024-11-05", []),
        ("Ticket AB-2034 and room 4B, one of them", []),
    ],
)  # fmt: skip
def test_what_people_write(text: str, found: list[str]) -> None:
    assert [str(one.quantity) for one in quantities(text)] == found


def test_it_stands_where_it_is_said_to() -> None:
    text = "Rent: £640 a month, deposit 900 pounds."
    assert [text[one.start : one.stop] for one in quantities(text)] == ["£640 a month", "900 pounds"]


@pytest.mark.parametrize(
    ("expression", "comes_to"),
    [
        ("£210 + 95 pounds", "£305"), ("80 euros - 5.5", "74.50 euros"), ("£640 a month * 12", "£7,680"),
        ("£640 a month * 2 years", "£15,360"), ("30 pounds a day * 2 weeks", "420 pounds"),
        ("3 * 15 dollars an hour", "45 dollars"), ("90 km / 3", "30 km"), ("90 km / 3 days", "30 km a day"),
        ("£90 / £30", "3"), ("1 year / 3 months", "4"), ("2 weeks + 3 days", "17 days"),
        ("average(£10, £25, £40)", "£25"), ("sum(340 pounds, 60 pounds)", "400 pounds"),
        ("most(2 hours, 90 minutes)", "2 hours"), ("least(4 miles, 3 miles)", "3 miles"), ("£10 / 3", "£3.33"),
        ("-(£5)", "£-5"), ("1 week * 1", "1 week"), ("0.1 + 0.2", "0.3"),
    ],
)  # fmt: skip
def test_sums_keep_their_units(expression: str, comes_to: str) -> None:
    assert str(reckon(expression)) == comes_to.replace("£-", "-£")


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("£10 + 4 euros", "two currencies, and nothing is converted"),
        ("3 km + 2 hours", "one counts km, the other hours"),
        ("2 months + 3 days", "one counts months, the other days"),
        ("£10 a month + £4", "paid once is not what is paid again"),
        ("£4 * £5", "is nothing that is counted"),
        ("£4 / 2 km", "is nothing that is counted"),
        ("£9 a week * 2 months", "isn't certain: say it as a number"),
        ("£9 ** 2", "only of numbers without a unit"),
        ("least(£3, 4 km)", "can't be put together"),
    ],
)
def test_units_that_do_not_mix_are_refused_with_the_reason(expression: str, why: str) -> None:
    with pytest.raises(UnitError) as caught:
        reckon(expression)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "my last day is Friday +",
        "£3 -",
        "open('x')",
        "_0 + 1",
        "average()",
        "£1 / 0",
        "sum",
        "2 ** 999",
        "(" * 300,
    ],
)
def test_what_is_no_sum_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match=r".+") as caught:
        reckon(expression)
    assert not isinstance(caught.value, UnitError)


def test_a_sum_is_bounded() -> None:
    with pytest.raises(ValueError, match="at most 400 characters"):
        reckon("1+" * MAX_CHARS + "1")
    assert Quantity(Decimal(1), "weeks").kind == Quantity(Decimal(5), "days").kind
