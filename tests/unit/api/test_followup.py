"""A question that follows an answer: told by that answer's own citations, and refused where there is no such answer."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import braid
from braid.agent.answer.question.followup import asked_anew, asks_of_answer, follows
from braid.agent.composer import EarlierAnswer
from braid.ledger.errors import ErasedError, ForgottenError, UnknownRecordError
from braid.store import Store

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard") as opened:
        at = datetime(2025, 5, 18, 9, tzinfo=UTC)
        opened.append("Maya lives in Leeds.", user_id="maya", occurred_at=at)
        opened.append("Tom lives in Porto.", user_id="maya", occurred_at=at)
        yield opened


def _first(store: Store) -> str:
    found = store.ask("Where does Maya live?", user_id="maya", now=NOW, affect=False)
    assert "Leeds" in found.plain
    return str(found.answer_id)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("who said that?", "who"),
        ("Who told you so?", "how"),
        ("and when?", "when"),
        ("When was that?", "when"),
        ("how sure are you?", "sure"),
        ("are you sure about that?", "sure"),
        ("how do you know that?", "how"),
        ("When does the train leave?", None),
        ("Who said the spike was 150k?", None),
    ],
)
def test_what_is_asked_of_an_answer(question: str, kind: str | None) -> None:
    assert asks_of_answer(question) == kind


@pytest.mark.parametrize(
    ("before", "question", "anew"),
    [
        ("Where does Maya live?", "and her sister?", "Where does Maya's sister live?"),
        ("Where does Maya live?", "what about Tom?", "Where does Tom live?"),
        ("Where do I live?", "and Tom?", "Where does Tom live?"),
        ("Where does Maya live?", "and then?", "and then?"),
        ("How much is it?", "and her sister?", "and her sister?"),
    ],
)
def test_the_last_question_is_asked_of_somebody_else(before: str, question: str, anew: str) -> None:
    assert asked_anew(question, EarlierAnswer(question=before, citations=(), p=0.9)) == anew


def test_follow_ups_are_told_by_the_answers_own_citations(store: Store) -> None:
    first = _first(store)
    for question in ("who said that?", "and when?", "how sure are you?", "how do you know that?"):
        assert follows(question)
        found = store.ask(question, user_id="maya", now=NOW, affect=False, after=first)
        assert "Leeds" in found.plain
        assert "18 May 2025" in found.plain
        assert "0." not in found.plain
        assert [one.text for one in found.citations] == ["Maya lives in Leeds."]
    at = datetime(2025, 5, 20, tzinfo=UTC)
    store.append("Maya's sister lives in Ghent.", user_id="maya", occurred_at=at)
    sister = store.ask("and her sister?", user_id="maya", now=NOW, affect=False, after=first)
    assert "Ghent" in sister.plain


def test_an_answer_names_what_it_followed_and_derives_nothing_from_it(store: Store) -> None:
    first = _first(store)
    found = store.ask("who said that?", user_id="maya", now=NOW, after=first)
    record = store.get(str(found.answer_id))
    assert [link.id for link in record.targets("target")] == [first]
    assert first not in [link.id for link in record.targets("evidence")]
    assert not store.verify().findings


def test_after_a_correction_the_old_words_are_not_told(store: Store) -> None:
    first = _first(store)
    old = store.ask("who said that?", user_id="maya", now=NOW, write=False, after=first).citations[0].id
    store.correct(str(old), "Maya lives in York.", reason="moved")
    found = store.ask("who said that?", user_id="maya", now=NOW, affect=False, write=False, after=first)
    assert "York" in found.plain
    assert "Leeds" not in found.plain


def test_what_is_no_answer_is_refused(store: Store) -> None:
    first = _first(store)
    turn = store.append("I like tea.", user_id="maya")
    with pytest.raises(ValueError, match="no answer"):
        store.ask("who said that?", user_id="maya", write=False, after=str(turn))
    with pytest.raises(ValueError, match="another scope"):
        store.ask("who said that?", user_id="tom", write=False, after=first)
    with pytest.raises((UnknownRecordError, ValueError)):
        store.ask("who said that?", write=False, after="exp_2025-05-17T09:00:00Z_0000000300ab")
    store.forget(first)
    with pytest.raises(ForgottenError):
        store.ask("who said that?", user_id="maya", write=False, after=first)
    store.erase(first)
    with pytest.raises(ErasedError):
        store.ask("who said that?", user_id="maya", write=False, after=first)
