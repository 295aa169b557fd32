"""What is remembered once: found and appended in one turn of the writer, so two callers at once make one memory."""

from typing import Final

from braid.caller import as_said_by, asking
from braid.ledger.errors import IdempotencyConflictError
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import Draft, EventBody, ExperienceBody, Record
from braid.ledger.write.sequence import Placed
from braid.log.chain import memory_of
from braid.log.content_hash import hash_of, hashed
from braid.session import Session
from braid.settings import settings

DECISION: Final = "decision"
"""The name of the events that say what was decided of something that was to be remembered."""
NONE: Final = "NONE"
_WHY: Final = "a living memory says the same"


def append_once(session: Session, draft: Draft) -> Placed:
    """Append a memory and return its place; where a living one says the same, append `NONE` above that and return its.

    With the setting `dedup` off no living one is looked for. A key that is in the log already names the memory that it
    named then. Raises IdempotencyConflictError where that is another, and as `Session.append_drafts`.
    """
    reader = session.reader
    draft = hashed(reader, as_said_by(asking(), [draft])[0])
    key = draft.body.once
    with session.writer.turn():
        session.refresh()
        known = reader.key_index.find([key]).get(key) if key is not None else None
        if known is not None and reader.envelope(known).kind == "event":
            return _place(_decided(session, known, draft))
        looked_for = known is None and settings(session).dedup
        twin = _living_twin(session, draft) if looked_for else None
        if twin is not None:
            session.append_drafts([_none(twin, draft)])
            return _place(twin)
        return session.append_drafts([draft], held=1)[0]


def _place(record: Record) -> Placed:
    return Placed(RecordId(record.id), record.index, known=True)


def _living_twin(session: Session, draft: Draft) -> Record | None:
    """Return the first living record that says the same in the same scope.

    That its hash is found is no proof: a caller's key may have been made to look like one. Its own words are hashed.
    """
    standings, wanted = session.reader.standings(), _hash_of(draft.body)
    for at in session.reader.key_index.find_alike(wanted):
        if standings.lives(at):
            record = session.reader.at(at)
            members = memory_of(session.reader, record.id).members
            if (
                isinstance(record.body, ExperienceBody)
                and hash_of(session.reader, record.body, members) == wanted
            ):
                return record
    return None


def _none(twin: Record, draft: Draft) -> Draft:
    """Return the event that says that nothing was added. It rests on the memory, and is erased with it."""
    body = EventBody(
        name=DECISION,
        data={"decision": NONE},
        reason=_WHY,
        scope=draft.body.scope,
        once=draft.body.once,
    )
    return Draft(kind="event", body=body, links=[("evidence", twin.id)], public={"name": DECISION})


def _decided(session: Session, at: int, draft: Draft) -> Record:
    """Return the memory that a key named when nothing was added. Raises IdempotencyConflictError for another."""
    event = session.reader.at(at, include_forgotten=True)
    named = event.targets("evidence") if event.envelope.public.get("name") == DECISION else ()
    memory = session.reader.at(named[0].index, include_forgotten=True) if named else None
    if memory is None or _hash_of(memory.body) != _hash_of(draft.body):
        raise IdempotencyConflictError(draft.body.once or "", RecordId(event.id), ["content"])
    return memory


def _hash_of(body: object) -> str:
    return (isinstance(body, ExperienceBody) and body.content_hash) or ""
