"""Files in folders that others may have made: no link is followed, nothing waited for, no file read without end."""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from braid.wal.errors import FolderInPlaceError, ObstructedError

CONTROL_BYTES: Final = 1 << 20
"""The most that a control file may have: settings, a signed head, a tile, a private key, a backup's manifest."""
GROWING_BYTES: Final = 1 << 30
"""The most that is read at once of a file that grows with its log: an index, the history of heads, a vault."""
_FLAGS: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_COPY_BYTES: Final = 4 << 20


def obstructed(path: Path, wanted: str) -> ObstructedError:
    """Return the refusal for what stands where a file or a folder belongs, in its place or above it."""
    at = next((one for one in reversed(path.parents) if one.exists() and not one.is_dir()), path)
    kinds = {"a link": at.is_symlink(), "a folder": at.is_dir(), "a file": at.is_file()}
    found = next((kind for kind, it_is in kinds.items() if it_is), "something else")
    return ObstructedError(at, found, wanted if at == path else "a folder")


def open_regular(path: "str | Path", flags: int = os.O_RDONLY) -> int:
    """Return a descriptor of a regular file; what `flags` let be created has mode 0600.

    Raises ObstructedError for a link, a pipe, a device, a socket, a folder (FolderInPlaceError); else OSError.
    """
    try:
        fd = os.open(path, flags | _FLAGS, 0o600)
    except IsADirectoryError:
        raise FolderInPlaceError(Path(path)) from None
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENXIO):
            raise
        raise obstructed(Path(path), "a file") from None
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode):
        return fd
    os.close(fd)
    if stat.S_ISDIR(mode):
        raise FolderInPlaceError(Path(path))
    raise obstructed(Path(path), "a file")


def read_regular(path: Path, limit: int = CONTROL_BYTES) -> bytes:
    """Return a regular file's bytes.

    Raises ObstructedError for one of more than `limit` bytes, and what `open_regular` does.
    """
    with os.fdopen(open_regular(path), "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(limit + 1) if size <= limit else b""
        while data and len(data) <= limit and (more := file.read(limit + 1 - len(data))):
            data += more
    if size > limit or len(data) > limit:
        raise ObstructedError(path, f"a file of {max(size, len(data))} bytes", f"one of at most {limit}")
    return data


def copy_regular(source: Path, target: Path) -> None:
    """Copy a regular file's bytes to `target`. Raises what `open_regular` does."""
    with os.fdopen(open_regular(source), "rb") as held, target.open("wb") as copy:
        shutil.copyfileobj(held, copy, _COPY_BYTES)


def entries_below(folder: "str | Path", depth: int = -1) -> Iterator["os.DirEntry[str]"]:
    """Yield what is in a folder and, behind no link, in the folders below it, down to `depth` of them (-1: all).

    What goes meanwhile is left out. Raises OSError for a folder that can't be listed.
    """
    try:
        with os.scandir(folder) as found:
            entries = list(found)
    except FileNotFoundError:
        return
    for entry in entries:
        yield entry
        if depth and entry.is_dir(follow_symlinks=False):
            yield from entries_below(entry.path, depth - 1)
