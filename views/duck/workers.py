"""A long rebuild on all cores: workers read, verify, unseal and make rows; this process writes them (SPEC §10.2).

Each worker opens the store itself, to read, and is given stretches of the log by index. It may only save time: for a
stretch that no worker answers, the caller goes on by itself from there, by the code that the workers run.
"""

import gc
import os
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

import msgspec
import numpy as np

from braid.ledger.errors import LedgerError
from braid.ledger.read.prefix import root_at
from braid.ledger.read.reader import Reader
from braid.ledger.tree.guard import Guard
from braid.ledger.worker import Worker, serve
from braid.views.duck.arrow import pa
from braid.views.duck.batch import MadeBatch, make
from braid.views.duck.schema import VERSION
from braid.views.duck.sources import RowSources
from braid.views.projection import Batch, HeadFacts, Stamp

LEAST_RECORDS: Final = 50_000
"""Below this, starting workers takes longer than they save."""
MOST_WORKERS: Final = 8
STRETCH_RECORDS: Final = 8_192
STRETCH_BYTES: Final = 16 << 20
HEAVY_BYTES: Final = 128 << 20
PASSPHRASE_WORKERS: Final = 2
"""Each makes the vault's key of the passphrase, which takes 256 MiB on purpose."""
_ENTRY: Final = np.dtype(
    [("envelope_at", "<u8"), ("body_at", "<u8"), ("envelope_len", "<u4"), ("body_len", "<u4")]
)
"""An entry of a segment's place index, as `braid.wal.segment.ENTRY`."""
_NO_STAMP: Final = Stamp(0, "", 0, "", sealed=False, disputed={})


class ReplayTerms(msgspec.Struct, frozen=True):
    """What is the same for every stretch: the store, how its records stand, and what its asker holds of it."""

    store: str
    guard: str
    guarded: bool
    passphrase: str | None
    standing: HeadFacts
    version: int


class Stretch(msgspec.Struct, frozen=True):
    """Records by index, the last one excluded, and the root (hex) of the log's tree at that one."""

    first: int
    stop: int
    root: str = ""


class Rows(msgspec.Struct, frozen=True):
    """What a stretch became: an Arrow stream by table number, and the rest of `Made`."""

    tables: dict[int, bytes]
    hashes: list[tuple[int, bytes]]
    unknown: int
    unreadable: int


_TERMS: Final = msgspec.msgpack.Decoder(ReplayTerms)
_STRETCH: Final = msgspec.msgpack.Decoder(Stretch)
_ROWS: Final = msgspec.msgpack.Decoder(Rows)
_encode: Final = msgspec.msgpack.Encoder().encode


def made_by_workers(reader: Reader, standing: HeadFacts, version: int) -> Iterator[MadeBatch]:
    """Yield what the log's records became, in order from the first; ends where no worker has an answer.

    Nothing at all where that is sooner done by one.
    """
    if standing.size < LEAST_RECORDS or (os.cpu_count() or 1) == 1:
        return
    stretches = deque(_stretches(reader, standing.size))
    most = PASSPHRASE_WORKERS if reader.passphrase else MOST_WORKERS
    count = max(1, min(os.cpu_count() or 1, most, len(stretches)))
    guard, guarded = str(reader.guard.path.absolute()), reader.guarded is not None
    terms = _encode(ReplayTerms(str(reader.path), guard, guarded, reader.passphrase, standing, version))
    waiting: deque[tuple[Stretch, Future[bytes | None]]] = deque()
    with _crew(terms, count) as ask:
        while ask and (stretches or waiting):
            while stretches and len(waiting) <= count:
                span = stretches.popleft()
                stretch = Stretch(span.first, span.stop, root_at(reader, span.stop))
                waiting.append((stretch, ask(stretch)))
            stretch, future = waiting.popleft()
            answer = future.result()
            if answer is None:
                return
            disputed = dict(standing.disputed)
            stamp = Stamp(version, standing.origin, stretch.stop, stretch.root, standing.sealed, disputed)
            yield _received(answer, stamp)


@contextmanager
def _crew(terms: bytes, count: int) -> Generator[Callable[[Stretch], "Future[bytes | None]"] | None]:
    """Give a function that asks whichever worker is free, None where none can be had; none is left behind."""
    threads = ThreadPoolExecutor(count, "braid-rows")
    starts = [threads.submit(Worker.start, __name__, terms) for _ in range(count)]
    free: SimpleQueue[Worker] = SimpleQueue()

    def ask(stretch: Stretch) -> bytes | None:
        worker = free.get()
        try:
            return worker.ask(_encode(stretch))
        finally:
            free.put(worker)

    try:
        for start in starts:
            if worker := start.result():
                free.put(worker)
        yield None if free.empty() else lambda stretch: threads.submit(ask, stretch)
    finally:
        threads.shutdown(cancel_futures=True)
        for start in starts:
            if not start.cancelled() and (worker := start.result()):
                worker.stop()


def _stretches(reader: Reader, stop: int) -> Iterator[Stretch]:
    """Cut the log as the place index tells; up to where there is no index yet."""
    segments = reader.log.segments
    for place, segment in enumerate(segments):
        end = min(segments[place + 1].first if place + 1 < len(segments) else stop, stop)
        count = min(end - segment.first, segment.indexed)
        entries = segment.entries(count) if count > 0 else None
        if entries is not None:
            rows = np.frombuffer(entries, dtype=_ENTRY)
            ends = rows["body_at"] + rows["body_len"]
            weights = np.cumsum(rows["body_len"].astype(np.int64) + rows["envelope_len"])
            yield from cut(segment.first, weights, np.append(ends[:-1] != rows["body_at"][1:], True))
        if count < end - segment.first:
            return


def cut(first: int, weights: Any, closing: Any) -> Iterator[Stretch]:
    """Yield stretches of records whose running total of bytes is `weights` (int64[n]), the first at index `first`.

    They end where a transaction does (`closing`, bool[n]), or each would read the whole of it again; behind one of more
    than `HEAVY_BYTES` there are none.
    """
    closes = np.flatnonzero(closing) + 1
    at, before = 0, 0
    while at < len(weights):
        light = int(np.searchsorted(weights, before + STRETCH_BYTES, side="right"))
        fits = closes[(closes > at) & (closes <= min(light, at + STRETCH_RECORDS))]
        end = int(fits[-1]) if fits.size else int(closes[np.searchsorted(closes, at, side="right")])
        if weights[end - 1] - before > HEAVY_BYTES:
            return
        yield Stretch(first + at, first + end)
        at, before = end, int(weights[end - 1])


def _received(answer: bytes, stamp: Stamp) -> MadeBatch:
    rows = _ROWS.decode(answer)
    tables = {number: pa.ipc.open_stream(data).read_all() for number, data in rows.tables.items()}
    return MadeBatch(tables, rows.hashes, [], rows.unknown, rows.unreadable, stamp)


# -- in the worker ----------------------------------------------------------------------------------


def _begin(data: bytes) -> Callable[[bytes], bytes]:
    gc.disable()  # no cycles are made, and each collection would walk a stretch's hundred thousand values
    terms = _TERMS.decode(data)
    reader = opened(terms)
    sources = RowSources(reader)
    return lambda question: _encode(rows_of(reader, terms.standing, _STRETCH.decode(question), sources))


def opened(terms: ReplayTerms) -> Reader:
    """Open the store as its asker holds it; LedgerError where it is another by now, or without its vault or guard."""
    reader = Reader(Path(terms.store), guard=Guard(Path(terms.guard)), passphrase=terms.passphrase)
    same = (
        reader.origin == terms.standing.origin
        and (reader.vault is not None) == terms.standing.sealed
        and (reader.guarded is not None) == terms.guarded
        and terms.version == VERSION
    )
    if not same:
        reader.close()
        raise LedgerError(f"{terms.store} is not as its asker holds it")
    return reader


def rows_of(reader: Reader, standing: HeadFacts, stretch: Stretch, sources: RowSources | None = None) -> Rows:
    """Return what a stretch of the log becomes; LedgerError where the log doesn't reach its end, or is another."""
    if reader.size < stretch.stop:
        reader.refresh()
    if reader.size < stretch.stop or root_at(reader, stretch.stop) != stretch.root:
        raise LedgerError(
            f"the log of {reader.size} records has not the root {stretch.root} at {stretch.stop}"
        )
    entries = [entry for some in reader.entries(stretch.first, stretch.stop) for entry in some]
    told = (sources or RowSources(reader)).told(standing, entries)
    made = make(Batch(entries, [], told, _NO_STAMP))
    tables = {number: _stream(table) for number, table in made.tables.items()}
    return Rows(tables, made.hashes, made.unknown, made.unreadable)


def _stream(table: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


if __name__ == "__main__":
    serve(_begin)
