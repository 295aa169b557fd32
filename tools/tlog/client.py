"""Asking servers over HTTP: bounded in bytes and in time, following no redirects, keeping connections.

What comes back is anybody's bytes; `ledger/publish/remote.py` and `ledger/witness/cosignature.py` decide what they
are worth.
"""

import time
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from braid.ledger.errors import RefusedLogError
from braid.ledger.publish.remote import limit_of

TIMEOUT_S: Final = 20.0
AHEAD: Final = 16
_THREADS: Final = 8
_CHUNK: Final = 1 << 16
_SLOW_BYTES_S: Final = 50_000
"""A server that sends a large answer more slowly than this is given up."""


class Response(NamedTuple):
    """An answer: status, content type, body (no more than was asked for)."""

    status: int
    kind: str
    body: bytes


class Site:
    """What stands below one URL prefix. Safe for threads."""

    def __init__(self, prefix: str, *, timeout_s: float = TIMEOUT_S) -> None:
        """Look at no server yet; ValueError for what is no http or https URL without query and credentials."""
        parts = urlsplit(prefix)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"not the URL of a log or a witness: {prefix!r} (http://host[:port]/prefix)")
        if parts.username or parts.password:
            raise ValueError("a URL with a password in it would end in logs and histories")
        self.url = prefix.rstrip("/")
        self._scheme, self._host, self._port = parts.scheme, parts.hostname, parts.port
        self._path = parts.path.rstrip("/")
        self._timeout_s = timeout_s
        self._idle: deque[HTTPConnection] = deque()

    def ask(self, method: str, path: str, body: bytes | None = None, *, limit: int) -> Response:
        """Return what the server answers; OSError where it can't be asked, RefusedLogError for too much."""
        headers = {"Accept-Encoding": "gzip, identity", "User-Agent": "braid"}
        url, fresh = f"{self.url}/{path}", False
        while True:
            connection, used = self._connection(fresh=fresh)
            try:
                connection.request(method, f"{self._path}/{path}", body, headers)
                response = self._read(connection.getresponse(), url, limit)
            except TimeoutError as error:
                connection.close()
                raise TimeoutError(f"{url}: no answer in {self._timeout_s:g} s") from error
            except (HTTPException, OSError) as error:
                connection.close()
                if not used:
                    raise ConnectionError(f"{url}: {type(error).__name__}: {error}") from error
                fresh = True  # a kept connection may have been closed meanwhile: once more, on a new one
            except BaseException:
                connection.close()
                raise
            else:
                self._idle.append(connection)
                return response

    def close(self) -> None:
        """Close the connections that are kept."""
        while self._idle:
            self._idle.pop().close()

    def _read(self, response: HTTPResponse, url: str, limit: int) -> Response:
        end = time.monotonic() + self._timeout_s + limit / _SLOW_BYTES_S
        data, size = bytearray(), response.headers.get("Content-Length", "")
        if size.isdigit() and int(size) > limit:
            raise RefusedLogError("oversize", f"{url} has {size} bytes, more than {limit}")
        while part := response.read1(_CHUNK):
            data += part
            if len(data) > limit:
                raise RefusedLogError("oversize", f"{url} has more than {limit} bytes")
            if time.monotonic() > end:
                raise TimeoutError
        if response.length:
            raise ConnectionError(f"the answer ended {response.length} bytes early")
        coding = response.headers.get("Content-Encoding", "identity")
        body = _unzip(bytes(data), url, limit) if coding == "gzip" else bytes(data)
        kind = response.headers.get("Content-Type", "")
        return Response(response.status, kind, body)

    def _connection(self, *, fresh: bool) -> tuple[HTTPConnection, bool]:
        """Return a connection that nobody else uses, and whether it was used before."""
        if not fresh:
            with suppress(IndexError):
                return self._idle.pop(), True
        make = HTTPSConnection if self._scheme == "https" else HTTPConnection
        return make(self._host, self._port, timeout=self._timeout_s), False


class RemoteLog:
    """A log below a URL, in the way that `Fetch` and `Gather` ask."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="braid-fetch")

    def close(self) -> None:
        """Stop fetching ahead, and close the connections."""
        self._pool.shutdown(cancel_futures=True)
        self.site.close()

    def fetch(self, path: str) -> bytes:
        """Return the bytes of a path; FileNotFoundError for 404 and 410, OSError where the server does not serve."""
        response = self.site.ask("GET", path, limit=limit_of(path))
        if response.status in (404, 410):
            raise FileNotFoundError(path)
        if response.status != 200:  # redirects among them: the prefix that was named is the log
            raise ConnectionError(f"{self.site.url}/{path}: the server answers {response.status}")
        return response.body

    def gather(self, paths: Iterable[str]) -> Iterator[bytes]:
        """Yield the bytes of paths in order, a few fetched ahead."""
        waiting: deque[Future[bytes]] = deque()
        for path in paths:
            waiting.append(self._pool.submit(self.fetch, path))
            if len(waiting) > AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _unzip(data: bytes, url: str, limit: int) -> bytes:
    """Return gzip's content, at most `limit` bytes of it: a small answer may unfold to any size."""
    unzip = zlib.decompressobj(wbits=31)
    try:
        plain = unzip.decompress(data, limit + 1)
    except zlib.error as error:
        raise RefusedLogError("malformed", f"{url} is not the gzip that it says it is: {error}") from error
    if len(plain) > limit:
        raise RefusedLogError("oversize", f"{url} unfolds to more than {limit} bytes")
    if not unzip.eof or unzip.unused_data:
        raise RefusedLogError("malformed", f"{url} is not one whole gzip stream")
    return plain
