"""Language models behind HTTP, asked over real connections: what is sent, what is refused, when they are given up."""

import gzip
import json
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from braid.models import chat, egress, keys
from braid.models.anthropic import AnthropicChat
from braid.models.ollama import OllamaChat
from braid.models.openai import OpenaiChat
from braid.text.chat import ChatError, ChatMessage, ChatModel, ChatTimeoutError
from tests.system.models.chat_server import (
    dribbles,
    endless,
    hang_up,
    hangs,
    prompt_of,
    says,
    speaks,
    stops_midway,
)
from tests.system.models.model_server import Answer, ModelServer

TLS = Path(__file__).parents[2] / "data" / "tls"
"""The key and certificate of `localhost`, for tests alone."""
KEY = "k-needle-in-no-message"
ASK = (ChatMessage("system", "Be brief."), ChatMessage("user", "Where is Maya?"))
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
Make = Callable[..., ChatModel]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer()
    made.otherwise = speaks("In Porto.")
    yield made
    made.stop()


@pytest.fixture(params=["openai", "ollama", "anthropic"])
def make(request: pytest.FixtureRequest, server: ModelServer) -> Make:
    """Return what makes a model of each kind that asks the server."""
    kinds: dict[str, Callable[..., ChatModel]] = {
        "openai": lambda **more: OpenaiChat(f"{server.url}/v1/", "m", key=KEY, **more),
        "ollama": lambda **more: OllamaChat("m", url=server.url, **more),
        "anthropic": lambda **more: AnthropicChat("m", url=server.url, key=KEY, **more),
    }
    return lambda **more: kinds[request.param](**{"sleep": lambda _: None, **more})


def complete(model: ChatModel, timeout_s: float = 5.0, schema: Any = None) -> Any:
    return model.complete(ASK, max_tokens=50, timeout_s=timeout_s, schema=schema)


def test_what_is_said_comes_back_with_its_tokens(make: Make) -> None:
    said = complete(make())
    assert (said.text, said.tokens_in, said.tokens_out) == ("In Porto.", 120, 30)
    assert (said.model, said.finish) == ("m-0613", "stop")


def test_what_each_is_sent(server: ModelServer) -> None:
    told = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where is Maya?"}]
    complete(OpenaiChat(f"{server.url}/v1", "m", key=KEY), schema=SCHEMA)
    complete(OllamaChat("m", url=server.url), schema=SCHEMA)
    complete(AnthropicChat("m", url=server.url, key=KEY), schema=SCHEMA)
    (openai, ollama, anthropic) = server.asked
    held = {"name": "answer", "strict": True, "schema": SCHEMA}
    assert openai[0] == "/v1/chat/completions"
    assert openai[1]["Authorization"] == f"Bearer {KEY}"
    assert openai[2] == {
        "model": "m", "messages": told, "max_tokens": 50, "temperature": 0, "stream": False,
        "response_format": {"type": "json_schema", "json_schema": held},
    }  # fmt: skip
    assert ollama[0] == "/api/chat"
    assert "Authorization" not in ollama[1]
    assert ollama[2] == {
        "model": "m", "messages": told, "stream": False, "options": {"temperature": 0, "num_predict": 50},
        "format": SCHEMA,
    }  # fmt: skip
    assert anthropic[0] == "/v1/messages"
    assert (anthropic[1]["x-api-key"], anthropic[1]["anthropic-version"]) == (KEY, "2023-06-01")
    assert anthropic[2] == {
        "model": "m", "system": "Be brief.", "messages": told[1:], "max_tokens": 50,
        "tools": [{"name": "answer", "description": "Gives the answer.", "input_schema": SCHEMA}],
        "tool_choice": {"type": "tool", "name": "answer"},
    }  # fmt: skip


def test_a_tools_input_is_what_was_said(server: ModelServer) -> None:
    server.planned = [speaks('{"a": "Pörto"}')]
    said = complete(AnthropicChat("m", url=server.url), schema=SCHEMA)
    assert json.loads(said.text) == {"a": "Pörto"}


@pytest.mark.parametrize(
    ("finish", "means"), [("length", "length"), ("refusal", "refused"), ("stop", "stop")]
)
def test_why_it_ended(make: Make, server: ModelServer, finish: str, means: str) -> None:
    server.planned = [speaks("In P", finish=finish)]
    assert complete(make()).finish == means


def test_a_refusal_of_its_own_field(server: ModelServer) -> None:
    choice = {"message": {"content": None, "refusal": "I can't."}, "finish_reason": "stop"}
    server.planned = [says(200, json.dumps({"choices": [choice]}).encode())]
    said = complete(OpenaiChat(f"{server.url}/v1", "m"))
    assert (said.text, said.finish) == ("I can't.", "refused")


def test_no_secret_with_a_shape_leaves(make: Make, server: ModelServer) -> None:
    secret = "sk-proj-abcdefghijklmnop0123456789"
    told = (ChatMessage("system", f"Key {secret}."), ChatMessage("user", "The password: Winter-77!x"))
    make().complete(told, max_tokens=5, timeout_s=5)
    sent = json.dumps(server.asked[0][2])
    assert secret not in sent
    assert "Winter-77" not in sent
    assert "Key REDACTED_TOKEN_1." in prompt_of(server.asked[0][2])


# -- what is misbehaved ---------------------------------------------------------------------------


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    "answer", [hangs(5), dribbles(headers=True), dribbles(headers=False)], ids=["hangs", "headers", "body"]
)
def test_one_clock_on_all_of_it(make: Make, server: ModelServer, answer: Answer) -> None:
    server.planned = [answer] * 3
    began = time.monotonic()
    with pytest.raises(ChatTimeoutError, match=r"no answer within 0\.3 s"):
        complete(make(tries=3), timeout_s=0.3)
    assert time.monotonic() - began < 1.5
    assert len(server.asked) == 1, "the time for all tries was used up by the first"


def test_repeats_are_within_the_time(make: Make, server: ModelServer) -> None:
    server.planned = [says(503, b"busy", Retry_After="5")] * 9
    waits: list[float] = []
    with pytest.raises(ChatError, match="answered 503"):
        complete(make(tries=9, sleep=waits.append), timeout_s=2)
    assert waits == [], "it was asked to wait for longer than there was time"


def test_what_passes_is_tried_again(make: Make, server: ModelServer) -> None:
    server.planned = [says(529, b"overloaded")]
    assert complete(make(tries=2)).text == "In Porto."


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (says(500, b"broken"), "answered 500"),
        (says(401, b"who are you"), "answered 401"),
        (says(404, b"no such model"), "answered 404.*no such model"),
        (says(200, b"<html>"), "no JSON"),
        (says(200, b"[" * 100_000), "no JSON"),
        (says(200, b"[]"), "no JSON object"),
        (says(200, b"{}"), "holds no"),
        (says(200, b'{"choices": [], "message": 3, "content": {}}'), "holds no"),
        (says(200, b'{"choices": [{"message": {"content": 7}}], "message": {"content": 7}}'), "holds no"),
        (says(307, b"", Location="/elsewhere"), "answered 307"),
        (stops_midway, "no JSON|can't be reached"),
        (hang_up, "can't be reached"),
    ],
)
def test_what_is_no_answer_is_refused(make: Make, server: ModelServer, answer: Answer, why: str) -> None:
    server.planned = [answer] * 2
    with pytest.raises(ChatError, match=why):
        complete(make(tries=2))
    assert all(path != "/elsewhere" for path, _, _ in server.asked)


def test_a_huge_answer_is_not_taken_in(
    make: Make, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat, "MAX_ANSWER_BYTES", 100_000)
    server.planned = [endless]
    with pytest.raises(ChatError, match="larger than 100000 bytes"):
        complete(make(tries=1))


def test_nobody_there() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        with pytest.raises(ChatError, match="can't be reached"):
            complete(OllamaChat("m", url=f"http://127.0.0.1:{port}", tries=1))


def test_odd_counts_are_none(server: ModelServer) -> None:
    message = {"message": {"content": "x"}, "prompt_eval_count": "many", "eval_count": -3}
    server.planned = [says(200, json.dumps(message).encode())]
    said = complete(OllamaChat("m", url=server.url))
    assert (said.tokens_in, said.tokens_out) == (0, 0)


@pytest.mark.parametrize("make", ["openai", "anthropic"], indirect=True)
def test_a_key_is_in_nothing_that_is_shown(make: Make, server: ModelServer) -> None:
    server.planned = [says(401, f"no such key: {KEY}".encode())]
    model = make()
    with pytest.raises(ChatError) as raised:
        complete(model)
    assert KEY not in f"{raised.value}{raised.value!r}{model!r}"
    assert KEY not in json.dumps([message for _, _, message in server.asked])


def test_a_key_that_no_header_can_hold_is_in_nothing_that_is_shown(server: ModelServer) -> None:
    with pytest.raises(ChatError, match="a header can't be sent") as raised:
        complete(OpenaiChat(f"{server.url}/v1", "m", key=f"{KEY}\r\nX-Evil: 1", tries=1))
    assert KEY not in f"{raised.value}{raised.value!r}"
    assert server.asked == []


def test_what_is_packed_is_not_unpacked(make: Make, server: ModelServer) -> None:
    """A small answer could become a large one behind the bound."""
    server.planned = [says(200, gzip.compress(b"{}"), Content_Encoding="gzip")]
    with pytest.raises(ChatError, match="no JSON"):
        complete(make(tries=1))
    assert server.asked[0][1]["Accept-Encoding"] == "identity"


def test_a_far_model_is_asked_through_the_environments_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tunnel is asked for by name: nothing of the request, and no key, goes to the proxy in the clear."""
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        monkeypatch.setenv("no_proxy", "")
        heard: list[bytes] = []

        def serve() -> None:
            asking, _ = proxy.accept()
            with asking:
                heard.append(asking.recv(65_536))
                asking.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(ChatError, match=r"can't be reached: 403 Forbidden"):
            complete(AnthropicChat("m", url="https://models.test", key=KEY, allow_remote=True, tries=1))
        thread.join()
    assert heard[0].startswith(b"CONNECT models.test:443 ")
    assert KEY.encode() not in heard[0]


@pytest.mark.parametrize("proxy", ["socks9://127.0.0.1:1", "::::"])
def test_a_proxy_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("https_proxy", proxy)
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(ChatError, match="can't be reached"):
        complete(AnthropicChat("m", url="https://models.test", key=KEY, allow_remote=True, tries=1))


# -- how far it may be ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:1", "http://127.9.9.9", "http://localhost:8080/v1", "http://[::1]:9", "http://192.168.1.7:8000",
     "http://10.0.0.3", "http://172.31.0.1", "http://[fd00::7]:1"],
)  # fmt: skip
def test_what_is_near(url: str) -> None:
    assert not OpenaiChat(url, "m").remote


@pytest.mark.parametrize(
    "url",
    ["https://api.openai.com/v1", "http://example.test", "https://8.8.8.8", "http://169.254.169.254", "http://0.0.0.0",
     "http://172.32.0.1", "https://localhost.example.test", "https://127.0.0.1.example.test", "http://100.64.0.1",
     "http://2130706433", "https://[2001:db8::1]"],
)  # fmt: skip
def test_what_is_far_needs_to_be_allowed(url: str) -> None:
    with pytest.raises(ValueError, match="--allow-remote"):
        OpenaiChat(url, "m")
    if url.startswith("https"):
        assert OpenaiChat(url, "m", allow_remote=True).remote
    else:
        with pytest.raises(ValueError, match="use https"):
            OpenaiChat(url, "m", allow_remote=True)


def test_anthropic_is_far() -> None:
    with pytest.raises(ValueError, match=r"api\.anthropic\.com is not on this machine"):
        AnthropicChat("m", key=KEY)
    assert AnthropicChat("m", key=KEY, allow_remote=True).remote


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("file:///etc/passwd", "no http or https"),
        ("http://u:p4ssw0rd@127.0.0.1", "no name or password"),
        ("http://127.0.0.1/v1?key=p4ssw0rd", "no \\? and no #"),
        ("http://", "no http or https"),
        ("http://127.0.0.1:99999", "[Pp]ort"),
    ],
)
def test_addresses_that_are_none(url: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as raised:
        egress.check(url, allow_remote=True)
    assert "p4ssw0rd" not in str(raised.value)


def test_a_name_that_leads_elsewhere_is_sent_nothing(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`localhost` is what the resolver makes of it: the connection's other end is what counts."""
    monkeypatch.setattr("braid.models.wire.is_reached_near", lambda host, peer: False)
    with pytest.raises(ChatError, match=r"not on this machine.*nothing was sent"):
        complete(OllamaChat("m", url=server.url.replace("127.0.0.1", "localhost")))
    assert server.asked == []


@pytest.mark.parametrize(
    ("host", "peer", "near"),
    [("localhost", "127.0.0.1", True), ("localhost", "::1", True), ("localhost", "::ffff:127.0.0.1", True),
     ("localhost", "93.184.216.34", False), ("10.0.0.3", "10.0.0.3", True), ("10.0.0.3", "10.0.0.4", False)],
)  # fmt: skip
def test_where_a_connection_ended(host: str, peer: str, near: bool) -> None:
    assert egress.is_reached_near(host, peer) is near


def test_no_proxy_stands_before_what_is_near(
    make: Make, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = ModelServer()
    try:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "")
        assert complete(make()).text == "In Porto."
        assert proxy.asked == []
    finally:
        proxy.stop()


def test_threads_end(make: Make, server: ModelServer) -> None:
    server.planned = [dribbles(headers=False)]
    with pytest.raises(ChatTimeoutError):
        complete(make(tries=1), timeout_s=0.1)
    end = time.monotonic() + 2
    while any(thread.name == "braid-model" for thread in threading.enumerate()) and time.monotonic() < end:
        time.sleep(0.01)
    assert not [thread for thread in threading.enumerate() if thread.name == "braid-model"]


# -- keys -----------------------------------------------------------------------------------------


def test_where_a_key_comes_from(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\nmore\n")
    file.chmod(0o600)
    assert keys.key({}) is None
    assert keys.key({"BRAID_CHAT_KEY_FILE": str(file)}) == KEY
    assert keys.key({"BRAID_CHAT_KEY": "k2", "BRAID_CHAT_KEY_FILE": str(file)}) == "k2"
    assert keys.key({"ANTHROPIC_API_KEY": "k3", "BRAID_CHAT_KEY": "k2"}, "ANTHROPIC_API_KEY") == "k3"


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "key"
    file.write_text(KEY)
    file.chmod(mode)
    with pytest.raises(ValueError, match="chmod 600") as raised:
        keys.key({"BRAID_CHAT_KEY_FILE": str(file)})
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("bad", ["two words", "k\r\nX-Evil: 1", "schlüssel-needle", "\x00"])
def test_what_can_be_no_key_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="BRAID_CHAT_KEY holds no key") as raised:
        keys.key({"BRAID_CHAT_KEY": bad})
    assert "needle" not in str(raised.value)
    assert "Evil" not in str(raised.value)


def test_a_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "empty").touch(mode=0o600)
    with pytest.raises(ValueError, match="holds no key"):
        keys.key({"BRAID_CHAT_KEY_FILE": str(tmp_path / "empty")})
    with pytest.raises(FileNotFoundError):
        keys.key({"BRAID_CHAT_KEY_FILE": str(tmp_path / "none")})


# -- TLS ------------------------------------------------------------------------------------------


@pytest.fixture
def secure(server: ModelServer) -> ModelServer:
    """Return the server, speaking TLS as `localhost`, with a certificate that nobody has to trust."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "localhost.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    return server


def test_over_tls(secure: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "localhost.crt"))
    url = f"https://localhost:{secure.server_port}/v1"
    assert complete(OpenaiChat(url, "m", key=KEY, tries=1)).text == "In Porto."
    secure.planned = [dribbles(headers=False)]
    began = time.monotonic()
    with pytest.raises(ChatTimeoutError):
        complete(OpenaiChat(url, "m", key=KEY, tries=1), timeout_s=0.3)
    assert time.monotonic() - began < 1.5


def test_a_certificate_that_is_not_trusted(secure: ModelServer) -> None:
    with pytest.raises(ChatError, match=r"can't be reached.*CERTIFICATE_VERIFY_FAILED"):
        complete(OpenaiChat(f"https://localhost:{secure.server_port}/v1", "m", key=KEY, tries=1))
    assert secure.asked == []
