"""The only calls that make bytes durable; each passes its failpoint before and after."""

import errno
import os
import resource
import shutil
from collections import defaultdict
from pathlib import Path
from time import sleep
from typing import Final

from braid.wal.failpoint import failpoint
from braid.wal.regular import obstructed, open_regular

counts: defaultdict[str, int] = defaultdict(int)
"""How often each named step ran in this process: tests count syncs here."""
_PAUSES_S: Final = (0.01, 0.05, 0.2, 0.5, 1.0)


def is_full(error: OSError) -> bool:
    """Whether there was no room: on the disk, or in what its quota leaves us."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def is_unwritable(error: OSError) -> bool:
    """Whether nothing may be written there: a medium or a folder for reading only."""
    return error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)


def may_not_grow(error: OSError) -> bool:
    """Whether there was no room for more: none left, or none that this process or the file system allows a file."""
    return is_full(error) or error.errno == errno.EFBIG


def keeps_reading(error: OSError) -> bool:
    """Whether nothing can be written there now, while what is there can be read: no room, or for reading only."""
    return may_not_grow(error) or is_unwritable(error)


def no_room(folder: Path) -> int:
    """Return the number of what kept a file in `folder` from growing, for a library that says only that it didn't.

    EFBIG where the disk has more free than this process may write to a file; else ENOSPC.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    limited = limit != resource.RLIM_INFINITY and shutil.disk_usage(folder).free > limit
    return errno.EFBIG if limited else errno.ENOSPC


def is_in_passing(error: OSError) -> bool:
    """Whether another process was at work on the same folder: what is looked for has just gone, or come."""
    return error.errno in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST)


def name_file(error: BaseException, path: Path) -> None:
    """Name the file in an error of the system's that names none: a write knows only its descriptor."""
    if isinstance(error, OSError) and error.errno is not None and error.filename is None:
        error.filename = str(path)


def write_all(fd: int, data: bytes | bytearray | memoryview, step: str) -> None:
    """Write every byte of `data` at the descriptor's position, or raise the system's OSError."""
    failpoint(step)
    written = os.write(fd, data)
    if written < len(data):
        view = memoryview(data)[written:]
        while view:
            view = view[os.write(fd, view) :]
    counts[step] += 1
    failpoint(f"{step}.done")


def sync_data(fd: int, step: str) -> None:
    """Return once the file's bytes and size are on disk (fdatasync). A failure is final: never retry it."""
    failpoint(step)
    os.fdatasync(fd)
    counts[step] += 1
    failpoint(f"{step}.done")


def sync_folder(path: Path) -> None:
    """Return once the names in the folder are on disk."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_tree(folder: Path) -> None:
    """Return once every file below the folder is on disk, for what was written by others than us."""
    for path in [*folder.rglob("*"), folder]:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def remove_tree(folder: Path) -> None:
    """Remove a folder and all in it, tried again for a while where another process writes to it or removes it too."""
    for pause_s in (*_PAUSES_S, None):
        try:
            shutil.rmtree(folder)
        except OSError as error:
            if not folder.exists():
                return
            if pause_s is None or not is_in_passing(error):
                raise
            sleep(pause_s)
        else:
            return


def make_folder(path: Path) -> None:
    """Create the folder and its missing parents with mode 0700, their names durable; ObstructedError where it can't be
    one.
    """
    if path.is_dir():
        return
    make_folder(path.parent)
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise obstructed(path, "a folder") from None
    sync_folder(path.parent)


def fresh_folder(path: Path) -> None:
    """Make an empty folder of mode 0700 in the place of what a dead process left there.

    Raises ObstructedError for a link or a file in its place: nothing is written where a link leads.
    """
    make_folder(path.parent)
    shutil.rmtree(path, ignore_errors=True)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        raise obstructed(path, "a new folder") from None
    sync_folder(path.parent)


def create_file(path: Path, data: bytes, step: str, mode: int = 0o600) -> None:
    """Write a file of its owner's alone, or of another mode, and sync it; its name is durable after `sync_folder`.

    Raises ObstructedError for a link in its place.
    """
    fd = open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        if mode != 0o600:
            os.fchmod(fd, mode)  # whatever the umask is
        write_all(fd, data, step)
        os.fsync(fd)
    except OSError as error:
        name_file(error, path)
        raise
    finally:
        os.close(fd)


def replace_file(path: Path, data: bytes, step: str, mode: int = 0o600) -> None:
    """Replace a file as a whole: a reader, and a crash, see the old bytes or the new, never a mixture.

    The folder's descriptor is held across create, rename and sync, or an error of the sync could go unseen.
    """
    fresh = path.with_name(f".{path.name}.new")
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        create_file(fresh, data, step, mode)
        # Dying here leaves the old file and a `.new` that the next replacement overwrites.
        fresh.replace(path)
        failpoint(f"{step}.renamed")
        os.fsync(folder)
    finally:
        os.close(folder)
