"""What a snapshot says of itself: bound to (origin, size, root) of the log, signed by an operator (SPEC §10.11).

An operator's key signs it, not the log's: that one signs heads and nothing else, so that whoever holds a note under it
knows what it is. And whoever erases has an operator's key at hand, by need: an erasure can make a snapshot again.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path
from typing import Final

import msgspec

from braid.ledger.errors import EnvelopeError
from braid.ledger.export.dsse import pae, verify_envelope
from braid.ledger.keys.author_key import Signer
from braid.ledger.keys.control import ControlState
from braid.views.errors import SnapshotError
from braid.views.lance.model import VectorModel
from braid.views.projection import Stamp

PAYLOAD_TYPE: Final = "application/vnd.braid.snapshot+json"
NAME: Final = "manifest.dsse.json"
FORMAT: Final = 1
_PATH: Final = re.compile(r"(?:duck|catalog|lance)(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)+")
_SIGNING_ROLES: Final = ("operator", "root")


class File(msgspec.Struct, frozen=True):
    """A file of a snapshot: its path in the snapshot's folder, size, and SHA-256 (hex)."""

    path: str
    bytes: int
    sha256: str


class ProjectionShare(msgspec.Struct, frozen=True, omit_defaults=True):
    """One projection's share: what it was made from, and its files."""

    name: str
    stamp: Stamp
    files: list[File]
    rows: int = 0
    digest: str = ""
    """The content digest (§10.4); the DuckDB projection alone has one."""
    unknown: int = 0
    unreadable: int = 0
    model: VectorModel | None = None
    """Whose vectors they are; the LanceDB projection's alone."""


class SnapshotManifest(msgspec.Struct, frozen=True):
    """What is signed."""

    braid_snapshot: int
    origin: str
    size: int
    root: str
    """Root (hex) of the log's first `size` records."""
    parts: list[ProjectionShare]

    def part(self, name: str) -> ProjectionShare | None:
        """Return the share of a projection, None where it had none."""
        return next((part for part in self.parts if part.name == name), None)


class _Signature(msgspec.Struct):
    keyid: str
    sig: str


class _Envelope(msgspec.Struct, rename={"payload_type": "payloadType"}):
    payload: str
    payload_type: str
    signatures: list[_Signature]


def seal(manifest: SnapshotManifest, signer: Signer) -> bytes:
    """Return the manifest in a DSSE envelope."""
    payload = msgspec.json.encode(manifest)
    signature = _Signature(signer.id, b64encode(signer.sign(pae(PAYLOAD_TYPE, payload))).decode())
    envelope = _Envelope(b64encode(payload).decode(), PAYLOAD_TYPE, [signature])
    return msgspec.json.encode(envelope) + b"\n"


def read(folder: Path, control: ControlState, origin: str) -> SnapshotManifest:
    """Return a snapshot's manifest once an operator's or root key in force has signed it; raise SnapshotError."""
    try:
        data = (folder / NAME).read_bytes()
    except FileNotFoundError:
        raise SnapshotError(f"it has no {NAME}") from None
    keys = [
        life.public for life in control.keys.values() if life.role in _SIGNING_ROLES and life.revoked is None
    ]
    try:
        found = verify_envelope(data, keys)
        if found.payload_type != PAYLOAD_TYPE:
            raise SnapshotError(f"what is signed there is {found.payload_type!r}, no snapshot")
        manifest = msgspec.json.decode(found.payload, type=SnapshotManifest)
    except EnvelopeError as error:
        raise SnapshotError(f"no operator's key in force of this log signed its manifest ({error})") from None
    except msgspec.MsgspecError as error:
        raise SnapshotError(f"its manifest can't be read ({error})") from None
    if manifest.braid_snapshot != FORMAT:
        raise SnapshotError(f"it is of format {manifest.braid_snapshot}; this release reads format {FORMAT}")
    if manifest.origin != origin:
        raise SnapshotError(f"it belongs to {manifest.origin}")
    _check_shape(manifest)
    return manifest


def _check_shape(manifest: SnapshotManifest) -> None:
    """What is signed may still lead nowhere but into the snapshot's own folder."""
    for part in manifest.parts:
        if (part.stamp.origin, part.stamp.position, part.stamp.root) != (
            manifest.origin,
            manifest.size,
            manifest.root,
        ):
            raise SnapshotError(f"its part {part.name} stands elsewhere in the log than the snapshot")
        for file in part.files:
            if not _PATH.fullmatch(file.path) or not file.path.startswith(f"{part.name}/"):
                raise SnapshotError(f"it names {file.path!r}, which is no file of {part.name}")


def describe(folder: Path, name: str) -> list[File]:
    """Return the files below `folder/name`, with sizes and digests, by path."""
    return [
        File(str(path.relative_to(folder)), path.stat().st_size, sha256_of(path))
        for path in sorted((folder / name).rglob("*"))
        if path.is_file()
    ]


def sha256_of(path: Path) -> str:
    """Return the SHA-256 (hex) of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def differing(folder: Path, part: ProjectionShare) -> Mapping[str, str]:
    """Return what is wrong with the files of a part, by path: missing, other bytes, or one that is not named."""
    wrong: dict[str, str] = {}
    for file in part.files:
        path = folder / file.path
        try:
            if path.is_symlink() or path.stat().st_size != file.bytes or sha256_of(path) != file.sha256:
                wrong[file.path] = "holds other bytes than were signed"
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            wrong[file.path] = "is missing"
    named = {file.path for file in part.files}
    for path in sorted((folder / part.name).rglob("*")):
        if not path.is_dir() and (found := str(path.relative_to(folder))) not in named:
            wrong[found] = "is not named in the manifest"
    return wrong
