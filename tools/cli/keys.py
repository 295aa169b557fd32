"""`braid key`: who may sign what."""

from typing import Annotated, Any, Literal

import typer

from braid.tools.cli.access import reading, writing
from braid.tools.cli.group import Braid, help_without_command
from braid.tools.cli.options import Adopt, FormatOption, Reason, StoreOption
from braid.tools.cli.output import put, put_rows, say

app = typer.Typer(cls=Braid, rich_markup_mode=None)
_COLUMNS = ("id", "role", "actor", "admitted", "revoked", "compromised_since", "private")


@app.callback(invoke_without_command=True)
def key(ctx: typer.Context) -> None:
    """List, admit and revoke author keys.

    \b
    Examples:
      braid key list
      braid key admit agent planner
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
    from braid.ledger.sign import load_signers

    with reading(store) as opened:
        try:
            here = load_signers(opened.path / "keys")
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
        put_rows(_COLUMNS, rows, output)


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
    id: Annotated[str, typer.Argument(metavar="KEY_ID", help="The key's id.", show_default=False)],
    compromised_since: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="INDEX",
            help="From this log index on its records are disputed.",
            show_default=False,
        ),
    ] = None,
    reason: Reason = None,
    adopt: Adopt = False,
    store: StoreOption = None,
) -> None:
    """Revoke a key from here on.

    What it signed stays valid, or is disputed from an index on.

    \b
    Examples:
      braid key revoke k_abcdefghijklmnopqrst --compromised-since 120 --reason "laptop lost"
    """
    with writing(store, adopt=adopt) as opened:
        put(opened.revoke(id, compromised_since=compromised_since, reason=reason))
