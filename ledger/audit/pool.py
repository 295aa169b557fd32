"""Stretches of the log examined on all cores, results in order (SPEC §11.1)."""

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Final

import msgspec

from braid.ledger.audit.chunk import examine
from braid.ledger.audit.facts import Chunk, Facts, Terms
from braid.ledger.audit.signatures import Check, Claim, wrong
from braid.ledger.worker import Worker

AHEAD: Final = 4
"""Stretches a core that are asked for before the oldest is needed: none is idle while this process examines one."""
LEAST, MOST = 8, 64
"""Signatures that a thread checks at a time: some milliseconds at most, so that none waits long for the last."""
_CHILD: Final = "braid.ledger.audit.child"
_FACTS: Final = msgspec.msgpack.Decoder(Facts)
_encode: Final = msgspec.msgpack.Encoder().encode


def examine_all(
    chunks: Iterable[Chunk], terms: Terms, workers: int, *, children: bool
) -> Iterator[tuple[Chunk, Facts]]:
    """Yield each chunk with its facts, in order, by `workers` cores.

    With `children` all but one of them are processes; else the signatures alone are shared, by threads.
    """
    crew = _start(terms, workers - 1) if children else []
    if crew:
        yield from _shared(chunks, terms, crew)
        return
    with _on_threads(workers) as check:
        for chunk in chunks:
            yield chunk, examine(chunk, terms, check)


@contextmanager
def _on_threads(count: int) -> Generator[Check]:
    """Give a check by `count` threads: libsodium works without the interpreter's lock, which is 97 % of a check."""
    if count < 2:
        yield wrong
        return
    with ThreadPoolExecutor(count, "braid-verify") as threads:

        def check(claims: list[Claim]) -> list[int]:
            size = max(LEAST, min(MOST, -(-len(claims) // (2 * count))))
            if len(claims) <= size:
                return wrong(claims)
            starts = range(0, len(claims), size)
            found = threads.map(wrong, [claims[start : start + size] for start in starts])
            return [start + place for start, places in zip(starts, found, strict=True) for place in places]

        yield check


class _Piece:
    """A chunk that a worker was asked for, or that this process has examined itself."""

    __slots__ = ("chunk", "facts", "future")

    def __init__(self, chunk: Chunk, future: "Future[Facts | None]") -> None:
        self.chunk, self.future = chunk, future
        self.facts: Facts | None = None


def _shared(chunks: Iterable[Chunk], terms: Terms, crew: list[Worker]) -> Iterator[tuple[Chunk, Facts]]:
    """Examine with the workers, and here: this process takes what none of them has begun, rather than wait."""
    free: SimpleQueue[Worker] = SimpleQueue()
    for worker in crew:
        free.put(worker)

    def ask(chunk: Chunk) -> Facts | None:
        worker = free.get()
        try:
            answer = worker.ask(_encode(chunk))
            return None if answer is None else _FACTS.decode(answer)
        finally:
            free.put(worker)

    waiting: deque[_Piece] = deque()
    threads = ThreadPoolExecutor(len(crew), "braid-verify")
    try:
        for chunk in chunks:
            waiting.append(_Piece(chunk, threads.submit(ask, chunk)))
            if len(waiting) >= AHEAD * (len(crew) + 1):
                yield _settle(waiting, terms)
        while waiting:
            yield _settle(waiting, terms)
    finally:
        for worker in crew:
            worker.kill()  # idle, or its answer is no longer wanted
        threads.shutdown(cancel_futures=True)
        for worker in crew:
            worker.stop()


def _settle(waiting: deque[_Piece], terms: Terms) -> tuple[Chunk, Facts]:
    """Take the oldest, examined; until a worker is done with it, examine here what none has begun."""
    oldest = waiting[0]
    while oldest.facts is None and not oldest.future.done():
        mine = next((piece for piece in waiting if piece.facts is None and piece.future.cancel()), None)
        if mine is None:
            break
        mine.facts = examine(mine.chunk, terms)
    facts = oldest.facts or oldest.future.result()
    if facts is None:  # the worker died, perhaps for want of memory
        facts = examine(oldest.chunk, terms)
    return waiting.popleft().chunk, facts


def _start(terms: Terms, count: int) -> list[Worker]:
    data = _encode(terms)
    return [worker for _ in range(count) if (worker := Worker.start(_CHILD, data))]
