"""The keys that sign heads, when there is more than one: found, loaded, held to the control records (SPEC §3.7)."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from braid.ledger.errors import KeyRefusedError, NoteError
from braid.ledger.keys.control import ControlState
from braid.ledger.keys.keyfile import open_secret
from braid.ledger.record.envelope import Envelope
from braid.ledger.tree.checkpoint import Checkpoint
from braid.ledger.tree.note import SignedNote, SigningKey, VerifierKey, parse_skey, parse_vkey


def key_files(store: Path, passphrase: str | None = None) -> list[tuple[Path, str]]:
    """Return the private keys of the log that are here, each with its verifier key; errors as below."""
    return [
        (path, str(_read(path, passphrase).verifier)) for path in sorted((store / "keys").glob("log*.key"))
    ]


def load_log_keys(store: Path, passphrase: str | None = None) -> dict[str, SigningKey]:
    """Return the private keys of the log that are here, by verifier key; raise KeyRefusedError for a damaged file."""
    keys = [_read(path, passphrase) for path in sorted((store / "keys").glob("log*.key"))]
    return {str(key.verifier): key for key in keys}


def load_log_key(store: Path, passphrase: str | None = None) -> SigningKey:
    """Return the log's first key; raise KeyRefusedError where it is missing or damaged."""
    return _read(store / "keys" / "log.key", passphrase)


def _read(path: Path, passphrase: str | None) -> SigningKey:
    try:
        return parse_skey(open_secret(path, passphrase).decode("utf-8", "replace").strip())
    except FileNotFoundError:
        raise KeyRefusedError(
            f"{path} is missing: without the log's key this store can only be read"
        ) from None
    except KeyRefusedError:
        raise
    except ValueError as error:
        raise KeyRefusedError(f"{path}: not a private key of the log") from error


def log_key_path(store: Path, key: SigningKey) -> Path:
    """Return where a later key of the log is kept; the first one is `log.key`."""
    return store / "keys" / f"log-{key.verifier.id.hex()}.key"


def claimed_keys(envelope: Callable[[int], Envelope], newest: int) -> list[VerifierKey]:
    """Return the log keys along the chain of control records back from record `newest`.

    Nothing is verified: a head under one of them counts only once the chain has been, against that very head.
    """
    found: list[VerifierKey] = []
    at = newest
    while True:
        record = envelope(at)
        text = record.public.get("log_vkey" if at == 0 else "vkey")
        with suppress(NoteError):  # no key of the log; the fold says whether that is lawful
            found.append(parse_vkey(str(text)))
        if at == 0 or record.control >= at:
            return list(dict.fromkeys(found))
        at = record.control


def lacking(control: ControlState, checkpoint: Checkpoint, note: SignedNote) -> str | None:
    """Return a key of the log that should have signed this head and has not; None where all have."""
    signed = {(one.name, one.id) for one in note.verified}
    for text in control.signing(checkpoint.size):
        key = parse_vkey(text)
        if (key.name, key.id) not in signed:
            return text
    return None
