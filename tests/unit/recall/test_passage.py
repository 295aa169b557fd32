"""Of a long text the part that is asked about: never more than was asked for, cut where sentences are."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.recall.passage import CUT, passage
from braid.text.words import telling

FILLER = "I went to the market on Monday, and bought apples. It rained for hours. "
SAID = "The key of the boathouse is under the blue pot. Nobody else knows."
LONG = FILLER * 200 + SAID + " " + FILLER * 200


def test_a_short_text_is_whole() -> None:
    assert passage(SAID, ["key"], len(SAID)) is SAID


def test_the_part_that_holds_most_of_the_words() -> None:
    found = passage(LONG, telling("Where are the keys for the boathouse?"), 200)
    assert SAID in found
    assert found.startswith(CUT)
    assert found.endswith(CUT)


def test_the_beginning_where_no_word_stands_in_it() -> None:
    found = passage(LONG, ["zebra"], 120)
    assert found == f"{FILLER.strip()}{CUT}"


def test_the_end_has_no_mark_behind_it() -> None:
    text = FILLER * 50 + SAID
    assert passage(text, ["blue", "pot"], 90).endswith("Nobody else knows.")


def test_what_is_left_is_cut_at_sentences() -> None:
    found = passage(LONG, ["boathouse"], 300).strip(CUT)
    assert found[:6] in {"I went", "It rai", "The ke"}
    assert found[-1] == "."


@given(
    text=st.text(max_size=600), words=st.lists(st.text(max_size=8), max_size=5), limit=st.integers(40, 300)
)
def test_it_is_never_longer_than_asked_and_all_of_it_was_said(
    text: str, words: list[str], limit: int
) -> None:
    found = passage(text, words, limit)
    assert len(found) <= limit or found is text
    assert found.removeprefix(CUT).removesuffix(CUT) in text or found in text


@pytest.mark.sample(2)
@pytest.mark.parametrize("text", ["key " * 300_000, "a" * 1_000_000, "\n" * 1_000_000])
def test_a_text_of_a_megabyte_takes_no_longer_than_its_length(text: str) -> None:
    started = time.process_time()
    assert len(passage(text, ["key", "pot"], 400)) <= 400
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("early", "late", "question"),
    [
        ("Care of the carpet: a carpenter carried cards.", "My car is parked in bay 14.", "Where is my car?"),
        ("A pass and a port.", "my_passport=12", "passport"),
        ("我每天去公园散步。", "妹妹的电话号码是七七八八。", "妹妹的电话号码"),
        ("a" * 5000, "The rent is 900.", "rent"),
    ],
)  # fmt: skip
def test_whole_words_go_before_pieces_of_others(early: str, late: str, question: str) -> None:
    text = f"{early} {FILLER * 60}{late} {FILLER * 60}"
    assert late in passage(text, telling(question), 200)


def test_many_words_take_no_longer_than_few() -> None:
    text = FILLER * 5_000
    few, many = (["boathouse"], [f"word{number}" for number in range(2_000)])
    started = time.process_time()
    passage(text, few, 200)
    first = time.process_time() - started
    passage(text, many, 200)
    assert time.process_time() - started - first < 10 * first + 0.5
