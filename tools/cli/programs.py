"""`braid program`: a question answered by a plan of steps, which may pause, and goes on another day."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.answering import put_answer
from braid.tools.cli.group import Braid, help_without_command
from braid.tools.cli.instants import instant
from braid.tools.cli.models import AllowRemote, ChatOption, chat_model, composer_of
from braid.tools.cli.options import (
    Adopt,
    AgentId,
    FormatOption,
    RunId,
    SessionId,
    Shared,
    StoreOption,
    UserId,
)
from braid.tools.cli.output import line, many, put, put_fields, put_json, put_rows, put_table, say, to_json

if TYPE_CHECKING:
    from braid.agent.program import Recorded
    from braid.running import Program

app = typer.Typer(cls=Braid, rich_markup_mode=None)
STOPPED = 1
_LISTED = ("id", "begun_at", "standing", "waits_for", "origin", "question", "answer")
_TRACED = ("n", "event", "step", "what", "ms", "from", "id")
_MAX_RESULT_BYTES = 1 << 20
Output = Annotated[Literal["text", "json"], typer.Option("--output", "-o", help="How to show it.")]
ProgramId = Annotated[
    str, typer.Argument(metavar="ID", help="The program: its first record.", show_default=False)
]


@app.callback(invoke_without_command=True)
def program(ctx: typer.Context) -> None:
    """Answer by a plan of steps: look, note, look again, decide, ask a tool or a person, answer.

    Each step is in the log before the next one: a program goes on after a crash, in another process, on another day,
    and does nothing twice.

    \b
    Examples:
      braid program run "What is Mireille's brother allergic to?" --user-id jonas
      braid program trace evt_2025-06-01T12:00:00Z_0000000a01cd
    """
    help_without_command(ctx)


@app.command()
def run(
    question: Annotated[
        str,
        typer.Argument(metavar="QUESTION", help="What is asked; - reads it from stdin.", show_default=False),
    ],
    *,
    plan: Annotated[
        str | None,
        typer.Option(
            "--plan",
            metavar="NAME|FILE",
            help="question, multihop, comparison, or a file of JSON.",
            show_default="the one that fits",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the plan and show it; run and append nothing.")
    ] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow", metavar="PERMISSION", help="What tools may do beside read and ask: write, network."
        ),
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", metavar="N", help="The majority of so many answers, 1 to 9.")
    ] = 1,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    session_id: SessionId = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="When it is asked: what “now” means.", show_default="now"),
    ] = None,
    affect: Annotated[
        bool, typer.Option("--affect/--no-affect", help="Let tone shape the manner of the answer.")
    ] = True,
    key: Annotated[
        str | None,
        typer.Option(
            "--idempotency-key",
            metavar="KEY",
            help="Run again with it, this goes on with that program.",
            show_default=False,
        ),
    ] = None,
    model: ChatOption = None,
    model_plan: Annotated[
        bool,
        typer.Option(
            "--model-plan", help="Let the model write the plan; the default where that may not run."
        ),
    ] = False,
    allow_remote: AllowRemote = False,
    output: Output = "text",
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Answer a question by a plan: a default that fits it, or one of your own.

    It ends in an answer, or waits where a tool is answered elsewhere: `braid program resume` goes on. Exit code 1
    where it was stopped at a limit.

    \b
    Examples:
      braid program run "What is Mireille's brother allergic to?" --user-id jonas
      braid program run "How long is it until the wedding?" --plan wedding.json --at 2024-12-31
      braid program run "Where did Ann live in April, and where does she live now?" --dry-run
    """
    text = sys.stdin.buffer.read().decode(errors="replace") if question == "-" else question
    named = _plan(plan)
    if dry_run:
        _show_plan(text, named, samples, [*(allow or []), "read", "ask"])
        return
    asked: dict[str, Any] = {
        "user_id": user_id, "agent_id": agent_id, "run_id": run_id, "session_id": session_id, "plan": named,
        "allow": {*(allow or []), "read", "ask"}, "samples": samples, "now": instant(at) if at else None,
        "affect": affect, "key": key, "composer": composer_of(model, allow_remote=allow_remote),
    }  # fmt: skip
    if model_plan:
        if model is None:
            raise ValueError("--model-plan needs a model that writes it: --model")
        asked["planner"] = chat_model(model, allow_remote=allow_remote)
    with writing(store, adopt=adopt, shared=shared) as opened:
        found = opened.program(text, **asked)
    if found.state.begun.refused is not None:
        say(
            f"the model's plan was refused ({found.state.begun.refused}); the plan {found.state.begun.origin} was run"
        )
    _put(found, output)


def _plan(named: str | None) -> str | None:
    """Return a plan's name, or the JSON in the file that is named."""
    from braid.agent.plan import MAX_PLAN_BYTES
    from braid.agent.plans import PLANS

    if named is None or named in PLANS:
        return named
    path = Path(named)
    if not path.is_file():
        raise ValueError(f"--plan is {', '.join(PLANS)}, or a file of JSON; {named!r} is none of these")
    with path.open("rb") as file:
        raw = file.read(MAX_PLAN_BYTES + 1)
    text = raw.decode("utf-8", errors="replace").strip()
    return text if text.startswith("{") else "{" + text  # not the name of a default, whatever it holds


def _show_plan(question: str, named: str | None, samples: int, allowed: Sequence[str]) -> None:
    import msgspec

    from braid.agent.plan_check import check
    from braid.planning import plan_for, toolbox

    found, origin = plan_for(question, named, samples=samples)
    check(found, toolbox(), allowed)
    put_json(msgspec.to_builtins(found))
    say(f"the plan {origin} may run; nothing was")


@app.command()
def resume(
    id: ProgramId,
    *,
    result: Annotated[
        str | None,
        typer.Option(
            "--result",
            metavar="JSON",
            help="What it waits for; plain text for a person's; - reads stdin.",
            show_default=False,
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Call the tool again that may have done its work.")
    ] = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="From a run on another machine, which has died.")
    ] = False,
    affect: Annotated[
        bool, typer.Option("--affect/--no-affect", help="Let tone shape the manner of the answer.")
    ] = True,
    model: ChatOption = None,
    allow_remote: AllowRemote = False,
    output: Output = "text",
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Go on with a program: with what it waits for, or where a crash has cut it off.

    Of two that resume it at once one goes on; the other is told which. Nothing is done twice: a tool that may have been
    called when the process died is called again only if that is harmless, or with --again.

    \b
    Examples:
      braid program resume evt_2025-06-01T12:00:00Z_0000000a01cd --result "On Friday."
      braid program resume evt_2025-06-01T12:00:00Z_0000000a01cd --again
    """
    how: dict[str, Any] = {
        "again": again, "take_over": take_over, "affect": affect,
        "composer": composer_of(model, allow_remote=allow_remote),
    }  # fmt: skip
    with writing(store, adopt=adopt, shared=shared) as opened:
        if result is not None:
            how["result"] = _result(result)
        found = opened.resume(id, **how)
    _put(found, output)


def _result(given: str) -> Any:
    """Return a result: JSON where it is an object, else what a person says."""
    text = given
    if given == "-":
        raw = sys.stdin.buffer.read(_MAX_RESULT_BYTES + 1)
        if len(raw) > _MAX_RESULT_BYTES:
            raise ValueError(f"a result has at most {_MAX_RESULT_BYTES:,} bytes")
        text = raw.decode(errors="replace").removesuffix("\n")
    if not text.lstrip().startswith("{"):
        return {"text": text}
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"--result is text, or an object of JSON: {error}") from None


@app.command()
def show(id: ProgramId, *, output: Output = "text", store: StoreOption = None) -> None:
    """Show how a program stands: its plan, what each step gave, what it waits for, its answer.

    \b
    Examples:
      braid program show evt_2025-06-01T12:00:00Z_0000000a01cd
      braid program show evt_2025-06-01T12:00:00Z_0000000a01cd -o json
    """
    from braid.agent.program import fold

    with reading(store) as opened:
        state = fold(opened.program_trace(id))
        said = opened.get(state.answer).text if state.answer is not None else None
    import msgspec

    if output == "json":
        put_json({**msgspec.to_builtins(state), "text": said})
        return
    put_fields(_fields(state, said))
    put("")
    rows = [
        [step.name, step.__struct_config__.tag, _gave(state.values[step.name])]
        if step.name in state.values
        else [step.name, step.__struct_config__.tag, _ahead(state, step.name)]
        for step in state.plan.steps
    ]
    put_table(["step", "op", "gave"], [[str(cell) for cell in row] for row in rows])


def _fields(state: Any, said: str | None) -> Mapping[str, Any]:
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
    from braid.agent.plan import filled_all

    return to_json(filled_all(state.step.args, state.texts)) if state.paused is not None else None


def _gave(value: Any) -> str:
    if value.trouble and not value.found:
        return line("; ".join(value.trouble))
    if value.scores:
        return many(len(value.scores), "record")
    return line(value.text) or "nothing"


def _ahead(state: Any, name: str) -> str:
    if not state.is_over and state.plan.place(name) >= state.at:
        return "…" if state.step.name != name else f"({state.standing} here)"
    return "answered" if state.standing == "answered" and state.step.name == name else "passed by"


@app.command()
def trace(id: ProgramId, *, output: FormatOption = "table", store: StoreOption = None) -> None:
    """List what happened in a program, in order: each event with its record and those that it came from.

    \b
    Examples:
      braid program trace evt_2025-06-01T12:00:00Z_0000000a01cd
      braid program trace evt_2025-06-01T12:00:00Z_0000000a01cd -o jsonl
    """
    with reading(store) as opened:
        history = opened.program_trace(id)
    if output in ("json", "jsonl"):
        import msgspec

        rows = [msgspec.to_builtins(one) for one in history]
        put_rows(("id", "at", "event", "evidence"), rows, output)
        return
    put_rows(_TRACED, [_traced(one, output) for one in history], output)


def _traced(one: "Recorded", output: str) -> dict[str, Any]:
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


@app.command("list")
def list_(*, output: FormatOption = "table", store: StoreOption = None) -> None:
    """List the programs there are, and how they stand.

    \b
    Examples:
      braid program list
      braid program list -o json
    """
    import msgspec

    with reading(store) as opened:
        found = opened.programs()
    rows = [msgspec.to_builtins(one) for one in found]
    put_rows(_LISTED, rows, output)
    say(many(len(found), "program"))


@app.command()
def tools(*, output: FormatOption = "table") -> None:
    """List the tools that plans may call: what they take and give, and what they may do.

    \b
    Examples:
      braid program tools
      braid program tools -o json
    """
    from braid.planning import toolbox

    rows = [
        {
            "name": tool.name,
            "permission": tool.permission,
            "answered": tool.asks or "here",
            "about": tool.about,
            **({} if output == "table" else {"schema": tool.schema, "digest": tool.digest}),
        }
        for tool in toolbox()
    ]
    put_rows(tuple(rows[0]), rows, output)


def _put(found: "Program", output: str) -> None:
    """Show what a run came to, and leave with 1 where it was stopped."""
    import msgspec

    if output == "json":
        put_json({
            "id": found.id, "standing": found.standing, "waits_for": found.waits_for, "why": found.state.why,
            "spent": msgspec.to_builtins(found.state.spent), "tool": getattr(found.state.paused, "tool", None),
            "answer_id": found.state.answer, "votes": found.state.votes,
            "answer": found.answer.wire() if found.answer else None,
        })  # fmt: skip
    elif found.answer is not None:
        put_answer(found.answer)
    elif found.state.paused is not None:
        put_fields({"id": found.id, **_fields(found.state, None)})
    trouble = [each for value in found.state.values.values() for each in value.trouble]
    for each in dict.fromkeys(trouble):
        say(f"degraded: {each}")
    if found.standing == "paused":
        say(f"{found.id} waits for {found.waits_for}", f"braid program resume {found.id} --result …")
    else:
        say(f"{found.id} {found.standing}{f': {found.state.why}' if found.state.why else ''}")
    if found.standing == "stopped":
        raise typer.Exit(STOPPED)
