"""Braid: a signed, replayable experience store for AI agents.

    import braid

    with braid.open("memory/") as store:
        id = store.append("Maya moved to Porto.", user_id="maya")
        print(store.get(id).text)

Names are loaded when they are first used, so that importing the package costs little. Here alone the rooms are put
together with a model: a store that is opened through this door searches by meaning with the one that comes with Braid.
"""

from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from braid.admin.offline import backup, fork, restore
    from braid.async_store import AsyncStore
    from braid.client import AsyncClient, Client, connect, connect_async
    from braid.entry import Here, init, open, open_async
    from braid.errors import (
        AccessDeniedError,
        ConfirmationError,
        FrozenError,
        PinnedError,
        TooOftenError,
        VersionConflictError,
    )
    from braid.ledger.erase.erasure import Certificate, UnfinishedErasureWarning
    from braid.ledger.errors import (
        ErasedError,
        ForgottenError,
        IdempotencyConflictError,
        InvalidRecordError,
        LedgerError,
        UnknownRecordError,
        UnpublishedError,
        UnpurgedError,
    )
    from braid.ledger.record.record import Affect, Claim, Confidence, Draft, Record, Vad
    from braid.ledger.tree.guard import OtherCopyWarning
    from braid.ledger.write.durability import DurabilityWarning
    from braid.ledger.write.tail import TornTailWarning
    from braid.models.cross_encoder import CrossEncoder
    from braid.models.static import StaticEmbedder
    from braid.store import Store
    from braid.text.parse import Parser
    from braid.wal.errors import OutcomeUnknownError, WalError

__version__ = "0.1.0"
__all__ = [
    "AccessDeniedError",
    "Affect",
    "AsyncClient",
    "AsyncStore",
    "Certificate",
    "Claim",
    "Client",
    "Confidence",
    "ConfirmationError",
    "Draft",
    "DurabilityWarning",
    "ErasedError",
    "ForgottenError",
    "FrozenError",
    "IdempotencyConflictError",
    "InvalidRecordError",
    "LedgerError",
    "OtherCopyWarning",
    "OutcomeUnknownError",
    "PinnedError",
    "Record",
    "Store",
    "TooOftenError",
    "TornTailWarning",
    "UnfinishedErasureWarning",
    "UnknownRecordError",
    "UnpublishedError",
    "UnpurgedError",
    "Vad",
    "VersionConflictError",
    "WalError",
    "__version__",
    "backup",
    "connect",
    "connect_async",
    "fork",
    "init",
    "open",
    "open_async",
    "restore",
]
_HOMES = {
    "AccessDeniedError": "braid.errors",
    "Affect": "braid.ledger.record.record",
    "AsyncClient": "braid.client",
    "AsyncStore": "braid.async_store",
    "Certificate": "braid.ledger.erase.erasure",
    "Claim": "braid.ledger.record.record",
    "Client": "braid.client",
    "Confidence": "braid.ledger.record.record",
    "ConfirmationError": "braid.errors",
    "Draft": "braid.ledger.record.record",
    "DurabilityWarning": "braid.ledger.write.durability",
    "ErasedError": "braid.ledger.errors",
    "ForgottenError": "braid.ledger.errors",
    "FrozenError": "braid.errors",
    "IdempotencyConflictError": "braid.ledger.errors",
    "InvalidRecordError": "braid.ledger.errors",
    "LedgerError": "braid.ledger.errors",
    "OtherCopyWarning": "braid.ledger.tree.guard",
    "OutcomeUnknownError": "braid.wal.errors",
    "PinnedError": "braid.errors",
    "Record": "braid.ledger.record.record",
    "Store": "braid.store",
    "TooOftenError": "braid.errors",
    "TornTailWarning": "braid.ledger.write.tail",
    "UnfinishedErasureWarning": "braid.ledger.erase.erasure",
    "UnknownRecordError": "braid.ledger.errors",
    "UnpublishedError": "braid.ledger.errors",
    "UnpurgedError": "braid.ledger.errors",
    "Vad": "braid.ledger.record.record",
    "VersionConflictError": "braid.errors",
    "WalError": "braid.wal.errors",
    "backup": "braid.admin.offline",
    "connect": "braid.client",
    "connect_async": "braid.client",
    "fork": "braid.admin.offline",
    "init": "braid.entry",
    "open": "braid.entry",
    "open_async": "braid.entry",
    "restore": "braid.admin.offline",
}


_EMBEDDING = {"open", "open_async"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'braid' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    if name not in _EMBEDDING:
        return found
    return partial(
        found,
        embedder=packaged_embedder,
        parser=installed_parser,
        reranker=installed_reranker,
        server=running_server,
    )


def running_server(path: "Path", here: "Here") -> "Store | None":
    """Return the store at `path` as a server on this machine has it; None where none runs."""
    if not (path / "serve.sock").exists():
        return None
    from braid.client.served import served

    return served(path, here)


@cache
def packaged_embedder() -> "StaticEmbedder":
    """Return the embedder that comes with Braid, one for the process; its files are read when it is first asked."""
    from braid.models.static import StaticEmbedder

    return StaticEmbedder()


def installed_parser() -> "Parser":
    """Return the parser that learning reads with, one for the process; its weights are read when it first parses.

    Raises ParserMissingError where the extra `learn` isn't installed.
    """
    from braid.models.spacy_parser import shared

    return shared()


def installed_reranker() -> "CrossEncoder | None":
    """Return the cross-encoder that answers are chosen with, one for the process; its weights are read when it is first
    asked. None where the extra `answers` isn't installed."""
    from braid.models.cross_encoder import packaged

    return packaged()


def __dir__() -> list[str]:
    return sorted(__all__)
