"""The tone of captured turns by their words: what it says, that it is the same everywhere, and how near it comes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.affect import turn
from braid.ledger.record.record import Provenance


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("I love it, thank you so much!", 1),
        ("What a wonderful, happy day", 1),
        ("😍", 1),
        ("I am so sad today, my dog died", -1),
        ("I hate this, it is terrible!!!", -1),
    ],
)
def test_words_say_which_side_a_turn_is_on(text: str, side: int) -> None:
    read = turn.tone(text)
    assert read is not None
    assert side * read.valence > 0.2
    assert read.method == turn.METHOD
    assert read.confidence > 0.5


@pytest.mark.parametrize("text", ["", " \n", "Это хорошо", "12 34", "zzxq qqzz"])
def test_a_turn_without_a_known_word_has_no_tone(text: str) -> None:
    assert turn.tone(text) is None


def test_the_numbers_are_those_of_every_machine() -> None:
    """Written down once: another function or other weights are another `METHOD`, and these change with it."""
    assert turn.METHOD == "words-1"
    read = [turn.tone(text) for text in ("I love it, thank you so much!", "I don’t want to go. It’s awful")]
    assert [tuple(one) for one in read if one] == [
        (0.66, 0.86, 0.3, ("joy",), 1.0, 0.88, "words-1"),
        (-0.26, 0.52, 0.1, ("frustration",), 0.28, 0.8, "words-1"),
    ]


def test_few_known_words_make_it_less_sure() -> None:
    plain, strange = turn.tone("I love it"), turn.tone("I love it " + "zzxq " * 30)
    assert plain is not None
    assert strange is not None
    assert strange.confidence < plain.confidence / 2


def test_typed_quotes_and_apostrophes_hide_no_word() -> None:
    assert turn.words("“Don’t” … stop") == turn.words('"Don\'t" stop')


def test_only_the_head_is_read_and_the_cost_is_bounded() -> None:
    head = "It was a terrible, awful day. ".ljust(turn.HEAD, "x")
    assert turn.tone(head + "I love it! " * 100_000) == turn.tone(head)


@given(st.text(max_size=400))
def test_any_text_has_a_tone_in_range_or_none(text: str) -> None:
    read = turn.tone(text)
    if read is not None:
        assert -1 <= read.valence <= 1
        assert 0 <= read.arousal <= 1
        assert -1 <= read.dominance <= 1
        assert 0 <= read.confidence <= 1


@pytest.mark.parametrize(
    ("type_", "actor", "captured"),
    [
        ("occurrence", "user", True),
        ("occurrence", "agent", True),
        ("occurrence", "tool(search)", False),
        ("inference", "agent", False),
        ("observation", "user", False),
    ],
)
def test_turns_of_people_and_agents_are_captured(type_: str, actor: str, captured: bool) -> None:
    assert turn.is_captured(type_, Provenance(actor=actor, method="capture")) is captured
