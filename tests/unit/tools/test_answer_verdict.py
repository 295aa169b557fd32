"""The judge of answers to talks, on answers that mean to pass: values by worth, what is denied, what held once."""

import json
from typing import Any

import msgspec
import pytest

from braid.agent.composer import Composed, QuestionContext
from braid.tools.evaluation.answer_verdict import Given, Judgement, TalkQuestion, judge, words_of
from braid.tools.evaluation.extraction_scores import wilson
from braid.tools.evaluation.talk_answers import ask_talks, read_questioned, summary

TEXTS = {
    "t1": "they want 35 a head, first sat the 21st",
    "t2": "sunday menu's only 28 a head",
    "t3": "ok so it is the 22nd then, not the 21st",
    "t4": "the Dohertys are coming now",
    "t5": "Maeve brings the cake and Orla brings 12 chairs",
    "t6": "the car PASSED",
}
PRICE: dict[str, Any] = {
    "asks": "amount", "answer": "28 a head", "accept": ("28 a head", "€28"), "turns": ("t2",),
    "stale": ("35 a head",),
}  # fmt: skip
DAY: dict[str, Any] = {
    "asks": "when", "answer": "22 March", "accept": ("22nd", "22 march"), "turns": ("t3",), "stale": ("21st",),
}  # fmt: skip
CAME: dict[str, Any] = {
    "asks": "yes_no", "answer": "Yes, after all", "accept": ("are coming now", "yes"), "turns": ("t4",),
    "stale": ("not coming",),
}  # fmt: skip


def verdict(
    wanted: dict[str, Any], text: str, cited: str, *, short: str = "", rung: str = "told"
) -> Judgement:
    question = TalkQuestion(id="q1", question="?", **wanted)
    given = Given(rung=rung, text=text, short=short, cited=tuple(cited.split()))  # type: ignore[arg-type]
    return judge(question, given, TEXTS, "orla")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the 20th of March", "2026-03-20"), ("Mar 20", "20 march"), ("3k", "3,000"), ("three thousand", "3000"),
        ("9:15", "09.15"), ("£1,146.00", "1146"), ("twenty-two", "22"), ("Zoë’s", "zoes"), ("1.5k", "1500"),
    ],
)  # fmt: skip
def test_values_are_compared_by_what_they_are_worth(one: str, other: str) -> None:
    bare = [word for word in words_of(one) if word not in ("the", "of")]
    assert bare == list(words_of(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [("28", "280"), ("8", "18"), ("2 March", "20 March"), ("9.15", "9.5"), ("1,146", "146"), ("65", "165")],
)
def test_no_number_is_part_of_another(one: str, other: str) -> None:
    assert not set(words_of(one)) <= set(words_of(other))


@pytest.mark.parametrize(
    ("wanted", "text", "cited"),
    [
        (PRICE, "28 a head.", "t2"),
        (PRICE, "It came to €28 per person.", "t2"),
        (PRICE, "I believe that this answers it: Fintan said on 18 February 2026: “only 28 a head”.", "t2"),
        (PRICE, "28 a head, not 35 a head.", "t2 t1"),
        (PRICE, "It was 35 a head at first, now 28 a head.", "t1 t2"),
        (PRICE, "28 a head. Until 18 February it was 35 a head.", "t2"),
        (PRICE, "This may have changed. Fintan said on 5 February 2026: “they want 35 a head”. Fintan said on 18"
         " February 2026: “only 28 a head”.", "t1 t2"),
        (DAY, "Sunday 22 March 2026.", "t3"),
        (DAY, "On 2026-03-22.", "t3"),
        (DAY, "Orla said on 17 February 2026: “it is the 22nd then, not the 21st”.", "t3"),
        (CAME, "Yes, I believe. Maeve said on 1 March 2026: “the Dohertys are coming now”.", "t4"),
        (CAME, "Maeve said on 1 March 2026: “the Dohertys are coming now”.", "t4"),
    ],
)  # fmt: skip
def test_a_right_answer_is_right_however_it_is_put(wanted: dict[str, Any], text: str, cited: str) -> None:
    assert verdict(wanted, text, cited) == Judgement("right", "told and cited")


@pytest.mark.parametrize(
    ("wanted", "text", "cited", "why"),
    [
        (PRICE, "28 a head.", "t1", "the right value, citing"),
        (PRICE, "28 a head.", "", "the right value, citing"),
        (PRICE, "It is not 28 a head.", "t2", "the right value, denied"),
        (PRICE, "35 a head.", "t2", "a stale value"),
        (PRICE, "I am not sure, but perhaps 35 a head.", "t1", "a stale value"),
        (PRICE, "35, I believe.", "t2", "a stale value"),
        (PRICE, "28 a head. 35 a head.", "t2 t1", "a stale value"),
        (PRICE, "Fintan said on 5 February 2026: “they want 35 a head”. Fintan said on 18 February 2026: “only 28 a"
         " head”.", "t1 t2", "a stale value"),
        (PRICE, "Until 18 February it was 35 a head.", "t2", "another piece"),
        (PRICE, "280 a head.", "t2", "another piece"),
        (PRICE, "Nobody knows.", "t5", "another turn"),
        (DAY, "Orla said on 22 March 2026: “they want 35 a head”.", "t3", "another piece"),
        (DAY, "Perhaps the 21st, but I am not sure.", "t3", "a stale value"),
        (CAME, "No, I believe. Maeve said on 1 March 2026: “the Dohertys are coming now”.", "t4", "yes for no"),
        (CAME, "Perhaps no, but I am not sure.", "t4", "yes for no"),
        (CAME, "The Dohertys are not coming.", "t4", "a stale value"),
    ],
)  # fmt: skip
def test_a_wrong_answer_is_wrong_however_it_is_put(
    wanted: dict[str, Any], text: str, cited: str, why: str
) -> None:
    found = verdict(wanted, text, cited)
    assert found.verdict == "wrong"
    assert found.why.startswith(why)


def test_the_fewest_words_count_as_told() -> None:
    quoted = "Orla said on 17 February 2026: “it is the 22nd then, not the 21st”."
    assert verdict(DAY, quoted, "t3", short="the 22nd").verdict == "right"
    assert verdict(DAY, quoted, "t3", short="the 21st").why.startswith("a stale value")
    other = "Sunday, I believe. Orla said on 17 February 2026: “it is the 22nd then, not the 21st”."
    assert verdict(DAY, other, "t3", short="Sunday").why.startswith("another piece")


def test_who_said_it_is_told_by_the_frame_of_a_quotation() -> None:
    who: dict[str, Any] = {"asks": "who_said", "answer": "Maeve", "accept": ("maeve",), "turns": ("t6",)}
    assert verdict(who, "Maeve said on 1 March 2026: “the car PASSED”.", "t6").verdict == "right"
    assert verdict(who, "Fintan said on 1 March 2026: “the car PASSED”.", "t6").verdict == "wrong"
    mine: dict[str, Any] = who | {"accept": ("orla",)}
    assert verdict(mine, "You did.", "t6").verdict == "right"


def test_a_list_told_in_part_is_neither_right_nor_wrong() -> None:
    listed: dict[str, Any] = {
        "asks": "list", "answer": "cake and chairs", "accept": ("cake",), "also": ("12 chairs",), "turns": ("t5",),
        "stale": ("kayak",),
    }  # fmt: skip
    assert verdict(listed, "Cake, and twelve chairs.", "t5").verdict == "right"
    assert verdict(listed, "Cake.", "t5") == Judgement("in part", "without 12 chairs")
    assert verdict(listed, "Twelve chairs.", "t5").verdict == "in part"
    assert verdict(listed, "Cake and a kayak.", "t5").verdict == "wrong"
    assert verdict(listed, "Cake.", "t1").verdict == "wrong"


def test_what_is_only_near_or_unsaid_is_judged_by_its_turn() -> None:
    assert verdict(PRICE, "Near: “28 a head”", "t1 t2", rung="near").verdict == "near with it"
    assert verdict(PRICE, "Near: “28 a head”", "t1", rung="near").verdict == "near without"
    assert verdict(PRICE, "I don't know.", "", rung="silent").verdict == "silent"


def test_what_was_never_said_may_not_be_told() -> None:
    never: dict[str, Any] = {
        "asks": "value", "answer": "not said", "accept": (), "turns": (), "never_said": True,
    }  # fmt: skip
    assert verdict(never, "Blue.", "t1").verdict == "told never said"
    assert verdict(never, "Near: “blue”", "t1", rung="near").verdict == "untold never said"
    assert verdict(never, "I don't know.", "", rung="silent").verdict == "untold never said"


TALK: dict[str, Any] = {
    "kind": "messenger", "name": "m", "user_id": "ida",
    "turns": [{"id": "t1", "speaker": "Ida", "role": "user", "at": "2026-03-02T18:04:00+00:00",
               "text": "I bought a red canoe."}],
    "questions": [
        {"id": "q1", "question": "What did Ida buy?", "asks": "value", "answer": "a canoe", "accept": ["canoe"],
         "turns": ["t1"]},
        {"id": "q2", "question": "Where does the vicar of Stoke keep his bees?", "asks": "place", "answer": "not said",
         "accept": [], "turns": [], "never_said": True},
    ],
}  # fmt: skip


class Canoeist:
    """Says that it was a canoe where that is asked, citing what was found, and else nothing."""

    name = "canoeist"
    version = "1"

    def compose(self, asked: QuestionContext) -> Composed:
        if "buy" not in asked.question:
            return Composed(text="I don't know.", citations=(), abstained=True, reason="no canoe")
        id = asked.hits[0].id
        return Composed(text=f"A canoe [{id}].", citations=(id,), short="a canoe", p=0.9)


def test_a_talk_is_asked_at_the_front_door_and_counted() -> None:
    talks = read_questioned([("m.json", json.dumps(TALK).encode())])
    asked = ask_talks(talks, composer=Canoeist())
    assert [(one.id, one.verdict) for one in asked] == [("q1", "right"), ("q2", "untold never said")]
    assert asked[0].cited == ("t1",)
    found = summary(asked)
    assert found["kinds"]["messenger"]["right"] == msgspec.to_builtins(wilson(1, 1))
    assert found["all"]["never_said_told"]["of"] == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"turns": []}, "it has no turn"),
        ({"questions": [TALK["questions"][0] | {"turns": ["t9"]}]}, "q1 names the turn t9"),
        ({"questions": [TALK["questions"][0] | {"accept": []}]}, "q1 has an answer"),
        ({"questions": 3}, "not a talk with questions"),
    ],
)
def test_what_is_no_talk_is_refused(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=f"m.json: {why}"):
        read_questioned([("m.json", json.dumps(TALK | change).encode())])
