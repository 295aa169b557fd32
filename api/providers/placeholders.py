"""What stood behind placeholders, kept for audits: a sealed event, which goes with the records that hold the words.

Of an exchange only that is kept which stands in a record that the event links to, so an erasure leaves none of it.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from braid.ledger.record.record import Draft, EventBody, Record
from braid.text.redact import visible

EVENT: Final = "placeholders"


def kept(operation: str, exchanges: Sequence[Mapping[str, str]], records: Sequence[Record]) -> Draft | None:
    """Return the event that keeps what was replaced in some exchanges; None where these records hold none of it."""
    texts = {one.id: visible(one.text or "") for one in records}
    held = [
        mapping
        for each in exchanges
        if (
            mapping := {
                name: word for name, word in each.items() if any(word in text for text in texts.values())
            }
        )
    ]
    if not held:
        return None
    words = {word for mapping in held for word in mapping.values()}
    sources = [id for id, text in texts.items() if any(word in text for word in words)]
    scope = next(one.body.scope for one in records if one.id in sources)
    return Draft(
        kind="event",
        body=EventBody(name=EVENT, data={"operation": operation, "exchanges": held}, scope=scope),
        links=[("evidence", id) for id in sources],
        public={"name": EVENT},
    )
