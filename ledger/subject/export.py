"""From what was gathered about a subject to the values that are written (docs/access.md). Reads; writes nothing."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import datetime

from braid.ledger.export.evidence import Anchor
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Content, ExperienceBody, Media, Record, ViewBody
from braid.ledger.record.shape import shape
from braid.ledger.subject.collection import SubjectRecords, held_record
from braid.ledger.subject.format import (
    Change,
    Checkpoint,
    Counts,
    Ending,
    HeldRecord,
    LinkOut,
    MediaFile,
    OtherRecord,
    Signed,
    Summary,
)


def proof_name(index: int) -> str:
    """Return where a record's proof lies in the folder."""
    return f"proofs/{index:012d}.tlog-proof"


def media_of(record: Record) -> list[Media]:
    """Return the media that a record names, each with its key."""
    body = record.body if record.kind in ("experience", "view") else None
    content: Content | None = body.content if isinstance(body, (ExperienceBody, ViewBody)) else None
    return content.media if content else []


def counts_of(reader: Reader, found: SubjectRecords) -> Counts:
    """Return how much an export would hold."""
    media = claims = 0
    for index in found.belongs:
        record = held_record(reader, index)
        media += len(media_of(record))
        claims += len(record.members.get("symbolic") or [])
    own = sum(belongs == "own" for belongs in found.belongs.values())
    return Counts(
        own=own,
        derived=len(found.belongs) - own,
        shared=len(found.shared),
        forgotten=sum(index in reader.control.hidden for index in found.belongs),
        others=len(found.others),
        media=media,
        claims=claims,
    )


def summary_of(
    reader: Reader, found: SubjectRecords, anchor: Anchor, *, subject: Mapping[str, str], now: datetime
) -> Summary:
    """Return everything held about a subject but for its records (`held_of`)."""
    return Summary(
        subject=dict(subject),
        origin=reader.origin,
        made_at=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        checkpoint=Checkpoint(anchor.checkpoint.size, anchor.checkpoint.root.hex(), anchor.note.decode()),
        counts=counts_of(reader, found),
        others=[other_of(reader, index) for index in sorted(found.others)],
        changes=[change_of(reader, found, index) for index in sorted(found.tombstones)],
    )


def held_of(reader: Reader, found: SubjectRecords, index: int, media: Sequence[MediaFile]) -> HeldRecord:
    """Return one of the subject's records; `media` are the files that were made of its media."""
    record = held_record(reader, index)
    envelope = record.envelope
    hidden = reader.control.hidden.get(index)
    links_back = found.linked_from.get(index, [])
    instead = reader.standings().instead(index)
    return HeldRecord(
        id=record.id,
        index=index,
        kind=record.kind,
        type=record.type,
        created_at=envelope.created_at,
        belongs=found.belongs[index],
        shared=index in found.shared,
        forgotten=None if hidden is None else Ending(reader.envelope(hidden[0]).id, hidden[1]),
        record=shape(record),
        links=[LinkOut(link.role, link.id, link.index, link.index in found.belongs) for link in record.links],
        linked_from=[
            LinkOut(role, reader.envelope(at).id, at, at in found.belongs)
            for role, at in links_back
            if at in found.belongs or at in found.others
        ],
        superseded_by=[] if instead is None else [reader.envelope(instead).id],
        media=list(media),
        signed=_signed(reader, record),
        transaction=f"wal_{envelope.tx[0]:06d}",
        envelope=record.stored.decode(),
        proof=proof_name(index),
    )


def _signed(reader: Reader, record: Record) -> Signed:
    life = reader.control.keys[record.envelope.key]
    return Signed(
        key=life.id,
        public_key=b64encode(life.public).decode(),
        role=life.role,
        signature=b64encode(record.signature).decode(),
        disputed=life.disputed(record.index),
    )


def other_of(reader: Reader, index: int) -> OtherRecord:
    """Return what the envelope of somebody else's record says, or of an erased one."""
    envelope = reader.envelope(index)
    erased = reader.control.erased.get(index)
    tombstone = None if erased is None else reader.envelope(erased)
    return OtherRecord(
        id=envelope.id,
        index=index,
        kind=envelope.kind,
        type=envelope.type,
        created_at=envelope.created_at,
        forgotten=index in reader.control.hidden,
        erased=None if tombstone is None else Ending(tombstone.id, tombstone.created_at),
    )


def change_of(reader: Reader, found: SubjectRecords, index: int) -> Change:
    """Return a tombstone as far as it concerns the subject; its reason only where it concerns nobody else."""
    record = reader.at(index)
    hers = found.tombstones[index]
    alone = {link.index for link in record.links if link.role == "target"} <= set(hers)
    reason = record.members.get("reason")
    return Change(
        id=record.id,
        at=record.envelope.created_at,
        action=str(record.envelope.public.get("op")),
        records=[reader.envelope(at).id for at in hers],
        reason=str(reason) if reason and alone else None,
    )
