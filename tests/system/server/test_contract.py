"""One contract of all doors: `Store`, `AsyncStore`, `connect` and `connect_async` answer every operation alike.

So does `braid.open` beside a server (test_served.py). The cases are the registry's (tests/unit/api/test_operations.py):
an operation that is added is asked here, too.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

import braid
from braid import wire
from braid.async_store import AsyncMethods, AsyncStore
from braid.operation import Operation
from braid.store import Methods, Store
from tests.system.server.running import served
from tests.unit.api.test_operations import ALL, Scene, asked, scene, unlike  # noqa: F401 - a fixture

Door = Methods | AsyncMethods


@contextmanager
def client(store: Store) -> Iterator[Door]:
    """The door of a server's client."""
    with served(store), braid.connect(store.path) as made:
        yield made


@contextmanager
def async_client(store: Store) -> Iterator[Door]:
    """The door of a server's client for event loops."""
    with served(store), braid.connect(store.path) as made:
        yield braid.AsyncClient(made)


@contextmanager
def async_store(store: Store) -> Iterator[Door]:
    """The door of a store for event loops."""
    yield AsyncStore(store)


DOORS: Final[dict[str, Callable[[Store], Any]]] = {
    "AsyncStore": async_store,
    "connect": client,
    "connect_async": async_client,
}


def answered(known: Operation, door: Door, request: dict[str, Any]) -> Any:
    """Return what a door answers, as JSON values."""
    decoded = known.decoded(json.dumps(request).encode())
    members = {name: getattr(decoded, name) for name in decoded.__struct_fields__}
    several = next((name[1:] for name in known.positional if name.startswith("*")), None)
    positional = members.pop(several) if several else ()

    async def awaited() -> Any:
        given = getattr(door, known.name)(*positional, **members)
        return [one async for one in given] if known.streams else await given

    if isinstance(door, AsyncMethods):
        answer = asyncio.run(awaited())
    else:
        answer = getattr(door, known.name)(*positional, **members)
        answer = list(answer) if known.streams else answer
    return json.loads(wire.to_json(answer))


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", ALL)
def test_each_door_answers_as_the_store_does(name: str, door: str, scene: Scene, tmp_path: Path) -> None:  # noqa: F811
    known = ALL[name]
    if not known.remote and door != "AsyncStore":
        pytest.skip("it names paths of the machine that the store is on: no client has it")
    mine, other = scene.copy(tmp_path / "one"), scene.copy(tmp_path / "two")
    with mine.open() as store, DOORS[door](store) as asks:
        got = answered(known, asks, asked(known, mine))
    with other.open() as store:
        wanted = answered(known, store, asked(known, other))
    told = json.loads(json.dumps(got).replace(str(mine.folder), str(other.folder)))
    assert unlike(told, wanted, exact=known.access == "read" and known.repeatable) == []
