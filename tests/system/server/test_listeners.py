"""Whoever fills a port, or has many streams, shuts nobody else out."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import uvicorn

import braid
from braid.caller import Caller
from braid.client.remote import SOCKET, Remote, short_path
from braid.store import Store
from braid.tools.http import app, listeners
from braid.tools.http.app import STREAMS, STREAMS_OF_ONE, RefusedError, Server


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard", server=None) as opened:
        yield opened


@contextmanager
def listening(store: Store, connections: int) -> Iterator[int]:
    """Serve as `serve` does, but in a thread, where no signal comes; yield the port."""
    sockets = [socket.socket(socket.AF_UNIX), socket.socket()]
    with short_path(store.path / SOCKET) as path:
        sockets[0].bind(path)
    sockets[1].bind(("127.0.0.1", 0))
    for one in sockets:
        one.listen(128)
    config = uvicorn.Config(
        Server(store.session).application(),
        lifespan="off",
        log_level="critical",
        log_config=None,
        limit_concurrency=connections,
        http=listeners.PromptProtocol,
    )
    servers = [listeners._Listener(config) for _ in sockets]
    threads = [
        threading.Thread(target=server.run, args=([one],))
        for server, one in zip(servers, sockets, strict=True)
    ]
    for thread in threads:
        thread.start()
    try:
        yield int(sockets[1].getsockname()[1])
    finally:
        for server in servers:
            server.should_exit = True
        for thread in threads:
            thread.join(20)
        for one in sockets:
            one.close()


def ask(port: int, head: bytes = b"") -> bytes:
    with socket.create_connection(("127.0.0.1", port), 20) as asking:
        asking.sendall(head or b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return asking.recv(2_000)


def test_whoever_fills_the_port_shuts_nobody_out_of_the_socket_and_is_closed_in_time(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "HEAD_S", 1.0)
    with listening(store, 4) as port, ExitStack() as held:
        silent = [held.enter_context(socket.create_connection(("127.0.0.1", port), 20)) for _ in range(3)]
        silent.append(held.enter_context(socket.create_connection(("127.0.0.1", port), 20)))
        silent[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")
        time.sleep(0.2)
        assert ask(port).startswith(b"HTTP/1.1 503")
        assert Remote(store.path).answers()
        assert [one.recv(10) for one in silent] == [b""] * 4
        assert ask(port).startswith(b"HTTP/1.1 200")


def test_who_asks_again_on_a_connection_is_waited_for_as_before(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "HEAD_S", 0.3)
    with listening(store, 9) as port, socket.create_connection(("127.0.0.1", port), 20) as kept:
        for _ in range(2):
            kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = b""
            while not answer.endswith(b"}"):
                answer += kept.recv(2_000)
            assert answer.startswith(b"HTTP/1.1 200")
            time.sleep(0.6)


def test_the_streams_of_one_token_leave_places_for_others(store: Store) -> None:
    server = Server(store.session)
    tokens = [Caller(name=f"t{n}", token=f"evt_{n}") for n in range(STREAMS // STREAMS_OF_ONE + 1)]
    for one in tokens[:-1]:
        for _ in range(STREAMS_OF_ONE):
            server._take_stream(one)
        with pytest.raises(RefusedError, match=f"16 streams of {one.name} are open"):
            server._take_stream(one)
    with pytest.raises(RefusedError, match="64 streams are open"):
        server._take_stream(tokens[-1])
    for _ in range(STREAMS):
        server._take_stream(app.LOCAL)
    with pytest.raises(RefusedError, match="64 streams are open"):
        server._take_stream(app.LOCAL)
    server._give_stream_back(tokens[0])
    server._take_stream(tokens[-1])
