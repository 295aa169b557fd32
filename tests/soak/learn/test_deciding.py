"""A real small model decides about the labelled notebooks, in shadow: what can be used of it, and how right that is."""

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from braid.learn.model.decider import UNASKED, ModelDecider
from braid.stance.proposal import CHANGES
from braid.tools.evaluation.decisions import cases_of, judged, scores

pytestmark = pytest.mark.soak
pytest.importorskip("xllamacpp", reason="the extra soak isn't installed")

CASES: Final = Path(__file__).parents[2] / "data" / "decisions" / "wide" / "build.jsonl"
KEPT: Final = Path(__file__).parents[3] / "build" / "soak" / "smollm2-decides.jsonl"
"""Answers of runs before: a run that was stopped goes on from there, and `make clean` forgets them."""
LONGEST_S: Final = 1_500.0
FEWEST: Final = 100
WARNINGS: Final = {"", "malformed_decision", "unknown_target", "missing_target", "cut_off"}


@pytest.mark.timeout(1_800)
def test_a_small_model_names_only_what_it_is_shown() -> None:
    from tests.soak.learn.small_model import AsGiven, KeptAnswers

    decider = ModelDecider(KeptAnswers(AsGiven(), KEPT))
    until = time.monotonic() + LONGEST_S
    cases = cases_of(CASES.read_bytes(), str(CASES))
    every = [judged(case, decider) for case in cases if time.monotonic() < until]
    found = [one for one in every if one.reason != UNASKED]
    rules = [judged(one.case) for one in found]
    usable = [(one, by) for one, by in zip(found, rules, strict=True) if one.label is not None]
    agreed = sum(
        (one.label, one.place) == (by.label, by.place) or (one.label == by.label == "ADD")
        for one, by in usable
    )
    discarded = Counter(one.reason for one in found if one.label is None)
    told = {
        "cases": len(found),
        "well_formed": len(usable),
        "discarded": dict(discarded),
        "agreed": agreed,
        **scores(found),
        **decider.account()._asdict(),
    }
    sys.stdout.write(json.dumps({name: told[name] for name in told if name != "kinds"}, indent=1) + "\n")
    assert len(found) == decider.account().asked
    assert len(found) >= FEWEST, "too slow a machine: it was stopped before it had decided enough"
    assert set(discarded) <= WARNINGS
    for one, _ in usable:
        assert one.place is None or one.place < len(one.case.scene.known)
        assert one.place is not None or one.label not in (*CHANGES, "NONE")
