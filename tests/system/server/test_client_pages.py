"""A client's lists item by item, while others append and forget: one page is held, none is left out or given twice."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.client.remote import Remote
from braid.client.served import ServedStore
from braid.errors import AccessDeniedError, InvalidRequestError, LostPlaceError
from braid.ledger.record.record import Claim
from braid.session import Called
from braid.store import Store
from tests.system.server.running import served
from tests.system.server.test_manners import Asker, operator
from tests.unit.api.test_operations import NOW


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    ticks = iter(range(10**6))
    with braid.open(
        tmp_path / "store", guard_dir=tmp_path / "guard", clock=lambda: NOW + timedelta(seconds=next(ticks))
    ) as opened:
        yield opened


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of items of each page that a client has asked for."""
    sizes: list[int] = []
    page = Remote._page

    def counted(self: Remote, *args: Any) -> tuple[Any, str | None]:
        answer, cursor = page(self, *args)
        sizes.append(len(answer.tokens))
        return answer, cursor

    monkeypatch.setattr(Remote, "_page", counted)
    return sizes


def test_a_page_is_asked_for_when_the_last_is_used_up(store: Store, pages: list[int]) -> None:
    for k in range(7):
        store.issue_token(f"bot {k}", kind="agent")
    with served(store), braid.connect(store.path) as client:
        tokens = client.iter_tokens(page_size=3)
        assert [next(tokens).name for _ in range(3)] == ["bot 0", "bot 1", "bot 2"]
        assert pages == [3]
        assert [one.name for one in tokens] == ["bot 3", "bot 4", "bot 5", "bot 6"]
        assert pages == [3, 3, 1]


def test_what_comes_meanwhile_moves_nothing(store: Store) -> None:
    issued = [store.issue_token(f"bot {k}", kind="agent") for k in range(5)]
    with served(store), braid.connect(store.path) as client:
        tokens = client.iter_tokens(page_size=2)
        seen = [next(tokens).name]
        store.revoke_token(issued[0].id)
        store.issue_token("newest", kind="agent")
        assert seen + [one.name for one in tokens] == [*(f"bot {k}" for k in range(5)), "newest"]


def test_rows_behind_one_that_was_forgotten_are_refused(store: Store) -> None:
    ids = [store.append(f"Said {k}.", user_id="maya") for k in range(7)]
    query = "SELECT text FROM experiences ORDER BY log_index"
    with served(store), braid.connect(store.path) as client:
        tables = client.iter_sql(query, page_size=3)
        assert next(tables)["text"].to_pylist() == ["Said 0.", "Said 1.", "Said 2."]
        store.forget(ids[0])
        with pytest.raises(LostPlaceError, match="forgotten") as caught:
            next(tables)
        assert "ask for the first page again" in caught.value.__notes__[0]


def test_the_usual_limit_does_not_count_and_one_of_yours_does(store: Store) -> None:
    for k in range(105):
        store.append(
            f"Town {k} is far.",
            user_id="maya",
            claims=[Claim(subject=f"Town {k}", rel="is", object="far")],
        )
    with served(store), braid.connect(store.path) as client:
        for door in (store, client):
            assert len(door.entities(user_id="maya").entities) == 100
            assert len(list(door.iter_entities(user_id="maya", page_size=30))) > 104
            assert len(list(door.iter_entities(user_id="maya", limit=7, page_size=3))) == 7
            assert len(list(door.iter_entities(user_id="maya", limit=100, page_size=30))) == 100
    with served(store, port=True) as port:
        ask, path = Asker(port, operator(store)), "/v1/entities?page_size=1000&user_id=maya"
        for method, url, body, counts in (
            ("GET", f"{path}&limit=100", None, 100),
            ("POST", "/v1/entities?page_size=1000", {"user_id": "maya", "limit": 100}, 100),
            ("GET", path, None, None),
            ("POST", "/v1/entities?page_size=1000", {"user_id": "maya"}, None),
        ):
            found = len(ask(method, url, body)[1]["entities"])
            assert found == counts if counts else found > 104


def test_a_mistake_is_raised_where_it_is_made(store: Store) -> None:
    with served(store), braid.connect(store.path) as client, braid.open(store.path) as beside:
        for door in (store, client, beside):
            with pytest.raises(InvalidRequestError, match="page_size"):
                door.iter_tokens(page_size=0)
            with pytest.raises(InvalidRequestError, match="page_size"):
                door.iter_tokens(page_size=True)
            with pytest.raises(ValueError, match="nowhere"):
                door.iter_sql("SELECT nothing FROM nowhere")
        client.close()
        with pytest.raises(ValueError, match="was closed"):
            client.iter_tokens()


def test_a_store_beside_a_server_keeps_its_own_rights_and_observers(store: Store) -> None:
    with served(store), braid.open(store.path) as beside:
        assert isinstance(beside, ServedStore)
        seen: list[Called] = []
        beside.session.observers.append(seen.append)
        assert list(beside.iter_tokens()) == []
        beside.session.allowed = frozenset(("write",))
        with pytest.raises(AccessDeniedError):
            beside.iter_tokens()
        assert [(one.name, one.error) for one in seen] == [("tokens", None), ("tokens", "AccessDeniedError")]
