"""`braid knowledge`, `braid changes`, `braid why-known`, `braid why-changed`, `braid why-not-known`: what is known of
something, how it has changed, and why, or why not.
"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from braid.tools.cli.access import reading
from braid.tools.cli.group import BraidGroup
from braid.tools.cli.instants import AsOf, instant, past
from braid.tools.cli.knowledge_graph import central, export
from braid.tools.cli.options import (
    MOST,
    AgentId,
    Everything,
    FormatOption,
    ProjectId,
    RunId,
    SessionId,
    StoreOption,
    UserId,
)
from braid.tools.cli.output import many, put_json, put_rows, say
from braid.wire import to_builtins

if TYPE_CHECKING:
    from braid.claims.changed import KnowledgeChange

PANEL = "Read"
app = typer.Typer(cls=BraidGroup, rich_markup_mode=None)
_ABOUT = ("says", "since", "until", "quote", "replaced", "id", "turn")
_CHANGES = ("when", "was", "now", "said_by", "quote", "why", "turn")
_DERIVED = ("says", "method", "model", "quote", "starts", "ends", "gates", "standing", "turn", "id")
_HAPPENED = ("at", "event", "what", "reason", "id", "target")
_STEPS = ("step", "outcome", "detail", "ids")


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    app.command()(export)
    app.command()(central)
    above.add_typer(app, name="knowledge", rich_help_panel=PANEL)
    above.command(rich_help_panel=PANEL)(changes)
    above.command(rich_help_panel=PANEL)(why_known)
    above.command(rich_help_panel=PANEL)(why_changed)
    above.command(rich_help_panel=PANEL)(why_not_known)


@app.callback(invoke_without_command=True)
def knowledge(ctx: typer.Context) -> None:
    """Show what is known: claims that were read from what was said, and still have a say.

    \b
    Examples:
      braid knowledge about Jonas
      braid knowledge export known.graphml
      braid why-known exp_2025-05-17T09:00:00Z_0000000300ab
      braid why-not-known "Jonas lives in Leeds"
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command()
def about(
    topic: Annotated[
        str, typer.Argument(metavar="X", help="A subject or object of claims.", show_default=False)
    ],
    *,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="When it should hold.", show_default="now"),
    ] = None,
    as_of: AsOf = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Show what is known about something: the claims that have a say, their words, and what each stands in place of.

    \b
    Examples:
      braid knowledge about Jonas
      braid knowledge about "the launch" --user-id jonas --at 2025-04-01
      braid knowledge about Leeds -o json
    """
    as_of_index, as_of_time = past(as_of)
    with reading(store) as opened:
        found = opened.about(
            topic,
            at=instant(at) if at else None,
            as_of=as_of_index,
            as_of_time=as_of_time,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session_id,
        )
    told: list[dict[str, Any]] = to_builtins(found)
    if output == "table":
        for row in told:
            row["replaced"] = "; ".join(one["says"] for one in row["replaced"])
    put_rows(_ABOUT if output == "table" else tuple(told[0]) if told else _ABOUT, told, output)
    if not told:
        say(f"nothing is known about {topic}", f"braid why-not-known '{topic} …' looks for the reason")


def changes(
    topic: Annotated[
        str | None, typer.Argument(metavar="[X]", help="A subject or object of claims.", show_default="all")
    ] = None,
    *,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Changed no earlier than this.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=MOST, help="How many at most, the latest.")
    ] = 100,
    all_: Everything = False,
    as_of: AsOf = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Show how what is known has changed: what it was, what it is, since when, why, and the words that changed it.

    \b
    Examples:
      braid changes
      braid changes Jonas --since 2025-04-01
      braid changes "the launch" --user-id jonas -o json
      braid changes --all -o csv
    """
    as_of_index, as_of_time = past(as_of)
    scoped: dict[str, Any] = {
        "as_of": as_of_index, "as_of_time": as_of_time, "user_id": user_id, "agent_id": agent_id,
        "run_id": run_id, "project_id": project_id, "session_id": session_id,
    }  # fmt: skip
    with reading(store) as opened:
        if all_ and output != "json":
            listed = opened.iter_changes(topic, since=instant(since) if since else None, **scoped)
            shown = put_rows(_CHANGES, map(_changed, listed), output)
            say(many(shown, "change") if shown else "nothing changed")
            return
        found = opened.changes(
            topic, since=instant(since) if since else None, limit=MOST if all_ else limit, **scoped
        )
    if output == "json":
        put_json(to_builtins(found))
        return
    shown = put_rows(_CHANGES, map(_changed, found.changes), output)
    more = "" if shown == found.count else ": --limit shows more"
    say(f"{shown} of {many(found.count, 'change')}{more}" if found.count else "nothing changed")


def _changed(one: "KnowledgeChange") -> dict[str, Any]:
    row: dict[str, Any] = to_builtins(
        {"when": one.when, "was": one.was.says, "now": one.now.says, "said_by": one.now.said_by,
         "quote": one.now.quote, "why": one.why, "turn": one.now.turn}
    )  # fmt: skip
    return row


def why_known(
    id: Annotated[
        str,
        typer.Argument(metavar="ID", help="A record that claims something, or a turn.", show_default=False),
    ],
    *,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Show how the claims of a record, or of what was read from a turn, came to be known.

    What read each, from which words of which turn; whether they stand there is looked at again, in the log.

    \b
    Examples:
      braid why-known exp_2025-05-17T09:00:00Z_0000000300ab
      braid why-known exp_2025-05-17T09:00:00Z_0000000300ab -o json
    """
    with reading(store) as opened:
        told: list[dict[str, Any]] = to_builtins(opened.why_known(id))
    if output == "table":
        for row in told:
            row["gates"] = "; ".join(f"{one['gate']}: {one['outcome']}" for one in row["gates"])
    put_rows(_DERIVED if output == "table" or not told else tuple(told[0]), told, output)
    if not told:
        say(f"{id} claims nothing, and nothing was read from it; `braid why-not-known` looks further")


def why_changed(
    id: Annotated[
        str,
        typer.Argument(metavar="ID", help="A memory, by any of its ids, or a reading.", show_default=False),
    ],
    *,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Show why a memory isn't what it was: learnt, said again, contradicted, corrected, forgotten, and for what reason.

    `braid sql "FROM audit_trail"` has the same of the whole store.

    \b
    Examples:
      braid why-changed exp_2025-05-17T09:00:00Z_0000000300ab
      braid why-changed exp_2025-05-17T09:00:00Z_0000000300ab -o json
    """
    with reading(store) as opened:
        rows: list[dict[str, Any]] = to_builtins(opened.why_changed(id))
    if output == "table":
        for row in rows:
            row["what"] = " -> ".join(_words(value) for value in (row["old"], row["new"]) if value)
    put_rows(_HAPPENED if output == "table" else tuple(rows[0]) if rows else _HAPPENED, rows, output)
    if not rows:
        say("nothing happened to it since it was recorded, and nothing was read of it")


def _words(value: dict[str, Any]) -> str:
    """Return what was or is known, in words."""
    from braid.ledger.record.record import Claim
    from braid.stance.words import words_of

    if "rel" in value:
        return words_of(Claim(**value))
    return str(value.get("text") or value.get("name") or "")


def why_not_known(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="What should be known, in plain words.", show_default=False)
    ],
    *,
    top_k: Annotated[int, typer.Option("--top-k", min=1, help="How many records recall is asked for.")] = 10,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Show why something isn't known, step by step: was it said, read, held back, forgotten, superseded, ranked out?

    \b
    Examples:
      braid why-not-known "Jonas lives in Leeds"
      braid why-not-known "Nadia is allergic to nuts" --user-id nadia -o json
    """
    with reading(store) as opened:
        found = opened.why_not_known(
            text,
            top_k=top_k,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session_id,
        )
    if output == "json":
        put_json(to_builtins(found))
        return
    rows = [to_builtins(step) for step in found.steps]
    if output == "table":
        for row in rows:
            row["ids"] = _some(row["ids"])
    put_rows(_STEPS, rows, output)
    say(found.conclusion)


def _some(ids: list[str]) -> str:
    return f"{ids[0]} and {len(ids) - 1} more" if len(ids) > 1 else "".join(ids)
