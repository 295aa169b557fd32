"""Small HTTP servers for logs and witnesses, on the standard library: bounded threads, bounded time, no surprises.

They answer exact paths only: nothing of a request reaches the file system but what `parse_tile_path` has understood.
Behind a proxy that speaks TLS they serve anybody; alone they are for one machine, and listen there by default.
"""

import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socket import AF_INET, AF_INET6
from socketserver import TCPServer, ThreadingMixIn
from threading import BoundedSemaphore
from typing import Any, ClassVar, Final, NamedTuple, cast

IDLE_S: Final = 30.0
MAX_CONNECTIONS: Final = 64
MAX_BODY_BYTES: Final = 64 * 1024


class HttpReply(NamedTuple):
    """An answer: status, content type, body, how long it may be kept."""

    status: int
    kind: str
    body: bytes
    cache: str = "no-store"
    zipped: bool = False


Answer = Callable[[str, str, bytes, bool], HttpReply]
"""(method, path below the prefix, body, whether gzip is understood) to the reply."""


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version = "braid"
    sys_version = ""
    timeout = IDLE_S
    disable_nagle_algorithm: ClassVar[bool] = True

    def do_GET(self) -> None:
        self._answer(b"")

    def do_HEAD(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):  # chunked bodies too: nobody needs them here
            self.close_connection = True
            self._send(HttpReply(HTTPStatus.LENGTH_REQUIRED, "text/plain", b"a body needs its length\n"))
        elif int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            self._send(
                HttpReply(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "text/plain", b"the body is too large\n")
            )
        else:
            body = self.rfile.read(int(length))
            if len(body) == int(length):
                self._answer(body)

    def _answer(self, body: bytes) -> None:
        own = cast("LogServer", self.server)
        zips = "gzip" in self.headers.get("Accept-Encoding", "")
        try:
            reply = own.answer(self.command, self.path.partition("?")[0].lstrip("/"), body, zips)
        except Exception as error:  # one bad request must not end the connection unanswered
            own.told(f"{self.command} {self.path}: {type(error).__name__}: {error}")
            reply = HttpReply(HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain", b"not now\n")
        self._send(reply)

    def _send(self, reply: HttpReply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Content-Length", str(len(reply.body)))
        self.send_header("Cache-Control", reply.cache)
        self.send_header("X-Content-Type-Options", "nosniff")
        if reply.zipped:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: requests hold what others chose to write."""
        del format, args


class LogServer(ThreadingMixIn, TCPServer):
    """Answers with one function; so many connections at a time, the others wait in the system's queue."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(
        self, address: tuple[str, int], answer: Answer, told: Callable[[str], None] = lambda line: None
    ) -> None:
        self.answer = answer
        self.told = told
        self._free = BoundedSemaphore(MAX_CONNECTIONS)
        self.address_family = AF_INET6 if ":" in address[0] else AF_INET
        super().__init__(address, _Handler)

    @property
    def url(self) -> str:
        """Where it is reached."""
        host, port = str(self.server_address[0]), self.server_address[1]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Take a connection when one of the places is free."""
        self._free.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection to its end and give its place back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is its own affair."""
        del request, client_address
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, OSError):
            self.told(f"a connection ended: {type(error).__name__}: {error}")


def parse_listen(text: str) -> tuple[str, int]:
    """Return host and port of `host:port` (`[::1]:port` for IPv6); ValueError for anything else."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65_535:
        raise ValueError(f"not an address to listen on: {text!r} (host:port; port 0 takes a free one)")
    return host.removeprefix("[").removesuffix("]"), int(port)
