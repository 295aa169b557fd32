"""`braid backup`, `restore`, `fork`: a second copy that goes on from itself, coming back from it, going on in it."""

from pathlib import Path
from typing import Annotated

import typer

from braid.tools.cli.access import Chosen, passphrase_from, reading, where
from braid.tools.cli.options import DryRun, FormatOption, StoreOption
from braid.tools.cli.output import many, put_fields, say
from braid.tools.cli.verify import log_key

PANEL = "Move"


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(backup)
    app.command(rich_help_panel=PANEL)(restore)
    app.command(rich_help_panel=PANEL)(fork)


def backup(
    dest: Annotated[Path, typer.Argument(metavar="DIR", help="The backup's folder.", show_default=False)],
    *,
    with_vault: Annotated[
        bool, typer.Option("--with-vault", help="Vault and private keys too: guard it as you guard them.")
    ] = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Bring a backup to the log's signed head, copying what is new.

    Another process may write meanwhile. Without --with-vault it holds no key and no plaintext: `braid verify` reads it
    where it is, nobody reads a memory. What was erased since the last time is erased there too.

    \b
    Examples:
      braid backup /mnt/backup/memory
      braid backup --with-vault /mnt/safe/memory -o json
    """
    from msgspec import to_builtins

    with reading(store) as opened:
        done = opened.backup(dest, with_vault=with_vault)
    put_fields(to_builtins(done), output)


def restore(
    source: Annotated[Path, typer.Argument(metavar="DIR", help="The backup's folder.", show_default=False)],
    *,
    vault: Annotated[
        Path | None,
        typer.Option("--vault", metavar="FILE", help="The newest vault.", show_default="the backup's"),
    ] = None,
    keys: Annotated[
        Path | None,
        typer.Option("--keys", metavar="FOLDER", help="The private keys.", show_default="the backup's"),
    ] = None,
    newer: Annotated[
        Path | None,
        typer.Option(
            metavar="STORE",
            help="Another copy of this log that may know of later erasures.",
            show_default=False,
        ),
    ] = None,
    fork: Annotated[
        str | None,
        typer.Option(
            metavar="REASON", help="Go on from an older copy; a signed event says so.", show_default=False
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="VKEY", help="The log key that you pinned, or a file that holds it.", show_default=False
        ),
    ] = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Make a store of a backup, verified, in a place where there is none.

    What the log, the vault or a newer copy says is erased is erased again. A backup that is older than what the fork
    guard remembers is refused, unless a fork is noted in its log.

    \b
    Examples:
      braid restore /mnt/backup/memory --vault safe/vault --keys safe/keys
      braid --store elsewhere restore /mnt/safe/memory
      braid restore /mnt/backup/memory --vault safe/vault --keys safe/keys --fork "the disk died, 3 June"
    """
    from msgspec import to_builtins

    from braid.admin.offline import restore as restore_backup

    done = restore_backup(
        source,
        where(store),
        vault=vault,
        keys=keys,
        newer=newer,
        fork=fork,
        vkey=log_key(key) if key else None,
        passphrase=passphrase_from(Chosen.passphrase_file),
        guard_dir=Chosen.guard_dir,
    )
    fields = to_builtins(done)
    if output == "table" and not done.fork:
        del fields["fork"]  # there is none to name
    put_fields(fields, output)
    if not done.vault:
        say("without its vault nothing can be read or written: put the newest one in its place, and the keys")
    if not done.guarded:
        say(
            "no fork guard remembers this log here: if this is its newest copy, `braid doctor --adopt` says so once"
        )
    if done.fork:
        say(
            f"{many(done.size, 'record')} and the note of a fork, {done.fork}: anyone who keeps a later head will ask"
        )


def fork(
    reason: Annotated[
        str, typer.Argument(help="Why this copy goes on; sealed with the record.", show_default=False)
    ],
    *,
    dry_run: DryRun = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Let this copy of a store go on, where the fork guard remembers another one.

    Two copies are one log until both are written; then one is only read. A signed event in the log says that this one
    goes on, and what the guard remembered; the other is only read from then on. Tell those who keep heads of it.

    \b
    Examples:
      braid fork "the laptop is lost, this is the copy of 3 June" --store copy
      braid fork "a test wrote into the copy" --dry-run
    """
    from msgspec import to_builtins

    from braid.admin.offline import fork as fork_store

    if dry_run:
        with reading(store) as opened:
            agreed = not opened.reader.contradiction
        say("there is no fork to note" if agreed else "the note of a fork would be signed (--dry-run)")
        return
    done = fork_store(
        where(store),
        reason=reason,
        passphrase=passphrase_from(Chosen.passphrase_file),
        guard_dir=Chosen.guard_dir,
    )
    put_fields(to_builtins(done), output)
    say(
        "this copy goes on; the other is only read from now on: keep it until nobody misses what it alone holds"
    )
