"""The application: routes from the registry, who asks from their token, refusals as problems. ASGI, by Starlette.

Every operation runs in a thread of the pool, so the loop only moves bytes; a stream is stepped in a thread of its own,
since what it opens belongs to that thread (docs/serve.md says which thread owns what).
"""

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any, Final

import anyio
import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from braid import wire
from braid.admin.tokens import Callers
from braid.async_handle import stream
from braid.caller import Caller, asked_by
from braid.errors import AccessDeniedError
from braid.operation import Operation
from braid.operation import Request as Asked
from braid.registry import find, operations
from braid.session import Session
from braid.tools.http.agents import McpEndpoint, answer_hook
from braid.tools.http.openapi import document
from braid.tools.http.problem import MEDIA_TYPE, problem
from braid.transport import CONTENT_TYPE, ENDED, FAILED, ITEM, Problem, decode, encode, framed

BODY_LIMIT: Final = 16 * 2**20
"""Bytes that a request may have."""
BODY_S: Final = 30.0
"""How long a request may take to arrive."""
LOCAL: Final = Caller(name="this machine")
"""Who asks through the socket in the store's folder: whoever can open that folder has the store anyway."""
LOCAL_HOSTS: Final = frozenset(("localhost", "127.0.0.1", "[::1]"))
_log = logging.getLogger("braid.http")


class RefusedError(Exception):
    """A request that is refused before any operation is asked."""

    def __init__(self, status: int, title: str, detail: str, hint: str | None = None) -> None:
        self.problem = Problem(title=title, status=status, detail=detail, hint=hint, error="")
        super().__init__(detail)


class Server:
    """What the routes share: the store, whose tokens count, and for which hosts it answers."""

    def __init__(
        self, session: Session, *, hosts: frozenset[str] = frozenset(("localhost", "127.0.0.1", "[::1]"))
    ) -> None:
        """`hosts`: names under which it is asked; any other is somebody's page pointing a browser here."""
        self.session = session
        self.callers = Callers(session)
        self.hosts = hosts
        self.is_ready = True

    def application(self) -> Starlette:
        """Return the ASGI application."""
        return Starlette(
            routes=[
                Route("/healthz", self.health, methods=["GET"]),
                Route("/readyz", self.ready, methods=["GET"]),
                Route("/openapi.json", self.openapi, methods=["GET"]),
                Route("/mcp", McpEndpoint(self.session, self._caller, BODY_LIMIT)),
                Route("/hook", self.hook, methods=["POST"]),
                Route("/v1", self.listed, methods=["GET"]),
                Route("/v1/{name}", self.operation, methods=["POST"]),
            ],
            exception_handlers={RefusedError: _refusal, 404: _missing, 405: _missing},
        )

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
        await run_in_threadpool(self._caller, request)
        return JSONResponse(await run_in_threadpool(document))

    async def listed(self, request: Request) -> Response:
        """Return the operations that whoever asks may ask, each with what it does."""
        caller = await run_in_threadpool(self._caller, request)
        return JSONResponse(
            [{"name": one.name, "access": one.access, "summary": one.summary} for one in offered(caller)]
        )

    async def hook(self, request: Request) -> Response:
        """Answer a harness's callback, as `braid hook` sends it on."""
        try:
            caller = await run_in_threadpool(self._caller, request)
            body = await _body(request)
            reply = await run_in_threadpool(answer_hook, self.session, caller, body)
        except RefusedError:
            raise
        except Exception as error:
            return _problem(error)
        return Response(msgspec.json.encode(reply), media_type="application/json")

    async def operation(self, request: Request) -> Response:
        """Answer an operation: JSON, or MessagePack where a client of Braid asks; a stream as JSON lines, or events."""
        try:
            caller = await run_in_threadpool(self._caller, request)
            known = find(request.path_params["name"])
            if not known.remote:
                raise AccessDeniedError(
                    f"{known.name} names paths of the machine that the store is on: ask it there"
                )
            asked = _asked(request, known, await _body(request))
            if known.streams:
                return await self._stream(request, known, caller, asked)
            answer = await run_in_threadpool(self._answer, known, caller, asked)
            encoded = await run_in_threadpool(_encoded, answer, own=_is_own(request))
        except RefusedError:
            raise
        except Exception as error:
            return _problem(error)
        return Response(encoded, media_type=CONTENT_TYPE if _is_own(request) else "application/json")

    def _answer(self, known: Operation, caller: Caller, asked: Asked) -> Any:
        with asked_by(caller):
            return self.session.call(known.run, asked)

    def _items(self, known: Operation, caller: Caller, asked: Asked) -> Iterator[Any]:
        with asked_by(caller):
            yield from self.session.call(known.run, asked)

    async def _stream(self, request: Request, known: Operation, caller: Caller, asked: Asked) -> Response:
        """Answer a stream. What is refused before its first item is a problem with a status of its own."""
        items = stream(partial(self._items, known, caller, asked))
        try:
            first = [await anext(items)]
        except StopAsyncIteration:
            first = []
        form = _form_of(request)
        return StreamingResponse(_written(first, items, *form[1:]), media_type=form[0])

    def _caller(self, request: Request) -> Caller:
        """Return who asks. Raises RefusedError for a host that isn't this, and for a token that doesn't count."""
        if request.scope.get("server") is None or request.scope["server"][1] is None:
            return LOCAL  # through the socket in the store's folder
        self._require_host(request)
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        caller = self.callers.find(secret.strip()) if kind.lower() == "bearer" and secret else None
        if caller is None:
            raise RefusedError(
                401,
                "No valid token",
                "a token is needed: Authorization: Bearer …",
                "`braid token create NAME` makes one; it may have expired or been revoked",
            )
        return caller

    def _require_host(self, request: Request) -> None:
        host = request.headers.get("host", "")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if name not in self.hosts:
            raise RefusedError(421, "Wrong host", "this server does not answer under that name")
        origin = request.headers.get("origin")
        if origin is not None:
            raise RefusedError(403, "Foreign page", "a page in a browser may not ask this server")


def offered(caller: Caller) -> list[Operation]:
    """Return the operations that a caller may ask over a network."""
    return [
        one
        for one in operations().values()
        if one.remote
        and one.access in caller.allowed
        and (caller.operations is None or one.name in caller.operations)
    ]


def _encoded(answer: object, *, own: bool) -> bytes:
    return encode(answer) if own else wire.to_json(answer)


def _is_own(request: Request) -> bool:
    return CONTENT_TYPE in request.headers.get("accept", "")


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
                    raise RefusedError(413, "Body too large", f"a request may have {BODY_LIMIT} bytes")
    except TimeoutError:
        raise RefusedError(408, "Too slow", f"the request did not arrive within {BODY_S:g} seconds") from None
    except ClientDisconnect:
        raise RefusedError(400, "Client gone", "the request broke off") from None
    return bytes(read)


def _asked(request: Request, known: Operation, body: bytes) -> Asked:
    """Return the request of an operation; a header Idempotency-Key is its member of that name."""
    if request.headers.get("content-type", "").startswith(CONTENT_TYPE):
        try:
            asked: Asked = decode(body, known.request)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise known.refusal(error) from None
    else:
        asked = known.decoded(body)
    key = request.headers.get("idempotency-key")
    if key is None:
        return asked
    if "idempotency_key" not in asked.__struct_fields__:
        raise RefusedError(400, "No key taken", f"{known.name} takes no Idempotency-Key")
    return msgspec.structs.replace(asked, idempotency_key=key)


_Write = Callable[[Any], bytes]


def _form_of(request: Request) -> tuple[str, _Write, _Write, bytes]:
    """Return how a stream is written: its media type, an item, a problem, and its end."""
    if _is_own(request):
        own: _Write = lambda item: framed(ITEM, item if isinstance(item, bytes) else encode(item))  # noqa: E731
        return CONTENT_TYPE, own, lambda found: framed(FAILED, msgspec.json.encode(found)), framed(ENDED)
    if "text/event-stream" in request.headers.get("accept", ""):
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
        _log.error("%s", found.detail, exc_info=error)
    return found


def _problem(error: Exception) -> Response:
    found = _logged(error)
    return Response(msgspec.json.encode(found), found.status, media_type=MEDIA_TYPE)


async def _refusal(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)  # noqa: S101 - what it is registered for
    headers = {"WWW-Authenticate": "Bearer"} if error.problem.status == 401 else None
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
    return Response(msgspec.json.encode(found), status, media_type=MEDIA_TYPE)
