"""How a memory came to be what it is: every change of its chain, from the log alone; and what is proposed about it."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, cast

import msgspec

from braid.caller import asking
from braid.claims.applied import decision_at, is_decision
from braid.isolation import is_own
from braid.ledger.errors import ErasedError, UnknownRecordError
from braid.ledger.read.reader import Reader
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import ASKED_BY, CORRECTION, EventBody, ExperienceBody, Record, is_reading
from braid.log.chain import Chain, chain_of, kept
from braid.memories.duplicate import DECISION
from braid.memories.merges import merges
from braid.memories.operations import Change, ChangeKind, History, MemoryHistory
from braid.memories.proposals import proposals, readings_of
from braid.session import Session


def told(session: Session, asked: History) -> MemoryHistory:
    """See `memories.operations.history`."""
    session.refresh()
    reader = session.reader
    reader.need_vault()
    index = reader.index_of(asked.id)
    if reader.envelope(index).id != asked.id:
        raise UnknownRecordError(f"{asked.id}: no such record")
    size = session.size_at(asked.as_of, None)
    if size is not None and index >= size:
        raise UnknownRecordError(f"{asked.id}: no such record then")
    chain = chain_of(reader, index, size)
    how = kept(reader, chain)
    end = reader.size if size is None else size
    readings = readings_of(reader, chain, end)
    changes = _with(list(_changes(reader, chain, readings, end)), merges(session, chain, end))
    return MemoryHistory(
        current=None if chain.current is None else RecordId(reader.envelope(chain.current).id),
        version=chain.version,
        pinned=how.pinned,
        importance=how.importance,
        locked_until=None if how.locked_until is None else datetime.fromisoformat(how.locked_until),
        changes=tuple(
            _correlated(session, one) for one in _with(changes, proposals(session, chain, readings, size))
        ),
    )


def _with(changes: list[Change], rows: Iterable[tuple[int, Change]]) -> list[Change]:
    """Return changes with further rows, each behind the record where it belongs. They count for no version."""
    every = [(one.index, one) for one in changes]
    for place, row in rows:
        at = bisect_right(every, place, key=lambda one: one[0])
        version = max([1, *(one.version for _, one in every[:at])])
        every.insert(at, (place, msgspec.structs.replace(row, version=version)))
    return [one for _, one in every]


def _correlated(session: Session, change: Change) -> Change:
    """Return a change with the first record of what set it going: of a reading, of what set its turn going.

    Who is held to a scope is shown none of another's: their change may be one of a call that made several.
    """
    reader, caller = session.reader, asking()
    at = change.index
    if reader.envelope(at).kind == "experience" and (record := _record(reader, at)) is not None:
        at = min(_targets(reader, at, "parent"), default=at) if is_reading(record.body) else at
    id = RecordId(reader.envelope(at - reader.envelope(at).tx[1]).id)
    if caller is not None and caller.scope and not is_own(session, caller, id):
        id = change.id
    return msgspec.structs.replace(change, correlation_id=id)


def _changes(reader: Reader, chain: Chain, readings: Sequence[int], size: int) -> Iterator[Change]:
    """Yield the changes in the order of the log. The version counts what `chain_of` counts; an erasure isn't counted:
    it is no change that could be taken back, and leaves none to be named. Nor is it counted that nothing was added."""
    seen = set[int]()
    counted = {*chain.members, *chain.settings, *chain.tombstones}
    erasing = {at for at in map(reader.control.erased.get, chain.members) if at is not None}
    about = (*chain.members, *readings)
    decided = {at for one in about for at in _decisions(reader, one) if at < size}
    for at in sorted(counted | erasing | decided):
        if at in counted:
            seen.add(reader.envelope(at).tx[0])
        yield from _told_of(reader, chain, about, at, len(seen))


def _told_of(reader: Reader, chain: Chain, about: Sequence[int], at: int, version: int) -> Iterator[Change]:
    if at in chain.members:
        yield _written(reader, chain, at, version)
        return
    if is_decision(reader, at):
        yield from _decided(reader, about, at, version)
        return
    kind = _kind(reader, at)
    named = _targets(reader, at, "evidence" if kind == "NONE" else "target")
    targets = [one for one in chain.members if one in named]
    for member in targets[-1:]:
        record = _record(reader, at)
        body = record.body if record is not None else None
        data = body.data if isinstance(body, EventBody) else {}
        old = _text(reader, member) if kind == "DELETE" else None
        new = _text(reader, member) if kind == "RECOVER" else None
        yield _change(
            reader, at, version, kind, member, old=old, new=new, settings=data,
            reason=body.reason if body is not None else None, asked_by=_asked_by(record),
            session_id=_session_of(record),
        )  # fmt: skip


def _decided(reader: Reader, about: Sequence[int], at: int, version: int) -> Iterator[Change]:
    """Yield what a program decided of a claim of a record: the record stays, and says what it said."""
    decision, named = decision_at(reader, at), _targets(reader, at, "target")
    for member in [one for one in about if one in named][-1:]:
        if decision is not None:
            yield _change(
                reader, at, version, decision.action if decision.applied else "NONE", member,
                old=_text(reader, member), new=_text(reader, decision.winner_index), reason=decision.why,
                asked_by=_asked_by(_record(reader, at)), actor="autonomous", method=decision.by,
                confidence=decision.confidence, session_id=_session_of(_record(reader, at)),
            )  # fmt: skip


def _written(reader: Reader, chain: Chain, at: int, version: int) -> Change:
    """Return the change that a record of the chain is: what it says is new, what it stands in place of is old."""
    older = [one for one in _targets(reader, at, "supersedes") if one in chain.members]
    kind: ChangeKind = "UPDATE" if older else "ADD"
    record = _record(reader, at)
    body = record.body if record is not None else None
    said = body if isinstance(body, ExperienceBody) else None
    model = said.content.structured.get("model") if said is not None else None
    return _change(
        reader, at, version, kind, at,
        old=_text(reader, older[-1]) if older else None,
        new=_text(reader, at),
        reason=_why(reader, at) or (said.reason if said is not None else None),
        asked_by=_asked_by(record),
        actor=said.provenance.actor if said is not None else None,
        name=said.provenance.name if said is not None else None,
        method=said.provenance.method if said is not None else None,
        model=model if isinstance(model, str) else None,
        confidence=said.confidence.p if said is not None and said.confidence is not None else None,
        session_id=_session_of(record),
        path=_path_of(said),
    )  # fmt: skip


def _change(reader: Reader, at: int, version: int, change: ChangeKind, member: int, **told: Any) -> Change:
    envelope = reader.envelope(at)
    return Change(
        change=change,
        id=RecordId(envelope.id),
        index=at,
        at=datetime.fromisoformat(envelope.created_at),
        version=version,
        record=RecordId(reader.envelope(member).id),
        by=envelope.key,
        **told,
    )


def _kind(reader: Reader, at: int) -> ChangeKind:
    if reader.envelope(at).kind == "event":
        return "NONE" if reader.envelope(at).public.get("name") == DECISION else "UPDATE"
    op = reader.envelope(at).public.get("op")
    return {"forget": "DELETE", "recover": "RECOVER"}.get(str(op), "ERASE")  # type: ignore[return-value]  # of these


def _decisions(reader: Reader, member: int) -> Iterator[int]:
    """Yield the events that say that something was decided of a record."""
    for at, role in reader.backlinks.of(member):
        is_none = role == "evidence" and reader.envelope(at).public.get("name") == DECISION
        if is_none or (role == "target" and is_decision(reader, at)):
            yield at


def _targets(reader: Reader, at: int, role: str) -> set[int]:
    return {link.index for link in reader.links(at) if link.role == role}


def _why(reader: Reader, at: int) -> str | None:
    """Return why a record was put in the place of another: its correction says so, beside it in the log."""
    for event, role in reader.backlinks.of(at):
        record = _record(reader, event) if role == "evidence" else None
        body = record.body if record is not None else None
        if isinstance(body, EventBody) and body.name == CORRECTION:
            return body.reason
    return None


def _record(reader: Reader, at: int) -> Record | None:
    """Return a record, None where its body is gone."""
    try:
        return reader.at(at, include_forgotten=True)
    except ErasedError:
        return None


def _text(reader: Reader, at: int) -> str | None:
    """Return what a record says; None where it is forgotten or erased by now."""
    if at in reader.control.hidden:
        return None
    record = _record(reader, at)
    return record.text if record is not None else None


def _asked_by(record: Record | None) -> str | None:
    """Return who asked for a record through a server, as `kind name`."""
    said = record.members.get(ASKED_BY) if record is not None else None
    return said if isinstance(said, str) else None


def _session_of(record: Record | None) -> str | None:
    """Return the session of a record's scope."""
    scope = record.body.scope if record is not None else None
    return scope.session_id if scope is not None else None


def _path_of(said: ExperienceBody | None) -> str | None:
    came: object = said.content.structured.get("capture") if said is not None else None
    path = cast("dict[str, object]", came).get("runtime_path") if isinstance(came, dict) else None
    return path if isinstance(path, str) else None
