"""Which record has an idempotency key, or a content hash, and which is the newest of a scope (SPEC §8.2, §4.8, §10.8).

Both are said in sealed bodies. What was read of a span is kept as keyed hashes under a MAC, bound to the hash of its
records: a row that somebody deletes can't let a key append twice. The open span is kept too, as far as it was read, so
that a process that begins reads little. Erased records have no key: their hashes go with the erasure.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import msgspec
import numpy as np
from blake3 import blake3

from braid.ledger.errors import ErasedError, IntegrityError
from braid.ledger.read import spans
from braid.ledger.read.scopechain import Last, ScopeKey, chain_of
from braid.ledger.read.spans import SpanContents, Spans
from braid.ledger.record.record import content_key, keys_of

if TYPE_CHECKING:
    from braid.ledger.read.reader import LogEntry, Reader

MAGIC: Final = b"BRAIDKY1"
SUFFIX: Final = ".keys"
_HASH_BYTES: Final = 8
_KEY: Final = np.dtype([("child", "<u2"), ("hash", "<u8")])
_SCOPE: Final = np.dtype([("child", "<u2"), ("hash", "<u8"), ("count", "<u8")])
_LEAST_KEPT: Final = 64
"""So many records of the open span have to be new before it is kept again."""
_MOST_RUNS: Final = 16
_SIDES: Final[tuple[Literal["left", "right"], ...]] = ("left", "right")


class _Named(msgspec.Struct):
    once: str | None = None
    content_hash: str | None = None


_decode_named = msgspec.json.Decoder(_Named).decode


def key_hash(lookup_key: bytes, text: str) -> int:
    """Return what stands for a key in a file: 64 bits that only the vault's holder can compute."""
    said = text.encode(errors="surrogatepass")  # half a character is in no log, so it is not found
    return int.from_bytes(blake3(said, key=lookup_key).digest(_HASH_BYTES), "little")


def scope_hash(lookup_key: bytes, scope: ScopeKey) -> int:
    """Return what stands for a scope in a file."""
    return key_hash(lookup_key, f"\0scope\0{scope[0]}\0{scope[1]}")


def _keys_in(raw: bytes | None) -> list[str]:
    """Return the keys in a body; none without a body, or for a body that is no object."""
    if raw is None or not (b'"once"' in raw or b'"content_hash"' in raw):
        return []
    try:
        named = _decode_named(raw)
    except msgspec.MsgspecError:
        return []
    return keys_of(named.once, named.content_hash)


class _Run(NamedTuple):
    """Rows of whole spans, sorted by their hash: of keys (hash, index), of scopes (hash, index, count)."""

    keys: tuple[Any, ...]
    scopes: tuple[Any, ...]


class KeyIndex:
    """The keys and scopes of one log, up to its end. Safe to share between threads. Needs a vault."""

    def __init__(self, reader: "Reader") -> None:
        self._reader = reader
        self._lookup_key = reader.need_vault().lookup_key
        self._spans = Spans(reader, MAGIC, (_KEY, _SCOPE), SUFFIX)
        self._lock = RLock()
        self._runs: list[_Run] = []
        self._followed = 0
        """How many records are known."""
        self._kept = 0
        """Up to where the open span is kept."""
        self._keys: list[tuple[int, int]] = []
        """(child, hash) of the open span, in log order."""
        self._scopes: list[tuple[int, int, int]] = []
        """(child, hash, count) of the open span."""
        self._open_keys: dict[int, list[int]] = {}
        self._open_scopes: dict[int, list[Last]] = {}

    def find(self, keys: Sequence[str]) -> dict[str, int]:
        """Return the index of each key that a record in the log has, up to its present end; an erased one has none."""
        erased, found = self._reader.control.erased, dict[str, int]()
        with self._reader.append_turn(), self._lock:
            self._follow()
            for key in keys:
                if (first := next(self._of(key, erased), None)) is not None:
                    found[key] = first
        return found

    def find_alike(self, content_hash: str) -> list[int]:
        """Return the indexes of the records that have a content hash, in log order, without the erased."""
        with self._reader.append_turn(), self._lock:
            self._follow()
            return list(self._of(content_key(content_hash), self._reader.control.erased))

    def _of(self, key: str, erased: Collection[int]) -> Iterator[int]:
        hash_ = key_hash(self._lookup_key, key)
        held = (row[0] for run in self._runs for row in _rows(run.keys, hash_))
        return (at for at in chain(held, self._open_keys.get(hash_, ())) if at not in erased)

    def last_of(self, scopes: Collection[ScopeKey]) -> dict[ScopeKey, Last]:
        """Return the newest living record of each scope, up to the log's present end (SPEC §4.8)."""
        erased, found = self._reader.control.erased, dict[ScopeKey, Last]()
        with self._reader.append_turn(), self._lock:
            self._follow()
            for scope in scopes:
                hash_ = scope_hash(self._lookup_key, scope)
                rows = (row for run in reversed(self._runs) for row in _rows(run.scopes, hash_, newest=True))
                held = (Last(count, at) for at, count in rows)
                newest = chain(reversed(self._open_scopes.get(hash_, ())), held)
                if (last := next((one for one in newest if one.at not in erased), None)) is not None:
                    found[scope] = last
        return found

    def note(
        self,
        first: int,
        count: int,
        keys: Iterable[tuple[str, int]],
        scopes: Mapping[ScopeKey, Sequence[Last]],
    ) -> None:
        """Remember what `count` records from `first` on, just appended here, brought, so that none is read again."""
        with self._lock:
            if self._followed != first:
                return  # they are read when somebody asks
            brought: dict[int, tuple[list[int], list[tuple[int, int]]]] = {}
            for key, at in keys:
                brought.setdefault(at, ([], []))[0].append(key_hash(self._lookup_key, key))
            for scope, several in scopes.items():
                hash_ = scope_hash(self._lookup_key, scope)
                for one in several:
                    brought.setdefault(one.at, ([], []))[1].append((hash_, one.number))
            for at in sorted(brought):
                self._add(at, *brought[at])
            self._advance(first + count)

    def take(self, entries: Iterable["LogEntry"]) -> None:
        """Take in records that somebody else has read, in log order, where they are those that are missing next."""
        with self._lock:
            for entry in entries:
                if entry.record.index == self._followed:
                    self._read(entry.record.index, entry.record.raw)

    def close(self) -> None:
        """Keep what is known of the open span."""
        with self._lock:
            self._keep()

    def _keep(self) -> None:
        if self._followed - self._kept >= _LEAST_KEPT:
            self._write(self._followed >> spans.SPAN_BITS, self._followed, self._tables())

    def purge(self) -> list[str]:
        """Write the files of spans that name an erased record again, without it; return their names."""
        erased, names = self._reader.control.erased, list[str]()
        self._spans.drop_unfinished()
        for n in sorted({index >> spans.SPAN_BITS for index in list(erased)}):
            kept = self._spans.read(n)
            if kept is None:
                names += [self._spans.path(n).name] if self._spans.drop(n) else []
                continue
            left = _without(kept, n, erased)
            if left is not kept:
                self._spans.drop(n)  # where there is no room for another, it is gone
                self._spans.write(n, left)
                names.append(self._spans.path(n).name)
        return names

    # -- following ---------------------------------------------------------------------------------

    def _follow(self) -> None:
        """Know the log up to its end: by what is kept of it, and by reading the rest."""
        size = self._reader.size
        while self._followed < size:
            n = self._followed >> spans.SPAN_BITS
            kept = self._spans.read(n) if self._followed == n << spans.SPAN_BITS else None
            if kept is not None:
                self._take_kept(n, kept)
                continue
            self._read_on(min((n + 1) << spans.SPAN_BITS, size))
            self._keep()  # a handle that shares the store may not write when it closes
        if len(self._runs) > _MOST_RUNS:
            self._runs = [_merged(self._runs)]

    def _read_on(self, stop: int) -> None:
        """Read the log up to `stop`. Nothing is held against a record that can't be opened: its key is not known."""
        try:
            for entries in self._reader.entries(self._followed, stop):
                for entry in entries:
                    self._read(entry.record.index, entry.record.raw)
        except IntegrityError:
            while self._followed < stop:
                at = self._followed
                with suppress(IntegrityError, ErasedError):
                    self._read(at, self._reader.at(at, include_forgotten=True).raw)
                self._advance(at + 1)

    def _take_kept(self, n: int, kept: SpanContents) -> None:
        keys, scopes = kept.tables
        first = n << spans.SPAN_BITS
        if kept.records == 1 << spans.SPAN_BITS:
            self._runs.append(_run(n, keys, scopes))
            self._followed = self._kept = first + kept.records
            return
        by: dict[int, tuple[list[int], list[tuple[int, int]]]] = {}
        for child, hash_ in keys.tolist():
            by.setdefault(child, ([], []))[0].append(hash_)
        for child, hash_, count in scopes.tolist():
            by.setdefault(child, ([], []))[1].append((hash_, count))
        for child in sorted(by):
            self._add(first + child, *by[child])
        self._followed = self._kept = first + kept.records

    def _read(self, index: int, raw: bytes | None) -> None:
        keys = [key_hash(self._lookup_key, key) for key in _keys_in(raw)]
        chained = [(scope_hash(self._lookup_key, key), count) for key, count, _ in chain_of(raw)]
        if keys or chained:
            self._add(index, keys, chained)
        self._advance(index + 1)

    def _add(self, index: int, keys: Iterable[int], scopes: Iterable[tuple[int, int]]) -> None:
        """Take in what a record has; it is of the span that is open then."""
        self._advance(index)
        child = index & ((1 << spans.SPAN_BITS) - 1)
        for hash_ in keys:
            self._keys.append((child, hash_))
            self._open_keys.setdefault(hash_, []).append(index)
        for hash_, count in scopes:
            self._scopes.append((child, hash_, count))
            self._open_scopes.setdefault(hash_, []).append(Last(count, index))

    def _advance(self, position: int) -> None:
        """Know that nothing else is to be had below a position: keep the spans that are whole by then."""
        n = self._followed >> spans.SPAN_BITS
        while (n + 1) << spans.SPAN_BITS <= position:
            tables = self._tables()
            self._write(n, (n + 1) << spans.SPAN_BITS, tables)
            self._runs.append(_run(n, *tables))
            self._keys, self._scopes = [], []
            self._open_keys, self._open_scopes = {}, {}
            n += 1
        self._followed = max(self._followed, position)

    def _tables(self) -> list[Any]:
        return [np.array(self._keys, _KEY), np.array(self._scopes, _SCOPE)]

    def _write(self, n: int, position: int, tables: list[Any]) -> None:
        """Keep what was read of a span up to a position: as its only writer, who knows what has been erased."""
        if self._reader.holds_lock:
            kept = SpanContents(position - (n << spans.SPAN_BITS), tables)
            self._spans.write(n, _without(kept, n, self._reader.control.erased))
            self._kept = position


def _without(kept: SpanContents, n: int, erased: Collection[int]) -> SpanContents:
    """Return what is kept of a span without what it says of erased records; the same where it says nothing of any."""
    first, tables = n << spans.SPAN_BITS, list[Any]()
    for table in kept.tables:
        there = np.fromiter(
            (first + child not in erased for child in table["child"].tolist()), np.bool_, len(table)
        )
        tables.append(table[there])
    whole = all(len(left) == len(table) for left, table in zip(tables, kept.tables, strict=True))
    return kept if whole else SpanContents(kept.records, tables)


def _run(n: int, keys: Any, scopes: Any) -> _Run:
    first = n << spans.SPAN_BITS
    return _sorted(
        (keys["hash"], keys["child"].astype(np.int64) + first),
        (scopes["hash"], scopes["child"].astype(np.int64) + first, scopes["count"]),
    )


def _merged(runs: Sequence[_Run]) -> _Run:
    keys = tuple(np.concatenate(columns) for columns in zip(*(run.keys for run in runs), strict=True))
    scopes = tuple(np.concatenate(columns) for columns in zip(*(run.scopes for run in runs), strict=True))
    return _sorted(keys, scopes)


def _sorted(keys: tuple[Any, ...], scopes: tuple[Any, ...]) -> _Run:
    of_keys, of_scopes = np.argsort(keys[0], kind="stable"), np.argsort(scopes[0], kind="stable")
    return _Run(tuple(column[of_keys] for column in keys), tuple(column[of_scopes] for column in scopes))


def _rows(columns: tuple[Any, ...], hash_: int, *, newest: bool = False) -> Iterator[tuple[int, ...]]:
    """Yield the rest of each row of a hash, in log order; with `newest`, the other way round."""
    hashes, wanted = columns[0], np.uint64(hash_)
    start, stop = (int(np.searchsorted(hashes, wanted, side=side)) for side in _SIDES)
    for at in range(stop - 1, start - 1, -1) if newest else range(start, stop):
        yield tuple(int(column[at]) for column in columns[1:])
