"""Pasted words are told as nobody's own, on any rung."""

import pytest

from tests.pasted import asked_score


@pytest.mark.parametrize(
    ("half", "each", "most"),
    [
        ("dev", 4, 0),
        pytest.param("dev", 1, 0, marks=pytest.mark.soak),
        pytest.param("held", 1, 4, marks=pytest.mark.soak(first=True)),
    ],
)
def test_pasted_words_are_not_told_as_the_speakers(half: str, each: int, most: int) -> None:
    told = asked_score(half, each)
    assert len(told) <= most, told
