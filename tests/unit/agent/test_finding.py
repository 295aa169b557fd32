"""A note is what a text comes to: names, values and the finding, within its tokens, and nothing that it doesn't say."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.agent.composer import Composed
from braid.agent.program.composers import failed
from braid.agent.program.note import finding
from braid.recall.context import tokens

NOW = datetime(2025, 6, 1, tzinfo=UTC)
BOILER = (
    "Lotte said on 3 March 2025: “Well, you know how it is, the boiler in the hall was replaced by Farah Haddad on 24"
    " March for £310 because the old one leaked.”"
)


@pytest.mark.parametrize(
    ("text", "question", "says", "leaves"),
    [
        (BOILER, "When was the boiler replaced?", ["replaced by Farah Haddad on 24 March for £310"], ["Lotte", "Well"]),
        (
            "I have thought about it for a long time and I am really not going to move to Porto with Owen in September"
            " after all.",
            "Where will Maya move?",
            ["not", "to Porto with Owen in September"],
            ["thought"],
        ),
        (
            "Hello there! It was such a lovely day. The invoice of the café, INV-2034 not INV-2043, comes to"
            " £1,260.00 and is due on 28 March.",
            "How much is the café's invoice?",
            ["INV-2034 not INV-2043", "£1,260.00", "on 28 March"],
            ["Hello", "lovely"],
        ),
        (
            "She never told anybody at the office in Leeds that the contract with Nettle ends on 30 April and isn't"
            " renewed.",
            "When does the contract end?",
            ["never", "with Nettle", "on 30 April"],
            [],
        ),
    ],
)  # fmt: skip
def test_a_long_text_becomes_names_values_and_the_finding(
    text: str, question: str, says: list[str], leaves: list[str]
) -> None:
    note = finding(text, question, 20, NOW)
    assert tokens(note) <= 20
    assert [one for one in says if one not in note] == []
    assert [one for one in leaves if one in note] == []


def test_a_short_text_stays_as_it_is() -> None:
    assert (
        finding("  The cat is  called Miso. ", "What is the cat called?", 20, NOW)
        == "The cat is called Miso."
    )


@pytest.mark.parametrize("text", ["a" * 500, "the of and to in at on by for with " * 10, "… “” :;" * 30])
def test_what_says_nothing_is_cut(text: str) -> None:
    assert tokens(finding(text, "x", 20, NOW)) <= 20


@given(st.text(max_size=300), st.text(max_size=40), st.integers(1, 20))
def test_a_note_says_only_words_of_its_text_in_their_order(text: str, question: str, most: int) -> None:
    note = finding(text, question, most, NOW)
    assert not note or tokens(note) <= most
    rest = iter("".join(text.split()))
    assert all(letter in rest for letter in "".join(note.split()))


def test_an_answer_names_the_tools_that_failed_and_not_what_they_told() -> None:
    one = Composed(text="I don't know.", citations=(), abstained=True, reason="nothing was found")
    told = failed(
        one, {"shop": "the tool shop raised X: <b>closed</b>", "clock": "the tool clock took longer"}
    )
    assert told.text == "I don't know. The tools shop and clock failed."
    assert (
        told.reason == "nothing was found; the tool shop raised X: <b>closed</b>; the tool clock took longer"
    )
    assert failed(one, {}) is one
    known = Composed(text="It is nine.", citations=(), p=0.9)
    assert failed(known, {"clock": "x"}).text == "It is nine. The tool clock failed."
