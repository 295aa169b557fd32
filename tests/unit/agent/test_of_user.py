"""A question that names the user as their id does, as they would ask it."""

import pytest

from braid.agent.answer.question.asker import of_user


@pytest.mark.parametrize(
    ("user_id", "asked", "own"),
    [
        ("maya", "Where does Maya live?", "Where do I live?"),
        ("maya", "Is MAYA allergic to nuts?", "Am I allergic to nuts?"),
        ("maya", "Has Maya been to Oslo, and was Maya alone?", "Have I been to Oslo, and was I alone?"),
        ("maya", "What's Maya's sister called?", "What's my sister called?"),
        ("maya", "Is Maya’s cat old?", "Is my cat old?"),
        ("maya", "Who gave Maya the book?", "Who gave me the book?"),
        ("james", "What did James' doctor say?", "What did my doctor say?"),
        ("maya.lind@example.org", "Where does Maya Lind work?", "Where do I work?"),
        ("maya-lind", "Doesn't Maya Lind drive?", "Don't I drive?"),
    ],
)
def test_it_is_asked_in_the_first_person(user_id: str, asked: str, own: str) -> None:
    assert of_user(asked, user_id) == own


@pytest.mark.parametrize(
    ("user_id", "asked"),
    [
        ("maya", "Where does Tom live?"),
        ("maya", "What does Mayall drive?"),
        ("maya", "Who is Anna-Maya?"),
        ("maya-lind", "Where does Maya live?"),
        ("u1", "Is U 1 a boat?"),
        ("4711", "What is 4711?"),
        ("will", "Will it rain?"),
        ("", "Where does Maya live?"),
        (None, "Where does Maya live?"),
    ],
)
def test_any_other_stays_as_it_is(user_id: str | None, asked: str) -> None:
    assert of_user(asked, user_id) is None
