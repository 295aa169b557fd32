"""Signing and publishing a head: guard first, then tiles, then the checkpoint (SPEC §5.4)."""

import os
from collections.abc import Iterable
from pathlib import Path

from braid.ledger.tree.tiles import tile_path
from braid.wal.durable import create_file, make_folder, replace_file, sync_folder, write_all
from braid.wal.failpoint import failpoint
from braid.wal.regular import obstructed, open_regular

TileFile = tuple[int, int, int, bytes]
"""Level, number, width (0 for a full tile), bytes."""


def write_tiles(store: Path, tiles: Iterable[TileFile]) -> list[Path]:
    """Write tiles durably and return their paths. Dying in between leaves tiles that no published checkpoint needs.

    Each is renamed into its place: one of the same name may belong to the published checkpoint, and be read meanwhile.
    """
    folders: set[Path] = set()
    paths: list[Path] = []
    for level, n, width, data in tiles:
        path = store / tile_path(level, n, width)
        for folder in (path.parent, path.parent.parent):
            if folder.is_symlink():
                raise obstructed(folder, "a folder")
        if not path.parent.is_dir():
            make_folder(path.parent)
        fresh = path.with_name(f".{path.name}.new")
        create_file(fresh, data, "tile.write")
        fresh.replace(path)
        folders.add(path.parent)
        paths.append(path)
    for folder in sorted(folders):
        sync_folder(folder)
    failpoint("tile.done")
    return paths


def publish_checkpoint(store: Path, note: bytes) -> None:
    """Replace the published checkpoint by `note` and add it to the history. Only after guard and tiles are on disk."""
    replace_file(store / "checkpoint", note, "checkpoint.write")
    fd = open_regular(store / "checkpoints", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:  # evidence for auditors, never trusted: written without a sync
        write_all(fd, note + b"\n", "checkpoint.history")
    finally:
        os.close(fd)


def drop_partials(paths: Iterable[Path], keep: set[Path]) -> None:
    """Remove partial tiles that only an older checkpoint needed."""
    for path in paths:
        if path not in keep:
            path.unlink(missing_ok=True)
            try:
                path.parent.rmdir()
            except OSError:  # another width of the tile is still there
                continue
