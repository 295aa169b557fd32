"""What stands in the way of a projection: a folder in the place of a file, a file in that of a folder, a link, a pipe.

What is in `views/` is derived: a rebuild, and all the more an erasure, does not wait for somebody to move it away.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from braid.wal.durable import remove_tree

_FOLDERS: Final = ("", "duck", "duck/seals", "lance", "snapshots", "lineage")
"""A link to a folder may stand there: to another disk."""
_FILES: Final = (
    "catalog.lock", "*.sqlite*", "duck/lock", "duck/current", "duck/*.duckdb*", "duck/seals/*",
    "lance/lock", "lance/making", "lance/current", "lance/*.sqlite*", "snapshots/lock", "lineage/*",
)  # fmt: skip


def clear_way(folder: Path) -> list[str]:
    """Remove what stands where a file or a folder of `views/` belongs and is none; return what it was, by its path in
    `folder`. Nothing behind a link is touched."""
    gone: list[str] = []
    for path in _in_the_way(folder):
        if path.is_dir() and not path.is_symlink():
            remove_tree(path)
        else:
            path.unlink(missing_ok=True)
        gone.append(str(path.relative_to(folder)))
    return gone


def _in_the_way(folder: Path) -> Iterator[Path]:
    for name in _FOLDERS:
        path = folder / name
        if os.path.lexists(path) and not path.is_dir():
            yield path
    for pattern in _FILES:
        for path in sorted(folder.glob(pattern)):
            if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
                yield path
