"""Copies of a whole store: a backup, or an auditor's copy (SPEC §13)."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from braid.ledger.errors import DestinationExistsError, LedgerError
from braid.ledger.tree.publication import publish_checkpoint, write_tiles
from braid.ledger.tree.tiles import tile_path, tiles_for_size
from braid.ledger.write.writer import Writer
from braid.session import Session
from braid.wal.durable import make_folder, sync_folder
from braid.wal.regular import copy_regular, read_regular
from braid.wal.segment import Segment


def export_store(session: Session, folder: Path, *, audit: bool) -> list[str]:
    """Copy the log as far as its published head into a new folder and return the relative paths.

    With `audit` vault, private keys and projections stay behind: the copy can be verified, traced and proved, and not
    one memory can be read from it. Without it vault and keys go along: a backup. Raises DestinationExistsError.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DestinationExistsError(f"{folder} exists and is not an empty folder; choose another place")
    reader = session.reader
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
    _copy_segments(session, folder)
    tiles = [
        (level, n, width, read_regular(session.path / tile_name))
        for level, n, width, tile_name in _tile_names(reader.published.size)
    ]
    write_tiles(folder, tiles)
    for blob in sorted((session.path / "blobs").glob("??/*")):
        make_folder(folder / "blobs" / blob.parent.name)
        copy_regular(blob, folder / "blobs" / blob.parent.name / blob.name)
    history = session.path / "checkpoints"
    if history.exists():
        copy_regular(history, folder / "checkpoints")
    if not audit:
        shutil.copytree(session.path / "keys", folder / "keys")
        shutil.copyfile(reader.settings.vault_path(session.path), folder / "vault")
    msgspec.structs.replace(reader.settings, vault="vault").save(folder)
    publish_checkpoint(folder, reader.checkpoint_note)
    _restrict(folder)
    sync_folder(folder)
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _tile_names(size: int) -> Iterator[tuple[int, int, int, str]]:
    for level, n, width in tiles_for_size(size):
        yield level, n, width, tile_path(level, n, width)


def _copy_segments(session: Session, folder: Path) -> None:
    """Copy the frames that the published head covers; what was appended since stays behind."""
    log, size = session.reader.log, session.reader.published.size
    for segment in log.segments:
        if segment.first >= size and segment.first > 0:
            break
        end = 64
        for frame in segment.frames_below(64, size):
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
