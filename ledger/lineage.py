"""Lineage: which records of a span rest on which, kept so that an erasure reads no envelope twice (SPEC §9.6).

What is kept only says where to look: each record is then read from the log, verified. It may be believed that nothing
is missing, because it carries a MAC under a key of the vault, over the hash of the very records that it was made from.
"""

import os
import struct
from array import array
from collections.abc import Generator, Iterator
from contextlib import suppress
from heapq import heapify, heappop, heappush
from hmac import compare_digest
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from blake3 import blake3

from braid.ledger.envelope import DERIVATION_ROLES, Envelope, Link
from braid.ledger.reader import Reader
from braid.wal.durable import make_folder, write_all

SPAN_BITS: Final = 12
"""A span is 4,096 records: a subtree of the log's tree, whose hash never changes once it is whole."""
FOLDER: Final = "views/lineage"
CONTEXT: Final = "braid/v1/lineage"
MOST_EDGES: Final = 1 << 20
"""Of one kind; a span with more is read from the log each time."""
DENSE: Final = 256
"""From so many hits in a span on, reading it through is sooner done than reading them one by one."""
What = Literal["support", "blob"]
_MAGIC: Final = b"BRAIDLN1"
_HEAD: Final = struct.Struct(
    "<8sQII32s"
)  # magic, number of the span, edges of each kind, hash of its records
_EDGE: Final = np.dtype([("child", "<u2"), ("target", "<u8")])
_MAC_BYTES: Final = 32
_Found = tuple[Envelope, list[Link]]


class Edges(NamedTuple):
    """What the records of a span name, by kind, in log order: `child` counts from the span's first record."""

    support: Any
    """Structured array; `target` is the log index of what a derivation link leads to."""
    blob: Any
    """Structured array; `target` is the number of a blob's name (`number_of`)."""


class _Gathered:
    """The edges of a span while it is read."""

    def __init__(self) -> None:
        self._columns = {what: (array("H"), array("Q")) for what in Edges._fields}

    def add(self, envelope: Envelope, links: list[Link]) -> None:
        child = envelope.index & ((1 << SPAN_BITS) - 1)
        supports = [link.index for link in links if link.role in DERIVATION_ROLES]
        for what, targets in (
            ("support", supports),
            ("blob", [number_of(name) for name, _ in envelope.blobs]),
        ):
            children, all_ = self._columns[what]
            if len(all_) <= MOST_EDGES:  # what is beyond is not kept anyway: no memory for it
                children.extend([child] * len(targets))
                all_.extend(targets)

    def edges(self) -> Edges | None:
        """Return them; None where they are too many to be kept."""
        tables: list[Any] = []
        for children, targets in self._columns.values():
            if len(targets) > MOST_EDGES:
                return None
            table = np.empty(len(targets), _EDGE)
            table["child"], table["target"] = children, targets
            tables.append(table)
        return Edges(*tables)


def number_of(blob: str) -> int:
    """Return 64 bits for a blob's name, whatever text a writer has put there: one that is no digest must not hinder
    an erasure.
    """
    return int.from_bytes(blake3(blob.encode()).digest(8), "little")


def _naming(table: Any, wanted: set[int]) -> list[int]:
    """Return the children that name one of `wanted`, once each."""
    targets = table["target"]
    if len(wanted) < len(targets):
        named = np.isin(targets, np.fromiter(wanted, np.uint64, len(wanted)))
    else:  # each span costs by its edges, however much is erased
        named = np.fromiter(map(wanted.__contains__, targets.tolist()), np.bool_, len(targets))
    children: list[int] = np.unique(table["child"][named]).tolist()
    return children


class Lineage:
    """The kept lineage of one log. Without a vault, or where nothing can be written, the log is read instead."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._folder = reader.path / FOLDER
        lookup_key = reader.vault.lookup_key if reader.vault else None
        # Derived, not hashed: the catalogue's hashes under the lookup key are of texts that anybody may choose.
        self._key = None if lookup_key is None else blake3(lookup_key, derive_key_context=CONTEXT).digest()

    def naming(self, what: What, wanted: set[int], start: int = 0) -> Iterator[_Found]:
        """Yield, in log order and verified, every record from `start` on that may name one of `wanted`: with its links.

        Others may be among them. `wanted` may grow by the index of the record that was just yielded: those that rest on
        it are found too.
        """
        n, stop = start >> SPAN_BITS, self._reader.size
        while n << SPAN_BITS < stop:
            table, rest, end = self._few(n, what, wanted), start, n + 1
            if table is not None:
                rest = yield from self._one_by_one(n, table, wanted, grows=what == "support")
            if rest >> SPAN_BITS < end:
                while end << SPAN_BITS < stop and (
                    self._goes_on(end) or self._few(end, what, wanted) is None
                ):
                    end += 1
                yield from self._through(n, min(end << SPAN_BITS, stop), rest)
            n = end

    def _goes_on(self, n: int) -> bool:
        """Whether a span begins within a transaction that fills the one before: the frame is in hand, and read once."""
        return self._reader.envelope(n << SPAN_BITS).tx[1] >= 1 << SPAN_BITS

    def _few(self, n: int, what: What, wanted: set[int]) -> Any:
        """Return the edges of a span, where few of them lead to `wanted`; None where it is sooner read through."""
        edges = self.at(n)
        if edges is None:
            return None
        table = getattr(edges, what)
        return None if len(_naming(table, wanted)) > DENSE else table

    def _one_by_one(
        self, n: int, table: Any, wanted: set[int], *, grows: bool
    ) -> Generator[_Found, None, int]:
        """Yield what the edges lead to; return the index from which on the span is sooner read through, or its end."""
        first, last, left = n << SPAN_BITS, -1, DENSE
        children = _naming(table, wanted)
        heapify(children)
        while children:
            child = heappop(children)
            if child == last:
                continue
            last, index = child, first + child
            if not left:  # a long chain within the span
                return index
            left -= 1
            yield self._reader.envelope(index), self._reader.links(index)
            if grows and index in wanted:
                for later in table["child"][table["target"] == index].tolist():
                    heappush(children, later)
        return first + (1 << SPAN_BITS)

    def _through(self, n: int, stop: int, start: int) -> Iterator[_Found]:
        """Read the envelopes from span `n` to `stop`, and keep the lineage of each whole span."""
        gathered = _Gathered()
        for envelope, links in self._reader.envelopes(n << SPAN_BITS, stop, members=("links", "blobs")):
            while envelope.index >> SPAN_BITS > n:
                self._keep(n, gathered)
                n, gathered = n + 1, _Gathered()
            gathered.add(envelope, links)
            if envelope.index >= start:
                yield envelope, links
        while (n + 1) << SPAN_BITS <= stop:
            self._keep(n, gathered)
            n, gathered = n + 1, _Gathered()

    # -- files -------------------------------------------------------------------------------------

    def at(self, n: int) -> Edges | None:
        """Return what is kept of a span; None where it is nothing that this vault's holder made of these records."""
        if self._key is None or (n + 1) << SPAN_BITS > self._reader.size:
            return None
        try:
            data = self._path(n).read_bytes()
        except OSError:
            return None
        body, mac = data[:-_MAC_BYTES], data[-_MAC_BYTES:]
        if len(body) < _HEAD.size or not compare_digest(blake3(body, key=self._key).digest(), mac):
            return None
        magic, number, supports, blobs, root = _HEAD.unpack_from(body)
        if (magic, number, root) != (_MAGIC, n, self._reader.subtree(SPAN_BITS, n)):
            return None
        middle = _HEAD.size + supports * _EDGE.itemsize
        return Edges(
            np.frombuffer(body, _EDGE, supports, _HEAD.size), np.frombuffer(body, _EDGE, blobs, middle)
        )

    def _keep(self, n: int, gathered: _Gathered) -> None:
        """Write down what the envelopes of a whole span name. Nothing is lost where that fails: it only saves time."""
        edges = gathered.edges()
        if self._key is None or edges is None:
            return
        if not (self._reader.path / "reserve").exists():
            return  # an erasure is at work on a full disk: what room is left is for its steps (SPEC §9.4)
        sizes = (len(edges.support), len(edges.blob))
        head = _HEAD.pack(_MAGIC, n, *sizes, self._reader.subtree(SPAN_BITS, n))
        body = head + edges.support.tobytes() + edges.blob.tobytes()
        path = self._path(n)
        fresh = path.with_name(f".{path.name}.new")  # two that write it at once write the same bytes
        try:
            make_folder(self._folder)
            fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                write_all(fd, body + blake3(body, key=self._key).digest(), "lineage.write")
            finally:
                os.close(fd)
            # Not synced: what a crash leaves half-written has no valid MAC, and is made again.
            fresh.replace(path)
        except OSError:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)

    def _path(self, n: int) -> Path:
        return self._folder / f"{n:08d}"
