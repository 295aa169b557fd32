"""The processes that run SQL, handed from store to store: to start one costs more than most tests."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec
import pytest

from braid.views.duck.sql import QueryLimits, QueryRequest, Sandbox, Stop

CLOSE: Final = Sandbox.close
"""What ends the process, for tests of that."""


@contextmanager
def handed_on() -> Iterator[None]:
    """Let a sandbox that is closed leave its process to the next one that needs one with the same limits.

    A process that was killed, or that an error left amid an answer, is ended as ever.
    """
    idle: defaultdict[int, list[Any]] = defaultdict(list)
    asking: set[int] = set()
    ask, started, close = Sandbox._ask, Sandbox._started, Sandbox.close

    def _ask(self: Sandbox, *given: Any) -> Any:
        asking.add(id(self))
        try:
            return ask(self, *given)
        finally:
            asking.discard(id(self))

    def _started(self: Sandbox, limits: QueryLimits) -> Any:
        if self._child is None and idle[limits.memory_bytes]:
            self._child, self._memory = idle[limits.memory_bytes].pop(), limits.memory_bytes
        return started(self, limits)

    def _close(self: Sandbox) -> None:
        with self._turn:
            if self._child is not None and self._child.poll() is None and id(self) not in asking:
                idle[self._memory].append(self._child)
                self._child = None
        close(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sandbox, "_ask", _ask)
        patch.setattr(Sandbox, "_started", _started)
        patch.setattr(Sandbox, "close", _close)
        yield
    for memory, children in idle.items():
        for child in children:
            last = Sandbox()
            last._child, last._memory = child, memory
            last.close()


@contextmanager
def in_process() -> Iterator[None]:
    """Answer statements in this process: the same checks and settings of DuckDB, without the limits of a process."""
    from braid.views.duck import sandbox

    def ask(self: Sandbox, request: bytes, streams: Any, limits: QueryLimits, stop: Stop) -> Any:
        return sandbox._answer(
            msgspec.msgpack.decode(request, type=QueryRequest), [bytes(stream) for stream in streams]
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sandbox, "_ask", ask)
        yield
