"""The worked example of ADR-0013 §12: a merchant's session, a recorded answer of a model, and the table it must give.

The table's confidences are the model's own figures; ours are no higher than what their source is worth (§9).
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from braid import open as open_store
from braid.ledger.record.record import ExperienceBody
from braid.models.spacy_parser import shared
from braid.store import Store
from tests.unit.learn.model_double import SaysInTurn

SESSION = (
    (
        "user",
        "Hi, I need to change my dispute notification settings. I always want email notifications for disputes, not"
        " those in-app popups. They're easy to miss.",
    ),
    ("assistant", "Got it! I'll update that. Anything else?"),
    (
        "user",
        "Yeah, can you set up automatic invoice reminders? I've been using QuickBooks for my bookkeeping and I'd love"
        " if the invoices could sync there automatically.",
    ),
    (
        "assistant",
        "For the QuickBooks integration, I'll need the API connection. Have you worked with API integrations before?",
    ),
    (
        "user",
        "Oh yeah, I've done a bunch of API integrations for my store. I connected Shopify, our shipping provider, and"
        " a couple of payment gateways. I'm pretty comfortable with that stuff.",
    ),
)
ANSWER: dict[str, Any] = {
    "preferences": [
        {
            "turn": 1,
            "quote": "I always want email notifications for disputes, not those in-app popups",
            "relation": "prefers",
            "object": "email notifications for disputes",
            "polarity": "positive",
            "category": "communication",
            "key": "dispute_notification_method",
            "strength": 0.95,
            "context": "dispute_management",
            "confidence": 0.9,
        },
        {
            "turn": 1,
            "quote": "I always want email notifications for disputes, not those in-app popups",
            "relation": "dislikes",
            "object": "in-app popups",
            "polarity": "negative",
            "category": "communication",
            "key": "in_app_popups",
            "confidence": 0.85,
        },
        {
            "turn": 3,
            "quote": "I've been using QuickBooks for my bookkeeping",
            "relation": "uses",
            "object": "QuickBooks",
            "polarity": "positive",
            "category": "tool",
            "key": "bookkeeping_tool",
            "confidence": 0.8,
        },
        {
            "turn": 3,
            "quote": "I'd love if the invoices could sync there automatically",
            "relation": "likes",
            "object": "invoices sync automatically",
            "polarity": "positive",
            "category": "workflow",
            "key": "invoice_sync_automation",
            "modality": "wanted",
            "confidence": 0.85,
        },
    ],
    "skills": [
        {
            "turn": 5,
            "quote": "I've done a bunch of API integrations for my store",
            "skill": "API integrations",
            "proficiency": "advanced",
            "confidence": 0.75,
        }
    ],
    "interests": [
        {
            "turn": 3,
            "quote": "can you set up automatic invoice reminders?",
            "topic": "automatic invoice reminders",
            "engagement": "moderate",
            "source": "implicit_intentional",
            "confidence": 0.6,
        }
    ],
}
TABLE = [
    (1, "preference", "dispute_notification_method", "email notifications for disputes", "explicit"),
    (1, "preference", "in_app_popups", "in-app popups", "explicit"),
    (3, "preference", "bookkeeping_tool", "QuickBooks", "explicit"),
    (3, "preference", "invoice_sync_automation", "invoices sync automatically", "explicit"),
    (5, "skill", None, "API integrations", "explicit"),
    (3, "interest", None, "automatic invoice reminders", "implicit_intentional"),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "memory") as opened:
        yield opened


def test_the_merchants_session_gives_the_table(store: Store) -> None:
    said = [{"role": role, "content": text} for role, text in SESSION]
    turns = store.remember(said, user_id="merchant", session_id="s1", learn=False)
    done = store.extract(model=SaysInTurn(json.dumps(ANSWER), name="recorded"), parser=shared())
    assert (done.staged, done.refused, done.warnings, done.failures) == (0, {}, {}, {})
    found: list[tuple[Any, ...]] = []
    for record in store.read():
        body = record.body
        if not isinstance(body, ExperienceBody) or not body.provenance.method.startswith("read:model"):
            continue
        (parent,) = record.targets("parent")
        for claim in body.symbolic:
            at = turns.ids.index(parent.id) + 1
            text = SESSION[at - 1][1]
            assert claim.quote is not None
            assert claim.at is not None
            assert text[claim.at : claim.at + len(claim.quote)] == claim.quote
            found.append((at, claim.type, claim.details.get("key"), claim.object, claim.source_type))
    assert sorted(found, key=str) == sorted(TABLE, key=str)
