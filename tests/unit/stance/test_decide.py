"""What the rules decide of a candidate claim, and what is thrown away of what any decider says."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from braid.stance.claims import RecordedClaim
from braid.stance.decide import DOUBT, Decided, Proposal, ShownClaim, decide, propose, shown_for
from tests.unit.stance.claimed import claim, day, say

CASES = Path(__file__).parents[2] / "data" / "decisions"
LEAST = 0.95


def said(given: dict[str, Any], index: int) -> list[RecordedClaim]:
    """A claim of a case, as a reading of somebody's words, with what follows from it."""
    source = given.get("source", "explicit")
    times = {name: day(given[name]) for name in ("valid_from", "valid_to") if name in given}
    made = claim(
        given["subject"],
        given["rel"],
        given["object"],
        polarity=given.get("polarity", True),
        source_type=source,
        said_by=given.get("said_by"),
        **times,
    )
    p = None if source == "inferred" else 0.9
    found = say(index, made, given["said"], p=p, by=given["by"])
    return [msgspec.structs.replace(one, spoken=True) for one in found]


def decided(case: dict[str, Any]) -> tuple[Proposal, int | None]:
    """What is proposed for a case, and which of the known claims it is about."""
    living = [one for k, known in enumerate(case["known"]) for one in said(known, k)]
    found = decide(said(case["candidate"], len(case["known"])), living)
    return proposed(found), None if found.target is None else found.target.index


def proposed(found: Decided) -> Proposal:
    assert found.proposal is not None
    return found.proposal


@pytest.mark.parametrize("half", ["build", "held", "held2"])
def test_updates_and_deletes_are_right_on_the_labelled_set(half: str) -> None:
    cases = [json.loads(line) for line in (CASES / f"{half}.jsonl").read_text().splitlines()]
    found = [(case, *decided(case)) for case in cases]
    wrong = [
        (case["id"], case["action"], made.action, made.reason)
        for case, made, _ in found
        if (made.action, made.review_needed) != (case["action"], case["review"])
    ]
    changing = [one for one in found if one[1].action in ("UPDATE", "DELETE")]
    right = [case for case, made, at in changing if (made.action, at) == (case["action"], case["target"])]
    print(f"{half}: {len(right)} of {len(changing)} changes right, {len(wrong)} of {len(cases)} wrong")  # noqa: T201
    assert len(right) / len(changing) >= LEAST, wrong
    assert len(wrong) / len(cases) <= 1 - LEAST, wrong
    assert min(Counter(case["action"] for case in cases).values()) >= 8


class Says:
    """A decider that says what it is given."""

    def __init__(self, made: object) -> None:
        self.made = made

    def decide(self, candidate: RecordedClaim, shown: Sequence[ShownClaim]) -> object:
        return self.made


HOME = say(0, claim("Maya", "lives_in", "Porto"), "2025-01-03", by="maya")
NEW = say(1, claim("Maya", "lives_in", "Lisbon"), "2025-04-02", by="maya")


@pytest.mark.parametrize(
    ("made", "warning"),
    [
        ("{", "malformed_decision"),
        (b'{"action": "ERASE", "target": "m1"}', "malformed_decision"),
        ({"action": "UPDATE", "target": "m1", "sql": "DROP"}, "malformed_decision"),
        ({"action": "UPDATE", "target": "m1", "confidence": 3}, "malformed_decision"),
        (None, "malformed_decision"),
        (object(), "malformed_decision"),
        ({"action": "UPDATE", "target": "exp_0"}, "unknown_target"),
        ({"action": "NONE", "target": "m2"}, "unknown_target"),
        ({"action": "DELETE"}, "missing_target"),
    ],
)
def test_what_a_decider_says_wrongly_is_discarded_with_a_warning(made: object, warning: str) -> None:
    assert propose(Says(made), NEW[0], shown_for(NEW[0], HOME)) == (None, warning)
    found = decide(NEW, HOME, Says(made))
    assert (found.proposal, found.warnings, found.target) == (None, (warning,), None)


def test_a_model_may_be_a_decider() -> None:
    found = decide(NEW, HOME, Says('{"action": "UPDATE", "target": "m1", "confidence": 0.7}'))
    assert found.proposal == Proposal("UPDATE", "m1", 0.7)
    assert found.target == HOME[0]


def test_at_most_so_many_of_the_same_subject_and_user_are_shown_rivals_first() -> None:
    many = [one for k in range(2, 40) for one in say(k, claim("Maya", "likes", f"tea {k}"), by="maya")]
    others = [
        *say(50, claim("Jonas", "lives_in", "Hull")),
        *say(51, claim("Maya", "lives_in", "Rome"), user_id="x"),
    ]
    shown = shown_for(NEW[0], [*HOME, *many, *others, *NEW], 5)
    assert [one.id for one in shown] == ["m1", "m2", "m3", "m4", "m5"]
    assert shown[0].said == HOME[0]
    assert all(one.said.claim.subject == "Maya" and one.said.user_id is None for one in shown)


def test_doubt_lowers_both_and_destroys_nothing() -> None:
    other = say(1, claim("Maya", "lives_in", "Lisbon"), "2025-04-02", by="jonas")
    made = proposed(decide(other, HOME))
    assert (made.action, made.target, made.review_needed) == ("ADD", "m1", True)
    assert made.confidence == made.target_confidence == pytest.approx(0.9 * DOUBT)


def test_where_rank_and_pooling_disagree_nothing_is_superseded() -> None:
    inferred = [
        one
        for k, by in enumerate(("a", "b", "c", "d", "e", "f"))
        for one in say(
            k, claim("Maya", "lives_in", "Porto", source_type="implicit_intentional"), p=0.9, by=by
        )
    ]
    stated = say(9, claim("Maya", "lives_in", "Lisbon"), "2025-03-24", p=0.5, by="maya")
    made = proposed(decide(stated, inferred))
    assert (made.action, made.review_needed) == ("ADD", True)
    assert "voices together" in made.reason


def test_an_inferred_retraction_needs_two_independent_sources() -> None:
    guess = claim("Maya", "drinks", "tea", source_type="inferred")
    denied = claim("Maya", "drinks", "tea", source_type="inferred", polarity=False)
    known = say(0, guess, "2025-01-01", p=None, by="agent")
    alone = proposed(decide(say(2, denied, "2025-03-01", p=None, by="watch"), known))
    again = proposed(
        decide(
            say(2, denied, "2025-03-01", p=None, by="watch"),
            [*known, *say(1, denied, "2025-02-01", p=None, by="scale")],
        )
    )
    assert (alone.action, alone.review_needed, again.action) == ("ADD", True, "DELETE")
