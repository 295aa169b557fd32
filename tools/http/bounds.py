"""The bounds that an answer is made under: how long it may take, how much it may hold. A request names others."""

from collections.abc import Iterable
from typing import Final

import msgspec

from braid.operation import Operation, Request

_NAMES: Final = ("seconds", "limit_s", "rows", "result_bytes", "top_k", "limit", "depth")


def bounds_of(asked: Request) -> str:
    """Return the bounds of a request, such as `seconds=30.0, rows=100000`."""
    return _written((name, getattr(asked, name, None)) for name in _NAMES)


def usual_bounds(known: Operation) -> str:
    """Return the bounds that hold where a request names none."""
    usual = {one.name: one.default for one in msgspec.structs.fields(known.request)}
    return _written((name, usual.get(name)) for name in _NAMES)


def _written(held: Iterable[tuple[str, object]]) -> str:
    return ", ".join(f"{name}={value}" for name, value in held if isinstance(value, int | float))
