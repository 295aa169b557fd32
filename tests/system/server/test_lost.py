"""A client whose server is lost at any byte of its answer, and a server whose clients are lost while they wait."""

import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread, enumerate
from typing import Any

import pytest

import braid
from braid.client import Client
from braid.errors import TooOftenError, UnreachableError
from braid.ledger.record.ids import RecordId
from braid.log.operations import Appended
from braid.socket_path import SOCKET
from braid.tools.http.app import STREAMS
from braid.transport import CONTENT_TYPE, encode
from tests.system.server.running import served

ID = RecordId("exp_2025-05-17T09:00:00Z_0000000300ab")
BODY = encode(Appended(id=ID, index=3))
HEAD = f"HTTP/1.1 200 OK\r\nContent-Type: {CONTENT_TYPE}\r\nContent-Length: {len(BODY)}\r\n\r\n".encode()
WHOLE = HEAD + BODY
CUTS = [0, 1, len(HEAD) - 1, len(HEAD), len(HEAD) + 1, len(WHOLE) - 1]
STREAM = f"HTTP/1.1 200 OK\r\nContent-Type: {CONTENT_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()


def _request(made: socket.socket) -> bytes:
    """Return a whole request: a client writes its head and its body one after the other."""
    raw = made.recv(2**16)
    head, _, body = raw.partition(b"\r\n\r\n")
    length = re.search(rb"Content-Length: (\d+)", head)
    assert length
    while len(body) < int(length[1]):
        body += made.recv(2**16)
    return head + body


@contextmanager
def answering(folder: Path, *answers: bytes) -> Iterator[list[bytes]]:
    """Give each connection one of the answers, and close it; yield what was asked."""
    asked: list[bytes] = []

    def run() -> None:
        with suppress(TimeoutError):
            for one in answers:
                made, _ = listening.accept()
                with made:
                    asked.append(_request(made))
                    made.sendall(one)

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / SOCKET))
        listening.listen()
        listening.settimeout(10)
        thread = Thread(target=run)
        thread.start()
        try:
            yield asked
        finally:
            thread.join(30)


@pytest.mark.parametrize("cut", CUTS)
def test_what_is_safe_is_asked_again(cut: int, tmp_path: Path) -> None:
    with answering(tmp_path, WHOLE[:cut], WHOLE) as asked, braid.connect(tmp_path) as client:
        assert client.append("One.", idempotency_key="k") == ID
    assert len(asked) == 2


@pytest.mark.parametrize("cut", CUTS)
def test_what_is_not_safe_is_told(cut: int, tmp_path: Path) -> None:
    with (
        answering(tmp_path, WHOLE[:cut]) as asked,
        braid.connect(tmp_path) as client,
        pytest.raises(braid.OutcomeUnknownError, match="lost while it did append"),
    ):
        client.append("One.")
    assert len(asked) == 1


def _read(client: Client) -> Any:
    return list(client.read())


def _append(client: Client) -> Any:
    return client.append("One.", idempotency_key="k")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("ask", "answers"),
    [
        (_read, [STREAM]),
        (_read, [STREAM + b"3\r\n\x00\x00"]),
        (_read, [STREAM + b"5\r\nI\x00\x00\x00\x09\r\n4\r\nab"]),
        (_append, [WHOLE[:-1]] * 3),
        (_append, [b""] * 3),
    ],
)
def test_one_that_stays_lost_is_unreachable(
    ask: Callable[[Client], Any], answers: list[bytes], tmp_path: Path
) -> None:
    with (
        answering(tmp_path, *answers),
        braid.connect(tmp_path) as client,
        pytest.raises(UnreachableError),
    ):
        ask(client)


def test_who_waits_for_a_record_and_is_gone_leaves_no_stream(tmp_path: Path) -> None:
    body = b'{"start": 999, "seconds": 300}'
    head = f"POST /v1/tail HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with braid.open(tmp_path / "store") as store, served(store), braid.connect(store.path) as client:
        gone = [socket.socket(socket.AF_UNIX) for _ in range(STREAMS)]
        for one in gone:
            one.connect(str(store.path / SOCKET))
            one.sendall(head + body)
        until(lambda: streams() == STREAMS)
        with pytest.raises(TooOftenError, match="streams are open"):
            next(client.read())
        for one in gone:
            one.close()
        until(lambda: streams() == 0)
        assert len(list(client.read())) == len(store)


def streams() -> int:
    return sum(one.name == "braid-stream" for one in enumerate())


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 15
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)
