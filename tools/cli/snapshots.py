"""`braid snapshot`: what the projections hold, as files that prove themselves; a replay begins from the newest."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from braid.tools.cli.access import reading
from braid.tools.cli.errors import FINDINGS
from braid.tools.cli.group import BraidGroup
from braid.tools.cli.options import FormatOption, StoreOption
from braid.tools.cli.output import many, put, put_fields, put_rows, say

if TYPE_CHECKING:
    from braid.views.snapshot.folder import Snapshot

app = typer.Typer(cls=BraidGroup, rich_markup_mode=None)
_COLUMNS = ("name", "size", "parts", "bytes", "trouble")
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Which (`braid snapshot list`).", show_default=False)
]


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    above.add_typer(app, name="snapshot", rich_help_panel="Tend")


@app.callback(invoke_without_command=True)
def snapshot(
    ctx: typer.Context,
    keep: Annotated[int, typer.Option(min=1, help="How many stay, the newest ones.")] = 2,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Write down what the projections hold, signed, for `braid replay` to begin from; or list, show, drop.

    Parquet files (and the LanceDB table's own), each with its digest, bound to the log's size and root. They hold
    plaintext, as all that is in views/. Another process may write to the store meanwhile.

    \b
    Examples:
      braid snapshot
      braid snapshot --keep 3 -o json
      braid snapshot list
    """
    if ctx.invoked_subcommand is None:
        with reading(store) as opened:
            made = opened.snapshot(keep=keep)
        put_fields(_shown(made), output)


@app.command("list")
def list_(output: FormatOption = "table", store: StoreOption = None) -> None:
    """List the snapshots, the newest first; `trouble` says why one would not be used.

    \b
    Examples:
      braid snapshot list
    """
    with reading(store) as opened:
        rows = [_shown(one) for one in opened.snapshots()]
    put_rows(_COLUMNS, rows, output)


@app.command()
def show(name: Name, output: FormatOption = "table", store: StoreOption = None) -> None:
    """Show a snapshot and the files that its manifest names.

    \b
    Examples:
      braid snapshot show at-000000000224-3f9c21aa
    """
    from msgspec import to_builtins

    with reading(store) as opened:
        snapshots = opened.views.snapshots
        manifest = snapshots.manifest(snapshots.find(name))
    if output in ("json", "jsonl"):
        put_fields(to_builtins(manifest), output)
        return
    say(f"{manifest.origin}, {many(manifest.size, 'record')}, root {manifest.root}")
    files: list[dict[str, Any]] = [to_builtins(file) for part in manifest.parts for file in part.files]
    put_rows(("path", "bytes", "sha256"), files, output)


@app.command()
def drop(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]…", help="Which.", show_default=False)
    ] = None,
    *,
    all_: Annotated[bool, typer.Option("--all", help="Every one, and what a crash left of others.")] = False,
    store: StoreOption = None,
) -> None:
    """Remove snapshots. The log needs none: they can be made again.

    \b
    Examples:
      braid snapshot drop at-000000000224-3f9c21aa
      braid snapshot drop --all
    """
    if bool(names) == all_:
        raise ValueError("name the snapshots to drop, or give --all")
    with reading(store) as opened:
        for name in opened.views.snapshots.drop(*names or ()):
            put(name)


def verify(store: Path | None, output: str) -> None:
    """Check every snapshot against the log, and end with 1 where one is not the fold of its prefix."""
    with reading(store) as opened:
        found = opened.views.check_snapshots()
    rows = [
        {"snapshot": one, "index": finding.index, "file": finding.file, "finding": finding.message}
        for one, findings in found.items()
        for finding in findings
    ]
    if rows or output == "json":
        put_rows(("snapshot", "index", "file", "finding"), rows, "json" if output == "json" else "table")
    if rows:
        raise typer.Exit(FINDINGS)
    if found:
        say(f"{many(len(found), 'snapshot')}: what the log gives for their sizes, less what was erased since")
    else:
        say("there is no snapshot (`braid snapshot` makes one)")


def _shown(made: "Snapshot") -> dict[str, Any]:
    from msgspec import to_builtins

    shown: dict[str, Any] = to_builtins(made)
    return shown
