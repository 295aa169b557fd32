"""Number words and what they are worth; quantities with a number in words."""

from decimal import Decimal

import pytest

from braid.text import numbers
from braid.text.quantities import quantities, sole


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("zero", 0), ("a", 1), ("twelve", 12), ("Twenty-Two", 22), ("ninety nine", 99), ("a dozen", 12),
        ("hundred", 100),         ("two hundred", 200),
        ("two hundred and five", 205), ("three thousand two hundred", 3200), ("two dozen", 24),
        ("a couple of", 2), ("a few", 3), ("1,180", 1180), ("007", 7),
        ("", None), ("ten one", None), ("five twenty", None), ("one one", None), ("and five", None), ("some", None),
        ("²", None), ("1.5", None),
    ],
)  # fmt: skip
def test_what_words_are_worth(text: str, value: int | None) -> None:
    assert numbers.value(text) == value


@pytest.mark.parametrize("number", range(100))
def test_every_number_below_a_hundred_is_read_again(number: int) -> None:
    words = numbers.ONES[number] if number < 20 else numbers.TENS[number // 10 - 2]
    if number > 20 and number % 10:
        words = f"{words}-{numbers.ONES[number % 10]}"
    assert numbers.value(words) == number
    assert list(numbers.spoken(f"She has {words}, he none.")) == [number]


def test_what_a_text_says_in_words() -> None:
    assert list(numbers.spoken("Twenty-two cows, two hundred hens and a dozen ducks; 7 don't count.")) == [
        22,
        200,
        12,
    ]
    assert list(numbers.spoken("Someone weighed often.")) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("She paid twenty-two pounds.", ["22 pounds"]),
        ("Two hundred people, two thousand five hundred birds", ["200 people", "2,500 birds"]),
        ("a dozen eggs, three hundred", ["12 eggs", "300"]),
        ("One of them, on the twenty of May", []),
        ("See you on 6 Sept. at 8 a.m.", []),
    ],
)
def test_quantities_in_words(text: str, found: list[str]) -> None:
    assert [str(one.quantity) for one in quantities(text)] == found


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("£1,180.00", "1180.00", "£"), ("GBP 54", "54", "£"), ("54 euros", "54", "€"), ("54$", "54", "$"),
        ("31k", "31000", ""), ("-7", "-7", ""), ("54p", "54", "pence"), ("12.5 %", "12.5", "%"), ("3 cats", "3", ""),
    ],
)  # fmt: skip
def test_the_one_number_of_a_text(text: str, value: str, unit: str) -> None:
    assert sole(text) == (Decimal(value), unit)


def test_of_two_numbers_none_is_the_one() -> None:
    assert sole("54 or 45") is None
    assert sole("none") is None


def test_versions_and_codes() -> None:
    assert numbers.codes("v2.4 and 1.10.2 of INC-71, B12, at 9:30 for 1,020.50") == (
        {"2.4", "1.10.2"},
        {"inc-71", "b12"},
    )
    assert numbers.codes("nothing of the kind") == (set(), set())
