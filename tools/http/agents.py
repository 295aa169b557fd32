"""Where agents reach a server: their tools by MCP over streamable HTTP, and the hooks of their harness.

MCP is served without sessions, for the protocol of July 2026 and the earlier ones alike: each request says who asks, by
its token.
"""

from contextvars import ContextVar
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from braid.caller import Caller, asked_by
from braid.operation import Request as Asked
from braid.operation import operation_of
from braid.paging import items_of, require_page
from braid.tools.hooks.service import HookReply, answered, parsed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from mcp.server.lowlevel import Server as McpServer

    from braid.door import Door
    from braid.session import Session
    from braid.tools.mcp.server import Memory

_Answered = TypeVar("_Answered")
_MEMORY: "ContextVar[Memory]" = ContextVar("braid_mcp_memory")


class McpEndpoint:
    """The ASGI application behind `/mcp`."""

    def __init__(
        self,
        door_of: "Callable[[Caller], Door]",
        caller_of: "Callable[[Request], Caller]",
        body_of: "Callable[[Request], Awaitable[bytes]]",
        body_limit: int,
    ) -> None:
        """`caller_of`: who asks; raises where nobody may. `door_of`: what they ask through, within their limits.
        `body_of`: a request's body, at most `body_limit` bytes; raises where it is too long or too slow.
        """
        self._door_of = door_of
        self._caller_of = caller_of
        self._body_of = body_of
        self._limit = body_limit
        self._server: McpServer[dict[str, Any]] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request as whoever its token names.

        Nothing is ever sent unasked, so there is no stream to GET: idle ones would hold the connections of others.
        """
        from starlette.concurrency import run_in_threadpool

        caller = await run_in_threadpool(self._caller_of, Request(scope))
        if scope["method"] != "POST":
            raise StarletteHTTPException(405, headers={"Allow": "POST"})
        if find_spec("mcp") is None:
            from starlette.responses import JSONResponse

            missing = {"title": "Not installed", "status": 501, "detail": "pip install 'braid-store[mcp]'"}
            await JSONResponse(missing, 501)(scope, receive, send)
            return
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from braid.tools.mcp.server import Memory, application

        if self._server is None:
            self._server = application(_MEMORY.get)
        body = await self._body_of(Request(scope, receive))
        token = _MEMORY.set(Memory(self._door_of(caller), caller))
        try:
            # One for each request: nothing is kept between two, and it needs no task of the server's own.
            manager = StreamableHTTPSessionManager(
                self._server, json_response=True, stateless=True, max_request_body_size=self._limit
            )
            async with manager.run():
                await manager.handle_request(scope, _again(body, receive), send)
        finally:
            _MEMORY.reset(token)


def _again(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read once more, and then what comes behind it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def given() -> Message:
        return waiting.pop() if waiting else await receive()

    return given


class CallersDoor:
    """What one caller asks through, at whichever route: their limits hold, and what they take away is watched."""

    def __init__(self, answer: "Callable[..., Any]", caller: Caller) -> None:
        """`answer`: what the server answers to (caller, operation, request, **local)."""
        self._answer = answer
        self._caller = caller

    def call(
        self, function: "Callable[..., _Answered]", request: Asked, *_: Any, **local: Any
    ) -> "_Answered":
        """Return what an operation answers. Raises what it raises, and RefusedError for what is asked too often."""
        answer: _Answered = self._answer(self._caller, operation_of(function), request, **local)
        return answer

    def items(
        self, function: "Callable[[Session, Any], Any]", request: Asked, page_size: int
    ) -> "Iterator[Any]":
        """Yield the items of an operation's list, as `Session.items`."""
        known = operation_of(function)
        require_page(known, page_size)
        return items_of(known, self.call(function, request), page_size)


def answer_hook(door: "Door", caller: Caller, body: bytes) -> HookReply:
    """Answer a hook: new lines of a transcript are captured, context is given. Raises InvalidRequestError."""
    header, lines = parsed(body)
    with asked_by(caller):
        return answered(door, header, lines)
