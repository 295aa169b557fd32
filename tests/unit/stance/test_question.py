"""Questions in plain English, read by rules."""

from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.stance.question import ParsedQuestion, read, readings


@pytest.mark.parametrize(
    ("question", "reading"),
    [
        ("Where does Jonas live?", ParsedQuestion("Jonas", ("lives_in",))),
        ("where do I live now", ParsedQuestion("user", ("lives_in",))),
        ("Where did Nadia live before September?", ParsedQuestion("Nadia", ("lives_in",))),
        ("Which city does Owen live in these days?", ParsedQuestion("Owen", ("lives_in",))),
        ("Does Jonas drink coffee?", ParsedQuestion("Jonas", ("drinks",), "coffee", "check")),
        ("Does Jonas still drink coffee?", ParsedQuestion("Jonas", ("drinks",), "coffee", "check")),
        ("What does Jonas drink?", ParsedQuestion("Jonas", ("drinks",))),
        (
            "Is Mireille allergic to shellfish?",
            ParsedQuestion("Mireille", ("allergic_to",), "shellfish", "check"),
        ),
        ("When is the wedding?", ParsedQuestion("wedding", ("happened_on", "is_on", "due_on"))),
        ("Who is Jonas's boss?", ParsedQuestion("Jonas", ("boss_is",))),
        ("Who is my new boss?", ParsedQuestion("user", ("boss_is",))),
        ("What is Nadia’s job?", ParsedQuestion("Nadia", ("works_as",))),
        (
            "What does Jonas think of Baan Suk?",
            ParsedQuestion("Jonas", ("likes", "dislikes"), "Baan Suk", "check"),
        ),
        ("Does Jonas hate rain?", ParsedQuestion("Jonas", ("dislikes", "likes"), "rain", "check")),
        ("Where does my wife work?", ParsedQuestion("user's wife", ("works_at", "works_for"))),
        ("How old is Ann?", ParsedQuestion("Ann", ("age_is",))),
        ("When was Ann born?", ParsedQuestion("Ann", ("born_on", "birthday"))),
        ("Can you tell me where does Ann work?", ParsedQuestion("Ann", ("works_at", "works_for"))),
        (
            "When did Caroline go to the support group?",
            ParsedQuestion("Caroline", (), "go to the support group", "time"),
        ),
    ],
)
def test_what_is_asked(question: str, reading: ParsedQuestion) -> None:
    assert read(question) == reading


def test_what_looks_like_a_time_may_be_part_of_a_name() -> None:
    subjects = [reading.subject for reading in readings("How much is the refund for order 1999?")]
    assert subjects == ["refund for order", "refund for order 1999"]


@pytest.mark.parametrize(
    "question", ["", "?", "Tell me everything", "What is the weather like", "Why?", "Jonas", "where"]
)
def test_what_no_rule_reads(question: str) -> None:
    assert read(question) is None


@given(st.text(max_size=200))
def test_any_text_may_be_asked(question: str) -> None:
    assert all(reading.subject for reading in readings(question))


def test_a_long_question_costs_little() -> None:
    """What is too long for the rules is left to recall, and what isn't is read at once."""
    started = thread_time()
    assert list(readings("Where does " + "very " * 60_000 + "Jonas live?")) == []
    for text in ("x ", "in may ", "is the ", "Where does does "):
        list(readings(f"when is {text * (280 // len(text))}"))
    assert thread_time() - started < 2


def test_which_of_a_kind_somebody_has_is_not_all_that_they_have() -> None:
    pets = read("what pets do I have?")
    assert pets is not None
    assert pets.rels == ("pet",)
    assert read("which model do I have now") is None
