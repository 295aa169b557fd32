"""All operations, and the generic way in: a name and JSON go in, JSON comes out.

An HTTP route, an MCP tool or a command needs no more than this to ask everything that can be asked of a store.
"""

from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

from braid import wire
from braid.errors import AccessDeniedError, UnknownOperationError
from braid.operation import Operation, declared
from braid.session import Session

ROOMS: Final = (
    "log", "tone", "lens", "search", "claims", "answers", "knowledge", "exchange", "admin", "memories", "programs",
    "jobs", "providers",
)  # fmt: skip
"""The rooms of the subjects; each declares its operations in its module `operations`."""


def operations() -> dict[str, Operation]:
    """Return every operation by its name, in the order of the rooms."""
    for room in ROOMS:
        import_module(f"braid.{room}.operations")
    return _in_order(frozenset(declared())).copy()


@lru_cache(maxsize=1)
def _in_order(names: frozenset[str]) -> dict[str, Operation]:
    """Return the operations that are declared by these names, in the order of the rooms."""
    return {one.name: one for one in sorted(declared().values(), key=_place) if one.name in names}


def _place(one: Operation) -> tuple[int, str, int]:
    """Return where an operation is declared, whatever was imported first."""
    return ROOMS.index(one.room), one.run.__module__, one.run.__code__.co_firstlineno


def find(name: str) -> Operation:
    """Return an operation; UnknownOperationError, with the name that is near, where there is none."""
    known = operations()
    if name not in known:
        near = get_close_matches(name, known, n=1)
        raise UnknownOperationError(
            f"no operation is called {name!r}" + (f": did you mean {near[0]}?" if near else "")
        )
    return known[name]


def dispatch(session: Session, name: str, request: bytes, *, remote: bool = False) -> bytes:
    """Return the JSON of what an operation answers to the JSON of a request; a stream's items as one array.

    `remote`: it is asked from another machine. Raises UnknownOperationError, InvalidRequestError, AccessDeniedError,
    and what the operation raises.
    """
    known = find(name)
    if remote and not known.remote:
        raise AccessDeniedError(f"{name} names paths of the machine that the store is on: ask it there")
    answer: Any = session.call(known.run, known.decoded(request))
    return wire.to_json(list(answer) if hasattr(answer, "__next__") else answer)
