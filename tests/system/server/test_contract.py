"""One contract of all doors: `Store`, `AsyncStore`, `connect` and `connect_async` answer every operation alike.

So does `braid.open` beside a server (test_served.py). The cases are the registry's (tests/unit/api/test_operations.py):
an operation that is added is asked here, too.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

import braid
from braid import wire
from braid.async_store import AsyncMethods, AsyncStore
from braid.client.served import ServedStore
from braid.errors import InvalidRequestError
from braid.operation import Operation
from braid.store import Methods, Store
from tests.system.server.running import served
from tests.unit.api.test_operations import ALL, NOW, Scene, asked, scene, unlike  # noqa: F401 - a fixture

Door = Methods | AsyncMethods


@contextmanager
def client(store: Store) -> Iterator[Door]:
    """The door of a server's client."""
    with served(store), braid.connect(store.path) as made:
        yield made


@contextmanager
def beside(store: Store) -> Iterator[Door]:
    """The door that `braid.open` gives where a server runs."""
    with served(store), braid.open(store.path) as opened:
        assert isinstance(opened, ServedStore)
        yield opened


@contextmanager
def async_client(store: Store) -> Iterator[Door]:
    """The door of a server's client for event loops."""
    with served(store), braid.connect(store.path) as made:
        yield braid.AsyncClient(made)


@contextmanager
def async_store(store: Store) -> Iterator[Door]:
    """The door of a store for event loops."""
    yield AsyncStore(store)


def members_of(known: Operation, request: dict[str, Any]) -> dict[str, Any]:
    """Return what a method is given, from what a server is asked."""
    decoded = known.decoded(json.dumps(request).encode())
    return {name: getattr(decoded, name) for name in decoded.__struct_fields__}


DOORS: Final[dict[str, Callable[[Store], Any]]] = {
    "AsyncStore": async_store,
    "connect": client,
    "connect_async": async_client,
}


def answered(known: Operation, door: Door, request: dict[str, Any]) -> Any:
    """Return what a door answers, as JSON values."""
    members = members_of(known, request)
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


@pytest.mark.sample(72)
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


ITEM_DOORS: Final[dict[str, Callable[[Store], Any]]] = {"Store": nullcontext, "open": beside, **DOORS}


def listed(known: Operation, door: Door, request: dict[str, Any], page_size: int) -> list[Any]:
    """Return what a door yields of a list item by item, as JSON values; of tables, their rows."""
    members = members_of(known, request)

    async def awaited() -> list[Any]:
        return [one async for one in getattr(door, f"iter_{known.name}")(**members, page_size=page_size)]

    if isinstance(door, AsyncMethods):
        items = asyncio.run(awaited())
    else:
        items = list(getattr(door, f"iter_{known.name}")(**members, page_size=page_size))
    found: list[Any] = json.loads(wire.to_json(items))
    if known.pages != "table":
        return found
    assert all(len(one["rows"]) <= page_size for one in found)
    assert len({str(one["columns"]) for one in found}) == 1  # of no rows there is one table, too
    return [row for one in found for row in one["rows"]]


@pytest.mark.sample(24)
@pytest.mark.parametrize("door", ITEM_DOORS)
@pytest.mark.parametrize("name", [name for name, known in ALL.items() if known.pages])
def test_each_door_yields_a_list_item_by_item(name: str, door: str, scene: Scene, tmp_path: Path) -> None:  # noqa: F811
    known, mine = ALL[name], scene.copy(tmp_path / "mine")
    request, later = asked(known, mine), NOW + timedelta(days=1)
    opened = braid.open(mine.folder / "store", guard_dir=mine.folder / "guard", clock=lambda: later)
    with opened as store, ITEM_DOORS[door](store) as asks:
        whole = json.loads(wire.to_json(store.call(known.run, known.decoded(json.dumps(request).encode()))))
        items = whole[known.pages]["rows"] if known.pages == "table" else whole[known.pages]
        for size in (1, 2, 1000):
            assert listed(known, asks, request, size) == items
        for size in (0, 1001):
            with pytest.raises(InvalidRequestError, match="page_size is a whole number from 1 to 1000"):
                listed(known, asks, request, size)


def test_a_list_of_no_pages_is_not_yielded(tmp_path: Path) -> None:
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard") as store:
        known = ALL["status"]
        with pytest.raises(InvalidRequestError, match="status is not answered in pages"):
            store.items(known.run, known.decoded(b""), 10)
