"""The command `braid`: one app, its global options, and the one place where errors end."""

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from braid.tools.cli.access import Chosen
from braid.tools.cli.errors import BROKEN_PIPE, report
from braid.tools.cli.group import BraidGroup, Commands, help_without_command

_CLI, _BENCH = "braid.tools.cli.", "braid.tools.bench.command"
PLACES: Final = {
    name: _CLI + module if module else _BENCH
    for module, names in {
        "init": ("init",),
        "ingest": ("ingest",),
        "learn": ("learn", "learning"),
        "staging": ("staging",),
        "decisions": ("decisions",),
        "review": ("review",),
        "append": ("append", "correct"),
        "remember": ("remember",),
        "memories": ("modify", "history", "memories"),
        "log": ("log", "show"),
        "recall": ("recall", "context", "fill"),
        "ask": ("ask",),
        "chat": ("chat",),
        "affect": ("affect",),
        "stances": ("stance", "stances", "why", "contradictions"),
        "entities": ("entity",),
        "knowledge": ("knowledge", "changes", "why-known", "why-changed", "why-not-known"),
        "trace": ("trace",),
        "verify": ("verify", "prove", "check-proof"),
        "publish": ("publish", "serve-log", "mirror"),
        "witness": ("witness", "cosign"),
        "monitor": ("monitor",),
        "forget": ("forget", "recover", "erase", "retain", "certificate", "compact"),
        "projections": ("replay", "sql"),
        "health": ("status", "doctor"),
        "maintenance": ("checkpoint", "durability", "move-vault"),
        "backups": ("backup", "fork", "restore"),
        "exchange": ("export", "import"),
        "": ("bench",),
        "evaluate": ("evaluate",),
        "lenses": ("lens",),
        "programs": ("program",),
        "snapshots": ("snapshot",),
        "work": ("work", "jobs"),
        "keys": ("key",),
        "serve": ("serve", "token"),
        "freeze": ("freeze", "unfreeze"),
        "settings": ("settings",),
        "providers": ("providers",),
        "mcp": ("mcp",),
        "hook": ("hook",),
    }.items()
    for name in names
}
"""Command → its module, in the order of the help: only the one that is called is imported."""


class Root(BraidGroup):
    """The group of all commands."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = Commands(PLACES)


app = typer.Typer(
    name="braid",
    cls=Root,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
    Chosen.store = store
    Chosen.passphrase_file = passphrase_file
    Chosen.guard_dir = guard_dir
    Chosen.model = model
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
