"""The command `braid`: one app, its global options, and the one place where errors end."""

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from braid.tools.bench.command import bench
from braid.tools.cli import (
    access,
    answering,
    auditing,
    backups,
    chatting,
    evaluating,
    feeling,
    forgetting,
    ingesting,
    keeping,
    keys,
    learning,
    lenses,
    making,
    monitoring,
    moving,
    programs,
    publishing,
    reading,
    recalling,
    snapshots,
    stances,
    tending,
    tracing,
    viewing,
    witnessing,
    writing,
)
from braid.tools.cli.errors import BROKEN_PIPE, report
from braid.tools.cli.group import Braid, help_without_command

app = typer.Typer(
    name="braid",
    cls=Braid,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for theme in (
    making,
    ingesting,
    learning,
    writing,
    reading,
    recalling,
    answering,
    chatting,
    feeling,
    stances,
    tracing,
    auditing,
    publishing,
    witnessing,
    monitoring,
    forgetting,
    viewing,
    tending,
    keeping,
    backups,
    moving,
):
    theme.register(app)
app.command(rich_help_panel="Tend")(bench)
app.add_typer(evaluating.app, name="evaluate", rich_help_panel="Read")
app.add_typer(lenses.app, name="lens", rich_help_panel="Read")
app.add_typer(programs.app, name="program", rich_help_panel="Read")
app.add_typer(snapshots.app, name="snapshot", rich_help_panel="Tend")
app.add_typer(keys.app, name="key", rich_help_panel="Tend")


def _version(wanted: bool) -> None:
    if wanted:
        import braid

        typer.echo(f"braid {braid.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context,
    *,
    store: Annotated[
        Path | None,
        typer.Option(
            "--store", metavar="PATH", envvar="BRAID_STORE", help="The store.", show_default="./memory"
        ),
    ] = None,
    passphrase_file: Annotated[
        Path | None,
        typer.Option(
            "--passphrase-file",
            metavar="FILE",
            envvar="BRAID_PASSPHRASE_FILE",
            help="File whose first line opens the vault.",
            show_default=False,
        ),
    ] = None,
    guard_dir: Annotated[
        Path | None,
        typer.Option(
            "--guard-dir",
            metavar="PATH",
            envvar="BRAID_GUARD_DIR",
            help="Where fork guards are kept.",
            show_default="the user's state folder",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            envvar="BRAID_MODEL",
            help="What searches by meaning (docs/embeddings.md).",
            show_default="static, which comes with Braid",
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Braid: a signed, replayable experience store for AI agents.

    Data goes to stdout, talk to stderr. Exit codes: 0 fine, 1 findings (or lines that were skipped), 2 could not
    (wrong usage, refused, locked, damaged), 130 interrupted, 141 the reader of a pipe went away.

    \b
    Examples:
      braid init
      braid ingest chat.jsonl
      braid sql "SELECT kind, count(*) FROM records GROUP BY kind"
      braid verify
    """
    access.Chosen.store = store
    access.Chosen.passphrase_file = passphrase_file
    access.Chosen.guard_dir = guard_dir
    access.Chosen.model = model
    help_without_command(ctx)


def run() -> None:
    """Start `braid` and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(prog_name="braid", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        code = BROKEN_PIPE
    except (Exception, KeyboardInterrupt) as error:
        code = report(error)
    if code == BROKEN_PIPE or _stdout_is_stuck():
        _abandon_stdout()
    sys.exit(code or 0)


def _stdout_is_stuck() -> bool:
    """Whether stdout keeps what it was given because it can't be rid of it: its disk is full."""
    try:
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _abandon_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush meets no broken pipe."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
