"""`braid program`: a question answered by a plan of steps, which may pause, and goes on another day."""

import typer

from braid.tools.cli.access import reading
from braid.tools.cli.group import BraidGroup, help_without_command
from braid.tools.cli.options import FormatOption, StoreOption
from braid.tools.cli.output import many, put, put_fields, put_json, put_rows, put_table, say
from braid.tools.cli.program_runs import resume, run
from braid.tools.cli.program_text import Output, ProgramId, ahead, fields, gave, traced

app = typer.Typer(cls=BraidGroup, rich_markup_mode=None)
_LISTED = ("id", "begun_at", "standing", "waits_for", "origin", "question", "answer")
_TRACED = ("n", "event", "step", "what", "ms", "from", "id")


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    above.add_typer(app, name="program", rich_help_panel="Read")


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


app.command()(run)
app.command()(resume)


@app.command()
def show(id: ProgramId, *, output: Output = "text", store: StoreOption = None) -> None:
    """Show how a program stands: its plan, what each step gave, what it waits for, its answer.

    \b
    Examples:
      braid program show evt_2025-06-01T12:00:00Z_0000000a01cd
      braid program show evt_2025-06-01T12:00:00Z_0000000a01cd -o json
    """
    from braid.agent.program.state import fold

    with reading(store) as opened:
        state = fold(opened.program_trace(id))
        said = opened.get(state.answer).text if state.answer is not None else None
    import msgspec

    if output == "json":
        put_json({**msgspec.to_builtins(state), "text": said})
        return
    put_fields(fields(state, said))
    put("")
    rows = [
        [step.name, step.__struct_config__.tag, gave(state.values[step.name])]
        if step.name in state.values
        else [step.name, step.__struct_config__.tag, ahead(state, step.name)]
        for step in state.plan.steps
    ]
    put_table(["step", "op", "gave"], [[str(cell) for cell in row] for row in rows])


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
    put_rows(_TRACED, [traced(one, output) for one in history], output)


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
        shown = put_rows(_LISTED, map(msgspec.to_builtins, opened.iter_programs()), output)
    say(many(shown, "program"))


@app.command()
def tools(*, output: FormatOption = "table") -> None:
    """List the tools that plans may call: what they take and give, and what they may do.

    \b
    Examples:
      braid program tools
      braid program tools -o json
    """
    from braid.programs.plan import toolbox

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
