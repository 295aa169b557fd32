"""A store to ask: what Maya said, what Bob said elsewhere, and a question as the steps before a composer leave it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import braid
from braid.agent.composer import Composed, QuestionContext
from braid.claims.question import weigh
from braid.ledger.record.record import Claim
from braid.log.drafts import scope
from braid.search.question import Question
from braid.search.retrieval import find
from braid.store import Store

NOW = datetime(2025, 6, 1, tzinfo=UTC)
WHEN = datetime(2025, 3, 1, 9, tzinfo=UTC)
MAYAS_SECRET = "sk-proj-CanaryOfMaya0123456789abcd"
BOBS_SECRET = "sk-proj-CanaryOfBob99876543210zyxw"
SAID = (
    "I don't eat shellfish.",
    "My cat is called Miso.",
    "My brother Duarte paid 1,200 euros for the cot.",
    f"The key of my weather station is {MAYAS_SECRET}, and the wifi password is Tram-28-Miso.",
)
HOMES = (("Leeds", datetime(2024, 1, 5, tzinfo=UTC)), ("Porto", WHEN))
"""Where Maya lived, and lives."""
BOBS = (f"My bank key is {BOBS_SECRET}.", "My cat is called Rex.")


@contextmanager
def household(folder: Path, *more: str) -> Iterator[Store]:
    """Open a new store that holds what was said, and `more` that Maya's memory took in."""
    with braid.open(folder / "memory", guard_dir=folder / "guard") as store:
        with store.transaction() as together:
            for home, held in HOMES:
                together.append(
                    f"I live in {home}.",
                    name="Maya",
                    user_id="maya",
                    occurred_at=held,
                    claims=[Claim(subject="Maya", rel="lives_in", object=home, valid_from=held)],
                )
            for at, text in enumerate((*SAID, *more)):
                together.append(
                    text,
                    user_id="maya",
                    name="Maya",
                    actor="user",
                    occurred_at=WHEN.replace(hour=9 + at % 12),
                )
            for text in BOBS:
                together.append(text, user_id="bob", name="Bob", actor="user", occurred_at=WHEN)
        yield store


def asking(store: Store, question: str, user_id: str = "maya", **more: Any) -> QuestionContext:
    """Return a question with what the store recalls of it and holds of it."""
    found = find(store.session, Question(query=question, user_id=user_id, top_k=10))
    outcome, _ = weigh(store, question, scope(user_id=user_id), at=NOW)
    return QuestionContext(
        **{
            "question": question,
            "hits": found.results,
            "context": store.context(question, user_id=user_id, top_k=10),
            "now": NOW,
            "stance": outcome,
            **more,
        }
    )


class Plain:
    """A composer that says what it always says."""

    name = "plain"
    version = "1"

    def compose(self, asked: QuestionContext) -> Composed:
        """Return the first hit."""
        first = asked.hits[0] if asked.hits else None
        return Composed(text=first.text if first else "I don't know.", citations=[first.id] if first else [])
