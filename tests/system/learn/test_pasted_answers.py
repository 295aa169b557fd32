"""Pasted words are told as nobody's own, on any rung."""

import pytest

from tests.pasted import asked_score


@pytest.mark.parametrize(("half", "most"), [("dev", 0), ("held", 4)])
def test_pasted_words_are_not_told_as_the_speakers(half: str, most: int) -> None:
    told = asked_score(half)
    assert len(told) <= most, told
