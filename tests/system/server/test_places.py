"""Many questions at once: eight of an operation run, the rest wait in line, and who appends does not wait for them."""

import json
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, Final

import pytest

import braid
from braid.caller import Caller
from braid.client.remote import Remote
from braid.operation import Operation, Request
from braid.registry import operations
from braid.tools.http.app import Server
from braid.tools.http.places import TOGETHER, Places
from tests.system.server.running import served

ASKING: Final = 60
"""More than the threads that the server has for all requests."""


def ask(store: Path, name: str, body: dict[str, Any]) -> int:
    connection = Remote(store).connection()
    try:
        while connection.sock is None:
            with suppress(BlockingIOError):  # as many wait to be taken in as the socket's queue holds
                connection.connect()
        connection.request("POST", f"/v1/{name}", json.dumps(body).encode())
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def test_questions_leave_threads_for_what_is_appended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, most, lock, full, ends = 0, 0, Lock(), Event(), Event()
    answer = Server._answer

    def slow(self: Server, known: Operation, caller: Caller, asked: Request) -> Any:
        nonlocal running, most
        if known.name != "recall":
            return answer(self, known, caller, asked)
        with lock:
            running += 1
            most = max(most, running)
            if running == TOGETHER:
                full.set()
        assert ends.wait(30)
        with lock:
            running -= 1
        return answer(self, known, caller, asked)

    monkeypatch.setattr(Server, "_answer", slow)
    statuses: list[int] = []
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard", server=None) as store, served(store):
        asking = [
            Thread(target=lambda: statuses.append(ask(store.path, "recall", {"query": "cat"})))
            for _ in range(ASKING)
        ]
        for one in asking:
            one.start()
        try:
            assert full.wait(30)
            assert ask(store.path, "append", {"text": "The cat is called Miso."}) == 200
            assert ask(store.path, "status", {}) == 200  # each operation has places of its own
            assert most == TOGETHER
        finally:
            ends.set()
            for one in asking:
                one.join()
    assert statuses == [200] * ASKING
    assert most == TOGETHER


def test_what_changes_something_or_takes_long_has_no_line() -> None:
    places = Places()
    waiting = {name for name, known in operations().items() if places.of(known) is not None}
    assert {"recall", "context", "sql"} <= waiting
    assert not {"append", "remember", "forget", "ask", "verify", "get"} & waiting
    recall = operations()["recall"]
    assert places.of(recall) is places.of(recall)
    assert places.of(recall) is not places.of(operations()["context"])
