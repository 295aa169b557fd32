"""Self-consistency: the answer that most parts of the evidence give, what it cost, and how many said what."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import braid
from braid.agent.answer.compose import Extractive
from braid.agent.answer.majority import Majority
from braid.agent.composer import Composed, QuestionContext
from braid.store import Store

SAID = "2025-06-30T09:00:00Z"
NOW = datetime(2025, 7, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("majority")
    with braid.open(folder / "store", guard_dir=folder / "guard") as it:
        turns = [
            "The van cost £214.",
            "The bill for the van came to £214.",
            "Somebody said the van cost £241.",
        ]
        it.remember(
            [{"role": "user", "content": text, "name": "Ann", "timestamp": SAID} for text in turns],
            user_id="ann",
        )
        it.views.search.index(wait_s=60.0)
        yield it


class Nth:
    """Says what the best hit says: an answer that hangs on one record."""

    name = "nth"
    version = "1"

    def compose(self, asked: QuestionContext) -> Composed:
        hit = asked.hits[0]
        short = "241" if "241" in hit.text else "214"
        return Composed(text=hit.text, citations=[hit.id], short=short, p=0.8, tokens=(10, 2))


def test_the_majority_is_taken_and_told_with_its_cost(store: Store) -> None:
    majority = Majority(Nth(), 3)
    found = store.ask("How much was the van?", user_id="ann", now=NOW, composer=majority, write=False)
    assert sum(majority.votes.values()) == 3
    assert found.short == max(majority.votes, key=lambda said: majority.votes[said])
    assert found.tokens == (30, 6)
    assert found.residual_uncertainty == pytest.approx(1 - 0.8 * max(majority.votes.values()) / 3)


def test_one_sample_is_the_answer_itself(store: Store) -> None:
    plain = store.ask("How much was the van?", user_id="ann", now=NOW, write=False)
    voted = store.ask(
        "How much was the van?", user_id="ann", now=NOW, composer=Majority(Extractive(), 1), write=False
    )
    assert (voted.plain, voted.residual_uncertainty) == (plain.plain, plain.residual_uncertainty)


def test_a_program_tells_the_votes(store: Store) -> None:
    found = store.run_program("How much was the van?", user_id="ann", now=NOW, samples=5)
    assert sum(found.state.votes.values()) == 5
    again = store.program_trace(found.id)[-1].event
    assert getattr(again, "votes", None) == found.state.votes


def test_a_majority_of_none_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one answer"):
        Majority(Extractive(), 0)
