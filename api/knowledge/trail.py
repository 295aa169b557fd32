"""Why a memory isn't what it was: what happened to it and its claims, by the audit trail of the tables."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import msgspec

from braid.caller import asking
from braid.claims.topics import turn_index
from braid.isolation import is_own
from braid.knowledge.change_operations import AuditEntry
from braid.ledger.errors import UnknownRecordError
from braid.ledger.record.ids import RecordId
from braid.log.chain import chain_of
from braid.session import Session

_RECORD: Final = re.compile(r"[a-z]+_\d{4}-\d\d-\d\dT[\d:]+Z_[0-9a-v]{12}", flags=re.ASCII)
_ASKED: Final = """
SELECT "timestamp", event_type, component, operation, id, target_id, edge_id, entity_id, old_value, new_value,
  confidence_before, confidence_after, source_mechanism, decision_reasoning, metadata, correlation_id
FROM audit_trail
WHERE list_contains($1, id) OR list_contains($1, target_id)
ORDER BY log_index, event_type, edge_id, target_id
"""


def trail_of(session: Session, id: str) -> tuple[AuditEntry, ...]:
    """See `knowledge.change_operations.why_changed`."""
    reader = session.reader
    index = reader.index_of(id)
    if reader.envelope(index).id != id:
        raise UnknownRecordError(f"{id}: no such record")
    turn = turn_index(session, index)
    members = chain_of(reader, turn).members if reader.envelope(turn).kind == "experience" else (turn,)
    every = {index, *members, *(at for member in members for at in _readings(session, member))}
    ids = [reader.envelope(at).id for at in sorted(every)]
    with session.views.tables() as tables:
        rows = list(tables.rows(_ASKED, [ids]))
    entries = [_entry(row) for row in rows]
    caller = asking()
    if caller is None or not caller.scope:
        return tuple(entries)
    own = partial(is_own, session, caller)
    return tuple(told for entry in entries if own(entry.id) and (told := _as_own(entry, own)) is not None)


def _readings(session: Session, member: int) -> Iterator[int]:
    """Yield what was read of a record, and what hangs on it alone: forgotten ones too, which are named and no more."""
    for at, role in session.reader.backlinks.of(member):
        if role == "parent" and session.reader.envelope(at).kind == "experience":
            yield at


def _as_own(entry: AuditEntry, own: Callable[[str], bool]) -> AuditEntry | None:
    """Return an entry as a caller who is held to a scope may know it; None for one that tells of another.

    That a claim was said before elsewhere, or a name, is no less than what was said there.
    """
    if entry.event == "entity_created":
        return None  # its first mention may be elsewhere: then there would be none here
    changes: dict[str, Any] = {}
    if entry.target is not None and not own(entry.target):
        if entry.event != "edge_reinforced":
            return None
        changes = {"event": "edge_created", "operation": "INSERT", "target": None, "confidence_before": None}
    if not own(entry.correlation_id):
        changes["correlation_id"] = entry.id
    named = _RECORD.findall(str(entry.details or ""))
    if not all(own(id) for id in named):
        changes["details"] = None
    return msgspec.structs.replace(entry, **changes)


def _entry(row: tuple[Any, ...]) -> AuditEntry:
    at: datetime = row[0]
    return AuditEntry(
        at=at.replace(tzinfo=UTC),
        event=row[1],
        component=row[2],
        operation=row[3],
        id=RecordId(row[4]),
        target=row[5],
        edge=row[6],
        entity=row[7],
        old=_decoded(row[8]),
        new=_decoded(row[9]),
        confidence_before=row[10],
        confidence_after=row[11],
        mechanism=row[12],
        reason=row[13],
        details=_decoded(row[14]),
        correlation_id=row[15],
    )


def _decoded(value: str | None) -> dict[str, Any] | None:
    return None if value is None else msgspec.json.decode(value, type=dict[str, Any])
