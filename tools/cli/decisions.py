"""`braid decisions`: what would be done with what was learnt, what people say of it, and what was carried out."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from braid.ledger.record.ids import RecordId
from braid.tools.cli.access import reading, writing
from braid.tools.cli.group import BraidGroup
from braid.tools.cli.instants import AsOf, past
from braid.tools.cli.models import AllowRemote, ChatOption, chat_model
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
from braid.tools.cli.output import many, put_fields, put_json, put_rows, say
from braid.wire import to_builtins

if TYPE_CHECKING:
    from braid.claims.decision_operations import Judged, ModelReport

app = typer.Typer(cls=BraidGroup, rich_markup_mode=None)
_LIMIT = 2_000
_LIMIT_OF_MODEL = 100
_COLUMNS = ("action", "says", "target", "reason", "review_needed", "agrees", "id", "target_id")


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    above.add_typer(app, name="decisions", rich_help_panel="Read")


@app.callback(invoke_without_command=True)
def decisions(ctx: typer.Context) -> None:
    """Show what the rules would do with what was learnt: add, update, delete, or nothing; judge it; see what was done.

    \b
    Examples:
      braid decisions report
      braid decisions report --user-id jonas -o json
      braid decisions judge exp_2025-05-17T09:00:00Z_0000000300ab right --reason "she moved"
      braid decisions canary
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command()
def report(
    *,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            "-n",
            min=1,
            max=100_000,
            help="The newest claims that are looked at.",
            show_default="2000, or 100 with --model",
        ),
    ] = None,
    examples: Annotated[
        int, typer.Option("--examples", min=0, max=1_000, help="So many of each action are shown.")
    ] = 3,
    model: ChatOption = None,
    allow_remote: AllowRemote = False,
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

    With --model a language model is asked the same, and its answers are held against the rules: how many could be read,
    how many agree, tokens and time. It goes through the store's settings and budgets. Nothing of it is carried out.

    \b
    Examples:
      braid decisions report
      braid decisions report --user-id jonas --examples 10
      braid decisions report --model ollama:llama3.2 --limit 50
      braid decisions report --as-of 2025-04-01 -o json
    """
    as_of_index, as_of_time = past(as_of)
    asked = None if model is None else chat_model(model, allow_remote=allow_remote)
    with reading(store) as opened:
        found = opened.decision_report(
            limit=limit or (_LIMIT if asked is None else _LIMIT_OF_MODEL),
            examples=examples,
            as_of=as_of_index,
            as_of_time=as_of_time,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session_id,
            model=asked,
        )
    if output == "json":
        put_json(to_builtins(found))
        return
    told: list[dict[str, Any]] = to_builtins(found.examples)
    put_rows(_COLUMNS, told, output)
    counts = ", ".join(f"{count} {action}" for action, count in found.actions.items())
    say(f"{many(found.claims, 'claim')}: {counts}; {found.review_needed} to be reviewed")
    say(f"the store holds {found.agreed} of {found.compared} changes so by itself")
    _say_judged(found.judged)
    if found.left:
        say(f"{many(found.left, 'older claim')} not looked at: --limit")
    for warning, count in found.discarded.items():
        say(f"{many(count, 'decision')} discarded: {warning}")
    if found.model is not None:
        _show_model(found.model)


@app.command()
def judge(
    id: Annotated[
        str, typer.Argument(metavar="CLAIM", help="The id that the report shows.", show_default=False)
    ],
    verdict: Annotated[
        Literal["right", "wrong"], typer.Argument(help="What you say of it.", show_default=False)
    ],
    *,
    reason: Annotated[
        str, typer.Option("--reason", help="Why; it is sealed with the record.", show_default=False)
    ],
    place: Annotated[
        int | None,
        typer.Option("--place", min=0, help="Which claim of the record, where several change something."),
    ] = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    adopt: Adopt = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Say whether an UPDATE or DELETE that the rules propose is right; the newest word on a change counts.

    The phase full is offered once enough changes of this store were judged to be right.

    \b
    Examples:
      braid decisions judge exp_2025-05-17T09:00:00Z_0000000300ab right --reason "she moved" --user-id maya
    """
    with writing(store, adopt=adopt) as opened:
        done = opened.judge_decision(
            RecordId(id),
            verdict,
            reason=reason,
            place=place,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session_id,
        )
    told: dict[str, Any] = to_builtins(done)
    if output == "json":
        put_json(told)
        return
    put_fields({name: value for name, value in told.items() if name != "figures"}, output)
    _say_judged(done.figures)


@app.command()
def canary(*, output: FormatOption = "table", store: StoreOption = None) -> None:
    """Compare the users for whom decisions are carried out with those for whom they are not.

    \b
    Examples:
      braid decisions canary
      braid decisions canary -o json
    """
    with reading(store) as opened:
        found = opened.canary_report()
    if output == "json":
        put_json(to_builtins(found))
        return
    arms: list[dict[str, Any]] = to_builtins(found.arms)
    put_rows(tuple(arms[0]), arms, output)
    counts = f"{many(found.rounds, 'round')}, {found.stale} stale, {found.kept} kept"
    say(f"phase {found.phase}, share {found.share:g}: {counts}")
    if found.breach is not None:
        say(found.breach)


def _say_judged(found: "Judged") -> None:
    say(
        f"{many(found.judged, 'change')} judged, {found.right} of them right, lower bound {found.lower_bound:.2f};"
        f" phase full needs {found.judged_needed} and {found.bound_needed:.2f}"
    )


def _show_model(found: "ModelReport") -> None:
    """Say what a model would do."""
    say(
        f"{found.name}: asked about {many(found.asked, 'claim')}, {found.answered} answered, {found.well_formed} well"
        f" formed ({found.mended} mended); {found.agreed} as the rules"
    )
    counts = ", ".join(f"{count} {action}" for action, count in found.actions.items())
    say(
        f"{counts}; {found.tokens_in} tokens in, {found.tokens_out} out; {found.ms_p50} ms, p95 {found.ms_p95} ms"
    )
    for warning, count in found.discarded.items():
        say(f"{many(count, 'answer')} discarded: {warning}")
    if found.stopped is not None:
        say(f"the model was asked no more: {found.stopped}")
    for one in found.disagreements:
        about = "" if one.target is None else f" ({one.target})"
        say(f"{one.says}: {one.action}{about}, and by the rules {one.rules}")
