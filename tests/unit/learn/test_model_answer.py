"""What a model answered: JSON mended by the table of the design, items taken one by one, and no answer that harms."""

import json
import time
from typing import Any, Final

import pytest

from braid.learn.candidate import Candidate, Maker
from braid.learn.model.answer import MAX_ITEMS, Answered, answered
from braid.learn.model.prompt import Numbered
from braid.learn.model.repair import MAX_CHARS, mended
from braid.learn.model.schema import SCHEMA, Extracted, outline
from tests.unit.learn.model_double import turn

MAKER: Final = Maker("model", "1", "small-1")
FACT: Final[dict[str, Any]] = {
    "turn": 1, "quote": "I live in Porto", "relation": "lives_in", "object": "Porto", "confidence": 0.9,
}  # fmt: skip
TURNS: Final = {
    1: Numbered(turn("I live in Porto, and my boss Kim hates Mondays.", at=10), is_read=True),
    2: Numbered(turn("You said Rome.", at=11, role="assistant"), is_read=False),
    3: Numbered(turn("We use\n  Kafka here.", at=12), is_read=True),
}


def take(value: object) -> Answered:
    return answered(value if isinstance(value, str) else json.dumps(value), TURNS, MAKER)


def facts(**changed: Any) -> dict[str, Any]:
    return {"facts": [FACT | changed]}


REPAIRS: Final = {
    "fence": ('```json\n{"facts": []}\n```', ("fence",)),
    "a fence with talk around it": ('Here:\n```json\n{"facts": []}\n```\nDone.', ("fence",)),
    "a trailing comma": ('{"facts": [],}', ("comma",)),
    "single quotes": ("{'facts': []}", ("quotes",)),
    "cut off": ('{"facts": [{"turn": 1, "quote": "I live in Por', ("truncated",)),
    "cut off within a list": ('{"facts": [{"turn": 1}', ("truncated",)),
    "talk before it": ('Sure! Here it is: {"facts": []}', ("preamble",)),
    "talk around it": ('Sure: {"facts": []} I hope this [helps] {you}.', ("preamble", "explanation")),
    "talk behind it": ('{"facts": []}\n\nNote: nothing was said.', ("explanation",)),
    "comma and fence": ('```\n{"facts": [],}\n```', ("fence", "comma")),
}


@pytest.mark.parametrize("name", REPAIRS)
def test_each_row_of_the_repair_table(name: str) -> None:
    said, mends = REPAIRS[name]
    found = mended(said)
    assert isinstance(found.value, dict)
    assert "facts" in found.value
    assert found.mends == mends


def test_sound_json_is_not_mended() -> None:
    assert mended('{"facts": []}').mends == ()
    assert mended("[]").value == []


@pytest.mark.parametrize(
    "said", ["", " ", "I can't.", "```", "null", "12", '"text"', "{", "[", "\x00", "]]]]}}}}"]
)
def test_what_holds_no_json_is_nothing(said: str) -> None:
    assert not mended(said).value
    assert take(said).candidates == ()


def test_mends_are_told_and_what_was_cut_off_still_counts() -> None:
    said = json.dumps({"facts": [FACT, FACT]})[:-40]
    found = take(f"Sure!\n{said}")
    assert len(found.candidates) == 1
    assert found.warnings == (("repair", "preamble"), ("repair", "truncated"), ("item", "cut_off"))


def test_of_an_item_that_was_cut_off_nothing_is_taken() -> None:
    said = json.dumps(facts(modality="hypothetical"))
    found = take(said[: said.index(', "modality')])
    assert found.candidates == ()
    assert ("item", "cut_off") in found.warnings


HOSTILE: Final = {
    "deep lists": "[" * 100_000,
    "deep objects": '{"facts":' * 40_000,
    "quotes": '"' * 100_000,
    "a flood of broken items": "{'facts': [" + "{'turn': 1,, " * 8_000,
    "backslashes": "{" + "\\" * 100_000,
    "longer than is read": '{"facts": [' + "1," * MAX_CHARS,
    "talk": "abc { [ " * 20_000,
    "NaN": '{"facts": [{"turn": 1, "quote": "I live in Porto", "relation": "x", "object": "y", "confidence": NaN}]}',
    "Infinity": '{"facts": [{"turn": 1, "quote": "x", "relation": "x", "object": "y", "confidence": Infinity}]}',
    "half a character": '{"facts": [{"turn": 1, "quote": "\\ud800", "relation": "x", "object": "y"}]}',
    "a huge number": '{"facts": [{"turn": 1'
    + "0" * 5_000
    + ', "quote": "x", "relation": "x", "object": "y"}]}',
    "a list of lists": "[[[[]]]]",
    "keys of no text": '{"facts": {"1": 2}}',
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", HOSTILE)
def test_no_answer_raises_or_takes_long(name: str) -> None:
    began = time.thread_time()
    found = answered(HOSTILE[name], TURNS, MAKER)
    assert found.candidates == ()
    assert time.thread_time() - began < 5


def test_of_a_million_items_some_hundreds_are_looked_at() -> None:
    found = take({"facts": [FACT] * (MAX_CHARS // 200)})
    assert len(found.candidates) == MAX_ITEMS
    assert ("item", "too_many") in found.warnings


WRONG: Final[list[object]] = [
    None, 1, "text", [], {}, {"turn": 1}, FACT | {"turn": "x"}, FACT | {"turn": 0}, FACT | {"turn": 1.5},
    FACT | {"quote": ""},
    FACT | {"quote": 3}, FACT | {"quote": "x" * 2_000}, FACT | {"object": None}, FACT | {"object": ["Porto"]},
    FACT | {"confidence": 1.2}, FACT | {"confidence": -1}, FACT | {"confidence": "high"}, FACT | {"relation": ""},
    FACT | {"modality": "sure"}, FACT | {"polarity": True},
    FACT | {"source": "verified"}, FACT | {"temporal": "always"},
]  # fmt: skip


@pytest.mark.parametrize("item", WRONG)
def test_an_item_of_the_wrong_form_harms_no_other(item: object) -> None:
    found = take({"facts": [item, FACT]})
    assert [one.claim.object for one in found.candidates] == ["Porto"]
    assert ("item", "schema") in found.warnings


def test_unknown_members_and_numbers_as_text_do_no_harm() -> None:
    (one,) = take(facts(turn="1", confidence="0.8", mood="sunny")).candidates
    assert (one.evidence.turn, one.confidence) == (10, 0.8)


@pytest.mark.parametrize(
    "value",
    [facts(), [FACT | {"type": "fact"}], {"type": "fact", **FACT}, {"facts": FACT}, [facts()]],
)
def test_items_are_found_however_they_are_wrapped(value: object) -> None:
    (one,) = take(value).candidates
    assert one.claim.object == "Porto"


def test_a_candidate_has_the_turns_own_bytes() -> None:
    (one,) = take(facts(quote="i live in  porto")).candidates
    assert (one.evidence.turn, one.evidence.start, one.evidence.quote) == (10, 0, "I live in Porto")
    assert one.claim.quote == one.evidence.quote
    assert one.maker == MAKER
    assert one.claim.subject == "Maya"  # user is who speaks


def test_a_quote_over_two_lines_is_found() -> None:
    (one,) = take(facts(turn=3, quote="We use Kafka here", relation="uses", object="Kafka")).candidates
    assert one.evidence.quote == "We use\n  Kafka here"


def test_a_wrong_number_is_put_right_where_another_turn_has_the_words() -> None:
    found = take(facts(turn=3))
    assert found.candidates[0].evidence.turn == 10
    assert ("item", "another_turn") in found.warnings


def test_of_a_turn_that_was_context_nothing_is_taken() -> None:
    found = take(facts(turn=2, quote="You said Rome", object="Rome"))
    assert found.candidates == ()
    assert found.warnings == (("item", "turn"),)
    assert take(facts(turn=99, quote="nowhere")).candidates == ()


def test_words_that_are_nowhere_go_to_the_gates_as_they_are() -> None:
    (one,) = take(facts(quote="I live in Rome")).candidates
    assert (one.evidence.turn, one.evidence.start, one.evidence.quote) == (10, 0, "I live in Rome")


def test_what_touches_a_secret_and_irony_are_none() -> None:
    assert take(facts(object="REDACTED_CARD_1")).warnings == (("item", "secret"),)
    assert take(facts(sarcastic=True)).warnings == (("item", "sarcasm"),)


def of(kind: str, /, **item: Any) -> list[Candidate]:
    return list(take({kind: [{"turn": 1, "quote": "I live in Porto", "confidence": 0.6} | item]}).candidates)


def test_each_type_becomes_its_claim() -> None:
    (one,) = of("preferences", relation="prefers", object="email", polarity="positive", category="communication",
                key="Dispute Notification!", strength=0.9)  # fmt: skip
    assert (one.claim.rel, one.claim.polarity, one.key, one.strength) == (
        "prefers",
        True,
        "dispute_notification",
        0.9,
    )
    (one,) = of("preferences", relation="likes", object="tea", polarity="negative", key=None)
    assert (one.claim.rel, one.claim.polarity, one.key) == ("likes", False, "tea")
    (one,) = of("preferences", relation="dislikes", object="tea", polarity="negative")
    assert (one.claim.rel, one.claim.polarity) == ("dislikes", True)
    assert of("preferences", relation="dislikes", object="tea", polarity="positive") == []
    assert of("preferences", relation="likes", object="tea", polarity="neutral") == []
    (one,) = of("skills", skill="API integration", proficiency="advanced")
    assert (one.type, one.claim.rel, one.proficiency) == ("skill", "skilled_in", "advanced")
    (one,) = of("interests", topic="jazz", engagement="high")
    assert (one.type, one.claim.details) == ("interest", {"engagement": "high"})
    (one,) = of("goals", goal="a marathon", modality="wanted")
    assert (one.type, one.claim.rel, one.modality, one.claim.details) == (
        "goal", "goal", "wanted", {"modality": "wanted"},
    )  # fmt: skip
    (one,) = of("episodes", relation="visited", object="Lisbon", when="2026-02-03")
    assert one.claim.valid_from is not None
    assert (one.temporal, one.claim.valid_from.isoformat()) == ("episode", "2026-02-03T00:00:00+00:00")
    (one,) = of("episodes", relation="visited", object="Lisbon", when="2026-13-99")
    assert one.claim.valid_from is None
    (one,) = of("steps", procedure="deploy", order=2, action="run the linter")
    assert (one.claim.subject, one.claim.object, one.claim.details) == (
        "deploy",
        "run the linter",
        {"order": "2"},
    )
    (one,) = of("entities", name="Kim", kind="person", aliases=["Kimmy"])
    assert (one.type, one.claim.subject, one.claim.object) == ("entity", "Kim", "person")
    (one,) = of("relations", subject="Kim", relation="boss of", object="Maya")
    assert (one.type, one.claim.rel) == ("relation", "boss_of")
    (one,) = of("facts", subject="Kim", relation="thinks", object="so", said_by="Kim", hedge="I think")
    assert (one.claim.said_by, one.claim.hedge) == ("Kim", "I think")


def test_a_correction_names_what_holds_and_takes_back_what_doesnt() -> None:
    (one,) = of("corrections", relation="lives_in", was="Rome", now="Porto")
    assert (one.type, one.claim.object, one.claim.source_type) == ("correction", "Porto", "corrected")
    new, old = of("corrections", relation="uses", was="Kafka", now="NATS")
    assert (new.claim.object, new.claim.polarity, old.claim.object, old.claim.polarity) == (
        "NATS",
        True,
        "Kafka",
        False,
    )
    (gone,) = of("corrections", relation="lives_in", was="Rome", now=None)
    assert gone.claim.polarity is False
    assert of("corrections", relation="lives_in", was=None, now=None) == []


def test_the_schema_is_what_strict_servers_take() -> None:
    def check(schema: dict[str, Any]) -> None:
        assert not set(schema) - {
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "anyOf",
            "description",
        }
        if schema.get("type") == "object":
            assert schema["required"] == list(schema["properties"])
            assert schema["additionalProperties"] is False
        for each in (*schema.get("properties", {}).values(), *schema.get("anyOf", ())):
            check(each)
        if "items" in schema:
            check(schema["items"])

    check(dict(SCHEMA))
    assert list(SCHEMA["properties"]) == list(Extracted.__struct_fields__)
    assert all(f"  {kind}: " in outline() for kind in Extracted.__struct_fields__)
