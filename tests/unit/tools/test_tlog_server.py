"""The log's server: paths, content types, caching as tlog-tiles asks for; and what it does not answer."""

import gzip
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest

from braid.ledger.tree.note import COSIGNATURE, signing_key
from braid.ledger.witness.witness import Witness, format_submission
from braid.tools.tlog.routes import answer_from
from braid.tools.tlog.server import MAX_BODY_BYTES, Answer, LogServer, parse_listen
from braid.tools.tlog.witness import answer_as
from tests.unit.ledger.made_log import MadeLog, counted, fetch_from

LOG = MadeLog(counted(300))


class Asking:
    """One connection to a server of the test."""

    def __init__(self, answer: Answer) -> None:
        self._server = LogServer(("127.0.0.1", 0), answer)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self._connection = HTTPConnection("127.0.0.1", int(self._server.server_address[1]), timeout=5)

    def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[HTTPResponse, bytes]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._connection.request(method, path, body, named)
        response = self._connection.getresponse()
        return response, response.read()

    def close(self) -> None:
        self._connection.close()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture(scope="module")
def served() -> Iterator[Asking]:
    asking = Asking(answer_from(fetch_from(LOG.files(300))))
    yield asking
    asking.close()


def test_the_checkpoint_is_text_for_seconds(served: Asking) -> None:
    response, body = served.ask("GET", "/checkpoint")
    assert response.status == 200
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.headers["Cache-Control"] == "public, max-age=2"
    assert body == LOG.head(300)


THERE = ("tile/0/000", "tile/0/001.p/44", "tile/1/000.p/1", "tile/entries/000", "tile/entries/001.p/44")
ABSENT = (
    "/", "/tile", "/tile/0/002", "/tile/0/0", "/../checkpoint", "/tile/../checkpoint", "/%2e%2e/x", "/checkpoints",
    "/.lock", "/tile/0/000.p/0", "/tile/64/000",
)  # fmt: skip


@pytest.mark.parametrize("path", THERE)
def test_tiles_and_bundles_are_bytes_for_ever(served: Asking, path: str) -> None:
    response, body = served.ask("GET", f"/{path}")
    assert response.status == 200
    assert response.headers["Content-Type"] == "application/octet-stream"
    assert "immutable" in response.headers["Cache-Control"]
    assert body == LOG.files(300)[path]


def test_bundles_are_zipped_for_who_wants_it(served: Asking) -> None:
    response, body = served.ask("GET", "/tile/entries/000", Accept_Encoding="gzip")
    assert response.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(body) == LOG.files(300)["tile/entries/000"]
    response, _ = served.ask("GET", "/tile/0/000", Accept_Encoding="gzip")
    assert response.headers["Content-Encoding"] is None


def test_head_has_the_headers_alone(served: Asking) -> None:
    response, body = served.ask("HEAD", "/tile/0/000")
    assert (response.status, response.headers["Content-Length"], body) == (200, "8192", b"")


@pytest.mark.parametrize("path", ABSENT)
def test_nothing_else_is_there_and_nobody_remembers_that(served: Asking, path: str) -> None:
    response, _ = served.ask("GET", path)
    assert response.status == 404
    assert response.headers["Cache-Control"] == "no-store"


def test_a_log_is_only_read(served: Asking) -> None:
    assert served.ask("POST", "/checkpoint", b"x")[0].status == 405
    assert served.ask("PUT", "/checkpoint", b"x")[0].status == 501


def test_bodies_are_bounded_and_have_a_length(served: Asking) -> None:
    assert served.ask("POST", "/checkpoint", b"x" * (MAX_BODY_BYTES + 1))[0].status == 413
    served._connection.close()
    served._connection.putrequest("POST", "/checkpoint")
    served._connection.putheader("Transfer-Encoding", "chunked")
    served._connection.endheaders()
    assert served._connection.getresponse().status == 411
    served._connection.close()


def test_one_that_fails_answers_so_and_goes_on() -> None:
    def fail(path: str) -> bytes:
        raise OSError(5, "Input/output error")

    asking = Asking(answer_from(fail))
    assert [asking.ask("GET", "/checkpoint")[0].status for _ in range(2)] == [500, 500]
    asking.close()


def test_a_witness_over_http(tmp_path: Path) -> None:
    own = signing_key("witness.example/w", bytes(32), COSIGNATURE)
    witness = Witness(tmp_path / "w", own, [LOG.vkey])
    asking = Asking(answer_as(witness, lambda: 1_700_000_000))
    response, body = asking.ask("POST", "/add-checkpoint", format_submission(0, [], LOG.head(100)))
    assert (response.status, body.startswith("— witness.example/w ".encode())) == (200, True)
    response, body = asking.ask("POST", "/add-checkpoint", format_submission(0, [], LOG.head(200)))
    assert (response.status, response.headers["Content-Type"], body) == (409, "text/x.tlog.size", b"100\n")
    assert asking.ask("GET", "/add-checkpoint")[0].status == 405
    assert asking.ask("GET", f"/{'0' * 64}/checkpoint")[0].status == 404
    asking.close()
    witness.close()


def test_where_to_listen() -> None:
    assert parse_listen("127.0.0.1:80") == ("127.0.0.1", 80)
    assert parse_listen("[::1]:80") == ("::1", 80)
    for bad in ("80", ":80", "host", "host:", "host:x", "host:70000"):
        with pytest.raises(ValueError, match="host:port"):
            parse_listen(bad)
