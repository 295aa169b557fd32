"""What an erasure took, as the signed log says it: each record by its id and the digest of what it held."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from braid.ledger.errors import InvalidRecordError, UnknownRecordError
from braid.ledger.read.reader import Reader
from braid.ledger.record.ids import RecordId
from braid.operation import Id, Index, Request, Response, operation
from braid.session import Session

_CERTIFICATE: Final = "evt_2025-05-17T09:00:00Z_0000000300ab"


class AskCertificate(Request, frozen=True, kw_only=True):
    """Which erasure: its certificate, its tombstone, or a record that it took, by id."""

    id: Annotated[Id, Meta(description="A certificate's, a tombstone's or an erased record's id.")]


class GoneRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An erased record. `digest`: SHA-256 of the sealed body that was blanked; the signed envelope has it, too."""

    index: Index
    id: RecordId
    kind: str
    digest: str


class ErasureCertificate(Response, frozen=True, kw_only=True):
    """What an erasure took and why; `kept` lost some of their support. `certificate` None: it isn't finished yet.

    `at` and `by`: when it was announced, and the key that signed that. `done` and `files`: which steps were done, and
    in which files.
    """

    tombstone: RecordId
    certificate: RecordId | None
    at: datetime
    by: str
    reason: str | None
    records: tuple[GoneRecord, ...]
    kept: tuple[RecordId, ...]
    done: tuple[str, ...]
    files: tuple[str, ...]


@operation(
    AskCertificate,
    ErasureCertificate,
    access="operate",
    cost="index",
    positional=("id",),
    pages="records",
    page_key=("index",),
    example=AskCertificate(id=_CERTIFICATE),
    errors=(UnknownRecordError, InvalidRecordError),
)
def certificate(session: Session, asked: AskCertificate) -> ErasureCertificate:
    """Return what an erasure took, by id and digest, from signed records alone.

    Raises UnknownRecordError for an id that the log has not, InvalidRecordError for one that belongs to no erasure.
    """
    session.refresh()
    reader = session.reader
    index = reader.index_of(asked.id)
    if reader.envelope(index).id != asked.id:
        raise UnknownRecordError(f"{asked.id}: no such record")
    tombstone = _tombstone_of(reader, index)
    if tombstone is None:
        raise InvalidRecordError(
            f"{asked.id} belongs to no erasure: give a certificate, its tombstone or a record that is gone"
        )
    envelope, links = reader.envelope(tombstone), reader.links(tombstone)
    certified = reader.control.erasures[tombstone][1]
    said: Sequence[dict[str, Any]] = [] if certified is None else _parts(reader, certified)
    return ErasureCertificate(
        tombstone=RecordId(envelope.id),
        certificate=None if certified is None else RecordId(reader.envelope(certified).id),
        at=datetime.fromisoformat(envelope.created_at),
        by=envelope.key,
        reason=_reason(reader, tombstone),
        records=tuple(_gone(reader, link.index) for link in links if link.role == "target"),
        kept=tuple(RecordId(link.id) for link in links if link.role == "kept"),
        done=tuple(said[0]["done"]) if said else (),
        files=tuple(name for part in said for name in part["files"]),
    )


def _tombstone_of(reader: Reader, index: int) -> int | None:
    """Return the tombstone of the erasure that a record announced, certified, or went with."""
    public, erasures = reader.envelope(index).public, reader.control.erasures
    if index in erasures:
        return index
    if public.get("op") == "certify":
        return int(public["erase"])
    return reader.control.erased.get(index)


def _parts(reader: Reader, certified: int) -> Sequence[dict[str, Any]]:
    """Return what a certificate says, and those of its transaction: one names so many files and no more."""
    _, place, count = reader.envelope(certified).tx
    return [reader.envelope(at).public for at in range(certified, certified + count - place)]


def _reason(reader: Reader, tombstone: int) -> str | None:
    if reader.vault is None:
        return None
    return reader.at(tombstone).body.reason


def _gone(reader: Reader, index: int) -> GoneRecord:
    envelope = reader.envelope(index)
    return GoneRecord(index=index, id=RecordId(envelope.id), kind=envelope.kind, digest=envelope.body[0])
