"""A memory that a person has put right, and locked: for a time no agent changes it (`003_` §22.4)."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from braid.caller import asking
from braid.errors import AccessDeniedError
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import is_reading
from braid.log.chain import chain_of, kept
from braid.session import Session

_ITS_OWN: Final = ("operator", "person")
"""Who may change what is locked, and who may lock and lift: the rest act by themselves, on what they infer."""


def refuse_locked(session: Session, ids: Iterable[str]) -> None:
    """Refuse an agent's change of a locked memory with AccessDeniedError; an operator and a person change it.

    A lock ends by the store's clock, so it is judged where a change is asked for, and never when the log is read.
    """
    caller = asking()
    if caller is None or caller.kind in _ITS_OWN:
        return
    reader = session.reader
    for id in ids:
        index = reader.index_of(id)
        if reader.envelope(index).kind != "experience":
            continue
        until = kept(reader, chain_of(reader, memory_behind(reader, index))).locked_until
        if until is not None and session.now() < datetime.fromisoformat(until):
            raise AccessDeniedError(
                f"{id} is locked until {until}: a person or an operator changes it; nothing was changed"
            )


def memory_behind(reader: Reader, index: int) -> int:
    """Return the memory that a reading was read from, which its lock keeps too; any other record is its own."""
    record = reader.at(index, include_forgotten=True)
    parents = record.targets("parent") if is_reading(record.body) else ()
    return parents[0].index if len(parents) == 1 else index


def lock_until(session: Session, days: int) -> str:
    """Return until when a lock holds that is set now; 0 days end the one there is. AccessDeniedError for an agent."""
    caller = asking()
    if caller is not None and caller.kind not in _ITS_OWN:
        raise AccessDeniedError("only a person or an operator locks a memory, or lifts its lock")
    until = session.now().astimezone(UTC) + timedelta(days=days)
    return until.strftime("%Y-%m-%dT%H:%M:%SZ")


def locks_for(until: str | None, since: datetime, days: int) -> bool:
    """Whether a lock was set for so many days: it says until when, to the second, and by the clock of that moment."""
    return until is not None and round((datetime.fromisoformat(until) - since) / timedelta(days=1)) == days
