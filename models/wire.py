"""One POST through httpx2, under one clock: on names, handshake, headers and body.

The library's timeouts bound each wait; a server that sends a byte now and then would hold its client for ever. So a
thread asks, and its socket is shut down once the time is used up. A redirect is refused: it would carry the key.
"""

import ssl
from collections.abc import Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from socket import SHUT_RDWR
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final

from braid.models.egress import is_reached_near

if TYPE_CHECKING:
    import httpx2

_SAID_BYTES: Final = 300


class RefusalError(Exception):
    """A server answered with a code that is no success; `said` is the beginning of its own words."""

    def __init__(self, answered: "httpx2.Response") -> None:
        super().__init__(f"{answered.status_code} {answered.reason_phrase}")
        self.code = answered.status_code
        self.retry_after: str | None = answered.headers.get("Retry-After")
        self.said = _read(answered, _SAID_BYTES)[:_SAID_BYTES].decode("utf-8", "replace")


class ElsewhereError(Exception):
    """A connection that was to stay near ended elsewhere; nothing was sent over it."""


class UnreachedError(Exception):
    """No whole answer came, for a reason that holds no key."""


class Line:
    """The socket of one request. `cut` ends it, now or as soon as there is one."""

    def __init__(self, host: str, *, near: bool) -> None:
        self._host, self._near = host, near
        self._turn = Lock()
        self._socket: Any = None
        self._is_cut = False

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Take each connected socket before a byte of the request is sent over it (httpx2's extension `trace`)."""
        if not event.endswith(("connect_tcp.complete", "start_tls.complete")):
            return
        stream = info["return_value"]
        peer = stream.get_extra_info("server_addr")[0]
        if self._near and not is_reached_near(self._host, peer):
            stream.close()
            raise ElsewhereError(f"{self._host} leads to {peer}")
        with self._turn:
            self._socket = stream.get_extra_info("socket")
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


class Wire:
    """A way to one address. `near`: no proxy is asked, and a connection that ends elsewhere is not used."""

    def __init__(self, url: str, headers: Mapping[str, str], *, near: bool) -> None:
        self._url = url
        self._headers = {**headers, "Accept-Encoding": "identity"}  # what is unpacked has no bound
        self._near = near
        # Of http there is nothing to trust: the system's certificates are not loaded for it.
        self._trusted = ssl.create_default_context() if url.startswith("https:") else False

    def post(self, data: bytes, timeout_s: float, most_bytes: int) -> bytes:
        """Return up to `most_bytes` + 1 bytes of the answer; raise TimeoutError once `timeout_s` have passed.

        Raises RefusalError, ElsewhereError, UnreachedError. The caller waits no longer than it said, whatever the
        system does about a name; the thread ends when its socket does.
        """
        import httpx2

        try:
            client = httpx2.Client(verify=self._trusted, trust_env=not self._near, timeout=timeout_s)
        except (ImportError, ValueError, httpx2.InvalidURL) as error:
            raise UnreachedError(f"the environment's proxy can't be used: {error}") from None
        line = Line(httpx2.URL(self._url).host, near=self._near)
        found: SimpleQueue[bytes | BaseException] = SimpleQueue()

        def ask() -> None:
            asked: dict[str, Any] = {"headers": self._headers, "extensions": {"trace": line.trace}}
            try:
                with client, client.stream("POST", self._url, content=data, **asked) as answer:
                    if not answer.is_success:
                        raise RefusalError(answer)
                    found.put(_read(answer, most_bytes + 1))
            except BaseException as error:
                found.put(error)

        Thread(target=ask, name="braid-model", daemon=True).start()
        try:
            got = found.get(timeout=timeout_s)
        except Empty:
            raise TimeoutError from None
        finally:
            line.cut()
        if isinstance(got, httpx2.TimeoutException):
            raise TimeoutError from None
        if isinstance(got, httpx2.LocalProtocolError):  # its message repeats the header
            raise UnreachedError("a header can't be sent") from None
        if isinstance(got, (httpx2.HTTPError, httpx2.InvalidURL, OSError)):
            raise UnreachedError(str(got)) from None
        if isinstance(got, BaseException):
            raise got
        return got


def _read(answer: "httpx2.Response", most_bytes: int) -> bytes:
    """Return at least `most_bytes` of a body, or all of it where it is shorter."""
    data = bytearray()
    for chunk in answer.iter_raw(min(most_bytes, 1 << 16)):
        data += chunk
        if len(data) >= most_bytes:
            break
    return bytes(data)
