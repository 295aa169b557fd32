"""Vectors that a remote model gave, kept so that a rebuild asks it nothing again (SPEC §10.10).

Each is sealed under a key that follows from its record's own row key, and found by a hash of model and text under
another: once the record is erased, no copy of this file can be opened, nor a guess be tested against it. Its entries
are removed all the same. Two records that say the same are two entries: a shared one would outlive one of them.
"""

import os
import sqlite3
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from blake3 import blake3
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_decrypt as _decrypt
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt as _encrypt
from nacl.exceptions import CryptoError

from braid.views.embedder import Vectors
from braid.wal.durable import sync_folder

_NONCE_BYTES: Final = 24
_BUSY_S: Final = 30.0
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS vectors (name BLOB PRIMARY KEY, log_index INTEGER NOT NULL, sealed BLOB NOT NULL)"
    " WITHOUT ROWID"
)


class CacheKey(NamedTuple):
    """A text whose vector is looked for or kept: its record, that record's row key, and the model's full name."""

    record: int
    row_key: bytes
    model: str
    text: str


class Cache:
    """The file of sealed vectors. A damaged one is begun again: what it held can be asked for again."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        con = self._connect()
        try:
            con.execute(_TABLE)
        except sqlite3.DatabaseError:
            con.close()
            self.drop()
            con = self._connect()
            con.execute(_TABLE)
        with closing(con):
            yield con

    def _connect(self) -> sqlite3.Connection:
        if not self.path.exists():
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        con = sqlite3.connect(self.path, timeout=_BUSY_S, isolation_level=None)
        con.execute("PRAGMA secure_delete = ON")
        return con

    def get(self, wanted: Sequence[CacheKey], dimensions: int) -> dict[int, Vectors]:
        """Return the vectors that are here, by log index."""
        if not wanted or not self.path.exists():
            return {}
        found: dict[int, Vectors] = {}
        try:
            with self._open() as con:
                for one in wanted:
                    name, key = _keys(one)
                    row = con.execute("SELECT sealed FROM vectors WHERE name = ?", [name]).fetchone()
                    vector = None if row is None else _unsealed(row[0], key, dimensions)
                    if vector is not None:
                        found[one.record] = vector
        except sqlite3.DatabaseError:
            self.drop()
        return found

    def put(self, vectors: Mapping[CacheKey, Vectors]) -> None:
        """Keep vectors, durably."""
        if not vectors:
            return
        rows: list[tuple[bytes, int, bytes]] = []
        for one, vector in vectors.items():
            name, key = _keys(one)
            nonce = os.urandom(_NONCE_BYTES)
            rows.append((name, one.record, nonce + _encrypt(vector.astype("<f4").tobytes(), b"", nonce, key)))
        with self._open() as con:
            con.execute("BEGIN IMMEDIATE")
            con.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            con.execute("COMMIT")

    def shed(self, gone: Iterable[int]) -> None:
        """Keep all but the entries of these records, in a fresh file: pages of the old one may hold what is gone."""
        if not self.path.exists():
            return
        fresh = self.path.with_name(f"fresh-{self.path.name}")
        try:
            with self._open() as con:
                con.execute("CREATE TEMP TABLE gone (log_index INTEGER PRIMARY KEY)")
                con.executemany("INSERT OR IGNORE INTO gone VALUES (?)", [(index,) for index in gone])
                con.execute("DELETE FROM vectors WHERE log_index IN (SELECT log_index FROM gone)")
                fresh.unlink(missing_ok=True)
                con.execute("VACUUM INTO ?", [str(fresh)])
        except sqlite3.DatabaseError:
            self.drop()
            return
        fresh.chmod(0o600)
        fresh.replace(self.path)
        sync_folder(self.path.parent)

    def drop(self) -> None:
        """Remove the file and what SQLite keeps beside it."""
        for name in (f"fresh-{self.path.name}", f"{self.path.name}-journal", self.path.name):
            self.path.with_name(name).unlink(missing_ok=True)

    def __len__(self) -> int:
        if not self.path.exists():
            return 0
        with self._open() as con:
            return int(con.execute("SELECT count(*) FROM vectors").fetchone()[0])


def _keys(one: CacheKey) -> tuple[bytes, bytes]:
    """Return the name of an entry and the key that seals it."""
    own = blake3(b"braid/v1/vector", key=one.row_key).digest(64)
    model = one.model.encode()
    said = len(model).to_bytes(8, "big") + model + one.text.encode("utf-8", "surrogatepass")
    return blake3(said, key=own[:32]).digest(), blake3(b"seal" + said, key=own[32:]).digest()


def _unsealed(sealed: bytes, key: bytes, dimensions: int) -> Vectors | None:
    try:
        raw = _decrypt(sealed[_NONCE_BYTES:], b"", sealed[:_NONCE_BYTES], key)
    except (CryptoError, ValueError, TypeError):
        return None
    return np.frombuffer(raw, dtype="<f4").astype(np.float32) if len(raw) == 4 * dimensions else None
