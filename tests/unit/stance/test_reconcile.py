"""Reconciling: the rules with worked examples, time, cardinality, what is undecided, what is refused."""

from itertools import permutations
from typing import Any

import pytest

from braid.ledger.record.record import Claim
from braid.stance.fold import GroundedRecord
from braid.stance.reconcile import reconcile
from braid.stance.words import words_of
from tests.unit.stance.claimed import asking, claim, day, say, settle, standing

LEEDS = say(1, claim("Jonas", "lives_in", "Leeds, in Meanwood"))
EDINBURGH = say(2, claim("Jonas Adeyemi", "lives_in", "Edinburgh"), "2025-05-17")


# The three worked examples of contradiction rules: newer, stated over inferred, stated over a newer inference.
@pytest.mark.parametrize(
    ("rel", "old", "new", "held", "why"),
    [
        ("located_in", ("São Paulo", "explicit", 1.0), ("Berlin", "explicit", 1.0), "Berlin", "newer"),
        ("prefers", ("vim", "inferred", 0.6), ("neovim", "explicit", 0.9), "neovim", "stated over inferred"),
        (
            "works_at",
            ("CompanyA", "explicit", 1.0),
            ("CompanyB", "inferred", 0.4),
            "CompanyA",
            "stated over inferred",
        ),
    ],
)
def test_worked_examples(
    rel: str, old: tuple[str, Any, float], new: tuple[str, Any, float], held: str, why: str
) -> None:
    found = settle(
        asking("Otto", rel),
        say(1, claim("Otto", rel, old[0], source_type=old[1]), "2025-01-01", p=old[2]),
        say(2, claim("Otto", rel, new[0], source_type=new[1]), "2025-02-01", p=new[2]),
    )
    assert [said.object for said in found.claims] == [held]
    (beaten,) = [one for one in found.candidates if not one.held]
    assert beaten.why.startswith(why)


def test_a_home_is_one_and_what_is_newer_holds_from_its_day_on() -> None:
    assert (
        settle(asking("Jonas", "lives_in"), LEEDS, EDINBURGH).decision.claim
        == "Jonas Adeyemi lives in Edinburgh"
    )
    before = settle(asking("Jonas", "lives_in", at="2025-05-16"), LEEDS, EDINBURGH)
    assert before.decision.claim == "Jonas lives in Leeds, in Meanwood"
    assert [source.id for source in before.others] == ["exp_2"]  # weighed: it holds at another time
    never = settle(asking("Jonas", "lives_in", at="2024-01-01"), LEEDS, EDINBURGH)
    assert never.decision.undecided.startswith("nothing that is known held then; from 2025-03-24 on")


def test_what_has_ended_does_not_hold() -> None:
    ended = say(1, claim("Ann", "works_for", "Craig", valid_to=EDINBURGH[0].since))
    found = settle(asking("Ann", "works_for"), ended)
    assert (
        found.decision.undecided == "nothing that is known holds then; until 2025-05-17: Ann works for Craig"
    )


def test_an_episode_begins_a_state() -> None:
    moved = say(2, claim("Nadia", "moved_to", "Ghent"), "2024-09-01")
    porto = say(1, claim("Nadia", "lives_in", "Porto"), "2024-01-07")
    assert settle(asking("Nadia", "lives_in"), porto, moved).decision.claim == "Nadia lives in Ghent"
    assert (
        settle(asking("Nadia", "lives_in", at="2024-08-31"), porto, moved).decision.claim
        == "Nadia lives in Porto"
    )


def test_an_episode_ends_a_state() -> None:
    job = say(1, claim("Ann", "works_at", "Fernhill"))
    left = say(2, claim("Ann", "left_job", "Fernhill"), "2025-06-06")
    found = settle(asking("Ann", "works_at"), job, left)
    assert found.decision.undecided.startswith("all that is known is what it is not")


def test_a_state_outlasts_the_days_of_the_episode_that_it_follows() -> None:
    """ "I moved to Ghent last week" is over on Sunday; living there is not."""
    week = {"valid_from": day("2024-08-26"), "valid_to": day("2024-09-02")}
    porto = say(1, claim("Nadia", "lives_in", "Porto"), "2024-01-07")
    moved = say(2, claim("Nadia", "moved_to", "Ghent", **week), "2024-09-03")
    assert settle(asking("Nadia", "lives_in"), porto, moved).decision.claim == "Nadia lives in Ghent"
    left = say(2, claim("Nadia", "moved_from", "Porto", **week), "2024-09-03")
    gone = settle(asking("Nadia", "lives_in"), porto, left).decision
    assert gone.undecided.startswith("all that is known is what it is not")


def test_likes_are_many_and_denials_take_one() -> None:
    coffee, tea = (
        say(1, claim("Jonas", "drinks", "coffee")),
        say(2, claim("Jonas", "drinks", "tea"), "2025-04-24"),
    )
    none = say(3, claim("Jonas", "drinks", "coffee", polarity=False), "2025-04-24")
    asks = asking("Jonas", "drinks")
    assert settle(asks, coffee, tea).decision.claim == "Jonas drinks coffee; Jonas drinks tea"
    assert settle(asks, coffee, tea, none).decision.claim == "Jonas drinks tea"
    check = asking("Jonas", "drinks", object="coffee", wants="check")
    assert settle(check, coffee, tea, none).decision.claim == "Jonas does not drink coffee"
    assert settle(check, coffee, tea).decision.claim == "Jonas drinks coffee"


def test_opposites_exclude_each_other() -> None:
    check = asking("Ann", "likes", "dislikes", object="rain", wants="check")
    love = say(1, claim("Ann", "loves", "rain"))
    hate = say(2, claim("Ann", "hates", "the rain"), "2025-04-01")
    assert settle(check, love, hate).decision.claim == "Ann hates the rain"
    assert settle(check, love).decision.claim == "Ann loves rain"


@pytest.mark.parametrize(
    ("rel", "one", "other", "differ"),
    [
        ("costs", "£45", "£54.00", True),
        ("costs", "1,180", "£1,180", False),
        ("costs", "£62", "$62", True),
        ("costs", "58k", "58,000", False),
        ("age_is", "41", "41 years", False),
        ("birthday", "21 June", "21 June 1990", False),
        ("birthday", "June 21st, 1990", "1990-06-21", False),
        ("birthday", "21 June", "22 June", True),
        ("lives_in", "Leeds", "Leeds, in Meanwood", False),
        ("lives_in", "York", "New York", True),
    ],
)
def test_numbers_and_dates_are_compared_as_such(rel: str, one: str, other: str, differ: bool) -> None:
    found = settle(
        asking("it", rel), say(1, claim("it", rel, one), p=0.9), say(2, claim("it", rel, other), p=0.6)
    )
    assert (len([one for one in found.candidates if not one.held]) == 1) == differ


def test_a_correction_holds_since_what_it_corrects() -> None:
    wrong = say(1, claim("invoice", "number_is", "INV-2043"), "2025-03-11")
    right = say(2, claim("invoice", "number_is", "INV-2034", source_type="corrected"), "2025-03-12")
    asks = asking("invoice", "number_is", at="2025-03-11T12:00:00")
    assert settle(asks, wrong, right).decision.claim == "invoice's number is INV-2034"


def test_a_second_hand_word_does_not_beat_ones_own() -> None:
    """Hearsay ranks as observed at most, however new and sure it is."""
    own = say(1, claim("Hamish", "lives_in", "Leith"), "2025-01-01", p=0.7)
    heard = say(2, claim("Hamish", "lives_in", "Oslo", said_by="Tola"), "2025-06-01", p=1.0)
    found = settle(asking("Hamish", "lives_in"), own, heard)
    assert found.decision.claim == "Hamish lives in Leith"
    hers = say(3, claim("Tola", "dislikes", "Baan Suk", said_by="Tola"))
    his = say(4, claim("Jonas", "likes", "Baan Suk"))
    opinion = asking("Jonas", "likes", "dislikes", object="Baan Suk", wants="check")
    assert settle(opinion, hers, his).decision.claim == "Jonas likes Baan Suk"
    assert [one.said.id for one in settle(opinion, hers, his).candidates] == ["exp_4"]


def test_equal_claims_are_undecided_until_something_tells_them_apart() -> None:
    one = say(1, claim("Ann", "born_on", "21 June 1990"))
    other = say(2, claim("Ann", "born_on", "22 June 1990"))
    asks = asking("Ann", "born_on")
    found = settle(asks, one, other)
    assert found.decision.claim == ""
    assert found.decision.undecided.startswith("nothing says which gives way")
    assert {candidate.held for candidate in found.candidates} == {False}
    assert "exp_1" in found.would_change[0]
    word = say(3, claim("Ann", "born_on", "22 June 1990", source_type="corrected"), "2025-04-01")
    assert settle(asks, one, other, word).decision.claim == "Ann was born on 22 June 1990"
    unsure = say(2, claim("Ann", "born_on", "22 June 1990"), p=0.6)
    assert settle(asks, one, unsure).decision.claim == "Ann was born on 21 June 1990"


def test_a_record_that_contradicts_itself_is_undecided() -> None:
    body = [claim("Ann", "allergic_to", "nuts"), claim("Ann", "allergic_to", "nuts", polarity=False)]
    both = [say(1, body[0]), say(1, body[1])]
    both[1] = [type(one)(**{**_fields(one), "k": 1}) for one in both[1]]
    found = settle(asking("Ann", "allergic_to", object="nuts", wants="check"), *both)
    assert found.decision.undecided.startswith("nothing says which gives way")


def _fields(one: Any) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__struct_fields__}


def test_a_voice_counts_once() -> None:
    asks = asking("Jonas", "lives_in")
    once = settle(asks, say(1, claim("Jonas", "lives_in", "Leeds"), p=0.6))
    echo = [say(k, claim("Jonas", "lives_in", "Leeds"), p=0.6) for k in range(1, 20)]
    twice = [say(k, claim("Jonas", "lives_in", "Leeds"), p=0.6, by=f"person {k}") for k in (1, 2)]
    assert settle(asks, *echo).decision == once.decision
    assert settle(asks, *twice).decision.residual_uncertainty < once.decision.residual_uncertainty


def test_a_models_own_confidence_may_only_lower() -> None:
    asks = asking("Jonas", "likes", object="sea", wants="check")
    said = claim("Jonas", "likes", "sea", source_type="inferred")
    sure = settle(asks, say(1, said, p=0.99, actor="agent"))
    unsaid = settle(asks, say(1, said, p=None, actor="agent"))
    assert sure.candidates[0].p == unsaid.candidates[0].p
    weak = settle(asks, say(1, said, p=0.02, actor="agent"))
    assert weak.decision.undecided == "too little speaks for it: Jonas likes sea"


def test_age_lowers_how_sure_it_is_and_not_what_is_held() -> None:
    fresh = settle(asking("Jonas", "lives_in", at="2025-05-18"), EDINBURGH)
    old = settle(asking("Jonas", "lives_in", at="2035-05-18"), EDINBURGH)
    assert fresh.decision.claim == old.decision.claim
    assert fresh.decision.residual_uncertainty < 0.2 < old.decision.residual_uncertainty
    born = [
        settle(asking("Jonas", "born_in", at=at), say(1, claim("Jonas", "born_in", "Lagos")))
        for at in ("2025-04-01", "2030-04-01")
    ]
    assert (
        born[1].decision.residual_uncertainty - born[0].decision.residual_uncertainty < 0.3
    )  # a trait is slow


def test_the_order_of_candidates_does_not_matter() -> None:
    groups = [LEEDS, EDINBURGH, say(3, claim("Jonas", "lives_in", "Leeds"), "2025-04-01", p=0.8)]
    outcomes = []
    for order in permutations(groups):
        said, sources = standing(*order)
        found = reconcile("?", asking("Jonas", "lives_in"), said, sources[::-1])
        outcomes.append((found.decision, found.candidates, found.would_change))
    assert all(one == outcomes[0] for one in outcomes)


def test_what_would_change_it() -> None:
    found = settle(asking("Jonas", "lives_in"), LEEDS, EDINBURGH)
    assert found.would_change == ("without exp_2: Jonas lives in Leeds, in Meanwood",)
    assert settle(asking("Zoe", "lives_in"), LEEDS).decision.undecided == "nothing is known of it"


# Bad input ends in an error that says what is wrong, or in an undecided stance.
@pytest.mark.parametrize("p", [float("nan"), -0.1, 1.1, float("inf")])
def test_what_is_no_probability_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match=r"exp_1: its p is .*; a probability lies in \[0, 1\]"):
        settle(asking("Jonas", "lives_in"), say(1, claim("Jonas", "lives_in", "Leeds"), p=p))


def test_certainty_is_taken_for_nearly_so() -> None:
    asks = asking("Jonas", "born_in")
    yes, no = (
        say(1, claim("Jonas", "born_in", "Leeds"), p=1.0),
        say(2, claim("Jonas", "born_in", "York"), p=0.0),
    )
    found = settle(asks, yes, no)
    assert found.decision.claim == "Jonas was born in Leeds"
    assert 0 < found.decision.residual_uncertainty < 0.02
    assert settle(asks, no).decision.undecided == "too little speaks for it: Jonas was born in York"
    assert settle(asks, yes, say(2, claim("Jonas", "born_in", "York"), p=1.0)).decision.claim == ""


def test_unknown_evidence_is_refused() -> None:
    said, _ = standing(LEEDS)
    with pytest.raises(
        ValueError, match=r"exp_1: its record is not among those given: unknown, forgotten or erased"
    ):
        reconcile("?", asking("Jonas", "lives_in"), said, [])


def test_records_that_rest_on_each_other_hold_nothing() -> None:
    said, _ = standing(LEEDS)
    cycle = [GroundedRecord(1, "exp_1", parents=(2,)), GroundedRecord(2, "exp_2", parents=(1,))]
    assert reconcile("?", asking("Jonas", "lives_in"), said, cycle).decision.claim == ""


def test_a_question_without_an_instant_is_refused() -> None:
    with pytest.raises(ValueError, match=r"asks\.at is missing"):
        reconcile("?", type(asking("x", "y"))(subjects=["x"], rels=["y"]), [], [])


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (claim("Jonas", "boss_is", "Annelise"), "Jonas's boss is Annelise"),
        (claim("Jonas", "works_as", "data engineer", polarity=False), "Jonas does not work as data engineer"),
        (claim("Lena", "neighbour", "Teresa"), "Lena's neighbour is Teresa"),
        (claim("Lena", "flatmate", "Bo", polarity=False), "Lena's flatmate is not Bo"),
        (claim("Ann", "studies", "law", polarity=False), "Ann does not study law"),
        (claim("Ann", "moved_to", "Ghent", polarity=False), "Ann did not move to Ghent"),
        (claim("wedding", "is_on", "21 June"), "wedding is on 21 June"),
        (claim("Ann", "going_to", "Oslo"), "Ann is going to Oslo"),
        (claim("Ann", "learning", "Welsh", polarity=False), "Ann is not learning Welsh"),
        (claim("Ann", "born_in", "Split"), "Ann was born in Split"),
        (claim("Ann", "joined", "the choir", polarity=False), "Ann did not join the choir"),
        (claim("Ann", "teaches", "maths", polarity=False), "Ann does not teach maths"),
        (claim("Ann", "can", "swim", polarity=False), "Ann cannot swim"),
        (claim("Ann", "has_condition", "asthma"), "Ann has asthma"),
        (claim("Harbour Lane Café", "has invoice", "INV-2034"), "Harbour Lane Café has invoice INV-2034"),
    ],
)
def test_claims_in_words(said: Claim, words: str) -> None:
    assert words_of(said) == words


def test_a_question_for_a_time_is_not_answered_by_names_alone() -> None:
    engaged = say(1, claim("Owen", "engaged_to", "Sam", valid_from=day("2024-04-14")))
    wed = say(2, claim("Owen", "did", "had their wedding with Sam", valid_from=day("2025-05-10")))
    asks = asking("Owen", object="wedding of Owen and Sam", wants="time")
    assert settle(asks, engaged).decision.undecided == "nothing is known of it"
    assert settle(asks, engaged, wed).decision.claim == "Owen had their wedding with Sam on 2025-05-10"
