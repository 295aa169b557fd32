"""`braid checkpoint`, `move-vault`, `durability`: a signed head, another place for the vault, when to sync."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from braid.tools.cli import destination
from braid.tools.cli.access import Chosen, passphrase_from, where, writing
from braid.tools.cli.options import DryRun, Reason, Shared, StoreOption
from braid.tools.cli.output import many, put, put_bytes, say

PANEL = "Tend"


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(checkpoint)
    app.command("move-vault", rich_help_panel=PANEL)(move_vault)
    app.command(rich_help_panel=PANEL)(durability)


def checkpoint(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-O", metavar="FILE", help="Where the signed head goes.", show_default="stdout"
        ),
    ] = None,
    *,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Sign and publish the newest head, and write it out.

    A head that is kept on another machine shows what the log was, even if store and guard are rolled back together.

    \b
    Examples:
      braid checkpoint
      braid checkpoint -O /mnt/witness/memory-head
    """
    destination.outside(out, store)
    with writing(store, shared=shared) as opened:
        opened.checkpoint()
        note, size = opened.reader.checkpoint_note, opened.reader.published.size
    if out is None:
        put_bytes(note)
        return
    with destination.new_file(out) as file:
        file.write(note)
    say(f"{out} holds the signed head of {many(size, 'record')}")


def move_vault(
    to: Annotated[Path, typer.Argument(help="The new file, or a folder for it.", show_default=False)],
    *,
    dry_run: DryRun = False,
    store: StoreOption = None,
) -> None:
    """Move the vault to another place, and wipe it in the old one.

    Programs that have the store open must be closed first. If it is interrupted, run it again.

    \b
    Examples:
      braid move-vault /mnt/keys/memory.vault
    """
    from braid.ledger.keys.vault_place import move_vault as move
    from braid.ledger.settings import load_settings

    path = where(store)
    if dry_run:
        say(f"{load_settings(path).vault_path(path)} would be moved (--dry-run)")
        return
    put(str(move(path, to, passphrase_from(Chosen.passphrase_file))))
    say("the old file is wiped; back the vault up from its new place, always its newest copy")


def durability(
    mode: Annotated[
        Literal["always", "interval", "none"],
        typer.Argument(help="always: before an append returns; interval: 50 ms later; none: with each head."),
    ],
    *,
    reason: Reason = None,
    dry_run: DryRun = False,
    store: StoreOption = None,
) -> None:
    """Choose when an append has reached the disk.

    A signed event says so: `store.json` alone can't make it looser. Programs that have the store open follow when they
    open it again.

    \b
    Examples:
      braid durability interval --reason "the import of June"
      braid durability always
    """
    with writing(store) as opened:
        before = opened.reader.durability
        if dry_run:
            say(f"durability would go from {before} to {mode} (--dry-run)")
            return
        put(opened.set_durability(mode, reason=reason))
    say(f"durability was {before}, and is {mode}")
