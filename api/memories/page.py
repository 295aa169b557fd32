"""A page of memories: the projection says where to look, and the log what there is.

A memory has its place by its first record that is there and of the scope, so no correction moves it.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final, cast

import msgspec

from braid.errors import InvalidRequestError
from braid.ledger.erase.withdrawal import refuse_baseless
from braid.ledger.errors import ErasedError, InvalidRecordError
from braid.ledger.read.reader import Reader
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import ANSWER, ASK, READING, REFLECTION, RESULT, ExperienceBody, Record
from braid.ledger.record.scope import SCOPES, in_scope
from braid.ledger.record.standing import Standings
from braid.log.chain import Chain, chain_of, kept
from braid.memories.list_operations import ListedMemory, Memories, MemoryPage
from braid.session import Session
from braid.stance.claims import OWN_METHOD
from braid.views.errors import ViewError

_OWN: Final = (ASK, ANSWER, RESULT, REFLECTION, OWN_METHOD)
"""Methods of what the store wrote itself."""
_LOOKED_AT: Final = 2
"""Of how many records per memory of a page the projection is asked at once."""
_STRETCH: Final = 4_096
"""How many records are read at once where there is no projection."""


def page(session: Session, asked: Memories) -> MemoryPage:
    """See `memories.list_operations.memories`."""
    if asked.forgotten:
        session.require("memories with forgotten", "recover")
        if asked.past is not None:
            raise InvalidRequestError("memories: forgotten is of the present: leave the past out")
    session.refresh()
    session.reader.need_vault()
    every = _forgotten(session, asked) if asked.forgotten else _living(session, asked)
    placed = list(islice(every, asked.limit + 1))
    given = placed[: asked.limit]
    return MemoryPage(
        memories=tuple(one for _, one in given),
        before=given[-1][0] if len(placed) > asked.limit else None,
    )


def _living(session: Session, asked: Memories) -> Iterator[tuple[int, ListedMemory]]:
    """Yield the memories that stand, each with its place, newest first."""
    reader, size = session.reader, session.size_at(asked.as_of, asked.as_of_time)
    standings = reader.standings(size)
    for at in _places(session, asked, reader.size if size is None else size):
        if at in reader.control.hidden or (chain := _chain(reader, at, size, standings)) is None:
            continue
        own = [one for one in _own(reader, chain, asked) if one.index not in reader.control.hidden]
        standing = [one for one in own if one.index in chain.living]
        if standing and own[0].index == at:
            yield at, _listed(reader, chain, first=own[0], current=standing[-1])


def _forgotten(session: Session, asked: Memories) -> Iterator[tuple[int, ListedMemory]]:
    """Yield the memories of which nothing stands and that can come back, each with its place, newest first."""
    reader = session.reader
    hidden, limit = dict(reader.control.hidden), timedelta(days=reader.control.retention_days)
    now = session.now()
    for at in sorted(hidden, reverse=True):
        since = datetime.fromisoformat(hidden[at][1])
        is_late = now - since > limit
        if is_late or (asked.before is not None and at >= asked.before):
            continue
        chain = _chain(reader, at)
        if chain is None or chain.living:
            continue
        own = [one for one in _own(reader, chain, asked) if one.index in hidden]
        if not own or own[0].index != at or not _comes_back(reader, own[-1].index):
            continue
        listed = _listed(reader, chain, first=own[0], current=own[-1])
        yield at, msgspec.structs.replace(listed, forgotten_at=since, recoverable_until=since + limit)


def _comes_back(reader: Reader, index: int) -> bool:
    """Whether a record can be recovered by itself: not what rests on something that stays forgotten."""
    try:
        refuse_baseless(reader, [index])
    except InvalidRecordError:
        return False
    return True


def _chain(
    reader: Reader, index: int, size: int | None = None, standings: Standings | None = None
) -> Chain | None:
    """Return the memory of a record, as of a past; None for what is no experience."""
    is_memory = reader.envelope(index).kind == "experience"
    return chain_of(reader, index, size, standings) if is_memory else None


def _own(reader: Reader, chain: Chain, asked: Memories) -> list[Record]:
    """Return the records of a memory that are of the scope and of the kind that is asked for, in log order."""
    found: list[Record] = []
    for at in chain.members:
        try:
            record = reader.at(at, include_forgotten=True)
        except ErasedError:
            continue
        body = record.body
        if isinstance(body, ExperienceBody) and in_scope(body.scope, asked) and _is_asked_for(body, asked):
            found.append(record)
    return found


def _is_asked_for(body: ExperienceBody, asked: Memories) -> bool:
    method = body.provenance.method
    return asked.derived or not (method in _OWN or method.startswith(READING))


def _listed(reader: Reader, chain: Chain, *, first: Record, current: Record) -> ListedMemory:
    body, how = cast("ExperienceBody", current.body), kept(reader, chain)
    corrected = current.index != first.index or bool(current.targets("supersedes"))
    return ListedMemory(
        id=RecordId(current.id),
        text=current.text,
        created_at=first.created_at,
        changed_at=current.created_at if corrected else None,
        occurred_at=body.occurred_at,
        actor=body.provenance.actor,
        name=body.provenance.name,
        type=current.type,
        method=body.provenance.method,
        source_class=reader.source_classes.note(current),
        scope=body.scope,
        tags=tuple(body.tags),
        pinned=how.pinned,
        importance=how.importance,
        version=chain.version,
        corrected=corrected,
    )


# -- where to look -----------------------------------------------------------------------------------


def _places(session: Session, asked: Memories, size: int) -> Iterator[int]:
    """Yield those of the first `size` records that may be a memory's first, newest first; from the log where no
    projection can be asked."""
    below = size if asked.before is None else min(asked.before, size)
    count = _LOOKED_AT * (asked.limit + 1)
    while True:
        try:
            some = _of_projection(session, asked, below, count)
        except (ViewError, OSError):
            yield from _of_log(session.reader, below)
            return
        yield from some
        if len(some) < count:
            return
        below = some[-1]


def _of_projection(session: Session, asked: Memories, below: int, count: int) -> Sequence[int]:
    """Return where the projection has the newest such records below a place."""
    query, params = _query(asked)
    with session.views.tables() as tables:
        return [at for (at,) in tables.rows(query, [*params, below, count])]


def _query(asked: Memories) -> tuple[str, list[Any]]:
    given = {name: value for name in SCOPES if (value := getattr(asked, name)) is not None}
    where, params = [f"{name} = ?" for name in given], list[Any](given.values())
    if not asked.derived:
        where.append("method NOT IN (SELECT unnest(?::VARCHAR[])) AND NOT starts_with(method, ?)")
        params += [list(_OWN), READING]
    bounds = " AND ".join((*where, "log_index < ?"))
    return f"SELECT log_index FROM experiences WHERE {bounds} ORDER BY log_index DESC LIMIT ?", params  # noqa: S608 - our own words


def _of_log(reader: Reader, below: int) -> Iterator[int]:
    """Yield the experiences below a place, newest first."""
    while below > 0:
        start = max(below - _STRETCH, 0)
        read = [
            record.index
            for entries in reader.entries(start, below)
            for record, _ in entries
            if record.kind == "experience" and record.raw is not None
        ]
        yield from reversed(read)
        below = start
