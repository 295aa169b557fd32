"""Freezing a store: what an operator does first when something goes wrong, and looks into then."""

from typing import Final

from braid.freeze_switch import EVENT, FreezeSwitch
from braid.ledger.errors import KeyRefusedError, ReadOnlyError
from braid.ledger.record.ids import RecordId
from braid.notices import put_notice
from braid.operation import Request, Response, operation
from braid.session import Session
from braid.wal.errors import OutcomeUnknownError

_WRITES: Final = (ReadOnlyError, KeyRefusedError, OutcomeUnknownError)


class FreezeStore(Request, frozen=True, kw_only=True):
    """Why the store is frozen."""

    reason: str | None = None


class FreezeState(Response, frozen=True, kw_only=True):
    """Whether a store is frozen; `record` says so, or says that it was lifted, and `reason` why."""

    frozen: bool
    record: RecordId | None = None
    reason: str | None = None


@operation(
    FreezeStore,
    FreezeState,
    access="admin",
    cost="record",
    repeatable=True,
    example=FreezeStore(reason="an agent forgets what it should not"),
    errors=_WRITES,
)
def freeze(session: Session, asked: FreezeStore) -> FreezeState:
    """Freeze the store by a signed event: until `unfreeze`, who is no operator can only read.

    It holds for every caller of a server and of an agent's tools, from the next request on. One that is frozen already
    stays so by its first event.
    """
    with session.writer.turn():
        if _switch(session).state() is None:
            put_notice(session, EVENT, {"frozen": True}, asked.reason, "a freeze")
        return frozen(session, AskFrozen())


class UnfreezeStore(Request, frozen=True, kw_only=True):
    """Why the freeze ends."""

    reason: str | None = None


@operation(
    UnfreezeStore,
    FreezeState,
    access="admin",
    cost="record",
    repeatable=True,
    example=UnfreezeStore(reason="its token is revoked"),
    errors=_WRITES,
)
def unfreeze(session: Session, asked: UnfreezeStore) -> FreezeState:
    """End a freeze by a signed event; without a freeze nothing is added."""
    with session.writer.turn():
        if _switch(session).state() is None:
            return FreezeState(frozen=False)
        id = put_notice(session, EVENT, {"frozen": False}, asked.reason, "a freeze")
        return FreezeState(frozen=False, record=id, reason=asked.reason)


class AskFrozen(Request, frozen=True, kw_only=True):
    """The question whether the store is frozen."""


@operation(AskFrozen, FreezeState, access="read", cost="record", example=AskFrozen())
def frozen(session: Session, asked: AskFrozen) -> FreezeState:
    """Return whether the store is frozen, and what says so."""
    del asked
    found = _switch(session).state()
    if found is None:
        return FreezeState(frozen=False)
    return FreezeState(
        frozen=True, record=RecordId(session.reader.envelope(found.index).id), reason=found.reason
    )


def _switch(session: Session) -> FreezeSwitch:
    return session.kept(FreezeSwitch, lambda: FreezeSwitch(session))
