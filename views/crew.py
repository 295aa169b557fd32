"""A long rebuild on all cores: workers read, verify, unseal and make rows; this process writes them (SPEC §10.2).

Each worker opens the store itself, to read, and is given stretches of the log by index. It may only save time: for a
stretch that no worker answers, the caller goes on by itself from there, by the code that the workers run.
"""

import gc
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

import msgspec
import numpy as np

from braid.ledger.asof import root_at
from braid.ledger.guard import Guard
from braid.ledger.reader import Reader
from braid.ledger.worker import Worker, serve
from braid.views.arrow import pa
from braid.views.make import Made, make
from braid.views.projection import Batch, Stamp, Standing

LEAST_RECORDS: Final = 50_000
"""Below this, starting workers takes longer than they save."""
MOST_WORKERS: Final = 8
STRETCH_RECORDS: Final = 8_192
STRETCH_BYTES: Final = 16 << 20
_NO_STAMP: Final = Stamp(0, "", 0, "", sealed=False, disputed={})


class Terms(msgspec.Struct, frozen=True):
    """What is the same for every stretch: the store, and how its records stand."""

    store: str
    guard: str
    passphrase: str | None
    standing: Standing


class Stretch(msgspec.Struct, frozen=True):
    """Records by index, the last one excluded."""

    first: int
    stop: int


class Rows(msgspec.Struct, frozen=True):
    """What a stretch became: an Arrow stream by table number, and the rest of `Made`."""

    tables: dict[int, bytes]
    hashes: list[tuple[int, bytes]]
    unknown: int
    unreadable: int


_TERMS: Final = msgspec.msgpack.Decoder(Terms)
_STRETCH: Final = msgspec.msgpack.Decoder(Stretch)
_ROWS: Final = msgspec.msgpack.Decoder(Rows)
_encode: Final = msgspec.msgpack.Encoder().encode


def made_by_workers(reader: Reader, standing: Standing, version: int) -> Iterator[Made]:
    """Yield what the log's records became, in order from the first; ends where no worker has an answer.

    Nothing at all where that is sooner done by one.
    """
    if standing.size < LEAST_RECORDS or (os.cpu_count() or 1) == 1:
        return
    stretches = list(_stretches(reader, standing.size))
    count = min(os.cpu_count() or 1, MOST_WORKERS, len(stretches))
    terms = _encode(Terms(str(reader.path), str(reader.guard.path), reader.passphrase, standing))
    workers = [worker for _ in range(count) if (worker := Worker.start(__name__, terms))]
    free: SimpleQueue[Worker] = SimpleQueue()
    for worker in workers:
        free.put(worker)

    def ask(stretch: Stretch) -> bytes | None:
        worker = free.get()
        try:
            return worker.ask(_encode(stretch))
        finally:
            free.put(worker)

    waiting: deque[tuple[Stretch, Future[bytes | None]]] = deque()
    threads = ThreadPoolExecutor(max(count, 1), "braid-rows")
    try:
        while workers and (stretches or waiting):
            while stretches and len(waiting) <= count:
                waiting.append((stretches[0], threads.submit(ask, stretches.pop(0))))
            stretch, future = waiting.popleft()
            answer = future.result()
            if answer is None:
                return
            root = root_at(reader, stretch.stop)
            stamp = Stamp(
                version, standing.origin, stretch.stop, root, standing.sealed, dict(standing.disputed)
            )
            yield _received(answer, stamp)
    finally:
        for _, future in waiting:
            future.cancel()
        threads.shutdown()
        for worker in workers:
            worker.stop()


def _stretches(reader: Reader, stop: int) -> Iterator[Stretch]:
    """Cut the log by number and size, as the place index tells; up to where there is no index yet."""
    segments = reader.log.segments
    for place, segment in enumerate(segments):
        end = min(segments[place + 1].first if place + 1 < len(segments) else stop, stop)
        count = min(end - segment.first, segment.indexed)
        rows = segment.entries(count) if count > 0 else None
        if rows is not None:
            yield from cut(segment.first, np.cumsum(rows["body_len"].astype(np.int64) + rows["envelope_len"]))
        if count < end - segment.first:
            return


def cut(first: int, weights: Any) -> Iterator[Stretch]:
    """Yield stretches of records whose running total of bytes is `weights` (int64[n]), the first at index `first`."""
    at, count, before = 0, len(weights), 0
    while at < count:
        heavy = int(np.searchsorted(weights, before + STRETCH_BYTES, side="right"))
        end = min(max(heavy, at + 1), at + STRETCH_RECORDS, count)
        yield Stretch(first + at, first + end)
        at, before = end, int(weights[end - 1])


def _received(answer: bytes, stamp: Stamp) -> Made:
    rows = _ROWS.decode(answer)
    tables = {number: pa.ipc.open_stream(data).read_all() for number, data in rows.tables.items()}
    return Made(tables, rows.hashes, [], rows.unknown, rows.unreadable, stamp)


# -- in the worker ----------------------------------------------------------------------------------


def _begin(data: bytes) -> Callable[[bytes], bytes]:
    gc.disable()  # no cycles are made, and each collection would walk a stretch's hundred thousand values
    terms = _TERMS.decode(data)
    reader = Reader(Path(terms.store), guard=Guard(Path(terms.guard)), passphrase=terms.passphrase)

    def answer(question: bytes) -> bytes:
        stretch = _STRETCH.decode(question)
        return _encode(rows_of(reader, terms.standing, stretch))

    return answer


def rows_of(reader: Reader, standing: Standing, stretch: Stretch) -> Rows:
    """Return what a stretch of the log becomes; IndexError where the log doesn't reach its end."""
    if reader.size < stretch.stop:
        reader.refresh()
    entries = [entry for some in reader.entries(stretch.first, stretch.stop) for entry in some]
    if len(entries) != stretch.stop - stretch.first:
        raise IndexError(f"the log holds {reader.size} records, not {stretch.stop}")
    made = make(Batch(entries, [], standing, _NO_STAMP))
    tables = {number: _stream(table) for number, table in made.tables.items()}
    return Rows(tables, made.hashes, made.unknown, made.unreadable)


def _stream(table: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


if __name__ == "__main__":
    serve(_begin)
