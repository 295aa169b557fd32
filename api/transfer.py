"""Copies that leave a store, and records that come from another one (SPEC §13)."""

import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

from braid.ledger.errors import LedgerError, NoVaultError
from braid.ledger.publish import publish_checkpoint, write_tiles
from braid.ledger.record import BODY_TYPES, Draft, Record
from braid.ledger.shape import shape
from braid.ledger.tiles import tile_path, tiles_for_size
from braid.ledger.writer import Writer
from braid.store import Store
from braid.wal.durable import make_folder, sync_folder
from braid.wal.segment import Segment

BATCH = 1_000
_COPIED_KINDS = frozenset(("experience", "view", "stance", "affect", "embedding", "event"))


class Imported(NamedTuple):
    """What an import did: records added, known from before, and what could not be read, with line and reason."""

    added: int
    known: int
    refused: list[tuple[int, str]]


def export_store(store: Store, folder: Path, *, audit: bool) -> list[str]:
    """Copy the log as far as its published head into a new folder and return the relative paths.

    With `audit` vault, private keys and projections stay behind: the copy can be verified, traced and proved, and not
    one memory can be read from it. Without it vault and keys go along: a backup. Raises FileExistsError.
    """
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} exists and is not empty; choose another folder")
    reader = store.reader
    if not audit:
        reader.need_vault()
    if isinstance(reader, Writer):
        reader.checkpoint()
    if not reader.published.size:
        raise LedgerError("nothing has been published yet")
    make_folder(folder)
    folder.chmod(0o700)  # before anything is in it
    for name in ("log", "blobs", "views"):
        make_folder(folder / name)
    _copy_segments(store, folder)
    tiles = [
        (level, n, width, (store.path / tile_name).read_bytes())
        for level, n, width, tile_name in _tile_names(reader.published.size)
    ]
    write_tiles(folder, tiles)
    for blob in sorted((store.path / "blobs").glob("??/*")):
        make_folder(folder / "blobs" / blob.parent.name)
        shutil.copyfile(blob, folder / "blobs" / blob.parent.name / blob.name)
    history = store.path / "checkpoints"
    if history.exists():
        shutil.copyfile(history, folder / "checkpoints")
    if not audit:
        shutil.copytree(store.path / "keys", folder / "keys")
        shutil.copyfile(reader.settings.vault_path(store.path), folder / "vault")
    msgspec.structs.replace(reader.settings, vault="vault").save(folder)
    publish_checkpoint(folder, reader.checkpoint_note)
    _restrict(folder)
    sync_folder(folder)
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _tile_names(size: int) -> Iterator[tuple[int, int, int, str]]:
    for level, n, width in tiles_for_size(size):
        yield level, n, width, tile_path(level, n, width)


def _copy_segments(store: Store, folder: Path) -> None:
    """Copy the frames that the published head covers; what was appended since stays behind."""
    log, size = store.reader.log, store.reader.published.size
    for segment in log.segments:
        if segment.first >= size and segment.first > 0:
            break
        end = 64
        for frame in segment.frames(64, bodies=False):
            if frame.first >= size:
                break
            end = frame.end_offset
        with (folder / "log" / segment.path.name).open("wb") as file:
            at = 0
            while at < end:
                piece = segment.read(at, min(end - at, 1 << 22))
                if not piece:
                    raise LedgerError(f"{segment.name} became shorter while it was copied: export again")
                file.write(piece)
                at += len(piece)
        copy = Segment(folder / "log" / segment.path.name, segment.store_id)
        try:
            copy.rebuild_index(copy.size, write=True)
        finally:
            copy.close()


def _restrict(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)


def export_jsonl(store: Store, out: IO[str], *, include_forgotten: bool = False) -> int:
    """Write every record as a line of JSON: its schema's shape, its envelope, and its body as it was
    signed; return how many.
    """
    count = 0
    for record in store.read(include_forgotten=include_forgotten):
        if record.raw is None:
            raise NoVaultError("there is no vault here: an auditor's copy has nothing to export but --audit")
        out.write(msgspec.json.encode(_line(store, record)).decode() + "\n")
        count += 1
    return count


def _line(store: Store, record: Record) -> dict[str, Any]:
    return {
        "braid_export": 1,
        "origin": store.origin,
        "record": shape(record),
        "kind": record.kind,
        "type": record.type,
        "links": [[link.role, link.index, link.id] for link in record.links],
        "body": msgspec.Raw(record.raw or b"{}"),
        "envelope": store.reader.stored_envelope(record.index).decode(),
    }


class _Line(msgspec.Struct, frozen=True):
    braid_export: int
    origin: str
    kind: str
    links: list[tuple[str, int, str]]
    body: msgspec.Raw
    envelope: str
    record: dict[str, Any]
    type: str = ""


def import_jsonl(store: Store, lines: Iterable[bytes], *, dry_run: bool = False) -> Imported:
    """Append what `export_jsonl` wrote, under new ids; the old id and envelope are kept as evidence of the
    first signature.

    Importing the same lines again adds nothing. A line that can't be read is refused with its number; the rest goes in.
    """
    added = known = 0
    refused: list[tuple[int, str]] = []
    ids: dict[str, str] = {}
    batch: list[tuple[str, Draft]] = []

    def commit() -> None:
        nonlocal added, known
        if not batch:
            return
        if dry_run:
            added += len(batch)
        else:
            for (old, _), placed in zip(batch, store.append_all([draft for _, draft in batch]), strict=True):
                ids[old] = placed.id
                known, added = known + placed.known, added + (not placed.known)
        batch.clear()

    waiting: set[str] = set()
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            line = msgspec.json.decode(text, type=_Line)
            old = str(line.record.get("id", ""))
            if line.braid_export != 1:
                raise ValueError(f"export format {line.braid_export}; this release reads 1")
            if line.kind not in _COPIED_KINDS or "op" in line.record.get("public", {}):
                continue  # keys, tombstones and certificates are the other log's own affairs
            if waiting & {target for _, _, target in line.links} or len(batch) >= BATCH:
                commit()
                waiting.clear()
            batch.append((old, _draft(line, old, ids)))
            waiting.add(old)
        except (msgspec.MsgspecError, ValueError, KeyError) as error:
            refused.append((number, str(error)))
    commit()
    return Imported(added, known, refused)


def _draft(line: _Line, old: str, ids: Mapping[str, str]) -> Draft:
    body = msgspec.json.decode(line.body, type=BODY_TYPES[line.kind])
    once = f"import:{line.origin}:{old}"
    members = {field.encode_name for field in msgspec.structs.fields(body)}
    extra = {name: value for name, value in msgspec.json.decode(line.body).items() if name not in members}
    extra["imported"] = {"id": old, "origin": line.origin, "envelope": line.envelope}
    links = [(role, ids[target]) for role, _, target in line.links if target in ids]
    if len(links) != len(line.links) and line.kind in ("view", "stance", "affect", "embedding"):
        raise ValueError(f"{old} is a {line.kind} of records that are not in this export")
    body = msgspec.structs.replace(body, once=once, diffs=body.diffs if len(links) == len(line.links) else [])
    return Draft(kind=line.kind, type=line.type, body=body, links=links, extra=extra)
