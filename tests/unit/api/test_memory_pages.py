"""`memories`: what is remembered of a scope, newest first, page by page; and what was forgotten and can come back."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import braid
from braid.caller import GRANTS, Caller, asked_by
from braid.errors import AccessDeniedError, InvalidRequestError
from braid.ledger.record.record import Claim
from braid.memories.list_operations import ListedMemory
from braid.store import Store
from braid.views.errors import ViewBusyError
from braid.views.store import Views
from tests.unit.api.test_memories import Clock

MAYA = Caller(name="app", kind="person", allowed=GRANTS["person"], user_id="maya")
READER = Caller(name="reader", kind="person", allowed=frozenset(("read",)), user_id="maya")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    braid.init(tmp_path / "store", guard_dir=tmp_path / "guard", durability="none", clock=clock)
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=clock) as opened:
        yield opened


def texts(several: tuple[ListedMemory, ...]) -> list[str]:
    return [one.text for one in several]


def paged(store: Store, limit: int, *, forgotten: bool = False) -> list[str]:
    found, before = list[str](), None
    while True:
        page = store.memories(user_id="maya", limit=limit, before=before, forgotten=forgotten)
        assert len(page.memories) <= limit
        found += texts(page.memories)
        if (before := page.before) is None:
            return found


def test_the_memories_of_a_scope_come_newest_first_in_pages(store: Store) -> None:
    for place in range(7):
        store.append(f"Maya's thing {place}.", user_id="maya")
        store.append(f"Tom's thing {place}.", user_id="tom")
    newest_first = [f"Maya's thing {place}." for place in reversed(range(7))]
    assert texts(store.memories(user_id="maya").memories) == newest_first
    for limit in (1, 3, 7, 8):
        assert paged(store, limit) == newest_first
    assert len(store.memories(limit=1_000).memories) == 14
    assert store.memories(user_id="nobody").memories == ()
    assert texts(store.memories(user_id="maya", session_id="other").memories) == []


def test_an_item_says_what_a_settings_page_shows(store: Store) -> None:
    id = store.append("Maya lives in Porto.", user_id="maya", name="Maya", tags=["home"])
    (one,) = store.memories(user_id="maya").memories
    assert (one.id, one.text, one.actor, one.name) == (id, "Maya lives in Porto.", "user", "Maya")
    assert (one.type, one.method, one.source_class) == ("occurrence", "capture", "owner")
    assert (one.tags, one.pinned, one.version, one.corrected) == (("home",), False, 1, False)
    assert (one.created_at, one.changed_at) == (store.get(id).created_at, None)
    right = store.correct(id, "Maya lives in Faro.")
    store.modify(id, pinned=True, reason="kept")
    (two,) = store.memories(user_id="maya").memories
    assert (two.id, two.text, two.pinned, two.version) == (right, "Maya lives in Faro.", True, 3)
    assert (two.created_at, two.changed_at) == (one.created_at, store.get(right).created_at)
    assert (two.corrected, two.occurred_at) == (True, one.created_at)


def test_a_correction_moves_no_memory_to_another_page(store: Store) -> None:
    ids = [store.append(f"Thing {place}.", user_id="maya") for place in range(4)]
    page = store.memories(user_id="maya", limit=2)
    store.correct(ids[0], "Thing nought.")
    store.correct(ids[3], "Thing three.")
    rest = store.memories(user_id="maya", limit=2, before=page.before)
    assert texts(rest.memories) == ["Thing 1.", "Thing nought."]
    assert rest.before is None
    assert paged(store, 3) == ["Thing three.", "Thing 2.", "Thing 1.", "Thing nought."]


def test_a_page_of_a_past_lists_what_stood_then(store: Store, clock: Clock) -> None:
    ids = [store.append(f"Thing {place}.", user_id="maya") for place in range(4)]
    store.modify(ids[2], pinned=True, reason="kept")
    then, moment = len(store) - 1, clock.now
    clock.now += timedelta(hours=1)
    store.correct(ids[1], "Thing one.")
    store.append("Thing 4.", user_id="maya")
    store.modify(ids[2], pinned=False, reason="let go")
    store.forget(ids[3])
    stood = ["Thing 2.", "Thing 1.", "Thing 0."]  # what has been forgotten since is gone then, too
    assert texts(store.memories(user_id="maya", as_of=then).memories) == stood
    assert texts(store.memories(user_id="maya", as_of_time=moment).memories) == stood
    first = store.memories(user_id="maya", as_of=then, limit=1)
    assert (first.memories[0].version, first.memories[0].pinned) == (2, True)
    rest = store.memories(user_id="maya", as_of=then, before=first.before)
    assert (texts(rest.memories), rest.before) == (stood[1:], None)
    store.recover(ids[3])
    assert texts(store.memories(user_id="maya", as_of=then).memories)[0] == "Thing 3."
    with pytest.raises(InvalidRequestError, match="forgotten is of the present"):
        store.memories(user_id="maya", as_of=then, forgotten=True)
    with pytest.raises(ValueError, match="there is no 9999"):
        store.memories(user_id="maya", as_of=9999)


def test_what_the_store_wrote_itself_is_left_out_unless_asked_for(store: Store) -> None:
    store.remember("I live in Porto.", user_id="maya", mode="sync")
    store.ask("Where does Maya live?", user_id="maya")
    assert texts(store.memories(user_id="maya").memories) == ["I live in Porto."]
    whole = store.memories(user_id="maya", derived=True).memories
    assert {"ask", "answer"} <= {one.method for one in whole}
    assert any(one.method.startswith("read:") for one in whole)


def test_a_reading_that_a_person_put_right_is_a_memory(store: Store) -> None:
    turn = store.append("I live in Porto.", user_id="maya", actor="user")
    read = store.append(
        "maya lives in Porto",
        type="inference",
        actor="agent",
        method="read:x@1",
        parents=[turn],
        claims=[Claim(subject="maya", rel="lives_in", object="Porto")],
        user_id="maya",
    )
    assert paged(store, 10) == ["I live in Porto."]
    store.correct(read, "Maya lives in Faro.")
    assert paged(store, 1) == ["Maya lives in Faro.", "I live in Porto."]


def test_the_forgotten_are_listed_while_they_can_come_back(store: Store, clock: Clock) -> None:
    ids = [store.append(f"Thing {place}.", user_id="maya") for place in range(5)]
    store.append("Tom's.", user_id="tom")
    right = store.correct(ids[3], "Thing three.")
    store.forget(ids[3])
    store.forget(ids[1])
    store.erase(ids[2])
    for id in ids[:1]:
        store.forget(store.correct(id, "Never mind."), only=True)  # the old text stands again
    assert paged(store, 2) == ["Thing 4.", "Thing 0."]
    assert paged(store, 1, forgotten=True) == ["Thing three.", "Thing 1."]
    one = store.memories(user_id="maya", forgotten=True).memories[0]
    assert one.id == right
    assert one.forgotten_at is not None
    assert one.recoverable_until == one.forgotten_at + timedelta(days=30)
    store.recover(one.id)
    assert paged(store, 2) == ["Thing 4.", "Thing three.", "Thing 0."]
    clock.now += timedelta(days=31)
    assert paged(store, 2, forgotten=True) == []


def test_what_comes_back_with_another_alone_is_not_offered(store: Store) -> None:
    base = store.append("I moved to Porto.", user_id="maya")
    store.append("Maya lives in Porto.", type="inference", parents=[base], user_id="maya")
    store.forget(base)
    assert paged(store, 5, forgotten=True) == ["I moved to Porto."]


def test_a_token_of_a_user_lists_theirs_and_undoes_where_it_may(store: Store) -> None:
    gone = store.append("Maya's old thing.", user_id="maya")
    store.append("Maya's thing.", user_id="maya")
    store.append("Tom's thing.", user_id="tom")
    store.forget(gone)
    with asked_by(MAYA):
        assert texts(store.memories().memories) == ["Maya's thing."]
        assert texts(store.memories(forgotten=True).memories) == ["Maya's old thing."]
        with pytest.raises(AccessDeniedError):
            store.memories(user_id="tom")
    with asked_by(READER):
        assert texts(store.memories().memories) == ["Maya's thing."]
        with pytest.raises(AccessDeniedError, match="recover"):
            store.memories(forgotten=True)


def test_a_memory_of_two_scopes_shows_each_what_is_theirs(store: Store) -> None:
    hers = store.append("We meet on Monday.", user_id="maya")
    store.append("We meet on Friday.", user_id="tom", supersedes=[hers])
    assert texts(store.memories(user_id="tom").memories) == ["We meet on Friday."]
    assert texts(store.memories(user_id="maya").memories) == []


def test_without_the_projection_the_log_itself_is_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in range(5):
        store.append(f"Thing {place}.", user_id="maya")
        store.append(f"Tom's {place}.", user_id="tom")

    def busy(_: Views) -> None:
        raise ViewBusyError("at work")

    monkeypatch.setattr(Views, "tables", busy)
    assert paged(store, 2) == [f"Thing {place}." for place in reversed(range(5))]


def test_what_is_listed_is_held_against_the_log(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that somebody puts into the projection shows nobody another's memory."""
    tom = store.append("Tom's secret.", user_id="tom")
    from braid.memories import page

    monkeypatch.setattr(page, "_of_projection", lambda *_: [store.get(tom).index])
    assert store.memories(user_id="maya").memories == ()
