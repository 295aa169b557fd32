"""Errors of the ledger; every one of them is about data, never about the caller's arguments.

LedgerError
├── EnvelopeError   a DSSE envelope that can't be read, or that too few trusted keys signed
├── NoteError       a signed note, key text or checkpoint that can't be trusted
├── ProofError      a Merkle proof that doesn't show what it claims
├── TileError       a stored tile that is missing, or that differs from the tree it belongs to
├── PuncturedError  the record's key was erased
├── UnsealError     a sealed body that its key doesn't open
├── BodyTooLargeError       a body above the limit of the format
├── VaultError              the file of the puncturable key
│   ├── VaultMissingError         there is none at that path
│   ├── VaultCorruptError         its bytes are not what was written, or older than what was loaded
│   ├── VaultPassphraseError      the passphrase is wrong, missing, or not expected
│   └── VaultStoreMismatchError   it belongs to another store
├── EvidenceError           an exported record is not what was signed, recorded and said
├── RefusedLogError         what a server, a mirror or a witness says of a log isn't true, or isn't enough
├── PolicyError             a policy of witnesses that can't be read
├── BlobError               sealed media
│   ├── BlobMissingError          no such file: erased, or never put
│   └── BlobCorruptError          its bytes are not what was sealed
├── IntegrityError          what was read is not what was signed, or not lawful at its place
│   └── RollbackError             older than what the guard remembers, or contradicting it
│       └── RestoreRefusedError       a backup that is so
├── GuardError              the fork guard is missing or damaged
├── InvalidRecordError      a draft that must not enter the log
│   └── IdempotencyConflictError  its key is that of a record which says something else
├── KeyRefusedError         a malformed, foreign, revoked or wrong-role key
├── UnknownRecordError, ErasedError, ForgottenError   why a record can't be had
│   └── UnknownKeyError, UnknownTokenError            no key, no token has this id
├── NoVaultError            bodies are needed, and this copy has no vault
├── NotRederivableError     a derived record can't be made again from what it names
├── DestinationExistsError  something stands where a copy is to go; a `FileExistsError` as well
├── ClockError              the system's clock stands far behind the log
├── BackupError             a backup that can't be taken, gone on with, or restored
├── UnpublishedError        all is in the log, but its head could not be published at the end; an `OSError` as well
├── UnpurgedError           an erasure waits until its projections can be purged; an `OSError` as well
├── UnwritableError         a store that can only be read here was opened for writing; an `OSError` as well
├── StoreFormatError        settings that are damaged or of a newer format
└── ReadOnlyError           writing through a handle opened for reading

Misuse by the caller is `ValueError`, `TypeError` or `IndexError`; the environment's `OSError` is left alone.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Self


class LedgerError(Exception):
    """Root of every refusal that the ledger makes."""


class EnvelopeError(LedgerError, ValueError):
    """A DSSE envelope is malformed, or fewer trusted keys signed it than were asked for."""


class NoteError(LedgerError, ValueError):
    """A signed note, a key text or a checkpoint is malformed or not signed by a trusted key."""


class ProofError(LedgerError, ValueError):
    """A Merkle proof is malformed or doesn't lead from what it starts at to the given root."""


class EvidenceError(LedgerError, ValueError):
    """An exported record, or a whole export, is not what was signed, recorded and said."""


class RefusedLogError(LedgerError):
    """What somebody else says of a log is refused, for one `reason` (SPEC §16.4): a word that programs can act on."""

    def __init__(self, reason: str, what: str) -> None:
        self.reason = reason
        self.what = what
        super().__init__(f"{reason}: {what}")


class PolicyError(LedgerError, ValueError):
    """A policy of logs and witnesses isn't one (C2SP tlog-policy)."""


class TileError(LedgerError):
    """A stored tile is missing, has the wrong length, or differs from the tree it belongs to."""


class PuncturedError(LedgerError, LookupError):
    """The key of the record at `index` was erased; nothing that remains can derive it."""

    def __init__(self, index: int) -> None:
        self.index = index
        super().__init__(f"the key of record {index} was erased")


class UnsealError(LedgerError):
    """The sealed body of record `id` isn't what was sealed under this key."""

    def __init__(self, id: str, reason: str) -> None:
        self.id = id
        super().__init__(f"{id}: the sealed body can't be opened: {reason}")


class BodyTooLargeError(LedgerError, ValueError):
    """A body of `size` bytes is above the format's `limit`."""

    def __init__(self, size: int, limit: int) -> None:
        self.size = size
        self.limit = limit
        super().__init__(
            f"a body of {size} bytes is above the limit of {limit}; put large content into a blob"
        )


class VaultError(LedgerError):
    """The vault at `path` can't be used, for `reason`."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"vault {path}: {reason}")


class VaultMissingError(VaultError):
    """There is no vault at this path."""


class VaultCorruptError(VaultError):
    """The vault's bytes aren't what was written, or it is older than what this process already loaded."""


class VaultPassphraseError(VaultError):
    """The passphrase is wrong or missing, or one was given for a vault that has none."""


class VaultStoreMismatchError(VaultError):
    """The vault belongs to another store."""


class BlobError(LedgerError):
    """The sealed blob `name` can't be used, for `reason`."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        super().__init__(f"blob {name}: {reason}")


class BlobMissingError(BlobError):
    """There is no file of this name: it was erased, or never put."""


class BlobCorruptError(BlobError):
    """The file's bytes aren't what was sealed."""


class IntegrityError(LedgerError):
    """What was read is not what was signed, or not lawful at its place in the log."""


class RollbackError(IntegrityError):
    """The store, its checkpoint or its vault is older than what the guard remembers, or contradicts it."""


class RestoreRefusedError(RollbackError):
    """A backup, or its vault, is older than what is remembered of its log, or of another history."""


class GuardError(LedgerError):
    """The fork guard is missing or damaged."""


class InvalidRecordError(LedgerError, ValueError):
    """A draft that must not enter the log: an unknown kind, a number out of range, a derivation downward …"""


class IdempotencyConflictError(InvalidRecordError):
    """An idempotency key is met again with something else to say: the record `id` has it, `unlike` is what differs.

    Both are empty where whoever asks may not know of that record.
    """

    unlike: tuple[str, ...] = ()  # of a server that doesn't say it

    def __init__(self, key: str, id: str, unlike: Sequence[str]) -> None:
        self.key = key
        self.id = id
        self.unlike = tuple(unlike)
        taken = f"that of {id}, which says something else ({', '.join(unlike)})" if id else "taken"
        super().__init__(
            f"the key {key!r} is {taken}; nothing was written: use another key for another record"
        )

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, tuple[str, ...]]]:
        """Make it again from what it was made of, where it comes from another process."""
        return type(self), (self.key, self.id, self.unlike)


class KeyRefusedError(LedgerError, ValueError):
    """A key is malformed, foreign, revoked, or not of the role that this act needs."""


class UnknownRecordError(LedgerError, LookupError):
    """There is no record of this id."""


class UnknownKeyError(UnknownRecordError):
    """No key of this id was ever admitted to the log."""


class UnknownTokenError(UnknownRecordError):
    """No token of this id was ever issued."""


class ErasedError(LedgerError, LookupError):
    """The record was erased: its key is destroyed."""


class ForgottenError(LedgerError, LookupError):
    """The record is forgotten; it can be recovered within the retention window."""


class NoVaultError(LedgerError):
    """This needs the bodies of records, and there is no vault here (an auditor's copy)."""


class NotRederivableError(LedgerError):
    """A derived record can't be made again from what it names: no fault of the record."""


class DestinationExistsError(LedgerError, FileExistsError):
    """Something stands already where a copy or an export is to go; it was left as it is."""


class ClockError(LedgerError):
    """The system's clock stands far behind the log."""


class BackupError(LedgerError):
    """A backup that can't be taken or gone on with, or that can't be restored as it is asked."""


class UnpublishedError(LedgerError, OSError):
    """What was appended is in the log, but the head that signs it could not be published when the store was closed.

    An `OSError` as well, with the number of what the system said: a full disk, as a rule.
    """

    def __init__(self, reason: OSError, *, durable: bool) -> None:
        kept = "is in the log and safe" if durable else "is in the log, and may not be on disk yet"
        super().__init__(
            f"what was written {kept}, but its signed head could not be published: {reason.strerror or reason}. "
            "Once disk and guard can be written again, the next opening for writing publishes it"
        )
        self.errno = reason.errno


class UnpurgedError(LedgerError, OSError):
    """An erasure is announced, and keys and bodies are gone; its projections could not be purged: it is not certified.

    The next opening for writing tries again.
    """

    def __init__(self, tombstone: int, cause: Exception) -> None:
        self.tombstone = tombstone
        super().__init__(
            f"the erasure that record {tombstone} announces is not finished: its keys and bodies are gone, but views/"
            f" could not be purged ({cause})"
        )
        self.errno = cause.errno if isinstance(cause, OSError) else None
        self._cause = cause

    def __reduce__(self) -> tuple[type[Self], tuple[int, Exception]]:
        return type(self), (self.tombstone, self._cause)


class UnwritableError(LedgerError, OSError):
    """A store was opened for writing where its files can only be read: a read-only medium, or another user's folder.

    An `OSError` as well, with the number of what the system said.
    """

    def __init__(self, store: Path, cause: OSError) -> None:
        super().__init__(
            f"{store} can't be written here ({cause.strerror}): open it read-only (`read_only=True`) to read, recall "
            "and verify"
        )
        self.errno = cause.errno
        self._args = (store, cause)

    def __reduce__(self) -> tuple[type[Self], tuple[Path, OSError]]:
        return type(self), self._args


class StoreFormatError(LedgerError):
    """The store's settings are damaged, or of a newer format."""


class ReadOnlyError(LedgerError):
    """This handle was opened for reading."""
