"""Of several amounts in a sentence the one that stands with what is asked for is told."""

import pytest

from braid.agent.answer.counts import counted


@pytest.mark.parametrize(
    ("question", "sentence", "amount"),
    [
        ("how much is the deposit each", "130 each for the rest, 50 each for the deposit", "50"),
        ("how much are the tolls", "fuel is 90 in all, tolls 24", "24"),
        ("how much is the garage?", "rent is 780 warm, plus 45 for the garage", "45"),
        ("how much did the trip cost", "trip to Ghent, 2 nights, 310 euros", "310 euros"),
    ],
)
def test_an_amount_is_told_by_its_label(question: str, sentence: str, amount: str) -> None:
    assert counted(question, sentence) == amount
