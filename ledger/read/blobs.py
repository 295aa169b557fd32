"""Sealed media beside the log: each blob under a random key of its own, kept in its record's body (SPEC §4.5)."""

import hashlib
import os
import re
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

import msgspec
from nacl.bindings import (
    crypto_secretstream_xchacha20poly1305_ABYTES as TAG_BYTES,
)
from nacl.bindings import (
    crypto_secretstream_xchacha20poly1305_HEADERBYTES as STREAM_HEADER_BYTES,
)
from nacl.bindings import (
    crypto_secretstream_xchacha20poly1305_init_pull as _init_pull,
)
from nacl.bindings import (
    crypto_secretstream_xchacha20poly1305_init_push as _init_push,
)
from nacl.bindings import (
    crypto_secretstream_xchacha20poly1305_KEYBYTES as KEY_BYTES,
)
from nacl.bindings import (
    crypto_secretstream_xchacha20poly1305_pull as _pull,
)
from nacl.bindings import (
    crypto_secretstream_xchacha20poly1305_push as _push,
)
from nacl.bindings import (
    crypto_secretstream_xchacha20poly1305_state as _StreamState,  # noqa: N812 - the binding's class is lower case
)
from nacl.bindings import (
    crypto_secretstream_xchacha20poly1305_TAG_FINAL as _FINAL,
)
from nacl.bindings import (
    crypto_secretstream_xchacha20poly1305_TAG_MESSAGE as _MESSAGE,
)
from nacl.exceptions import CryptoError
from nacl.utils import random

from braid.ledger.crypto.seal import padme
from braid.ledger.errors import BlobCorruptError, BlobMissingError
from braid.ledger.keys.vault import zero_fill
from braid.wal.durable import make_folder, sync_folder, write_all
from braid.wal.failpoint import failpoint
from braid.wal.regular import open_regular

CHUNK_BYTES: Final = 64 * 1024
_LENGTH_BYTES = 4
CONTENT_BYTES: Final = CHUNK_BYTES - _LENGTH_BYTES
"""What a chunk holds of the content, beside its length."""
_SEALED_CHUNK = CHUNK_BYTES + TAG_BYTES
_NAME = re.compile(r"[0-9a-f]{64}")
_TEMPORARY = ".put-"

BlobState: TypeAlias = Literal["whole", "missing", "wrong size", "wrong digest"]


class Readable(Protocol):
    """Anything that gives bytes, fewer than asked at will, none at its end."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; none at the end."""
        ...


class BlobRef(msgspec.Struct, frozen=True):
    """What a sealed body keeps of a blob: SHA-256 (hex) and size (bytes) of the sealed file, 32-byte key."""

    sha256: str
    size: int
    key: bytes

    def __repr__(self) -> str:
        return f"BlobRef({self.sha256}, {self.size} bytes)"


class BlobStore:
    """The folder of sealed blobs."""

    def __init__(self, folder: Path, *, writable: bool = True) -> None:
        """Open the folder; when `writable` (under the store's lock), make it and clear out dead writes."""
        self._folder = folder.resolve()
        if writable:
            make_folder(self._folder)
            for leftover in self._folder.glob(f"{_TEMPORARY}*"):
                # Sealed under a key that died with its writer: unlinking is enough.
                leftover.unlink(missing_ok=True)

    def put(self, content: bytes | Readable) -> BlobRef:
        """Seal the content under a fresh key and return its reference, once it is durable (SPEC §4.5)."""
        source = BytesIO(content) if isinstance(content, bytes) else content
        key = random(KEY_BYTES)
        temporary = self._folder / f"{_TEMPORARY}{random(8).hex()}"
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            try:
                digest, size = _write_sealed(fd, source, key)
                os.fsync(fd)
            finally:
                os.close(fd)
            # Dying here, or anywhere above: a temporary file that the next writer removes.
            failpoint("blob.written")
            self._move(temporary, self.path(digest))
        except Exception:
            temporary.unlink(missing_ok=True)
            raise
        return BlobRef(digest, size, key)

    def adopt(self, sealed: Path, name: str) -> None:
        """Give a sealed file of this folder its name, durably: a blob of another store, checked and synced."""
        self._move(sealed, self.path(name))

    def open(self, ref: BlobRef) -> Iterator[bytes]:
        """Yield the content in chunks of at most 65,532 bytes, digest and tags checked (SPEC §4.5).

        The digest is checked when the first chunk is asked for: of a file that was truncated, extended,
        reordered or altered nothing is yielded. Raises BlobMissingError, BlobCorruptError.
        """
        try:
            file = os.fdopen(open_regular(self.path(ref.sha256)), "rb")
        except FileNotFoundError:
            raise BlobMissingError(ref.sha256, "there is no such file: erased, or never put") from None
        with closing(file):
            state = _judge(file, ref.sha256, ref.size)
            if state != "whole":
                raise BlobCorruptError(ref.sha256, f"it is not what was sealed: {state}")
            file.seek(0)
            yield from _unseal(file, ref)

    def verify(self, name: str, size: int) -> BlobState:
        """Return whether the sealed file is there and is the one named; needs no key."""
        try:
            with os.fdopen(open_regular(self.path(name)), "rb") as file:
                return _judge(file, name, size)
        except FileNotFoundError:
            return "missing"

    def erase(self, name: str) -> bool:
        """Overwrite and unlink the blob, durably; return whether it was there. Harmless to repeat (SPEC §4.5)."""
        path = self.path(name)
        try:
            fd = open_regular(path, os.O_WRONLY)
        except FileNotFoundError:
            if path.parent.is_dir():
                sync_folder(path.parent)  # the unlink of an erasure that died before its sync
            return False
        try:
            failpoint("blob.wipe")
            zero_fill(fd)
        finally:
            os.close(fd)
        # Dying here: zeros under the blob's name, refused by every read; erasing again unlinks them.
        failpoint("blob.zeroed")
        with _held(path.parent):
            path.unlink()
        failpoint("blob.erased")
        return True

    def path(self, name: str) -> Path:
        """Return where the blob of this name lies; raise ValueError for what is no SHA-256 in hex."""
        if not _NAME.fullmatch(name):
            raise ValueError("a blob's name is 64 lower-case hex digits")
        return self._folder / name[:2] / name[2:]

    def _move(self, temporary: Path, path: Path) -> None:
        make_folder(path.parent)
        with _held(path.parent):
            temporary.rename(path)
            # Dying here, or before a record names it: a sealed blob whose key nobody has.
            failpoint("blob.renamed")


@contextmanager
def _held(folder: Path) -> Generator[None, None, None]:
    """Hold the folder's descriptor across a change of names, then sync it: else its error could go unseen."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield
        os.fsync(fd)
    finally:
        os.close(fd)


def _write_sealed(fd: int, source: Readable, key: bytes) -> tuple[str, int]:
    """Write the sealed stream; return its SHA-256 (hex) and its size in bytes."""
    digest, size = hashlib.sha256(), 0
    for piece in _seal(source, key):
        write_all(fd, piece, "blob.write")
        digest.update(piece)
        size += len(piece)
    return digest.hexdigest(), size


def _seal(source: Readable, key: bytes) -> Iterator[bytes]:
    state = _StreamState()
    yield _init_push(state, key)
    held = next(chunks := _padded(source))
    for chunk in chunks:
        yield _push(state, held, None, _MESSAGE)
        held = chunk
    yield _push(state, held, None, _FINAL)


def _padded(source: Readable) -> Iterator[bytes]:
    """Yield the plain chunks: u32 length ‖ content ‖ zeros, to the Padmé size of the whole (SPEC §4.5)."""
    total = 0
    content, after = _take(source), _take(source)
    while after:
        yield _framed(content, CHUNK_BYTES)
        total += CHUNK_BYTES
        content, after = after, _take(source)
    left = padme(total + _LENGTH_BYTES + len(content)) - total
    yield _framed(content, min(left, CHUNK_BYTES))
    for at in range(CHUNK_BYTES, left, CHUNK_BYTES):
        yield bytes(min(CHUNK_BYTES, left - at))


def _framed(content: bytes, size: int) -> bytes:
    return (
        len(content).to_bytes(_LENGTH_BYTES, "little") + content + bytes(size - _LENGTH_BYTES - len(content))
    )


def _take(source: Readable) -> bytes:
    """Return the next 65,532 bytes, or what is left."""
    parts: list[bytes] = []
    wanted = CONTENT_BYTES
    while wanted and (part := source.read(wanted)):
        parts.append(part)
        wanted -= len(part)
    return b"".join(parts)


def _judge(file: BufferedReader, name: str, size: int) -> BlobState:
    if os.fstat(file.fileno()).st_size != size:
        return "wrong size"
    return "whole" if hashlib.file_digest(file, "sha256").hexdigest() == name else "wrong digest"


def _unseal(file: BufferedReader, ref: BlobRef) -> Iterator[bytes]:
    """Yield the content; the file's digest is known to be right, so what fails here is the key or the sealer."""
    total, exact, ended = 0, 0, False
    for plain in _opened(file, ref):
        if ended and any(plain):
            raise BlobCorruptError(ref.sha256, "its padding is not zero")
        if not ended:
            content = _content(plain, ref)
            ended = len(content) < CONTENT_BYTES
            exact = total + _LENGTH_BYTES + len(content)
            if content:
                yield content
        total += len(plain)
    if total != padme(exact):
        raise BlobCorruptError(ref.sha256, "its padding has the wrong length")


def _opened(file: BufferedReader, ref: BlobRef) -> Iterator[bytes]:
    """Yield the plain chunks, the last of which must be marked as the last, and no other."""
    state = _StreamState()
    try:
        _init_pull(state, file.read(STREAM_HEADER_BYTES), ref.key)
        while True:
            plain, mark = _pull(state, file.read(_SEALED_CHUNK))
            yield plain
            if mark == _FINAL:
                break
    except CryptoError:
        raise BlobCorruptError(ref.sha256, "a chunk does not open under this key") from None
    if file.read(1):
        raise BlobCorruptError(ref.sha256, "bytes follow its last chunk")


def _content(plain: bytes, ref: BlobRef) -> bytes:
    end = _LENGTH_BYTES + int.from_bytes(plain[:_LENGTH_BYTES], "little")
    if end > len(plain) or plain.count(0, end) != len(plain) - end:
        raise BlobCorruptError(ref.sha256, "a chunk's length or padding is wrong")
    return plain[_LENGTH_BYTES:end]
