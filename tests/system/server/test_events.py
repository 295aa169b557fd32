"""What a server logs: an id through request, operation, job and model; and never a word of what was said."""

import http.client
import io
import json
import random
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import braid
from braid.event_log import FIELDS
from braid.jobs.running import Models
from braid.providers.outbound import outbound
from braid.registry import operations
from braid.socket_path import SOCKET, short_path
from braid.store import Store
from braid.tools.event_lines import shown
from braid.tools.http.request_log import HEADER, noted
from braid.tools.http.workers import Workers
from tests.system.server.running import Process, served
from tests.system.server.test_workers import ended, until
from tests.unit.api.test_jobs import Model, knows, readings, say
from tests.unit.learn.test_extraction import HOME, PARSER

MARK: Final = "hunter2zebra"
KNOWN: Final = {"time", "level", "service", "event", "logger", *FIELDS}


class Unix(http.client.HTTPConnection):
    """A connection to the socket in a store's folder."""

    def __init__(self, store: Path) -> None:
        super().__init__("localhost", timeout=30)
        self._at = store / SOCKET

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        with short_path(self._at) as name:
            self.sock.connect(name)


def post(store: Store, path: str, body: bytes, **headers: str) -> tuple[int, dict[str, str]]:
    connection = Unix(store.path)
    connection.request("POST", path, body, headers)
    answer = connection.getresponse()
    answer.read()
    told = answer.status, {name.lower(): value for name, value in answer.getheaders()}
    connection.close()
    return told


@pytest.fixture
def logged(tmp_path: Path) -> Iterator[tuple[Store, io.StringIO]]:
    stream = io.StringIO()
    with braid.open(tmp_path / "memory", parser=None, server=None) as store, shown("json", stream=stream):
        store.session.observers.append(noted)
        with served(store):
            yield store, stream


def events(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_request_has_one_id_in_all_that_is_said_of_it(logged: tuple[Store, io.StringIO]) -> None:
    store, stream = logged
    id = "0b0e7a8e-7a55-4d58-9c58-1f6f3f0e3c8a"
    said = json.dumps({"messages": MARK, "mode": "async", "session_id": id}).encode()
    status, headers = post(store, "/v1/remember", said, **{HEADER: id})
    assert (status, headers[HEADER.lower()]) == (200, id)
    until(lambda: any(one["event"] == "request" for one in events(stream)))
    told = {one["event"]: one for one in events(stream) if one.get("request_id") == id}
    assert set(told) == {"remembered", "operation", "request"}
    assert told["remembered"]["memory_id"].startswith("exp_")
    assert told["remembered"]["session_id"] == told["operation"]["session_id"] == id
    assert {one["event"]: one["component"] for one in told.values()} == {
        "remembered": "remember",
        "operation": "operations",
        "request": "server",
    }
    assert (told["operation"]["operation"], told["operation"]["outcome"]) == ("remember", "ok")
    assert told["operation"]["latency_ms"] > 0
    assert (told["request"]["status"], told["request"]["outcome"]) == (200, "ok")
    memory = told["remembered"]["memory_id"]
    post(store, "/v1/get", json.dumps({"id": memory}).encode())
    assert [one["memory_id"] for one in events(stream) if one.get("operation") == "get"] == [memory]


def test_a_job_and_the_model_that_it_asks_share_an_id(logged: tuple[Store, io.StringIO]) -> None:
    store, stream = logged
    model = knows()
    workers = Workers(store.session, 1, lambda: Models(small=model, parser=PARSER))
    session = "5d0a4e52-1c1f-4f0e-9f43-6a7b8c9d0e1f"
    say(store, HOME, session=session)
    ended(store, session)
    workers.start()
    try:
        until(lambda: len(readings(store)) == 1)
        until(
            lambda: any(one["event"] == "job" and "extraction" in one["consumer"] for one in events(stream))
        )
    finally:
        workers.stop(20)
    (asked,) = [one for one in events(stream) if one["event"] == "model_asked"]
    assert (asked["operation"], asked["provider"], asked["model"], asked["outcome"], asked["tokens"]) == (
        "extract",
        "own",
        "small",
        "ok",
        120,
    )
    (job,) = [
        one for one in events(stream) if one["event"] == "job" and one["request_id"] == asked["request_id"]
    ]
    assert job["job_id"].startswith("job_")
    assert job["session_id"] == asked["session_id"] == session
    assert (job["consumer"], job["outcome"]) == ("session-extraction", "done")
    (call,) = outbound(store.session).newest(1)
    assert call.request_id == asked["request_id"]


def marked(value: Any, chance: random.Random) -> Any:
    """Return an example with the mark in the place of some of its texts."""
    if isinstance(value, str):
        return chance.choice((MARK, f"{value} {MARK}", value, MARK.upper()))
    if isinstance(value, list):
        return [marked(each, chance) for each in value] or [MARK]
    if isinstance(value, dict):
        return {
            (name if chance.random() < 0.95 else MARK): marked(each, chance) for name, each in value.items()
        }
    return value if chance.random() < 0.9 else MARK


@pytest.mark.soak
@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_asked_no_word_of_it_is_logged(logged: tuple[Store, io.StringIO], seed: int) -> None:
    from braid import wire

    store, stream = logged
    chance = random.Random(seed)
    store.append(f"{HOME} {MARK}", user_id=MARK)
    for known in operations().values():
        if known.name in ("tail", "changes") or not known.remote:
            continue
        for _ in range(2):
            body = wire.to_json(marked(json.loads(wire.to_json(known.example)), chance))
            status, _ = post(store, f"/v1/{known.name}", body, **{HEADER: MARK})
            assert status != 0
    post(store, f"/v1/{MARK}", b"{}")
    post(store, f"/{MARK}?q={MARK}", MARK.encode())
    post(store, "/hook", MARK.encode())
    broken = Model(lambda _: (_ for _ in ()).throw(RuntimeError(MARK)))
    say(store, f"{HOME} {MARK}")
    store.work(model=broken, parser=PARSER, most=5)
    told = stream.getvalue()
    assert len(told.splitlines()) > 200
    assert MARK not in told
    assert MARK.upper() not in told
    assert {name for one in events(stream) for name in one} <= KNOWN
    assert {"operation", "request", "job"} <= {one["event"] for one in events(stream)}


def test_what_failed_inside_is_named_by_its_class(
    logged: tuple[Store, io.StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, stream = logged

    def fails() -> int:
        raise RuntimeError(MARK)

    monkeypatch.setattr(store.session, "refresh", fails)
    status, _ = post(store, "/v1/status", b"{}")
    assert status == 500
    until(lambda: any(one["event"] == "request" for one in events(stream)))
    told = {one["event"]: one for one in events(stream)}
    assert told["request_failed"]["outcome"] == told["operation"]["outcome"] == "RuntimeError"
    assert told["request"]["level"] == "error"
    assert MARK not in stream.getvalue()


@pytest.mark.soak
def test_a_server_writes_json_lines_to_stderr(tmp_path: Path) -> None:
    process = Process(tmp_path / "memory")
    braid.init(process.folder)
    server = process.start("--log", "json", "--workers", "1")
    try:
        with braid.connect(process.folder) as client:
            client.remember(f"I live in {MARK}.", user_id="maya", mode="async")
        until(lambda: '"event": "job"' in process.log.read_text("utf-8"))
    finally:
        server.terminate()
        server.wait(30)
    lines = process.log.read_text("utf-8").splitlines()
    told = [json.loads(line) for line in lines if not line.startswith("braid: ")]
    assert "remember" in {one.get("operation") for one in told}
    assert MARK not in "".join(lines)
