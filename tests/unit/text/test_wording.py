"""What is said word for word, and what is denied."""

import pytest

from braid.text.wording import denies, named, says, says_alike, states, wording


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("She can't eat nuts.", "she can not eat nuts"),
        ("I won\u2019t, I shan't, I don't", "i will not i shall not i do not"),
        ("i dont pay, it isnt due", "i do not pay it is not due"),
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


@pytest.mark.parametrize(
    ("text", "wanted", "is_said"),
    [
        ("Tomas picks up the kids on Thursday.", "Tomas picks the kids up on Thursday", True),
        ("The budget meeting is chaired by Ines.", "Ines chairs the budget meeting", True),
        ("Releases are cut from the main branch by Anouk.", "Anouk cuts the releases", True),
        ("I do not pay for iCloud.", "i dont pay for iCloud", True),
        ("I pay for iCloud.", "i dont pay for iCloud", False),
        ("Omar lent Greta the tent.", "Greta lent Omar the tent", False),
        ("It is 120 over 80.", "It is 80 over 120", False),
        ("My mother's rent is 940.", "my rent is 940", False),
        ("The rent is 940.", "the deposit is 940", False),
    ],
)
def test_words_may_be_bent_but_nobody_takes_the_place_of_another(
    text: str, wanted: str, is_said: bool
) -> None:
    assert says_alike(text, wanted) == is_said
