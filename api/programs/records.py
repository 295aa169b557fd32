"""Programs as the log has them: their records read into what happened, and that folded into how they stand."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from braid.agent.errors import BrokenProgramError, ProgramStateError
from braid.agent.program.events import NAME, Begun, Event, Recorded
from braid.agent.program.state import State, fold
from braid.errors import listed_by
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import Draft, EventBody, Record, Scope, Target
from braid.ledger.record.scope import Ids, in_scope
from braid.programs.program import ProgramSummary
from braid.session import Session

OF: Final = "target"
"""The role of the link from a program's records to its first: no derivation, so that an erasure of what a step was made
of is not stopped by the program's beginning."""


def once(id: str, n: int) -> str:
    """Return the key under which the n-th event of a program is in the log once."""
    return f"{NAME}/{id}/{n}"


def draft_of(
    event: Event, id: str | None, evidence: Sequence[Target], scope: Scope | None, key: str | None = None
) -> Draft:
    """Return an event as a record: of its program, from what it was made of. `id` None: it begins one."""
    data: dict[str, Any] = msgspec.to_builtins(event)
    links: list[tuple[str, Target]] = [] if id is None else [(OF, id)]
    links += [("evidence", target) for target in evidence]
    body = EventBody(name=NAME, data=data, scope=scope, once=key if id is None else once(id, event.n))
    return Draft(kind="event", body=body, links=links)


def history(session: Session, id: str) -> list[Recorded]:
    """Return what happened in a program, in order; raise ProgramStateError for an id of something else."""
    first = session.reader.get(id)
    if not isinstance(first.body, EventBody) or first.body.name != NAME or first.targets(OF):
        raise listed_by(ProgramStateError(f"{id} is no program"), "programs")
    return [recorded(first), *_later(session, first)]


def _later(session: Session, first: Record) -> Iterator[Recorded]:
    """Yield the living events behind the first; one that is gone leaves a gap, which folding tells."""
    for child, _, role in session.views.catalog.children(first.index):
        if role != OF:
            continue
        try:
            record = session.reader.at(child)
        except (ErasedError, ForgottenError):
            continue
        if isinstance(record.body, EventBody) and record.body.name == NAME:
            yield recorded(record)


def recorded(record: Record) -> Recorded:
    """Return an event from its record."""
    body = record.body
    try:
        event = msgspec.convert(body.data if isinstance(body, EventBody) else None, type=Event)
    except msgspec.ValidationError as error:
        raise BrokenProgramError(f"{record.id} is no event of a program of this release: {error}") from None
    evidence = tuple(link.id for link in record.targets("evidence"))
    return Recorded(event, record.id, record.created_at, evidence)


def state_of(session: Session, id: str) -> State:
    """Return how a program stands."""
    return fold(history(session, id))


def listed(session: Session, within: Ids | None = None) -> list[ProgramSummary]:
    """Return every program of a scope that can be read, oldest first."""
    session.refresh()
    found: Any = session.views.sql(
        "SELECT log_index FROM events WHERE name = 'program' ORDER BY log_index"
    ).table
    rows: list[ProgramSummary] = []
    for index in found.column("log_index").to_pylist():
        try:
            record = session.reader.at(index)
            if record.targets(OF) or not in_scope(record.body.scope, within):
                continue
            rows.append(_listed(session, record))
        except (ErasedError, ForgottenError):
            continue
    return rows


def _listed(session: Session, first: Record) -> ProgramSummary:
    begun = recorded(first).event
    if not isinstance(begun, Begun):
        raise BrokenProgramError(f"{first.id} is not how a program begins")
    told: dict[str, Any] = {
        "id": first.id, "begun_at": first.created_at, "question": begun.question, "origin": begun.origin,
    }  # fmt: skip
    try:
        state = fold([recorded(first), *_later(session, first)])
    except BrokenProgramError as error:
        return ProgramSummary(**told, standing="broken", why=str(error))
    return ProgramSummary(
        **told,
        standing=state.standing,
        waits_for=state.paused.asks if state.paused is not None else None,
        answer=state.answer,
        why=state.why,
    )
