"""A record in the light of a time: what of it held then, and what has taken its place."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from braid.ledger.record.record import Record
    from braid.store import Store


def happened_at(record: "Record") -> datetime:
    """Return when it happened, else when it was recorded."""
    return record.created_at if record.raw is None else record.body.occurred_at or record.created_at


def narrow(record: "Record", shown: dict[str, Any], instant: datetime) -> None:
    """Take the claims that did not hold out of a shown record; raise ValueError for one that had not happened yet."""
    happened = happened_at(record)
    if happened > instant:
        raise ValueError(f"{record.id} happened at {happened.isoformat()}, after {instant.isoformat()}")
    claims = getattr(record.body, "symbolic", []) if record.raw is not None else []
    if not claims:
        return
    members = shown["embeddings"]
    members["symbolic"] = [
        one
        for one, claim in zip(members["symbolic"], claims, strict=True)
        if (claim.valid_from or happened) <= instant and (claim.valid_to is None or claim.valid_to > instant)
    ]


def successors(store: "Store", record: "Record", size: int) -> list[str]:
    """Return the id of the record among the first `size` that stands in the place of this one, in a list."""
    reader = store.reader
    instead = reader.standings(size).instead(record.index)
    return [] if instead is None else [reader.envelope(instead).id]
