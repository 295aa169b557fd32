"""Lists in pages over a real server: joined they are the whole, whatever is appended or forgotten between two."""

import json
import random
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.datastructures import QueryParams

import braid
from braid.admin.retention import Due, Overdue, RetentionDue
from braid.caller import Caller
from braid.errors import LostPlaceError
from braid.ledger.record.record import Claim
from braid.store import Store
from braid.tools.http.pages import page_of
from braid.tools.http.problem import problem
from tests.system.server.running import served
from tests.system.server.test_manners import Asker, operator
from tests.unit.api.test_operations import ALL, NOW, Scene, asked, scene  # noqa: F401 - a fixture

PAGED = [name for name, known in ALL.items() if known.pages]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    ticks = iter(range(10**6))
    with braid.open(
        tmp_path / "store", guard_dir=tmp_path / "guard", clock=lambda: NOW + timedelta(seconds=next(ticks))
    ) as opened:
        yield opened


def claimed(store: Store, subject: str, what: str, user_id: str = "maya") -> str:
    claim = Claim(subject=subject, rel="likes", object=what)
    return store.append(f"{subject} likes {what}.", user_id=user_id, claims=[claim])


def following(told: dict[str, str]) -> str | None:
    link = told.get("link")
    if link is None:
        return None
    assert link.endswith('>; rel="next"'), link
    return link[1:].partition(">")[0]


def pages(ask: Asker, path: str, body: object = None, method: str = "GET") -> Iterator[Any]:
    url: str | None = path
    while url is not None:
        status, page, told = ask(method, url, body)
        assert status == 200, page
        yield page
        url = following(told)


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", PAGED)
def test_pages_joined_are_the_whole(name: str, scene: Scene, tmp_path: Path) -> None:  # noqa: F811
    known, mine = ALL[name], scene.copy(tmp_path / "mine")
    member = known.pages
    assert member is not None
    request = asked(known, mine)
    later = NOW + timedelta(days=1)
    opened = braid.open(mine.folder / "store", guard_dir=mine.folder / "guard", clock=lambda: later)
    with opened as store, served(store, port=True) as port:
        ask = Asker(port, operator(store))
        whole = ask("POST", f"/v1/{name}", request)[1]
        for size in (1, 2, 1000):
            parts = list(pages(ask, f"/v1/{name}?page_size={size}", request, "POST"))
            rows = [one for part in parts for one in _items(part[member])]
            assert rows == _items(whole[member])
            assert len(parts) == max(1, -(-len(rows) // size))
            assert all({**part, member: None} == {**whole, member: None} for part in parts)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", [name for name, known in ALL.items() if known.table])
def test_a_list_has_its_rows_in_sql(name: str, scene: Scene, tmp_path: Path) -> None:  # noqa: F811
    known, mine = ALL[name], scene.copy(tmp_path / "mine")
    later = NOW + timedelta(days=1)
    opened = braid.open(mine.folder / "store", guard_dir=mine.folder / "guard", clock=lambda: later)
    with opened as store, served(store, port=True) as port:
        ask = Asker(port, operator(store))
        listed = ask("POST", f"/v1/{name}", {})[1][known.pages]
        rows = ask("POST", "/v1/sql", {"query": f"SELECT * FROM {known.table}"})[1]["table"]["rows"]
        assert len(listed) == len(rows) > 0


def _items(listed: Any) -> list[Any]:
    rows: list[Any] = listed["rows"] if isinstance(listed, dict) else listed
    return rows


def test_the_page_lists_them() -> None:
    said = re.search(r"- In pages: (.*?)\.\n", Path("docs/serve.md").read_text("utf-8"), re.DOTALL)
    assert said is not None
    assert re.split(r",\s+", said[1]) == sorted(PAGED)


@pytest.mark.parametrize("name", [n for n in PAGED if "limit" in ALL[n].request.__struct_fields__])
def test_in_pages_the_usual_limit_does_not_count(name: str) -> None:
    known = ALL[name]
    usual: Any = known.decoded(b"{}")
    for given, counts in (({}, 10_000), ({"limit": 7}, 7), ({"limit": usual.limit}, usual.limit)):
        asked_ = known.decoded(json.dumps(given).encode())
        found = page_of(
            known, QueryParams("page_size=5"), asked_, Caller(name="laptop"), 9, limited=bool(given)
        )
        assert found is not None
        lifted: Any = found.request()
        assert lifted.limit == counts or (not given and lifted.limit > counts)


def test_an_item_is_named_by_what_it_has() -> None:
    for name, known in ALL.items():
        if known.pages is None:
            assert known.page_key == ()
            continue
        schema = json.loads(Path("docs/schema", f"{name}.json").read_text("utf-8"))
        top = schema["$defs"][schema["response"]["$ref"].rpartition("/")[2]]
        assert not {"page_size", "cursor"} & set(known.request.__struct_fields__)
        listed = top["properties"][known.pages]
        if known.page_key:
            item = schema["$defs"][listed["items"]["$ref"].rpartition("/")[2]]
            assert set(known.page_key) <= set(item["properties"]), name


def test_a_list_that_knows_the_past_is_of_one_state(store: Store) -> None:
    for k in range(5):
        claimed(store, f"Person {k}", "tea")
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        whole = [one["id"] for one in ask("GET", "/v1/entities?user_id=maya")[1]["entities"]]
        seen: list[str] = []
        for at, page in enumerate(pages(ask, "/v1/entities?user_id=maya&page_size=2")):
            seen += [one["id"] for one in page["entities"]]
            claimed(store, f"Later {at}", "rum")
            claimed(store, "Person 4", f"what {at} brings")  # more often spoken of: it would come first now
        assert seen == whole


def test_what_is_forgotten_is_in_no_later_page(store: Store) -> None:
    said = [claimed(store, f"Person {k}", "tea") for k in range(6)]
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        url = "/v1/entities?user_id=maya&page_size=2"
        first, told = ask("GET", url)[1:]
        seen = [one["name"] for one in first["entities"]]
        store.forget(said[0], said[5])
        link = following(told)
        assert link is not None
        seen += [one["name"] for page in pages(ask, link) for one in page["entities"]]
        assert len(seen) == len(set(seen))
        assert {name.lower() for name in seen} == {f"person {k}" for k in range(5)}


def test_a_list_that_changes_goes_on_behind_what_was_given(store: Store) -> None:
    issued = [store.issue_token(f"bot {k}", kind="agent") for k in range(5)]
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        listed = pages(ask, "/v1/tokens?page_size=2", {}, "POST")
        seen = [one["name"] for one in next(listed)["tokens"]]
        store.revoke_token(issued[1].id)
        store.issue_token("newest", kind="agent")
        seen += [one["name"] for page in listed for one in page["tokens"]]
        assert seen == [*(f"bot {k}" for k in range(5)), "laptop", "newest"]


def test_a_waiting_list_gets_shorter_between_pages(store: Store) -> None:
    """What was given is decided on meanwhile, and so leaves the list: nothing is left out for that."""
    for k in range(4):
        for name, town in (("Ada", "Hull"), ("Bo", "Bath")):
            born = Claim(subject=f"Rex {k}", rel="born_in", object=town)
            store.append(f"Rex {k} is from {town}.", user_id="maya", actor="user", name=name, claims=[born])
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        whole = [one["id"] for one in ask("GET", "/v1/reviews?user_id=maya")[1]["reviews"]]
        assert len(whole) == 4
        seen = []
        for page in pages(ask, "/v1/reviews?user_id=maya&page_size=1"):
            (one,) = page["reviews"]
            seen.append(one["id"])
            store.reject_review(one["id"], reason="both", user_id="maya")
        assert seen == whole


def test_a_page_of_sql_is_a_page_of_its_rows(store: Store) -> None:
    for k in range(7):
        store.append(f"Said {k}.", user_id="maya")
    query = urlencode({"query": "SELECT text FROM experiences ORDER BY log_index", "page_size": 3})
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        texts: list[str] = []
        for page in pages(ask, f"/v1/sql?{query}"):
            texts += [row[0] for row in page["table"]["rows"]]
            store.append("Said later.", user_id="maya")
        assert texts == [f"Said {k}." for k in range(7)]


def test_the_bounds_of_a_page_are_those_it_was_made_under(store: Store) -> None:
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        assert "limit=100" in ask("GET", "/v1/changes")[2]["braid-limits"].split(", ")
        assert "limit=100" not in ask("GET", "/v1/changes?page_size=1")[2]["braid-limits"].split(", ")


def test_rows_are_not_counted_on_where_one_has_gone(store: Store) -> None:
    """The ones behind it have moved up: a number of rows given would leave some of them out."""
    ids = [store.append(f"Said {k}.", user_id="maya") for k in range(7)]
    query = urlencode({"query": "SELECT text FROM experiences ORDER BY log_index", "page_size": 3})
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        walk = pages(ask, f"/v1/sql?{query}")
        assert len(next(walk)["table"]["rows"]) == 3
        store.forget(ids[0])
        with pytest.raises(AssertionError, match=r"LostPlace"):
            next(walk)


def test_a_cursor_gives_nobody_more_than_they_may_see(store: Store) -> None:
    for k in range(4):
        claimed(store, f"Friend {k}", "tea", "maya")
        claimed(store, f"Guest {k}", "rum", "tom")
    with served(store, port=True) as port:
        maya = Asker(port, store.issue_token("maya", kind="person", user_id="maya").secret)
        tom = Asker(port, store.issue_token("tom", kind="person", user_id="tom").secret)
        url = following(maya("GET", "/v1/entities?page_size=2")[2])
        assert url is not None
        assert maya("GET", url)[0] == 200
        status, problem, _ = tom("GET", url)
        assert (status, problem["hint"][:28]) == (400, "ask for the first page again")
        assert "scope" in problem["detail"]
        mine = [one["name"] for page in pages(tom, "/v1/entities?page_size=1") for one in page["entities"]]
        assert mine
        assert not [name for name in mine if name.lower().startswith("friend")]


def test_what_is_no_page_is_refused(store: Store) -> None:
    for k in range(3):
        store.issue_token(f"bot {k}", kind="agent")
    with served(store, port=True) as port:
        ask = Asker(port, operator(store))
        link = following(ask("POST", "/v1/tokens?page_size=1", {})[2])
        assert link is not None
        cursor = link.partition("cursor=")[2]
        for url in (
            "/v1/tokens?cursor=x", "/v1/tokens?cursor=%C3%A9", "/v1/tokens?cursor=", "/v1/tokens?cursor=gA",
            f"/v1/tokens?cursor={cursor[:-4]}", f"/v1/lens_views?cursor={cursor}",
        ):  # fmt: skip
            status, problem, _ = ask("POST", url, {})
            assert (status, problem["error"]) == (400, "InvalidRequestError"), url
            assert problem["hint"].startswith("ask for the first page again"), url
        for size in ("0", "1001", "-1", "many", "9" * 99):
            assert ask("POST", f"/v1/tokens?page_size={size}", {})[0] == 400
        assert ask("POST", "/v1/status?page_size=3", {})[1]["detail"] == "status is not answered in pages"
        assert ask("GET", "/v1/status?page_size=3")[0] == 400


def page(items: tuple[int, ...], size: int, cursor: str | None) -> tuple[tuple[int, ...], str | None]:
    query = QueryParams({"page_size": str(size)} | ({"cursor": cursor} if cursor else {}))
    found = page_of(ALL["retention_due"], query, RetentionDue(), Caller(name="laptop"), 9)
    assert found is not None
    due = tuple(Overdue(what="forgotten", id=str(one), index=one, since=NOW) for one in items)
    part, following = found.of(Due(due=due))
    return tuple(int(one.id) for one in part.due), following


@pytest.mark.parametrize("seed", range(40))
def test_of_what_stays_none_is_left_out_and_none_given_twice(seed: int) -> None:
    chance = random.Random(seed)
    listed = list(range(0, 1000, 10))
    stayed, seen, cursor = set(listed), list[int](), None
    while True:
        part, cursor = page(tuple(listed), chance.choice([3, 20, 60]), cursor)
        seen += part
        if cursor is None:
            break
        gone = set(chance.sample(seen[-30:], k=min(len(seen), 12))) | set(chance.sample(listed, k=3))
        listed = sorted((set(listed) - gone) | {chance.randrange(1000) for _ in range(4)})
        stayed &= set(listed)
    assert len(seen) == len(set(seen))
    assert stayed <= set(seen)


def test_a_place_that_is_lost_is_told() -> None:
    listed = tuple(range(100))
    seen, cursor = page(listed, 40, None)
    assert seen == listed[:40]
    assert page(listed[:9] + listed[40:], 3, cursor)[0] == (40, 41, 42)
    with pytest.raises(LostPlaceError) as lost:
        page(listed[:8] + listed[40:], 3, cursor)
    told = problem(lost.value)
    assert (told.status, told.error, (told.hint or "")[:28]) == (
        409, "LostPlaceError", "ask for the first page again",
    )  # fmt: skip
    _, cursor = page(listed, 20, None)
    assert page(listed[20:], 3, cursor)[0] == (20, 21, 22)  # all that was given is named: nothing is lost
    assert page((), 3, cursor) == ((), None)
