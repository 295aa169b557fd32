"""`braid ingest`: conversations in, one record for each turn; a bad line is reported and the rest goes in."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.errors import FINDINGS
from braid.tools.cli.options import (
    Adopt,
    AgentId,
    DryRun,
    FormatOption,
    RunId,
    SessionId,
    Shared,
    StoreOption,
    UserId,
)
from braid.tools.cli.output import many, put_fields, say
from braid.tools.cli.progress import progress

if TYPE_CHECKING:
    from braid.store import Store
    from braid.tools.cli.intake import Intake

PANEL = "Write"


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command(rich_help_panel=PANEL)(ingest)


def ingest(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="Conversations; `-` reads stdin.", show_default=False)
    ],
    *,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    session: SessionId = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="A lasting name for the source, where its turns have no ids.",
            show_default="from its first line",
        ),
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="jsonl or locomo.", show_default="by content")
    ] = None,
    dry_run: DryRun = False,
    adopt: Adopt = False,
    shared: Shared = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Read conversations into the store, a record for each turn.

    Formats: JSONL of role and content, LoCoMo.

    A bad line is reported as file:line: reason and skipped; the exit code is then 1. Ingesting the same source again
    adds nothing: a turn is known by the source's id for it, or by its place and content.

    \b
    Examples:
      braid ingest chat.jsonl --user-id maya
      cat chat.jsonl | braid ingest - --source support-chat
      braid ingest --dry-run *.jsonl
    """
    from braid import drafts
    from braid.tools.cli.intake import Intake

    within = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id, "session_id": session}

    def scope_of(said_in: str | None) -> Any:
        return drafts.scope(**{**within, "session_id": session or said_in})

    if dry_run:
        with reading(store) as opened:
            intake = Intake(opened, scope_of, dry_run=True)
            _take_all(intake, files, source, form)
            put_fields(_summary(intake, opened, dry_run=True), output)
            say("nothing was written (--dry-run)")
    else:
        with writing(store, adopt=adopt, shared=shared) as opened:
            intake = Intake(opened, scope_of)
            try:
                _take_all(intake, files, source, form)
            except BaseException:
                say(
                    f"{many(intake.taken, 'turn')} taken before this; run the same again: none is added twice"
                )
                raise
            opened.checkpoint()
            put_fields(_summary(intake, opened, dry_run=False), output)
    if intake.skipped:
        say(
            f"{many(intake.skipped, 'line')} skipped; the rest went in"
            if not dry_run
            else f"{many(intake.skipped, 'line')} would be skipped"
        )
        raise typer.Exit(FINDINGS)


def _take_all(intake: "Intake", files: list[str], source: str | None, form: str | None) -> None:
    from braid.tools.cli.sources import open_source

    with progress("ingesting") as bar:
        for name in files:
            with open_source(name, form) as opened:
                intake.take(opened, source or opened.source_id, bar)


def _summary(intake: "Intake", store: "Store", *, dry_run: bool) -> dict[str, Any]:
    counts = {
        "would be taken" if dry_run else "taken": intake.taken,
        "already known": intake.known,
        "skipped": intake.skipped,
        "text bytes": intake.text_bytes,
    }
    reader = store.reader
    tree = {
        "tree size": reader.published.size,
        "root": reader.published.root.hex(),
        "log bytes": reader.log.bytes_on_disk,
    }
    return counts if dry_run else counts | tree
