"""The door to a store that a server holds: what is asked goes over HTTP, the answers and refusals are the same.

Standard library alone, so that a command which asks a running server pays for nothing else. Nothing is sent twice
unless repeating it is safe.
"""

import builtins
import http.client
import select
import socket
import ssl
import struct
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from time import sleep
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Self, TypeVar
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec

from braid.bearer import bearer
from braid.errors import InvalidRequestError, RemoteError, UnreachableError
from braid.operation import Operation, Request, operation_of
from braid.paging import items_of, require_page
from braid.socket_path import SOCKET, short_path
from braid.transport import CONTENT_TYPE, ENDED, FAILED, HINTED, Problem, decode, encode
from braid.wal.errors import OutcomeUnknownError

if TYPE_CHECKING:
    from braid.session import Session

__all__ = ["SOCKET", "Remote", "short_path"]
_PAUSES_S: Final = (0.05, 0.4)
"""Before the second attempt and the third."""
_HEAD: Final = struct.Struct(">cI")
_Asked = TypeVar("_Asked", bound=Request)
_Answered = TypeVar("_Answered")
_Local = ParamSpec("_Local")


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout_s: float | None) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.settimeout(self.timeout)
        try:
            with short_path(self._path) as path:
                made.connect(path)
        except BaseException:
            made.close()
            raise
        self.sock = made


class Remote:
    """A server's door. Safe to share between threads; a context manager."""

    def __init__(self, url: str | Path, *, token: str | None = None, timeout_s: float | None = 60.0) -> None:
        """`url`: a store's folder, whose server is asked through its socket, or `http(s)://host:port`.

        Raises ValueError for another kind of address, for a token that would go over the net unencrypted, and for what
        can be no token.
        """
        self._timeout_s = timeout_s
        self._bearer = bearer(token) if token else None
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = Lock()
        self._closed = False
        self.url = str(url)
        self._connect = self._connector(url)

    def _connector(self, url: str | Path) -> Callable[[], http.client.HTTPConnection]:
        parts = urlsplit(str(url))
        if parts.scheme in ("", "unix"):
            path = Path(parts.path if parts.scheme else str(url))
            path = path if path.name == SOCKET else path / SOCKET
            return lambda: _UnixConnection(path, self._timeout_s)
        if parts.username is not None or parts.query or parts.fragment:
            raise ValueError(
                "a server's address is http://host:port or https://host:port alone; a token is given as `token`"
            )
        host, port = parts.hostname, parts.port
        if not host or parts.scheme not in ("http", "https") or parts.path not in ("", "/"):
            raise ValueError(f"{url}: give a store's folder, or http://host:port or https://host:port")
        if parts.scheme == "https":
            context = ssl.create_default_context()
            return lambda: http.client.HTTPSConnection(host, port, timeout=self._timeout_s, context=context)
        if host not in ("localhost", "127.0.0.1", "::1"):
            raise ValueError(f"{url}: over a network the token would be readable: use https://")
        return lambda: http.client.HTTPConnection(host, port, timeout=self._timeout_s)

    def answers(self) -> bool:
        """Whether something takes a connection there; nothing is asked of it."""
        connection = self._connect()
        try:
            connection.connect()
        except OSError:
            return False
        finally:
            connection.close()
        return True

    def connection(self) -> http.client.HTTPConnection:
        """Return a new connection, which its caller closes: for what is no operation."""
        return self._connect()

    @property
    def session(self) -> Self:
        """This: what operations are asked through."""
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace_: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection; whatever is asked afterwards raises ValueError."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for one in idle:
            one.close()

    def call(
        self,
        function: Callable[Concatenate["Session", _Asked, _Local], _Answered],
        request: _Asked,
        *args: _Local.args,
        **local: _Local.kwargs,
    ) -> _Answered:
        """Return what the server answers. Raises what the operation raises; UnreachableError; RemoteError.

        InvalidRequestError for a number or text that JSON can't hold. OutcomeUnknownError where the server was lost and
        repeating isn't safe. Arguments that are no data (a model, an open file) are refused by ValueError: they can't
        leave this process.
        """
        known = operation_of(function)
        for name, value in local.items():
            if value is not None and value != ():
                raise ValueError(f"{known.name}: {name} can't be sent to a server: open the store itself")
        asked = _encoded(known, request)
        safe = known.repeatable or getattr(request, "idempotency_key", None) is not None
        connection, response, raw = self._send(known, asked, safe=safe)
        if raw is None:
            return self._items(known, connection, response)  # type: ignore[return-value]
        if response.status != 200:
            raise problem_error(raw)
        answered: _Answered = decode(raw, known.response)
        return answered

    def items(
        self, function: Callable[["Session", _Asked], _Answered], request: _Asked, page_size: int
    ) -> Iterator[Any]:
        """Yield the items of an operation's list, up to its `limit`; of a table, tables of at most `page_size` rows.

        A page is asked for when the one before it is used up, which is held no longer then. Raises as
        `call`: ValueError, InvalidRequestError, UnreachableError, RemoteError, OutcomeUnknownError. LostPlaceError
        where so much has gone from the list meanwhile that its next page can't be found.
        """
        known = operation_of(function)
        require_page(known, page_size)
        body = _encoded(known, request)
        first, cursor = self._page(known, body, page_size, None)
        return self._items_from(known, body, page_size, first, cursor)

    def _items_from(
        self, known: Operation, body: bytes, page_size: int, answer: Any, cursor: str | None
    ) -> Iterator[Any]:
        yield from items_of(known, answer, page_size)
        while cursor is not None:
            answer, cursor = self._page(known, body, page_size, cursor)
            yield from items_of(known, answer, page_size)

    def _page(
        self, known: Operation, body: bytes, page_size: int, cursor: str | None
    ) -> tuple[Any, str | None]:
        """Return an answer with one page of its list, and the cursor of the next; None behind the last one."""
        query = {"page_size": str(page_size)} | ({} if cursor is None else {"cursor": cursor})
        _, response, raw = self._send(known, body, safe=True, query=f"?{urlencode(query)}")
        assert raw is not None  # noqa: S101 - a list is no stream
        if response.status != 200:
            raise problem_error(raw)
        following = (response.getheader("Link") or "").partition(">")[0]
        (found,) = parse_qs(urlsplit(following).query).get("cursor", [None])
        return decode(raw, known.response), found

    def _send(
        self, known: Operation, body: bytes, *, safe: bool, query: str = ""
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse, bytes | None]:
        """Return the answer and its whole body; None for that of a stream, which is read as it comes.

        A server can be lost at any byte of its answer: until the last is here, nothing is known to be done.
        """
        headers = {"Content-Type": CONTENT_TYPE, "Accept": CONTENT_TYPE}
        if self._bearer:
            headers["Authorization"] = self._bearer
        for pause in (*_PAUSES_S, None):
            sent = False
            connection = self._taken()
            try:
                if connection.sock is None:
                    connection.connect()
                sent = True
                connection.request("POST", f"/v1/{known.name}{query}", body, headers)
                response = connection.getresponse()
                if known.streams and response.status == 200:
                    return connection, response, None
                with self._returned(connection, response):
                    return connection, response, response.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if sent and not safe:
                    raise OutcomeUnknownError(
                        f"the server at {self.url} was lost while it did {known.name}: it may be done ({error})"
                    ) from error
                if pause is None:
                    raise UnreachableError(f"no server answers at {self.url}: {error}") from error
                sleep(pause)
        raise AssertionError  # the last attempt returns or raises

    def _taken(self) -> http.client.HTTPConnection:
        """Return a connection that the server has not closed meanwhile, or a new one."""
        with self._lock:
            if self._closed:
                raise ValueError(f"the client of {self.url} was closed: connect again")
            while self._idle:
                found = self._idle.pop()
                if found.sock is not None and not select.select([found.sock], [], [], 0)[0]:
                    return found
                found.close()
        return self._connect()

    @contextmanager
    def _returned(
        self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse
    ) -> Generator[None]:
        """Keep a connection for the next call where the block has read the whole answer; else close it."""
        try:
            yield
        finally:
            with self._lock:
                keep = response.isclosed() and not response.will_close and not self._closed
                if keep:
                    self._idle.append(connection)
            if not keep:
                connection.close()

    def _items(
        self, known: Operation, connection: http.client.HTTPConnection, response: http.client.HTTPResponse
    ) -> Iterator[Any]:
        with self._returned(connection, response):
            while True:
                try:
                    head = response.read(_HEAD.size)
                    kind, size = _HEAD.unpack(head)
                    raw = response.read(size)
                    if len(raw) < size:
                        raise http.client.IncompleteRead(raw, size - len(raw))
                except (OSError, http.client.HTTPException, struct.error) as error:
                    lost = f"the server at {self.url} was lost in the middle of {known.name}"
                    raise UnreachableError(lost) from error
                if kind == ENDED:
                    response.read()
                    return
                if kind == FAILED:
                    response.read()
                    raise problem_error(raw)
                yield raw if known.response is bytes else decode(raw, known.response)


def _encoded(known: Operation, request: Request) -> bytes:
    """Return a request as bytes. Raises InvalidRequestError."""
    try:
        return encode(known.checked(request))
    except UnicodeEncodeError:
        raise InvalidRequestError(
            f"{known.name}: a text has half a surrogate pair, such as \\ud800"
        ) from None
    except OverflowError:
        raise InvalidRequestError(
            f"{known.name}: a whole number beyond 64 bits can't be sent to a server: give it as text"
        ) from None


def problem_error(raw: bytes) -> Exception:
    """Return the exception that a problem tells of, with what it carried; a RemoteError where it has no class here."""
    try:
        problem = msgspec.json.decode(raw, type=Problem)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return RemoteError(f"the server answered what is no answer of Braid: {raw[:80]!r}")
    kind = _error_class(problem.error) or RemoteError
    error = kind.__new__(kind, problem.detail)
    error.args = (problem.detail,)
    for name, value in problem.members.items():
        if name.startswith("_") or hasattr(BaseException, name):
            continue  # no member of ours, whatever a server says
        setattr(error, name, tuple(problem.members[name]) if isinstance(value, list) else value)
    if problem.hint and "hint" not in problem.members:
        error.add_note(f"{HINTED}{problem.hint}")
    return error


def _error_class(name: str) -> type[Exception] | None:
    """Return an exception of Braid by its name, or one of Python's own."""
    own = getattr(builtins, name, None)
    if isinstance(own, type) and issubclass(
        own, ValueError | LookupError | OSError | RuntimeError | MemoryError
    ):
        return own
    todo: list[type[Exception]] = [Exception]
    while todo:
        kind = todo.pop()
        if kind.__name__ == name and kind.__module__.startswith("braid."):
            return kind
        todo += kind.__subclasses__()
    return None
