"""Words, and the one form of names that are written in many."""

import pytest

from braid.text.words import CHAT, STOP, normal, spoken, telling


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The  Old Mill", "old mill."), ("my the Mill", "mill"), ("\uff30\uff4f\uff52\uff54\uff4f", "porto"),
        ("it’s", "it's"),         ("“Porto”", "porto"), ("STRASSE", "straße"), ("[Porto]", "Porto"),
    ],
)  # fmt: skip
def test_two_spellings_of_one_name(one: str, other: str) -> None:
    assert normal(one) == normal(other)


@pytest.mark.parametrize(("one", "other"), [("B", "C"), ("Mill 1", "Mill 2"), ("The", "A"), ("C++", "C")])
def test_two_names(one: str, other: str) -> None:
    assert normal(one) != normal(other)


def test_what_people_say_in_between_says_nothing() -> None:
    assert STOP < CHAT
    assert telling("Well, I really like the old mill") == ["well", "really", "like", "old", "mill"]
    assert spoken("Well, I really like the old mill, unit 4 B") == ["old", "mill", "unit", "4"]
