"""Clients that vanish in the middle of a request, of a body or of an answer, and what their server keeps of them."""

import json
import random
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Final, NamedTuple

import braid
from braid.socket_path import SOCKET
from tests.system.server.running import Process, free_port

CLIENTS: Final = 8
TURNS: Final = 1_000
"""Records that a stream has to give: more than a socket's buffers hold, so that it waits for who is gone."""
SETTLE_S: Final = 30.0
SPARE: Final = 4
"""Descriptors that a server may open later than at its start: a segment, a generation of a projection."""
POOL: Final = 48
"""Threads that answer operations: they are kept, and there are at most 40 of them; DuckDB has its own."""
_PAUSE_S: Final = 0.02
_ABORT: Final = struct.pack("ii", 1, 0)
"""Closed with this, a connection is reset: the server is not even told that nothing more comes."""


class Sample(NamedTuple):
    """What a server held at one moment. `seconds`: since the first client came."""

    seconds: float
    descriptors: int
    threads: int
    rss_mb: float


class Report(NamedTuple):
    """What a server held, in the course of so many clients that vanished, and once they were all gone."""

    vanished: int
    served: int
    before: Sample
    samples: list[Sample]
    after: Sample

    def slope_mb(self) -> float:
        """Return how many MB an hour the memory grew by in the second half, as a straight line says."""
        late = self.samples[len(self.samples) // 2 :]
        middle_s = sum(one.seconds for one in late) / len(late)
        middle_mb = sum(one.rss_mb for one in late) / len(late)
        over = sum((one.seconds - middle_s) * (one.rss_mb - middle_mb) for one in late)
        return 3600 * over / (sum((one.seconds - middle_s) ** 2 for one in late) or 1.0)

    def __str__(self) -> str:
        held = " ".join(
            f"{one.seconds:.0f}s:{one.descriptors}fd,{one.threads}th,{one.rss_mb:.0f}MB"
            for one in (self.before, *self.samples[:: max(1, len(self.samples) // 8)], self.after)
        )
        return (
            f"{self.vanished} vanished, {self.served} were served; {held}; {self.slope_mb():.1f} MB an hour"
        )


def _append(size: int) -> bytes:
    """Return an append under a key: whoever brings it, the log grows once, so that what grows is the server's."""
    return json.dumps({"text": "x" * size, "idempotency_key": f"text of {size}"}).encode()


def _requests(chance: random.Random, token: str, *, local: bool) -> bytes:
    """Return a request, whole: an operation, a stream, a long body, a hook, or a call of a tool."""
    headers = {"Host": "localhost"} | ({} if local else {"Authorization": f"Bearer {token}"})
    tool = {"name": "memory_search", "arguments": {"query": "Which note?"}}
    asked: list[tuple[str, bytes, dict[str, str]]] = [
        ("/v1/read", b"{}", {}),
        ("/v1/read", b"{}", {"Accept": "text/event-stream"}),
        ("/v1/tail", b"{}", {"Accept": "text/event-stream"}),
        ("/v1/tail", b'{"start": 99999999, "seconds": 300}', {}),  # nothing comes while somebody is there
        ("/v1/recall", b'{"query": "Which note?"}', {}),
        ("/v1/append", _append(chance.choice((10, 10_000))), {}),
        ("/v1/append", b'{"text": "' + b"y" * 2**20, {}),  # no JSON, if it ever comes whole
        ("/hook", b"{}\n" + b"z" * 2**16, {"Content-Type": "application/x-braid-hook"}),
        ("/openapi.json", b"", {}),
    ]
    if not local:
        mcp = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool}
        listed = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        asked += [("/mcp", json.dumps(one).encode(), mcp) for one in (call, listed, call)]
    path, body, more = chance.choice(asked)
    method = "GET" if path.endswith(".json") else "POST"
    lines = [f"{name}: {value}" for name, value in (headers | more).items()]
    head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, f"Content-Length: {len(body)}", "", ""])
    return head.encode() + body


class Clients:
    """Threads that ask, and are gone before the answer, or in the middle of it."""

    def __init__(self, store: Path, port: int, token: str, seed: int) -> None:
        self._store, self._port, self._token = store, port, token
        self._stopped = Event()
        self._turn = Lock()
        self._threads = [Thread(target=self._run, args=(at, seed)) for at in range(CLIENTS)]
        self.vanished = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let them come and go."""
        for one in self._threads:
            one.start()
        try:
            yield
        finally:
            self._stopped.set()
            for one in self._threads:
                one.join(60)

    def _run(self, at: int, seed: int) -> None:
        chance = random.Random(f"{seed} {at}")
        while not self._stopped.is_set():
            with suppress(OSError):  # the server may hang up first: a body that is no JSON, too many streams
                self._vanish(chance, local=at % 2 == 0)
            with self._turn:
                self.vanished += 1
            time.sleep(chance.uniform(0, _PAUSE_S))

    def _vanish(self, chance: random.Random, *, local: bool) -> None:
        raw = _requests(chance, self._token, local=local)
        end = raw.index(b"\r\n\r\n") + 4
        upto = chance.choice(
            (0, chance.randrange(end), end, chance.randrange(end, len(raw) + 1), len(raw), len(raw))
        )
        with self._connected(local=local) as made:
            made.settimeout(5)
            made.sendall(raw[:upto])
            if upto == len(raw) and chance.random() < 0.7:
                made.recv(chance.choice((1, 100, 2**16)))
            elif chance.random() < 0.3:
                time.sleep(chance.uniform(0, 0.1))
            if chance.random() < 0.5:
                made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)

    def _connected(self, *, local: bool) -> socket.socket:
        made = socket.socket(socket.AF_UNIX if local else socket.AF_INET)
        try:
            made.connect(str(self._store / SOCKET) if local else ("127.0.0.1", self._port))
        except BaseException:
            made.close()
            raise
        return made


def _sample(pid: int, began: float) -> Sample:
    folder = Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    return Sample(
        time.monotonic() - began,
        len(list((folder / "fd").iterdir())),
        int(status["Threads"]),
        int(status["VmRSS"].split()[0]) / 1024,
    )


def hold(report: Report, *, most_mb: float) -> None:
    """Nothing is left of those who are gone: no descriptor, no thread, no place of a stream; memory is flat."""
    assert report.after.descriptors <= report.before.descriptors + SPARE, str(report)
    assert report.after.threads <= report.before.threads + POOL, str(report)
    assert report.served > 1
    assert report.after.rss_mb - report.samples[len(report.samples) // 2].rss_mb < most_mb, str(report)


def vanish(folder: Path, seconds: float, *, seed: int = 1) -> Report:
    """Let clients vanish from a server for so long, and return what it held."""
    store, port = folder / "memory", free_port()
    with braid.open(store) as made:
        for first in range(0, TURNS, 500):
            with made.transaction() as records:
                for at in range(first, first + 500):
                    records.append(f"Note {at}: " + "the parser is done. " * 20, user_id="maya")
        token = made.issue_token("vanishing", kind="person").secret
    server = Process(store).start("--port", str(port), "--limits", "read=1000000/minute,write=1000000/minute")
    try:
        with braid.connect(store) as client:
            for _ in range(20):
                client.recall("Which note?", user_id="maya")
                list(client.read(0, 50))
            served, began = 0, time.monotonic()
            before, samples = _sample(server.pid, began), list[Sample]()
            clients = Clients(store, port, token, seed)
            with clients.running():
                while (left := began + seconds - time.monotonic()) > 0:
                    time.sleep(min(left, max(0.5, seconds / 100)))
                    client.recall("Which note?", user_id="maya")  # who stays is served all the while
                    served += 1
                    samples.append(_sample(server.pid, began))
        after = _settled(server, began, before)
        return Report(clients.vanished, served, before, samples, after)
    finally:
        server.terminate()
        server.wait(60)


def _settled(server: "subprocess.Popen[bytes]", began: float, before: Sample) -> Sample:
    """Return what a server holds once everybody is gone: as before, or what it still has after a while."""
    deadline = time.monotonic() + SETTLE_S
    while True:
        now = _sample(server.pid, began)
        few = now.descriptors <= before.descriptors + SPARE and now.threads <= before.threads + POOL
        if few or time.monotonic() > deadline:
            return now
        time.sleep(0.2)
