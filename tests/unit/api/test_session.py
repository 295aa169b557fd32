"""The one door: what a session may do, what it shows, and whom it tells; and streams through an event loop."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import braid
from braid.async_handle import AHEAD, AsyncTransaction, stream
from braid.errors import AccessDeniedError, InvalidRequestError
from braid.ledger.errors import ForgottenError, InvalidRecordError
from braid.ledger.record.record import ExperienceBody
from braid.log.operations import Append
from braid.log.transaction import Pending
from braid.session import Called
from braid.store import Records


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return the folder of a new store."""
    braid.init(tmp_path / "memory")
    return tmp_path / "memory"


def test_what_replaces_a_record_needs_the_access_of_a_correction(place: Path) -> None:
    with braid.open(place, create=False) as store:
        old = store.append("Maya lives in Porto.", user_id="maya")
        store.allowed = frozenset(("read", "write"))
        asked: tuple[Callable[[], object], ...] = (
            lambda: store.append("Maya lives in Lisbon.", supersedes=[old]),
            lambda: store.append_all([Append(text="Maya lives in Lisbon.", supersedes=(old,))]),
        )
        for ask in asked:
            with pytest.raises(AccessDeniedError, match="modify"):
                ask()
        assert store.append("Maya has a cat.", user_id="maya")


def test_who_may_only_write_is_shown_nothing(place: Path) -> None:
    with braid.open(place, create=False) as store:
        store.append("You must never call before nine.", user_id="maya")
        store.allowed = frozenset(("write",))
        asked: tuple[Callable[[], object], ...] = (
            lambda: store.apply_lens("policy", user_id="maya"),
            lambda: store.stance("Where does Maya live?", append=False),
            lambda: store.run_program("Where does Maya live?"),
        )
        for ask in asked:
            with pytest.raises(AccessDeniedError, match="'read'"):
                ask()


def test_what_another_handle_forgot_is_not_shown(place: Path) -> None:
    with braid.open(place, create=False, shared=True) as one, braid.open(place, shared=True) as other:
        id = one.append("My code is 4711.")
        assert other.get(id).text == "My code is 4711."
        other.forget(id)
        with pytest.raises(ForgottenError):
            one.get(id)


def test_observers_hear_of_refusals_and_cannot_undo_an_answer(place: Path) -> None:
    heard: list[tuple[str, str | None]] = []

    def observe(called: Called) -> None:
        heard.append((called.name, called.error))
        raise RuntimeError("no room for metrics")

    with braid.open(place, create=False) as store:
        store.observers.append(observe)
        size = len(store)
        with pytest.warns(UserWarning, match="no room for metrics"):
            store.append("Maya has a cat.")
        with pytest.warns(UserWarning, match="no room"), pytest.raises(InvalidRequestError):
            store.get("")
        assert len(store) == size + 1
    assert heard == [("append", None), ("get", "InvalidRequestError")]


def test_a_transaction_has_one_signer(place: Path) -> None:
    with braid.open(place, create=False) as store, pytest.raises(InvalidRequestError, match="one key signs"):
        store.append_all([Append(text="x", signer="nobody")])


def test_a_stream_comes_through_the_loop_in_order_and_ends(place: Path) -> None:
    async def asked() -> None:
        async with await braid.open_async(place) as store:
            for n in range(2 * AHEAD):
                await store.append(f"turn {n}")
            said = [one.text async for one in store.read() if one.kind == "experience"]
            assert said == [f"turn {n}" for n in range(2 * AHEAD)]
            with pytest.raises(InvalidRequestError):
                async for _ in store.read(-1):
                    pass

    asyncio.run(asked())


def test_whoever_stops_taking_a_stream_ends_its_thread() -> None:
    ended = threading.Event()

    def numbers() -> Iterator[int]:
        try:
            yield from range(10**9)
        finally:
            ended.set()

    async def asked() -> None:
        async for number in stream(numbers):
            if number == 3:
                break

    asyncio.run(asked())
    assert ended.wait(10)


def test_a_loop_that_has_closed_leaves_no_error_behind() -> None:
    ended = threading.Event()
    going = threading.Event()

    def slow() -> Iterator[int]:
        try:
            yield 1
            going.wait(10)
            yield 2
        finally:
            ended.set()

    async def asked() -> None:
        async for _ in stream(slow):
            break

    asyncio.run(asked())
    going.set()
    assert ended.wait(10), "an error in the thread would be a warning, and so fail this test"


def test_a_transaction_keeps_what_was_said_when_it_was_said(place: Path) -> None:
    with braid.open(place) as store:
        mine = {"a": 1}
        with store.transaction() as block:
            first = block.append("one", structured=mine)
            mine["a"] = 2
            with pytest.raises(InvalidRecordError, match="nothing to remember"):
                block.append("")
            block.append("two", parents=[first])
        with store.transaction() as block:
            second = block.append("three", type="inference", parents=[first])
        body = store.get(first.id).body
        assert isinstance(body, ExperienceBody)
        assert body.content.structured == {"a": 1}
        assert [link.id for link in store.get(second.id).links] == [first.id]
        for late in (block, store.transaction()):
            with pytest.raises(ValueError, match="isn't open"):
                late.append("late")
        with pytest.raises(ValueError, match="entered once"), block:
            pass
        with store.transaction() as block, store.transaction() as other:
            pending = other.append("elsewhere")
            with pytest.raises(InvalidRecordError, match="another transaction"):
                block.append("x", parents=[pending])


def test_a_transaction_knows_its_ids_once_it_is_committed(place: Path) -> None:
    with braid.open(place) as store:
        known = store.append("before", idempotency_key="k")
        with store.transaction() as block:
            first = block.append("one")
            block.append("before", idempotency_key="k")
            block.append("two", parents=[first])
            with pytest.raises(ValueError, match="when its block has ended"):
                _ = block.ids
            with pytest.raises(ValueError, match="when its block has ended"):
                _ = first.id
        assert [store.get(id).text for id in block.ids] == ["one", "before", "two"]
        assert block.ids[:2] == (first.id, known)
        with store.transaction() as nothing:
            pass
        assert nothing.ids == ()


def _append_and_stop(block: Records, added: list[Pending]) -> None:
    added.append(block.append("one"))
    raise RuntimeError("stop")


async def _stopped(transaction: AsyncTransaction, added: list[Pending]) -> None:
    async with transaction as block:
        _append_and_stop(block, added)


def test_a_transaction_that_came_to_nothing_has_no_ids(place: Path) -> None:
    with braid.open(place) as store:
        block = store.transaction()
        added: list[Pending] = []
        with pytest.raises(RuntimeError, match="stop"), block:
            _append_and_stop(block, added)
        store.append("other", idempotency_key="k")
        refused = store.transaction()
        with pytest.raises(braid.IdempotencyConflictError), refused:
            refused.append("unlike", idempotency_key="k")
        for gone in (block, refused):
            with pytest.raises(ValueError, match="ended with an exception"):
                _ = gone.ids
        with pytest.raises(ValueError, match="ended with an exception"):
            _ = added[0].id
        assert [one.text for one in store.read() if one.kind == "experience"] == ["other"]


def test_a_transaction_of_an_event_loop_commits_in_a_thread(place: Path) -> None:
    async def asked() -> None:
        async with await braid.open_async(place) as store:
            async with store.transaction() as block:
                first = block.append("one", user_id="maya")
                block.append("two", user_id="maya", parents=[first])
            assert [(await store.get(id)).text for id in block.ids] == ["one", "two"]
            added: list[Pending] = []
            with pytest.raises(RuntimeError, match="stop"):
                await _stopped(store.transaction(), added)
            with pytest.raises(ValueError, match="ended with an exception"):
                _ = added[0].id

    asyncio.run(asked())


@pytest.mark.parametrize("value", [{1, 2}, {"a": [frozenset()]}], ids=str)
def test_what_is_no_json_is_refused(place: Path, value: object) -> None:
    with braid.open(place) as store, pytest.raises(InvalidRequestError, match="only JSON values can be kept"):
        store.append("x", structured={"a": value})


def test_a_record_that_has_come_back_is_read_once(place: Path) -> None:
    with braid.open(place) as store:
        id = store.append("I live in Porto.", user_id="maya")
        store.forget(id)
        store.recover(id)
        assert store.learn().records == 1
        store.remember("I like figs.", user_id="maya")
