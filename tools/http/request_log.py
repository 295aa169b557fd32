"""Each request of a server in the log of events: an id that all of it shares, how it ended, and how long it took.

No path is noted: it is what somebody else has written. The operation is, by its name in the registry.
"""

import logging
from time import perf_counter
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from braid.event_log import note, request
from braid.session import Called

HEADER: Final = "X-Request-Id"


class RequestLog:
    """ASGI middleware: takes a request's id from its header, or makes one, and gives it back with the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and note it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = perf_counter(), 0

        with request(Headers(scope=scope).get(HEADER)) as id:

            async def sending(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = int(message["status"])
                    MutableHeaders(scope=message)[HEADER] = id
                await send(message)

            try:
                await self._app(scope, receive, sending)
            finally:
                failed = status >= 500 or not status
                note(
                    "request",
                    level=logging.ERROR if failed else logging.INFO,
                    status=status,
                    outcome="failed" if failed else "refused" if status >= 400 else "ok",
                    latency_ms=_ms(perf_counter() - began),
                )


def noted(called: Called) -> None:
    """Note an operation that has ended: an observer of a session."""
    note(
        "operation",
        operation=called.name,
        memory_id=called.record,
        latency_ms=_ms(called.seconds),
        outcome=called.error or "ok",
        severity=called.severity,
    )


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 1)
