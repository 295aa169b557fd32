"""One server of uvicorn's for each socket, so that whoever fills one keeps nobody from another; and no endless waiting
for the head of a request."""

import asyncio
import signal
import socket
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

CONNECTIONS: Final = 512
"""How many connections each socket may have before requests are refused."""
HEAD_S: Final = 10.0
"""How long the head of a request may take, from the connection or its first byte on."""


class PromptProtocol(H11Protocol):
    """HTTP/1.1 for who asks when they have come: a connection that sends no head in time is closed."""

    _closing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Wait for the first head."""
        super().connection_made(transport)
        self._wait_or_not()

    def data_received(self, data: bytes) -> None:
        """Take what has come; wait for what is missing of a head."""
        super().data_received(data)
        self._wait_or_not()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        super().connection_lost(exc)
        if self._closing is not None:
            self._closing.cancel()

    @property
    def _is_asked(self) -> bool:
        cycle = cast("RequestResponseCycle | None", self.cycle)  # None until there is a request
        return cycle is not None and not cycle.response_complete

    def _wait_or_not(self) -> None:
        if self._is_asked and self._closing is not None:
            self._closing.cancel()
            self._closing = None
        elif not self._is_asked and self._closing is None:
            self._closing = self.loop.call_later(HEAD_S, self._give_up)

    def _give_up(self) -> None:
        self._closing = None
        if not self._is_asked and not self.transport.is_closing():
            self.transport.close()


class Listeners(uvicorn.Server):
    """Serves one application at some sockets, until a signal stops it: then it returns, and the store is closed."""

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve each socket with connections and tasks of its own."""
        each = [(_Listener(self.config), one) for one in sockets or ()]
        with _stopping([server for server, _ in each]):
            await asyncio.gather(*(server.serve(sockets=[one]) for server, one in each))


class _Listener(uvicorn.Server):
    """A server that leaves signals alone: uvicorn's own dies of them."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@contextmanager
def _stopping(servers: Sequence[uvicorn.Server]) -> Generator[None]:
    def stop(number: int, frame: Any) -> None:
        for one in servers:
            one.handle_exit(number, frame)

    before = {one: signal.signal(one, stop) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
