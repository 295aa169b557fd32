"""A model server on loopback: OpenAI's and Ollama's ways of asking, and every way of failing that a test names."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from braid.views.embedder import Embedder

Answer = Callable[["Handler", dict[str, Any]], None]


class Handler(BaseHTTPRequestHandler):
    """Answers each POST with the next planned answer, else as the server otherwise does."""

    server: "ModelServer"
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, dict(self.headers), message))
        answer = self.server.planned.pop(0) if self.server.planned else self.server.otherwise
        answer(self, message)

    def put(self, code: int, content: bytes, **headers: str) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        del format, args


def vectors(handler: Handler, message: dict[str, Any]) -> None:
    """Answer as the endpoint that was asked does."""
    model = handler.server.model
    assert model is not None
    found = [[float(value) for value in row] for row in model.embed(message["input"])]
    if handler.path == "/v1/embeddings":
        data = [{"object": "embedding", "index": k, "embedding": row} for k, row in enumerate(found)]
        handler.put(
            200, json.dumps({"object": "list", "data": data[::-1], "model": message["model"]}).encode()
        )
    elif handler.path == "/api/embed":
        handler.put(200, json.dumps({"model": message["model"], "embeddings": found}).encode())
    else:
        handler.put(404, b"no such path")


class ModelServer(ThreadingHTTPServer):
    """The server; `asked` holds (path, headers, message) of every request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.model: Embedder | None = None
        self.planned: list[Answer] = []
        self.otherwise: Answer = vectors
        self.is_stopping = False
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answers_with(self, model: Embedder) -> None:
        self.model = model

    def stop(self) -> None:
        self.is_stopping = True
        self.shutdown()
        self._thread.join()
        self.server_close()
