"""The log as extractors follow it: records in order, the forgotten left out, the recovered where they came back."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from braid.learn.inference import turn_of
from braid.learn.turn import Turn
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import ASK, PROGRAM, RESULT, EventBody, ExperienceBody, Record, Scope, is_turn
from braid.ledger.record.scope import OWNERS, ids_of
from braid.ledger.record.source import BELIEVED, is_least
from braid.session import Session

Whose = tuple[str | None, ...]
_OWN: Final = (ASK, RESULT, PROGRAM)
"""Methods of what was asked of the store itself, or given to one of its programs: nobody tells anything with it."""
_ENDS: Final = ("session_end", "session.end", "system.session_end")


def followed(session: Session, start: int, stop: int) -> Iterator[Record]:
    """Yield the records from `start` to `stop` that have a body and aren't forgotten, without outsiders' words and
    what is kept raw; one that was forgotten when its turn came follows its recovery."""
    classes = session.reader.source_classes
    yield from (one for one in _followed(session, start, stop) if is_least(classes.note(one), BELIEVED))


def _followed(session: Session, start: int, stop: int) -> Iterator[Record]:
    hidden = session.reader.control.hidden
    for entries in session.reader.entries(start, stop):
        for record, _ in entries:
            if record.kind == "tombstone" and record.envelope.public.get("op") == "recover":
                for link in record.targets("target"):
                    if (found := living(session, link.index)) is not None:
                        yield found
            elif record.index not in hidden and record.raw is not None and not _is_raw(record):
                yield record


def living(session: Session, index: int) -> Record | None:
    """Return a record that is neither erased nor forgotten, nor kept raw."""
    with suppress(ErasedError, ForgottenError):
        record = session.reader.at(index)
        return record if record.raw is not None and not _is_raw(record) else None
    return None


def _is_raw(record: Record) -> bool:
    """Whether somebody had its words kept alone: nothing is read of it."""
    return isinstance(record.body, ExperienceBody) and record.body.raw


def spoken(record: Record) -> Turn | None:
    """Return a record as a turn of a conversation; None for what was not said in one."""
    turn = turn_of(record)
    if turn is None or not isinstance(record.body, ExperienceBody):
        return None
    method = record.body.provenance.method
    return turn if is_turn(record.type, method) and method not in _OWN else None


def ends_session(record: Record) -> bool:
    """Whether an event says that the session of its scope has ended."""
    return record.kind == "event" and isinstance(record.body, EventBody) and record.body.name in _ENDS


def session_of(record: Record) -> Whose:
    """Return the session that a record belongs to, by the ids of its scope."""
    return ids_of(record.body.scope)


def whose(session_key: Whose) -> Scope:
    """Return whose memory a session adds to."""
    return Scope(**dict(zip(OWNERS, session_key[: len(OWNERS)], strict=True)))
