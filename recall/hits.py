"""What recall answers: hits in order, each with its reasons, and how complete the answer is."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from braid.ledger.record.record import ExperienceBody, Record
from braid.ledger.record.source import SourceClass

BESIDE: Final = 2
"""How many of the turns before a hit are looked up: a reply may stand between a question and its answer."""


class Hit(msgspec.Struct, frozen=True):
    """A record that fits. `record` was read from the log and verified.

    `signals` is what spoke for it, by name: each a share in [0, 1], or a count, before it is weighed.
    """

    record: Record
    score: float
    signals: Mapping[str, float]
    parts: Mapping[str, float]
    """What each signal added to the score; their sum is the score."""
    proof: bytes | None = None
    """A c2sp.org/tlog-proof that shows offline that the record is in the log."""
    also: Sequence[Record] = ()
    """Records that fit less well and say the same in the same words, by the same speaker in the same scope."""
    superseded_by: str | None = None
    """The record that stands in its place now; None for what stands itself."""
    source: SourceClass = "owner"
    """Whose words it is, by class."""
    before: Sequence[int] = ()
    """The turns right before it in its session, by log index, nearest first; none where they could not be looked up."""
    part: str | None = None
    """The part of a long text that the question is about, where only that is looked at."""

    @property
    def id(self) -> str:
        """The record's id."""
        return self.record.id

    @property
    def index(self) -> int:
        """Its log index."""
        return self.record.index

    @property
    def text(self) -> str:
        """What it says, from the log: of a long text only the part, where that was taken."""
        return self.record.text if self.part is None else self.part


class RecallResult(msgspec.Struct, frozen=True, kw_only=True):
    """The hits, best first."""

    results: Sequence[Hit]
    position: int
    """How many records of the log the projection had taken in."""
    behind_by: int
    """How many it hadn't."""
    degraded: Sequence[str] = ()
    """What couldn't be asked, and so has no say in the order."""
    rebuilt: str | None = None
    """Why the projection had to be made again before it could be asked; None where it hadn't."""
    disagreement: float = 0.0
    """The entropy of the hits' answers in [0, 1]."""
    beneath: int = 0
    """How many of the candidates looked at were left out since their source class is beneath what is trusted."""
    proof: bytes | None = None
    """A multi-proof that shows offline that all hits are in the log (`braid check-proof`)."""


def beside(hits: Sequence[Hit], before: Callable[[Sequence[int]], Mapping[int, int]]) -> list[Hit]:
    """Return hits with the turns right before each, of which `before` names one by log index.

    The log alone doesn't tell: what was read of a turn, or another talk, may lie between two turns.
    """
    chains: list[tuple[int, ...]] = [(hit.index,) for hit in hits]
    for _ in range(BESIDE if hits else 0):
        earlier = before([chain[-1] for chain in chains])
        chains = [(*chain, earlier[chain[-1]]) if chain[-1] in earlier else chain for chain in chains]
    return [msgspec.structs.replace(hit, before=chain[1:]) for hit, chain in zip(hits, chains, strict=True)]


def is_soon_after(hit: Hit, one: Hit, most: int = 1) -> bool:
    """Whether a hit was said at most so many turns after another, in the same session."""
    return one.index in hit.before[:most]


def are_near(one: Hit, other: Hit, most: int = 1) -> bool:
    """Whether two hits were said at most so many turns apart, in the same session; a hit is near itself."""
    return one.index == other.index or is_soon_after(one, other, most) or is_soon_after(other, one, most)


def speaker(hit: Hit) -> str:
    """Return who said a hit: a name, or what kind of actor it is."""
    body = hit.record.body
    return (body.provenance.name or body.provenance.actor) if isinstance(body, ExperienceBody) else ""
