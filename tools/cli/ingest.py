"""`braid ingest`: sources in, one record for each turn; a bad line is reported and the rest goes in."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.errors import FINDINGS
from braid.tools.cli.options import (
    Adopt,
    AgentId,
    DryRun,
    FormatOption,
    ProjectId,
    RunId,
    SessionId,
    Shared,
    StoreOption,
    UserId,
)
from braid.tools.cli.output import Format, many, put_fields, say
from braid.tools.cli.progress import progress

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from braid.store import Store
    from braid.tools.cli.intake import Intake
    from braid.tools.cli.sources import Opened

PANEL = "Write"


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command(rich_help_panel=PANEL)(ingest)


def ingest(
    files: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE…", help="Files, folders, zips; `-` reads stdin.", show_default=False),
    ],
    *,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session: SessionId = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="A lasting name for the source, where its turns have no ids.",
            show_default="from its first line",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", help="A format's name (docs/ingest.md).", show_default="by content"),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="FIELD=COLUMN,…", help="For CSV and Parquet: which column is which field."
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Leave out what was said before: a date or an RFC 3339 time."),
    ] = None,
    timezone: Annotated[
        str | None,
        typer.Option(
            metavar="ZONE",
            help="Where times without an offset were written: Europe/Berlin, say.",
            show_default=False,
        ),
    ] = None,
    me: Annotated[
        list[str] | None,
        typer.Option(
            "--me", metavar="NAME", help="In Slack and Discord: the owner's name there; repeatable."
        ),
    ] = None,
    sent: Annotated[
        bool, typer.Option("--sent", help="Of mail: the owner sent it. Anybody may write another's name.")
    ] = False,
    learn: Annotated[
        bool, typer.Option("--learn/--no-learn", help="Read the turns for what they state.")
    ] = True,
    dry_run: DryRun = False,
    adopt: Adopt = False,
    shared: Shared = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Read conversations, mail, notes or tables into the store, a record for each turn.

    Formats, told apart by content: JSONL, OpenAI messages, ChatGPT, Claude, Claude Code, LoCoMo, REALTALK, Slack,
    Discord, mbox, Markdown, plain text, CSV, Parquet.

    What the turns state in plain words is then read and recorded above them, as `braid learn` does (--no-learn: not).

    Mail and rooms hold the words of others: these are recalled and quoted as theirs, and never believed. --me and
    --sent say which are the owner's.

    A bad line is reported as file:line: reason and skipped; the exit code is then 1. Of more than ten, the first are
    shown and all are in a file that is named. Ingesting the same source again adds nothing: a turn is known by the
    source's id for it, or by its place and content. Interrupted, run it again.

    \b
    Examples:
      braid ingest chat.jsonl --user-id maya
      braid ingest chatgpt-export.zip slack-export.zip notes/
      cat chat.jsonl | braid ingest - --source support-chat
      braid ingest messages.csv --map role=speaker,content=body --since 2025-01-01
      braid ingest diary.csv --timezone Europe/Berlin
      braid ingest slack-export.zip --me maya
      braid ingest --dry-run *.jsonl
    """
    from braid.log import drafts
    from braid.tools.cli.intake import Intake
    from braid.tools.cli.sources import Mine, columns_of, moment_of, open_source, zone_of

    within = {
        "user_id": user_id,
        "agent_id": agent_id,
        "run_id": run_id,
        "project_id": project_id,
        "session_id": session,
    }
    zone = zone_of(timezone) if timezone is not None else None
    opener = partial(open_source, form=form, columns=columns_of(columns or ()), zone=zone)
    earliest = moment_of(since, zone) if since else None
    mine = Mine(frozenset(name.casefold() for name in me or ()), sent)
    drafts.scope(**within)  # refused at once, and not at each turn

    def scope_of(said_in: str | None) -> Any:
        return drafts.scope(**{**within, "session_id": session or said_in or None})

    if dry_run:
        with reading(store) as opened:
            intake = Intake(opened, scope_of, dry_run=True, since=earliest, mine=mine)
            _take_all(intake, files, source, opener)
            _report(intake, _counts(intake, dry_run=True), output)
            say("nothing was written (--dry-run)")
    else:
        with writing(store, adopt=adopt, shared=shared) as opened:
            intake = Intake(opened, scope_of, since=earliest, mine=mine)
            try:
                _take_all(intake, files, source, opener)
            except BaseException:
                if intake.taken:
                    say(
                        f"{many(intake.taken, 'turn')} taken before this; run the same again: none is added twice"
                    )
                raise
            learned = _learned(opened) if learn else {}
            opened.checkpoint()
            _report(intake, _counts(intake, dry_run=False) | learned | _tree(opened), output)
    if intake.skipped:
        rest = "the rest" if intake.taken or intake.known else "nothing"
        done = "would be skipped" if dry_run else f"skipped; {rest} went in"
        say(f"{many(intake.skipped, 'line')} {done}{intake.skips.where()}")
        raise typer.Exit(FINDINGS)


def _take_all(
    intake: "Intake",
    files: list[str],
    source_id: str | None,
    opener: "Callable[[str], AbstractContextManager[Opened]]",
) -> None:
    from braid.tools.importers.detect import installed

    for trouble in installed().troubles:
        say(trouble)
    with intake.skips, progress("ingesting" if "-" in files else "ingesting (KiB)") as bar:
        for name in files:
            with opener(name) as opened:
                intake.take(opened, source_id or opened.source_id, bar)


def _counts(intake: "Intake", *, dry_run: bool) -> dict[str, Any]:
    """What was taken and what was not; a dry run tells the roles apart, too."""
    taken = {"would be taken" if dry_run else "taken": intake.taken}
    roles = {f"  from {role}": count for role, count in sorted(intake.roles.items())} if dry_run else {}
    revised = {"  in place of an earlier version": intake.revised} if intake.revised else {}
    older = {"older": intake.older} if intake.older else {}
    rest = {"already known": intake.known, "skipped": intake.skipped, "text bytes": intake.text_bytes}
    rest |= {"of others": intake.others} if intake.others else {}
    rest |= {"files passed over": intake.passed_over} if intake.passed_over else {}
    rest |= {"with bytes replaced": intake.damaged} if intake.damaged else {}
    return taken | roles | revised | older | rest


def _learned(store: "Store") -> dict[str, Any]:
    """Read the turns for what they state (`braid learn`), and say how much that is."""
    done = store.learn()
    return {"claims read": done.claims} | ({"characters not read": done.left} if done.left else {})


def _tree(store: "Store") -> dict[str, Any]:
    reader = store.reader
    return {
        "tree size": reader.published.size,
        "root": reader.published.root.hex(),
        "log bytes": reader.log.bytes_on_disk,
    }


def _report(intake: "Intake", counts: dict[str, Any], output: Format) -> None:
    """Show the counts; for programs with lines that were skipped, and the file that has all of them."""
    if output == "table":
        put_fields(counts, output)
        return
    skips = intake.skips
    listed = (
        {"skipped lines": [skipped._asdict() for skipped in skips.listed]}
        if not output.startswith("csv")
        else {}
    )
    file = {"all skipped lines": skips.path} if skips.path else {}
    put_fields({name.strip(): value for name, value in counts.items()} | listed | file, output)
