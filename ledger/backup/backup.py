"""Taking a backup: as far as the published head, while others write; what is held already is not copied again.

A backup is an auditor's copy: `verify` reads it where it is. It holds no plaintext, and neither vault nor private keys
unless they are asked for.
"""

import os
from contextlib import suppress
from datetime import datetime
from errno import ENOENT
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from braid.ledger.backup.plan import (
    FORMAT,
    BackupManifest,
    HeldSegment,
    Staging,
    finish,
    load,
    refuse_strange,
    save,
)
from braid.ledger.erase.cascade import doomed_blobs
from braid.ledger.erase.erasure import is_body
from braid.ledger.errors import BackupError, LedgerError
from braid.ledger.keys.vault import read_whole
from braid.ledger.read.blobs import BlobStore
from braid.ledger.read.prefix import root_at
from braid.ledger.read.reader import Reader
from braid.ledger.tree.history import join_heads, signed_heads
from braid.ledger.tree.merkle import HASH_BYTES
from braid.ledger.tree.note import parse_vkey
from braid.ledger.tree.tiles import partial_tiles, tile_path, tiles_for_size
from braid.ledger.write.writer import Writer
from braid.wal.append import LogWriter
from braid.wal.durable import create_file, make_folder
from braid.wal.errors import CorruptLogError, LogLockedError
from braid.wal.failpoint import failpoint
from braid.wal.frame import FrameHeader
from braid.wal.lock import FileLock
from braid.wal.regular import GROWING_BYTES, read_regular
from braid.wal.segment import SEGMENT_HEADER_BYTES, Segment

_TRIES: Final = 8
_COPY_BYTES: Final = 4 << 20


class Backup(msgspec.Struct, frozen=True):
    """What a backup holds now, and what was copied for it."""

    size: int
    root: str
    before: int
    """Records that it held before."""
    copied_bytes: int
    vault: bool


def back_up(reader: Reader, folder: Path, *, now: datetime, with_vault: bool = False) -> Backup:
    """Bring the backup in `folder` to the log's published head, making it where there is none.

    Another process may write, erase and compact meanwhile. Raises BackupError for a folder that holds something else,
    another log or history, or a vault that was not asked for; LogLockedError while another backup is under way there;
    LedgerError where nothing has been published yet.
    """
    reader.refuse_contradicted()
    folder = folder.absolute()
    _refuse_inside(reader, folder)
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not _is_backup(folder))):
        raise BackupError(f"{folder} holds something else than a backup; choose an empty or a new folder")
    make_folder(folder)
    folder.chmod(0o700)
    lock = FileLock(folder / "lock")
    try:
        lock.acquire()
    except LogLockedError:
        raise BackupError(f"{folder}: another backup, or a restore, is at work there") from None
    try:
        refuse_strange(folder)
        finish(folder)
        before = load(folder)
        _refuse_other_history(reader, folder, before, with_vault=with_vault)
        for _ in range(_TRIES):
            if (done := _attempt(reader, folder, before, now=now, with_vault=with_vault)) is not None:
                return done
        raise BackupError(
            f"{reader.path}: something was erased, or a new head published, each time; back up again"
        )
    finally:
        lock.release()


def _is_backup(folder: Path) -> bool:
    return load(folder) is not None or (folder / "incoming").is_dir()


def _refuse_inside(reader: Reader, folder: Path) -> None:
    real = folder.resolve()
    for place in (real, *real.parents):
        if place == reader.path.resolve() or (place != real and (place / "store.json").exists()):
            raise BackupError(
                f"{folder} lies in the store {place}: a backup belongs elsewhere, on another disk"
            )


def _refuse_other_history(
    reader: Reader, folder: Path, before: BackupManifest | None, *, with_vault: bool
) -> None:
    if before is None:
        return
    if (before.store_id, before.origin) != (reader.settings.store_id, reader.origin):
        raise BackupError(f"{folder} is a backup of {before.origin}, this is {reader.origin}")
    if before.size > reader.size:
        raise BackupError(
            f"{folder} holds {before.size} records, this store {reader.size}: it is an older copy than its backup"
        )
    if root_at(reader, before.size) != before.root:
        raise BackupError(
            f"{folder} holds another history of {reader.origin}: its {before.size} records are not the first of this "
            "store's. Keep it as it is, and back up elsewhere"
        )
    if before.secrets and not with_vault:
        raise BackupError(
            f"{folder} holds a vault, which would grow old there and bring back what is erased: go on with "
            "--with-vault, or back up elsewhere"
        )


def _attempt(
    reader: Reader, folder: Path, before: BackupManifest | None, *, now: datetime, with_vault: bool
) -> Backup | None:
    """Copy what is new; None when an erasure came between: what it blanked would be unexplained under this head."""
    if isinstance(reader, Writer):
        reader.checkpoint()
    reader.refresh()
    head, note = reader.published, reader.checkpoint_note
    if not head.size:
        raise LedgerError("nothing has been published yet")
    staging = Staging(folder)
    try:
        segments = _stage_segments(reader, staging, folder, head.size, before)
        _stage_tiles(reader, staging, folder, head.size)
    except FileNotFoundError:  # a newer head was published, and the partial tiles of this one are gone
        return None
    _stage_blobs(reader, staging, folder)
    epoch = _stage_secrets(reader, staging) if with_vault else None
    settings = msgspec.structs.replace(reader.settings, vault="vault")
    staging.put("store.json", settings.encode())
    staging.put("checkpoints", _history(reader, _held(folder / "checkpoints"), head.size, note))
    staging.put("checkpoint", note)
    failpoint("backup.copied")
    reader.refresh()
    if any(tombstone >= head.size for tombstone in reader.control.erasures):
        return None
    manifest = BackupManifest(
        FORMAT,
        reader.settings.store_id,
        reader.origin,
        head.size,
        head.root.hex(),
        now.isoformat(timespec="seconds"),
        with_vault,
        epoch,
        segments,
        0 if before is None or _copied_anew(staging, before) else before.settled,
    )
    stale = [f"{name.removesuffix('.seg')}.idx" for name in staging.targets if name.endswith(".seg")]
    staging.commit(manifest, [*stale, *_left_over(folder, head.size, before)])
    try:
        settle(reader, folder, head.size, since=manifest.settled)
    except CorruptLogError as error:
        where = f"{folder}: {error.file}, offset {error.offset}"
        raise BackupError(
            f"{where}: {error.reason}; this backup is damaged: make another elsewhere"
        ) from error
    if manifest.settled != head.size:
        save(folder, msgspec.structs.replace(manifest, settled=head.size))
    return Backup(head.size, head.root.hex(), before.size if before else 0, staging.bytes, with_vault)


def _copied_anew(staging: Staging, before: BackupManifest) -> bool:
    """Whether a segment that was held comes whole: with it bodies may come back that an unfinished erasure left."""
    return any(name.removeprefix("log/") in before.segments for name in staging.whole)


def _stage_segments(
    reader: Reader, staging: Staging, folder: Path, size: int, before: BackupManifest | None
) -> dict[str, HeldSegment]:
    """Stage the frames that the head covers and that the backup has not; return how far each segment goes then."""
    held: dict[str, HeldSegment] = {}
    for segment in reader.log.segments:
        if segment.first >= size and segment.first > 0:
            break
        name = segment.path.name
        old = before.segments.get(name) if before else None
        if old is not None and not _continues(segment, folder / "log" / name, old):
            old = None  # compacted meanwhile: other places, other bytes
        last, end = (old.last, old.end) if old else (SEGMENT_HEADER_BYTES, SEGMENT_HEADER_BYTES)
        if old is None or before is None or before.size < size:
            for frame in segment.frames_below(end, size):
                last, end = frame.offset, frame.end_offset
        held[name] = HeldSegment(last, end)
        if old is None:
            _stage_bytes(segment, staging.begin(f"log/{name}"), 0, end, staging)
        elif end > old.end:
            _stage_bytes(segment, staging.begin(f"log/{name}", old.end), old.end, end, staging)
    return held


def _continues(segment: Segment, copy: Path, old: HeldSegment) -> bool:
    """Whether a segment still begins with what was copied: its last frame, and with it the places of all before."""
    if not copy.exists() or copy.stat().st_size < old.end or segment.size < old.end:
        return False
    try:
        return _header_at(segment, old) == _header_in_copy(copy, segment.store_id, old)
    except CorruptLogError:  # compacted since: no frame begins there; or the copy was harmed
        return False


def _header_in_copy(copy: Path, store_id: str, old: HeldSegment) -> FrameHeader | None:
    held = Segment(copy, store_id)
    try:
        return _header_at(held, old)
    finally:
        held.close()


def _header_at(segment: Segment, old: HeldSegment) -> FrameHeader | None:
    """Return the header of the last frame that was copied, None for a segment that was copied without any."""
    frame = next(segment.frames(old.last, bodies=False, end=old.end), None)
    return None if frame is None else frame.header


def _stage_bytes(segment: Segment, path: Path, start: int, end: int, staging: Staging) -> None:
    with path.open("wb") as file:
        while start < end:
            data = segment.read(start, min(end - start, _COPY_BYTES))
            if not data:
                raise BackupError(f"{segment.name} became shorter while it was copied: back up again")
            file.write(data)
            start += len(data)
    staging.end(path)


def _stage_tiles(reader: Reader, staging: Staging, folder: Path, size: int) -> None:
    """Full tiles never change; the partial ones of a size are its own."""
    for level, n, width in tiles_for_size(size):
        name = tile_path(level, n, width)
        if not (folder / name).exists():
            staging.put(name, tile_of(reader.path, level, n, width))


def tile_of(store: Path, level: int, n: int, width: int) -> bytes:
    """Return a tile of a head, also when a newer head's has taken its place: that begins with it (c2sp tlog-tiles).

    So whoever publishes without pause holds up no backup. Raises FileNotFoundError where no tile is wide enough.
    """
    exact = store / tile_path(level, n, width)
    for _ in range(_TRIES):  # between looking and reading, the next head may replace this one too
        with suppress(FileNotFoundError):
            return read_regular(exact)
        later = [path for path in exact.parent.glob("[0-9]*") if int(path.name) > width]
        for wider in (store / tile_path(level, n), *sorted(later, key=lambda path: -int(path.name))):
            with suppress(FileNotFoundError):
                if len(found := read_regular(wider)) >= width * HASH_BYTES:
                    return found[: width * HASH_BYTES]
    raise FileNotFoundError(ENOENT, os.strerror(ENOENT), str(exact))


def _stage_blobs(reader: Reader, staging: Staging, folder: Path) -> None:
    for blob in sorted((reader.path / "blobs").glob("??/*")):
        name = f"blobs/{blob.parent.name}/{blob.name}"
        try:
            if not (folder / name).exists() or (folder / name).stat().st_size != blob.stat().st_size:
                staging.copy(name, blob)
        except FileNotFoundError:  # erased meanwhile; its tombstone makes this attempt begin again
            continue


def _stage_secrets(reader: Reader, staging: Staging) -> int:
    """Stage vault and private keys as they are: what is sealed stays sealed. Return the vault's epoch."""
    raw, epoch = read_whole(reader.settings.vault_path(reader.path))
    staging.put("vault", raw)
    for key in sorted((reader.path / "keys").glob("*.key")):
        staging.put(f"keys/{key.name}", read_regular(key))
    return epoch


def _history(reader: Reader, before: bytes, size: int, note: bytes) -> bytes:
    """Return the signed heads that the store, and the backup `before`, hold up to this one: a later one covers records
    not copied yet.

    Harm to either is left behind, and a head that one of them has lost is kept. Where the store only goes on with what
    the backup has, that was looked at when it was written.
    """
    keys = [parse_vkey(text) for text in reader.control.log_keys]
    now = _held(reader.path / "checkpoints")
    if before and now.startswith(before):
        if (at := before.rfind(note + b"\n")) >= 0:
            return before[: at + len(note) + 1]
        kept, held = before, signed_heads(now[len(before) :], keys, reader.origin)
    else:
        kept, held = b"", signed_heads(before, keys, reader.origin) | signed_heads(now, keys, reader.origin)
    until = [one for one in sorted(held, key=held.__getitem__) if held[one] <= size and one != note]
    return kept + join_heads([*until, note])


def _held(path: Path) -> bytes:
    try:
        return read_regular(path, GROWING_BYTES)
    except FileNotFoundError:
        return b""


def settle_history(reader: Reader, folder: Path) -> None:
    """Take harm out of a copy's history of heads: it is evidence, which keeps nobody from what the log holds."""
    history = _history(reader, b"", reader.published.size, reader.checkpoint_note)
    create_file(folder / "checkpoints", history, "restore.history")


def _left_over(folder: Path, size: int, before: BackupManifest | None) -> list[str]:
    """Return the partial tiles of the head before."""
    if before is None:
        return []
    kept = {tile_path(*tile) for tile in partial_tiles(size)}
    return [name for tile in partial_tiles(before.size) if (name := tile_path(*tile)) not in kept]


def settle(reader: Reader, folder: Path, size: int, *, since: int = 0) -> int:
    """Carry out in a copy of `size` records what the log says is erased: bodies blanked, media gone. Return how many.

    `since`: only what is new to a copy that was settled at that size. Needed since a copy may be taken while an
    erasure is at work; harmless to repeat.
    """
    targets = [
        index
        for index, by in sorted(reader.control.erased.items())
        if index < size and by < size and (index >= since or by >= since)
    ]
    log = LogWriter(folder / "log", reader.settings.store_id)
    try:
        for segment in log.segments:
            if not segment.path.with_suffix(".idx").exists():
                segment.rebuild_index(segment.size, write=True)
        if not log.resume(size):
            log.rescan(size)
        log.blank(targets, partial(is_body, reader))
    finally:
        log.close()
    blobs = BlobStore(folder / "blobs", writable=False)
    for name in doomed_blobs(reader, targets):
        blobs.erase(name)
    return len(targets)
