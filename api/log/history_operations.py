"""What became of a memory: every version of it, and who corrected, forgot, recovered or erased it, and why."""

from collections.abc import Iterator
from typing import Final, Literal, cast

import msgspec

from braid.ledger.errors import ErasedError, ForgottenError, IntegrityError, UnknownRecordError
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import EventBody, ExperienceBody, Record
from braid.ledger.record.standing import SUPERSEDES
from braid.operation import Id, Request, Response, operation
from braid.session import Session

ChangeKind = Literal["said", "corrected", "forgotten", "recovered", "erased"]
_ACTIONS: Final[dict[str, ChangeKind]] = {"forget": "forgotten", "recover": "recovered", "erase": "erased"}


class History(Request, frozen=True, kw_only=True):
    """Whose history: any version of the memory names all of them."""

    id: Id


class HistoryChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change: what happened to which version. `by`: the record that says so; of a version, it itself.

    `text` is the version's, where it can be read now. `path`: by which way of a harness it came (SPEC §24).
    """

    index: int
    at: str
    what: ChangeKind
    id: RecordId
    by: RecordId
    text: str | None = None
    actor: str | None = None
    method: str | None = None
    path: str | None = None
    reason: str | None = None


class HistoryOf(Response, frozen=True, kw_only=True):
    """Changes, in the log's order."""

    changes: tuple[HistoryChange, ...]


@operation(
    History,
    HistoryOf,
    access="read",
    cost="index",
    positional=("id",),
    returns="changes",
    example=History(id="exp_2025-05-17T09:00:00Z_0000000300ab"),
    errors=(UnknownRecordError, IntegrityError),
)
def history(session: Session, asked: History) -> HistoryOf:
    """Return what became of a memory: its versions, corrections, forgets, recoveries and erasures, oldest first.

    Each is a signed record. The text of a forgotten or erased version is left out. Raises UnknownRecordError.
    """
    session.refresh()
    index = session.reader.index_of(asked.id)
    if session.reader.envelope(index).id != asked.id:
        raise UnknownRecordError(f"{asked.id}: no such record")
    found = {
        (one.index, one.id): one for version in _versions(session, index) for one in _of(session, version)
    }
    return HistoryOf(changes=tuple(found[key] for key in sorted(found)))


def _versions(session: Session, index: int) -> list[int]:
    """Return a memory's versions: what it replaces, and what replaces it, along the links."""
    reader = session.reader
    seen, todo = set[int](), [index]
    while todo:
        at = todo.pop()
        if at in seen or reader.envelope(at).kind != "experience":
            continue
        seen.add(at)
        todo += [link.index for link in reader.links(at) if link.role == SUPERSEDES]
        todo += [child for child, role in reader.backlinks.of(at) if role == SUPERSEDES]
    return sorted(seen) or [index]


def _of(session: Session, version: int) -> Iterator[HistoryChange]:
    reader = session.reader
    envelope = reader.envelope(version)
    record = _readable(session, version)
    body = record.body if record is not None else None
    said = body if isinstance(body, ExperienceBody) else None
    replaces = any(link.role == SUPERSEDES for link in reader.links(version))
    yield HistoryChange(
        index=version,
        at=envelope.created_at,
        what="corrected" if replaces else "said",
        id=RecordId(envelope.id),
        by=RecordId(envelope.id),
        text=said.content.text if said else None,
        actor=said.provenance.actor if said else None,
        method=said.provenance.method if said else None,
        path=_path_of(said),
        reason=_reason_of_correction(session, version),
    )
    for child, role in reader.backlinks.of(version):
        action = str(reader.envelope(child).public.get("op", ""))
        if role == "target" and action in _ACTIONS:
            stone, told = reader.envelope(child), _readable(session, child)
            yield HistoryChange(
                index=child,
                at=stone.created_at,
                what=_ACTIONS[action],
                id=RecordId(envelope.id),
                by=RecordId(stone.id),
                reason=told.body.reason if told is not None else None,
            )


def _reason_of_correction(session: Session, version: int) -> str | None:
    """Return why a version was written: the event that `correct` appends beside it says so."""
    for child, role in session.reader.backlinks.of(version):
        if role != "evidence" or session.reader.envelope(child).kind != "event":
            continue
        event = _readable(session, child)
        if event is not None and isinstance(event.body, EventBody) and event.body.name == "correction":
            return event.body.reason
    return None


def _path_of(said: ExperienceBody | None) -> str | None:
    came: object = said.content.structured.get("capture") if said else None
    path = cast("dict[str, object]", came).get("runtime_path") if isinstance(came, dict) else None
    return path if isinstance(path, str) else None


def _readable(session: Session, index: int) -> Record | None:
    try:
        record = session.reader.at(index)
    except (ErasedError, ForgottenError):
        return None
    return record if record.raw is not None else None
