"""A quote is the turn's own words; what is like it is none."""

import pytest

from braid.learn.gates.evidence import Found, evidence, located, says_the_same
from braid.learn.gates.outcome import GateError
from braid.learn.turn import Turn


@pytest.mark.parametrize(
    ("text", "quote", "start", "found"),
    [
        ("I live in Paris.", "I live in Paris", 0, Found(0, "I live in Paris")),
        ("Yes. I live in Paris.", "I live in Paris", 0, Found(5, "I live in Paris")),
        ("I live  in\nParis!", "i live in paris", 0, Found(0, "I live  in\nParis")),
        ("It’s “fine”, really", "it's 'fine' really", 0, Found(0, "It’s “fine”, really")),
        ("My in-app pop-ups", "in app popups", 0, Found(3, "in-app pop-ups")),
        ("ﬁrst oﬃce", "first office", 0, Found(0, "ﬁrst oﬃce")),
        ("\uff28\uff45llo all", "hello", 0, Found(0, "\uff28\uff45llo")),
        ("Cafe\u0301 Nord", "caf\u00e9 nord", 0, Found(0, "Cafe\u0301 Nord")),
        ("tea, tea, tea", "tea", 5, Found(5, "tea")),
        ("tea, tea, tea", "tea", 9, Found(10, "tea")),
        ("it costs £1,180.50 a month", "costs £1,180.50", 0, Found(3, "costs £1,180.50")),
    ],
)
def test_it_is_found_as_the_turn_wrote_it(text: str, quote: str, start: int, found: Found) -> None:
    assert located(text, quote, start) == found
    assert text[found.start : found.stop] == found.quote


@pytest.mark.parametrize(
    ("text", "quote", "outcome"),
    [
        ("I live in Parma.", "I live in Paris.", "quote_differs"),
        ("I pay 15 a month", "I pay 51 a month", "quote_differs"),
        ("I pay 1.5 a month", "I pay 15 a month", "quote_differs"),
        ("I pay -5 a month", "I pay 5 a month", "quote_differs"),
        ("I pay £45 a month", "I pay $45 a month", "quote_differs"),
        ("It grew 5% in May", "It grew 5 in May", "quote_differs"),
        ("I do not smoke at all", "I do smoke at all", "quote_differs"),
        ("I smoke, do not I", "I smoke, don't I", "quote_differs"),
        ("this is notable", "this is no table", "quote_differs"),
        ("año nuevo aqui", "ano nuevo aqui", "quote_differs"),
        ("I love the carpets here", "I love the carp", "inside_a_word"),
        ("Nothing like it here", "I bought a castle in Spain", "quote_absent"),
        ("anything", "!?", "quote_empty"),
        ("anything", "", "quote_empty"),
    ],
)
def test_what_is_merely_like_it_is_refused(text: str, quote: str, outcome: str) -> None:
    with pytest.raises(GateError) as stopped:
        located(text, quote)
    assert stopped.value.outcome == outcome


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_only_a_speaker_gives_evidence(role: str) -> None:
    with pytest.raises(GateError) as stopped:
        evidence(Turn("I live in Rome.", role=role), "I live in Rome", 0)
    assert stopped.value.outcome == "not_a_speaker"


def test_an_event_may_come_from_a_tool_but_not_from_the_assistant() -> None:
    assert evidence(Turn("email", role="tool"), "email", 0, spoken=False) == Found(0, "email")
    with pytest.raises(GateError):
        evidence(Turn("email", role="assistant"), "email", 0, spoken=False)


@pytest.mark.parametrize(
    "text",
    [
        "<memory id='x'>I live in Rome.</memory> ok",
        "<experience_context>\nI live in Rome.\n</experience_context>",
        "[memory 3] I live in Rome.",
        "<data-0af3>I live in Rome.",
    ],
)
def test_what_recall_put_there_is_no_evidence(text: str) -> None:
    with pytest.raises(GateError) as stopped:
        evidence(Turn(text), "I live in Rome", 0)
    assert stopped.value.outcome == "recalled"


def test_it_says_the_same_only_with_the_same_numbers_and_denials() -> None:
    assert says_the_same("I don’t eat  nuts", "i don't eat nuts")
    assert not says_the_same("two 2", "two 3")
    assert not says_the_same("cannot", "can not")
