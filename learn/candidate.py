"""What an extractor finds: candidates, and the protocol of whoever finds them. Nothing of it is known yet.

    turns of a session, known entities, what is known  ->  Extractor  ->  candidates  ->  gates  ->  claims, staged,
    refused

A candidate carries the source's own bytes: which turn, from which character on, which words. Gates (`learn/gates/`)
compare them with the turn before anything is kept.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

import msgspec

from braid.learn.turn import Turn
from braid.ledger.record.record import Claim

CandidateType = Literal[
    "entity",
    "relation",
    "fact",
    "preference",
    "skill",
    "interest",
    "goal",
    "episode",
    "correction",
    "step",
]
Modality = Literal["actual", "planned", "possible", "hypothetical", "asked", "wanted"]
Temporal = Literal["trait", "state", "episode"]
Category = Literal["tool", "workflow", "communication", "domain", "environment", "style"]


class Evidence(msgspec.Struct, frozen=True):
    """Where it was said: the index of the turn's record, the first character, and the words from there on."""

    turn: int
    start: int
    quote: str


class Maker(msgspec.Struct, frozen=True):
    """What found a candidate: `parse`, `model` or `events`, with the version of its rules or of its prompt."""

    name: str
    version: str
    model: str | None = None


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was perhaps said. `claim` is what would be kept; its quote is the evidence's."""

    claim: Claim
    type: CandidateType
    evidence: Evidence
    maker: Maker
    modality: Modality = "actual"
    temporal: Temporal = "state"
    confidence: float = 0.5
    """What the maker says of it, in [0, 1]."""
    category: Category | None = None
    key: str | None = None
    """Of a preference: `dispute_notification_method`."""
    strength: float | None = None
    """Of a preference, in [0, 1]."""
    proficiency: str | None = None
    """Of a skill: novice, beginner, intermediate, advanced, expert."""


class KnownEntity(msgspec.Struct, frozen=True):
    """An entity that a session may speak of: its name, its type, its other names, how often it was spoken of."""

    name: str
    type: str = "thing"
    aliases: tuple[str, ...] = ()
    mentions: int = 0


class Extraction(NamedTuple):
    """What an extractor found in a session, and what went wrong: stage, class of the error, never a word of the
    talk.
    """

    candidates: tuple[Candidate, ...] = ()
    failures: tuple[tuple[str, str], ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    warnings: tuple[tuple[str, str], ...] = ()
    """What was mended or passed over, stage and class: an answer's JSON, an item of the wrong form."""


class Extractor(Protocol):
    """Finds candidates in the turns of one session."""

    @property
    def maker(self) -> Maker:
        """What its candidates name as their maker."""
        ...

    def extract(
        self, turns: Sequence[Turn], entities: Sequence[KnownEntity], known: Sequence[Claim], now: datetime
    ) -> Extraction:
        """Return what these turns state. Never raises for what was said, or for what a model answers."""
        ...
