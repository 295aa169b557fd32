"""Author keys: ed25519 through libsodium, their ids, their files, and which kinds each role may sign (SPEC §3.4)."""

from base64 import b32encode, b64decode, b64encode
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import msgspec
from nacl.bindings import crypto_sign_seed_keypair
from nacl.utils import random

from braid.ledger.crypto.passphrase import KdfCost
from braid.ledger.crypto.point import is_sound
from braid.ledger.crypto.signature import SIGNATURE_BYTES
from braid.ledger.errors import KeyRefusedError
from braid.ledger.keys.keyfile import open_secret, seal_secret
from braid.wal.durable import replace_file

AUTHOR_KINDS: Final = frozenset(("experience", "view", "stance", "affect", "embedding", "event"))
ROLE_KINDS: Final = {
    "root": frozenset(("genesis", "key")),
    "operator": frozenset(("tombstone", "event")),
    "recorder": AUTHOR_KINDS,
    "user": AUTHOR_KINDS,
    "agent": AUTHOR_KINDS,
    "tool": AUTHOR_KINDS,
}
OWN_WORDS_ROLES: Final = frozenset(("user", "agent", "tool"))
"""Roles that sign only what they said themselves; a recorder captures anybody's words."""
# Without its wrapper, as the cipher is (aead.py): a signature copies the message once, not three times.
_sodium: Any = import_module("nacl.bindings.crypto_sign")
_new, _buffer, _NULL, _sign = _sodium.ffi.new, _sodium.ffi.buffer, _sodium.ffi.NULL, _sodium.lib.crypto_sign


def key_id(public: bytes) -> str:
    """Return the id of a public key (32 bytes)."""
    return "k_" + b32encode(sha256(public).digest())[:20].decode().lower()


def check_public_key(public: bytes) -> None:
    """Raise KeyRefusedError for a key of small order, of a non-canonical encoding or off the main subgroup."""
    if not is_sound(public):
        raise KeyRefusedError("the public key is refused: not 32 bytes, not canonical, or of small order")


def possession_message(origin: str, id: str, role: str) -> bytes:
    """Return what a key signs to prove that its owner wants it admitted (SPEC §3.5)."""
    return f"braid/key-possession/v1\n{origin}\n{id}\n{role}\n".encode()


class Signer:
    """A private author key with the role and actor it was made for."""

    __slots__ = ("_secret", "actor", "id", "public", "role", "seed")

    def __init__(self, seed: bytes, role: str, actor: str | None = None) -> None:
        """Derive the key pair from a 32-byte seed; raise ValueError for an unknown role."""
        if role not in ROLE_KINDS:
            raise ValueError(f"unknown role {role!r}; known: {', '.join(ROLE_KINDS)}")
        self.public, self._secret = crypto_sign_seed_keypair(seed)
        self.seed = seed
        self.id = key_id(self.public)
        self.role = role
        self.actor = actor

    @classmethod
    def fresh(cls, role: str, actor: str | None = None) -> "Signer":
        """Make a new key from the system's randomness."""
        return cls(random(32), role, actor)

    def sign(self, message: bytes) -> bytes:
        """Return the 64-byte signature over `message`; raise ValueError for one too long to sign at once."""
        size = len(message)
        signed = _new("unsigned char[]", SIGNATURE_BYTES + size)  # signature ‖ message
        if _sign(signed, _NULL, message, size, self._secret):
            raise ValueError(f"{size} bytes can't be signed at once")
        signature: bytes = _buffer(signed, SIGNATURE_BYTES)[:]
        return signature

    def __repr__(self) -> str:
        return f"<Signer {self.id} {self.role}>"


class _KeyFile(msgspec.Struct, frozen=True):
    braid_key: int
    id: str
    role: str
    seed: str
    actor: str | None = None


def save_signer(
    folder: Path, signer: Signer, passphrase: str | None = None, kdf: tuple[KdfCost, bytes] | None = None
) -> Path:
    """Write the private key to `<role>-<id>.key`, mode 0600; sealed where a passphrase and its stretching are given."""
    path = folder / f"{signer.role}-{signer.id}.key"
    file = _KeyFile(1, signer.id, signer.role, b64encode(signer.seed).decode(), signer.actor)
    data = msgspec.json.encode(file) + b"\n"
    if passphrase is not None and kdf is not None:
        data = seal_secret(path, data, passphrase, kdf)
    replace_file(path, data, "keys.write")
    return path


def load_signers(folder: Path, passphrase: str | None = None) -> dict[str, Signer]:
    """Return the author keys in a folder by key id; raise KeyRefusedError for a file that is damaged."""
    signers: dict[str, Signer] = {}
    for path in sorted(folder.glob("*-k_*.key")):
        try:
            file = msgspec.json.decode(open_secret(path, passphrase), type=_KeyFile)
            signer = Signer(b64decode(file.seed, validate=True), file.role, file.actor)
        except KeyRefusedError:
            raise
        except (msgspec.MsgspecError, ValueError) as error:
            raise KeyRefusedError(
                f"{path}: not a private key of this release: {type(error).__name__}"
            ) from error
        if signer.id != file.id:
            raise KeyRefusedError(f"{path}: the key does not have the id that the file states")
        signers[signer.id] = signer
    return signers
