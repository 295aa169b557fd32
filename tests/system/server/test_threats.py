"""Tokens that leave no trace, wrong ones that tell nothing, and paths that lead nowhere else."""

import http.client
import json
import logging
from hashlib import sha256
from pathlib import Path

import pytest

import braid
from braid.admin.tokens import Callers
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
