"""A wall clock that somebody sets while programs run: eight bytes in a file say what is added to it, in microseconds.

Under the shim the system's own clock jumps for a whole process; where there is none, the store is given this one.
"""

import mmap
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from braid.ledger.write.writer import utc_now

Clock = Callable[[], datetime]
_ADDED: Final = struct.Struct("=q")


class SetClock:
    """A clock file, to be set by one process and read by others."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(_ADDED.pack(0))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _ADDED.size)
        self.path = path

    @property
    def added(self) -> timedelta:
        """What is added to the system's time."""
        return timedelta(microseconds=_ADDED.unpack(self._map[:])[0])

    def set(self, added: timedelta) -> None:
        """Jump, in every process that goes by this clock."""
        self._map[:] = _ADDED.pack(added // timedelta(microseconds=1))

    def __call__(self) -> datetime:
        """Return the time that this clock shows."""
        return datetime.now(UTC) + self.added


def clock_of(surroundings: Mapping[str, str]) -> Clock:
    """Return the clock that a process was started with: the one in `BRAID_TORTURE_CLOCK`, else the system's."""
    path = surroundings.get("BRAID_TORTURE_CLOCK")
    return SetClock(Path(path)) if path else utc_now
