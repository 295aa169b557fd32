"""How much text leaves the process at once: the longest are cut, each says how long it is, and no short one is."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.operation import Json
from braid.text_budget import LEAST, bounded, shortened

MARK_BYTES = 60
"""What a mark adds at most."""


def size(value: Json) -> int:
    return len(msgspec.json.encode(value))


def test_the_longest_texts_are_cut_to_one_length_and_say_how_long_they_are() -> None:
    answer = {"memories": [{"id": "exp_1", "text": "a" * 9_000}, {"id": "exp_2", "text": "b" * 2_000_000}]}
    value, cut = bounded(answer, 20_000)
    one, other = (each["text"] for each in value["memories"])
    assert (one, cut) == ("a" * 9_000, 1)  # there was room for it
    kept = other.index("…")
    assert other == "b" * kept + f"… [cut: {kept} of 2000000 characters]"
    assert kept > 10_000
    assert size(value) < 20_000 + MARK_BYTES
    assert len(answer["memories"][1]["text"]) == 2_000_000  # what was answered is not changed


def test_what_is_within_the_budget_is_the_same_value() -> None:
    answer = {"text": "a" * 1_000, "tags": ["b"], "n": None}
    assert bounded(answer, 2_000) == (answer, 0)


def test_bytes_and_documents_are_never_cut() -> None:
    answer = {"content": b"x" * 5_000, "graphml": "<g/>" * 2_000, "text": "a" * 5_000}
    value, cut = bounded(answer, 4_000)
    assert (value["content"], value["graphml"], cut) == (answer["content"], answer["graphml"], 1)


@given(st.lists(st.text(max_size=2_000), max_size=30), st.integers(2_000, 20_000))
def test_an_answer_keeps_to_its_budget_or_each_text_to_the_least(texts: list[str], most: int) -> None:
    value, cut = bounded({"texts": texts}, most)
    marked = [now for now, was in zip(value["texts"], texts, strict=True) if now != was]
    assert len(marked) == cut
    assert size(value) <= max(most, size([""] * 30) + 30 * LEAST) + MARK_BYTES * len(texts)
    for now, was in zip(value["texts"], texts, strict=True):
        assert now == was or (now == shortened(was, now.rindex("… [cut: ")) and size(was) > LEAST)


@pytest.mark.parametrize("sign", ["a", "é", "😀", "\x00", "\u2028"])
def test_what_a_sign_takes_as_json_counts(sign: str) -> None:
    value, _ = bounded(sign * 100_000, 5_000)
    assert 5_000 - 20 < size(value.partition("… [cut")[0]) <= 5_000


def test_what_a_text_takes_where_it_is_shown_counts() -> None:
    value, cut = bounded({"text": "<" * 10_000, "other": "a" * 2_000}, 8_000, lambda text: 2 + 6 * len(text))
    assert (len(value["text"].partition("…")[0]), cut) == (664, 2)
    assert bounded({"text": "<" * 1_000}, 8_000, lambda text: 2 + 6 * len(text)).cut == 0
