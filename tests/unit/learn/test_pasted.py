"""Pasted words become nobody's facts, and what people say of themselves is still read."""

import pytest

from tests.pasted import items, read_score


@pytest.mark.parametrize(("half", "claimed", "missed"), [("dev", 0, 0), ("held", 4, 1)])
def test_pasted_words_are_not_claimed(half: str, claimed: int, missed: int) -> None:
    score = read_score(half)
    assert len(score.claimed) <= claimed, score.claimed
    assert len(score.missed) <= missed, score.missed


@pytest.mark.parametrize("half", ["dev", "held"])
def test_each_half_has_thirty_pasted_and_twenty_of_ones_own(half: str) -> None:
    found = items(half)
    assert (len(found), sum(bool(one.forbidden) for one in found)) == (50, 30)
