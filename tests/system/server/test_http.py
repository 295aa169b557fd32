"""A store behind HTTP: every operation through a real server, refusals, and whose memory leaves it."""

import http.client
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from threading import Timer
from typing import Any, Final, cast

import pytest

import braid
from braid.caller import CallerKind
from braid.client.remote import Remote
from braid.errors import AccessDeniedError, InvalidRequestError, NoTokenError, UnreachableError
from braid.ledger.errors import UnknownRecordError
from braid.ledger.record.record import ASKED_BY, ExperienceBody
from braid.socket_path import SOCKET
from braid.store import Store
from braid.tools.cli.errors import explain
from braid.tools.http.app import BODY_LIMIT
from braid.views.errors import SqlError
from tests.system.server.running import Process, served
from tests.unit.api.test_operations import ALL, NOW, Scene, asked, scene  # noqa: F401 - a fixture

REMOTE: Final = [name for name, known in ALL.items() if known.remote]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    ticks = iter(range(10**6))
    with braid.open(
        tmp_path / "store", guard_dir=tmp_path / "guard", clock=lambda: NOW + timedelta(seconds=next(ticks))
    ) as opened:
        yield opened


def post(
    port: int, path: str, body: bytes = b"{}", token: str | None = None, **headers: str
) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if token:
        sent["Authorization"] = f"Bearer {token}"
    connection.request("POST", path, body, sent)
    answer = connection.getresponse()
    raw = answer.read()
    connection.close()
    return answer.status, json.loads(raw)


def test_json_asks_what_dispatch_asks(store: Store) -> None:
    secret = store.issue_token("laptop", kind="operator").secret
    with served(store, port=True) as port:
        assert port
        status, said = post(port, "/v1/append", b'{"text": "It rained.", "user_id": "maya"}', secret)
        assert status == 200
        assert store.get(said["id"]).text == "It rained."
        again = [
            post(port, "/v1/append", b'{"text": "Once."}', secret, Idempotency_Key="k1")[1] for _ in "ab"
        ]
        assert again[0]["id"] == again[1]["id"]
        assert again[1]["known"]
        status, found = post(port, "/v1/recall", b'{"query": "rain", "user_id": "maya"}', secret)
        assert found["results"][0]["id"] == said["id"]


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/v1/rember", b"{}", 404, "did you mean remember"),
        ("/v1/append", b'{"txt": 1}', 400, "there is no member txt"),
        ("/v1/append", b"[" * 100_000, 400, "append:"),
        ("/v1/append", b"\xff\xfe", 400, "append:"),
        ("/v1/backup", b'{"dest": "/tmp/x"}', 403, "ask it there"),
        ("/v1/get", b'{"id": "exp_2025-05-17T09:00:00Z_0000000300ab"}', 404, "record"),
        ("/v1/append", b'{"text": " "}', 400, "nothing"),
        ("/v1/sql", b'{"query": "SELECT nope FROM experiences"}', 400, "nope"),
        ("/v2/append", b"{}", 404, "no route"),
        ("/v1/../store.json", b"{}", 404, "no route"),
    ],
)
def test_refusals_are_problems(store: Store, path: str, body: bytes, status: int, says: str) -> None:
    secret = store.issue_token("laptop", kind="operator").secret
    with served(store, port=True) as port:
        assert port
        got, problem = post(port, path, body, secret)
    assert got == status == problem["status"]
    assert says in problem["detail"]
    assert "Traceback" not in str(problem)


def test_what_is_no_request_of_ours_is_refused(store: Store) -> None:
    secret = store.issue_token("laptop", kind="operator").secret
    with served(store, port=True) as port:
        assert port
        assert post(port, "/v1/status", token=secret, Host="evil.example")[0] == 421
        assert post(port, "/v1/status", token=secret, Origin="https://evil.example")[0] == 403
        assert post(port, "/v1/append", b"x", secret, Content_Encoding="gzip")[0] == 415
        status, told = post(port, "/v1/append", b" " * (BODY_LIMIT + 1), secret)
        assert (status, "braid ingest" in told["hint"]) == (413, True)
        assert post(port, "/v1/status", token=secret)[0] == 200


def test_a_token_counts_until_it_expires_or_is_revoked(store: Store) -> None:
    lasting = store.issue_token("lasting", kind="operator")
    short = store.issue_token("short", kind="operator", expires_s=1e-6)
    with served(store, port=True) as port:
        assert port
        for wrong in (None, "", "braid_x", short.secret, lasting.secret[:-1], lasting.id):
            status, problem = post(port, "/v1/status", token=wrong)
            assert status == 401
            assert "braid token create" in problem["hint"]
        assert post(port, "/v1/status", token=lasting.secret)[0] == 200
        store.revoke_token(lasting.id, reason="lost")
        assert post(port, "/v1/status", token=lasting.secret)[0] == 401
    assert [one.state for one in store.tokens()] == ["revoked", "expired"]
    log = b"".join(path.read_bytes() for path in store.path.rglob("*") if path.is_file())
    assert lasting.secret.encode() not in log
    assert store.verify().findings == []


def test_no_kind_of_caller_is_given_more_than_its_kind_may_have(store: Store) -> None:
    with pytest.raises(AccessDeniedError, match="never given erase"):
        store.issue_token("bot", kind="agent", allowed=["read", "erase"])
    reader = store.issue_token("bot", kind="model").secret
    with served(store, port=True) as port:
        assert port
        status, problem = post(port, "/v1/append", b'{"text": "x"}', reader)
        assert (status, problem["error"]) == (403, "AccessDeniedError")
        assert post(port, "/v1/issue_token", b'{"name": "me", "kind": "operator"}', reader)[0] == 403


def test_a_persons_turns_need_the_token_of_a_person(store: Store) -> None:
    turn = b'{"messages": [{"role": "user", "content": "I keep bees."}], "session_id": "s1", "raw": true}'
    kinds: tuple[tuple[CallerKind, bool], ...] = (("agent", True), ("person", False))
    with served(store, port=True) as port:
        assert port
        for kind, warned in kinds:
            secret = store.issue_token(kind, kind=kind, user_id="maya").secret
            status, done = post(port, "/v1/remember", turn, secret)
            assert status == 200
            assert ["of kind person" in one for one in done["warnings"]] == [True] * warned


def test_a_client_raises_what_the_store_raises(store: Store) -> None:
    with served(store), braid.connect(store.path) as client:
        with pytest.raises(UnknownRecordError):
            client.get("exp_2025-05-17T09:00:00Z_0000000300ab")
        with pytest.raises(SqlError) as raised:
            client.sql("SELECT nope FROM experiences")
        assert raised.value.reason
        for most in (2**64 - 1, -(2**63)):
            body = cast("ExperienceBody", client.get(client.append("One.", structured={"n": most})).body)
            assert body.content.structured == {"n": most}
        for beyond in (2**64, -(2**63) - 1):
            with pytest.raises(
                InvalidRequestError, match="append: a whole number beyond 64 bits can't be sent"
            ):
                client.append("One.", structured={"n": beyond})
            with pytest.raises(InvalidRequestError, match="sql: a whole number beyond 64 bits can't be sent"):
                client.sql("SELECT ?", [beyond])
        with pytest.raises(InvalidRequestError, match="append: a text has half a surrogate pair"):
            client.append("\ud800")
        with pytest.raises(ValueError, match="can't be sent to a server"):
            client.ask("Where?", composer=object())  # type: ignore[arg-type]
        with pytest.raises(braid.IdempotencyConflictError):
            client.append("One.", idempotency_key="k") and client.append("Two.", idempotency_key="k")
        assert [one.index for one in client.read()] == list(range(len(store)))
    with pytest.raises(ValueError, match="was closed"):
        client.status()
    with braid.connect(store.path) as late, pytest.raises(UnreachableError, match="no server answers"):
        late.status()
    with pytest.raises(ValueError, match="use https"):
        braid.connect("http://example.org:80", token="x")
    for url in ("http://maya:hunter2@localhost:80", "http://localhost:80/?token=hunter2"):
        with pytest.raises(ValueError, match="a token is given as `token`") as refused:
            braid.connect(url)
        assert "hunter2" not in str(refused.value)


def test_a_client_takes_a_token_as_a_file_holds_it_and_never_shows_it(store: Store) -> None:
    secret = store.issue_token("laptop", kind="person").secret
    with served(store, port=True) as port:
        url = f"http://127.0.0.1:{port}"
        with braid.connect(url, token=f"{secret}\n") as client:
            assert client.get(client.append("It rained.")).text == "It rained."
        for wrong in (" ", f"{secret}\nx", f"{secret}é", "two words"):
            with pytest.raises(ValueError, match="that isn't a token") as refused:
                braid.connect(url, token=wrong)
            assert not wrong.strip() or wrong not in str(refused.value)
        with braid.connect(url, token="braid_zz") as client, pytest.raises(NoTokenError) as denied:
            client.recall("rain")
    said, hint = explain(denied.value)
    assert "the token doesn't count" in said
    assert "issue_token" in (hint or "")
    assert "defect" not in said + (hint or "")


def test_the_events_of_a_stream_have_their_place(store: Store) -> None:
    store.append("It rained.")
    secret = store.issue_token("laptop", kind="operator").secret
    with served(store, port=True) as port:
        assert port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        headers = {"Authorization": f"Bearer {secret}", "Accept": "text/event-stream"}
        connection.request("POST", "/v1/read", b"{}", headers)
        events = connection.getresponse().read().decode().split("\n\n")
        connection.close()
    assert [event.splitlines()[0] for event in events[:-2]] == [f"id: {at}" for at in range(len(store))]
    assert events[-2].startswith("event: end")


def owner_of(record: braid.Record) -> str | None:
    user: str | None = (record.members.get("scope") or {}).get("user_id")
    return user


@pytest.mark.sample(24)
@pytest.mark.parametrize("name", REMOTE)
def test_nothing_of_another_scope_leaves(name: str, scene: Scene, tmp_path: Path) -> None:  # noqa: F811
    """Whoever is held to tom's memory asks every operation for maya's: by scope, by id, and with no scope at all."""
    known, mine = ALL[name], scene.copy(tmp_path / "mine")
    with mine.open() as store:
        hers = [
            str(record.id)
            for record in store.read()
            if (record.members.get("scope") or {}).get("user_id") == "maya"
        ]
        assert len(hers) >= 3
        secret = store.issue_token("tom's", kind="person", user_id="tom").secret
        size = len(store)
        with served(store, port=True) as port:
            assert port
            plain = asked(known, mine)
            for request in (
                plain,
                plain | {"user_id": "maya"},
                {k: v for k, v in plain.items() if k != "user_id"},
            ):
                if "user_id" not in known.request.__struct_fields__:
                    request.pop("user_id", None)
                status, answer = _lines(port, f"/v1/{name}", json.dumps(request).encode(), secret)
                for id in hers:
                    assert id not in answer or id in json.dumps(request), (name, request, answer[:300])
                assert "I live in Porto" not in answer.replace(json.dumps(request), "")
                assert "Maya lives in" not in answer
                assert status != 500, answer
        for record in list(store.read())[size:]:
            if name == "remember" and record.members.get(ASKED_BY) is None:
                continue  # the store has read what was said, hers too: nobody asked it to
            assert owner_of(record) in ("tom", None)
            assert not set(hers) & {link.id for link in record.links}


def test_what_a_caller_of_a_scope_changes_is_answered(store: Store) -> None:
    secret = store.issue_token("maya's", kind="person", user_id="maya").secret
    with served(store, port=True) as port:
        assert port
        said = post(port, "/v1/append", b'{"text": "It rained."}', secret)[1]["id"]
        body = json.dumps({"id": said, "text": "It snowed."}).encode()
        status, corrected = post(port, "/v1/correct", body, secret)
        assert status == 200
        assert store.get(corrected["id"]).text == "It snowed."
        for name in ("forget", "recover"):
            status, done = post(port, f"/v1/{name}", json.dumps({"ids": [said]}).encode(), secret)
            assert (status, done["id"][:5]) == (200, "tomb_")


def _lines(port: int, path: str, body: bytes, token: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", path, body, {"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    raw = answer.read().decode("utf-8", "replace")
    connection.close()
    return answer.status, raw


def test_openapi_describes_what_is_there(store: Store) -> None:
    with served(store):
        connection = Remote(store.path)._connect()
        connection.request("GET", "/openapi.json")
        document = json.loads(connection.getresponse().read())
        connection.close()
    operations = {path for path in document["paths"] if path.startswith("/v1/")}
    assert operations == {f"/v1/{name}" for name in REMOTE}
    others = {path for path in document["paths"] if path.startswith("/api/memory/")}
    assert set(document["paths"]) == operations | others | {"/v1", "/healthz", "/readyz"}
    components = document["components"]
    described = {
        f"#/components/{kind}/{name}" for kind in ("schemas", "responses") for name in components[kind]
    }
    references: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            references.extend(v for k, v in value.items() if k == "$ref")
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)

    walk(document)
    assert references
    assert set(references) <= described


@pytest.mark.soak
def test_a_killed_server_has_lost_nothing_it_acknowledged(tmp_path: Path) -> None:
    process = Process(tmp_path / "store")
    braid.init(process.folder)
    acknowledged: list[str] = []
    for round_ in range(3):
        server = process.start()
        with (
            braid.connect(process.folder) as client,
            suppress(UnreachableError, braid.OutcomeUnknownError),
        ):
            for at in range(10**6):
                acknowledged.append(client.append(f"{round_} {at}", user_id="maya"))
                if at == 12:  # the blow falls while the next ones are on their way
                    Timer(0.02, server.kill).start()
        server.wait()
    server = process.start()
    with braid.connect(process.folder) as client:
        assert len(acknowledged) > 30
        assert {record.id for record in client.read()} >= set(acknowledged)
        assert client.verify().findings == []
    second = subprocess.run(
        [str(Path(sys.executable).parent / "braid"), "serve", "--store", str(process.folder)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert second.returncode == 2
    assert "running" in second.stderr
    server.send_signal(signal.SIGTERM)
    assert server.wait(30) == 0
    assert not (process.folder / SOCKET).exists()


def test_a_stream_ends_with_the_token_that_it_is_asked_with(store: Store) -> None:
    token = store.issue_token("reader", kind="operator")
    with (
        served(store, port=True) as port,
        braid.connect(f"http://127.0.0.1:{port}", token=token.secret) as client,
    ):
        store.append("One.", user_id="bob")
        following = client.tail(start=len(store) - 1, seconds=30.0)
        assert next(following).text == "One."
        store.revoke_token(token.id)
        store.append("Two.", user_id="bob")
        with pytest.raises(NoTokenError, match="was revoked, or has expired"):
            list(following)


def test_an_idle_stream_ends_with_its_token_and_gives_its_place_back(store: Store) -> None:
    token = store.issue_token("reader", kind="operator")
    with (
        served(store, port=True) as port,
        braid.connect(f"http://127.0.0.1:{port}", token=token.secret) as client,
    ):
        threading.Timer(0.3, lambda: store.revoke_token(token.id)).start()
        began = time.monotonic()
        with pytest.raises(NoTokenError):
            list(client.tail(start=len(store) + 5, seconds=60.0))  # it is asked, and waited for, here
        assert time.monotonic() - began < 20
