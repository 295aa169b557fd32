"""One POST over one connection that can be cut from outside: one clock on names, handshake, headers and body.

A timeout of the socket alone bounds each wait; a server that sends a byte now and then would hold its client for ever.
urllib only: one POST of JSON needs no client library. A redirect is refused, since it would carry the key elsewhere.
"""

import ssl
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from queue import Empty, SimpleQueue
from socket import SHUT_RDWR, socket
from threading import Lock, Thread
from typing import Any, Final, cast
from urllib.error import HTTPError
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

from braid.models.reach import is_reached_near

_SAID_BYTES: Final = 300


class RefusalError(Exception):
    """A server answered with a code that is no success; `said` is the beginning of its own words."""

    def __init__(self, answered: HTTPError) -> None:
        super().__init__(f"{answered.code} {answered.reason}")
        self.code = answered.code
        self.retry_after: str | None = answered.headers.get("Retry-After")
        with answered:
            self.said = answered.read(_SAID_BYTES).decode("utf-8", "replace")


class ElsewhereError(Exception):
    """A connection that was to stay near ended elsewhere; nothing was sent over it."""


class Line:
    """The socket of one request. `cut` ends it, now or as soon as there is one."""

    def __init__(self, *, near: bool) -> None:
        self._near = near
        self._turn = Lock()
        self._socket: socket | None = None
        self._is_cut = False

    def take(self, host: str, made: socket) -> None:
        """Take a connected socket before a byte is sent over it."""
        if self._near and not is_reached_near(host, made.getpeername()[0]):
            made.close()
            raise ElsewhereError(
                f"{host} leads to {made.getpeername()[0] if made.fileno() >= 0 else 'elsewhere'}"
            )
        with self._turn:
            self._socket = made
            if self._is_cut:
                self._end()

    def cut(self) -> None:
        """Let whoever waits on the socket wait no longer."""
        with self._turn:
            self._is_cut = True
            self._end()

    def _end(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(SHUT_RDWR)


class _Post(Request):
    def __init__(self, url: str, data: bytes, headers: Mapping[str, str], line: Line) -> None:
        super().__init__(url, data, dict(headers), method="POST")
        self.line = line


class _Connection(HTTPConnection):
    line: Line

    def connect(self) -> None:
        super().connect()
        self.line.take(self.host, cast("socket", self.sock))


class _TlsConnection(HTTPSConnection, _Connection):
    """Its `connect` makes the connection of `_Connection` and then speaks TLS over it."""

    def connect(self) -> None:
        super().connect()
        self.line.take(self.host, cast("socket", self.sock))  # TLS put another in its place


def _over(kind: type[_Connection], line: Line, host: str, **options: Any) -> _Connection:
    """Return a connection that tells the line of its socket."""
    made = kind(host, **options)
    made.line = line
    return made


class _Plain(HTTPHandler):
    def http_open(self, req: Request) -> Any:
        return self.do_open(cast("Any", partial(_over, _Connection, cast("_Post", req).line)), req)


class _Tls(HTTPSHandler):
    def __init__(self) -> None:
        super().__init__()
        self._trusted = ssl.create_default_context()

    def https_open(self, req: Request) -> Any:
        made = partial(_over, _TlsConnection, cast("_Post", req).line, context=self._trusted)
        return self.do_open(cast("Any", made), req)


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(  # noqa: PLR0917 - as urllib calls it
        self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        del req, fp, code, msg, headers, newurl


class Wire:
    """A way to one address. `near`: no proxy is asked, and a connection that ends elsewhere is not used."""

    def __init__(self, url: str, headers: Mapping[str, str], *, near: bool) -> None:
        self._url = url
        self._headers = headers
        self._near = near
        handlers = [_NoRedirect(), _Plain(), *([_Tls()] if url.startswith("https:") else [])]
        self._opener: OpenerDirector = build_opener(*handlers, *([ProxyHandler({})] if near else []))

    def post(self, data: bytes, timeout_s: float, most_bytes: int) -> bytes:
        """Return up to `most_bytes` + 1 bytes of the answer; raise TimeoutError once `timeout_s` have passed.

        Raises RefusalError, ElsewhereError, and what urllib raises. A thread asks, so that the caller waits no longer
        than it said, whatever the system does about a name; it ends when its socket does.
        """
        line = Line(near=self._near)
        found: SimpleQueue[bytes | BaseException] = SimpleQueue()

        def ask() -> None:
            try:
                request = _Post(self._url, data, self._headers, line)
                with self._opener.open(request, timeout=timeout_s) as answer:
                    found.put(answer.read(most_bytes + 1))
            except HTTPError as error:
                found.put(_refusal(error))
            except BaseException as error:
                found.put(error)

        Thread(target=ask, name="braid-model", daemon=True).start()
        try:
            got = found.get(timeout=timeout_s)
        except Empty:
            raise TimeoutError from None
        finally:
            line.cut()
        if isinstance(got, BaseException):
            raise got
        return got


def _refusal(error: HTTPError) -> BaseException:
    try:
        return RefusalError(error)
    except (OSError, HTTPException) as broken:  # it hung up in the middle of its refusal
        return broken
