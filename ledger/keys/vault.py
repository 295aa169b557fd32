"""The vault: the file of the puncturable key, rewritten so that an erasure is real (SPEC §4.3, §4.4).

A change never edits the live file. It writes the new vault beside it, links the live file as `.old`, renames
the new one over it, and wipes `.old`: at every moment the path names a whole vault, and once `puncture` has
returned no file of ours holds a seed above an erased leaf.
"""

import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple

from blake3 import blake3
from nacl.bindings import (
    crypto_aead_xchacha20poly1305_ietf_decrypt as _decrypt,
)
from nacl.bindings import (
    crypto_aead_xchacha20poly1305_ietf_encrypt as _encrypt,
)
from nacl.exceptions import CryptoError
from nacl.pwhash import argon2id
from nacl.utils import random

from braid.ledger.crypto.ggm import DEPTH, SEED_BYTES, Node, PuncturableKey
from braid.ledger.crypto.passphrase import KdfCost, stretch
from braid.ledger.crypto.seal import RecordKey, record_key
from braid.ledger.errors import (
    VaultCorruptError,
    VaultError,
    VaultMissingError,
    VaultPassphraseError,
    VaultStoreMismatchError,
)
from braid.wal.durable import make_folder, write_all
from braid.wal.failpoint import failpoint
from braid.wal.regular import GROWING_BYTES, open_regular

MAGIC: Final = b"BRAIDVLT"
FORMAT: Final = 1
PLAIN, PASSPHRASE = 0, 1
LOOKUP_KEY_BYTES: Final = 32
# magic, format, mode, zero, store id, epoch, payload length, KDF operations, KDF memory in KiB, salt, nonce;
# then the check.
_HEAD = struct.Struct("<8sHHI16sQQII16s24s")
_CHECK_BYTES = 32
HEADER_BYTES: Final = _HEAD.size + _CHECK_BYTES
_PAYLOAD_HEAD = struct.Struct("<32sIIQ")  # lookup key, depth, zero, number of nodes
_NODE = struct.Struct("<Q32s")  # heap number, seed
_TAG_BYTES = 16
_ZEROS = bytes(1 << 20)


class _Lock(NamedTuple):
    """How a vault's payload is protected: the derived key, and what the header says of its derivation."""

    key: bytes
    cost: KdfCost
    salt: bytes

    def __repr__(self) -> str:
        return "_Lock(…)"


class _Header(NamedTuple):
    mode: int
    store_id: str
    epoch: int
    payload_bytes: int
    cost: KdfCost
    salt: bytes
    nonce: bytes


class _State(NamedTuple):
    """One version of the vault, whole."""

    store_id: str
    epoch: int
    lookup_key: bytes
    tree: PuncturableKey
    check: bytes

    def __repr__(self) -> str:
        return f"_State(store_id={self.store_id!r}, epoch={self.epoch})"


class Vault:
    """An open vault: derives record keys, and erases them for ever. Safe to share between threads.

    One writer at a time may puncture: whoever holds the store's lock.
    """

    def __init__(self, path: Path, state: _State, lock: _Lock | None, *, writable: bool) -> None:
        """Not for callers: use `Vault.create` or `Vault.open`."""
        self.path = path
        self._state = state
        self._lock = lock
        self._writable = writable
        # A derivation moves the tree's cached path; two threads in it at once would derive wrong keys.
        self._turn = Lock()

    @classmethod
    def create(
        cls, path: Path, store_id: str, passphrase: str | None = None, *, cost: KdfCost | None = None
    ) -> "Vault":
        """Write a new vault with a fresh root seed and return it open; never replace a file (SPEC §4.3).

        `cost` is for tests. Raises VaultError when there is a file at `path`, ValueError for an empty
        passphrase or a store id that is not 16 ASCII characters.
        """
        path = path.resolve()
        if len(store_id.encode("ascii")) != 16:
            raise ValueError("a store id has 16 characters")
        lock = None if passphrase is None else _new_lock(passphrase, cost or KdfCost())
        tree = PuncturableKey.fresh(random(SEED_BYTES))
        state, raw = _encode(store_id, 0, random(LOOKUP_KEY_BYTES), tree, lock)
        make_folder(path.parent)
        with _Folder(path.parent) as folder:
            if folder.has(path.name):
                raise VaultError(path, "there is a file already; a vault is never overwritten by a new one")
            folder.wipe(f"{path.name}.new")
            folder.write(f"{path.name}.new", raw)
            # Dying here: no vault; creating again wipes `.new` and draws another seed.
            folder.rename(f"{path.name}.new", path.name)
            folder.sync("vault.renamed")
        return cls(path, state, lock, writable=True)

    @classmethod
    def open(
        cls, path: Path, passphrase: str | None = None, *, store_id: str | None = None, writable: bool = True
    ) -> "Vault":
        """Read and check the vault; when `writable`, finish an interrupted change (SPEC §4.3, §4.4).

        `writable`: the caller holds the store's lock. Raises VaultMissingError, VaultCorruptError,
        VaultPassphraseError, and VaultStoreMismatchError when it is not the vault of `store_id`.
        """
        path = path.resolve()
        raw = _read(path)
        header = _check_header(path, raw)
        if store_id is not None and header.store_id != store_id:
            raise VaultStoreMismatchError(path, f"it belongs to store {header.store_id}, not {store_id}")
        lock = _unlock(path, header, passphrase)
        vault = cls(path, _decode(path, raw, header, lock), lock, writable=writable)
        if writable:
            # Only now, with the live file known to be whole, may the others go.
            vault._finish_change()
        return vault

    @property
    def epoch(self) -> int:
        """How many times the vault has been punctured."""
        return self._state.epoch

    @property
    def store_id(self) -> str:
        """The store this vault belongs to."""
        return self._state.store_id

    @property
    def lookup_key(self) -> bytes:
        """32 secret bytes for keyed hashes of external ids."""
        return self._state.lookup_key

    @property
    def node_count(self) -> int:
        """How many subtree roots the vault holds: 1 when nothing was erased; each is 40 bytes of the file."""
        return len(self._state.tree)

    @property
    def kdf(self) -> tuple[KdfCost, bytes] | None:
        """How its passphrase is stretched, cost and salt; None where it has none. Key files share it."""
        return (self._lock.cost, self._lock.salt) if self._lock else None

    @property
    def has_passphrase(self) -> bool:
        """Whether the file is sealed under a passphrase."""
        return self._lock is not None

    def key(self, index: int) -> RecordKey:
        """Return the record key of log index `index`; raise PuncturedError when it was erased (SPEC §4.1)."""
        with self._turn:
            seed = self._state.tree.derive(index)
        return record_key(seed)

    def seed(self, index: int) -> bytes:
        """Return the leaf seed of log index `index`, from which its record key follows: it opens that record alone.

        For exports that show their text to be what was signed. Raises PuncturedError when it was erased.
        """
        with self._turn:
            return self._state.tree.derive(index)

    def keys(self, start: int, count: int) -> list[RecordKey | None]:
        """Return the record keys of `count` indexes from `start`, None for each erased one."""
        with self._turn:
            seeds = self._state.tree.derive_block(start, count)
        return [None if seed is None else record_key(seed) for seed in seeds]

    def is_erased(self, index: int) -> bool:
        """Whether the key of log index `index` was erased."""
        with self._turn:
            return self._state.tree.is_punctured(index)

    def last_erased(self) -> int:
        """Return the highest log index whose key was erased, -1 when none was."""
        with self._turn:
            return self._state.tree.last_punctured()

    def refresh(self) -> bool:
        """Load the file again if another handle changed it, and return whether it had.

        Raises VaultCorruptError when the file went back to an earlier epoch.
        """
        with self._turn:
            return self._reload()

    def puncture(self, indexes: Iterable[int]) -> int:
        """Erase the keys of `indexes` and return the new epoch once no file of the vault leads to them (SPEC §4.4).

        Costs a rewrite of the file: pass all indexes at once. Raises OSError with the old vault in place and
        whole when there is no room for the new one; ValueError for an index outside the tree; VaultError when
        not writable. An OSError with `epoch` already raised means: erased, but `.old` is still to be wiped by
        the next change or open.
        """
        if not self._writable:
            raise VaultError(self.path, "it is open read-only")
        with self._turn:
            self._reload()  # another writer's erasures must survive this one
            self._finish_change()
            now = self._state
            tree = now.tree.copy()
            tree.puncture(indexes)
            state, raw = _encode(now.store_id, now.epoch + 1, now.lookup_key, tree, self._lock)
            self._replace(state, raw)
            return state.epoch

    def _replace(self, state: _State, raw: bytes) -> None:
        live, new, old = self._names()
        with _Folder(self.path.parent) as folder:
            try:
                folder.write(new, raw)
                # Dying here: the old vault is live; opening wipes `.new`, whose keys may yet be erased.
                folder.link(live, old)
                # Dying here: the old vault is live under two names; opening unlinks `.old`, unwiped.
                folder.rename(new, live)
            except OSError:
                with suppress(OSError):  # what can't be undone now, the next change or open undoes
                    self._finish_change()
                raise
            self._state = state
            # Dying here: the new vault is live, or the old one again, under two names as before the rename.
            folder.sync("vault.renamed")
            # Dying here: the new vault is live; opening wipes `.old`.
            folder.wipe(old)

    def _names(self) -> tuple[str, str, str]:
        return self.path.name, f"{self.path.name}.new", f"{self.path.name}.old"

    def _reload(self) -> bool:
        if _read(self.path, HEADER_BYTES)[_HEAD.size :] == self._state.check:
            return False
        raw = _read(self.path)
        header = _check_header(self.path, raw)
        if header.store_id != self.store_id:
            raise VaultStoreMismatchError(
                self.path, f"it belongs to store {header.store_id}, not {self.store_id}"
            )
        if header.epoch < self.epoch:
            raise VaultCorruptError(
                self.path,
                f"it went back from epoch {self.epoch} to {header.epoch}, and would bring erased keys back",
            )
        if header.salt != (self._lock.salt if self._lock else bytes(argon2id.SALTBYTES)):
            raise VaultPassphraseError(
                self.path, "its protection was changed by another handle: open it again"
            )
        self._state = _decode(self.path, raw, header, self._lock)
        return True

    def _finish_change(self) -> None:
        """Remove what an interrupted change left beside the live vault (SPEC §4.4)."""
        live, new, old = self._names()
        with _Folder(self.path.parent) as folder:
            folder.wipe(new, live)
            folder.wipe(old, live)


class _Folder:
    """The vault's folder, its descriptor held across all steps: else the error of a sync could go unseen."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> "_Folder":
        self._fd = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    def has(self, name: str) -> bool:
        return self._stat(name) is not None

    def write(self, name: str, raw: bytes) -> None:
        """Write a file of mode 0600 that must not exist, durable but for its name."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(name, flags, 0o600, dir_fd=self._fd)
        try:
            write_all(fd, raw, "vault.write")
            os.fsync(fd)
        finally:
            os.close(fd)
        failpoint("vault.new-written")

    def link(self, name: str, other: str) -> None:
        """Give `name` the second name `other`, durably: else the rename would free the old blocks unwiped."""
        failpoint("vault.link")
        os.link(name, other, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        self.sync("vault.linked")

    def rename(self, name: str, live: str) -> None:
        """Move `name` over `live`; durable only after `sync`."""
        failpoint("vault.rename")
        os.rename(name, live, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def sync(self, step: str) -> None:
        """Return once the folder's names are on disk."""
        failpoint(step)
        os.fsync(self._fd)
        failpoint(f"{step}.done")

    def wipe(self, name: str, live: str | None = None) -> None:
        """Overwrite a file with zeros and unlink it, each durably; harmless when there is none.

        A file that is only a second name of `live` is unlinked and left as it is.
        """
        found = self._stat(name)
        if found is None:
            return
        living = None if live is None else self._stat(live)
        if living is None or not os.path.samestat(found, living):
            failpoint("vault.wipe")
            fd = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self._fd)
            try:
                zero_fill(fd)
            finally:
                os.close(fd)
            failpoint("vault.old-zeroed")
            # Dying here: a file of zeros is left; opening overwrites it again and unlinks it.
        os.unlink(name, dir_fd=self._fd)
        self.sync("vault.old-wiped")

    def _stat(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(name, dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return None


def zero_fill(fd: int) -> None:
    """Overwrite a file with zeros from its first byte to its last and sync it.

    What a file system or an SSD keeps beneath (copies on write, worn cells) is out of a program's reach.
    """
    os.lseek(fd, 0, os.SEEK_SET)
    left = os.fstat(fd).st_size
    while left:
        left -= os.write(fd, _ZEROS[: min(left, len(_ZEROS))])
    os.fsync(fd)


def _read(path: Path, limit: int = -1) -> bytes:
    """Return the live file's first `limit` bytes, or all of it."""
    while True:
        try:
            with os.fdopen(open_regular(path), "rb") as file:
                if os.fstat(file.fileno()).st_size > GROWING_BYTES:
                    raise VaultCorruptError(path, f"it has more than {GROWING_BYTES} bytes, as no vault has")
                raw = file.read(limit)
                if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    return raw
        except FileNotFoundError:
            raise VaultMissingError(path, "there is no such file; without it no record can be read") from None
        # A writer put a new vault in its place, and may have wiped what was being read: read the new one.


def read_whole(path: Path) -> tuple[bytes, int]:
    """Return the bytes of a vault's file, sealed as they are, and its epoch; VaultError for a damaged one."""
    raw = _read(path.resolve())  # it may lie elsewhere
    return raw, _check_header(path, raw).epoch


def _new_lock(passphrase: str, cost: KdfCost) -> _Lock:
    salt = random(argon2id.SALTBYTES)
    return _Lock(stretch(passphrase, cost, salt), cost, salt)


def _unlock(path: Path, header: _Header, passphrase: str | None) -> _Lock | None:
    if header.mode == PLAIN:
        if passphrase is not None:
            raise VaultPassphraseError(path, "it has no passphrase, yet one was given")
        return None
    if passphrase is None:
        raise VaultPassphraseError(path, "it needs a passphrase")
    return _Lock(stretch(passphrase, header.cost, header.salt), header.cost, header.salt)


def _encode(
    store_id: str, epoch: int, lookup_key: bytes, tree: PuncturableKey, lock: _Lock | None
) -> tuple[_State, bytes]:
    """Return a version of the vault, as a value and as the bytes of its file (SPEC §4.3)."""
    payload = b"".join(
        [
            _PAYLOAD_HEAD.pack(lookup_key, tree.depth, 0, len(tree)),
            *(_NODE.pack(1 << node.depth | node.prefix, node.seed) for node in tree.nodes()),
        ]
    )
    mode, size, cost, salt, nonce = PLAIN, len(payload), KdfCost(0, 0), bytes(argon2id.SALTBYTES), bytes(24)
    if lock is not None:
        mode, size, cost, salt, nonce = PASSPHRASE, size + _TAG_BYTES, lock.cost, lock.salt, random(24)
    head = _HEAD.pack(MAGIC, FORMAT, mode, 0, store_id.encode("ascii"), epoch, size, *cost, salt, nonce)
    if lock is not None:
        payload = _encrypt(payload, head, nonce, lock.key)
    check = _check(head, payload)
    return _State(store_id, epoch, lookup_key, tree, check), head + check + payload


def _check(head: bytes, payload: bytes) -> bytes:
    hasher = blake3(head)
    hasher.update(payload)
    return hasher.digest()


def _check_header(path: Path, raw: bytes) -> _Header:
    """Return the header once the whole file agrees with its check; raise VaultCorruptError (SPEC §4.3)."""
    if len(raw) < HEADER_BYTES:
        raise VaultCorruptError(path, f"it is cut short: {len(raw)} bytes of a header of {HEADER_BYTES}")
    head, check, payload = raw[: _HEAD.size], raw[_HEAD.size : HEADER_BYTES], raw[HEADER_BYTES:]
    magic, version, mode, zero, store_id, epoch, size, operations, memory, salt, nonce = _HEAD.unpack(head)
    if magic != MAGIC:
        raise VaultCorruptError(path, "it does not begin like a vault")
    if version != FORMAT:
        raise VaultCorruptError(path, f"its format {version} is unknown to this release (it knows {FORMAT})")
    if _check(head, payload) != check:
        raise VaultCorruptError(
            path, "its bytes are not what was written; restore it from a backup of the same epoch"
        )
    header = _Header(
        mode, store_id.decode("ascii", "replace"), epoch, size, KdfCost(operations, memory), salt, nonce
    )
    # From here on only a writer that is not ours could have written it.
    if zero or size != len(payload) or not store_id.isascii() or not _protection_is_sound(header):
        raise VaultCorruptError(path, "its header contradicts itself")
    return header


def _protection_is_sound(header: _Header) -> bool:
    if header.mode == PLAIN:
        return header.cost == (0, 0) and not any(header.salt) and not any(header.nonce)
    return header.mode == PASSPHRASE and header.cost.sound


def _decode(path: Path, raw: bytes, header: _Header, lock: _Lock | None) -> _State:
    payload = raw[HEADER_BYTES:]
    if lock is not None:
        try:
            payload = _decrypt(payload, raw[: _HEAD.size], header.nonce, lock.key)
        except CryptoError:
            raise VaultPassphraseError(path, "the passphrase is wrong") from None
    lookup_key, tree = _decode_payload(path, payload)
    return _State(header.store_id, header.epoch, lookup_key, tree, raw[_HEAD.size : HEADER_BYTES])


def _decode_payload(path: Path, payload: bytes) -> tuple[bytes, PuncturableKey]:
    try:
        lookup_key, depth, zero, count = _PAYLOAD_HEAD.unpack_from(payload)
        rows = list(_NODE.iter_unpack(payload[_PAYLOAD_HEAD.size :]))
        if depth != DEPTH or zero or len(rows) != count:
            raise VaultCorruptError(path, "its payload contradicts itself")
        return lookup_key, PuncturableKey((_node(number, seed) for number, seed in rows), depth)
    except (struct.error, ValueError) as error:
        raise VaultCorruptError(path, f"its payload contradicts itself: {error}") from None


def _node(number: int, seed: bytes) -> Node:
    depth = number.bit_length() - 1
    return Node(depth, number ^ (1 << depth) if number else 0, seed)
