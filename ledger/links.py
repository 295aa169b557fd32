"""What a store's folder holds lies in it: no link is followed out of it, but for the vault's (SPEC §1)."""

import os
from pathlib import Path
from typing import Final

from braid.wal.errors import ObstructedError
from braid.wal.regular import entries_below

_LEVELS: Final = {"log": 0, "keys": 0, "blobs": 0, "tile": 0, "views": 3}
"""How many folders deep each folder is looked through: as far as it holds folders. What lies in those of tiles, media
and LanceDB's tables is looked at where it is opened or written.
"""
_REMEDY: Final = "bring {} back in its place"
_VIEWS_REMEDY: Final = "remove it, and projections are made again"
_ELSEWHERE: Final = "To use another disk, move the whole store: the store itself may be reached by a link"


def refuse_links(store: Path) -> None:
    """Raise ObstructedError where a name in a store's folder is a link: what is written there would land elsewhere.

    `vault` may be one: `store.json` may name any place for it. PermissionError for a folder that can't be listed.
    """
    for entry in entries_below(store, 0):
        if entry.name == "vault":
            continue
        _refuse(entry, entry.name)
        if entry.name in _LEVELS and entry.is_dir(follow_symlinks=False):
            for below in entries_below(entry.path, _LEVELS[entry.name]):
                _refuse(below, entry.name)


def _refuse(entry: "os.DirEntry[str]", top: str) -> None:
    if entry.is_symlink():
        remedy = _VIEWS_REMEDY if top == "views" else _REMEDY.format(entry.name)
        raise ObstructedError(
            Path(entry.path), "a link", "a file or folder of the store", f"{remedy}. {_ELSEWHERE}"
        )
