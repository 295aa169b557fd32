"""What was decided of the names that a memory says: rows of its history, from the log alone (SPEC §19).

A decision stands above events that each name one node and rest on turns that say it, so a memory's backlinks lead to
it. What rules join by themselves is no decision, and changes with the rules: `entity` shows that.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from braid.caller import asking
from braid.ledger.errors import ErasedError
from braid.ledger.read.reader import Reader
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import ASKED_BY, ENTITY, ENTITY_NAME, EventBody, Record, Scope
from braid.ledger.record.scope import in_scope
from braid.log.chain import Chain
from braid.memories.operations import Change
from braid.session import Session

_APART: Final = " apart from "
_GONE: Final = "a name that is gone"
"""Stands for a name that a merge is about and nobody says any more."""
_OF_A_MERGE: Final = 2


class _Name(NamedTuple):
    """A name that a decision is about. `own`: the memory says it."""

    text: str
    side: int
    own: bool


def merges(session: Session, chain: Chain, end: int) -> Iterator[tuple[int, Change]]:
    """Yield a row for each decision on a name that a memory says, and each time that one was forgotten or recovered.

    One that is erased is no row: its name went with its body. Nor is one outside of the scope that a caller is held to:
    its names may be another's.
    """
    reader = session.reader
    for at, member in sorted(_decisions(reader, chain, end).items()):
        record = reader.at(at, include_forgotten=True)
        if _is_told(record.body.scope):
            yield at, _row(reader, record, member, str(_event(record).data.get("op")))
            for stone in _tombstones(reader, at, end):
                yield stone.index, _row(reader, stone, member, str(stone.envelope.public.get("op")))


def _decisions(reader: Reader, chain: Chain, end: int) -> dict[int, int]:
    """Return the decisions that concern a name of a memory's records, each with the newest record that says it.

    Of those that are there, if any is.
    """
    found: dict[int, int] = {}
    gone = reader.control.hidden
    for member in sorted(chain.members, key=lambda at: (at not in gone, at)):
        for at in _events(reader, member, "evidence", ENTITY_NAME):
            found |= dict.fromkeys(_events(reader, at, "parent", ENTITY), member)
        found |= dict.fromkeys(_events(reader, member, "evidence", ENTITY), member)
    for at, member in list(found.items()):  # what takes one back rests on no turn of its own
        for up in _events(reader, at, "supersedes", ENTITY):
            found.setdefault(up, member)
    return {at: member for at, member in found.items() if at < end}


def _events(reader: Reader, below: int, by: str, name: str) -> Iterator[int]:
    for at, role in reader.backlinks.of(below):
        if role == by and reader.envelope(at).kind == "event" and not reader.envelope(at).public:
            record = _record(reader, at)
            if record is not None and _event(record).name == name:
                yield at


def _tombstones(reader: Reader, at: int, end: int) -> Iterator[Record]:
    for stone, role in reader.backlinks.of(at):
        if role == "target" and stone < end and reader.envelope(stone).kind == "tombstone":
            yield reader.at(stone)


def _row(reader: Reader, record: Record, member: int, decided: str) -> Change:
    data, asked_by = _event(record).data, record.members.get(ASKED_BY)
    before, since = _told(reader, record, member, decided)
    scope = record.body.scope
    return Change(
        change="MERGE",
        id=record.id,
        index=record.index,
        at=datetime.fromisoformat(record.envelope.created_at),
        version=0,
        record=RecordId(reader.envelope(member).id),
        old=before,
        new=since,
        reason=record.body.reason,
        name=data.get("by"),
        by=record.envelope.key,
        asked_by=asked_by if isinstance(asked_by, str) else None,
        session_id=scope.session_id if scope is not None else None,
        decided=decided,
    )


def _told(reader: Reader, record: Record, member: int, decided: str) -> tuple[str | None, str | None]:
    """Return which names meant one before and since, as far as they are still there; none of what was forgotten."""
    gone = reader.control.hidden
    if record.kind != "event" or record.index in gone or member in gone:
        return None, None
    if decided != "retract":
        before, since = _sides(reader, record, member)
        return _listed(before), _listed(since)
    undone = [_record(reader, link.index) for link in record.links if link.role == "supersedes"]
    sides = [_sides(reader, one, member) for one in undone if one is not None]
    return _listed([name for _, since in sides for name in since]), _listed(
        [name for before, _ in sides for name in before]
    )


def _sides(reader: Reader, record: Record, member: int) -> tuple[list[str], list[str]]:
    """Return which names meant one before a decision and since: who says them all is told that they were apart."""
    names = list(_names(reader, record, member))
    texts = _told_apart(names)
    own = [text for text, one in zip(texts, names, strict=True) if one.own]
    decided = str(_event(record).data.get("op"))
    if decided == "merge":
        if len(names) < _OF_A_MERGE:
            return own, [*texts, _GONE]
        return ([_APART.join(texts)] if own == texts else own), texts
    if decided == "alias":
        return own, [*own, *map(str, _event(record).data.get("aliases", ()))]
    if decided == "apart":
        sides = sorted({one.side for one in names if one.own})
        parted = [
            ", ".join(text for text, one in zip(texts, names, strict=True) if one.side == side)
            for side in sides
        ]
        return texts, [_APART.join(parted)] if parted else []
    if any(link.role == "evidence" and link.index == member for link in record.links):
        return texts, [f"another {name}" for name in texts]
    return texts, [f"{name}{_APART}another {name}" for name in texts]


def _told_apart(names: Sequence[_Name]) -> list[str]:
    """Return how names are told: of two that are written alike, the one that the memory doesn't say is another."""
    told: dict[int, str] = {}
    for place in sorted(range(len(names)), key=lambda at: not names[at].own):
        text = names[place].text
        told[place] = f"another {text}" if text in told.values() else text
    return [told[place] for place in range(len(names))]


def _names(reader: Reader, record: Record, member: int) -> Iterator[_Name]:
    """Yield the names that a decision is about, but none that is gone, or whose turns all are."""
    for link in record.links:
        name = _record(reader, link.index) if link.role == "parent" else None
        if name is not None and name.index not in reader.control.hidden:
            data, said = _event(name).data, [one.index for one in name.links if one.role == "evidence"]
            if said and all(at in reader.control.hidden or at in reader.control.erased for at in said):
                continue
            own = member in said
            yield _Name(str(data.get("node", "")), int(data.get("side", 0)), own)


def _listed(names: list[str]) -> str | None:
    return ", ".join(dict.fromkeys(names)) or None


def _is_told(decided: Scope | None) -> bool:
    """Whether a decision may be told: not to a caller whose scope it is outside of (SPEC §19)."""
    caller = asking()
    return caller is None or not caller.scope or in_scope(decided, Scope(**caller.scope))


def _event(record: Record) -> EventBody:
    return record.body if isinstance(record.body, EventBody) else EventBody()


def _record(reader: Reader, at: int) -> Record | None:
    try:
        return reader.at(at, include_forgotten=True)
    except ErasedError:
        return None
