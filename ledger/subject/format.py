"""What an export of one subject holds, as values: format version 1, documented in docs/access.md. Pure.

Members may be added in version 1; none is removed, renamed or given another meaning. A change that would break a reader
makes version 2.
"""

from typing import Any, Final

import msgspec

from braid.ledger.record.schemas import components

NAME: Final = "braid-subject"
VERSION: Final = 1


class LinkOut(msgspec.Struct, frozen=True):
    """A link of a record: `content` says whether the other record's content is in the export too."""

    role: str
    id: str
    index: int
    content: bool


class MediaFile(msgspec.Struct, frozen=True):
    """Media of a record, unsealed into the folder. `path` is relative; digest (SHA-256) and size are the file's."""

    path: str
    media_type: str
    sha256: str
    size: int
    name: str | None = None
    caption: str | None = None


class Ending(msgspec.Struct, frozen=True):
    """When, and by which tombstone, a record was forgotten or erased."""

    id: str
    at: str


class Signed(msgspec.Struct, frozen=True):
    """Who signed a record: key id, public key and signature (base64), the key's role."""

    key: str
    public_key: str
    role: str
    signature: str
    disputed: bool


class HeldRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record that belongs to the subject (`own`), or was derived from one that does (`derived`)."""

    id: str
    index: int
    kind: str
    type: str
    created_at: str
    belongs: str
    shared: bool
    """Derived from other people's records as well."""
    forgotten: Ending | None
    record: dict[str, Any]
    """The record in the schema's shape: content, provenance, claims, times, corrections."""
    links: list[LinkOut]
    linked_from: list[LinkOut]
    superseded_by: list[str]
    media: list[MediaFile]
    signed: Signed
    transaction: str
    envelope: str
    """The signed envelope, as it stands in the log."""
    proof: str
    """File of the c2sp.org/tlog-proof, relative."""


class OtherRecord(msgspec.Struct, frozen=True):
    """A record that is only linked with the subject's: somebody else's, or erased. Its envelope's facts, no content."""

    id: str
    index: int
    kind: str
    type: str
    created_at: str
    forgotten: bool
    erased: Ending | None


class Change(msgspec.Struct, frozen=True):
    """A tombstone that concerned records of the subject: what it did, when, to which of them, and why."""

    id: str
    at: str
    action: str
    records: list[str]
    reason: str | None


class Counts(msgspec.Struct, frozen=True):
    """How much there is."""

    own: int
    derived: int
    shared: int
    forgotten: int
    others: int
    media: int
    claims: int


class Checkpoint(msgspec.Struct, frozen=True):
    """The signed head under which the export was made."""

    size: int
    root: str
    note: str


class FileDigest(msgspec.Struct, frozen=True):
    """A file of the export, with its SHA-256 and size."""

    path: str
    sha256: str
    size: int


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """`records.json` but for the records: of whom, from which log, how much, what was changed."""

    format: str = NAME
    version: int = VERSION
    subject: dict[str, str]
    origin: str
    made_at: str
    checkpoint: Checkpoint
    counts: Counts
    others: list[OtherRecord]
    changes: list[Change]


class Holding(Summary, frozen=True, kw_only=True):
    """`records.json`: everything held about a subject."""

    records: list[HeldRecord]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """`manifest.json`: what the export is, of which log, and the digest of every other file."""

    format: str = NAME
    version: int = VERSION
    subject: dict[str, str]
    origin: str
    vkey: str
    made_at: str
    checkpoint: Checkpoint
    counts: Counts
    files: list[FileDigest]


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of both files: `docs/access.schema.json`."""
    (holding, manifest), parts = components([Holding, Manifest], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{NAME}, version {VERSION}",
        "oneOf": [holding, manifest],
        "$defs": parts,
    }
