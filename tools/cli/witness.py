"""`braid witness` and `cosign`: being a witness of other logs, and asking witnesses for this one."""

import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from braid.tools.cli import destination
from braid.tools.cli.access import guard_of, where
from braid.tools.cli.options import StoreOption
from braid.tools.cli.output import many, put, put_bytes, say
from braid.tools.cli.publish import ListenOption, TimeoutOption, tell, until_stopped
from braid.tools.cli.verify import PANEL, read_key

if TYPE_CHECKING:
    from braid.ledger.tree.note import SigningKey, VerifierKey


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(witness)
    app.command(rich_help_panel=PANEL)(cosign)


def witness(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where key and state are kept.", show_default=False)
    ],
    *,
    log: Annotated[
        list[str] | None,
        typer.Option(
            "--log", metavar="VKEY", help="A log to witness: its key, or a file of keys, one a line."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Name of a new key.", show_default="braid.local/witness/… at random"
        ),
    ] = None,
    listen: ListenOption = "127.0.0.1:8382",
    show_key: Annotated[bool, typer.Option("--show-key", help="Show the public key and end.")] = False,
) -> None:
    """Run a small witness: it cosigns heads that continue the last one it cosigned.

    On another device it is a fork guard that a rollback of this whole machine can't take along. Its key is made at the
    first start. What it has cosigned is on disk before it answers; never restore DIR from an older copy.

    On SIGHUP it reads the files of --log again, and stands where it stood: so a log's key takes the other's place.

    \b
    Examples:
      braid witness /srv/witness --show-key
      braid witness /srv/witness --log maya.vkey --listen 192.168.1.7:8382
    """
    from braid.ledger.tree.note import parse_vkey
    from braid.ledger.witness.witness import Witness
    from braid.tools.tlog.server import LogServer, parse_listen
    from braid.tools.tlog.witness import answer_as

    address = parse_listen(listen)
    signer = _signer(folder, name)
    if show_key:
        put(str(signer.verifier))
        return
    if not log:
        raise typer.BadParameter("name the logs that are witnessed", param_hint="--log")

    def keys() -> "list[VerifierKey]":
        held = {one: read_key(one).split() for one in log}
        if empty := [one for one, texts in held.items() if not texts]:
            raise ValueError(f"{empty[0]} holds no key")
        return [parse_vkey(text) for texts in held.values() for text in texts]

    running = Witness(folder, signer, keys())
    try:
        _on_hangup(lambda: running.know(keys()))
        with LogServer(address, answer_as(running, lambda: int(time.time())), say) as server:
            say(
                f"{signer.verifier} witnesses {many(len(running.logs), 'log')} at {server.url}; Ctrl-C ends it"
            )
            until_stopped(server.serve_forever)
    finally:
        running.close()


def _on_hangup(read: Callable[[], None]) -> None:
    """Have SIGHUP read the logs' keys again; where that fails, those that are known stay."""
    import signal

    def again(number: int, frame: object) -> None:
        del number, frame
        try:
            read()
        except (ValueError, OSError) as error:
            say(f"the keys stay what they were: {error}")
        else:
            say("the keys of the logs were read again")

    signal.signal(signal.SIGHUP, again)


def _signer(folder: Path, name: str | None) -> "SigningKey":
    """Return the witness's key, made where there is none: whole on disk before it is shown or used."""
    from braid.ledger.tree.note import COSIGNATURE, format_skey, parse_skey, signing_key
    from braid.wal.durable import make_folder, replace_file

    path = folder.absolute() / "witness.key"
    try:
        found = parse_skey(path.read_text("utf-8").strip())
    except FileNotFoundError:
        made = signing_key(
            name or f"braid.local/witness/{secrets.token_hex(4)}", secrets.token_bytes(32), COSIGNATURE
        )
        make_folder(path.parent)
        replace_file(path, format_skey(made).encode() + b"\n", "witness.key")
        return made
    if name not in (None, found.name):
        raise ValueError(f"{path} is the key of {found.name}: a witness keeps its name")
    return found


def cosign(
    out: Annotated[
        Path | None,
        typer.Option("--out", "-O", metavar="FILE", help="Where the head goes.", show_default="stdout"),
    ] = None,
    *,
    policy: Annotated[
        Path,
        typer.Option("--policy", metavar="FILE", help="The witnesses, and whose cosignatures are enough."),
    ],
    timeout: TimeoutOption = 10.0,
    store: StoreOption = None,
) -> None:
    """Have the newest head cosigned by witnesses, and write it out.

    Nothing in the store changes. A witness that has cosigned a later head, or another one, shows that store and fork
    guard were set back together: run this before an agent begins to write.

    \b
    Examples:
      braid cosign --policy witnesses.policy -O head.cosigned
      braid prove --under head.cosigned exp_2025-05-17T09:00:00Z_0000000300ab -O maya.tlog-proof
    """
    from braid.tools.cli.proofs import read_policy
    from braid.tools.tlog.cosignatures import cosigned
    from braid.tools.tlog.sources import own_log

    destination.outside(out, store)
    stated, path = read_policy(policy), where(store)
    with own_log(path, guard_of(path)) as log:
        head = log.head()
        head = cosigned(stated, head, log.tree(head.checkpoint), timeout_s=timeout, told=tell)
    if out is None:
        put_bytes(head.note)
        return
    with destination.new_file(out) as file:
        file.write(head.note)
    say(f"{out} holds the cosigned head of {many(head.size, 'record')}")
