"""Programs as the log has them: their records read into what happened, and that folded into how they stand."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from braid.agent.errors import BrokenProgramError, ProgramStateError
from braid.agent.events import NAME, Begun, Event, Recorded
from braid.agent.program import State, fold
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record import Draft, EventBody, Record, Scope, Target
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


def history(store: Session, id: str) -> list[Recorded]:
    """Return what happened in a program, in order; raise ProgramStateError for an id of something else."""
    first = store.reader.get(id)
    if not isinstance(first.body, EventBody) or first.body.name != NAME or first.targets(OF):
        raise ProgramStateError(f"{id} is no program: `braid program list` shows what there is")
    return [recorded(first), *_later(store, first)]


def _later(store: Session, first: Record) -> Iterator[Recorded]:
    """Yield the living events behind the first; one that is gone leaves a gap, which folding tells."""
    for child, _, role in store.views.catalog.children(first.index):
        if role != OF:
            continue
        try:
            record = store.reader.at(child)
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


def state_of(store: Session, id: str) -> State:
    """Return how a program stands."""
    return fold(history(store, id))


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A program in a list."""

    id: str
    begun_at: datetime
    question: str
    origin: str
    standing: str
    waits_for: str | None = None
    answer: str | None = None
    why: str = ""


def listed(store: Session) -> list[Listed]:
    """Return every program that can be told, oldest first."""
    store.refresh()
    found: Any = store.views.sql(
        "SELECT log_index FROM events WHERE name = 'program' ORDER BY log_index"
    ).table
    rows: list[Listed] = []
    for index in found.column("log_index").to_pylist():
        try:
            record = store.reader.at(index)
            if record.targets(OF):
                continue
            rows.append(_listed(store, record))
        except (ErasedError, ForgottenError):
            continue
    return rows


def _listed(store: Session, first: Record) -> Listed:
    begun = recorded(first).event
    if not isinstance(begun, Begun):
        raise BrokenProgramError(f"{first.id} is not how a program begins")
    told: dict[str, Any] = {
        "id": first.id, "begun_at": first.created_at, "question": begun.question, "origin": begun.origin,
    }  # fmt: skip
    try:
        state = fold([recorded(first), *_later(store, first)])
    except BrokenProgramError as error:
        return Listed(**told, standing="broken", why=str(error))
    return Listed(
        **told,
        standing=state.standing,
        waits_for=state.paused.asks if state.paused is not None else None,
        answer=state.answer,
        why=state.why,
    )
