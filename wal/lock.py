"""The writer's lock: flock(2), which two handles of one process don't share (POSIX fcntl locks would be)."""

import errno
import fcntl
import os
import stat
import time
from pathlib import Path

from braid.wal.errors import LogLockedError
from braid.wal.regular import obstructed

POLL_S = 0.002
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NOCTTY
"""A link would have the lock elsewhere than where others look for it; a terminal is not to become ours."""

_held_here: set[tuple[int, int]] = set()
"""The lock files that this process holds, by device and inode: only the words of a refusal hang on it."""
os.register_at_fork(after_in_child=_held_here.clear)  # a child inherits what it must not go on with


class FileLock:
    """An exclusive lock on a file, taken and given back by one handle."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    @property
    def held(self) -> bool:
        """Whether this handle holds the lock."""
        return self._fd is not None

    def acquire(self, wait_s: float = 0.0) -> None:
        """Take the lock, waiting up to `wait_s` seconds; raise LogLockedError when another handle keeps it.

        Raises ObstructedError where something else than a file stands in its place.
        """
        fd = self._open()
        deadline = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    where = (
                        "already in this process (waited {:g} s); go on with what was opened, close it first, "
                        if _identity(fd) in _held_here
                        else "elsewhere (waited {:g} s); close it there, "
                    )
                    os.close(fd)
                    raise LogLockedError(
                        f"{self._path.parent} is open for writing {where.format(wait_s)}"
                        "open read-only, or open with shared=True in every writer"
                    ) from None
                time.sleep(POLL_S)
            except BaseException:
                os.close(fd)
                raise
            else:
                self._fd = fd
                _held_here.add(_identity(fd))
                return

    def _open(self) -> int:
        try:
            fd = os.open(self._path, _FLAGS, 0o600)
        except OSError as error:
            if error.errno not in (errno.EISDIR, errno.ENOTDIR, errno.ENXIO, errno.ELOOP):
                raise
            raise obstructed(self._path, "a lock file") from None
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return fd
        os.close(fd)  # a pipe, a device: their locks keep out others than whoever opens this store
        raise obstructed(self._path, "a lock file")

    def release(self) -> None:
        """Give the lock back; harmless when it is not held."""
        if self._fd is not None:
            _held_here.discard(_identity(self._fd))
            os.close(self._fd)  # closing the only descriptor of this open file drops its flock
            self._fd = None


def _identity(fd: int) -> tuple[int, int]:
    found = os.fstat(fd)
    return found.st_dev, found.st_ino
