"""What a server does beside its operations: ETags, streams that go on, limits, summaries, the freeze, other names."""

import asyncio
import http.client
import json
import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import braid
from braid.caller import Caller, asked_by
from braid.errors import AccessDeniedError, FrozenError, TooOftenError
from braid.ledger.record.record import EventBody
from braid.spikes import SPIKE
from braid.store import Store
from braid.text_budget import ANSWER_BYTES, most_tokens
from braid.tools.http import app
from braid.tools.http.limits import Limits, read_rates
from braid.tools.http.watch import MOST, WINDOW_S, Watch
from braid.wal.durable import counts
from tests.system.server.running import served
from tests.unit.api.test_operations import NOW


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    ticks = iter(range(10**6))
    with braid.open(
        tmp_path / "store", guard_dir=tmp_path / "guard", clock=lambda: NOW + timedelta(seconds=next(ticks))
    ) as opened:
        yield opened


class Asker:
    """Asks at a port."""

    def __init__(self, port: int | None, token: str | None) -> None:
        assert port is not None
        self.port = port
        self.token = token

    def __call__(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> tuple[int, Any, dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        connection.request(method, path, None if body is None else json.dumps(body), sent)
        answer = connection.getresponse()
        raw = answer.read()
        connection.close()
        told = {name.lower(): value for name, value in answer.getheaders()}
        whole = raw and told.get("content-type", "").endswith("json")
        return answer.status, json.loads(raw) if whole else raw.decode(), told


def operator(store: Store) -> str:
    return store.issue_token("laptop", kind="operator").secret


def test_what_only_reads_is_asked_by_get_too_and_has_an_etag(store: Store) -> None:
    store.append("It rained.", user_id="maya")
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        path = "/v1/recall?query=rain&user_id=maya&top_k=3"
        status, found, told = ask("GET", path)
        assert (status, found["results"][0]["text"]) == (200, "It rained.")
        assert ask("GET", path, If_None_Match=told["etag"])[0] == 304
        assert ask("GET", path, If_None_Match=f'"x", W/{told["etag"]}')[0] == 304
        store.append("It rained again.", user_id="maya")
        assert ask("GET", path, If_None_Match=told["etag"])[0] == 200
        query = "SELECT+count(*)+AS+n+FROM+experiences+WHERE+user_id=$who&parameters={%22who%22:%22maya%22}"
        status, counted, told = ask("GET", f"/v1/sql?query={query}&rows=9")
        assert counted["table"]["rows"] == [[2]]
        assert told["braid-limits"] == "seconds=30.0, rows=9, result_bytes=268435456"
        assert ask("GET", "/v1/append?text=x")[0] == 405
        assert ask("GET", "/v1/recall?query=x&top_k=many")[0] == 400
        assert ask("POST", "/v1/append", {"text": "x"}, If_Match='"3"')[0] == 400


def test_long_texts_are_cut_and_read_on(store: Store) -> None:
    long, short = "It rained. " * 200_000, "It was dry."
    id, other = store.append(long, user_id="maya"), store.append(short, user_id="maya")
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        status, found, told = ask("GET", f"/v1/get?id={id}")
        _, page, said = ask("GET", "/v1/memories?user_id=maya")
        assert (status, told["braid-cut"], said["braid-cut"]) == (200, "1", "1")
        for text in (found["record"]["content"]["text"], page["memories"][1]["text"]):
            assert text.endswith(f" of {len(long)} characters]")
            assert 2**19 < len(text) < 2**20
        assert page["memories"][0]["text"] == short
        assert "braid-cut" not in ask("GET", f"/v1/get?id={other}")[2]
        assert ask("GET", f"/api/memory/{id}/history")[2]["braid-cut"] == "1"
        part = ask("GET", f"/v1/excerpt?id={id}&start=11&chars=22")[1]
        assert (part["text"], part["whole_chars"], part["next"]) == ("It rained. " * 2, len(long), 33)
        assert ask("GET", f"/v1/excerpt?id={id}&start={len(long)}")[1]["next"] is None
    with served(store), braid.connect(store.path) as client:
        assert client.get(id).text == long


@pytest.mark.parametrize("asked", ["context", "briefing"])
def test_a_budget_is_bounded_where_it_leaves_the_process(asked: str, store: Store) -> None:
    store.append("Maya lives in Porto.", user_id="maya")
    most = most_tokens(ANSWER_BYTES)
    query = {"query": "Where does Maya live?"} if asked == "context" else {}
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        for budget, wanted in ((most, 200), (most + 1, 400), (10**30, 400)):
            status, told, _ = ask("POST", f"/v1/{asked}", {**query, "user_id": "maya", "budget": budget})
            assert status == wanted, told
        assert f"{asked}: budget is a whole number of at most {most} here, not {most + 1}" in str(
            ask("GET", f"/v1/{asked}?user_id=maya&budget={most + 1}" + "".join(f"&{k}=x" for k in query))
        )
    assert store.briefing(user_id="maya", budget=most + 1)  # in process it is free
    assert store.context("Where does Maya live?", user_id="maya", budget=most + 1)


def test_another_method_is_told_the_right_one(store: Store) -> None:
    said = store.append("It rained.")
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        for method, path, allowed in (
            ("GET", "/v1/append?text=x", "POST"),
            ("PUT", "/v1/get", "GET, HEAD, POST"),
            ("DELETE", "/healthz", "GET, HEAD"),
            ("PUT", f"/api/memory/{said}", "DELETE, PATCH"),
        ):
            status, problem, told = ask(method, path)
            assert (status, problem["status"]) == (405, 405)
            assert sorted(told["allow"].split(", ")) == sorted(allowed.split(", ")), path


def test_if_match_is_a_version(store: Store) -> None:
    said = store.append("It rained.")
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        change = {"id": said, "text": "It poured.", "reason": "it did"}
        assert ask("POST", "/v1/modify", change, If_Match='"7"')[0] == 412
        assert ask("POST", "/v1/modify", change, If_Match="one")[0] == 400
        assert ask("POST", "/v1/modify", change, If_Match='"1"')[1]["version"] == 2


def test_a_header_stands_for_its_member_on_every_route_or_is_refused(store: Store) -> None:
    said = store.append("It rained.")
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        change = {"content": "It poured.", "reason": "it did"}
        assert ask("PATCH", f"/api/memory/{said}", change, If_Match='"7"')[0] == 412
        assert ask("DELETE", f"/api/memory/{said}?reason=x", If_Match='"1"')[0] == 400
        assert ask("PATCH", f"/api/memory/{said}", change, If_Match='"1"')[1]["version"] == 2
        key = {"Idempotency_Key": "k1"}
        once = [ask("POST", "/api/memory/remember", {"content": "The cat is Miso."}, **key) for _ in "ab"]
        assert once[0][1]["memory_id"] == once[1][1]["memory_id"]
        assert ask("POST", "/api/memory/remember", {"content": "The dog is Rex."}, **key)[0] == 409
        for body, headers, status, why in (
            ({}, {"Idempotency_Key": "k" * 1001}, 400, "at most 1000 characters"),
            ({}, {"Idempotency_Key": ""}, 400, "isn't empty"),
            ({"idempotency_key": "k2"}, {"Idempotency_Key": "k3"}, 400, "leave one out"),
            ({"idempotency_key": "k2"}, {"Idempotency_Key": "k2"}, 200, ""),
        ):
            got, told, _ = ask("POST", "/v1/append", {"text": "One.", **body}, **headers)
            assert (got, why in told.get("detail", "")) == (status, True)


def test_no_route_leads_to_another(store: Store) -> None:
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        for path in ("/v1/", "/v1/status/", "/healthz/", "/api/memory/remember/"):
            status, told, _ = ask("POST", path, {})
            assert (status, "no route" in told["detail"]) == (404, True), path


def test_what_is_not_there_is_not_found(store: Store) -> None:
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        for path in (
            "entity?entity=Nobody",
            "review?id=rev_0123456789ab",
            "get?id=exp_2025-05-17T09:00:00Z_0000000300ab",
        ):
            assert ask("GET", f"/v1/{path}")[0] == 404, path


def test_a_query_says_a_time_as_a_time(store: Store) -> None:
    store.append("It rained.")
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        assert ask("GET", "/v1/status_at?valid_at=2025-06-02T00:00:00Z")[0] == 200
        status, problem, _ = ask("GET", "/v1/status_at?valid_at=0.5")
        assert (status, problem["detail"]) == (
            400, "status_at: valid_at is a time with its zone, not a number",
        )  # fmt: skip


def test_a_stream_goes_on_behind_the_last_event(store: Store) -> None:
    for text in ("One.", "Two.", "Three."):
        store.append(text)
    size = len(store)
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        later = Thread(target=lambda: store.append("Four."))
        later.start()
        events = ask(
            "POST", "/v1/tail", {"seconds": 1.0},
            Accept="text/event-stream", Last_Event_ID=str(size - 2),
        )[1]  # fmt: skip
        later.join()
        seen = [int(line[4:]) for line in events.splitlines() if line.startswith("id: ")]
        assert seen == list(range(size - 1, len(store)))
        assert ask("POST", "/v1/tail", {}, Last_Event_ID="x")[0] == 400
        assert ask("POST", "/v1/tail", {"seconds": 1e9})[0] == 400


def test_who_asks_too_often_waits(store: Store) -> None:
    said = [store.append(f"{k}") for k in range(4)]
    mine = store.issue_token("bot", kind="person").secret
    with served(store, port=True, limits=Limits(read_rates("destroy=2/minute,wrong token=3/minute"))) as port:
        ask, other, nobody = Asker(port, mine), Asker(port, operator(store)), Asker(port, "braid_x")
        assert [ask("POST", "/v1/forget", {"ids": [id]})[0] for id in said[:3]] == [200, 200, 429]
        status, problem, told = ask("POST", "/v1/forget", {"ids": [said[3]]})
        assert (status, problem["title"], told["retry-after"]) == (429, "Too often", "60")
        assert ask("POST", "/v1/status", {})[0] != 429
        with (
            braid.connect(f"http://127.0.0.1:{port}", token=mine) as client,
            pytest.raises(TooOftenError, match="asked too often") as refused,
        ):
            client.forget(said[3])
        assert refused.value.wait_s == 60
        assert other("POST", "/v1/forget", {"ids": [said[3]]})[0] == 200
        assert [nobody("POST", "/v1/status", {})[0] for _ in range(5)] == [401] * 3 + [429] * 2
        assert ask("POST", "/v1/get", {"id": said[3]})[0] == 410  # a stranger keeps nobody out
    for wrong in ("destroy", "destroy=often", "erase=1/minute"):
        with pytest.raises(ValueError, match="write"):
            read_rates(wrong)


def named(store: Store, name: str) -> list[Any]:
    bodies = [one.body for one in store.read()]
    return [one.data for one in bodies if isinstance(one, EventBody) and one.name == name]


def test_an_agents_tools_and_hooks_are_limited_and_watched_as_all_else(store: Store) -> None:
    said = [store.append(f"The cat sat {k} times.") for k in range(SPIKE + 4)]
    person = store.issue_token("bot", kind="person").secret
    header = {
        "harness": "claude-code",
        "session": "s",
        "runtime_path": "hook",
        "request": "turn_end",
        "reason": "x",
    }

    def forget(ask: Asker, *ids: str) -> Any:
        called = {"name": "memory_forget", "arguments": {"ids": ids, "confirm": True, "reason": "x"}}
        sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
        status, answer, _ = ask(
            "POST",
            "/mcp",
            sent,
            Accept="application/json, text/event-stream",
            Content_Type="application/json",
        )
        assert status == 200
        return answer["result"]

    with served(store, port=True, limits=Limits(read_rates("destroy=2/minute,write=1/minute"))) as port:
        ask = Asker(port, person)
        assert not forget(ask, *said[:SPIKE])["isError"]
        assert not forget(ask, said[SPIKE], said[SPIKE + 1])["isError"]
        refused = forget(ask, said[-1])
        assert refused["isError"]
        assert "bot has asked too often for what counts as 'destroy'" in refused["content"][0]["text"]
        assert ask("POST", "/hook", header)[0] == 200
        status, _, headers = ask("POST", "/hook", header)
        assert (status, headers["retry-after"]) == (429, "60")
    (told,) = named(store, "alarm")
    assert (told["what"], told["count"]) == ("deletes", SPIKE + 2)


def test_a_stranger_grows_no_log(store: Store) -> None:
    now = [0.0]
    watch = Watch(store.session, lambda: now[0])
    size = len(store)
    for k in range(10 * MOST):
        watch.refused(f"stranger {k}", "status", "no valid token")
    assert len(store) == size
    now[0] += WINDOW_S
    for _ in range(1000):
        watch.refused("nobody", "any", "no valid token")
    assert len(store) == size + 1
    (told,) = named(store, "denied")
    assert len(told["refused"]) == MOST
    assert sum(one["count"] for one in told["refused"]) + told["others"] == 10 * MOST + 1
    watch.sign(ending=True)
    assert [one["count"] for one in named(store, "denied")[1]["refused"]] == [999]
    assert store.verify().findings == []


def test_many_deletions_are_an_alarm(store: Store) -> None:
    said = [store.append(f"{k}") for k in range(SPIKE + 2)]
    person = store.issue_token("bot", kind="person").secret
    with served(store, port=True) as port:
        ask = Asker(port, person)
        assert ask("POST", "/v1/forget", {"ids": said[:SPIKE]})[0] == 200
        assert named(store, "alarm") == []
        assert ask("POST", "/v1/forget", {"ids": said[SPIKE:]})[0] == 200
    (told,) = named(store, "alarm")
    assert (told["what"], told["caller"], told["count"]) == ("deletes", "bot", SPIKE + 2)


def test_many_that_are_forgotten_by_one_token_are_an_alarm(store: Store) -> None:
    for k in range(SPIKE + 2):
        store.append(f"The cat sat {k} times.", user_id="maya")
    person = store.issue_token("bot", kind="person", user_id="maya").secret
    with served(store, port=True) as port:
        ask = Asker(port, person)
        shown = ask("POST", "/v1/preview_forget", {"query": "cat", "limit": 50})[1]
        said = {"token": shown["token"], "reason": "asked", "confirm": shown["confirm"]}
        assert len(ask("POST", "/v1/forget_previewed", said)[1]["forgotten"]) == SPIKE + 2
    (told,) = named(store, "alarm")
    assert (told["what"], told["count"]) == ("deletes", SPIKE + 2)


def test_many_deletions_freeze_where_it_is_set(store: Store) -> None:
    store.change_setting("freeze_on_alarm", "true", reason="nobody watches at night")
    said = [store.append(f"{k}") for k in range(SPIKE + 2)]
    person, laptop = store.issue_token("bot", kind="person").secret, operator(store)
    with served(store, port=True) as port:
        ask, other = Asker(port, person), Asker(port, laptop)
        assert ask("POST", "/v1/forget", {"ids": said[:-1]})[0] == 200
        status, problem, _ = ask("POST", "/v1/forget", {"ids": said[-1:]})
        assert (status, "an operator sets it back to false" in problem["detail"]) == (423, True)
        lift = {"key": "mutations_frozen", "value": "false", "reason": "it was meant so"}
        assert ask("POST", "/v1/change_setting", lift)[0] == 403
        assert other("POST", "/v1/change_setting", lift)[0] == 200
        assert ask("POST", "/v1/forget", {"ids": said[-1:]})[0] == 200
    (alarm,) = named(store, "alarm")
    assert (alarm["what"], alarm["caller"], alarm["count"]) == ("deletes", "bot", SPIKE + 1)


def test_many_wrong_targets_are_an_alarm_and_each_is_logged(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING")
    with served(store, port=True) as port:
        for name in ("one", "two"):
            ask = Asker(port, store.issue_token(name, kind="person").secret)
            for k in range(SPIKE + 1):
                id = f"exp_2025-05-17T09:00:00Z_0000000{k:05d}"
                assert ask("POST", "/v1/modify", {"id": id, "text": "x", "reason": "x"})[0] == 404
    (told,) = named(store, "alarm")  # one an hour is signed
    assert (told["what"], told["caller"], told["count"]) == ("wrong targets", "one", SPIKE + 1)
    assert [one.getMessage() for one in caplog.records].count("alarm") == 2


def test_a_frozen_store_is_changed_by_an_operator_alone(store: Store) -> None:
    said = store.append("It rained.", user_id="maya")
    person = store.issue_token("maya", kind="person").secret
    with served(store, port=True) as port:
        maya, boss = Asker(port, person), Asker(port, operator(store))
        assert maya("POST", "/v1/freeze", {})[0] == 403
        assert boss("POST", "/v1/freeze", {"reason": "odd"})[1]["frozen"] is True
        size = len(store)
        assert store.freeze(reason="again").reason == "odd"
        for name, body in (
            ("append", {"text": "x"}), ("forget", {"ids": [said]}), ("remember", {"messages": "x"}),
            ("ask", {"question": "Rain?", "write": True}), ("correct", {"id": said, "text": "x"}),
        ):  # fmt: skip
            status, problem, _ = maya("POST", f"/v1/{name}", body)
            assert (status, problem["error"]) == (423, "FrozenError"), name
        assert len(store) == size
        for body in ({"question": "Rain?"}, {"question": "Rain?", "write": False}):
            status, answered, _ = maya("POST", "/v1/ask", body)
            assert (status, answered["answer_id"]) == (200, None)
        assert len(store) == size
        assert maya("GET", "/v1/frozen")[1]["reason"] == "odd"
        assert boss("POST", "/v1/append", {"text": "An operator may."})[0] == 200
        tools = Caller(name="mcp", kind="agent", allowed=frozenset(("read", "write")))
        with asked_by(tools), pytest.raises(FrozenError, match="odd"):
            store.append("Not by its own tools either.")
        assert boss("POST", "/v1/unfreeze", {})[1]["frozen"] is False
        assert maya("POST", "/v1/append", {"text": "x"})[0] == 200
    assert store.unfreeze().record is None


def test_who_may_only_read_writes_no_answers(store: Store) -> None:
    store.append("It rained.")
    with asked_by(Caller(name="model", kind="model", allowed=frozenset(("read",)))):
        with pytest.raises(AccessDeniedError, match="write"):
            store.ask("Did it rain?", write=True)
        size = len(store)
        assert store.ask("Did it rain?").answer_id is None
        assert store.ask("Did it rain?", write=False).text
        assert len(store) == size


def test_the_other_names(store: Store) -> None:
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        status, made, _ = ask(
            "POST", "/api/memory/remember", {"content": "The cat is called Miso.", "raw": True}
        )
        assert (status, made["status"], made["warnings"]) == (200, "raw_saved", [])
        id = made["memory_id"]
        for method, path, given in (
            ("POST", "remember", {"content": "x", "contents": "y"}),
            ("PATCH", id, {"type": "inference", "reason": "x"}),
            ("POST", "forget", {"idz": [id]}),
        ):
            status, refused, _ = ask(method, f"/api/memory/{path}", given)
            assert status == 400
            assert "there is no member" in refused["detail"]
        right = store.correct(id, "The cat is called Mochi.")
        assert ask("DELETE", f"/api/memory/{right}")[0] == 400  # no reason
        assert ask("DELETE", f"/api/memory/{right}?reason=asked")[1]["status"] == "forgotten"
        assert ask("POST", f"/api/memory/{right}/recover", {})[1]["status"] == "recovered"
        events = [one["event"] for one in ask("GET", f"/api/memory/{id}/history")[1]["events"]]
        assert events == ["ADD", "UPDATE", "DELETE", "RECOVER"]
        assert ask("PATCH", f"/api/memory/{id}", {"pinned": False, "reason": "x", "if_version": 1})[0] == 412
        assert ask("PATCH", f"/api/memory/{id}", {"content": "The cat is Mochi."})[0] == 400  # no reason
        changed = {"content": "The cat is Mochi.", "reason": "short", "if_version": 4}
        assert ask("PATCH", f"/api/memory/{id}", changed)[1]["version"] == 5
        patches = [{"id": id, "importance": 0.9, "reason": "x"}, {"id": id, "reason": "x", "if_version": 1}]
        results = ask("POST", "/api/memory/modify", {"patches": patches})[1]["results"]
        assert [one["success"] for one in results] == [True, False]
        right = ask("GET", f"/api/memory/{id}/history")[1]["events"][-2]["id"]
        found = ask("POST", "/api/memory/forget", {"query": "cat", "limit": 3})[1]
        assert [(one["id"], one["text"]) for one in found["candidates"]] == [(right, "The cat is Mochi.")]
        assert found["confirm_token"]
        done = {"mode": "execute", "ids": [right], "reason": "asked"}
        assert ask("POST", "/api/memory/forget", done)[1]["forgotten"] == [right]
        assert ask("GET", "/api/memory/jobs/1", {})[0] == 400
        later = ask("POST", "/api/memory/remember", {"content": "I live in Porto.", "mode": "async"})[1]
        assert later["status"] == "queued"
        job = ask("GET", f"/api/memory/jobs/{later['job_id']}")[1]
        assert (job["id"], job["status"], job["attempts"]) == (later["job_id"], "pending", 0)
        again = ask(
            "POST", "/api/memory/remember", {"content": "I live in Porto.", "pipeline_timeout_ms": 30_000}
        )
        assert (again[1]["memory_id"], again[1]["status"]) == (later["memory_id"], "processed")
        assert ask("POST", "/api/memory/remember", {"content": "x", "pipeline_timeout_ms": 10**6})[0] == 400
        store.change_setting("remember_mode", "async", reason="quick answers")
        assert ask("POST", "/api/memory/remember", {"content": "I live in Leeds."})[1]["status"] == "queued"
        assert ask("POST", "/api/memory/remember", {})[0] == 400
        assert Asker(port, None)("POST", "/api/memory/remember", {"content": "x"})[0] == 401


def test_many_are_forgotten_by_the_other_name_with_a_token_alone(store: Store) -> None:
    """Filters, a preview of ids and scores, a token above the threshold, and force for what is pinned."""
    said = [
        store.append(f"Ana's cat number {k}.", user_id="ana", name="Ana", tags=["pets"]) for k in range(12)
    ]
    other = store.append("Ben's cat.", user_id="ana", name="Ben", actor="agent")
    url = "/api/memory/forget"
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        query: dict[str, Any] = {"query": "cat", "user_id": "ana", "limit": 50}

        def shown(**filters: Any) -> set[str]:
            return {one["id"] for one in ask("POST", url, query | filters)[1]["candidates"]}

        assert shown() == {*said, other}
        assert shown(tags=["pets"]) == shown(who="Ana") == {*said}
        assert shown(who="agent") == shown(who="Ben") == {other}
        assert shown(type="inference") == shown(source_type="mail") == set()
        assert shown(since="2099-01-01T00:00:00Z") == set()
        assert shown(until="2099-01-01T00:00:00Z") == {*said, other}
        many = {"mode": "execute", "ids": said, "reason": "asked"}
        status, problem, _ = ask("POST", url, many)
        assert (status, problem["error"]) == (403, "ConfirmationError")
        preview = ask("POST", url, query | {"tags": ["pets"]})[1]
        token = many | {"confirm_token": preview["confirm_token"]}
        assert ask("POST", url, token | {"user_id": "ana"})[0] == 403  # how many is not said
        assert ask("POST", url, token | {"confirm": preview["confirm"]})[0] == 403  # the preview was of ana's
        assert ask("POST", url, token | {"user_id": "ana", "confirm": 12, "reason": None})[0] == 400
        done = ask("POST", url, token | {"user_id": "ana", "confirm": preview["confirm"]})[1]
        assert ({*done["forgotten"]}, done["skipped"]) == ({*said}, [])
        assert ask("POST", url, {"mode": "execute", "reason": "x"})[0] == 400
        store.change_setting("forget_dry_run_only", "true", reason="a trial")
        assert ask("POST", url, {"mode": "execute", "ids": [other], "reason": "x"})[0] == 403
        store.modify(other, pinned=True, reason="keep")
        agent = Asker(port, store.issue_token("ana", kind="person", user_id="ana").secret)
        path = f"/api/memory/{other}?reason=asked"
        assert ask("DELETE", path)[0] == 409  # it is pinned
        assert ask("DELETE", f"{path}&force=yes")[0] == 400
        assert agent("DELETE", f"{path}&force=true")[0] == 403
        assert ask("DELETE", f"{path}&force=true")[1]["status"] == "forgotten"


def test_a_client_is_answered_what_became_of_its_words(store: Store) -> None:
    with served(store), braid.connect(store.path) as client:
        later = client.remember("I live in Porto.", user_id="maya", mode="async")
        assert (later.status, bool(later.job_id), list(later)) == ("queued", True, [later.memory_id])
        again = client.remember("i live in porto.", user_id="maya", mode="sync")
        assert (again.memory_id, again.status, again.job_id) == (later[0], "processed", None)
        assert [one.change for one in client.history(later[0]).changes] == ["ADD", "NONE"]


def test_in_team_mode_the_socket_wants_a_token(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = operator(store)
    with served(store, mode="team"):
        with braid.connect(store.path) as client, pytest.raises(Exception, match="a token is needed"):
            client.status()
        monkeypatch.setenv("BRAID_TOKEN", secret)
        with braid.open(store.path) as through:
            assert through.append("x")


def test_waiting_appends_share_a_sync(store: Store) -> None:
    async def many() -> None:
        async with braid.connect_async(store.path) as client:
            await asyncio.gather(*(client.append(f"{k}") for k in range(200)))
            assert [one.text async for one in client.read(len(store) - 1)]

    syncs: list[int] = []
    with served(store):
        while not syncs or (syncs[-1] >= 200 and len(syncs) < 3):  # a busy machine may let them in one by one
            before = counts["wal.sync"]
            asyncio.run(many())
            syncs.append(counts["wal.sync"] - before)
    assert len(list(store.read())) >= 200
    assert syncs[-1] < 200


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_no_stream_of_mcp_is_held_open(store: Store, method: str) -> None:
    with served(store, port=True) as port:
        status, told, headers = Asker(port, operator(store))(method, "/mcp", Accept="text/event-stream")
    assert (status, headers["allow"]) == (405, "POST")
    assert told["detail"] == f"/mcp is asked by POST, not {method}"


def test_a_body_that_never_comes_to_mcp_is_waited_for_no_longer_than_any(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "BODY_S", 0.2)
    token = operator(store)
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Length: 9\r\n\r\n"
    )
    with served(store, port=True) as port, socket.create_connection(("127.0.0.1", port or 0), 5) as asking:
        asking.sendall(head.encode())
        assert asking.recv(100).startswith(b"HTTP/1.1 408 ")
