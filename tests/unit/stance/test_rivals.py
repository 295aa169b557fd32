"""Many claims: found without comparing every two, and nothing that decides is overlooked."""

from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.ledger.record.record import Claim, Content, Draft, ExperienceBody
from braid.stance import precedence, review, rivals
from braid.stance.claims import RecordedClaim, clash, overlap
from braid.stance.fold import GroundedRecord, fold
from braid.stance.jtms import Label
from braid.stance.precedence import advantage
from braid.stance.review import MAX_REVIEWS, contradictions, with_reviews
from braid.stance.rivals import RivalGroup, alikes
from tests.unit.stance.claimed import asking, claim, day, say, settle

SUBJECTS = ("Ana", "Ana Moreira", "Anas", "the Ana", "Renée", "RENÉE", "🐶", "")
CLAIMS = st.builds(
    lambda index, subject, rel, object_, polarity, when, source: say(
        index, claim(subject, rel, object_, polarity=polarity, source_type=source), f"2025-03-{when:02d}"
    ),
    st.integers(0, 500),
    st.sampled_from(SUBJECTS),
    st.sampled_from(
        ("likes", "loves", "dislikes", "lives_in", "prefers", "born_on", "count_is", "zzz", "moved_to")
    ),
    st.sampled_from(
        ("Leeds", "leeds", "Leeds, in Meanwood", "tea", "teas", "12", "12 pounds", "3 May", "vim")
    ),
    st.booleans(),
    st.integers(1, 3),
    st.sampled_from(("explicit", "corrected", "inferred")),
)


def flat(groups: list[list[RecordedClaim]]) -> list[RecordedClaim]:
    return list({said.node: said for group in groups for said in group}.values())


@given(st.lists(CLAIMS, max_size=12).map(flat))
def test_no_pair_is_overlooked(claims: list[RecordedClaim]) -> None:
    every = {
        frozenset((one.node, other.node))
        for one, other in combinations(claims, 2)
        if clash(one, other) and overlap(one, other)
    }
    found: list[frozenset[str]] = []
    for group in alikes(claims):
        shelf = RivalGroup()
        for said in group:
            found += {frozenset((one.node, said.node)) for one in shelf.excluding(said)}
            shelf.add(said)
    assert set(found) == every
    assert len(found) == len(every)


@given(st.lists(CLAIMS, max_size=10).map(flat))
def test_a_claim_has_no_say_only_by_one_that_has(claims: list[RecordedClaim]) -> None:
    sources = [GroundedRecord(index, str(index)) for index in {said.index for said in claims}]
    folded = fold(claims, sources, day("2025-06-01"))
    for node, said in folded.claims.items():
        takers = [one for one, _ in folded.taken.get(node, ()) if folded.stands(one.node)]
        assert all(clash(one, said) and overlap(one, said) and advantage(one, said) for one in takers)
        if folded.label(node) is Label.OUT and said.since <= day("2025-06-01"):
            assert takers


@given(st.lists(CLAIMS, max_size=10).map(flat))
def test_a_voice_says_one_thing_at_a_time(claims: list[RecordedClaim]) -> None:
    sources = [GroundedRecord(index, str(index)) for index in {said.index for said in claims}]
    standing = fold(claims, sources, day("2025-06-01")).standing()
    for one, other in combinations(standing, 2):
        if clash(one, other):
            assert not advantage(one, other), (one, other)
            assert not advantage(other, one), (one, other)


@given(st.lists(CLAIMS, max_size=10).map(flat))
def test_of_two_claims_one_at_most_is_before_the_other(claims: list[RecordedClaim]) -> None:
    for one, other in combinations(claims, 2):
        assert not (advantage(one, other) and advantage(other, one)), (one, other)


def test_a_status_told_again_and_again_is_no_hang() -> None:
    first = datetime(2020, 1, 1, tzinfo=UTC)
    (one,) = say(0, claim("the pump", "status", "0 bar"))
    told = [_at(one, n, first + timedelta(hours=n)) for n in range(400)]
    found = settle(asking("the pump", "status", at="2026-01-01"), told)
    assert found.decision.claim == "the pump's status is 399 bar"
    assert all(len(weighed.taken_by) <= 1 for weighed in found.candidates)


def _at(one: RecordedClaim, n: int, when: datetime) -> RecordedClaim:
    other = msgspec.structs.replace(one.claim, object=f"{n} bar")
    return msgspec.structs.replace(one, index=n, id=f"exp_{n}", claim=other, said=when, since=when)


@pytest.mark.parametrize(("rel", "reviews"), [("likes", 0), ("lives_in", MAX_REVIEWS)])
def test_a_record_of_ten_thousand_claims_is_no_hang(rel: str, reviews: int) -> None:
    """Fifty million pairs: those of one object are looked at, and of the rest the first hundred are marked."""
    claims = [Claim(subject="user", rel=rel, object=f"thing {n}") for n in range(10_000)]
    body = ExperienceBody(content=Content(text="x"), symbolic=claims)
    batch = with_reviews([Draft(kind="experience", type="inference", body=body)])
    assert len(batch) == 1 + reviews


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", ["explicit", "corrected", "inferred"])
@pytest.mark.parametrize("voices", [1, 2_000])
def test_homes_cost_what_they_are_many(monkeypatch: pytest.MonkeyPatch, kind: str, voices: int) -> None:
    """By one voice or by as many: comparisons are counted, not time; four times the homes, about four times."""
    counted: list[int] = []
    for count in (100, 400):
        homes = [
            say(k, claim("Ann", "lives_in", f"Town {k}", source_type=kind), by=f"v {k % voices}")
            for k in range(count)
        ]
        first = datetime(2025, 1, 1, tzinfo=UTC)
        told = [
            msgspec.structs.replace(one, said=first + timedelta(hours=one.index), since=first)
            for group in homes
            for one in group
        ]
        compared = 0

        def counting(one: RecordedClaim, other: RecordedClaim) -> str | None:
            nonlocal compared
            compared += 1
            return clash(one, other)

        for module in (rivals, precedence, review):
            monkeypatch.setattr(module, "clash", counting)
        settle(asking("Ann", "lives_in"), told)
        assert len(list(contradictions(told))) == count - 1
        counted.append(compared)
    assert counted[1] <= 6 * counted[0], counted
    assert counted[1] <= 4 * rivals.MOST * 400


def test_contradictions_are_a_chain() -> None:
    homes = [say(k, claim("Ann", "lives_in", f"Town {k}"), f"2025-03-{k:02d}") for k in (3, 1, 2)]
    found = [(pair.one.claim.object, pair.other.claim.object) for pair in contradictions(flat(homes))]
    assert found == [("Town 1", "Town 2"), ("Town 2", "Town 3")]


def test_claims_that_never_hold_together_do_not_contradict() -> None:
    nowhen = say(1, claim("Kim", "lives_in", "A", valid_from=day("2025-01-01"), valid_to=day("2025-01-01")))
    always = say(2, claim("Kim", "lives_in", "B", valid_from=day("2024-01-01")))
    assert list(contradictions([*nowhen, *always])) == []


@pytest.mark.parametrize(("one", "other"), [("🐶", "🐱"), ("C", "C++"), ("C++", "C#")])
def test_different_signs_are_different_objects(one: str, other: str) -> None:
    liked = say(1, claim("Kim", "likes", one))
    assert not list(contradictions([*liked, *say(2, claim("Kim", "likes", other, polarity=False))]))
    assert list(contradictions([*liked, *say(2, claim("Kim", "likes", one, polarity=False))]))


READ: dict[str, Any] = {"actor": "agent", "method": "read:plain@1"}


def test_what_has_lasted_is_as_new_as_its_telling() -> None:
    """In March "I live in Leeds"; in May "I've been living in Hull since 2020": the later word is of May."""
    leeds = say(1, claim("Kim", "lives_in", "Leeds"), "2025-03-24", **READ)
    hull = say(2, claim("Kim", "lives_in", "Hull", valid_from=day("2020-01-01")), "2025-05-17", **READ)
    found = settle(asking("Kim", "lives_in"), leeds, hull)
    assert found.decision.claim == "Kim lives in Hull"
    assert advantage(hull[0], leeds[0]) == "said later: 2025-05-17 after 2025-03-24"
    assert (
        settle(asking("Kim", "lives_in", at="2025-04-01"), leeds, hull).decision.claim == "Kim lives in Hull"
    )


def test_an_episode_is_as_old_as_its_day() -> None:
    """ "I moved to Leeds in January 2024", told in July, is no news to who has lived in Hull since 2025."""
    hull = say(1, claim("Kim", "lives_in", "Hull"), "2025-03-24", **READ)
    leeds = say(2, claim("Kim", "moved_to", "Leeds", valid_from=day("2024-01-05")), "2025-07-17", **READ)
    assert (
        settle(asking("Kim", "lives_in", at="2025-08-01"), hull, leeds).decision.claim == "Kim lives in Hull"
    )


def test_a_date_that_a_record_gives_is_taken_at_its_word() -> None:
    """Facts with a validity of their own, taken in late, stand in the order in which they hold."""
    leeds = say(1, claim("Kim", "lives_in", "Leeds", valid_from=day("2024-01-01")), "2025-03-24")
    hull = say(2, claim("Kim", "lives_in", "Hull", valid_from=day("2020-01-01")), "2025-05-17")
    assert settle(asking("Kim", "lives_in"), leeds, hull).decision.claim == "Kim lives in Leeds"


@pytest.mark.parametrize(
    ("method", "sure"), [("rule", 0.9), ("counted-1", 0.9), ("model", 0.7), ("stated", 0.7)]
)
def test_a_reader_that_is_a_model_may_only_lower(method: str, sure: float) -> None:
    read = say(1, claim("Kim", "lives_in", "Leeds"), p=0.9, measured=method, **READ)
    found = settle(asking("Kim", "lives_in", at="2025-03-24"), read)
    assert found.candidates[0].p == pytest.approx(sure, abs=0.001)
