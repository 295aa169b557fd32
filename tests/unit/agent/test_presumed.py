"""What a question takes for granted, and what of it nobody speaks of."""

import pytest

from braid.agent.answer.question.presupposition import presumed, unheard


@pytest.mark.parametrize(
    ("question", "given"),
    [
        ("How much did the piano cost?", ("piano",)),
        ("What did Jon take a trip to Barcelona for?", ("trip", "jon", "barcelona")),
        ("Who is Kit's manager?", ("manager", "kit")),
        ("What is my sister's husband called?", ("sister", "husband")),
        ("When did the first long flight land?", ("long",)),
        ("What happened in June 2023?", ()),
        ("What did she do on the Sunday before the race?", ("race",)),
        ("Is that true?", ()),
        ("What did Bob buy?", ("bob",)),
        ("", ()),
        ("an a the ’s 's \x00 the 7 the 3rd", ()),
        ("Wie heißt die Katze, und wo ist der Hund von Anna jetzt?", ()),
    ],
)
def test_things_are_what_follows_an_article_or_a_possessive_and_names(
    question: str, given: tuple[str, ...]
) -> None:
    assert presumed(question) == given


def test_any_form_of_the_word_counts_as_heard() -> None:
    texts = ["We walked in the Dolomites.", "The flights were late."]
    assert unheard("When is the flight to the Dolomites?", texts) == ()
    assert unheard("When is the flight to Tokyo?", texts) == ("tokyo",)
    assert unheard("When did Bob book the flight?", texts, {"bob"}) == ()


def test_a_question_of_any_length_is_read_in_time() -> None:
    assert presumed("the " * 50_000 + "’s " * 50_000) == ()
