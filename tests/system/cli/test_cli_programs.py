"""Sessions of `braid program`: run, pause, show, trace, resume, and what is refused in a sentence."""

import json

import pytest

from tests.system.cli.conftest import Session

PLAN = {
    "steps": [
        {"op": "tool", "as": "sum", "tool": "calculator", "args": {"expression": "40 + 2"}},
        {"op": "tool", "as": "word", "tool": "person", "args": {"question": "Is it {sum}?"}},
        {"op": "answer", "as": "end", "says": "It is {sum}, and: {word}"},
    ]
}


@pytest.fixture
def asked(session: Session) -> Session:
    session.write("plan.json", json.dumps(PLAN))
    return session


def test_a_program_from_its_beginning_to_its_end(asked: Session) -> None:
    begun = json.loads(asked.well("program", "run", "What is it?", "--plan", "plan.json", "-o", "json").out)
    assert (begun["standing"], begun["waits_for"], begun["state"]["paused"]["tool"]) == (
        "paused",
        "person",
        "person",
    )
    id = begun["id"]
    shown = asked.well("program", "show", id).out
    assert 'asks         {"question": "Is it 42?"}' in shown
    assert "(paused here)" in shown
    refused = asked.refused("program", "resume", id)
    assert "waits for person: give what the tool person is to give (--result)" in refused
    assert "is no program" in asked.refused(
        "program", "resume", asked.well("append", "x").id, "--result", "y"
    )
    done = asked.well("program", "resume", id, "--result", "-", stdin="Yes, quite.\n")
    assert done.out.startswith("It is 42 [1], and: Yes, quite [2].\n")
    assert f"{id} answered" in done.err
    assert "is over (answered)" in asked.refused("program", "resume", id, "--result", "no")
    trace = asked.well("program", "trace", id, "-o", "csv").out.splitlines()
    assert [line.split(",")[1] for line in trace] == [
        "event", "begun", "called", "did", "paused", "taken", "did", "ended",
    ]  # fmt: skip
    history = json.loads(asked.well("program", "trace", id, "-o", "json").out)
    assert history[2]["evidence"] == history[2]["evidence"][:1] != []
    listed = json.loads(asked.well("program", "list", "-o", "json").out)
    assert [(one["id"], one["standing"]) for one in listed] == [(id, "answered")]
    assert asked.is_clean()


def test_what_may_not_run_is_refused_before_anything_is_written(asked: Session) -> None:
    before = asked.well("log", "-o", "csv").out
    asked.write(
        "loop.json",
        json.dumps({"steps": [{"op": "branch", "as": "a", "found": "a", "then": "a"}, PLAN["steps"][2]]}),
    )
    asked.write("noise", b"\xff\xfe\x00")
    asked.write("named", "question")
    for words, why in (
        (("--plan", "loop.json"), "'a', which comes later or is itself"),
        (("--plan", "noise"), "this is no plan"),
        (("--plan", "named"), "this is no plan"),
        (("--plan", "nowhere.json"), "or a file of JSON"),
        (("--samples", "12"), "samples is a whole number of at most 9"),
        (("--allow", "root"), "can't be 'root'"),
        (("--plan", "plan.json", "--dry-run", "--at", "x"), None),
    ):
        if why is None:
            assert json.loads(asked.well("program", "run", "Why?", "--plan", "plan.json", "--dry-run").out)[
                "steps"
            ]
        else:
            assert why in asked.refused("program", "run", "Why?", *words)
    assert asked.well("log", "-o", "csv").out == before


def test_a_program_that_is_stopped_ends_with_one(asked: Session) -> None:
    asked.write("short.json", json.dumps({**PLAN, "limits": {"steps": 1}}))
    done = asked.braid("program", "run", "Why?", "--plan", "short.json")
    assert done.code == 1
    assert "stopped: it has run 1 steps, its limit" in done.err


def test_what_came_from_outside_cannot_steer_the_terminal(asked: Session) -> None:
    begun = json.loads(asked.well("program", "run", "Sure?\x1b[2J", "--plan", "plan.json", "-o", "json").out)
    done = asked.well("program", "resume", begun["id"], "--result", "yes \x1b[31m\u202e")
    shown = asked.well("program", "show", begun["id"])
    trace = asked.well("program", "trace", begun["id"])
    assert not any("\x1b" in each or "\u202e" in each for each in (done.out, done.err, shown.out, trace.out))


def test_asking_takes_one_look_and_says_where_a_plan_fits(session: Session) -> None:
    session.well("append", "The desk was £80.")
    asked = session.well("ask", "How much did the desk and the lamp cost together?", "--no-write")
    assert "this was one look; the plan reckoning fits the question" in asked.err
    assert "the plan" not in session.well("ask", "How much was the desk?", "--no-write").err
