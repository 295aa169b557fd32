"""Names that mean one thing, as lines of a file."""

import pytest

from braid.text.aliases import Aliases, lines_of, packaged


def test_the_dictionary_of_the_release_knows_the_merchants_words() -> None:
    for name, canonical in (
        ("QB", "quickbooks"), ("Quickbooks Online", "quickbooks"), ("PP", "paypal"),
        ("United States Postal Service", "usps"), ("FedEx Ground", "fedex"), ("spreadsheet export", "csv"),
    ):  # fmt: skip
        assert packaged().of(name) == canonical
    assert packaged().of("Quarterback") == "quarterback"
    assert packaged().type_of("QBO") == "product"
    assert packaged().type_of("nobody") is None


def test_a_file_has_lines_of_names() -> None:
    known = Aliases(lines_of("# mine\n\nNorthwind Traders [organisation]: NWT, Northwind\nBertha: Big Red\n"))
    assert known.of("nwt") == "northwind traders"
    assert known.of("the Big Red") == "bertha"
    assert known.groups()["northwind traders"] == ["northwind traders", "nwt", "northwind"]


@pytest.mark.parametrize("line", ["QB", "QB:", ": QB", "QB [product", f"{'x' * 200}: y"])
def test_another_line_is_refused_with_its_number(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        list(lines_of(f"# first\n{line}"))


def test_a_name_of_two_things_is_refused() -> None:
    with pytest.raises(ValueError, match="stands for"):
        Aliases(lines_of("a: x\nb: x"))
