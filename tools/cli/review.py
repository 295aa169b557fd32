"""`braid review`: claims between which nothing decides, for a person to settle."""

from typing import Annotated, Any, Literal

import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.group import BraidGroup
from braid.tools.cli.options import (
    Adopt,
    AgentId,
    FormatOption,
    ProjectId,
    RunId,
    SessionId,
    StoreOption,
    UserId,
)
from braid.tools.cli.output import put_fields, put_rows, say
from braid.wire import to_builtins

app = typer.Typer(cls=BraidGroup, rich_markup_mode=None)
_COLUMNS = ("id", "one", "other", "why", "state", "one_id", "other_id")
Id = Annotated[str, typer.Argument(metavar="ID", help="A pair, as the list names it.", show_default=False)]
Why = Annotated[str, typer.Option("--reason", help="Why; it is sealed with the record.", show_default=False)]


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    above.add_typer(app, name="review", rich_help_panel="Write")


@app.callback(invoke_without_command=True)
def review(ctx: typer.Context) -> None:
    """List and settle pairs of living claims that exclude each other where nothing decides.

    \b
    Examples:
      braid review list
      braid review accept rev_5b1c09fd27ae --keep other --reason "she told me"
      braid review reject rev_5b1c09fd27ae --reason "both are right"
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command(name="list")
def list_(
    *,
    state: Annotated[
        Literal["waiting", "accepted", "rejected", "all"],
        typer.Option("--state", help="Which: what waits, or was settled so."),
    ] = "waiting",
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """List the pairs, each with why nothing decides; `other` was said after `one`.

    \b
    Examples:
      braid review list
      braid review list --state all --user-id jonas -o json
    """
    with reading(store) as opened:
        found = opened.reviews(
            state=None if state == "all" else state,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session_id,
        )
    told: list[dict[str, Any]] = to_builtins(found)
    if output != "json":
        told = [_flat(row) for row in told]
    put_rows(_COLUMNS if output != "json" or not told else tuple(told[0]), told, output)
    if not told:
        say("nothing waits" if state == "waiting" else "nothing was settled so")


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    sides = {side: row[side]["says"] for side in ("one", "other")}
    return {**row, **sides, **{f"{side}_id": row[side]["id"] for side in sides}}


@app.command()
def show(
    id: Id,
    *,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Show one pair: both claims with who said them and when, and what was decided.

    \b
    Examples:
      braid review show rev_5b1c09fd27ae
      braid review show rev_5b1c09fd27ae -o json
    """
    with reading(store) as opened:
        found = opened.review(
            id,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session_id,
        )
    told: dict[str, Any] = to_builtins(found)
    if output == "table":
        for side in ("one", "other"):
            one = told[side]
            told[side] = f"{one['says']} ({', '.join(one['voices'])}; {one['said'][:10]}; {one['id']})"
    put_fields(told, output)


@app.command()
def accept(
    id: Id,
    *,
    keep: Annotated[
        Literal["one", "other"], typer.Option("--keep", help="Which claim is right.", show_default=False)
    ],
    reason: Why,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    adopt: Adopt = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Say which claim is right, by a signed correction that takes the other's say. Forgetting it asks again.

    \b
    Examples:
      braid review accept rev_5b1c09fd27ae --keep other --reason "she told me"
    """
    with writing(store, adopt=adopt) as opened:
        done = opened.accept_review(
            id,
            keep=keep,
            reason=reason,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session_id,
        )
        opened.checkpoint()
    put_fields(to_builtins(done), output)


@app.command()
def reject(
    id: Id,
    *,
    reason: Why,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    adopt: Adopt = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Say that a pair is not to be asked about again: both claims stay. Forgetting the event asks again.

    \b
    Examples:
      braid review reject rev_5b1c09fd27ae --reason "both are right"
    """
    with writing(store, adopt=adopt) as opened:
        done = opened.reject_review(
            id,
            reason=reason,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session_id,
        )
        opened.checkpoint()
    put_fields(to_builtins(done), output)
