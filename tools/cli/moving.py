"""`braid export` and `braid import`: copies that leave, records that come."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.errors import FINDINGS
from braid.tools.cli.options import Adopt, DryRun, FormatOption, StoreOption
from braid.tools.cli.output import line, many, put_fields, say

PANEL = "Move"


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(export)
    app.command("import", rich_help_panel=PANEL)(import_)


def export(
    dest: Annotated[Path | None, typer.Argument(help="The new folder.", show_default=False)] = None,
    audit: Annotated[
        bool, typer.Option("--audit", help="Leave out vault, private keys and projections.")
    ] = False,
    jsonl: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write records as JSON lines instead; `-` writes to stdout.",
            show_default=False,
        ),
    ] = None,
    forgotten: Annotated[
        bool, typer.Option("--forgotten", help="With --jsonl: the forgotten ones too.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Copy the store: a backup, an auditor's copy, or JSON lines.

    It reaches as far as the signed head.

    \b
    Examples:
      braid export /mnt/backup/memory
      braid export --audit audit-copy
      braid export --jsonl memory.jsonl
    """
    if (dest is None) == (jsonl is None):
        raise ValueError("give a new folder, or --jsonl FILE")
    from braid import transfer

    with reading(store) as opened:
        if jsonl is None:
            files = transfer.export_store(opened, dest or Path(), audit=audit)
            size = opened.reader.published.size
            say(
                f"{many(len(files), 'file')}, {many(size, 'record')}, in {dest}"
                + ("" if audit else "; it holds keys and vault: guard it well")
            )
            return
        if str(jsonl) == "-":
            count = transfer.export_jsonl(opened, sys.stdout, include_forgotten=forgotten)
        else:
            with jsonl.open("x", encoding="utf-8") as stream:
                count = transfer.export_jsonl(opened, stream, include_forgotten=forgotten)
        say(f"{many(count, 'record')}, in plain text")


def import_(
    file: Annotated[
        Path, typer.Argument(help="What `export --jsonl` wrote; `-` reads stdin.", show_default=False)
    ],
    dry_run: DryRun = False,
    adopt: Adopt = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Append the records of another store's JSON lines.

    They get new ids; importing them again adds nothing.

    \b
    Examples:
      braid import memory.jsonl --dry-run
      braid import memory.jsonl
    """
    from contextlib import nullcontext

    from braid import transfer

    source = nullcontext(sys.stdin.buffer) if str(file) == "-" else file.open("rb")
    with source as lines, reading(store) if dry_run else writing(store, adopt=adopt) as opened:
        done = transfer.import_jsonl(opened, lines, dry_run=dry_run)
    for number, reason in done.refused:
        say(f"{line(str(file))}:{number}: {reason}")
    name = "would be added" if dry_run else "added"
    put_fields({name: done.added, "already known": done.known, "skipped": len(done.refused)}, output)
    if done.refused:
        raise typer.Exit(FINDINGS)
