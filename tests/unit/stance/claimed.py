"""Claims made by hand, as the fold sees them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from braid.ledger.record.record import Asks, Claim, Confidence, ExperienceBody, Provenance, Scope
from braid.stance.claims import Place, RecordedClaim, claims_in
from braid.stance.fold import GroundedRecord
from braid.stance.reconcile import Reconciliation, reconcile
from braid.stance.voice import Backing


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def say(
    index: int,
    claim: Claim,
    when: str = "2025-03-24",
    *,
    p: float | None = 0.9,
    actor: str = "user",
    method: str = "capture",
    measured: str = "rule",
    by: str | Sequence[str] = (),
    kept: float = 1.0,
    user_id: str | None = None,
) -> list[RecordedClaim]:
    """What a record at some index that makes this claim comes to; `by`: whose words it rests on, where not its own."""
    body = ExperienceBody(
        symbolic=[claim],
        occurred_at=day(when),
        confidence=None if p is None else Confidence(p=p, method=measured),
        provenance=Provenance(actor=actor, method=method),
        scope=Scope(user_id=user_id),
    )
    place = Place(index, f"exp_{index}", day("2026-01-01"), index)
    voices = frozenset((by,) if isinstance(by, str) else by)
    return list(claims_in(body, place, Backing(voices, kept) if voices else None))


def claim(subject: str, rel: str, object_: str, **more: Any) -> Claim:
    return Claim(subject=subject, rel=rel, object=object_, **more)


def asking(subject: str, *rels: str, at: str = "2025-06-20", **more: Any) -> Asks:
    return Asks(subjects=[subject], rels=list(rels), at=day(at), **more)


def standing(*claims: list[RecordedClaim]) -> tuple[list[RecordedClaim], list[GroundedRecord]]:
    """Claims, and their records as sources that rest on nothing."""
    said = [one for group in claims for one in group]
    return said, [GroundedRecord(index, f"exp_{index}") for index in sorted({one.index for one in said})]


def settle(asks: Asks, *claims: list[RecordedClaim]) -> Reconciliation:
    said, sources = standing(*claims)
    return reconcile("?", asks, said, sources)
