"""When two objects mean the same: numbers with their units, numbers of papers and telephones, dates."""

import pytest

from braid.stance.values import same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("84 kg", "84 kilograms"),
        ("12kg", "12000 g"),
        ("30 s", "30000 ms"),
        ("1.20 m", "120 cm"),
        ("2.2 bar", "2,200 mbar"),
        ("40k euros", "€40,000"),
        ("60", "sixty"),
        ("an hour", "hour"),
        ("985 141", "985141"),
        ("0171 555 0192", "0171-555-0192"),
        ("RB 883 041", "RB883041"),
    ],
)
@pytest.mark.parametrize("of", ["text", "number"])
def test_a_measure_is_the_same_in_other_units_and_a_number_however_it_is_parted(
    one: str, other: str, of: str
) -> None:
    assert same(one, other, of)  # type: ignore[arg-type]
    assert same(other, one, of)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12 kg", "12 g"),
        ("84 kg", "85 kilograms"),
        ("£18", "€18"),
        ("3.11", "31.1"),
        ("1-15 May 2025", "11-5 May 2025"),
        ("1 12", "11 2"),
        ("120 cm", "120 m"),
        ("30 minutes", "30 s"),
        ("985 141", "985 114"),
        ("20 euros a month", "20 euros a week"),
        ("six cats", "six dogs"),
    ],
)
def test_other_amounts_and_other_numbers_are_not(one: str, other: str) -> None:
    assert not same(one, other)
    if one[0].isdigit() and "May" not in one and "month" not in one:
        assert not same(one, other, "number")
