"""An operation that takes its time, as events: how far it is, that it is still at work, then its answer."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from time import monotonic
from typing import Any, Final

import anyio

from braid.tools.http.problem import problem
from braid.transport import Problem

STEP_S: Final = 0.5
"""How often it is said how far an operation is."""
STILL_S: Final = 15.0
"""How often it is said at least that it is at work: proxies end connections on which nothing comes."""


class Steps:
    """How far an operation is: set by its thread, read by the loop."""

    def __init__(self) -> None:
        self.latest: tuple[int, int] | None = None

    def __call__(self, done: int, total: int) -> None:
        """Take notice of what is done."""
        self.latest = (done, total)


async def events(
    work: "asyncio.Future[Any]",
    steps: Steps,
    item: Callable[[Any], bytes],
    failed: Callable[[Exception], Problem] = problem,
) -> AsyncIterator[bytes]:
    """Yield the events of an operation at work: `progress`, then its answer as `item` writes it, `end`; or `problem`.

    Where nobody takes them any more, it ends with the work: the server doesn't close the store beneath it.
    """
    told: tuple[int, int] | None = None
    at = monotonic()
    try:
        while not (await asyncio.wait({work}, timeout=STEP_S))[0]:
            now = steps.latest
            if now is not None and now != told:
                told, at = now, monotonic()
                yield _event("progress", {"done": now[0], "total": now[1]})
            elif monotonic() - at >= STILL_S:
                at = monotonic()
                yield b": at work\n\n"
    finally:
        with anyio.CancelScope(shield=True):
            await asyncio.wait({work})
    try:
        answer = work.result()
    except Exception as error:  # the status has been sent: what went wrong stands at the end
        yield b"event: problem\n" + item(failed(error))
        return
    yield item(answer)
    yield b"event: end\ndata:\n\n"


def _event(name: str, data: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
