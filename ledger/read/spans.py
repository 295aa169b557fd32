"""Files that keep what was read of spans of 4,096 records, so that nobody reads them twice (SPEC §9.6).

Each carries a MAC under a key of the vault, over the hash of the very records that it was made from: what is believed
has nothing missing and nothing put in. Whoever can read the vault can forge one.
"""

import os
import shutil
import struct
from collections.abc import Sequence
from contextlib import suppress
from hmac import compare_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from blake3 import blake3

from braid.ledger.errors import TileError
from braid.ledger.tree.merkle import range_root
from braid.wal.durable import make_folder, write_all
from braid.wal.regular import GROWING_BYTES, open_regular, read_regular

if TYPE_CHECKING:
    from braid.ledger.read.reader import Reader

SPAN_BITS: Final = 12
"""A span is 4,096 records: a subtree of the log's tree, whose hash never changes once it is whole."""
FOLDER: Final = "views/lineage"
CONTEXT: Final = "braid/v1/lineage"
_HEAD: Final = struct.Struct("<8sQI")
"""Magic, number of the span, how many of its records were read; then the rows of each table, and the hash."""
_MAC_BYTES: Final = 32


class SpanContents(NamedTuple):
    """What a file holds: of so many records of the span, from its first on, these tables."""

    records: int
    tables: list[Any]


class Spans:
    """The files of one kind. Without a vault, or where nothing can be written, there are none."""

    def __init__(self, reader: "Reader", magic: bytes, tables: Sequence[Any], suffix: str = "") -> None:
        """`tables`: the numpy dtype of each table."""
        self._reader = reader
        self._magic = magic
        self._tables = tables
        self._sizes = struct.Struct(f"<{len(tables)}I32s")
        self._suffix = suffix
        self._folder = reader.path / FOLDER
        lookup_key = reader.vault.lookup_key if reader.vault else None
        # Derived, not hashed: hashes under the lookup key are of texts that anybody may choose.
        self._key = None if lookup_key is None else blake3(lookup_key, derive_key_context=CONTEXT).digest()

    def read(self, n: int) -> SpanContents | None:
        """Return what is kept of a span; None where it is nothing that this vault's holder made of these records."""
        if self._key is None or n << SPAN_BITS >= self._reader.size:
            return None
        try:
            data = read_regular(self.path(n), GROWING_BYTES)
            return self._believed(n, data)
        except (OSError, TileError):  # a tile that is damaged is told by whoever needs it
            return None

    def _believed(self, n: int, data: bytes) -> SpanContents | None:
        import numpy as np  # noqa: PLC0415 - most logs have no span that is whole, and its import takes .05 s

        if self._key is None:
            return None
        body, mac = data[:-_MAC_BYTES], data[-_MAC_BYTES:]
        start = _HEAD.size + self._sizes.size
        if len(body) < start or not compare_digest(blake3(body, key=self._key).digest(), mac):
            return None
        magic, number, records = _HEAD.unpack_from(body)
        *rows, root = self._sizes.unpack_from(body, _HEAD.size)
        if (magic, number) != (self._magic, n) or root != self._root(n, records):
            return None
        tables: list[Any] = []
        for dtype, count in zip(self._tables, rows, strict=True):
            tables.append(np.frombuffer(body, dtype, count, start))
            start += count * dtype.itemsize
        return SpanContents(records, tables)

    def write(self, n: int, kept: SpanContents) -> None:
        """Keep what was read of a span. Nothing is lost where that fails: it only saves time."""
        if self._key is None:
            return
        if not (self._reader.path / "reserve").exists():
            return  # an erasure is at work on a full disk: what room is left is for its steps (SPEC §9.4)
        try:
            root = self._root(n, kept.records)
        except (OSError, TileError):
            return
        head = _HEAD.pack(self._magic, n, kept.records)
        sizes = self._sizes.pack(*map(len, kept.tables), root)
        body = b"".join((head, sizes, *(table.tobytes() for table in kept.tables)))
        path = self.path(n)
        fresh = path.with_name(f".{path.name}.new")  # what two write into each other has no valid MAC
        try:
            make_folder(self._folder)
            fd = open_regular(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            try:
                write_all(fd, body + blake3(body, key=self._key).digest(), "lineage.write")
            finally:
                os.close(fd)
            # Not synced: what a crash leaves half-written has no valid MAC, and is made again.
            fresh.replace(path)
        except OSError:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)

    def drop(self, n: int) -> bool:
        """Remove the file of a span; return whether there was one."""
        path = self.path(n)
        if not path.exists() and not path.is_symlink():
            return False
        if path.is_dir() and not path.is_symlink():  # somebody's obstacle: nothing that is kept
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        return True

    def drop_unfinished(self) -> None:
        """Remove what a crash has left of files that were being written."""
        for path in self._folder.glob(f".*{self._suffix}.new"):
            path.unlink(missing_ok=True)

    def path(self, n: int) -> Path:
        """Return the file of a span."""
        return self._folder / f"{n:08d}{self._suffix}"

    def _root(self, n: int, records: int) -> bytes:
        """Return the hash of the first `records` of a span; empty where the log does not hold them."""
        first = n << SPAN_BITS
        if not 0 < records <= 1 << SPAN_BITS or first + records > self._reader.size:
            return b""
        return range_root(first, first + records, self._reader.subtree)
