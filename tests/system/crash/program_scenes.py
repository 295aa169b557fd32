"""What the children of test_program_kill.py do: run a program, or go on with it, and die where they are told to."""

import os
import time
from pathlib import Path
from typing import Any

import msgspec

import braid
from braid.agent.errors import ProgramError
from braid.agent.program.plan import AnswerStep, Plan, ToolStep
from braid.agent.program.tool import Tool
from braid.programs.program import Program
from braid.store import Store
from braid.wal.failpoint import arm, kill_at

KEY = "the-only-one"


class Order(msgspec.Struct, frozen=True):
    what: str


class Receipt(msgspec.Struct, frozen=True):
    text: str


PLAN = Plan(
    steps=[
        ToolStep(name="total", tool="calculator", args={"expression": "3 * 4"}),
        ToolStep(name="bought", tool="shop", args={"what": "{total} mugs"}),
        ToolStep(name="word", tool="person", args={"question": "Did {bought} come?"}),
        AnswerStep(name="end", of=["word"]),
    ]
)


def shop(folder: Path) -> Tool:
    """Return a tool whose work is a line in a file: what is done twice is there twice."""

    def call(order: Order, key: str) -> Receipt:
        with (folder / "orders").open("a") as orders:
            orders.write(f"{key} {order.what}\n")
            orders.flush()
            os.fsync(orders.fileno())
        return Receipt(order.what)

    return Tool(
        name="shop", about="", args=Order, result=Receipt, call=call, permission="write", seconds=60.0,
    )  # fmt: skip


def opened(folder: Path) -> Store:
    """Open the store as one of several that write."""
    return braid.open(folder / "memory", guard_dir=folder / "guard", create=False, shared=True, wait_s=60)


def begin(store: Store, folder: Path) -> Program:
    """Begin the program, or find the one that was begun; go on with it where nothing is asked."""
    how: dict[str, Any] = {"tools": [shop(folder)], "allow": ["read", "ask", "write"], "affect": False}
    return store.run_program("Mugs?", plan=PLAN, idempotency_key=KEY, **how)


def run(folder: str, kill: str) -> None:
    """Run the program up to its pause."""
    if kill:
        arm(kill_at(kill))
    with opened(Path(folder)) as store:
        begin(store, Path(folder))


def go_on(folder: str, kill: str) -> None:
    """Go on with the program to its end: as a person would, who is asked whether the order went out."""
    if kill:
        arm(kill_at(kill))
    where = Path(folder)
    with opened(where) as store:
        found = begin(store, where)
        while found.waits_for is not None:
            word: dict[str, Any] = {"result": {"text": "They came."}}
            if found.waits_for != "person":
                word = {"result": {"text": "12 mugs"}} if (where / "orders").exists() else {"again": True}
            found = store.resume(found.id, tools=[shop(where)], affect=False, **word)


def answer(folder: str, kill: str) -> None:
    """Bring the person's word when told to, one of several at once. Says in a file how it went."""
    where = Path(folder)
    with opened(where) as store:
        id = begin(store, where).id
        (where / f"ready-{kill}").touch()
        while not (where / "go").exists():
            time.sleep(0.001)
        try:
            store.resume(id, tools=[shop(where)], affect=False, result={"text": f"They came, says {kill}."})
            said = "done"
        except ProgramError as error:
            said = f"{type(error).__name__}: {error}"
    (where / f"said-{kill}").write_text(said, encoding="utf-8")
