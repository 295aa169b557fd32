"""What something costs is a sum, and no day with its price beside it."""

from datetime import UTC, datetime

import pytest

from braid.learn.parse.reader import ParseReader
from braid.learn.turn import KnownClaims, Turn
from braid.models.spacy_parser import shared

READER = ParseReader(shared())


@pytest.mark.parametrize(
    ("text", "costs"),
    [
        ("The rent is £900 a month.", ["£900 a month"]),
        ("The ticket is about 40 euros.", ["about 40 euros"]),
        ("swimming is tuesdays (£6.50 a go)", []),
        ("swimming is tuesdays £6.50", []),
    ],
)
def test_what_something_costs(text: str, costs: list[str]) -> None:
    turn = Turn(text, speaker="Ana", when=datetime(2026, 4, 20, 12, tzinfo=UTC))
    claims = READER.read(turn, KnownClaims()).claims
    assert [one.object for one in claims if one.rel == "costs"] == costs
