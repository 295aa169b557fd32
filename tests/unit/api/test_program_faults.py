"""What goes wrong in programs: limits, tools that fail or changed, runs that meet, records that are gone."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from time import sleep
from typing import Any, Final, Literal

import msgspec
import pytest

import braid
from braid.agent.errors import (
    BrokenProgramError,
    PlanError,
    ProgramStateError,
    ProgramTakenError,
    ToolRefusedError,
)
from braid.agent.program.events import Called, Did, Taken
from braid.agent.program.plan import AnswerStep, Branch, NoteStep, Plan, ProgramLimits, Retrieve, ToolStep
from braid.agent.program.tool import Tool
from braid.async_store import AsyncStore
from braid.errors import InvalidRequestError
from braid.programs.lease import RunLock
from braid.programs.records import draft_of, once, state_of
from braid.store import Store


class Order(msgspec.Struct, frozen=True):
    what: str


class Receipt(msgspec.Struct, frozen=True):
    text: str


class NewReceipt(msgspec.Struct, frozen=True):
    text: str
    price: int


class Shop:
    """A tool that does something each time that it is called, and knows how often it was."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.fails: Exception | None = None

    def call(self, order: Order, key: str) -> Receipt:
        self.keys.append(key)
        if self.fails is not None:
            raise self.fails
        return Receipt(f"ordered: {order.what}")

    def tool(self, **more: Any) -> Tool:
        made = {
            "name": "shop",
            "about": "",
            "args": Order,
            "result": Receipt,
            "call": self.call,
            "permission": "write",
        }
        return Tool(**{**made, **more})


ORDER = Plan(
    steps=[ToolStep(name="bought", tool="shop", args={"what": "tea"}), AnswerStep(name="end", of=["bought"])]
)
WRITE: Final[tuple[Literal["read", "ask", "write"], ...]] = ("read", "ask", "write")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("faults")
    with braid.open(folder / "store", guard_dir=folder / "guard", shared=True) as it:
        it.remember([{"role": "user", "content": "I drink tea.", "name": "Ann"}], user_id="ann")
        yield it


@pytest.fixture
def shop() -> Shop:
    return Shop()


def died(store: Store, shop: Shop, *, repeatable: bool = False) -> str:
    """Return a program whose process died while the shop was being called."""

    class Killed(BaseException):
        pass

    def call(order: Order, key: str) -> Receipt:
        shop.call(order, key)
        raise Killed

    tool = shop.tool(call=call, repeatable=repeatable)
    with pytest.raises(Killed):
        store.run_program("Tea?", plan=ORDER, tools=[tool], allow=WRITE)
    return store.programs()[-1].id


@pytest.mark.soak
def test_a_refused_plan_leaves_no_trace(store: Store, shop: Shop) -> None:
    before = len(store)
    with pytest.raises(PlanError, match="needs the permission 'write'; allowed: ask, read"):
        store.run_program("Tea?", plan=ORDER, tools=[shop.tool()])
    with pytest.raises(PlanError, match="there is no plan 'best'"):
        store.run_program("Tea?", plan="best")
    with pytest.raises(InvalidRequestError, match="samples is a whole number of at most 9"):
        store.run_program("Tea?", samples=10)
    with pytest.raises(InvalidRequestError, match=r"allow.* can't be 'root'"):
        store.run_program("Tea?", allow=["root"])  # type: ignore[list-item]
    with pytest.raises(InvalidRequestError, match="text that isn't empty"):
        store.run_program("  ")
    with pytest.raises(InvalidRequestError, match="question is text, not a whole number"):
        store.run_program(3)  # type: ignore[arg-type]
    assert (len(store), shop.keys) == (before, [])


@pytest.mark.soak
@pytest.mark.parametrize(
    ("limits", "why"),
    [(ProgramLimits(steps=1), "it has run 1 steps, its limit"), (ProgramLimits(seconds=1.0), "its limit")],
)
def test_a_program_stops_at_its_limits_and_keeps_its_trace(
    store: Store, limits: ProgramLimits, why: str
) -> None:
    def slow(order: Order, key: str) -> Receipt:
        __import__("time").sleep(1.05)
        return Receipt(order.what)

    shop = Tool(name="shop", about="", args=Order, result=Receipt, call=slow)
    found = store.run_program("Tea?", plan=msgspec.structs.replace(ORDER, limits=limits), tools=[shop])
    assert (found.standing, found.answer) == ("stopped", None)
    assert why in found.state.why
    assert [type(one.event).__name__ for one in store.program_trace(found.id)] == [
        "Begun",
        "Called",
        "Did",
        "Ended",
    ]
    assert store.resume(found.id).standing == "stopped"  # and nothing more


def test_a_tool_that_fails_costs_its_step_alone(store: Store, shop: Shop) -> None:
    shop.fails = RuntimeError("closed today")
    found = store.run_program("Tea?", plan=ORDER, tools=[shop.tool()], allow=WRITE)
    assert found.answer is not None
    assert found.answer.abstained
    did = next(one.event for one in store.program_trace(found.id) if isinstance(one.event, Did))
    assert did.trouble == ["the tool shop raised RuntimeError: closed today"]
    assert "the tool shop raised RuntimeError: closed today" in found.answer.degraded
    assert found.answer.plain.endswith("The tool shop failed.")
    assert found.answer.text == found.answer.plain  # what claims nothing is left plain
    assert "closed today" not in found.answer.text
    assert "closed today" in (found.answer.reason or "")
    assert len(shop.keys) == 1


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda order, key: sleep(1.5), "took longer than 0.1 s and was left"),
        (lambda order, key: Receipt("x" * (4 << 20)), "it may give 16,384: nothing of it was kept"),
        (lambda order, key: ["tea"], "gave what is not of its type"),
    ],
)
def test_a_tool_that_hangs_or_floods_costs_its_step_alone(
    store: Store, shop: Shop, call: Callable[[Order, str], object], why: str
) -> None:
    size = store.reader.size
    found = store.run_program("Tea?", plan=ORDER, tools=[shop.tool(call=call, seconds=0.1)], allow=WRITE)
    assert found.answer is not None
    assert found.answer.abstained
    assert any(why in each for each in found.answer.degraded)
    assert store.reader.size - size < 20
    assert all(len(store.reader.at(at).text) < 1000 for at in range(size, store.reader.size))


def test_a_branch_on_a_step_that_was_passed_by_finds_nothing(store: Store) -> None:
    plan = Plan(
        steps=[
            Retrieve(name="none", query="zzzz", at="1990-01-01T00:00:00Z"),
            Branch(name="first", found="none", otherwise="second"),
            NoteStep(name="note", of=["none"]),
            Branch(name="second", found="note", otherwise="end"),
            Retrieve(name="more"),
            AnswerStep(name="end", of=["none"]),
        ]
    )
    found = store.run_program("Tea?", plan=plan, user_id="ann")
    assert found.standing == "answered"
    assert {"note", "more"}.isdisjoint(found.state.values)


def test_a_call_that_was_cut_off_is_not_made_again_unasked(store: Store, shop: Shop) -> None:
    id = died(store, shop)
    assert isinstance(store.program_trace(id)[-1].event, Called)
    found = store.resume(id, tools=[shop.tool()])
    assert (found.standing, found.state.paused and found.state.paused.unsure) == ("paused", True)
    assert len(shop.keys) == 1
    with pytest.raises(ProgramStateError, match="did its work before the process died is not known"):
        store.resume(id, tools=[shop.tool()])
    done = store.resume(id, tools=[shop.tool()], again=True)
    assert done.standing == "answered"
    assert len(shop.keys) == 2
    assert len(set(shop.keys)) == 1  # the same call, for whoever tells calls apart by their key


def test_a_call_that_was_cut_off_may_be_told_of_instead(store: Store, shop: Shop) -> None:
    id = died(store, shop)
    store.resume(id, tools=[shop.tool()])
    done = store.resume(id, tools=[shop.tool()], result={"text": "it came"})
    assert done.answer is not None
    assert done.answer.short == "it came"
    assert len(shop.keys) == 1


def test_a_repeatable_call_is_made_again_with_its_key(store: Store, shop: Shop) -> None:
    id = died(store, shop, repeatable=True)
    done = store.resume(id, tools=[shop.tool(repeatable=True)])
    assert done.standing == "answered"
    assert [*shop.keys] == [once(id, 1)] * 2


def test_a_changed_tool_is_refused_and_nothing_is_done(store: Store, shop: Shop) -> None:
    asks = shop.tool(call=None, asks="the shop", permission="ask")
    found = store.run_program("Tea?", plan=ORDER, tools=[asks])
    assert (found.standing, found.waits_for) == ("paused", "the shop")
    before = store.program_trace(found.id)
    for changed in ([shop.tool(call=None, asks="the shop", result=NewReceipt, permission="ask")], []):
        with pytest.raises(ToolRefusedError, match=r"is not what it was when|there is no tool 'shop'"):
            store.resume(found.id, tools=changed, result={"text": "x", "price": 3})
    assert store.program_trace(found.id) == before
    with pytest.raises(ToolRefusedError, match="not of its type"):
        store.resume(found.id, tools=[asks], result={"said": "x"})
    assert store.program_trace(found.id) == before
    assert store.resume(found.id, tools=[asks], result={"text": "tea is here"}).standing == "answered"


def test_what_doesnt_fit_how_it_stands_is_refused(store: Store, shop: Shop) -> None:
    done = store.run_program("Tea?", plan=ORDER, tools=[shop.tool()], allow=WRITE)
    with pytest.raises(ProgramStateError, match="is over"):
        store.resume(done.id, tools=[shop.tool()], result={"text": "x"})
    memory = store.append("no program")
    with pytest.raises(ProgramStateError, match="is no program"):
        store.resume(memory)
    with pytest.raises(ProgramStateError, match="is no program"):
        store.resume(store.program_trace(done.id)[-1].id)
    asks = shop.tool(call=None, asks="the shop", permission="ask")
    waits = store.run_program("Tea?", plan=ORDER, tools=[asks])
    with pytest.raises(ProgramStateError, match="waits for the shop: give what"):
        store.resume(waits.id, tools=[asks])
    with pytest.raises(ProgramStateError, match="not for a call to be made again"):
        store.resume(waits.id, tools=[asks], again=True)


def test_of_two_runs_one_goes_on_and_the_other_is_told(store: Store, shop: Shop) -> None:
    asks = shop.tool(call=None, asks="the shop", permission="ask")
    found = store.run_program("Tea?", plan=ORDER, tools=[asks])
    with RunLock(store, found.id), pytest.raises(ProgramTakenError, match="is being run by"):
        store.resume(found.id, tools=[asks], result={"text": "one"})

    def meanwhile(order: Order, key: str) -> Receipt:
        """Another run has gone on while this one worked: as from a machine whose locks nobody sees here."""
        state = state_of(store, store.programs()[-1].id)
        assert state.holder is not None
        store.session.append_drafts([draft_of(Taken(n=state.n, holder=state.holder), state.id, (), None)])
        return Receipt(order.what)

    with pytest.raises(
        ProgramTakenError, match=r"has been gone on with by process \d+ on .*nothing was written here"
    ):
        store.run_program("Tea?", plan=ORDER, tools=[shop.tool(call=meanwhile)], allow=WRITE)
    last = store.program_trace(store.programs()[-1].id)
    assert [type(one.event).__name__ for one in last] == ["Begun", "Called", "Taken"]


def test_a_run_on_another_machine_is_waited_for(store: Store, shop: Shop) -> None:
    id = died(store, shop, repeatable=True)
    state = state_of(store, id)
    assert state.holder is not None
    away = msgspec.structs.replace(
        state.holder, host="elsewhere", until=datetime.now(UTC) + timedelta(hours=1)
    )
    store.session.append_drafts([draft_of(Taken(n=state.n, holder=away), id, (), None)])
    with pytest.raises(ProgramTakenError, match=r"is being run by process \d+ on elsewhere until"):
        store.resume(id, tools=[shop.tool(repeatable=True)])
    assert store.resume(id, tools=[shop.tool(repeatable=True)], take_over=True).standing == "answered"


def test_a_run_on_another_machine_is_over_by_the_stores_clock(
    store: Store, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = died(store, shop, repeatable=True)
    state = state_of(store, id)
    assert state.holder is not None
    away = msgspec.structs.replace(state.holder, host="elsewhere")
    store.session.append_drafts([draft_of(Taken(n=state.n, holder=away), id, (), None)])
    monkeypatch.setattr(store.session, "_clock", lambda: away.until + timedelta(seconds=1))
    assert store.resume(id, tools=[shop.tool(repeatable=True)]).standing == "answered"


def test_repeating_with_a_key_begins_no_second_program(store: Store, shop: Shop) -> None:
    one = store.run_program("Tea?", plan=ORDER, tools=[shop.tool()], allow=WRITE, idempotency_key="tea-1")
    two = store.run_program("Tea?", plan=ORDER, tools=[shop.tool()], allow=WRITE, idempotency_key="tea-1")
    assert (one.id, len(shop.keys)) == (two.id, 1)


def test_erasing_what_a_note_was_read_from_takes_the_note_along(store: Store) -> None:
    secret = store.append("My locker is 09264718.", user_id="ann")
    plan = Plan(
        steps=[
            Retrieve(name="look", query="locker", k=1),
            NoteStep(name="note", of=["look"], question="What is my locker?"),
            ToolStep(name="word", tool="person", args={"question": "{note}?"}),
            AnswerStep(name="end", of=["word"]),
        ]
    )
    found = store.run_program("What is my locker?", user_id="ann", plan=plan)
    assert "09264718" in found.state.texts["note"]
    store.erase(secret)
    with pytest.raises(BrokenProgramError, match="can't be read any further"):
        store.resume(found.id, result={"text": "x"})
    assert next(one for one in store.programs() if one.id == found.id).standing == "broken"
    assert not any("09264718" in str(record.members) for record in store.read(include_forgotten=True))


def test_the_async_twin(store: Store, shop: Shop) -> None:
    async def both() -> tuple[str, str]:
        twin = AsyncStore(store)
        asks = shop.tool(call=None, asks="the shop", permission="ask")
        found = await twin.run_program("Tea?", plan=ORDER, tools=[asks])
        done = await twin.resume(found.id, tools=[asks], result={"text": "tea"})
        assert (await twin.programs())[-1].id == found.id
        return found.standing, done.standing

    assert asyncio.run(both()) == ("paused", "answered")


def test_a_log_with_programs_in_every_state_verifies_whole(store: Store, shop: Shop) -> None:
    done = store.run_program("Tea?", plan=ORDER, tools=[shop.tool()], allow=WRITE)
    running = died(store, shop, repeatable=True)
    standing = {str(one.id): one.standing for one in store.programs()}
    assert (standing[done.id], standing[running]) == ("answered", "running")
    assert store.verify(deep=True).findings == []
