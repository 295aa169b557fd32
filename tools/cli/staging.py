"""`braid staging`: claims that gates let wait, for a person to accept or reject."""

from typing import Annotated, Any, Literal

import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.group import BraidGroup
from braid.tools.cli.options import (
    Adopt,
    AgentId,
    FormatOption,
    ProjectId,
    Reason,
    RunId,
    SessionId,
    StoreOption,
    UserId,
)
from braid.tools.cli.output import put_fields, put_rows, say
from braid.wire import to_builtins

app = typer.Typer(cls=BraidGroup, rich_markup_mode=None)
_COLUMNS = ("id", "place", "says", "why", "quote", "state", "turn")
Id = Annotated[str, typer.Argument(metavar="ID", help="The reading that holds it.", show_default=False)]
PlaceArgument = Annotated[int, typer.Argument(metavar="[PLACE]", min=0, help="Its place there, from 0.")]


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    above.add_typer(app, name="staging", rich_help_panel="Write")


@app.callback(invoke_without_command=True)
def staging(ctx: typer.Context) -> None:
    """List, accept or reject claims that gates let wait: they have no say in anything until somebody accepts them.

    \b
    Examples:
      braid staging list
      braid staging accept exp_2025-05-17T09:00:00Z_0000000300ab
      braid staging reject exp_2025-05-17T09:00:00Z_0000000300ab 1 --reason "that was a joke"
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command(name="list")
def list_(
    *,
    state: Annotated[
        Literal["waiting", "accepted", "rejected", "all"],
        typer.Option("--state", help="Which: what waits, or was decided so."),
    ] = "waiting",
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """List staged claims, with the gate that let each wait.

    \b
    Examples:
      braid staging list
      braid staging list --state all --user-id jonas -o json
    """
    with reading(store) as opened:
        found = opened.staging(
            state=None if state == "all" else state,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session_id,
        )
    told: list[dict[str, Any]] = to_builtins(found)
    put_rows(_COLUMNS if output == "table" else tuple(told[0]) if told else _COLUMNS, told, output)
    if not told:
        say("nothing waits" if state == "waiting" else "nothing is staged so")


@app.command()
def accept(
    id: Id,
    place: PlaceArgument = 0,
    *,
    adopt: Adopt = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Append a staged claim as a signed reading of its turn: from now on it has a say. Again appends nothing.

    \b
    Examples:
      braid staging accept exp_2025-05-17T09:00:00Z_0000000300ab
      braid staging accept exp_2025-05-17T09:00:00Z_0000000300ab 1
    """
    with writing(store, adopt=adopt) as opened:
        done = opened.accept_staged(id, place)
        opened.checkpoint()
    put_fields(to_builtins(done), output)


@app.command()
def reject(
    id: Id,
    place: PlaceArgument = 0,
    *,
    reason: Reason = None,
    adopt: Adopt = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Append the signed event that rejects a staged claim. Again appends nothing.

    \b
    Examples:
      braid staging reject exp_2025-05-17T09:00:00Z_0000000300ab
      braid staging reject exp_2025-05-17T09:00:00Z_0000000300ab 1 --reason "that was a joke"
    """
    with writing(store, adopt=adopt) as opened:
        done = opened.reject_staged(id, place, reason=reason)
        opened.checkpoint()
    put_fields(to_builtins(done), output)
