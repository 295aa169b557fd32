"""Stretches of the log examined on all cores, results in order (SPEC §11.1).

Workers are plain child processes that speak MessagePack over their pipes: nothing of the caller's program is run
again, no fork happens under its threads, and a worker that dies is made up for in this process.
"""

import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import IO

import msgspec

from braid.ledger.audit.chunk import examine
from braid.ledger.audit.facts import Chunk, Facts, Terms

_TERMS = msgspec.msgpack.Decoder(Terms)
_CHUNK = msgspec.msgpack.Decoder(Chunk)
_FACTS = msgspec.msgpack.Decoder(Facts)
_encode = msgspec.msgpack.Encoder().encode


def examine_all(
    chunks: Iterable[Chunk], terms: Terms, workers: int, *, children: bool
) -> Iterator[tuple[Chunk, Facts]]:
    """Yield each chunk with its facts, in order; at most `2 × workers` results wait. One worker means: here.

    With `children` the workers are processes, which start in about 0.15 s each; else threads.
    """
    if workers < 2:
        for chunk in chunks:
            yield chunk, examine(chunk, terms)
        return
    crew = _Crew(terms, workers, children=children)
    waiting: deque[tuple[Chunk, Future[Facts]]] = deque()
    threads = ThreadPoolExecutor(workers, "braid-verify")
    try:
        for chunk in chunks:
            waiting.append((chunk, threads.submit(crew.ask, chunk)))
            if len(waiting) >= 2 * workers:
                chunk, future = waiting.popleft()  # noqa: PLW2901 - the oldest, in order
                yield chunk, future.result()
        while waiting:
            chunk, future = waiting.popleft()
            yield chunk, future.result()
    finally:
        for _, future in waiting:
            future.cancel()
        threads.shutdown()
        crew.dismiss()


class _Crew:
    """The child processes; a free one is asked, None stands for one that can't be had."""

    def __init__(self, terms: Terms, count: int, *, children: bool) -> None:
        self._terms = terms
        self._free: SimpleQueue[_Child | None] = SimpleQueue()
        self._all: list[_Child] = []
        for _ in range(count):
            child = _Child.start(terms) if children else None
            if child:
                self._all.append(child)
            self._free.put(child)

    def ask(self, chunk: Chunk) -> Facts:
        child = self._free.get()
        try:
            if child is not None:
                answer = child.ask(chunk)
                if answer is not None:
                    return answer
                child = None  # it died, perhaps for want of memory
            return examine(chunk, self._terms)
        finally:
            self._free.put(child)

    def dismiss(self) -> None:
        for child in self._all:
            child.stop()


class _Child:
    def __init__(self, process: "subprocess.Popen[bytes]", input_: IO[bytes], output: IO[bytes]) -> None:
        self._process, self._input, self._output = process, input_, output

    @classmethod
    def start(cls, terms: Terms) -> "_Child | None":
        """Start a worker; None where no interpreter can be started (an embedded or a frozen program)."""
        if not sys.executable or getattr(sys, "frozen", False):
            return None
        path = os.pathsep.join(entry for entry in sys.path if entry)
        try:
            process = subprocess.Popen(  # noqa: S603 - this interpreter, this module
                [sys.executable, "-P", "-m", __name__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path},
            )
        except OSError:
            return None
        if process.stdin is None or process.stdout is None:
            return None
        child = cls(process, process.stdin, process.stdout)
        try:
            _send(child._input, _encode(terms))
        except OSError:
            child.stop()
            return None
        return child

    def ask(self, chunk: Chunk) -> Facts | None:
        try:
            _send(self._input, _encode(chunk))
            answer = _receive(self._output)
            return None if answer is None else _FACTS.decode(answer)
        except (OSError, msgspec.MsgspecError):
            return None

    def stop(self) -> None:
        try:
            self._input.close()
        except OSError:
            self._process.kill()
        self._output.close()
        self._process.wait()


def _send(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(len(data).to_bytes(8, "little"))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes | None:
    head = pipe.read(8)
    if len(head) < 8:
        return None
    size = int.from_bytes(head, "little")
    data = pipe.read(size)
    return data if len(data) == size else None


def work(input_: IO[bytes], output: IO[bytes]) -> None:
    """Answer chunks until the input ends: the worker's main loop."""
    first = _receive(input_)
    if first is None:
        return
    terms = _TERMS.decode(first)
    while (task := _receive(input_)) is not None:
        _send(output, _encode(examine(_CHUNK.decode(task), terms)))


if __name__ == "__main__":
    work(sys.stdin.buffer, sys.stdout.buffer)
