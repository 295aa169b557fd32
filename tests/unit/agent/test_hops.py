"""Questions that one look can't answer: what is found first, and what is asked with it; and those that are one."""

import pytest

from braid.agent.answer.question.hop import hop
from braid.agent.program.comparison import turn


@pytest.mark.parametrize(
    ("question", "first", "then"),
    [
        ("Where does Ann's brother live?", "Who is Ann's brother?", "Where does {bridge} live?"),
        ("What is Mireille's brother allergic to?", "Who is Mireille's brother?", "What is {bridge} allergic to?"),
        ("What did my boss write?", "Who is my boss?", "What did {bridge} write?"),
        ("What is my sister's job?", "Who is my sister?", "What is {bridge}'s job?"),
        ("What does Nadia's dog eat?", "What is Nadia's dog?", "What does {bridge} eat?"),
        ("What does the landlord of Maya ask?", "Who is the landlord of Maya?", "What does {bridge} ask?"),
        ("How big is the city where Maya lives?", "Where does Maya live?", "How big is {bridge}?"),
        ("Who founded the company that Jonas worked for?", "Where did Jonas work?", "Who founded {bridge}?"),
        ("Where does the man who sold the van live?", "Who sold the van?", "Where does {bridge} live?"),
    ],
)  # fmt: skip
def test_what_is_asked_first(question: str, first: str, then: str) -> None:
    found = hop(question)
    assert found is not None
    assert (found.first, found.then) == (first, then)


@pytest.mark.parametrize(
    "question",
    [
        "Where does Ann live?", "Who is Ann's brother?", "What is the name of Nadia's dog?", "Who's my boss?", "Why?",
        "When is Mireille's birthday?", "What is {bridge}'s brother called?", "x" * 400 + "'s brother eats what?",
    ],
)  # fmt: skip
def test_what_is_one_question(question: str) -> None:
    assert hop(question) is None


@pytest.mark.parametrize(
    ("question", "before", "after"),
    [
        (
            "Where did Ann live in April 2025, and where does she live now?",
            "Where did Ann live in April 2025?", "Where does Ann live now?",
        ),
        (
            "What did Jonas drink in March 2025 and what does he drink now?",
            "What did Jonas drink in March 2025?", "What does Jonas drink now?",
        ),
        (
            "Where did Nadia live before September 2024 compared to now?",
            "Where did Nadia live before September 2024?", "Where does Nadia live?",
        ),
        (
            "Where did Nadia live in May 2024 and in October 2024?",
            "Where did Nadia live in May 2024?", "Where did Nadia live in October 2024?",
        ),
        (
            "How has where Jonas lives changed since May 2025?",
            "Where did Jonas live before May 2025?", "Where does Jonas live?",
        ),
    ],
)  # fmt: skip
def test_two_times(question: str, before: str, after: str) -> None:
    found = turn(question)
    assert found is not None
    assert (found.before, found.after) == (before, after)


@pytest.mark.parametrize(
    "question",
    [
        "Where does Ann live?", "What does Ann eat and drink?", "Who is Ann and where does she live?", "",
        "Where did Ann live in April 2025?", "x and " * 200,
    ],
)  # fmt: skip
def test_one_time(question: str) -> None:
    assert turn(question) is None
