"""Tokens that leave no trace, wrong ones that tell nothing, and paths that lead nowhere else."""

import http.client
import json
import logging
import socket
from hashlib import sha256
from pathlib import Path

import pytest

import braid
from braid.admin.tokens import Callers
from braid.tools.http import app
from tests.system.server.running import served
from tests.unit.api.test_operations import NOW


def ask(port: int, method: str, path: str, token: str, body: bytes | None = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest(method, path, skip_accept_encoding=True)  # sent as it is: no client tidies it
    connection.putheader("Authorization", f"Bearer {token}")
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    raw = answer.read()
    connection.close()
    return answer.status, raw


def test_a_token_is_in_no_log_and_no_path_leads_out_of_the_store(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    (tmp_path / "outside").write_text("zqoutside")
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=lambda: NOW) as store:
        secret = store.issue_token("laptop", kind="operator").secret
        wrong = f"{secret[:-2]}zz"
        with served(store, port=True) as port:
            assert port
            assert ask(port, "POST", "/v1/status", secret, b"{}")[0] == 200
            assert ask(port, "POST", "/v1/status", wrong, b"{}")[0] == 401
            refused = ask(port, "POST", "/v1/append", secret, b'{"text": 7}')
            assert refused[0] == 400
            assert secret.encode() not in refused[1]
            for path in (
                "../outside",
                "%2e%2e/outside",
                "..%2foutside",
                "../../outside",
                "%2e%2e%2f%2e%2e%2foutside",
            ):
                for base in ("/v1/", "/", "/api/memory/", "/v1/get/", "/docs/"):
                    for method in ("GET", "POST"):
                        status, raw = ask(
                            port, method, base + path, secret, b"{}" if method == "POST" else None
                        )
                        assert status in (400, 404, 405, 307), (base + path, status)
                        assert b"zqoutside" not in raw
            for blob in ("../../outside", str(tmp_path / "outside"), "..", "a" * 64):
                media = {
                    "blob": blob,
                    "size": 9,
                    "key": "ZGVtb2RlbW9kZW1vZGVtb2RlbW9kZW1vZGVtb2RlbW8=",
                    "media_type": "a/b",
                }
                status, raw = ask(port, "POST", "/v1/media", secret, json.dumps({"media": media}).encode())
                assert status in (400, 404, 409), (blob, status, raw)
                assert b"zqoutside" not in raw
        assert list(store.session.reader.path.rglob("*"))
        kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        records = b"".join(record.raw or b"" for record in store.read(include_forgotten=True))
    for one in (secret, wrong):
        assert one not in caplog.text
        assert one.encode() not in kept
        assert one.encode() not in records
    assert sha256(secret.encode()).hexdigest().encode() in records


def test_a_wrong_token_is_looked_up_by_its_hash_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of a secret is compared letter by letter: how long it takes says nothing of how near a guess is."""
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=lambda: NOW) as store:
        secret = store.issue_token("laptop", kind="person").secret
        callers = Callers(store.session)
        assert callers.find(secret) is not None
        asked: list[object] = []

        class Watched(dict[str, object]):
            def get(self, key: object, default: object = None) -> object:
                asked.append(key)
                return super().get(str(key), default)

        known = Watched(callers._tokens())  # pyright: ignore[reportPrivateUsage] - what is looked up in
        monkeypatch.setattr(callers, "_tokens", lambda: known)
        guesses = [secret[:-1] + "!", secret[:8], "", secret.swapcase()]
        assert [callers.find(guess) for guess in guesses] == [None] * len(guesses)
        assert asked == [sha256(guess.encode()).hexdigest() for guess in guesses]
        assert all(secret[:8] not in str(key) for key in known)


def test_who_sends_too_slowly_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "BODY_S", 0.1)
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=lambda: NOW) as store:
        secret = store.issue_token("laptop", kind="operator").secret
        size = len(store)
        with served(store, port=True) as port, socket.create_connection(("127.0.0.1", port or 0), 20) as slow:
            head = f"POST /v1/append HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {secret}\r\n"
            slow.sendall(f"{head}Content-Length: 20\r\n\r\n{{".encode())
            answer = slow.recv(2_000)
        assert answer.startswith(b"HTTP/1.1 408")
        assert len(store) == size


def test_the_other_names_tell_nothing_of_another_scope(tmp_path: Path) -> None:
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=lambda: NOW) as store:
        hers = store.append("Maya hides the zqzqkey under the mat.", user_id="maya")
        hidden = store.append("Maya has a zqzqcat.", user_id="maya")
        store.forget(hidden)
        job = store.remember("I keep a zqzqdog.", user_id="maya", mode="async").job_id
        tom = store.issue_token("tom's", kind="person", user_id="tom").secret
        size, control = len(store), dict(store.session.reader.control.hidden)
        asks: list[tuple[str, str, object]] = [
            ("GET", f"/{hers}/history", None),
            ("GET", f"/jobs/{job}", None),
            ("POST", f"/{hidden}/recover", {}),
            ("DELETE", f"/{hers}?reason=x", {}),
            ("DELETE", f"/{hers}?reason=x&force=true", {}),
            ("PATCH", f"/{hers}", {"content": "Nothing.", "reason": "x"}),
            ("POST", "/modify", {"patches": [{"id": hers, "content": "Nothing.", "reason": "x"}]}),
            ("POST", "/forget", {"query": "zqzqkey"}),
            ("POST", "/forget", {"query": "zqzqkey", "user_id": "maya"}),
            ("POST", "/forget", {"mode": "execute", "ids": [hers], "reason": "x"}),
            ("POST", "/forget", {"mode": "execute", "confirm_token": "x", "ids": [hers], "reason": "x"}),
            ("POST", "/remember", {"content": "Hers.", "user_id": "maya"}),
        ]
        token = store.preview_forget("zqzqkey", user_id="maya").token
        theirs = {"mode": "execute", "confirm_token": token, "reason": "x"}
        asks += [("POST", "/forget", theirs), ("POST", "/forget", theirs | {"user_id": "maya"})]
        with served(store, port=True) as port:
            assert port
            for method, path, body in asks:
                raw = None if body is None else json.dumps(body).encode()
                status, answer = ask(port, method, f"/api/memory{path}", tom, raw)
                assert b"zqzq" not in answer, (method, path, answer)
                assert status in (400, 403, 404) or b'"candidates":[]' in answer or b'"success":false' in answer, (
                    path, status, answer,
                )  # fmt: skip
        assert store.session.reader.control.hidden == control
        assert all(record.members.get("name") == "denied" for record in list(store.read())[size:])
