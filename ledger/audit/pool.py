"""Stretches of the log examined on all cores, results in order (SPEC §11.1, docs/adr/0033).

What others are asked for and have not begun, this process does itself while it would have to wait: so it is never idle
while workers start, and the end of the log keeps no core waiting for another for longer than a stretch.

The processes are not those of `concurrent.futures`: with these an audit takes up to twice as long, and each child runs
the caller's program again, which may append again (docs/adr/0055).
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from typing import Final, Generic, Literal, TypeVar

import msgspec

from braid.ledger.audit.checkers import Checkers, Ticket
from braid.ledger.audit.chunk import UnsignedStretch, examine, examine_unsigned
from braid.ledger.audit.facts import AuditTerms, Chunk, StretchFacts
from braid.ledger.audit.signatures import Check, Claim, wrong
from braid.ledger.worker import Worker

Sharing = Literal["threads", "signatures", "stretches"]
"""What others are asked for: signatures, by threads of this process; signatures, by processes that do nothing else;
whole stretches, by processes that do all that this one does.
"""
AHEAD: Final = 4
"""Stretches a core that are asked for before the oldest is needed: none is idle while this process examines one."""
READ_AHEAD: Final = 8
"""Stretches of a mebibyte that are read before the oldest's signatures are needed: those of the last are shared out
when there is nothing left to read.
"""
LEAST, MOST = 24, 64
"""Signatures that a thread checks at a time: a few milliseconds at most, so that none waits long for the last."""
MOST_THREADS: Final = 8
"""More would wait for the interpreter and for whoever reads the next stretch, which takes a fifth of the time."""
_CHILD: Final = "braid.ledger.audit.child"
_FACTS: Final = msgspec.msgpack.Decoder(StretchFacts)
_encode: Final = msgspec.msgpack.Encoder().encode

Work = TypeVar("Work")
Result = TypeVar("Result")


def examine_all(
    chunks: Iterable[Chunk], terms: AuditTerms, workers: int, sharing: Sharing
) -> Generator[tuple[Chunk, StretchFacts]]:
    """Yield each chunk with its facts, in order, by `workers` cores; close it, and no worker is left behind.

    Where no process can be started, threads share the signatures.
    """
    others = workers - 1
    if sharing == "stretches" and (crew := _start(terms, others)):
        yield from _by_processes(chunks, terms, crew)
    elif sharing == "signatures" and (checkers := Checkers(others)):
        yield from _by_checkers(chunks, terms, checkers)
    else:
        with _by_threads(workers) as check:
            for chunk in chunks:
                yield chunk, examine(chunk, terms, check)


class _Asked(Generic[Work, Result]):
    """Work that others were asked for, or that was done here after all; None is no answer."""

    __slots__ = ("done_here", "future", "work")

    def __init__(self, work: Work, future: "Future[Result | None]") -> None:
        self.work, self.future = work, future
        self.done_here: Result | None = None


def _settle(waiting: deque[_Asked[Work, Result]], here: Callable[[Work], Result]) -> tuple[Work, Result]:
    """Take the oldest with its result; until that is there, do here what nobody has begun."""
    oldest = waiting[0]
    while oldest.done_here is None and not oldest.future.done():
        mine = next((asked for asked in waiting if asked.done_here is None and asked.future.cancel()), None)
        if mine is None:
            break
        mine.done_here = here(mine.work)
    waiting.popleft()
    result = oldest.done_here if oldest.done_here is not None else oldest.future.result()
    return oldest.work, here(oldest.work) if result is None else result


# -- processes for the signatures -------------------------------------------------------------------


def _by_checkers(
    chunks: Iterable[Chunk], terms: AuditTerms, checkers: Checkers
) -> Generator[tuple[Chunk, StretchFacts]]:
    waiting: deque[tuple[Chunk, UnsignedStretch, Ticket]] = deque()

    def settle() -> tuple[Chunk, StretchFacts]:
        chunk, read, ticket = waiting.popleft()
        return chunk, read.judged(checkers.settle(ticket))

    try:
        for chunk in chunks:
            ticket = Ticket()
            read = examine_unsigned(chunk, terms, partial(checkers.offer, ticket))
            waiting.append((chunk, read, ticket))
            if len(waiting) > READ_AHEAD:
                yield settle()
        while waiting:
            yield settle()
    finally:
        checkers.stop()


# -- processes for whole stretches ------------------------------------------------------------------


def _start(terms: AuditTerms, count: int) -> list[Worker]:
    data = _encode(terms)
    return [worker for _ in range(count) if (worker := Worker.start(_CHILD, data))]


def _by_processes(
    chunks: Iterable[Chunk], terms: AuditTerms, crew: list[Worker]
) -> Generator[tuple[Chunk, StretchFacts]]:
    free: SimpleQueue[Worker] = SimpleQueue()
    for worker in crew:
        free.put(worker)

    def ask(chunk: Chunk) -> StretchFacts | None:
        worker = free.get()
        try:
            answer = worker.ask(_encode(chunk))
            return None if answer is None else _FACTS.decode(answer)
        except msgspec.DecodeError:  # by another release, which was installed since this process began
            return None
        finally:
            free.put(worker)

    def here(chunk: Chunk) -> StretchFacts:
        return examine(chunk, terms)

    waiting: deque[_Asked[Chunk, StretchFacts]] = deque()
    threads = ThreadPoolExecutor(len(crew), "braid-verify")
    try:
        for chunk in chunks:
            waiting.append(_Asked(chunk, threads.submit(ask, chunk)))
            if len(waiting) >= AHEAD * (len(crew) + 1):
                yield _settle(waiting, here)
        while waiting:
            yield _settle(waiting, here)
    finally:
        for worker in crew:
            worker.kill()  # it is idle, or its answer is no longer wanted
        threads.shutdown(cancel_futures=True)
        for worker in crew:
            worker.stop()


# -- threads ----------------------------------------------------------------------------------------


@contextmanager
def _by_threads(count: int) -> Generator[Check]:
    """Give a check of signatures by `count` threads: libsodium's part needs no interpreter, and is 97 % of it."""
    if count < 2:
        yield wrong
        return
    threads = ThreadPoolExecutor(min(count, MOST_THREADS) - 1, "braid-verify")

    def check(claims: list[Claim]) -> list[int]:
        size = max(LEAST, min(MOST, len(claims) // (4 * count)))
        if len(claims) <= size:
            return wrong(claims)  # sooner done than shared
        starts = range(0, len(claims), size)
        parts = [claims[start : start + size] for start in starts]
        waiting = deque(_Asked(part, threads.submit(wrong, part)) for part in parts)
        return [start + place for start in starts for place in _settle(waiting, wrong)[1]]

    try:
        yield check
    finally:
        threads.shutdown(cancel_futures=True)
