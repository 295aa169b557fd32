"""The application: routes from the registry, who asks from their token, refusals as problems. ASGI, by Starlette.

Every operation runs in a thread of the pool, so the loop only moves bytes; a stream is stepped in a thread of its own,
since what it opens belongs to that thread (docs/serve.md says which thread owns what).
"""

import asyncio
import logging
import os
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from hashlib import sha256
from threading import Event
from typing import Any, Final, Literal, NamedTuple, TypeVar

import anyio
import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from braid import text_budget, wire
from braid.admin.tokens import Callers
from braid.async_handle import stream
from braid.caller import THIS_MACHINE, Caller, asked_by
from braid.errors import AccessDeniedError, NoTokenError
from braid.event_log import note
from braid.isolation import is_offered
from braid.operation import Operation
from braid.operation import Request as Asked
from braid.registry import find, operations
from braid.session import Session
from braid.tools.http.accept import accepts
from braid.tools.http.agents import CallersDoor, McpEndpoint, answer_hook
from braid.tools.http.aliases import CUT, Aliases
from braid.tools.http.bounds import bounds_of
from braid.tools.http.headers import with_headers
from braid.tools.http.limits import Limits, name_of, weight_of
from braid.tools.http.openapi import document
from braid.tools.http.pages import Page, following, gone_from, page_of
from braid.tools.http.places import Places
from braid.tools.http.problem import MEDIA_TYPE, problem
from braid.tools.http.progress import Steps, events
from braid.tools.http.query import from_query
from braid.tools.http.request_log import RequestLog
from braid.tools.http.watch import Watch
from braid.transport import CONTENT_TYPE, ENDED, FAILED, ITEM, Problem, decode, encode, framed

BODY_LIMIT: Final = 16 * 2**20
"""Bytes that a request may have."""
BODY_S: Final = 30.0
"""How long a request may take to arrive."""
LOCAL: Final = Caller(name=THIS_MACHINE)
"""Who asks through the socket in the store's folder: whoever can open that folder has the store anyway."""
LOCAL_HOSTS: Final = frozenset(("localhost", "127.0.0.1", "[::1]"))
_log = logging.getLogger("braid.http")


Mode = Literal["local", "team", "hybrid"]
"""local: the socket alone, and no token. team: a token is needed even there, so that every record has a name to it.
hybrid: no token at the socket, one at the port."""
_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
"""What a route of an operation takes, to refuse some of it with what would be right."""
STREAMS: Final = 64
"""How many streams may be open at once, of all tokens together and of the socket; each has a thread."""
STREAMS_OF_ONE: Final = 16
"""How many one token may have open."""
LOOK_S: Final = 0.5
"""How often it is looked whether somebody still waits for a statement, or for the first item of a stream."""
_Answer = TypeVar("_Answer")


class RefusedError(Exception):
    """A request that is refused before any operation is asked."""

    def __init__(
        self,
        status: int,
        title: str,
        detail: str,
        hint: str | None = None,
        *,
        error: str = "",
        wait_s: int | None = None,
        allow: str | None = None,
    ) -> None:
        """`error`: the class that a client raises; `wait_s`: when it may be asked again; `allow`: by which method."""
        members = {} if wait_s is None else {"wait_s": wait_s}
        self.problem = Problem(
            title=title, status=status, detail=detail, hint=hint, error=error, members=members
        )
        self.wait_s = wait_s
        self.allow = allow
        super().__init__(detail)


class Server:
    """What the routes share: the store, whose tokens count, and for which hosts it answers."""

    def __init__(
        self,
        session: Session,
        *,
        hosts: frozenset[str] = LOCAL_HOSTS,
        mode: Mode = "hybrid",
        limits: Limits | None = None,
    ) -> None:
        """`hosts`: names under which it is asked; any other is somebody's page pointing a browser here."""
        self.session = session
        self.callers = Callers(session)
        self.hosts = hosts
        self.mode = mode
        self.limits = limits or Limits()
        self.watch = Watch(session)
        self.changed: Callable[[], None] = lambda: None
        """Called behind each operation that may have appended something."""
        self.is_ready = True
        self._streams = Counter[str | None]()
        """How many are open of each token; None: of the socket."""
        self._places = Places()

    def application(self) -> Starlette:
        """Return the ASGI application."""
        made = Starlette(
            routes=[
                Route("/healthz", self.health, methods=["GET"]),
                Route("/readyz", self.ready, methods=["GET"]),
                Route("/openapi.json", self.openapi, methods=["GET"]),
                Route("/mcp", McpEndpoint(self._door, self._caller, _body, BODY_LIMIT)),
                Route("/hook", self.hook, methods=["POST"]),
                Route("/v1", self.listed, methods=["GET"]),
                Route("/v1/{name}", self.operation, methods=_METHODS),
                *(_guarded(route) for route in Aliases(self).routes()),
            ],
            middleware=[Middleware(RequestLog)],
            exception_handlers={RefusedError: _refusal, 404: _missing, 405: _missing},
        )
        made.router.redirect_slashes = False  # to a route that is not the one that was asked for
        return made

    async def health(self, _: Request) -> Response:
        """Say that the process is there."""
        return JSONResponse({"status": "ok"})

    async def ready(self, _: Request) -> Response:
        """Say whether operations are answered: not once the server is being stopped."""
        return JSONResponse(
            {"status": "ready" if self.is_ready else "stopping"}, 200 if self.is_ready else 503
        )

    async def openapi(self, request: Request) -> Response:
        """Return the OpenAPI document of all operations."""
        await self._caller_of(request)
        return JSONResponse(await run_in_threadpool(document))

    async def listed(self, request: Request) -> Response:
        """Return the operations that whoever asks may ask, each with what it does."""
        caller = await self._caller_of(request)
        return JSONResponse(
            [{"name": one.name, "access": one.access, "summary": one.summary} for one in offered(caller)]
        )

    async def hook(self, request: Request) -> Response:
        """Answer a harness's callback, as `braid hook` sends it on."""
        try:
            caller = await self._caller_of(request)
            body = await _body(request)
            reply = await run_in_threadpool(answer_hook, self._door(caller), caller, body)
        except RefusedError:
            raise
        except Exception as error:
            return _problem(error)
        return Response(msgspec.json.encode(reply), media_type="application/json")

    async def operation(self, request: Request) -> Response:
        """Answer an operation: JSON, or MessagePack where a client of Braid asks; a stream as JSON lines, or events.

        What only reads is asked by GET, too: its members are the query's, and its answer has an ETag.
        """
        try:
            caller = await self._caller_of(request)
            known = self._offered(request.path_params["name"])
            _require_method(request, known)
            if request.method == "POST":
                body = await _body(request)
                asked = _asked(request, known, body)
                return await self.answered(request, known, caller, asked, limited=_is_limited(request, body))
            asked = from_query(known, request.query_params)
            limited = "limit" in request.query_params
            return await self.answered(request, known, caller, asked, limited=limited)
        except RefusedError:
            raise
        except Exception as error:
            return _problem(error)

    def _offered(self, name: str) -> Operation:
        known = find(name)
        if not known.remote:
            raise AccessDeniedError(
                f"{known.name} names paths of the machine that the store is on: ask it there"
            )
        return known

    async def answered(
        self, request: Request, known: Operation, caller: Caller, asked: Asked, *, limited: bool = False
    ) -> Response:
        """Answer what was decoded, within the caller's limits. Raises what the operation raises, and RefusedError.

        `limited`: whether a `limit` was asked for.
        """
        text_budget.check_budget(known, asked)
        page = page_of(
            known,
            request.query_params,
            asked,
            caller,
            len(self.session),
            gone=gone_from(self.session.reader),
            limited=limited,
        )
        if known.streams:
            return await self._stream(request, known, caller, _resumed(request, asked))
        if page is None and _wants_events(request):
            return await self._progressing(request, known, caller, asked)
        whole = page.request() if page else asked
        own = _is_own(request)

        def asking(
            **local: Any,
        ) -> _Encoded:  # one way to a thread and back: it costs as much as an append
            return _encoded(known, whole, self._within(caller, known, whole, **local), page, own=own)

        encoded, cursor, cut = await self._in_thread(request, known, caller, asking)
        self._wake(known)
        said = {"Braid-Limits": bounds} if (bounds := bounds_of(whole)) else {}
        if cursor is not None:
            said["Link"] = f'<{following(request.url.path, request.query_params, cursor)}>; rel="next"'
        if cut:
            said[CUT] = str(cut)
        return _whole(request, encoded, said)

    async def _in_thread(
        self, request: Request, known: Operation, caller: Caller, work: Callable[..., _Answer]
    ) -> _Answer:
        """Return what is worked out in a thread. What can be stopped is, when whoever asked has gone."""
        limiter = self._places.of(known)
        if "stop" not in known.local:
            return await anyio.to_thread.run_sync(work, limiter=limiter)
        gone = Event()
        looking = asyncio.ensure_future(_look(request, gone))
        try:
            async with self._places.taken(known, caller):
                return await anyio.to_thread.run_sync(partial(work, stop=gone.is_set), limiter=limiter)
        finally:
            looking.cancel()

    async def _progressing(
        self, request: Request, known: Operation, caller: Caller, asked: Asked
    ) -> Response:
        """Answer by events. What is refused at once is a problem with a status of its own."""
        steps = Steps()
        local = {"progress": steps} if "progress" in known.local else {}

        async def asking() -> Any:
            step = partial(self._within, caller, known, asked, **local)
            try:
                return await self._in_thread(request, known, caller, step)
            finally:
                self._wake(known)

        work = asyncio.ensure_future(asking())
        work.add_done_callback(
            lambda done: done.cancelled() or done.exception()
        )  # nobody may be there to take it
        if (await asyncio.wait({work}, timeout=LOOK_S))[0]:
            await work
        said = {"Braid-Limits": bounds} if (bounds := bounds_of(asked)) else {}
        written = events(work, steps, partial(_answer_event, known, asked), _logged)
        return StreamingResponse(written, media_type="text/event-stream", headers=said)

    def _door(self, caller: Caller) -> CallersDoor:
        """Return what a caller asks through where agents ask: as at every other route."""
        return CallersDoor(self._within_and_wake, caller)

    def _within_and_wake(self, caller: Caller, known: Operation, asked: Asked, **local: Any) -> Any:
        try:
            return self._within(caller, known, asked, **local)
        finally:
            self._wake(known)

    def _within(self, caller: Caller, known: Operation, asked: Asked, **local: Any) -> Any:
        """Return what an operation answers, within the caller's limits; whatever it brings is counted."""
        self._admit(caller, known)
        try:
            answer = self._answer(known, caller, asked, **local)
        except Exception as error:
            self.watch.failed(caller, known, error)
            raise
        return answer

    def _wake(self, known: Operation) -> None:
        if known.access != "read":
            self.changed()

    def _admit(self, caller: Caller, known: Operation) -> None:
        if (who := name_of(caller)) is not None:
            self._within_limits(who, caller, known)

    async def ask(self, request: Request, name: str, members: dict[str, Any]) -> Any:
        """Return what an operation answers to a request that goes by another name."""
        caller = await self._caller_of(request)
        known = find(name)
        try:
            asked = msgspec.convert(members, known.request)
        except msgspec.ValidationError as error:
            raise known.refusal(error) from None
        answer = await run_in_threadpool(self._within, caller, known, asked)
        self._wake(known)
        return answer

    async def body(self, request: Request) -> bytes:
        """Return a request's body, for whoever may send one. Raises RefusedError."""
        await self._caller_of(request)
        return await _body(request)

    def _within_limits(self, who: str, caller: Caller, known: Operation) -> None:
        weight = weight_of(known)
        wait_s = self.limits.wait_s(who, weight)
        if wait_s is None:
            return
        self.watch.refused(caller.name, known.name, "too often")
        raise RefusedError(
            429, "Too often", f"{caller.name} has asked too often for what counts as {weight!r}",
            f"ask again in {wait_s} seconds at the latest", error="TooOftenError", wait_s=wait_s,
        )  # fmt: skip

    def _answer(self, known: Operation, caller: Caller, asked: Asked, **local: Any) -> Any:
        with asked_by(caller):
            return self.session.call(known.run, asked, **local)

    def _items(self, known: Operation, caller: Caller, asked: Asked) -> Iterator[Any]:
        with asked_by(caller):
            for item in self.session.call(known.run, asked):
                self._require_token(caller)
                yield item

    def _require_token(self, caller: Caller) -> None:
        """Raise NoTokenError where the token that a stream was asked with counts no longer."""
        if not self.callers.stands(caller):
            raise NoTokenError(f"the token of {caller.name} was revoked, or has expired")

    async def _stream(self, request: Request, known: Operation, caller: Caller, asked: Asked) -> Response:
        """Answer a stream. What is refused before its first item is a problem with a status of its own."""
        await run_in_threadpool(self._admit, caller, known)
        self._take_stream(caller)
        items = stream(partial(self._items, known, caller, asked), partial(self._require_token, caller))
        try:
            first = await _first(request, items)
        except BaseException as error:
            self._give_stream_back(caller)
            if isinstance(error, Exception) and not isinstance(error, RefusedError):
                await run_in_threadpool(self.watch.failed, caller, known, error)
            raise
        form = _form_of(request)
        return _Streamed(_written(first, items, *form[1:]), form[0], partial(self._ended, caller, items))

    def _take_stream(self, caller: Caller) -> None:
        """Take a place for a stream. Raises RefusedError where there is none."""
        token, of_tokens = caller.token, self._streams.total() - self._streams[None]
        if token is not None and self._streams[token] >= STREAMS_OF_ONE:
            open_now = f"{STREAMS_OF_ONE} streams of {caller.name} are open"
        elif (self._streams[None] if token is None else of_tokens) >= STREAMS:
            open_now = f"{STREAMS} streams are open"
        else:
            self._streams[token] += 1
            return
        raise RefusedError(
            503, "Too many streams", open_now, "end one, or ask again later", error="TooOftenError", wait_s=5
        )

    def _give_stream_back(self, caller: Caller) -> None:
        self._streams[caller.token] -= 1
        if not self._streams[caller.token]:
            del self._streams[caller.token]

    async def _ended(self, caller: Caller, items: AsyncGenerator[Any]) -> None:
        """Give back the place of a stream that has ended, or that nobody takes any more."""
        self._give_stream_back(caller)
        await items.aclose()

    async def _caller_of(self, request: Request) -> Caller:
        """Return who asks, as `_caller` does; a token is looked up in a thread."""
        if self.mode != "team" and _is_local(request):
            return LOCAL  # through the socket in the store's folder
        return await run_in_threadpool(self._caller, request)

    def _caller(self, request: Request) -> Caller:
        """Return who asks. Raises RefusedError for a host that isn't this, and for a token that doesn't count."""
        is_local = _is_local(request)
        if is_local and self.mode != "team":
            return LOCAL
        if not is_local:
            self._require_host(request)
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        caller = self.callers.find(secret.strip()) if kind.lower() == "bearer" and secret else None
        if caller is None:
            self._wrong_token()
            raise RefusedError(
                401,
                "No valid token",
                "the token doesn't count: it is mistyped, was revoked, or has expired"
                if secret
                else "a token is needed: Authorization: Bearer …",
                "an operator makes one by `issue_token`, or `braid token create`",
                error="NoTokenError",
            )
        return caller

    def _wrong_token(self) -> None:
        """Count a stranger's try: all of them have one name, since any other would be theirs to choose."""
        self.watch.refused("nobody", "any", "no valid token")
        if (wait_s := self.limits.wait_s("nobody", "wrong token")) is not None:
            raise RefusedError(
                429,
                "Too often",
                "too many wrong tokens were tried",
                f"ask again in {wait_s} seconds at the latest",
                error="TooOftenError",
                wait_s=wait_s,
            )

    def _require_host(self, request: Request) -> None:
        host = request.headers.get("host", "")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if name not in self.hosts:
            raise RefusedError(421, "Wrong host", "this server does not answer under that name")
        origin = request.headers.get("origin")
        if origin is not None:
            raise RefusedError(403, "Foreign page", "a page in a browser may not ask this server")


def _is_local(request: Request) -> bool:
    return request.scope.get("server") is None or request.scope["server"][1] is None


class _Streamed(StreamingResponse):
    """A stream. It says when it has ended, also where whoever asked is gone before its first byte."""

    def __init__(
        self, written: AsyncIterator[bytes], media_type: str, ended: Callable[[], Awaitable[None]]
    ) -> None:
        super().__init__(written, media_type=media_type)
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            with anyio.CancelScope(shield=True):
                await self._ended()


async def _first(request: Request, items: AsyncGenerator[Any]) -> list[Any]:
    """Return a stream's first item, or none where it has none. Raises RefusedError where nobody waits for it any more.

    A tail's first item may be minutes away, and its place and thread are wanted by others.
    """
    coming = asyncio.ensure_future(anext(items))
    try:
        while not (await asyncio.wait({coming}, timeout=LOOK_S))[0]:
            if await request.is_disconnected():
                raise RefusedError(400, "Client gone", "the connection was closed")
        return [await coming]
    except StopAsyncIteration:
        return []
    finally:
        if not coming.done():
            coming.cancel()  # which ends the stream's thread, too
            await asyncio.wait({coming})


async def _look(request: Request, gone: Event) -> None:
    """Say when whoever asked has gone."""
    while not await request.is_disconnected():
        await asyncio.sleep(LOOK_S)
    gone.set()


def offered(caller: Caller) -> list[Operation]:
    """Return the operations that a caller may ask over a network."""
    return [one for one in operations().values() if one.remote and is_offered(caller, one)]


def _require_method(request: Request, known: Operation) -> None:
    """Raise RefusedError for a method by which an operation isn't asked."""
    ways = ("GET", "HEAD", "POST") if known.only_reads else ("POST",)
    if request.method not in ways:
        raise RefusedError(
            405, "Not by that method", f"{known.name} is not asked by {request.method}",
            f"ask it by POST /v1/{known.name}",
            allow=", ".join(ways),
        )  # fmt: skip


def _guarded(route: Route) -> Route:
    """Return a route whose refusals are problems."""
    run: Callable[[Request], Awaitable[Response]] = route.endpoint

    async def answer(request: Request) -> Response:
        try:
            return await run(request)
        except RefusedError:
            raise
        except Exception as error:
            return _problem(error)

    return Route(route.path, answer, methods=list(route.methods or ()))


def _resumed(request: Request, asked: Asked) -> Asked:
    """Return a request for records that goes on behind the last event that its reader has seen."""
    last = request.headers.get("last-event-id")
    if last is None or "start" not in asked.__struct_fields__:
        return asked
    if not (last.isascii() and last.isdigit() and len(last) < 19):
        raise RefusedError(400, "No place", "Last-Event-ID is the index of a record")
    return msgspec.structs.replace(asked, start=int(last) + 1)


def _whole(request: Request, encoded: bytes, said: dict[str, str]) -> Response:
    """Return a whole answer. What is asked by GET has an ETag, and isn't sent again to who has it."""
    media = CONTENT_TYPE if _is_own(request) else "application/json"
    if request.method != "GET":
        return Response(encoded, media_type=media, headers=said)
    tag = f'"{sha256(encoded).hexdigest()[:32]}"'
    headers = said | {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Authorization, Accept"}
    seen = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
    if tag in seen or "*" in seen:
        return Response(status_code=304, headers=headers)
    return Response(encoded, media_type=media, headers=headers)


class _Encoded(NamedTuple):
    """An answer as bytes, the cursor of the next page, and how many of its texts were cut."""

    raw: bytes
    cursor: str | None
    cut: int


def _encoded(known: Operation, asked: Asked, answer: object, page: Page | None, *, own: bool) -> _Encoded:
    """Return an answer, or a page of it; Braid's own client, which stands for the store, is given texts whole."""
    part, cursor = page.of(answer) if page else (answer, None)
    if own:
        return _Encoded(encode(part), cursor, 0)
    raw, cut = text_budget.answer_json(known, asked, part)
    return _Encoded(raw, cursor, cut)


def _wants_events(request: Request) -> bool:
    return accepts(request.headers.get("accept", ""), "text/event-stream")


def _is_own(request: Request) -> bool:
    return accepts(request.headers.get("accept", ""), CONTENT_TYPE)


async def _body(request: Request) -> bytes:
    """Return a request's body. Raises RefusedError for one that is too long, too slow, or compressed."""
    if request.headers.get("content-encoding", "identity") != "identity":
        raise RefusedError(
            415, "Compressed body", "a compressed body is not taken: it may grow without bound"
        )
    read = bytearray()
    try:
        with anyio.fail_after(BODY_S):
            async for chunk in request.stream():
                read += chunk
                if len(read) > BODY_LIMIT:
                    raise RefusedError(
                        413,
                        "Body too large",
                        f"a request may have {BODY_LIMIT} bytes",
                        "send less at a time; on the store's machine `braid ingest` takes files of any size",
                    )
    except TimeoutError:
        raise RefusedError(408, "Too slow", f"the request did not arrive within {BODY_S:g} seconds") from None
    except ClientDisconnect:
        raise RefusedError(400, "Client gone", "the request broke off") from None
    return bytes(read)


def _asked(request: Request, known: Operation, body: bytes) -> Asked:
    """Return the request of an operation; headers may stand for its members."""
    if request.headers.get("content-type", "").startswith(CONTENT_TYPE):
        try:
            asked: Asked = decode(body, known.request)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise known.refusal(error) from None
    else:
        asked = known.decoded(body)
    return with_headers(request, asked, known.name)


class _Limited(msgspec.Struct):
    """What a body says of the length of a list."""

    limit: Any = msgspec.UNSET


def _is_limited(request: Request, body: bytes) -> bool:
    """Whether a body that has been decoded asks for a `limit`, be it the usual one."""
    is_own = request.headers.get("content-type", "").startswith(CONTENT_TYPE)
    said = decode(body, _Limited) if is_own else msgspec.json.decode(body or b"{}", type=_Limited)
    return said.limit is not msgspec.UNSET


_Write = Callable[[Any], bytes]


def _form_of(request: Request) -> tuple[str, _Write, _Write, bytes]:
    """Return how a stream is written: its media type, an item, a problem, and its end."""
    if _is_own(request):
        own: _Write = lambda item: framed(ITEM, item if isinstance(item, bytes) else encode(item))  # noqa: E731
        return CONTENT_TYPE, own, lambda found: framed(FAILED, msgspec.json.encode(found)), framed(ENDED)
    if _wants_events(request):
        return (
            "text/event-stream",
            _event,
            lambda found: b"event: problem\n" + _event(found),
            b"event: end\ndata:\n\n",
        )
    return (
        "application/jsonl",
        lambda item: wire.to_json(item) + b"\n",
        lambda found: msgspec.json.encode({"problem": found}) + b"\n",
        b"",
    )


def _answer_event(known: Operation, asked: Asked, answer: Any) -> bytes:
    """Return the event of a whole answer, or of the problem in its place."""
    return b"data: " + text_budget.answer_json(known, asked, answer)[0] + b"\n\n"


def _event(item: Any) -> bytes:
    """Return an event of a stream; a record's place in the log is its id, from which a client may go on."""
    index = getattr(item, "index", None)
    head = f"id: {index}\n".encode() if isinstance(index, int) else b""
    return head + b"data: " + wire.to_json(item) + b"\n\n"


async def _written(
    first: list[Any], items: AsyncIterator[Any], item: _Write, failed: _Write, end: bytes
) -> AsyncIterator[bytes]:
    try:
        for one in first:
            yield item(one)
        async for one in items:
            yield item(one)
    except Exception as error:  # the status has been sent: what went wrong stands at the end
        yield failed(_logged(error))
        return
    if end:
        yield end


def _logged(error: Exception) -> Problem:
    found = problem(error)
    if found.status == 500:
        note("request_failed", level=logging.ERROR, error=error)
        if os.environ.get("BRAID_DEBUG"):  # only who asks for it is shown what an error says
            _log.error("%s", found.detail, exc_info=error)
    return found


def _problem(error: Exception) -> Response:
    found = _logged(error)
    return Response(msgspec.json.encode(found), found.status, media_type=MEDIA_TYPE)


async def _refusal(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)  # noqa: S101 - what it is registered for
    headers = {"WWW-Authenticate": "Bearer"} if error.problem.status == 401 else {}
    if error.wait_s is not None:
        headers["Retry-After"] = str(error.wait_s)
    if error.allow is not None:
        headers["Allow"] = error.allow
    return Response(
        msgspec.json.encode(error.problem), error.problem.status, media_type=MEDIA_TYPE, headers=headers
    )


async def _missing(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    found = Problem(
        title="Nothing here",
        status=status,
        detail=f"{request.method} {request.url.path} is no route",
        hint="GET /v1 lists the operations; each is asked by POST /v1/NAME",
    )
    allowed = getattr(error, "headers", None)  # of a route that is asked by another method
    if status == 405 and allowed:
        method = f"{request.url.path} is asked by {allowed['Allow']}, not {request.method}"
        found = msgspec.structs.replace(found, title="Wrong method", detail=method, hint=None)
    return Response(msgspec.json.encode(found), status, media_type=MEDIA_TYPE, headers=allowed)
