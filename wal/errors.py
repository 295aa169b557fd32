"""What can go wrong with bytes.

    WalError
    ├── CorruptLogError       bytes on disk are not what was written: segment, offset, what to do next
    ├── LogLockedError        another handle holds the writer's lock
    ├── LogFormatError        a format version this release does not know
    ├── NoRoomError           a segment has no room for its compacted file; an `OSError` as well
    ├── ObstructedError       something else stands in the place of a file or folder of ours; an `OSError` as well
    │   └── FolderInPlaceError   a folder, where a file belongs; an `IsADirectoryError` as well
    ├── OutcomeUnknownError   written, but not known to be durable: retry with the same idempotency key
    └── WriterPoisonedError   a sync failed earlier; this handle writes no more

The environment's own errors (`OSError`, ENOSPC among them) pass through unchanged.
"""

from pathlib import Path
from typing import Self


class WalError(Exception):
    """Root of this room's errors."""


class CorruptLogError(WalError):
    """Bytes in `file` at `offset` are not what was written."""

    def __init__(self, file: str, offset: int, reason: str) -> None:
        self.file = file
        self.offset = offset
        self.reason = reason
        super().__init__(f"{file}, offset {offset}: {reason}; nothing was changed")


class LogLockedError(WalError):
    """Another handle, in this process or another, holds the writer's lock."""


class ObstructedError(WalError, OSError):
    """At `path`, where `wanted` belongs, stands something else: `found`.

    An `OSError` as well: who can do without the file or folder can do without this one.
    """

    def __init__(
        self, path: Path, found: str, wanted: str, remedy: str = "move it away, then try again"
    ) -> None:
        self.path = path
        self.found = found
        self.wanted = wanted
        super().__init__(f"{path}: {found} stands where {wanted} belongs; {remedy}")


class FolderInPlaceError(ObstructedError, IsADirectoryError):
    """At `path`, where a file belongs, stands a folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "a folder", "a file")


class NoRoomError(WalError, OSError):
    """The disk has no room for the `needed` bytes of a compacted segment, which is as it was.

    An `OSError` as well, with the number of the one that was met.
    """

    def __init__(self, path: Path, needed: int, cause: OSError) -> None:
        self.path = path
        self.needed = needed
        super().__init__(
            f"{path}: to compact it, more than {needed:,} bytes must be free on its disk, for a new file beside it; "
            "it was left as it was, and so were all that need more"
        )
        self.errno = cause.errno
        self._cause = cause

    def __reduce__(self) -> tuple[type[Self], tuple[Path, int, OSError]]:
        return type(self), (self.path, self.needed, self._cause)


class LogFormatError(WalError):
    """The file was written by a newer format than this release knows."""


class OutcomeUnknownError(WalError):
    """The bytes were handed to the system, but whether they are on disk is not known."""


class WriterPoisonedError(WalError):
    """A sync failed earlier on this handle; what the disk holds is only known after reopening."""
