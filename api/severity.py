"""How bad an error is: one of four classes, for every error that Braid raises. Pure.

The classes are those of docs/operate.md, which says what happens in each, and what you do. An error is found by its
name, as its hint is: so no room is loaded for it, and what a client was sent counts as well.
"""

from enum import StrEnum
from typing import Final


class Severity(StrEnum):
    """How bad it is.

    silent: a request was refused or is tried again, and nothing is broken. degraded: something is slow, busy or spent,
    and something else stands in for it or waits. failed: a part is away, and somebody mends it. corrupt: bytes are not
    what was written or signed, and are not believed.
    """

    SILENT = "silent"
    DEGRADED = "degraded"
    FAILED = "failed"
    CORRUPT = "corrupt"


ERRORS: Final = {
    Severity.SILENT: frozenset(
        {
            # what was asked can't be meant, isn't allowed, or isn't there
            "InvalidRequestError", "UnknownOperationError", "AccessDeniedError", "FrozenError", "NotInScopeError",
            "UnknownEntityError", "LostPlaceError", "VersionConflictError", "ConfirmationError", "PinnedError",
            "RemoteModelError", "NoTokenError", "TooOftenError",
            "BodyTooLargeError", "PolicyError", "InvalidRecordError", "IdempotencyConflictError", "KeyRefusedError",
            "SharedKeyError", "UnknownRecordError", "ErasedError", "PuncturedError", "ForgottenError", "NoVaultError",
            "NotRederivableError", "DestinationExistsError", "ReadOnlyError", "VaultPassphraseError",
            "VaultStoreMismatchError", "SqlError", "SqlTimeoutError", "SqlStoppedError", "SqlLimitError",
            "LensError", "UnknownLensError", "DefinitionError", "LensFailedError", "ViewUnreadableError",
            "ProgramError", "PlanError", "ToolRefusedError", "ProgramTakenError", "ProgramStateError",
            "BrokenProgramError", "UnitError", "UnknownJobError", "ChatNotAskedError", "ChatLeftOutError",
            "ChatRefusedError",
            "SourceError", "UnknownFormatError", "ArchiveError",
            "UnknownKeyError", "UnknownTokenError", "UnknownSnapshotError",
            # it is tried again
            "WorkError", "LeaseLostError", "JobFailedError",
        }
    ),
    Severity.DEGRADED: frozenset(
        {
            "LogLockedError", "ViewError", "ViewBusyError", "NotNowError", "BreakerOpenError", "BudgetSpentError",
            "ChatError", "ChatBudgetError", "ChatTimeoutError", "EmbeddingError", "ModelTimeoutError", "ParserError",
            "ParserMissingError", "RerankError", "NliError",
        }
    ),
    Severity.FAILED: frozenset(
        {
            "UnreachableError", "RemoteError", "LedgerError", "VaultError", "VaultMissingError", "BlobError",
            "BlobMissingError", "ClockError", "BackupError", "UnpublishedError", "UnpurgedError", "UnwritableError",
            "WalError", "LogFormatError", "NoRoomError", "ObstructedError", "FullError",
            "FolderInPlaceError", "OutcomeUnknownError", "WriterPoisonedError", "LogAwayError", "TransportError",
        }
    ),
    Severity.CORRUPT: frozenset(
        {
            "EnvelopeError", "NoteError", "ProofError", "TileError", "UnsealError", "EvidenceError",
            "RefusedLogError", "VaultCorruptError", "BlobCorruptError", "IntegrityError", "RollbackError",
            "GuardError", "StoreFormatError", "CorruptLogError", "DamagedViewError", "UnsealedError",
            "RestoreRefusedError", "SnapshotError",
        }
    ),
}  # fmt: skip
"""The classes of errors by how bad they are. A root stands for what derives from it and has no line of its own."""
_OF: Final = {name: severity for severity, names in ERRORS.items() for name in names}
_MISUSE: Final = (ValueError, TypeError, LookupError)
_MISTAKES: Final = (UnicodeError, KeyError, IndexError)


def severity_of(error: BaseException) -> Severity:
    """Return how bad an error is: of Python's own, misuse is silent, and all else that nobody foresaw is `failed`."""
    for kind in type(error).__mro__:
        if (found := _OF.get(kind.__name__)) is not None:
            return found
    is_misuse = isinstance(error, _MISUSE) and not isinstance(error, _MISTAKES)
    return Severity.SILENT if is_misuse else Severity.FAILED
