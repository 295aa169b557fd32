"""Room: zeros behind the log's end, so that a sync finds its blocks allocated and changes no size (SPEC §2.6)."""

import os
from collections.abc import Callable
from contextlib import suppress

from braid.wal.failpoint import failpoint

ROOM_BYTES = 256 << 10
"""Most that is written ahead at a time."""
LARGE_BYTES = ROOM_BYTES // 8
LEAST_FREE_BYTES = 64 << 20
"""On a disk with less there is no room: where blocks are allocated at the sync, zeros could take a record's own."""
_PAGE = 4096
_READ_BYTES = 1 << 20


class Room:
    """The zeros that one handle wrote behind the end of its open file. It cuts no others."""

    def __init__(self, fd: int, end: int) -> None:
        """Begin without any, where the log ends in the file now."""
        self._fd, self._began, self._upto = fd, end, 0

    def make(self, start: int, end: int) -> None:
        """Write zeros behind a write from `start` to `end` that used up those that were there: as many bytes as this
        handle has written. Behind a large write there are none: what a journal costs is little beside it.

        The sync of that write covers them. Dying here leaves zeros, which no reader takes for a frame.
        """
        ahead = min(end - self._began, ROOM_BYTES) // _PAGE * _PAGE
        if end <= self._upto or not ahead or end - start > LARGE_BYTES or not self._has_space():
            return
        try:
            failpoint("wal.room")
            self._upto = end + ahead  # until it is known how many were written
            self._upto = end + os.pwrite(self._fd, bytes(ahead), end)
        except OSError:  # what space there is belongs to records
            with suppress(OSError):
                self.give_back(end)

    def give_back(self, end: int) -> bool:
        """Let the file end where the log does, where zeros of this handle's are behind it; True where there were."""
        if self._upto <= end:
            return False
        os.ftruncate(self._fd, end)
        self._upto = 0
        return True

    def _has_space(self) -> bool:
        disk = os.fstatvfs(self._fd)
        return disk.f_bavail * disk.f_frsize > LEAST_FREE_BYTES


def is_room(read: Callable[[int, int], bytes], offset: int) -> bool:
    """Whether `read` finds nothing but zeros from `offset` on: room that a writer kept, no torn tail."""
    while data := read(offset, _READ_BYTES):
        if data.count(0) < len(data):
            return False
        offset += len(data)
    return True
