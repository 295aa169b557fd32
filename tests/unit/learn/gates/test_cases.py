"""Each gate refuses what a hostile maker gives, and lets the honest candidate beside it through."""

import json
from pathlib import Path

import pytest

from braid.learn.candidate import KnownEntity
from braid.learn.gates.consistency import KnownIndex
from braid.learn.gates.gate import judge
from braid.learn.gates.outcome import Judged
from braid.learn.turn import Turn
from braid.text.parse import Parse, from_rows
from tests.unit.learn.gates.cases import ALL, EIGHT, KEPT, Case

PARSES = {
    row["text"]: from_rows(row["text"], row["rows"])
    for row in map(
        json.loads, (Path(__file__).parent / "parses.jsonl").read_text(encoding="utf-8").splitlines()
    )
}
KNOWN = KnownIndex(entities=[KnownEntity("Acme Corp", "organisation")])


def parses(turns: list[Turn]) -> dict[int, Parse]:
    """The parses of turns, as they were written down."""
    return {turn.at: PARSES[turn.text] for turn in turns if turn.text in PARSES}


def outcome(judged: Judged) -> str:
    """What became of the one candidate."""
    if judged.kept:
        return KEPT
    return judged.staged[0].outcome if judged.staged else judged.refused[0].outcome


@pytest.mark.parametrize(
    "one", ALL, ids=lambda one: f"{one.text[:40]}|{one.candidate.claim.rel}|{one.outcome}"
)
def test_a_candidate_has_its_outcome(one: Case) -> None:
    turns = [Turn(one.text)]
    judged = judge([one.candidate], turns, KNOWN, parses(turns))
    assert outcome(judged) == one.outcome
    assert len(judged.kept) + len(judged.staged) + len(judged.refused) == 1


def test_of_the_eight_hard_cases_each_is_there() -> None:
    assert {"hypothetical", "sarcasm", "subject", "reported", "wanted", "code", "unsure"} <= {
        one.outcome for one in EIGHT
    }


@pytest.mark.parametrize("one", [one for one in ALL if one.outcome == KEPT], ids=lambda one: one.text[:40])
def test_what_is_kept_quotes_the_turn_itself(one: Case) -> None:
    turns = [Turn(one.text)]
    (kept,) = judge([one.candidate], turns, KNOWN, parses(turns)).kept
    claim = kept.claim
    assert claim.at is not None
    assert claim.quote is not None
    assert one.text[claim.at : claim.at + len(claim.quote)] == claim.quote
    assert claim.type == one.candidate.type
    assert claim.details["privacy"] == kept.level


@pytest.mark.parametrize(
    "one", ALL, ids=lambda one: f"{one.text[:40]}|{one.candidate.claim.rel}|{one.outcome}"
)
def test_no_reason_holds_a_word_of_the_talk(one: Case) -> None:
    turns = [Turn(one.text)]
    judged = judge([one.candidate], turns, KNOWN, parses(turns))
    reasons = json.dumps([[r.outcome, r.gate, r.error, r.number, r.turn] for r in judged.refused])
    assert not any(word in reasons for word in ("Rome", "Tesla", "Hunter2", "4111", "wine"))
