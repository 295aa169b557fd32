"""What stands in the way of a projection: a folder in the place of a file, a file in that of a folder, a pipe.

What is in `views/` is derived: a rebuild, and all the more an erasure, does not wait for somebody to move it away. What
a link leads to is elsewhere, and somebody's: nothing behind one is touched, and one in the place of a file is refused,
since what it leads to may show what has to go.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from braid.wal.durable import remove_tree
from braid.wal.regular import obstructed

_FOLDERS: Final = (
    "", "duck", "duck/seals", "lance", "lance/set-*", "lance/made-*", "snapshots", "snapshots/at-*", "lineage",
)  # fmt: skip
"""The first may be a link, and so may a projection's: to another disk."""
_FILES: Final = (
    "catalog.lock", "catalog.sqlite*", "fresh.sqlite*", "duck/lock", "duck/current", "duck/*.duckdb",
    "duck/*.duckdb.wal", "duck/seals/*.duckdb", "lance/lock", "lance/making", "lance/current", "lance/*.sqlite",
    "snapshots/lock", "snapshots/at-*/*.json", "lineage/" + "[0-9]" * 8,
)  # fmt: skip
_NAMED: Final = ("set-", "made-", "at-")
"""Begin names of folders that are ours alone: no link stands for one."""


def clear_way(folder: Path) -> list[str]:
    """Remove what stands where a file or a folder of `views/` belongs and is none; return what it was, by its path in
    `folder`.

    Raises ObstructedError for a link in the place of a file, or of a folder that is nobody else's.
    """
    gone: list[str] = []
    for path in _in_the_way(folder):
        if path.is_symlink() and path.exists():
            raise obstructed(path, "a folder" if path.name.startswith(_NAMED) else "a file")
        if path.is_dir() and not path.is_symlink():
            remove_tree(path)
        else:
            path.unlink(missing_ok=True)
        gone.append(str(path.relative_to(folder)))
    return gone


def in_the_way(folder: Path) -> list[Path]:
    """Return what stands where a file or a folder of `views/` belongs and is none. Nothing is touched."""
    return list(_in_the_way(folder))


def _in_the_way(folder: Path) -> Iterator[Path]:
    for pattern in _FOLDERS:
        for path in _places(folder, pattern):
            if not path.is_dir() or (path.is_symlink() and path.name.startswith(_NAMED)):
                yield path
    for pattern in _FILES:
        yield from (path for path in _places(folder, pattern) if not stat.S_ISREG(path.lstat().st_mode))


def _places(folder: Path, pattern: str) -> list[Path]:
    """Return what is there of a pattern, not behind a link."""
    if not pattern:
        return [folder] if os.path.lexists(folder) else []
    if folder.is_symlink() or not folder.is_dir():
        return []
    named = [folder / pattern] if os.path.lexists(folder / pattern) else []  # a link to nothing, too
    found = sorted({*named, *folder.glob(pattern)})
    return [path for path in found if not _is_behind_link(folder, path)]


def _is_behind_link(folder: Path, path: Path) -> bool:
    return any((folder / one).is_symlink() for one in path.relative_to(folder).parents if one.name)
