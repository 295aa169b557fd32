"""Quality has floors: the project's own examples, and LoCoMo where it is at hand. Through stores, not around them."""

from pathlib import Path

import pytest

from braid.recall.samples import read
from braid.tools.evaluation.recall import evaluate

EXAMPLES = Path(__file__).parents[3] / "examples"
LOCOMO = Path(__file__).parents[4] / "shared" / "data" / "locomo"


@pytest.mark.soak
@pytest.mark.sample(2)
@pytest.mark.parametrize(("top_k", "sessions"), [(50, 0.88), (10, 0.86)])
def test_the_examples_are_found(top_k: int, sessions: float) -> None:
    """Ten hits, as one who doesn't say otherwise gets them, are looked for among fewer candidates."""
    files = sorted(EXAMPLES.glob("*.jsonl"))
    found = evaluate(read("jsonl", b"\n".join(path.read_bytes() for path in files)), top_k=top_k)
    assert found["questions"] == 73
    assert len(found["conversations"]) == 3
    assert found["unresolved_evidence"] == found["degraded"] == 0
    assert found["turn"]["all"]["recall@10"] >= 0.84
    assert found["turn"]["all"]["mrr"] >= 0.58
    assert found["session"]["all"]["recall@5"] >= sessions
    assert ("recall@50" in found["turn"]["all"]) == (top_k == 50)
    assert found["top_k"] == top_k


@pytest.mark.soak
@pytest.mark.skipif(not LOCOMO.is_dir(), reason="LoCoMo is not at hand (CC BY-NC: it is never shipped)")
def test_a_conversation_of_locomo_is_found() -> None:
    found = evaluate(read("locomo", (LOCOMO / "conv-30.json").read_bytes()))
    assert found["questions"] == 105
    assert found["turn"]["all"]["recall@10"] >= 0.82
    assert found["turn"]["all"]["mrr"] >= 0.62
