"""A server for tests: in a thread of this process, or as a process of its own."""

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import uvicorn

from braid.client.remote import SOCKET, Remote, short_path
from braid.store import Store
from braid.tools.http.app import Mode, Server
from braid.tools.http.limits import Limits


class QuickServer(uvicorn.Server):
    """Ends at once. Uvicorn's own looks ten times a second whether it should, and waits as long once more."""

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            await asyncio.sleep(0.002)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for one in sockets or ():
            one.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await self._wait_tasks_to_complete()


@contextmanager
def served(
    store: Store, *, port: bool = False, mode: Mode = "hybrid", limits: Limits | None = None
) -> Iterator[int | None]:
    """Serve an open store from a thread: by the socket in its folder and, if asked, at a port of loopback."""
    sockets = [socket.socket(socket.AF_UNIX)]
    with short_path(store.path / SOCKET) as path:
        sockets[0].bind(path)
    if port:
        sockets.append(socket.socket())
        sockets[1].bind(("127.0.0.1", 0))
    for one in sockets:
        one.listen(32)
    server = QuickServer(
        uvicorn.Config(
            Server(store.session, mode=mode, limits=limits).application(),
            lifespan="off",
            log_level="critical",
            log_config=None,  # or the loggers of uvicorn are no longer shown by the tests behind this one
        )
    )
    thread = Thread(target=server.run, args=(sockets,))
    thread.start()
    try:
        yield sockets[1].getsockname()[1] if port else None
    finally:
        server.should_exit = True
        thread.join(20)
        for one in sockets:
            one.close()
        (store.path / SOCKET).unlink(missing_ok=True)


def free_port() -> int:
    """Return a port of loopback that nobody has."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


class Process:
    """`braid serve` as a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder.parent / "serve.log"

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        braid = str(Path(sys.executable).parent / "braid")
        command = [braid, "serve", "--store", str(self.folder), *options]
        with self.log.open("ab") as log:
            started = subprocess.Popen(command, stderr=log)
        deadline = time.monotonic() + 60
        while not Remote(self.folder).answers():
            assert started.poll() is None, self.log.read_text("utf-8")
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return started
