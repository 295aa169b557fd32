"""A program as it is shown: how it stands, what its steps gave, what happened in it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from braid.tools.cli.ask import put_answer
from braid.tools.cli.output import line, many, put_fields, put_json, say, to_json
from braid.wire import to_builtins

if TYPE_CHECKING:
    from braid.agent.program.events import Recorded
    from braid.programs.program import Program

STOPPED = 1
Output = Annotated[Literal["text", "json"], typer.Option("--output", "-o", help="How to show it.")]
ProgramId = Annotated[
    str, typer.Argument(metavar="ID", help="The program: its first record.", show_default=False)
]


def fields(state: Any, said: str | None) -> Mapping[str, Any]:
    """Return how a program stands, by name; `said`: the text of its answer."""
    told = {
        "question": state.begun.question,
        "standing": state.standing,
        "plan": state.begun.origin,
        "took": f"{many(state.spent.steps, 'step')}, {state.spent.ms / 1000:.1f} s,"
        f" {many(state.spent.tokens, 'token')}",
        "waits for": state.paused.asks if state.paused is not None else None,
        "of the tool": state.paused.tool if state.paused is not None else None,
        "asks": _asks(state),
        "run by": str(state.holder) if state.holder is not None else None,
        "why": state.why or None,
        "votes": ", ".join(f"{count} × {said}" for said, count in state.votes.items()) or None,
        "answer": state.answer,
        "says": said,
    }
    return {name: value for name, value in told.items() if value is not None}


def _asks(state: Any) -> str | None:
    """Return what the tool that a program waits for is asked, with what came before filled in."""
    from braid.agent.program.plan import filled_all

    return to_json(filled_all(state.step.args, state.texts)) if state.paused is not None else None


def gave(value: Any) -> str:
    """Return what a step gave, in a line."""
    if value.trouble and not value.found:
        return line("; ".join(value.trouble))
    if value.scores:
        return many(len(value.scores), "record")
    return line(value.text) or "nothing"


def ahead(state: Any, name: str) -> str:
    """Return what there is to say of a step that gave nothing yet."""
    if not state.is_over and state.plan.place(name) >= state.at:
        return "…" if state.step.name != name else f"({state.standing} here)"
    return "answered" if state.standing == "answered" and state.step.name == name else "passed by"


def traced(one: "Recorded", output: str) -> dict[str, Any]:
    """Return an event as a row."""
    event: Any = one.event
    what = [
        getattr(event, name, None)
        for name in ("question", "text", "tool", "asks", "why")
        if getattr(event, name, None)
    ]
    from_ = list(one.evidence)
    return {
        "n": event.n,
        "event": event.__struct_config__.tag,
        "step": getattr(event, "step", "") or "",
        "what": "; ".join(str(each) for each in [*what, *getattr(event, "trouble", ())]),
        "ms": round(getattr(event, "ms", 0.0), 1),
        "from": many(len(from_), "record") if output == "table" and len(from_) > 1 else " ".join(from_),
        "id": one.id,
    }


def put_program(found: "Program", output: str) -> None:
    """Show what a run came to, and leave with 1 where it was stopped."""
    if output == "json":
        put_json(to_builtins(found))
    elif found.answer is not None:
        put_answer(found.answer)
    elif found.state.paused is not None:
        put_fields({"id": found.id, **fields(found.state, None)})
    trouble = [each for value in found.state.values.values() for each in value.trouble]
    for each in dict.fromkeys(trouble):
        say(f"degraded: {each}")
    if found.standing == "paused":
        say(f"{found.id} waits for {found.waits_for}", f"braid program resume {found.id} --result …")
    else:
        say(f"{found.id} {found.standing}{f': {found.state.why}' if found.state.why else ''}")
    if found.standing == "stopped":
        raise typer.Exit(STOPPED)
