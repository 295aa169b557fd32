"""Why a memory isn't what it was: what happened to it and its claims, by the audit trail of the tables."""

from collections.abc import Iterator
from datetime import UTC, datetime
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
    return tuple(_entry(row) for row in rows if _may_know(session, row[4], row[5]))


def _readings(session: Session, member: int) -> Iterator[int]:
    """Yield what was read of a record, and what hangs on it alone: forgotten ones too, which are named and no more."""
    for at, role in session.reader.backlinks.of(member):
        if role == "parent" and session.reader.envelope(at).kind == "experience":
            yield at


def _may_know(session: Session, *ids: str | None) -> bool:
    caller = asking()
    return (
        caller is None or not caller.scope or all(is_own(session, caller, id) for id in ids if id is not None)
    )


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
