"""Whom a question describes, which time it sums over: what is quoted is of these, or only pointed at."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import braid
from braid.agent.answer.question.period import asks_for_sum
from braid.agent.answer.relevance.referent import is_meant
from braid.agent.answer.turn.spans import best_span
from braid.recall.decompose import decompose
from braid.recall.hits import Hit
from braid.search.question import Question
from braid.search.retrieval import find
from braid.store import Store

NOW = datetime(2026, 6, 1, tzinfo=UTC)
SAID = (
    ("2026-03-02", "My neighbour is Teresa."),
    ("2026-03-03", "I live in Porto."),
    ("2026-03-07", "Mireille's brother visits on Friday."),
    ("2026-03-10", "I paid 35 euros for shoes."),
    ("2026-04-03", "I paid 99 euros for a coat."),
    ("2026-05-02", "On 20 April 2026 I paid 15 euros for a book."),
    ("2026-05-06", "I paid 7 euros for tea in April 2026, my spending is small."),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    home = tmp_path_factory.mktemp("meant")
    with braid.open(home / "memory", guard_dir=home / "guard") as opened:
        for day, text in SAID:
            when = datetime.fromisoformat(day).replace(tzinfo=UTC)
            opened.append(text, actor="user", name="Al", user_id="al", occurred_at=when)
        opened.views.search.index(wait_s=60.0)
        yield opened


def hits_of(store: Store) -> list[Hit]:
    return list(
        find(
            store.session,
            Question(query="I paid, I live, my neighbour, brother", user_id="al", now=NOW, top_k=20),
        ).results
    )


@pytest.mark.parametrize(
    ("question", "said", "meant"),
    [
        ("Where does my neighbour live?", "I live in Porto", False),
        ("Where does my neighbour live?", "My neighbor lives in Braga", True),
        ("Where does my neighbour live?", "Teresa lives in Braga", True),  # one of the hits names her so
        ("Where does Mireille's brother live?", "My brother lives in Rome", False),
        ("Where does Mireille's brother live?", "Mireille's brother lives in Rome", True),
        ("Where do I live?", "I live in Porto", True),
        ("Who is my neighbour?", "It is somebody from Braga", True),  # it asks for no more than who that is
    ],
)
def test_a_sentence_must_name_whom_the_question_describes(
    store: Store, question: str, said: str, meant: bool
) -> None:
    hits = hits_of(store)
    home = next(hit for hit in hits if hit.text == SAID[1][1])
    assert is_meant(decompose(question, NOW), said, home, hits) is meant


def test_what_is_said_of_another_is_only_pointed_at(store: Store) -> None:
    told = store.ask("Where does my neighbour live?", user_id="al", now=NOW, write=False)
    assert "Porto, I believe" not in told.plain
    assert told.rung in ("near", "silent")


@pytest.mark.parametrize("day", ["Friday", "Easter", "December", "Christmas Eve"])
def test_a_time_is_no_place(day: str) -> None:
    question = decompose("Where does Mireille's brother stay?", NOW)
    found = best_span(question, f"Mireille's brother visits on {day}", NOW)
    assert found is not None
    assert not found.wanted


@pytest.mark.parametrize(
    ("question", "sums"),
    [
        ("How much did I spend in April 2026?", True),
        ("How much did I pay in total last month?", True),
        ("How much did I pay for the book in April 2026?", False),
        ("How much did I spend on shoes?", False),
    ],
)
def test_a_sum_is_asked_over_a_time(question: str, sums: bool) -> None:
    assert asks_for_sum(decompose(question, NOW)) is sums


def test_one_amount_of_several_is_no_sum(store: Store) -> None:
    for month in ("April", "January"):
        told = store.ask(f"How much did I spend in {month} 2026?", user_id="al", now=NOW, write=False)
        assert told.rung in ("near", "silent")
        assert told.residual_uncertainty >= 0.4


def test_what_is_held_now_denies_nothing_of_then(tmp_path: Path) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as opened:
        for text in (
            "I don't drink coffee any more.",
            "Baan Suk is near us, but my sister Tola says it's terrible.",
        ):
            opened.append(text, actor="user", name="Al", user_id="al", occurred_at=NOW)
        opened.learn()
        opened.views.search.index(wait_s=60.0)
        ask = {
            question: opened.ask(question, user_id="al", now=NOW, write=False).short
            for question in (
                "Do I drink coffee?",
                "Did I ever drink coffee?",
                "What does Tola think of Baan Suk?",
            )
        }
    assert ask["Do I drink coffee?"] == "no"
    assert ask["Did I ever drink coffee?"] != "no"
    assert ask["What does Tola think of Baan Suk?"] not in ("yes", "no")


@pytest.mark.parametrize(
    ("asked", "said", "short"),
    [
        ("what's my best 10k time", "best 10k so far: 51:20", "51:20"),
        ("What is the office wifi?", "home wifi: teapot-77, office wifi: grey7harbor", "grey7harbor"),
        ("What's the code of the Harbour door?", "new code for the Harbour door: 6402", "6402"),
        ("Where is the bus?", "the train leaves at 9:15", "the train leaves at 9:15"),
        ("What do I like?", "I like tea, she said: really", "I like tea"),
    ],
)
def test_of_a_note_the_part_behind_the_label_that_is_asked_for_answers(
    asked: str, said: str, short: str
) -> None:
    span = best_span(decompose(asked, NOW), said, NOW)
    assert span is not None
    assert span.short == short
