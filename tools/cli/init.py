"""`braid init`: a new store, and what must be pinned, kept and taken offline."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from braid.tools.cli.access import Chosen, passphrase_from, where
from braid.tools.cli.options import FormatOption, StoreOption
from braid.tools.cli.output import many, put_fields, say

PANEL = "Write"


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command(rich_help_panel=PANEL)(init)


def init(
    path: Annotated[Path | None, typer.Argument(help="The new store.", show_default="./memory")] = None,
    *,
    origin: Annotated[
        str | None,
        typer.Option(help="The log's name: a URL without scheme.", show_default="braid.local/<store id>"),
    ] = None,
    durability: Annotated[
        Literal["always", "interval", "none"], typer.Option(help="When an append has reached the disk.")
    ] = "always",
    retention_days: Annotated[int, typer.Option(min=0, help="How long the forgotten can be recovered.")] = 30,
    vault: Annotated[
        Path | None,
        typer.Option(help="Where the vault goes (another disk, say).", show_default="in the store"),
    ] = None,
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Ask for a passphrase for the vault.")
    ] = False,
    passphrase_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File whose first line is the passphrase.", show_default=False),
    ] = None,
    guard_dir: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Where the fork guard goes.", show_default=False)
    ] = None,
    scope_chains: Annotated[
        bool,
        typer.Option("--scope-chains", help="Each record counts its scope, so that an omission shows."),
    ] = False,
    spare_root: Annotated[
        bool, typer.Option("--spare-root", help="Two root keys: one can revoke the other, and go on.")
    ] = False,
    privacy: Annotated[
        Literal["standard", "strict"],
        typer.Option(help="strict: --history-days 90 or 180 must be given."),
    ] = "standard",
    history_days: Annotated[
        int | None,
        typer.Option(min=1, help="How long what was corrected is kept.", show_default="for ever"),
    ] = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Make a new store, with fresh keys.

    Prints what to pin (the vkey), what to back up (the vault) and what to take offline (the root key).

    \b
    Examples:
      braid init
      braid init /srv/memory --vault /mnt/keys/vault --retention-days 14
      braid init --durability interval --passphrase-file secret.txt
      braid init --privacy strict --history-days 180
    """
    import braid

    Chosen.guard_dir = guard_dir or Chosen.guard_dir
    Chosen.passphrase_file = passphrase_file or Chosen.passphrase_file
    place = path or where(store)
    phrase = _new_passphrase() if passphrase else passphrase_from(Chosen.passphrase_file)
    braid.init(
        place,
        origin=origin,
        durability=durability,
        retention_days=retention_days,
        vault=vault,
        passphrase=phrase,
        guard_dir=Chosen.guard_dir,
        scope_chains=scope_chains,
        spare_root=spare_root,
        privacy=privacy,
        history_days=history_days,
    )
    with braid.open(
        place, create=False, read_only=True, passphrase=phrase, guard_dir=Chosen.guard_dir
    ) as opened:
        reader = opened.reader
        vault_path = reader.settings.vault_path(place).resolve()
        roots = [life.id for life in reader.control.keys.values() if life.role == "root"]
        fields = {
            "store": str(place.resolve()),
            "origin": opened.origin,
            "vkey": opened.vkey,
            "root keys": " ".join(roots),
            "guard": str(reader.guard.path),
            "vault": str(vault_path),
            "durability": durability,
            "retention": many(retention_days, "day"),
            "history": many(history_days, "day") if history_days else "kept for ever",
        }
    put_fields(fields, output)
    say(
        "pin the vkey where proofs will be checked; the guard shows a rollback: it must not be restored with the store"
    )
    say(f"back up the vault ({vault_path}) apart from the store, always its newest copy: erasures change it")
    say(f"take the root key offline once other keys are admitted: {place}/keys/root-{roots[0]}.key")
    for spare in roots[1:]:
        say(f"and the spare one now, to another place: {place}/keys/root-{spare}.key")


def _new_passphrase() -> str:
    """Ask for a new passphrase twice."""
    import getpass

    if not sys.stdin.isatty():
        raise ValueError("a passphrase can only be asked for on a terminal; use --passphrase-file FILE")
    first = getpass.getpass("New passphrase of the vault: ", sys.stderr)
    if not first:
        raise ValueError("the passphrase is empty")
    if getpass.getpass("Once more: ", sys.stderr) != first:
        raise ValueError("the two passphrases differ; nothing was made")
    return first
