"""Which questions one consists of, and the answers of several as one."""

from __future__ import annotations

import pytest

from braid.agent.answer.question.apart import asked_apart
from braid.agent.answer.together import together
from braid.agent.composer import Composed


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Where do I live and who do I work for?", ("Where do I live?", "who do I work for?")),
        ("Where do I live? And who do I work for?", ("Where do I live?", "who do I work for?")),
        ("is the shop open and does it deliver", ("is the shop open?", "does the shop deliver?")),
        ("who is Ana and where does she work?", ("who is Ana?", "where does Ana work?")),
        ("who is Ana and what is her job?", ("who is Ana?", "what is Ana's job?")),
        (
            "when was the party planned at first, and when was it held?",
            ("when was the party planned at first?", "when was the party held?"),
        ),
        ("where did Ana move and when?", ("where did Ana move?", "when did Ana move?")),
        (
            "how many nights did he stay, and how many were planned?",
            ("how many nights did he stay?", "how many nights were planned?"),
        ),
        (
            "how old are my kids and what are their names?",
            ("how old are my kids?", "what are my kids' names?"),
        ),
    ],
)
def test_a_question_is_taken_apart(question: str, parts: tuple[str, ...]) -> None:
    assert asked_apart(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?",
        "Where do Ana and Ben live?",
        "what does Tom like and dislike",
        "what did we decide and reverse?",
        "when and where is the party?",
        "I moved to Porto. Where do I live?",
        "do you know who I met and where we went?",
        "who won and by how much",
        "what did Aivo want for the ceiling first and what is it now?",
        "who is it and what does she do?",
        "where is A? where is B? where is C? where is D?",
        "",
    ],
)
def test_what_is_one_question_or_hangs_together_stays(question: str) -> None:
    assert asked_apart(question) == ()


def _told(text: str, id: str, p: float, short: str = "") -> Composed:
    return Composed(text=text, citations=(id,), short=short, p=p, rung="said")


def test_several_answers_are_one_as_sure_as_the_least() -> None:
    near = Composed(text="This comes nearest.", citations=("c",), p=0.2, rung="near")
    home, work = _told("You live in Porto.", "a", 0.9, "Porto"), _told("You work at Acme.", "b", 0.7, "Acme")
    both = together(("Where do I live?", "Who do I work for?"), (home, work))
    assert both.text == "You live in Porto. You work at Acme."
    assert (both.short, both.citations, both.p, both.rung) == ("Porto; Acme", ("a", "b"), 0.7, "said")
    half = together(("Where do I live?", "What is my cat called?"), (home, near))
    assert half.text == "You live in Porto. Of “What is my cat called?”: This comes nearest."
    assert (half.short, half.citations, half.p, half.claims) == ("Porto", ("a", "c"), 0.9, True)
    assert together(("a?", "b?"), (home, home)).text == home.text


def test_a_long_question_is_read_in_one_go() -> None:
    assert asked_apart("and where is it " * 100_000) == ()
