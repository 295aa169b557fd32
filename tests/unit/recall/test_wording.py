"""When two records say the same once more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.ledger.record.record import Content, ExperienceBody, Provenance, Scope
from braid.stance.wording import same_words, wording


def body(text: str, actor: str = "user", user: str | None = "u", name: str | None = None) -> ExperienceBody:
    return ExperienceBody(
        content=Content(text=text),
        provenance=Provenance(actor=actor, method="capture", name=name),
        scope=Scope(user_id=user, session_id=text),
    )


@pytest.mark.parametrize(
    "again", ["I live in Porto", " i  live\nin PORTO. ", "I live in Porto!", "I live in Porto…"]
)
def test_case_spaces_and_the_last_mark_are_no_matter(again: str) -> None:
    assert wording(body(again)) == wording(body("I live in Porto."))


@pytest.mark.parametrize(
    "other",
    ["I live in Port", "I live in Porto?", "I don't live in Porto.", "My rent is £800", "I live in Porto 2"],
)
def test_a_word_a_number_and_a_question_are(other: str) -> None:
    assert wording(body(other)) != wording(body("I live in Porto."))
    assert same_words("My rent is £800") != same_words("My rent is £950")


def test_another_speaker_or_memory_says_it_anew() -> None:
    mine = wording(body("I live in Porto."))
    assert mine != wording(body("I live in Porto.", actor="agent"))
    assert mine != wording(body("I live in Porto.", name="Ben"))
    assert mine != wording(body("I live in Porto.", user="v"))


@given(st.text())
def test_any_text_is_like_itself(text: str) -> None:
    assert same_words(same_words(text)) == same_words(text)
