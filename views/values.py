"""What rows are made of: plain values, and the columns that every kind of record shares (SPEC §10.3). Pure.

A row is a tuple of plain values, one a column: text, integers, floats, booleans, lists of text, None; a time is its
microseconds since 1970 (UTC), JSON its text. The same values are hashed, inserted, and read back to be compared.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

import msgspec

from braid.ledger.record.envelope import Envelope
from braid.ledger.record.record import Body
from braid.ledger.record.scope import ids_of
from braid.views.projection import HeadFacts

Row = tuple[Any, ...]
Numbered = tuple[int, Row]
"""A row and the number of its table in `TABLES`."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_LIVING: Final = ("living", None)
_NO_BODY: Final = (None,) * 9
_encode = msgspec.json.Encoder().encode


def microseconds(time: datetime) -> int:
    """Return a time as microseconds since 1970, UTC; one without a zone is taken for UTC."""
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


@lru_cache(maxsize=64)  # the records of a transaction share their time
def created(text: str) -> int:
    """Return an envelope's time as microseconds since 1970."""
    return microseconds(datetime.fromisoformat(text))


def json_text(value: Any) -> str | None:
    """Return a value as JSON text, None for one that is empty."""
    return _encode(value).decode() if value or value in (0, False) else None


def record_part(envelope: Envelope, standing: HeadFacts) -> Row:
    """Return the columns that an envelope fills in, whatever the kind."""
    index, key = envelope.index, envelope.key
    since = standing.disputed.get(key)
    return (
        created(envelope.created_at),
        key,
        envelope.tx[0],
        envelope.body[1],
        since is not None and index >= since,
        index in standing.weakened,
        *standing.fates.get(index, _LIVING),
    )


def body_part(envelope: Envelope, body: Body | None) -> Row:
    """Return the columns that every kind of body fills in."""
    recorded = created(envelope.created_at)
    if body is None:
        return (None, recorded, *_NO_BODY)
    occurred = None if body.occurred_at is None else microseconds(body.occurred_at)
    scope = body.scope
    return (
        occurred,
        recorded if occurred is None else occurred,
        *ids_of(scope),
        body.external_id,
        body.once,
        body.tags,
        body.reason,
    )
