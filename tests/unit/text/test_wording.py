"""What is said word for word, and what is denied."""

import pytest

from braid.text.wording import denies, named, says, states, wording


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("She can't eat nuts.", "she can not eat nuts"),
        ("I won\u2019t, I shan't, I don't", "i will not i shall not i do not"),
        ("We cannot go.", "we can not go"),
        ("Can the cat go?", "can the cat go"),
        ("", ""),
    ],
)
def test_a_denial_is_a_word_of_its_own(text: str, spelled: str) -> None:
    assert " ".join(wording(text)) == spelled


def test_what_states_the_contrary_says_nothing_of_it() -> None:
    assert says("Yes, I live in Porto now.", "I live in Porto")
    assert says("She doesn't live here.", "does not live here")
    for text in ("I don't think I live in Porto.", "I lived in Porto.", "I live near Porto."):
        assert not says(text, "I live in Porto")
    assert not says("I live in Porto.", "")
    assert denies("He never came.")
    assert not denies("He knows nobles.")


def test_a_topic_states_nothing_and_a_name_is_told_from_a_small_word() -> None:
    assert not any(states(text) for text in ("old flat", "my flat", ""))
    assert all(states(text) for text in ("the flat in Porto", "code is 7", "Priya met Sam"))
    assert named("We flew in May with Will") == {"may", "will"}


def test_a_denial_counts_in_its_own_sentence() -> None:
    assert says("I like tea. I have no cat.", "I like tea")
    assert not says("I don't like tea. I have a cat.", "like tea")
    assert says("I have no cat. I like tea.", "I have no cat")
