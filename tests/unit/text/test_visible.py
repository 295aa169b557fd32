"""What shows nothing says nothing."""

import pytest

from braid.text.visible import shows


@pytest.mark.parametrize("text", ["a", "?", "\u0301", "👩\u200d🚀", "\u200fعم", " \u200bx"], ids=repr)
def test_what_shows(text: str) -> None:
    assert shows(text)


@pytest.mark.parametrize(
    "text", ["", " \n\t\u2028", "\u200b", "\u202e\ufeff", "\x07", "\U000e0041"], ids=repr
)
def test_what_shows_nothing(text: str) -> None:
    assert not shows(text)
