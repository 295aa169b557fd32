"""Which records and transactions a listing shows, and a record as a row of it."""

from itertools import islice
from typing import TYPE_CHECKING, Any

from braid.ledger.record.source import voice_of_source

if TYPE_CHECKING:
    from braid.ledger.record.record import Record
    from braid.store import Store


def _wanted(store: "Store", record: "Record", kind: str | None, forgotten: bool) -> bool:
    return (kind is None or record.kind == kind) and (
        forgotten or record.index not in store.reader.control.hidden
    )


def records_of(
    store: "Store", count: int, since: int | None, kind: str | None, forgotten: bool
) -> "list[Record]":
    """Return the first `count` records from `since`, or the last `count`, oldest first."""
    reader = store.reader
    if since is not None or count == 0:
        entries = (entry.record for batch in reader.entries(since or 0) for entry in batch)
        wanted = (record for record in entries if _wanted(store, record, kind, forgotten))
        return list(islice(wanted, count or None))
    found: list[Record] = []
    end, size = reader.size, count
    while end > 0 and len(found) < count:  # backwards, in pieces: no further than the rows need
        start, size = max(0, end - size), max(2 * count, 256)
        piece = [entry.record for batch in reader.entries(start, end) for entry in batch]
        found += [record for record in reversed(piece) if _wanted(store, record, kind, forgotten)]
        end = start
    return found[:count][::-1]


def row_of(store: "Store", record: "Record") -> dict[str, Any]:
    members = record.members
    row: dict[str, Any] = {"index": record.index, "id": record.id, "type": record.type or record.kind}
    if record.raw is None:
        erased = record.index in store.reader.control.erased
        return row | {"text": "(erased)" if erased else "(sealed: no vault here)"}
    provenance: dict[str, Any] = members.get("provenance") or {}
    row["occurred_at"] = members.get("occurred_at")
    if record.kind == "experience":
        row["actor"] = voice_of_source(
            provenance.get("actor") or "user", provenance.get("name"), members.get("tags") or ()
        )
    else:
        row["actor"] = provenance.get("name") or provenance.get("actor")
    row["text"] = _text_of(members) or _gist(record)
    return row


def _gist(record: "Record") -> str:
    members = record.members
    op = record.envelope.public.get("op")
    named = next(
        (
            str(members[name])
            for name in ("question", "lens", "primary_emotion", "name", "actor")
            if name in members
        ),
        "",
    )
    return " ".join(part for part in (op, named, members.get("reason")) if part)


def transactions_of(store: "Store", count: int, since: int | None) -> list[dict[str, Any]]:
    from braid.ledger.record.shape import shape_transaction

    reader = store.reader
    if since is None:
        last = reader.envelope(reader.size - 1).tx[0]
        since = first_of(store, max(0, last - count + 1)) if count else 0
    found: list[dict[str, Any]] = []
    for batch in reader.entries(since):
        if batch:
            found.append(shape_transaction(batch[0].record.envelope.tx[0], [entry.record for entry in batch]))
        if count and len(found) == count:
            break
    return found


def first_of(store: "Store", tx: int) -> int:
    """Return the log index where a transaction begins; transaction numbers rise with the index."""
    from braid.ledger.errors import UnknownRecordError

    reader = store.reader
    low, high = 0, reader.size
    while low < high:
        middle = (low + high) // 2
        if reader.envelope(middle).tx[0] < tx:
            low = middle + 1
        else:
            high = middle
    if low == reader.size or reader.envelope(low).tx[0] != tx:
        raise UnknownRecordError(f"wal_{tx:06d}: the log has no such transaction")
    return low


def _text_of(members: dict[str, Any]) -> str:
    content: dict[str, Any] = members.get("content") or {}
    return str(content.get("text") or "")
