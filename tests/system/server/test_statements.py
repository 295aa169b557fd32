"""SQL over a server: how far a token may go, and that a statement ends with the connection it came by."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

import braid
from braid.admin.projections import SqlCeiling, sql_ceiling
from braid.caller import Caller, asked_by
from braid.client.remote import SOCKET, short_path
from braid.errors import InvalidRequestError
from braid.registry import find
from braid.store import Store
from braid.tools.http.limits import read_ceiling
from braid.tools.http.places import BY_ONE, Places
from braid.views.duck.sandboxes import TOGETHER
from tests.system.server.running import served

ENDLESS = "SELECT count(*) FROM range(10000000000000)"
BY_TOKEN = Caller(name="reader", kind="model", allowed=frozenset(("read",)), token="evt_1")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard", server=None) as opened:
        yield opened


@pytest.mark.parametrize(
    "more", [{"seconds": 31}, {"rows": 1_000_001}, {"result_bytes": 1 << 40}, {"memory_bytes": 1 << 30}]
)
def test_a_token_may_go_only_so_far(store: Store, more: dict[str, Any]) -> None:
    with (
        asked_by(BY_TOKEN),
        pytest.raises(InvalidRequestError, match=f"{next(iter(more))} may be .* at most"),
    ):
        store.sql("SELECT 1", **more)


def test_an_operator_may_let_it_go_further(store: Store) -> None:
    sql_ceiling(store.session, read_ceiling("seconds=60, rows=5"))
    with asked_by(BY_TOKEN):
        assert store.sql("SELECT 1 AS n", seconds=60, rows=5).to_pylist() == [{"n": 1}]
        with pytest.raises(InvalidRequestError, match="rows may be 5 at most"):
            store.sql("SELECT 1", rows=6)
    assert store.sql("SELECT 1 AS n", rows=10**7).num_rows == 1


def test_what_is_no_limit_of_statements_is_refused() -> None:
    assert read_ceiling("") == SqlCeiling()
    for text in ("second=5", "seconds=soon", "seconds=0", "seconds"):
        with pytest.raises(ValueError, match=r"write seconds=30\.0, rows=1000000"):
            read_ceiling(text)


def test_a_statement_ends_with_its_connection(store: Store) -> None:
    with served(store):
        store.sql("SELECT 1")
        asking = socket.socket(socket.AF_UNIX)
        with short_path(store.path / SOCKET) as path:
            asking.connect(path)
        body = json.dumps({"query": ENDLESS, "seconds": 300}).encode()
        asking.sendall(b"POST /v1/sql HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        _wait(lambda: store.views._sandboxes._places == TOGETHER - 1)
        asking.close()
        _wait(lambda: store.views._sandboxes._places == TOGETHER)


def _wait(until: Any) -> None:
    ends = time.monotonic() + 30
    while not until():
        assert time.monotonic() < ends
        time.sleep(0.02)


def test_a_token_has_only_some_places() -> None:
    known, most, running = find("sql"), 0, 0

    async def ask(places: Places, caller: Caller) -> None:
        nonlocal most, running
        async with places.taken(known, caller):
            running += 1
            most = max(most, running)
            await anyio.sleep(0.01)
            running -= 1

    async def all_at_once(caller: Caller) -> Places:
        places = Places()
        async with anyio.create_task_group() as group:
            for _ in range(3 * BY_ONE):
                group.start_soon(ask, places, caller)
        return places

    assert anyio.run(all_at_once, BY_TOKEN)._own == {}
    assert most == BY_ONE
    anyio.run(all_at_once, Caller(name="this machine"))
    assert most == 3 * BY_ONE
