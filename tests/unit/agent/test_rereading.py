"""What a cross-encoder's word counts when the turn that answers is chosen, and that nothing hangs on it."""

from collections.abc import Iterator, Sequence
from copy import copy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import braid
from braid.agent.answer.change import variants
from braid.agent.answer.choice import chooser
from braid.agent.answer.choice.chooser import NOTHING, ReadWeights, choose, weights
from braid.agent.answer.choice.rereading import READ, reread
from braid.ledger.record.record import ExperienceBody
from braid.models.cross_encoder import CrossEncoder
from braid.recall.decompose import decompose
from braid.recall.hits import Hit
from braid.recall.rerank import Passage, passages, read_again
from braid.search.question import Question
from braid.search.retrieval import find
from braid.store import Store
from braid.text.rerank import RerankError

NOW = datetime(2025, 9, 1, 12, tzinfo=UTC)
SAID = (
    "The bike is at the menders.",
    "They want £48 for it, paid in cash.",
    "The bike lane on Mill Road is closed.",
)


class FakeReranker:
    """Gives the highest figure to what ends with a word."""

    name = CrossEncoder.name

    def __init__(self, word: str, error: Exception | None = None) -> None:
        self.word, self.error = word, error
        self.asked: list[str] = []
        self.read: list[str] = []

    def scores(self, question: str, texts: Sequence[str]) -> Any:
        self.asked.append(question)
        self.read += texts
        if self.error is not None:
            raise self.error
        return np.array([5.0 if text.endswith(self.word) else -5.0 for text in texts])


def opened(home: Path, model: FakeReranker | None) -> Store:
    store = braid.open(
        home / "memory", guard_dir=home / "guard", reranker=None if model is None else lambda: model
    )
    if len(store) < 5:
        for at, text in enumerate(SAID):
            when = NOW - timedelta(days=20, minutes=-at)
            store.append(text, actor="user", name="Petra", user_id="u", occurred_at=when)
        store.views.search.index(wait_s=60.0)
    return store


@pytest.fixture
def hits(tmp_path: Path) -> Iterator[Sequence[Hit]]:
    with opened(tmp_path, None) as store:
        found = find(store.session, Question(query="what about the bike?", user_id="u", now=NOW)).results
        yield sorted(found, key=lambda hit: hit.index)


def test_a_turn_is_read_behind_the_one_before(hits: Sequence[Hit]) -> None:
    assert passages("what does the bike cost?", hits)[0].whole == f"Petra: {SAID[0]}"
    assert passages("what does the bike cost?", hits)[1].whole == f"Petra: {SAID[0]} / Petra: {SAID[1]}"
    assert passages("what does the bike cost?", hits[1:])[0].whole == f"Petra: {SAID[1]}"


def test_what_only_the_turn_before_answers_is_read_alone() -> None:
    led = Passage("Petra: The bike costs £48. / ", "Petra: It rained.")
    reply = Passage("Petra: What does it cost? / ", "Petra: £48")

    def answers(_question: str, texts: Sequence[str]) -> Any:
        return np.array([4.0 if "£48" in text else -4.0 for text in texts])

    found = read_again("what?", [led, reply, Passage("", "Petra: £48")], answers)
    assert found is not None
    assert found.tolist() == [-4.0, 4.0, 4.0]


def test_only_the_best_are_read_and_the_others_get_the_least(hits: Sequence[Hit]) -> None:
    many = list(hits) * 10
    scores = np.arange(float(len(many)))[::-1]
    read: list[Sequence[str]] = []

    def answers(_question: str, texts: Sequence[str]) -> Any:
        read.append(texts)
        return np.linspace(99.0, -2.0, len(texts))

    found = reread("what?", many, scores, answers)
    assert found is not None
    assert len(read[0]) == READ
    assert found[:2].tolist() == [8.0, 8.0]  # beyond so much it makes no difference
    assert set(found[READ:].tolist()) == {-2.0}


def test_where_none_of_the_best_answers_clearly_the_others_are_read_too(hits: Sequence[Hit]) -> None:
    many = list(hits) * 10
    read: list[int] = []

    def answers(_question: str, texts: Sequence[str]) -> Any:
        read.append(len(texts))
        return np.full(len(texts), -1.0 if len(read) == 1 else 2.0)

    found = reread("what?", many, np.arange(float(len(many)))[::-1], answers)
    assert found is not None
    assert read[:2] == [
        READ,
        len(many) - READ,
    ]  # and once more what seems to answer behind the turn before it
    assert set(found[READ:].tolist()) == {2.0}


def test_without_a_model_nothing_is_read(hits: Sequence[Hit]) -> None:
    assert reread("what?", hits, np.zeros(len(hits)), None) is None
    assert reread("what?", hits, np.zeros(len(hits)), lambda _question, _texts: None) is None


def test_its_word_counts_beside_the_features(hits: Sequence[Hit]) -> None:
    reading = ReadWeights(
        by="by-hand",
        features=0.1,
        read=1.0,
        tell={"bias": 0.0, "read_best": 4.0},
        table=(),
        least=NOTHING.least,
    )
    given = type(NOTHING)(
        about="", turn=NOTHING.turn, tell=NOTHING.tell, table=(), least=NOTHING.least, reading=reading
    )
    question = decompose("what about the bike?", NOW)
    for text in SAID:
        word = text.split()[-1]
        chosen = choose(question, hits, given, None, FakeReranker(word).scores)
        assert chosen.ranked[0].text == text
        assert chosen.p > 0.9
    assert choose(question, hits, given, None, None).p < 0.1  # the features' own weights decide


def test_this_release_has_weights_for_the_packaged_model() -> None:
    from braid.models.cross_encoder import CrossEncoder

    reading = weights().reading
    assert reading is not None
    assert reading.by == CrossEncoder.name


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("error", "named"),
    [
        (RerankError("no such file"), "no such file"),
        (TimeoutError("slow"), "slow"),
        (MemoryError(), "MemoryError"),
        (ValueError("a shape"), "ValueError"),
    ],
)
def test_where_it_fails_the_features_answer(tmp_path: Path, error: Exception, named: str) -> None:
    question = "What do the menders want for the bike?"
    with opened(tmp_path, None) as store:
        plain = store.ask(question, user_id="u", now=NOW, write=False)
    failing = FakeReranker("", error)
    with opened(tmp_path, failing) as store:
        again = store.ask(question, user_id="u", now=NOW, write=False)
    assert failing.asked == [question]  # the first failure ends it
    assert again.degraded == (f"cross-encoder: {named}",)
    assert plain.degraded == ()
    assert (again.text, again.rung, again.short) == (plain.text, plain.rung, plain.short)


def test_an_answer_asks_it_of_each_turn_once(tmp_path: Path) -> None:
    model = FakeReranker("£48")
    with opened(tmp_path, model) as store:
        store.ask("What do the menders want for the bike?", user_id="u", now=NOW, write=False)
    assert len(model.read) == len(SAID)


def test_a_cross_encoder_that_cant_be_had_costs_no_answer(tmp_path: Path) -> None:
    def none_to_be_had() -> FakeReranker:
        raise RuntimeError("it isn't there")

    opened(tmp_path, None).close()
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard", reranker=none_to_be_had) as store:
        assert store.ask("what about the bike?", user_id="u", now=NOW, write=False).text


def long(hit: Hit, text: str) -> Hit:
    """The same hit, that says something else."""
    record, body = copy(hit.record), hit.record.body
    assert isinstance(body, ExperienceBody)
    content = msgspec.structs.replace(body.content, text=text)
    record.__dict__["body"] = msgspec.structs.replace(body, content=content)
    return msgspec.structs.replace(hit, record=record, before=())


def test_of_a_long_turn_the_stretch_that_speaks_of_the_question_is_read(hits: Sequence[Hit]) -> None:
    filler = "We sat by the canal and talked of this and that until it rained. "
    said = "In the end the bike went to Len for £60, cash. He collects it in March. "
    for text in (said + filler * 30, filler * 20 + said + filler * 10, filler * 30 + said):
        read = passages("who bought the bike, and for how much?", [long(hits[0], text)])[0].turn
        assert said[:40] in read
        assert len(read) <= len("Petra: ") + 400


def test_of_a_long_turn_that_speaks_of_nothing_asked_the_beginning_is_read(hits: Sequence[Hit]) -> None:
    assert passages("who?", [long(hits[0], "x" * 3_000)])[0].turn == f"Petra: {'x' * 400}"


def test_a_book_is_read_as_a_page_is(hits: Sequence[Hit]) -> None:
    book = "bike. " * 500_000
    assert passages("the bike?", [long(hits[0], book)])[0].turn == f"Petra: {book[:400]}"


def test_of_a_long_turn_it_is_less_sure(hits: Sequence[Hit]) -> None:
    question = decompose("what does the bike cost?", NOW)
    said = "They want £48 for the bike, paid in cash. "
    short = choose(question, [long(hits[0], said)], weights())
    whole = choose(question, [long(hits[0], said + "We sat by the canal. " * 30)], weights())
    assert short.p > whole.p


def test_no_page_is_held_against_every_sentence_of_another(
    hits: Sequence[Hit], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asking of thirty turns of 100 KB took half an hour: each sentence was held against a whole turn."""
    compared: list[int] = []

    def seen(_question: Any, older: str, newer: str, **_how: bool) -> bool:
        compared.append(max(len(older), len(newer)))
        return False

    monkeypatch.setattr(variants, "is_change", seen)
    monkeypatch.setattr(chooser, "is_change", seen)
    page = "The bike was sold to a man from the coast. We talked about it for hours. " * 1_000
    later = long(hits[1], page)
    choose(decompose("who is buying the bike?", NOW), [long(hits[0], page), later], weights())
    assert compared
    assert max(compared) <= 400
    assert len(compared) < 500
