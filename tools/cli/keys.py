"""`braid key`: who may sign what."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.group import BraidGroup, help_without_command
from braid.tools.cli.options import Adopt, FormatOption, Reason, StoreOption
from braid.tools.cli.output import put, put_rows, say

if TYPE_CHECKING:
    from braid.store import Store

app = typer.Typer(cls=BraidGroup, rich_markup_mode=None)
_COLUMNS = ("id", "role", "actor", "admitted", "revoked", "compromised_since", "private")


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    above.add_typer(app, name="key", rich_help_panel="Tend")


@app.callback(invoke_without_command=True)
def key(ctx: typer.Context) -> None:
    """List, admit, rotate, revoke and seal keys: the authors' and the log's.

    \b
    Examples:
      braid key list
      braid key admit agent planner
      braid key rotate log
    """
    help_without_command(ctx)


@app.command("list")
def list_(output: FormatOption = "table", store: StoreOption = None) -> None:
    """List the log's keys.

    Role, log index of admission and revocation, and whether the private half is here.

    \b
    Examples:
      braid key list
    """
    from braid.ledger.errors import KeyRefusedError
    from braid.ledger.keys.author_key import load_signers

    with reading(store) as opened:
        try:
            here = load_signers(opened.path / "keys", opened.reader.passphrase)
        except (KeyRefusedError, OSError) as error:
            say(f"the private keys can't be read: {error}")
            here = {}
        rows: list[dict[str, Any]] = [
            {
                "id": life.id,
                "role": life.role,
                "actor": here[life.id].actor if life.id in here else None,
                "admitted": life.admitted,
                "revoked": life.revoked,
                "compromised_since": life.compromised_since,
                "private": life.id in here,
            }
            for life in opened.reader.control.keys.values()
        ]
        size = opened.reader.size
        rows += [
            {
                "id": vkey,
                "role": "log",
                "actor": None,
                "admitted": life.since,
                "revoked": life.until,
                "compromised_since": None,
                "private": vkey in own,
            }
            for own in [_log_keys_here(opened)]
            for vkey, life in opened.reader.control.log_keys.items()
        ]
        put_rows(_COLUMNS, rows, output)
        if len(opened.reader.control.signing(size)) > 1:
            say(
                "two log keys sign heads: `braid key revoke VKEY` ends the overlap when everyone has the new one"
            )


def _log_keys_here(opened: "Store") -> set[str]:
    """Return the log keys whose private half is here."""
    from braid.ledger.errors import KeyRefusedError
    from braid.ledger.keys.logkeys import load_log_keys

    try:
        return set(load_log_keys(opened.path, opened.reader.passphrase))
    except (KeyRefusedError, OSError) as error:
        say(f"the log's private keys can't be read: {error}")
        return set()


@app.command()
def rotate(
    id: Annotated[
        str, typer.Argument(metavar="KEY_ID|log", help="An author key, or `log`.", show_default=False)
    ],
    *,
    overlap: Annotated[
        bool, typer.Option("--overlap", help="An author key stays in force until `key revoke`.")
    ] = False,
    lost: Annotated[
        bool, typer.Option("--lost", help="The log key is lost or stolen: it signs no further head.")
    ] = False,
    reason: Reason = None,
    adopt: Adopt = False,
    store: StoreOption = None,
) -> None:
    """Let a fresh key take another's place; the root key signs it.

    An author key is revoked in the same transaction, unless --overlap leaves both in force. The log's new key signs
    heads beside the old one until `key revoke OLD_VKEY`; with --lost the old one signs no more. Prints the new id.

    \b
    Examples:
      braid key rotate k_abcdefghijklmnopqrst --reason "laptop replaced"
      braid key rotate log
      braid key rotate log --lost
    """
    from braid.ledger.write.ceremony import rotate_log_key, rotate_signer

    if (lost and id != "log") or (overlap and id == "log"):
        raise ValueError("--lost goes with `log`, --overlap with an author key; log keys always overlap")
    with writing(store, adopt=adopt, headless=lost) as opened:
        if id != "log":
            put(rotate_signer(opened.writer, id, overlap=overlap, reason=reason).id)
            return
        put(rotate_log_key(opened.writer, lost=lost, reason=reason))
        say(
            "give this key to those who pinned the old one: `braid verify --key OLD` walks from it to the new one"
        )


@app.command()
def seal(adopt: Adopt = False, store: StoreOption = None) -> None:
    """Seal the private keys under the vault's passphrase.

    From then on a key that is made is sealed too. Prints the files that were in the clear.

    \b
    Examples:
      braid key seal
      braid --passphrase-file ~/.braid-passphrase key seal
    """
    from braid.ledger.write.ceremony import seal_keys

    with writing(store, adopt=adopt) as opened:
        for path in seal_keys(opened.writer):
            put(path.name)


@app.command()
def admit(
    role: Annotated[
        Literal["operator", "recorder", "user", "agent", "tool"],
        typer.Argument(help="What it may sign.", show_default=False),
    ],
    actor: Annotated[
        str | None, typer.Argument(help="Whose words: a name, or tool(name).", show_default=False)
    ] = None,
    adopt: Adopt = False,
    store: StoreOption = None,
) -> None:
    """Make a key for one role and actor, and admit it.

    The root key signs the admission; prints the new key's id.

    \b
    Examples:
      braid key admit user "Maya Lindqvist"
      braid key admit tool "tool(calendar)"
    """
    with writing(store, adopt=adopt) as opened:
        signer = opened.admit(role, actor)
        put(signer.id)
        say(f"its private half is {opened.path}/keys/{role}-{signer.id}.key")


@app.command()
def revoke(
    id: Annotated[
        str,
        typer.Argument(
            metavar="KEY_ID|VKEY", help="The key's id; of a log key, it itself.", show_default=False
        ),
    ],
    *,
    compromised_since: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="INDEX",
            help="From this log index on its records are disputed.",
            show_default=False,
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="The last root key, too.")] = False,
    reason: Reason = None,
    adopt: Adopt = False,
    store: StoreOption = None,
) -> None:
    """Revoke a key from here on.

    What it signed stays valid, or is disputed from an index on. A log key signs no further head, once another does;
    its private half is wiped. Without a root key no other key can be admitted or revoked: the last one takes --yes.

    \b
    Examples:
      braid key revoke k_abcdefghijklmnopqrst --compromised-since 120 --reason "laptop lost"
    """
    with writing(store, adopt=adopt) as opened:
        if "+" in id:
            from braid.ledger.write.ceremony import retire_log_key

            if compromised_since is not None:
                raise ValueError("--compromised-since is for author keys: a log key signs no records")
            retire_log_key(opened.writer, id, reason=reason)
            return
        roots = [
            life.id
            for life in opened.reader.control.keys.values()
            if life.role == "root" and life.revoked is None
        ]
        if roots == [id] and not yes:
            raise ValueError(
                f"{id} is the last root key: without it no key can be admitted or revoked any more; "
                "if that is meant (it was stolen), revoke it with --yes"
            )
        put(opened.revoke(id, compromised_since=compromised_since, reason=reason))
