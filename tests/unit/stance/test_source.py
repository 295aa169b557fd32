"""A sentence of a summary is of the class of those of its sources that have its words."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from braid.stance.source import span_class

SPANS: Final[list[dict[str, Any]]] = [
    json.loads(line) for line in Path("tests/data/poison/spans.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("case", SPANS, ids=lambda case: case["summary"][:30])
def test_each_sentence_has_the_class_that_it_needs(case: dict[str, Any]) -> None:
    sources = [(source, text) for source, text in case["sources"]]
    found = {sentence: span_class(sentence, "agent", sources) for sentence in case["says"]}
    assert found == case["says"]


def test_nothing_rises_above_whoever_says_it() -> None:
    assert span_class("I like tea", "outsider", [("owner", "I like tea")]) == "outsider"
    assert span_class("anything", "agent", []) == "agent"
