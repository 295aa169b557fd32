"""The check of a model's sentences, on labelled ones and on the cases that it was made for."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from braid.agent.guard.prompt import PromptMemory
from braid.agent.guard.support import support
from braid.tools.lab.sentence_check import check, read

SET = Path(__file__).parents[2] / "data" / "sentences"
WHEN = datetime(2026, 3, 2, tzinfo=UTC)
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def outcome(sentence: str, *texts: str, who: str = "Ana") -> str:
    given = [PromptMemory(text, who, WHEN.replace(day=2 + at)) for at, text in enumerate(texts)]
    return support(sentence, given, "What?", NOW).outcome


def test_true_sentences_are_shown_and_false_ones_are_not_borne_out() -> None:
    found = [(one, check(one).outcome) for one in read([SET / "build.jsonl"])]
    true = [held for one, held in found if one.true]
    false = [held for one, held in found if not one.true]
    assert (len(true), len(false)) == (80, 80)
    assert sum(held != "contradicted" for held in true) >= 0.90 * len(true)
    assert sum(held == "borne out" for held in false) <= 0.05 * len(false)


def test_both_halves_are_as_their_page_says() -> None:
    both = [read([SET / f"{half}.jsonl"]) for half in ("build", "held")]
    assert sum(one.true for half in both for one in half) >= 150
    assert sum(not one.true for half in both for one in half) >= 150
    assert {one.turns for one in both[0]}.isdisjoint({one.turns for one in both[1]})
    assert all(bool(one.wrong) is not one.true for half in both for one in half)


@pytest.mark.parametrize(
    ("sentence", "text", "wanted"),
    [
        ("The canoe cost 3,000.", "The canoe cost 3k", "borne out"),
        ("The train leaves at 16:40.", "The train leaves at 16.40", "borne out"),
        ("The train leaves at 4:40 pm.", "The train leaves at 16.40", "borne out"),
        ("The canoe cost 300.", "The canoe cost 3k", "contradicted"),
        ("The train leaves at 4:40 am.", "The train leaves at 16.40", "contradicted"),
        ("The pool is open on Wednesdays.", "pool is open weds", "borne out"),
        ("The pool is open on Thursdays.", "pool is open weds", "contradicted"),
        ("We pinned numpy to 2.3.1.", "pinned numpy to 2.3.1", "borne out"),
        ("We pinned numpy to 2.1.3.", "pinned numpy to 2.3.1", "contradicted"),
        ("Yes, the canoe is red.", "The canoe is not red", "contradicted"),
        ("No, the canoe isn't red.", "The canoe is red", "contradicted"),
        ("The canoe belongs to Petra.", "The canoe is red", "contradicted"),
        ("Somebody painted the canoe quickly in scarlet.", "The canoe is red", "unchecked"),
        ("We drove from Graz to Linz.", "drove from Linz to Graz", "unchecked"),
    ],
)
def test_values_count_by_worth_and_denials_by_what_they_deny(sentence: str, text: str, wanted: str) -> None:
    assert outcome(sentence, text) == wanted


def test_what_a_later_turn_may_have_changed_is_not_borne_out() -> None:
    assert outcome("The canoe is red.", "The canoe is red") == "borne out"
    assert outcome("The canoe is red.", "The canoe is red", "painted the canoe blue") == "unchecked"


def test_what_is_said_of_one_thing_is_not_said_of_another() -> None:
    at = datetime(2026, 1, 5, tzinfo=UTC)
    given = [PromptMemory("scrap Kafka. we're going with NATS JetStream", "Sunniva", at)]
    assert support("They are going with Kafka.", given, "which queue?", at).outcome != "borne out"
    given = [PromptMemory("okay last swimming on the eleventh then climbing on fridays", "Niamh", at)]
    assert support("She is going to do swimming on Fridays.", given, "swimming?", at).outcome != "borne out"
