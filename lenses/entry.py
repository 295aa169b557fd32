"""A record as a lens sees it: what was said, by whom, when, and what it hangs on; no id, no index, no clock. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from braid.ledger.record.record import Claim, ExperienceBody, Record
from braid.ledger.record.source import voice
from braid.stance.claims import RecordedClaim, claims_of


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """An experience at its place among the records that the lens is applied to, oldest first."""

    place: int
    type: str
    text: str
    who: str
    """The speaker's own name, else the actor."""
    actor: str
    """user, agent, system or tool(name)."""
    at: datetime
    """When it happened, else when it was recorded; UTC."""
    created_at: datetime
    method: str = "capture"
    claims: tuple[Claim, ...] = ()
    said: tuple[RecordedClaim, ...] = ()
    """The claims as truth maintenance takes them; their index is the place."""
    confidence: float | None = None
    links: tuple[tuple[str, int], ...] = ()
    """(role, place) of what it links to, where that is among the records too."""
    user_id: str | None = None
    session_id: str | None = None


def entry_of(record: Record, place: int, places: Mapping[int, int]) -> Entry:
    """Return an experience as an entry; `places` maps log indexes to places."""
    body = record.body
    if not isinstance(body, ExperienceBody):
        raise TypeError(f"{record.id} is a {record.kind}; lenses look at experiences")
    scope = body.scope
    links = tuple((link.role, places[link.index]) for link in record.links if link.index in places)
    return Entry(
        place=place,
        type=record.type,
        text=body.content.text,
        who=voice(record),
        actor=body.provenance.actor,
        at=(body.occurred_at or record.created_at).astimezone(UTC),
        created_at=record.created_at,
        method=body.provenance.method,
        claims=tuple(body.symbolic),
        confidence=body.confidence.p if body.confidence else None,
        said=_said(record, place),
        links=links,
        user_id=scope.user_id if scope else None,
        session_id=scope.session_id if scope else None,
    )


def _said(record: Record, place: int) -> tuple[RecordedClaim, ...]:
    """Return its claims by place; what was read of another's words is the word of whose memory it is."""
    return tuple(
        msgspec.structs.replace(said, index=place, id=f"place {place}", tx=place)
        for said in claims_of(record)
    )
