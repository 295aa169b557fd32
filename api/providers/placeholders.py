"""What stood behind placeholders, kept for audits: sealed events, which go with the records that hold the words.

Of an exchange only that is kept which stands in a record that an event links to, so an erasure leaves none of it. Each
scope has an event of its own: what one person said is never shown with what another did.
"""

from collections.abc import Mapping, Sequence

from braid.ledger.record.record import PLACEHOLDERS, Draft, EventBody, Record
from braid.ledger.record.scope import ids_of
from braid.text.redact import visible


def kept(operation: str, exchanges: Sequence[Mapping[str, str]], records: Sequence[Record]) -> list[Draft]:
    """Return the events that keep what was replaced in some exchanges; none where these records hold none of it."""
    by_scope: dict[tuple[str | None, ...], list[Record]] = {}
    for one in records:
        by_scope.setdefault(ids_of(getattr(one.body, "scope", None)), []).append(one)
    drafts = (_kept(operation, exchanges, of_one) for of_one in by_scope.values())
    return [one for one in drafts if one is not None]


def _kept(operation: str, exchanges: Sequence[Mapping[str, str]], records: Sequence[Record]) -> Draft | None:
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
    return Draft(
        kind="event",
        body=EventBody(
            name=PLACEHOLDERS,
            data={"operation": operation, "exchanges": held},
            scope=getattr(records[0].body, "scope", None),
        ),
        links=[("evidence", id) for id in sources],
        public={"name": PLACEHOLDERS},
    )
