"""Private keys at rest: a file of `keys/`, in the clear or sealed under the vault's passphrase (SPEC §3.4)."""

import os
from base64 import b64decode, b64encode
from pathlib import Path

import msgspec
from nacl import bindings
from nacl.exceptions import CryptoError
from nacl.utils import random

from braid.ledger.crypto.passphrase import KdfCost, stretch
from braid.ledger.errors import KeyRefusedError
from braid.wal.durable import replace_file, sync_folder
from braid.wal.regular import open_regular, read_regular

_MARK = b'{"braid_sealed_key":'


class _Sealed(msgspec.Struct, frozen=True):
    braid_sealed_key: int
    operations: int
    memory_kib: int
    salt: str
    nonce: str
    sealed: str


def is_sealed(path: Path) -> bool:
    """Whether a private key's file is sealed."""
    return read_regular(path).startswith(_MARK)


def open_secret(path: Path, passphrase: str | None) -> bytes:
    """Return a key file's content; raise KeyRefusedError where it is sealed and the passphrase does not open it."""
    data = read_regular(path)
    if not data.startswith(_MARK):
        return data
    if passphrase is None:
        raise KeyRefusedError(
            f"{path} is sealed under a passphrase: name the file that holds it (--passphrase-file)"
        )
    try:
        file = msgspec.json.decode(data, type=_Sealed)
        cost, salt = KdfCost(file.operations, file.memory_kib), b64decode(file.salt, validate=True)
        nonce, sealed = b64decode(file.nonce, validate=True), b64decode(file.sealed, validate=True)
        if file.braid_sealed_key != 1 or not cost.sound or len(salt) != 16 or len(nonce) != 24:
            raise KeyRefusedError(f"{path}: not a sealed key of this release")
    except (msgspec.MsgspecError, ValueError) as error:
        raise KeyRefusedError(f"{path}: a sealed key that is damaged: {type(error).__name__}") from error
    key = stretch(passphrase, cost, salt)
    try:
        return bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(sealed, _bound_to(path), nonce, key)
    except CryptoError:
        raise KeyRefusedError(f"{path}: the passphrase does not open it, or the file was altered") from None


def seal_secret(path: Path, content: bytes, passphrase: str, kdf: tuple[KdfCost, bytes]) -> bytes:
    """Return the sealed file of a private key; its name is bound in, so that files can't be exchanged."""
    cost, salt = kdf
    nonce = random(24)
    sealed = bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(
        content, _bound_to(path), nonce, stretch(passphrase, cost, salt)
    )
    parts = (b64encode(part).decode() for part in (salt, nonce, sealed))
    return msgspec.json.encode(_Sealed(1, cost.operations, cost.memory_kib, *parts)) + b"\n"


def seal_folder(folder: Path, passphrase: str, kdf: tuple[KdfCost, bytes]) -> list[Path]:
    """Seal every private key in `folder` that is in the clear; return them. Repeating it finishes it."""
    for left in folder.glob("*.key.old"):
        wipe(left)
    sealed: list[Path] = []
    for path in sorted(folder.glob("*.key")):
        if is_sealed(path):
            continue
        old = path.with_name(f"{path.name}.old")
        os.link(path, old)
        replace_file(path, seal_secret(path, read_regular(path), passphrase, kdf), "keys.seal")
        # Dying here: the sealed file is live, the clear one goes by the name of `.old`; running it again wipes that.
        wipe(old)
        sealed.append(path)
    return sealed


def wipe(path: Path) -> None:
    """Overwrite a private key's file and remove it."""
    fd = open_regular(path, os.O_WRONLY)
    try:
        os.pwrite(fd, bytes(os.fstat(fd).st_size), 0)
        os.fsync(fd)
    finally:
        os.close(fd)
    path.unlink()
    sync_folder(path.parent)


def _bound_to(path: Path) -> bytes:
    return f"braid/v1/keyfile\n{path.name}\n".encode()
