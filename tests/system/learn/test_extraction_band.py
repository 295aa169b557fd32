"""What is read of the labelled sets, by domain, is no worse than what was kept when the rules were last changed."""

import json
import os
from pathlib import Path
from typing import Any, Final

import pytest

from braid.learn.parse.reader import ParseReader
from braid.models.spacy_parser import shared
from braid.tools.evaluation.extraction import as_signed, evaluate
from braid.tools.evaluation.talks import read_talks

SETS: Final = Path(__file__).parents[2] / "data" / "extraction"
KEPT: Final = SETS / "baseline.json"
BAND: Final = 0.03
"""A change of rules may cost so much in one domain where it wins elsewhere."""
KEEP: Final = bool(os.environ.get("BRAID_KEEP"))  # a test's surroundings have no such name
MEASURES: Final = ("precision", "recall", "attribution")


def measured(name: str) -> dict[str, dict[str, float]]:
    reader = ParseReader(shared())
    talks = read_talks([(name, (SETS / name).read_bytes())])
    found: dict[str, Any] = evaluate(reader, talks, prepare=reader.prepare, gate=as_signed)["labels"]
    groups = {"all": found["all"], **found["domains"]}
    return {
        group: {
            measure: round(each[measure]["share"], 4)
            for measure in (*MEASURES, "never_hit")
            if each[measure]["share"] is not None
        }
        for group, each in groups.items()
    }


@pytest.mark.soak(first=True)
@pytest.mark.parametrize("name", ["build.jsonl", "adversarial.jsonl"])
def test_no_domain_is_read_worse_than_it_was(name: str) -> None:
    """`BRAID_KEEP=1` keeps today's figures as the new baseline."""
    found = measured(name)
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if KEEP:
        KEPT.write_text(json.dumps({**kept, name: found}, indent=1, sort_keys=True) + "\n")
        return
    for group, figures in kept[name].items():
        for measure in MEASURES:
            if measure in figures:
                assert found[group].get(measure, 0) >= figures[measure] - BAND, (group, measure, found[group])
        assert found[group].get("never_hit", 0) <= figures.get("never_hit", 1) + BAND, (group, found[group])
