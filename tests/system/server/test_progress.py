"""What takes its time is answered by events: how far it is, then the answer; what is refused at once has its status."""

import http.client
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import braid
from braid.ledger.audit import verify as audit
from braid.session import Session
from braid.store import Store
from braid.tools.http import app, progress
from tests.system.server.running import served
from tests.unit.api.test_operations import NOW


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    ticks = iter(range(10**6))
    with braid.open(
        tmp_path / "store", guard_dir=tmp_path / "guard", clock=lambda: NOW + timedelta(seconds=next(ticks))
    ) as opened:
        yield opened


def ask(port: int, token: str, name: str, body: object) -> tuple[int, str, list[tuple[str, Any]]]:
    """Return the status, the media type, and of events each name with its data; `data` where it has no name."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
    connection.request("POST", f"/v1/{name}", json.dumps(body).encode(), headers)
    answer = connection.getresponse()
    raw, kind = answer.read().decode(), answer.getheader("content-type") or ""
    connection.close()
    if "event-stream" not in kind:
        return answer.status, kind, [("problem", json.loads(raw))]
    found: list[tuple[str, Any]] = []
    for part in raw.strip("\n").split("\n\n"):
        lines = dict(line.partition(": ")[::2] for line in part.splitlines() if not line.startswith(":"))
        if lines:
            data = lines.get("data")
            found.append((lines.get("event", "data"), json.loads(data) if data else None))
    return answer.status, kind, found


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["ask", "replay", "verify", "jobs"])
def test_any_operation_is_answered_by_events(name: str, store: Store) -> None:
    store.append("Maya lives in Porto.", user_id="maya")
    body = {"question": "Where does Maya live?"} if name == "ask" else {}
    token = store.issue_token("laptop", kind="operator").secret
    with served(store, port=True) as port:
        status, kind, found = ask(port or 0, token, name, body)
    assert (status, kind.partition(";")[0]) == (200, "text/event-stream")
    assert [one for one, _ in found] == ["data", "end"]
    assert isinstance(found[0][1], dict)


def test_it_says_how_far_it_is_and_that_it_is_at_work(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((app, "LOOK_S"), (progress, "STEP_S"), (progress, "STILL_S")):
        monkeypatch.setattr(module, name, 0.02)
    seen = Event()
    events = progress.events

    async def watched(*args: Any) -> Any:
        async for one in events(*args):
            if one.startswith(b": "):
                seen.set()
            yield one

    monkeypatch.setattr(app, "events", watched)
    real = audit.verify

    def slow(*args: Any, progress: Callable[[int, int], None], **more: Any) -> Any:
        progress(1, 2)
        assert seen.wait(20)
        return real(*args, progress=progress, **more)

    monkeypatch.setattr(audit, "verify", slow)
    token = store.issue_token("laptop", kind="operator").secret
    with served(store, port=True) as port:
        found = ask(port or 0, token, "verify", {})[2]
    assert found[0] == ("progress", {"done": 1, "total": 2})
    assert [one for one, _ in found[-2:]] == ["data", "end"]
    assert found[-2][1]["exit_code"] == 0


def test_what_fails_late_stands_at_the_end(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "LOOK_S", 0.0)
    token = store.issue_token("laptop", kind="operator").secret
    with served(store, port=True) as port:
        status, _, found = ask(port or 0, token, "get", {"id": "exp_2025-05-17T09:00:00Z_0000000300ab"})
    assert status == 200
    assert [(one, data["status"]) for one, data in found] == [("problem", 404)]


def test_what_is_refused_at_once_is_a_problem(store: Store) -> None:
    token = store.issue_token("bot", kind="model").secret
    with served(store, port=True) as port:
        for name, body, wanted in (
            ("get", {"id": "exp_2025-05-17T09:00:00Z_0000000300ab"}, 404),
            ("append", {"text": "x"}, 403),
            ("recall", {"query": 7}, 400),
        ):
            status, kind, found = ask(port or 0, token, name, body)
            assert (status, kind, found[0][1]["status"]) == (wanted, "application/problem+json", wanted)


def test_who_is_gone_leaves_nothing_behind(store: Store) -> None:
    """What was begun is done; the session that did it is as it was."""
    assert isinstance(store.session, Session)
    token = store.issue_token("laptop", kind="operator").secret
    with served(store, port=True) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port or 0, timeout=30)
        headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
        connection.request("POST", "/v1/replay", b"{}", headers)
        connection.close()
        assert ask(port or 0, token, "verify", {})[2][0][1]["exit_code"] == 0
