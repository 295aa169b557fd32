"""Descriptions in questions: where they end, and how what they describe is asked for."""

import pytest

from braid.agent.answer.question.hop import hop
from braid.text.verbs import base, is_past


@pytest.mark.parametrize(
    ("question", "first", "then"),
    [
        (
            "Which lake is near the cottage that Tilda bought?",
            "Which cottage did Tilda buy?", "Which lake is near {bridge}?",
        ),
        ("When does the class I signed up for start?", "Which class did I sign up for?", "When does {bridge} start?"),
        ("How old is the cat that bit me?", "Which cat bit me?", "How old is {bridge}?"),
        (
            "Who is the editor at the paper whose prize we won?",
            "Which paper's prize did we win?", "Who is the editor at {bridge}?",
        ),
        ("What did the woman we met in Oslo sell?", "Who did we meet in Oslo?", "What did {bridge} sell?"),
        ("Where does the man next door work?", "Who is the man next door?", "Where does {bridge} work?"),
        (
            "What does the woman from the choir want to eat?",
            "Who is the woman from the choir?", "What does {bridge} want to eat?",
        ),
        (
            "Where does the couple who live below us come from?",
            "Who live downstairs from me?", "Where does {bridge} come from?",
        ),
        (
            "In which town is the theatre where Pia sings?",
            "In which theatre does Pia sing?", "In which town is {bridge}?",
        ),
        ("What is the guy who mended the roof called?", "Who mended the roof?", "What is {bridge} called?"),
        ("Where is the bar in which Otto has worked?", "In which bar has Otto worked?", "Where is {bridge}?"),
    ],
)  # fmt: skip
def test_what_is_described_is_asked_first(question: str, first: str, then: str) -> None:
    found = hop(question)
    assert found is not None
    assert (found.first, found.then) == (first, then)


@pytest.mark.parametrize(
    "question",
    [
        "Who is the man who mended the roof?", "What is the name of the woman who lives upstairs?",
        "What was the book that Tilda lent me?", "What did the dentist say about sugar?",
        "When is the day after the party?", "Who is the man next door?", "Which film is the one that won?",
    ],
)  # fmt: skip
def test_a_description_that_is_all_that_is_asked_is_one_question(question: str) -> None:
    assert hop(question) is None


@pytest.mark.parametrize(
    ("form", "plain"),
    [("took", "take"), ("tried", "try"), ("stopped", "stop"), ("moved", "move"), ("goes", "go"), ("wins", "win"),
     ("kettle", None), ("red", None), ("live", "live")],
)  # fmt: skip
def test_verbs(form: str, plain: str | None) -> None:
    assert base(form) == plain
    assert is_past(form) == (form in ("took", "tried", "stopped", "moved"))
