"""What can go wrong with bytes.

    WalError
    ├── CorruptLogError       bytes on disk are not what was written: segment, offset, what to do next
    ├── LogLockedError        another handle holds the writer's lock
    ├── LogFormatError        a format version this release does not know
    ├── OutcomeUnknownError   written, but not known to be durable: retry with the same idempotency key
    └── WriterPoisonedError   a sync failed earlier; this handle writes no more

The environment's own errors (`OSError`, ENOSPC among them) pass through unchanged.
"""


class WalError(Exception):
    """Root of this room's errors."""


class CorruptLogError(WalError):
    """Bytes in `file` at `offset` are not what was written."""

    def __init__(self, file: str, offset: int, reason: str) -> None:
        self.file = file
        self.offset = offset
        self.reason = reason
        super().__init__(
            f"{file}, offset {offset}: {reason}; nothing was changed: run `braid verify` to see all that is "
            "affected, then restore this file from a backup"
        )


class LogLockedError(WalError):
    """Another handle, in this process or another, holds the writer's lock."""


class LogFormatError(WalError):
    """The file was written by a newer format than this release knows."""


class OutcomeUnknownError(WalError):
    """The bytes were handed to the system, but whether they are on disk is not known."""


class WriterPoisonedError(WalError):
    """A sync failed earlier on this handle; what the disk holds is only known after reopening."""
