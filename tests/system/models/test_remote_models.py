"""Models behind HTTP, asked over real connections: what is sent, what is tried again, what is refused."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from braid.models import remote
from braid.models.ollama import OllamaEmbedder
from braid.models.openai import OpenaiEmbedder
from braid.models.remote import Endpoint
from braid.models.static import StaticEmbedder
from braid.views.embedder import EmbeddingError, ModelTimeoutError
from tests.system.models.model_server import Answer, Handler, ModelServer

MODEL = StaticEmbedder()
Make = Callable[..., OpenaiEmbedder | OllamaEmbedder]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer()
    made.answers_with(MODEL)
    yield made
    made.stop()


@pytest.fixture(params=["openai", "ollama"])
def make(request: pytest.FixtureRequest, server: ModelServer) -> Make:
    """Return what makes an embedder of either kind that asks the server."""

    def openai(**options: Any) -> OpenaiEmbedder:
        return OpenaiEmbedder(f"{server.url}/v1/", "m", 256, **{"sleep": lambda _: None, **options})

    def ollama(**options: Any) -> OllamaEmbedder:
        return OllamaEmbedder("m", 256, url=f"{server.url}/", **{"sleep": lambda _: None, **options})

    return openai if request.param == "openai" else ollama


def says(code: int, content: bytes, **headers: str) -> Answer:
    return lambda handler, _: handler.put(code, content, **headers)


def rows(*given: list[Any]) -> Answer:
    """Answer with these vectors, whichever way was asked."""

    def answer(handler: Handler, _: dict[str, Any]) -> None:
        data = [{"index": k, "embedding": row} for k, row in enumerate(given)]
        handler.put(200, json.dumps({"data": data, "embeddings": given}).encode())

    return answer


def slowly(seconds: float) -> Answer:
    def answer(handler: Handler, _: dict[str, Any]) -> None:
        time.sleep(seconds)
        handler.close_connection = True

    return answer


def hang_up(handler: Handler, _: dict[str, Any]) -> None:
    handler.close_connection = True


def test_what_openai_is_sent(server: ModelServer) -> None:
    embedder = OpenaiEmbedder(f"{server.url}/v1", "m", 256, key="k-1", shorten=True, batch=2)
    found = embedder.embed(["one", "two", "", "four"])
    assert np.allclose(found[1], MODEL.embed(["two"])[0], atol=1e-6)
    assert [message for _, _, message in server.asked] == [
        {"model": "m", "input": ["one", "two"], "encoding_format": "float", "dimensions": 256},
        {"model": "m", "input": [" ", "four"], "encoding_format": "float", "dimensions": 256},
    ]
    assert {(path, headers["Authorization"]) for path, headers, _ in server.asked} == {
        ("/v1/embeddings", "Bearer k-1")
    }


def test_what_ollama_is_sent(server: ModelServer) -> None:
    OllamaEmbedder("m", 256, url=server.url).embed(["one", "two"])
    path, headers, message = server.asked[0]
    assert (path, message) == ("/api/embed", {"model": "m", "input": ["one", "two"], "truncate": True})
    assert "Authorization" not in headers


@pytest.mark.parametrize("code", [408, 429, 500, 503])
def test_what_passes_is_tried_again(make: Make, server: ModelServer, code: int) -> None:
    server.planned = [says(code, b"later"), says(code, b"later")]
    assert make(tries=3).embed(["one"]).shape == (1, 256)
    assert len(server.asked) == 3


def test_the_server_says_how_long_to_wait(server: ModelServer) -> None:
    waits: list[float] = []
    server.planned = [says(429, b"", Retry_After="2.5"), says(503, b"", Retry_After="9999"), says(503, b"")]
    OpenaiEmbedder(f"{server.url}/v1", "m", 256, sleep=waits.append).embed(["one"])
    assert waits == [2.5, 8.0, 1.0]


def test_tries_are_bounded(make: Make, server: ModelServer) -> None:
    server.planned = [says(503, b"busy")] * 9
    with pytest.raises(EmbeddingError, match="answered 503"):
        make(tries=3).embed(["one"])
    assert len(server.asked) == 3


@pytest.mark.parametrize("code", [400, 401, 404, 413])
def test_a_refusal_is_told_at_once(make: Make, server: ModelServer, code: int) -> None:
    server.planned = [says(code, b"because")]
    with pytest.raises(EmbeddingError, match=f"answered {code}.*because"):
        make().embed(["one"])
    assert len(server.asked) == 1


def test_a_key_is_not_carried_elsewhere(server: ModelServer) -> None:
    server.planned = [says(307, b"", Location=f"{server.url}/elsewhere")]
    with pytest.raises(EmbeddingError, match="answered 307"):
        OpenaiEmbedder(f"{server.url}/v1", "m", 256, key="secret").embed(["one"])
    assert [path for path, _, _ in server.asked] == ["/v1/embeddings"]


def test_a_key_is_in_no_message(server: ModelServer) -> None:
    server.planned = [says(401, b"who are you")]
    with pytest.raises(EmbeddingError) as raised:
        OpenaiEmbedder(f"{server.url}/v1", "m", 256, key="sk-needle").embed(["one"])
    assert "sk-needle" not in str(raised.value)


def test_a_slow_model_is_given_up(make: Make, server: ModelServer) -> None:
    server.planned = [slowly(0.5)] * 2
    began = time.monotonic()
    with pytest.raises(ModelTimeoutError, match=r"within 0\.1 s"):
        make(timeout_s=0.1, tries=2).embed(["one"])
    assert time.monotonic() - began < 0.5


def test_a_broken_connection_is_tried_again(make: Make, server: ModelServer) -> None:
    server.planned = [hang_up]
    assert make(tries=2).embed(["one"]).shape == (1, 256)


def test_nobody_there(make: Make, server: ModelServer) -> None:
    embedder = make(tries=1)
    server.stop()
    with pytest.raises(EmbeddingError, match="can't be reached"):
        embedder.embed(["one"])
    server.__init__()  # type: ignore[misc]  # for the fixture to stop


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (rows([float("nan")] * 256), "NaN or infinite"),
        (rows([float("inf")] * 256), "NaN or infinite"),
        (rows([0.0] * 256), "zeros"),
        (rows([1.0] * 255), "255 dimensions, not 256"),
        (rows(["x"] * 256), "no list of vectors"),
        (rows([1.0, [2.0]]), "no list of vectors"),
        (rows(), "no embedding for each"),
        (rows([1.0] * 256, [1.0] * 256), None),
        (says(200, b"<html>"), "no JSON"),
        (says(200, b"[]"), "no embedding for each"),
        (says(200, b'{"data": {}, "embeddings": 3}'), "no embedding for each"),
    ],
)
def test_what_is_no_vector_is_refused(
    make: Make, server: ModelServer, answer: Answer, why: str | None
) -> None:
    server.planned = [answer]
    if why is None and isinstance(make(), OpenaiEmbedder):
        return  # one more than was asked for is passed over: it has an index of its own
    with pytest.raises(EmbeddingError, match=why or "no embedding for each"):
        make().embed(["one"])


def test_an_endless_answer_is_refused(
    make: Make, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "MAX_ANSWER_BYTES", 100)
    with pytest.raises(EmbeddingError, match="larger than 100 bytes"):
        make().embed(["one"])


def test_misuse_is_refused() -> None:
    with pytest.raises(ValueError, match="no http or https"):
        Endpoint("file:///etc/passwd")
    with pytest.raises(ValueError, match="at least once"):
        Endpoint("http://x", tries=0)
