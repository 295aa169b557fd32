"""Plans: what may run, and what is refused, by name and reason, before anything is run."""

import json
from typing import Any

import msgspec
import pytest

from braid.agent.errors import PlanError
from braid.agent.program.plan import MAX_PLAN_BYTES, Plan, filled, filled_all, read_plan
from braid.agent.program.plan_check import check
from braid.agent.program.plans import PLANS, chosen
from braid.agent.program.tool import Tool, Toolbox
from braid.agent.program.toolkit import TOOLS, PersonReply, calculate
from braid.agent.program.toolkit import PersonQuestion as Asked

LOOK = {"op": "retrieve", "as": "look"}
END = {"op": "answer", "as": "end", "of": ["look"]}
NOTE = {"op": "draft", "as": "m", "of": ["look"]}
SENDS = Tool(
    name="post", about="Sends something away.", args=Asked, result=PersonReply, permission="network",
    call=lambda args, key: {"text": args.question},
)  # fmt: skip
BOX = Toolbox([*TOOLS, SENDS])


def plan(*steps: dict[str, Any], **more: Any) -> str:
    return json.dumps({"steps": steps, **more})


def refused(raw: str) -> str:
    with pytest.raises(PlanError) as caught:
        check(read_plan(raw), BOX, ("read", "ask"))
    return str(caught.value)


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize(
    "question",
    [
        "Where does Ann's brother live?",
        "Where did Ann live in May, and where does she live now?",
        "Why?",
        "{x}",
    ],
)
def test_the_defaults_may_run(name: str, question: str) -> None:
    made = PLANS[name](question, samples=3)
    assert check(made, BOX, ()) is made
    encoded = msgspec.json.encode(made)
    assert msgspec.json.encode(read_plan(encoded)) == encoded


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([], "at least one step"),
        ([LOOK], "the last step of a plan is `answer`"),
        ([LOOK] * 2 + [END], "another step is called so"),
        ([{**LOOK, "as": "Look"}, END], "a step is called by"),
        ([{**LOOK, "as": "question"}, END], "a step is called by"),
        ([{**LOOK, "k": 0}, END], "k is 1 to 50, not 0"),
        ([{**LOOK, "k": 51}, END], "k is 1 to 50, not 51"),
        ([{**LOOK, "query": " "}, END], "its query is empty"),
        ([{**LOOK, "query": "x" * 2001}, END], "it may have 2,000"),
        ([{**LOOK, "at": "yesterday"}, END], "is no RFC 3339 time"),
        ([{**LOOK, "at": "2025-01-01T00:00:00"}, END], "has no time zone"),
        ([{**LOOK, "query": "{later}"}, {**END, "as": "later"}], "'later', which comes later or is itself"),
        ([{**LOOK, "query": "{look}"}, END], "'look', which comes later or is itself"),
        ([{**LOOK, "query": "{nobody}"}, END], "'nobody', and no step is called so"),
        ([LOOK, {"op": "retrieve", "as": "more", "query": "{look}"}, END], "{look} gives records, not text"),
        ([{"op": "lens", "as": "seen", "lens": "entity", "of": "look"}, LOOK, END], "comes later"),
        ([LOOK, {"op": "lens", "as": "seen", "lens": "nothing", "of": "look"}, END], "no lens 'nothing'"),
        ([LOOK, {"op": "draft", "as": "note", "of": ["look"], "tokens": 21}, END], "1 to 20 tokens, not 21"),
        ([LOOK, {"op": "draft", "as": "note", "of": []}, END], "it says of nothing what to note"),
        ([LOOK, {"op": "branch", "as": "fork", "found": "look"}, END], "it leads nowhere"),
        ([LOOK, {"op": "branch", "as": "fork", "found": "look", "then": "look"}, END], "it can't loop"),
        ([LOOK, {"op": "branch", "as": "fork", "found": "look", "then": "fork"}, END], "it can't loop"),
        ([LOOK, {"op": "branch", "as": "fork", "found": "look", "then": "x"}, END], "no step is called so"),
        ([LOOK, {"op": "branch", "as": "fork", "found": "look", "least": 2, "then": "end"}, END], "is 0 to 1, not 2"),
        ([{**LOOK, "as": "today"}, END], "a step is called by"),
        ([LOOK, {"op": "draft", "as": "n", "of": ["look"], "apart": ["n"]}, END], "comes later or is itself"),
        ([LOOK, {**NOTE, "apart": ["look"], "what": "amount"}, END], "note is needed"),
        (
            [LOOK, NOTE, {**NOTE, "as": "n", "apart": ["m"]}, END],
            "`apart` is of notes of amounts",
        ),
        ([LOOK, {"op": "tool", "as": "t", "tool": "rm", "args": {}}, END], "there is no tool 'rm'; there are:"),
        ([LOOK, {"op": "tool", "as": "t", "tool": "post", "args": {"question": "x"}}, END], "permission 'network'"),
        ([LOOK, {"op": "tool", "as": "t", "tool": "person", "args": {}}, END], "it needs 'question'"),
        ([LOOK, {"op": "tool", "as": "t", "tool": "person", "args": {"question": 3}}, END], "Expected `str`"),
        ([LOOK, {"op": "tool", "as": "t", "tool": "person", "args": {"q": ""}}, END], "it takes no 'q'"),
        ([{"op": "reconcile", "as": "held"}, {**END, "of": ["held"]}], "'held' gives stance; records or result"),
        ([LOOK, {**END, "held": "look"}], "'look' gives records; stance is needed"),
        ([LOOK, {**END, "samples": 10}], "samples is 1 to 9, not 10"),
        ([LOOK, {**END, "says": "Leeds."}], "no words of its own"),
        ([{"op": "answer", "as": "end"}], "it answers from nothing"),
        ([{**LOOK, "as": f"look{n}"} for n in range(40)] + [END], "at most 32 steps, this has 41"),
    ],
)  # fmt: skip
def test_what_must_not_run_is_refused_with_the_reason(steps: list[dict[str, Any]], why: str) -> None:
    assert why in refused(plan(*steps))


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ({"steps": 0}, "the limit of steps is 1 to 32, not 0"),
        ({"steps": 33}, "not 33"),
        ({"seconds": 601}, "the limit of seconds is 1 to 600, not 601"),
        ({"tokens": -1}, "the limit of tokens is 0 to 50000, not -1"),
    ],
)
def test_limits_have_bounds(limits: dict[str, Any], why: str) -> None:
    assert why in refused(plan(LOOK, END, limits=limits))


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("", "this is no plan"),
        ("[]", "this is no plan"),
        ('{"steps": [{"op": "sudo", "as": "x"}]}', "Invalid value 'sudo'"),
        ('{"steps": [{"op": "retrieve"}]}', "missing required field `as`"),
        ('{"steps": [{"op": "retrieve", "as": "x", "why": 1}]}', "unknown field `why`"),
        ('{"steps": [{"op": "retrieve", "as": "x", "k": "many"}]}', "Expected `int`"),
        ('{"steps": ' * 5000, "this is no plan"),
        ("{" + " " * MAX_PLAN_BYTES + "}", "at most 65,536 bytes"),
    ],
)
def test_what_is_no_plan_is_refused(raw: str, why: str) -> None:
    assert why in refused(raw)


def test_braces_are_filled_once_and_with_what_is_known() -> None:
    assert filled("{a} and {b}, {c}", {"a": "{b}", "b": "2"}) == "{b} and 2,"
    assert filled_all({"x": ["{a}", 3], "y": {"z": "{a}{a}"}}, {"a": "1"}) == {
        "x": ["1", 3],
        "y": {"z": "11"},
    }


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Where does Ann live?", "question"),
        ("Who is Ann's brother?", "question"),
        ("Where does Ann's brother live?", "multihop"),
        ("How old is the city where Maya works?", "multihop"),
        ("Where did Ann live in April 2025, and where does she live now?", "comparison"),
        ("", "question"),
        ("a'" * 4000, "question"),
    ],
)
def test_the_default_that_fits(question: str, name: str) -> None:
    assert chosen(question) == name


def test_a_plan_is_a_value() -> None:
    made = PLANS["question"]("Why?")
    assert isinstance(made, Plan)
    with pytest.raises(AttributeError):
        made.about = "other"  # type: ignore[misc]


def test_the_calculator_is_a_tool_like_any_other() -> None:
    assert BOX.get("calculator").call is calculate
