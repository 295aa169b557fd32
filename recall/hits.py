"""What recall answers: hits in order, each with its reasons, and how complete the answer is."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from braid.ledger.record import ExperienceBody, Record


class Hit(msgspec.Struct, frozen=True):
    """A record that fits. `record` was read from the log and verified; `signals` is what spoke for it, by name."""

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
        """What it says, from the log."""
        return self.record.text

    def wire(self, *, explain: bool = False) -> dict[str, Any]:
        """Return the hit as it is sent."""
        body = self.record.body
        sent: dict[str, Any] = {
            "id": self.id,
            "index": self.index,
            "text": self.text,
            "score": round(self.score, 6),
            "created_at": self.record.envelope.created_at,
        }
        if body.occurred_at is not None:
            sent["occurred_at"] = body.occurred_at.isoformat()
        if isinstance(body, ExperienceBody):
            sent["actor"] = body.provenance.actor
            if body.provenance.name:
                sent["name"] = body.provenance.name
            captions = [media.caption for media in body.content.media if media.caption]
            if captions:
                sent["captions"] = captions
        if body.scope is not None:
            sent["scope"] = {
                name: value
                for name in ("user_id", "agent_id", "run_id", "session_id")
                if (value := getattr(body.scope, name)) is not None
            }
        if self.superseded_by is not None:
            sent["superseded_by"] = self.superseded_by
        sent["signals"] = {name: round(value, 4) for name, value in self.signals.items()}
        if explain:
            sent["parts"] = {name: round(value, 4) for name, value in self.parts.items()}
        if self.also:
            sent["also"] = [_when(record) for record in self.also]
        if self.proof is not None:
            sent["proof"] = self.proof.decode()
        return sent


def _when(record: Record) -> dict[str, Any]:
    """Return which record it is, and when it was said."""
    sent: dict[str, Any] = {"id": record.id, "index": record.index, "created_at": record.envelope.created_at}
    happened = record.body.occurred_at
    return sent if happened is None else sent | {"occurred_at": happened.isoformat()}


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The hits, best first."""

    results: Sequence[Hit]
    position: int
    """How many records of the log the projection had taken in."""
    behind_by: int
    """How many it hadn't."""
    degraded: Sequence[str] = ()
    """What couldn't be asked, and so has no say in the order."""
    rebuilt: str | None = None
    """Why the projection had to be made anew before it could be asked; None where it hadn't."""
    disagreement: float = 0.0
    """The entropy of the hits' answers in [0, 1]."""
    proof: bytes | None = None
    """A multi-proof that shows offline that all hits are in the log (`braid check-proof`)."""

    def wire(self, *, explain: bool = False) -> dict[str, Any]:
        """Return the answer as it is sent: `{"results": […], …}`."""
        sent: dict[str, Any] = {
            "results": [hit.wire(explain=explain) for hit in self.results],
            "behind_by": self.behind_by,
            "position": self.position,
            "degraded": list(self.degraded),
            "disagreement": round(self.disagreement, 4),
        }
        if self.rebuilt is not None:
            sent["rebuilt"] = self.rebuilt
        if self.proof is not None:
            sent["proof"] = self.proof.decode()
        return sent
