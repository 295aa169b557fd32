"""`braid decisions`: what would be done with the claims that were learnt, before anything does it."""

from typing import Annotated, Any

import typer

from braid.tools.cli.access import reading
from braid.tools.cli.group import BraidGroup
from braid.tools.cli.instants import AsOf, past
from braid.tools.cli.options import AgentId, FormatOption, ProjectId, RunId, SessionId, StoreOption, UserId
from braid.tools.cli.output import many, put_json, put_rows, say
from braid.wire import to_builtins

app = typer.Typer(cls=BraidGroup, rich_markup_mode=None)
_COLUMNS = ("action", "says", "target", "reason", "review_needed", "agrees", "id", "target_id")


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    above.add_typer(app, name="decisions", rich_help_panel="Read")


@app.callback(invoke_without_command=True)
def decisions(ctx: typer.Context) -> None:
    """Show what the rules would do with what was learnt: add, update, delete, or nothing. Nothing is carried out.

    \b
    Examples:
      braid decisions report
      braid decisions report --user-id jonas -o json
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command()
def report(
    *,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=100_000, help="The newest claims that are looked at.")
    ] = 2_000,
    examples: Annotated[
        int, typer.Option("--examples", min=0, max=1_000, help="So many of each action are shown.")
    ] = 3,
    as_of: AsOf = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Count what would be done with each living claim, given those before it, and show examples with their records.

    \b
    Examples:
      braid decisions report
      braid decisions report --user-id jonas --examples 10
      braid decisions report --as-of 2025-04-01 -o json
    """
    as_of_index, as_of_time = past(as_of)
    with reading(store) as opened:
        found = opened.decision_report(
            limit=limit,
            examples=examples,
            as_of=as_of_index,
            as_of_time=as_of_time,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session_id,
        )
    if output == "json":
        put_json(to_builtins(found))
        return
    told: list[dict[str, Any]] = to_builtins(found.examples)
    put_rows(_COLUMNS, told, output)
    counts = ", ".join(f"{count} {action}" for action, count in found.actions.items())
    say(f"{many(found.claims, 'claim')}: {counts}; {found.review_needed} to be reviewed")
    say(f"the store holds {found.agreed} of {found.compared} changes so by itself")
    if found.left:
        say(f"{many(found.left, 'older claim')} not looked at: --limit")
    for warning, count in found.discarded.items():
        say(f"{many(count, 'decision')} discarded: {warning}")
