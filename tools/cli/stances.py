"""`braid stance`, `braid why`, `braid contradictions`: what is held, why, and what speaks against what."""

import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.instants import AsOf, instant, past
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
from braid.tools.cli.output import line, many, put, put_json, put_rows, put_table, say
from braid.wire import to_builtins

if TYPE_CHECKING:
    from braid.claims.operations import Stance
    from braid.store import Store

PANEL = "Read"
At = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="TIME",
        help="When it should hold.",
        show_default="what the question says, else now",
    ),
]
MOST: Final = 50
"""How many rows are shown without `--all`."""
All = Annotated[bool, typer.Option("--all", help=f"Show every row, not only {MOST}.")]
Output = Annotated[Literal["table", "json"], typer.Option("--output", "-o", help="How to show it.")]


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    for command in (stance, stances, why, contradictions):
        app.command(rich_help_panel=PANEL)(command)


def stance(
    question: Annotated[
        str,
        typer.Argument(metavar="QUESTION", help="What is asked; - reads it from stdin.", show_default=False),
    ],
    *,
    at: At = None,
    as_of: AsOf = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only decide; append nothing.")] = False,
    every: All = False,
    output: Output = "table",
    adopt: Adopt = False,
    store: StoreOption = None,
) -> None:
    """Decide what is held of a question: which claim stands, how sure that is, what would change it.

    The stance is appended with the experience that it is, and supersedes the one before; where nothing that was weighed
    has changed, the one that stands is shown. `braid stances QUESTION` shows all there were.

    \b
    Examples:
      braid stance "Where does Jonas live?" --user-id jonas
      braid stance "Where did Nadia live before September 2024?" --dry-run
      braid stance "Does Jonas drink coffee?" --at 2025-04-01 -o json
    """
    as_of_index, as_of_time = past(as_of)
    text = sys.stdin.buffer.read().decode(errors="replace") if question == "-" else question
    with reading(store) if dry_run else writing(store, adopt=adopt) as opened:
        found = opened.stance(
            text,
            at=instant(at) if at else None,
            as_of=as_of_index,
            as_of_time=as_of_time,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session_id,
            append=not dry_run,
        )
        unread = not found.candidates and not _has_claims(opened)
    _show(found, output, None if every else MOST)
    if unread:
        say("no record claims anything: `braid learn` reads claims of what was said")


def _has_claims(opened: "Store") -> bool:
    from braid.views.errors import ViewError

    try:
        return bool(opened.sql("SELECT 1 FROM claims LIMIT 1").num_rows)
    except (ViewError, OSError):  # no projection to ask: nothing is told
        return True


def _show(found: "Stance", output: str, most: int | None) -> None:
    if output == "json":
        put_json(to_builtins(found))
    else:
        put(line(found.claim or f"undecided: {found.undecided}"))
        put(f"uncertainty {found.residual_uncertainty:.2f} at {found.at:%Y-%m-%d}")
        if found.candidates:
            put("")
            ranked = sorted(found.candidates, key=lambda one: not one.held) if most else found.candidates
            rows = [
                [one.status, f"{one.p:.2f}", line(one.claim), line(one.why), one.id] for one in ranked[:most]
            ]
            put_table(["became", "p", "claim", "why", "id"], rows)
            _say_more(len(rows), len(found.candidates), "claim")
        for change in found.would_change:
            put(line(f"what would change it: {change}"))
    if found.id is None:
        say("nothing was appended")
    else:
        say(f"{found.id} {'was appended' if found.is_new else 'stands: nothing has changed since'}")


def _say_more(shown: int, count: int, what: str) -> None:
    if shown < count:
        say(f"{many(count, what)}, of which {shown} are shown: --all shows every one")


def stances(
    question: Annotated[
        str | None, typer.Argument(metavar="[QUESTION]", help="Which; else every one.", show_default=False)
    ] = None,
    *,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    output: Output = "table",
    store: StoreOption = None,
) -> None:
    """List the stances that were taken on a question, or on every one, oldest first.

    \b
    Examples:
      braid stances
      braid stances "Where does Jonas live?" --user-id jonas -o json
    """
    with reading(store) as opened:
        found = opened.stances(
            question,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session_id,
        )
    if output == "json":
        put_json(to_builtins(found))
        return
    rows = [
        {
            "decided_at": f"{one.decided_at:%Y-%m-%d %H:%M:%S}" if one.decided_at else "",
            "question": one.question,
            "at": f"{one.at:%Y-%m-%d}",
            "held": one.claim or f"undecided: {one.undecided}",
            "uncertainty": f"{one.residual_uncertainty:.2f}",
            "stands": one.superseded_by is None,
            "id": one.id,
        }
        for one in found
    ]
    put_rows(("decided_at", "question", "at", "held", "uncertainty", "stands", "id"), rows)
    say(many(len(found), "stance"))


def why(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="A stance, or a record that claims.", show_default=False)
    ],
    *,
    output: Output = "table",
    store: StoreOption = None,
) -> None:
    """Show why a stance holds what it holds, or why what a record claims stands or doesn't, down to records.

    + stands, - doesn't, ? is undecided. Below what stands: from what, and unless what; below what doesn't: what it
    lacks, and what speaks against it.

    \b
    Examples:
      braid why stance_2025-06-01T12:00:00Z_0000000a01cd
      braid why exp_2025-05-17T09:00:00Z_0000000300ab -o json
    """
    with reading(store) as opened:
        found = opened.why(id)
    if output == "json":
        put_json(to_builtins(found))
        return
    for told in found.lines():
        put(line(told))


def contradictions(
    *,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="Only those that both hold then.", show_default=False),
    ] = None,
    as_of: AsOf = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    every: All = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """List claims that exclude another while both hold, each with the one that came next, and which of them stands.

    Another object of a relation that has one (a home), a denial, an opposite (likes, dislikes), another number or date.
    The last ones are shown, in the order of the log.

    \b
    Examples:
      braid contradictions --user-id jonas
      braid contradictions --at 2025-05-20 -o json
    """
    as_of_index, as_of_time = past(as_of)
    with reading(store) as opened:
        found = opened.contradictions(
            at=instant(at) if at else None,
            as_of=as_of_index,
            as_of_time=as_of_time,
            user_id=user_id,
            agent_id=agent_id,
            run_id=run_id,
            project_id=project_id,
            session_id=session_id,
        )
    columns = ("how", "one", "one_since", "other", "other_since", "stands", "one_id", "other_id", "review")
    rows = [
        {
            "how": one.how,
            "one": one.one,
            "one_since": _since(one.one_since),
            "other": one.other,
            "other_since": _since(one.other_since),
            "stands": one.stands,
            "one_id": one.one_id,
            "other_id": one.other_id,
            "review": one.review,
        }
        for one in (found if every else found[-MOST:])
    ]
    put_rows(columns, rows, output)
    say(many(len(found), "contradiction"))
    _say_more(len(rows), len(found), "contradiction")


def _since(time: datetime) -> str:
    return "always" if time.year == 1 else f"{time:%Y-%m-%d}"
