"""Each row of the table reads its own example."""

from datetime import UTC, datetime

import pytest

from braid.learn.parse.reader import ParseReader
from braid.learn.parse.table import EXAMPLES
from braid.learn.turn import KnownClaims, Turn
from braid.models.spacy_parser import shared

WHEN = datetime(2026, 2, 2, tzinfo=UTC)
READER = ParseReader(shared())


@pytest.mark.parametrize(("text", "rel"), EXAMPLES)
def test_a_row_reads_its_example(text: str, rel: str) -> None:
    claims = READER.read(Turn(text, speaker="Ana", when=WHEN), KnownClaims()).claims
    assert rel in {claim.rel for claim in claims}
