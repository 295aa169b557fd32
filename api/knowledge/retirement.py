"""Retiring a reader: one signed event takes the say of all that it has read; without the event it is back (ADR 58)."""

from collections.abc import Iterable

from braid.ledger.errors import ForgottenError
from braid.ledger.read import retirement
from braid.ledger.record.ids import RecordId
from braid.ledger.write.sequence import Placed
from braid.session import Session

REASON = "a newer reader reads the same turns"


def retire(session: Session, method: str, reason: str | None = None) -> Placed:
    """Append the event that retires all readings of a method; where one stands already, return that one.

    Raises ForgottenError where it was forgotten while this went on: recover it.
    """
    session.refresh()
    reader = session.reader
    named = [index for index, name in reader.retirements.events() if name == method]
    control = reader.control
    for index in named:
        if index not in control.hidden and index not in control.erased:
            return Placed(id=RecordId(reader.envelope(index).id), index=index, known=True)
    # Each has a number of its own, so that two who retire it at once append one event.
    key = f"retired/{method}/{len(named)}"
    placed = session.append_drafts([retirement.draft(method, reader.envelope(0).id, key, reason)])[0]
    if placed.index in reader.control.hidden:
        raise ForgottenError(f"{placed.id} is forgotten; `recover` brings it back")
    return placed


def retire_replaced(session: Session, methods: Iterable[str]) -> list[str]:
    """Retire those of these methods that have readings here and that no event has ever named; return their events.

    A retirement that was forgotten is not repeated: somebody wanted the readings back. Looks at every record that has
    a parent, where a method isn't named yet.
    """
    reader = session.reader
    named = {method for _, method in reader.retirements.events()}
    return [
        retire(session, method, REASON).id
        for method in methods
        if method not in named and next(reader.retirements.readings(method, reader.size), None) is not None
    ]
