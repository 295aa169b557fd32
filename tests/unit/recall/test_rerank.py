"""What recall makes of a cross-encoder's reading, and that nothing hangs on it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest

import braid
from braid.recall.rerank import PART, RERANKED
from braid.store import Store
from braid.text.rerank import RerankError

SAID = ("The bike is at the menders.", "They want £48 for it.", "The bike lane on Mill Road is closed.")
ASKED = "What does the bike cost?"


class FakeReranker:
    """Gives the highest figure to what has a word in it; keeps what it read."""

    name = "fake-1"

    def __init__(self, word: str, fails: Callable[[], Any] | None = None) -> None:
        self.word, self.fails = word, fails
        self.read: list[str] = []

    def scores(self, question: str, texts: Sequence[str]) -> Any:
        self.read += texts
        if self.fails is not None:
            return self.fails()
        return np.array([3.0 if self.word in text.rpartition(" / ")[2] else -3.0 for text in texts])


def opened(home: Path, model: FakeReranker | None, said: Sequence[str] = SAID) -> Store:
    made = braid.open(
        home / "memory", guard_dir=home / "guard", reranker=None if model is None else lambda: model
    )
    for text in said:
        made.append(text, actor="user", name="Petra", user_id="u")
    made.views.search.index(wait_s=60.0)
    return made


def found(store: Store, **how: Any) -> list[str]:
    return [hit.text for hit in store.recall(ASKED, user_id="u", **how).results]


def test_the_reading_orders_the_hits_only_where_it_is_asked_for(tmp_path: Path) -> None:
    model = FakeReranker("£48")
    with opened(tmp_path, model) as store:
        assert found(store)[0] != SAID[1]
        assert not model.read
        assert found(store, rerank=True)[0] == SAID[1]
        assert SAID[1] in store.context(ASKED, user_id="u", rerank=True)
        assert "Petra: The bike is at the menders. / Petra: They want £48 for it." in model.read


def test_its_part_and_the_others_come_to_the_score(tmp_path: Path) -> None:
    with opened(tmp_path, FakeReranker("£48")) as store:
        best, *rest = store.recall(ASKED, user_id="u", rerank=True, explain=True).results
        assert best.signals[PART] == 3.0
        for hit in (best, *rest):
            assert hit.parts is not None
            assert hit.score == pytest.approx(sum(hit.parts.values()), abs=1e-3)
        assert sum((hit.parts or {})[PART] for hit in (best, *rest)) == pytest.approx(0.0, abs=1e-3)


def refused() -> Any:
    raise RerankError("the weights are gone")


def broken() -> Any:
    raise ValueError("They want £48 for it.")


def late() -> Any:
    begun = monotonic()
    while monotonic() < begun + 0.11:
        pass
    return np.array([1.0, 1.0, 1.0])


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("fails", "told"),
    [
        (refused, "cross-encoder: the weights are gone"),
        (broken, "cross-encoder: ValueError"),
        (lambda: np.array([1.0, float("nan"), 1.0]), "cross-encoder: fake-1 gave no number for each text"),
        (lambda: np.array([1.0]), "cross-encoder: fake-1 gave no number for each text"),
        (late, "cross-encoder: it took longer than 0.1 s"),
    ],
)
def test_where_it_fails_the_order_is_as_before_and_it_says_so(
    tmp_path: Path, fails: Callable[[], Any], told: str
) -> None:
    with opened(tmp_path, FakeReranker("£48", fails)) as store:
        before = found(store)
        answer = store.recall(ASKED, user_id="u", rerank=True, limit_s=0.1 if "longer" in told else 5.0)
        assert [hit.text for hit in answer.results] == before
        assert told in answer.degraded


def test_without_a_model_nothing_lacks(tmp_path: Path) -> None:
    with opened(tmp_path, None) as store:
        answer = store.recall(ASKED, user_id="u", rerank=True)
        assert [hit.text for hit in answer.results] == found(store)
        assert answer.degraded == ()


def test_of_many_the_best_are_read_and_the_others_stay_behind_them(tmp_path: Path) -> None:
    model = FakeReranker("number 3 ")
    said = [f"The bike has number {at} on its frame, and costs." for at in range(60)]
    with opened(tmp_path, model, said) as store:
        results = store.recall(ASKED, user_id="u", rerank=True, top_k=50).results
    assert RERANKED <= len(model.read) <= RERANKED + 2  # what seems to answer is read once more, alone
    assert len(results) == 50
    scores = [hit.score for hit in results]
    assert scores == sorted(scores, reverse=True)


def test_nothing_of_another_scope_is_read(tmp_path: Path) -> None:
    model = FakeReranker("£48")
    with opened(tmp_path, model, ()) as store:
        store.append("Bob's PIN is 7788.", actor="user", name="Bob", user_id="bob")
        store.append("They want £48 for the bike.", actor="user", name="Petra", user_id="u")
        store.append("The bike is blue.", actor="user", name="Petra", user_id="u")
        store.views.search.index(wait_s=60.0)
        assert len(found(store, rerank=True)) == 2
    assert model.read
    assert "7788" not in " ".join(model.read)


def test_two_ways_to_order_are_refused(tmp_path: Path) -> None:
    with (
        opened(tmp_path, FakeReranker("£48")) as store,
        pytest.raises(ValueError, match="give one of them"),
    ):
        store.recall(
            ASKED, user_id="u", rerank=True, cross_encoder=lambda question, given: [0.0] * len(given)
        )
