"""How many of an operation run at once: the others wait in line, not in each other's way.

A question to a projection is worked out in Python, by one thread at a time. Sixty of them in as many threads take a
quarter longer each than eight do, and leave no thread for those who append, whose threads wait for the disk together.
"""

from typing import Final

import anyio

from braid.operation import Operation

TOGETHER: Final = 8
"""How many of one operation run at once, where it only reads and asks a projection."""


class Places:
    """The places of each operation. To be used in one event loop."""

    def __init__(self) -> None:
        self._limiters: dict[str, anyio.CapacityLimiter] = {}

    def of(self, known: Operation) -> anyio.CapacityLimiter | None:
        """Return what limits an operation; None for one that takes any thread that is free."""
        if known.cost != "index" or not known.only_reads:
            return None
        return self._limiters.setdefault(known.name, anyio.CapacityLimiter(TOGETHER))
