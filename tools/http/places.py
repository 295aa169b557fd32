"""How many of an operation run at once: the others wait in line, not in each other's way.

A question to a projection is worked out in Python, by one thread at a time. Sixty of them in as many threads take a
quarter longer each than eight do, and leave no thread for those who append, whose threads wait for the disk together.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import anyio

from braid.caller import Caller
from braid.operation import Operation

TOGETHER: Final = 8
"""How many of one operation run at once, where it only reads and asks a projection."""
BY_ONE: Final = 2
"""How many statements of SQL one token has at once: each may take as long as statements may."""


class Places:
    """The places of each operation. To be used in one event loop."""

    def __init__(self) -> None:
        self._limiters: dict[str, anyio.CapacityLimiter] = {}
        self._own: dict[str, _Own] = {}

    def of(self, known: Operation) -> anyio.CapacityLimiter | None:
        """Return what limits an operation; None for one that takes any thread that is free."""
        if known.cost != "index" or not known.only_reads:
            return None
        return self._limiters.setdefault(known.name, anyio.CapacityLimiter(TOGETHER))

    @asynccontextmanager
    async def taken(self, known: Operation, caller: Caller) -> AsyncGenerator[None]:
        """Wait until a caller may have one more of an operation that can be stopped, and have it."""
        if "stop" not in known.local or caller.token is None:
            yield
            return
        own = self._own.setdefault(caller.token, _Own(anyio.CapacityLimiter(BY_ONE)))
        own.asking += 1
        try:
            async with own.limiter:
                yield
        finally:
            own.asking -= 1
            if not own.asking:
                del self._own[caller.token]


@dataclass
class _Own:
    """The places of one token."""

    limiter: anyio.CapacityLimiter
    asking: int = 0
