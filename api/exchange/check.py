"""An export of a subject, checked by whoever was given it: no store, only the log's public key (docs/access.md)."""

import hashlib
import re
import zipfile
from base64 import b64decode
from collections.abc import Iterable, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import msgspec

from braid.exchange.holding import NAME as HELD
from braid.exchange.holding import read_holding
from braid.exchange.intake import IncomingBlob
from braid.exchange.lines import EVIDENCE, read_lines
from braid.ledger.errors import EvidenceError, LedgerError, ProofError
from braid.ledger.export.evidence import End, Examiner, ExportHead, ExportItem, MediaPiece, decode_line
from braid.ledger.keys.control import ControlState
from braid.ledger.read.blobs import BlobRef, BlobStore
from braid.ledger.read.scopechain import Member, ScopeKey, chain_of, check_chain, scope_of
from braid.ledger.record.envelope import decode_payload, unwrap
from braid.ledger.record.record import Media
from braid.ledger.subject.export import media_of, proof_name
from braid.ledger.subject.format import (
    NAME,
    VERSION,
    HeldRecord,
    Manifest,
)
from braid.ledger.tree.merkle import leaf_hash
from braid.ledger.tree.note import parse_vkey
from braid.ledger.tree.proof import check_proof

_CHUNK: Final = 1 << 20
_MAX_RATIO: Final = 200
_PATH: Final = re.compile(r"(?:(?:media|proofs)/)?[0-9a-z][0-9a-z.-]{0,60}")


def check_export(path: Path, vkey: str) -> dict[str, Any]:
    """Check an export of a subject, folder or zip, with nothing but the log's public key; return what it shows.

    Every file is the one that the manifest names, every record is in the log, signed by its author, and says what was
    signed. Where the subject is a scope that the log counts, none but erased ones are left out (SPEC §4.8).
    `index.html` and `graph.graphml` are only views of `records.json`. One record is held at a time, and digests of the
    others. Raises EvidenceError, and ProofError for a proof of another record.
    """
    folder = _open(path)
    manifest = _decode(folder, "manifest.json", Manifest)
    if (manifest.format, manifest.version) != (NAME, VERSION):
        raise EvidenceError(
            f"{path} is {manifest.format} {manifest.version}; this release reads {NAME} {VERSION}"
        )
    _check_files(folder, manifest)
    if not folder.joinpath(HELD).is_file():
        raise EvidenceError(f"{HELD} is missing: the export is not whole")
    shown = _check_lines(folder, vkey)
    digests = {file.path: file.sha256 for file in manifest.files}
    with folder.joinpath(HELD).open("rb") as stream:
        count = _check_records(folder, read_holding(stream), shown, digests, vkey)
    left_out = _left_out(manifest.subject, shown)
    return {
        "verdict": "every record is in the log, and says what was signed",
        "subject": ", ".join(f"{name}={value}" for name, value in manifest.subject.items()),
        "left out": left_out,
        "records": count,
        "files": len(manifest.files) + 1,
        "origin": manifest.origin,
        "tree size": manifest.checkpoint.size,
        "root": manifest.checkpoint.root,
    }


def _open(path: Path) -> Traversable:
    """Return an export's folder; of a zip, the folder in it, unless a member would swell."""
    if path.is_dir():
        return path
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        raise EvidenceError(f"{path} is no folder and no zip of an export") from None
    for member in archive.infolist():
        if member.file_size > _MAX_RATIO * max(member.compress_size, 1 << 16):
            raise EvidenceError(
                f"{path}: {member.filename} would swell to {member.file_size} bytes; it is refused"
            )
    tops = {member.filename.partition("/")[0] for member in archive.infolist()}
    return zipfile.Path(archive, f"{tops.pop()}/" if len(tops) == 1 else "")


def _decode(folder: Traversable, name: str, type_: type[Any]) -> Any:
    place = folder.joinpath(name)
    if not place.is_file():
        raise EvidenceError(f"{name} is missing: the export is not whole")
    try:
        return msgspec.json.decode(place.read_bytes(), type=type_)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise EvidenceError(f"{name} is not what an export holds: {error}") from None


def _check_files(folder: Traversable, manifest: Manifest) -> None:
    for file in manifest.files:
        if not _PATH.fullmatch(file.path):
            raise EvidenceError(f"the manifest names {file.path!r}, which no export holds")
        place = folder.joinpath(file.path)
        if not place.is_file() or (isinstance(place, Path) and place.is_symlink()):
            raise EvidenceError(f"{file.path} is missing: the export is not whole")
        digest, size = hashlib.sha256(), 0
        with place.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
                size += len(chunk)
        if (digest.hexdigest(), size) != (file.sha256, file.size):
            raise EvidenceError(f"{file.path} is not the file that the manifest names: it was changed")


def _check_records(
    folder: Traversable, records: Iterable[HeldRecord], shown: "_Shown", digests: dict[str, str], vkey: str
) -> int:
    """Hold each record against what was signed; return how many there are."""
    count = 0
    for count, held in enumerate(records, 1):  # noqa: B007 - the last number is the count
        item = shown.items.pop(held.id, None)
        if item is None:
            raise EvidenceError(f"{HELD} and {EVIDENCE} don't hold the same records: {held.id}")
        if item.said != _said(held.record, held.envelope):
            raise EvidenceError(f"{held.id}: {HELD} doesn't say what was signed")
        _check_media(held, item, shown, digests)
        _check_proof(folder, held.index, item, vkey)
    if shown.items:
        raise EvidenceError(f"{HELD} and {EVIDENCE} don't hold the same records: {next(iter(shown.items))}")
    return count


def _check_lines(folder: Traversable, vkey: str) -> "_Shown":
    """Examine the lines of the evidence against the pinned key, and unseal the media that they bring."""
    shown = _Shown({}, {}, {}, ControlState())
    examiner: Examiner | None = None
    ended = False
    with folder.joinpath(EVIDENCE).open("rb") as stream, TemporaryDirectory(prefix="braid-") as scratch:
        incoming, sizes = IncomingBlob(Path(scratch), keep=True), dict[str, int]()
        for text in read_lines(stream):
            line = decode_line(text)
            ended = isinstance(line, End)
            if isinstance(line, ExportHead):
                examiner = Examiner(line, parse_vkey(vkey.strip()))
                shown = shown._replace(control=examiner.control)
            elif examiner is None:
                raise EvidenceError(f"{EVIDENCE} doesn't begin with its head")
            elif isinstance(line, ExportItem):
                record = examiner.examine(line)
                sizes = dict(record.envelope.blobs)
                if line.record is not None:
                    shown.items[line.id] = _item(line)
                for scope, count, before in chain_of(record.raw):
                    shown.chains.setdefault(scope, []).append((record.index, count, before))
                shown.media.update({one.blob: (one, "") for one in media_of(record)} if record.raw else {})
            elif isinstance(line, MediaPiece) and incoming.add(
                line.blob, sizes.get(line.blob, 0), _bytes(line)
            ):
                media = shown.media[line.blob][0]
                shown.media[line.blob] = (media, _unsealed(Path(scratch), media))
    if not ended:
        raise EvidenceError(f"{EVIDENCE} was cut off")
    return shown


def _left_out(subject: Mapping[str, str], shown: "_Shown") -> str:
    """Say what of a subject is left out, as its scope's chain shows; raise EvidenceError where that is no erasure."""
    if not shown.control.scope_chains:
        return "would not show: the log keeps no scope chains"
    scope = scope_of(subject)
    if scope is None:
        return "would not show: chains are of one user_id, agent_id, run_id, project_id or session_id"
    name, chain = "=".join(scope), shown.chains.get(scope, [])
    gone, problems = check_chain(chain, shown.control.erased)
    if problems:
        raise EvidenceError(f"memories of {name} are left out: {problems[0]}")
    if not chain:
        return f"would not show: no record here counts {name}"
    return f"nothing of {name} up to record {chain[-1][0]}" + (f" but {gone} erased" if gone else "")


class _Item(NamedTuple):
    """What is kept of a record until `records.json` names it: digests, its place in the log, and its blobs' names."""

    said: bytes
    leaf: bytes
    place: int
    blobs: list[str]


def _item(line: ExportItem) -> _Item:
    stored = line.envelope.encode()
    place = decode_payload(unwrap(stored).payload).index
    return _Item(_said(line.record, line.envelope), leaf_hash(stored), place, _blobs_of(line))


def _said(record: object, envelope: str) -> bytes:
    """Return a digest of a record and its envelope, the same in whatever order its members stand."""
    plain = msgspec.json.encode([record, envelope], order="deterministic")
    return hashlib.sha256(plain).digest()


class _Shown(NamedTuple):
    """What the evidence shows: records by id, and media by the name of their blob with the SHA-256 of their content.

    `chains`: each scope's records, as their bodies count them. `control`: what was erased, by tombstones that it has.
    """

    items: dict[str, _Item]
    media: dict[str, tuple[Media, str]]
    chains: dict[ScopeKey, list[Member]]
    control: ControlState


def _bytes(piece: MediaPiece) -> bytes:
    try:
        return b64decode(piece.data, validate=True)
    except ValueError as error:
        raise EvidenceError(f"media {piece.blob[:16]}… are not base64") from error


def _unsealed(folder: Path, media: Media) -> str:
    """Return the SHA-256 of the media's content, and let go of the sealed file."""
    blobs = BlobStore(folder, writable=False)
    digest = hashlib.sha256()
    for chunk in blobs.open(BlobRef(sha256=media.blob, size=media.size, key=b64decode(media.key))):
        digest.update(chunk)
    blobs.path(media.blob).unlink()
    return digest.hexdigest()


def _check_media(held: HeldRecord, item: _Item, shown: _Shown, digests: dict[str, str]) -> None:
    """Compare the media in the folder with those that were sealed and signed."""
    wanted = [shown.media[name][1] for name in item.blobs]
    if [digests.get(one.path) for one in held.media] != wanted or "" in wanted:
        raise EvidenceError(f"{held.id}: its media are not what was signed")


def _blobs_of(item: ExportItem) -> list[str]:
    content: dict[str, Any] = msgspec.json.decode(bytes(item.body)).get("content") or {}
    media: list[dict[str, Any]] = content.get("media") or []
    return [str(one["blob"]) for one in media]


def _check_proof(folder: Traversable, index: int, item: _Item, vkey: str) -> None:
    try:
        proven = check_proof(
            folder.joinpath(proof_name(index)).read_bytes(), item.leaf, parse_vkey(vkey.strip())
        )
    except (LedgerError, OSError, KeyError) as error:
        raise EvidenceError(f"{proof_name(index)} does not hold: {error}") from error
    if proven.index != item.place:
        raise ProofError(f"{proof_name(index)} is of another record")
