"""What the model server says as a language model, and every way in which it misbehaves."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tests.system.models.model_server import Answer, Handler

Says = Callable[[dict[str, Any]], str]
"""What the model says to a request."""


def speaks(text: str | Says, *, finish: str = "stop", tokens: tuple[int, int] = (120, 30)) -> Answer:
    """Answer as the endpoint that was asked does; JSON for Anthropic's tool goes in as its input."""

    def answer(handler: Handler, message: dict[str, Any]) -> None:
        said = text if isinstance(text, str) else text(message)
        handler.put(200, json.dumps(_envelope(handler.path, message, said, finish, tokens)).encode())

    return answer


def _envelope(
    path: str, message: dict[str, Any], said: str, finish: str, tokens: tuple[int, int]
) -> dict[str, Any]:
    model = f"{message['model']}-0613"
    if path.endswith("/chat/completions"):
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": finish}
        usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
        return {"object": "chat.completion", "model": model, "choices": [choice], "usage": usage}
    if path == "/api/chat":
        told = {"role": "assistant", "content": said}
        counts = {"prompt_eval_count": tokens[0], "eval_count": tokens[1]}
        return {"model": model, "message": told, "done": True, "done_reason": finish, **counts}
    assert path == "/v1/messages", path
    ends = {"stop": "end_turn", "length": "max_tokens"}.get(finish, finish)
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1]}
    block: dict[str, Any] = {"type": "text", "text": said}
    if "tools" in message:
        with suppress(ValueError):  # it talks instead
            block = {"type": "tool_use", "id": "t1", "name": "answer", "input": json.loads(said)}
    return {"type": "message", "model": model, "content": [block], "stop_reason": ends, "usage": usage}


def prompt_of(message: dict[str, Any]) -> str:
    """Return all that a request tells the model."""
    return "\n".join([str(message.get("system", "")), *(each["content"] for each in message["messages"])])


def says(code: int, content: bytes, **headers: str) -> Answer:
    return lambda handler, _: handler.put(code, content, **headers)


def hang_up(handler: Handler, _: dict[str, Any]) -> None:
    handler.close_connection = True


def hangs(seconds: float) -> Answer:
    """Take the question and say nothing."""

    def answer(handler: Handler, _: dict[str, Any]) -> None:
        _wait(handler, seconds)

    return answer


def dribbles(*, headers: bool, every_s: float = 0.05) -> Answer:
    """Send a byte now and then, for ever: no wait is long, and none is the last."""

    def answer(handler: Handler, _: dict[str, Any]) -> None:
        handler.close_connection = True
        handler.wfile.write(
            b"HTTP/1.1 200 OK\r\nX-A: " if headers else b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n{"
        )
        try:
            while not handler.server.is_stopping:
                handler.wfile.write(b" ")
                handler.wfile.flush()
                time.sleep(every_s)
        except OSError:
            pass  # the other side has had enough

    return answer


def stops_midway(handler: Handler, _: dict[str, Any]) -> None:
    """Promise more than it sends."""
    handler.close_connection = True
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{"choices": [')


def endless(handler: Handler, _: dict[str, Any]) -> None:
    """Send spaces without end, as fast as they are taken."""
    handler.close_connection = True
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    try:
        while not handler.server.is_stopping:
            handler.wfile.write(b" " * 65_536)
    except OSError:
        pass


def _wait(handler: Handler, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and not handler.server.is_stopping:
        time.sleep(0.01)
    handler.close_connection = True
