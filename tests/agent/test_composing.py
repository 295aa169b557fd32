"""Without a model: bands, citations, spans, sureness and reflections, by hand."""

from datetime import UTC, datetime

import msgspec
import pytest

from braid.agent import bands, cite
from braid.agent.compose import UNKNOWN, Extractive, quote
from braid.agent.parts import Asked
from braid.agent.reflect import reflect
from braid.agent.spans import best_span, day
from braid.agent.sureness import RULE, SIGNALS, named_speakers, signals, sureness, weights
from braid.ledger.envelope import Envelope
from braid.ledger.record import Content, ExperienceBody, Provenance, Record
from braid.recall.decompose import decompose
from braid.recall.hits import Hit

NOW = datetime(2023, 6, 9, 12, tzinfo=UTC)
ID = "exp_2023-06-09T12:00:00Z_00000000000{}"


def hit(place: int, name: str | None, text: str, score: float = 1.0, **said: float) -> Hit:
    body = ExperienceBody(
        content=Content(text=text), provenance=Provenance(actor="user" if name else "agent", name=name),
        occurred_at=NOW,
    )  # fmt: skip
    envelope = Envelope(
        kind="experience", type="occurrence", id=ID.format(place), index=place, created_at=NOW.isoformat(),
        tx=(0, 0, 1), origin="o", key="k", body_sha256="", links=[], public={},
    ) if False else None  # fmt: skip
    record = Record.__new__(Record)
    record.__dict__ = {"body": body}
    return Hit(record, score, said, {})
