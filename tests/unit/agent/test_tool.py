"""Tools: bounds on what they take, give and cost; and those that come with Braid."""

import time
from datetime import date
from typing import Any

import msgspec
import pytest

from braid.agent.errors import ToolRefusedError
from braid.agent.program.tool import Tool, Toolbox, accept_args, accept_result, told, use
from braid.agent.program.toolkit import Days, Sum, calculate, count_days


class Ask(msgspec.Struct, frozen=True):
    text: str
    times: int = 1


class Reply(msgspec.Struct, frozen=True):
    text: str


def tool(call: Any, **more: Any) -> Tool:
    return Tool(**{"name": "echo", "about": "", "args": Ask, "result": Reply, "call": call, **more})


def fails(_args: Any, _key: str) -> Any:
    raise RuntimeError("the disk is on fire")


def test_what_it_gives_is_of_its_type() -> None:
    found = use(tool(lambda args, key: {"text": f"{args.text} {key}"}), Ask("hello"), "k1", 5.0)
    assert found == {"text": "hello k1"}
    assert told(found) == "hello k1"


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (fails, "raised RuntimeError: the disk is on fire"),
        (lambda args, key: {"text": "x" * (5 << 20)}, "gave 5,242,891 bytes; it may give 16,384: nothing"),
        (lambda args, key: {"text": 3}, "gave what is not of its type: Expected `str`"),
        (lambda args, key: None, "gave what is not of its type"),
        (lambda args, key: {"text": "\ud800"}, "gave what is not of its type"),
    ],
)  # fmt: skip
def test_a_tool_that_fails_is_told_and_costs_no_more(call: Any, why: str) -> None:
    with pytest.raises(ToolRefusedError, match="the tool echo ") as caught:
        use(tool(call), Ask("hello"), "k1", 5.0)
    assert why in str(caught.value)


def test_a_tool_that_hangs_is_left() -> None:
    began = time.perf_counter()
    with pytest.raises(ToolRefusedError, match=r"took longer than 0.1 s and was left"):
        use(tool(lambda args, key: time.sleep(3), seconds=0.1), Ask("x"), "k", 60.0)
    with pytest.raises(ToolRefusedError, match=r"took longer than 0.05 s"):  # what the program has left
        use(tool(lambda args, key: time.sleep(3)), Ask("x"), "k", 0.05)
    assert time.perf_counter() - began < 2.5


def test_arguments_are_held_to_the_schema() -> None:
    assert accept_args(tool(fails), {"text": "x", "times": "3"}) == Ask("x", 3)  # filled from text
    with pytest.raises(ToolRefusedError, match="doesn't take this: Expected `int`"):
        accept_args(tool(fails), {"text": "x", "times": "often"})


def test_a_result_from_elsewhere_passes_the_same_bounds() -> None:
    asks = tool(None, asks="person")
    assert accept_result(asks, {"text": "yes"}) == {"text": "yes"}
    for given in ("yes", {"said": "yes"}, {"text": "y" * 20_000}, None):
        with pytest.raises(ToolRefusedError):
            accept_result(asks, given)


def test_its_digest_tells_a_change() -> None:
    class Other(msgspec.Struct, frozen=True):
        text: str
        mood: str

    one = tool(fails)
    assert one.digest == tool(lambda args, key: None, about="said otherwise").digest
    assert one.digest != tool(fails, result=Other).digest
    assert one.digest != tool(fails, permission="network").digest


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"permission": "root"}, "is one of read, ask, write, network"),
        ({"seconds": 0}, "up to 120 s"),
        ({"most_bytes": 1 << 30}, "16,384 bytes"),
        ({"call": None}, "says in `asks` who answers"),
        ({"asks": "person"}, "says in `asks` who answers"),
    ],
)
def test_a_tool_that_is_not_made_as_one_must_be(more: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match="the tool echo") as caught:
        Toolbox([tool(**{"call": fails, **more})])
    assert why in str(caught.value)


def test_two_of_a_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two tools are called 'echo'"):
        Toolbox([tool(fails), tool(fails)])


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", "7"), ("0.1 + 0.2", "0.3"), ("-(2 ** 10)", "-1024"), ("£1,260.00 - 24.14", "£1,235.86"),
        ("10 / 4", "2.5"), ("7 % 4", "3"), ("1 / 3", "0.333333333333333333333333333333"),
    ],
)  # fmt: skip
def test_sums(expression: str, value: str) -> None:
    assert calculate(Sum(expression), "").value == value


@pytest.mark.parametrize(
    "expression",
    ["", "1 +", "1 / 0", "9 ** 9 ** 9", "__import__('os')", "(1).real", "'a' * 9", "1e999999 * 9", "1" * 300,
     "x", "True + 1", "9 ** 64 ** 2", "9 ** 64 * 9 ** 64"],
)  # fmt: skip
def test_what_is_no_sum(expression: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        calculate(Sum(expression), "")


def test_days() -> None:
    day = date(2025, 3, 1)
    assert (found := count_days(Days(day, until=date(2025, 5, 17)), "")).days == 77
    assert found.weekday == "Saturday"
    assert count_days(Days(day, add=-1), "").day == date(2025, 2, 28)
    for wrong in (Days(day), Days(day, until=day, add=1)):
        with pytest.raises(ValueError, match="one of both"):
            count_days(wrong, "")
    with pytest.raises(OverflowError):
        count_days(Days(day, add=10**9), "")
