"""Labelled pairs: no false merge on those that the rules were built on, and a band for all of them."""

import json
from pathlib import Path

import pytest

from braid.tools.evaluation.entities import evaluate, pairs_of, wilson

PAIRS = Path(__file__).parents[2] / "data" / "extraction" / "pairs.jsonl"


def test_wilson_is_the_interval_of_the_textbook() -> None:
    assert wilson(0, 93)[3:] == pytest.approx([0.0, 0.0397], abs=1e-3)
    assert wilson(65, 77)[2:] == pytest.approx([0.844, 0.747, 0.909], abs=1e-3)
    assert wilson(0, 0) == [0, 0, 0.0, 0.0, 1.0]


def test_the_labelled_pairs_stay_within_their_band() -> None:
    pairs = pairs_of(PAIRS.read_bytes(), PAIRS.name)
    assert len(pairs) >= 300
    halves = evaluate(pairs)["halves"]
    assert halves["built on"]["false_merges"][0] == 0
    assert halves["built on"]["merges"][2] >= 0.8
    assert halves["held"]["false_merges"][0] <= 2
    assert halves["held"]["merges"][2] >= 0.55


def test_errors_are_told_of_pairs_that_are_not_held() -> None:
    line = {"a": {"name": "Bob", "type": "person"}, "b": {"name": "Zed", "type": "person"}, "same": True}
    raw = "\n".join(
        json.dumps(line | {"id": id, "held": held}) for id, held in (("1", False), ("2", True))
    ).encode()
    found = evaluate(pairs_of(raw, "pairs"))
    assert [error["id"] for error in found["errors"]] == ["1"]
    assert found["halves"]["held"]["merges"][:2] == [0, 1]


@pytest.mark.parametrize(
    "raw", [b"", b"{", b'{"id":"1"}', b'{"id":"1","a":{"name":"x","type":"y"},"b":{},"same":true}']
)
def test_what_is_no_pair_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match="pairs"):
        pairs_of(raw, "pairs")
