"""Quality has floors: the project's own examples, and LoCoMo where it is at hand. Through stores, not around them."""

from pathlib import Path

import pytest

from braid.recall.samples import read
from braid.tools.evaluation import evaluate

EXAMPLES = Path(__file__).parents[2] / "examples"
LOCOMO = Path(__file__).parents[3] / "shared" / "data" / "locomo"


def test_the_examples_are_found() -> None:
    files = sorted(EXAMPLES.glob("*.jsonl"))
    found = evaluate(read("jsonl", b"\n".join(path.read_bytes() for path in files)))
    assert found["questions"] == 73
    assert len(found["conversations"]) == 3
    assert found["unresolved_evidence"] == found["degraded"] == 0
    assert found["turn"]["all"]["recall@10"] >= 0.84
    assert found["turn"]["all"]["mrr"] >= 0.58
    assert found["session"]["all"]["recall@5"] >= 0.88


@pytest.mark.skipif(not LOCOMO.is_dir(), reason="LoCoMo is not at hand (CC BY-NC: it is never shipped)")
def test_a_conversation_of_locomo_is_found() -> None:
    found = evaluate(read("locomo", (LOCOMO / "conv-30.json").read_bytes()))
    assert found["questions"] == 105
    assert found["turn"]["all"]["recall@10"] >= 0.82
    assert found["turn"]["all"]["mrr"] >= 0.62
