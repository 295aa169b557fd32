"""`braid publish`, `serve-log`, `mirror`: the log for others, as C2SP tlog-tiles."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from braid.tools.cli import destination
from braid.tools.cli.access import guard_of, where
from braid.tools.cli.options import StoreOption
from braid.tools.cli.output import many, say
from braid.tools.cli.progress import progress
from braid.tools.cli.verify import PANEL, log_key

if TYPE_CHECKING:
    from braid.ledger.publish.policy import Policy
    from braid.ledger.witness.cosignature import CosignatureResult

PolicyOption = Annotated[
    Path | None,
    typer.Option(
        "--policy", metavar="FILE", help="Witnesses, and whose cosignatures are enough.", show_default=False
    ),
]
TimeoutOption = Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds to wait for an answer.")]
EveryOption = Annotated[
    float | None,
    typer.Option("--every", min=0.1, metavar="SECONDS", help="Go on, so often.", show_default=False),
]
PublicOption = Annotated[
    bool, typer.Option("--public", help="Let everybody on this machine read DIR: a web server, too.")
]
ListenOption = Annotated[str, typer.Option("--listen", metavar="HOST:PORT", help="Where to listen.")]


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(publish)
    app.command("serve-log", rich_help_panel=PANEL)(serve_log)
    app.command(rich_help_panel=PANEL)(mirror)


def publish(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the log goes.", show_default=False)],
    *,
    policy: PolicyOption = None,
    public: PublicOption = False,
    every: EveryOption = None,
    timeout: TimeoutOption = 10.0,
    store: StoreOption = None,
) -> None:
    """Write the log for others: signed head, hash tiles, entry bundles.

    Any static web server can serve DIR, and any client of C2SP tlog-tiles can read it. What is there already stays;
    the head is replaced last. With --policy the witnesses are asked first, and without their quorum nothing new is
    published. Bodies, media and keys are not part of it. DIR is its owner's alone unless it is made --public.

    \b
    Examples:
      braid publish /srv/log --public
      braid publish /srv/log --policy witnesses.policy
      braid publish /srv/log --every 10
    """
    destination.outside(folder, store)
    from braid.tools.cli.proofs import read_policy

    stated = read_policy(policy) if policy else None
    repeated(every, lambda: _publish(where(store), folder, stated, timeout, public=public))


def _publish(path: Path, folder: Path, policy: "Policy | None", timeout: float, *, public: bool) -> None:
    from braid.ledger.publish.folder import Outlet
    from braid.ledger.publish.mirror import copy_log, finish_copy, published_head
    from braid.tools.tlog.cosignatures import cosigned
    from braid.tools.tlog.sources import own_log

    with own_log(path, guard_of(path)) as log:
        outlet = Outlet(folder, public=public)
        try:
            head = log.head()
            with progress("publishing") as bar:
                tree = copy_log(log, outlet, head, twins=path, progress=bar.reach)
            if policy is not None:
                known = published_head(outlet, log, policy)
                head = cosigned(policy, head, tree, known=known, timeout_s=timeout, told=tell)
            added = finish_copy(log, outlet, head)
        finally:
            outlet.close()
    say(f"{folder} shows {many(head.size, 'record')}, {added} of them new")


def serve_log(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="A published or mirrored log.", show_default="the store"),
    ] = None,
    *,
    listen: ListenOption = "127.0.0.1:8380",
    store: StoreOption = None,
) -> None:
    """Serve the log over HTTP, to be read only.

    Either a folder that `publish` or `mirror` wrote, or the store as it grows. It listens on this machine alone unless
    told otherwise; put a proxy that speaks TLS before it for the world.

    \b
    Examples:
      braid serve-log
      braid serve-log /srv/log --listen 127.0.0.1:9000
    """
    from braid.tools.tlog.routes import log_server
    from braid.tools.tlog.server import parse_listen
    from braid.tools.tlog.sources import source_of

    address = parse_listen(listen)
    path = folder or where(store)
    with (
        source_of(path, guard=None if folder else guard_of(path)) as source,
        log_server(address, source.fetch, say) as server,
    ):
        say(f"serving {path} at {server.url}; Ctrl-C ends it")
        until_stopped(server.serve_forever)


def mirror(
    url: Annotated[str, typer.Argument(metavar="URL", help="The log to follow.", show_default=False)],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where its copy goes.", show_default=False)],
    *,
    key: Annotated[
        str, typer.Option("--key", metavar="VKEY", help="The log's public key, or a file that holds it.")
    ],
    policy: PolicyOption = None,
    public: PublicOption = False,
    every: EveryOption = None,
    timeout: TimeoutOption = 20.0,
) -> None:
    """Copy a log that others serve, and verify all that is copied.

    The head must be signed by the key that you give and continue the last one copied; every tile and every entry must
    lead to it. An interrupted run is gone on with. The copy can be served in turn: `braid serve-log DIR`. Where
    the log's key has been changed since, its records are followed from the key that you give to the one that signs now.

    \b
    Examples:
      braid mirror https://log.example.org/maya mirror --key maya.vkey
      braid mirror https://log.example.org/maya mirror --key maya.vkey --every 60
    """
    from braid.ledger.tree.note import parse_vkey
    from braid.tools.cli.proofs import read_policy

    vkey, stated = parse_vkey(log_key(key)), read_policy(policy) if policy else None

    def once() -> None:
        from braid.ledger.publish.folder import Outlet
        from braid.ledger.publish.mirror import copy_log, current_head, finish_copy
        from braid.ledger.publish.remote import ServedLog
        from braid.tools.tlog.sources import source_of

        with source_of(url, timeout_s=timeout) as source:
            outlet = Outlet(folder, public=public)
            try:
                log, head = current_head(ServedLog(source.fetch, vkey, stated), outlet)
                if log.vkey != vkey:
                    say(f"the log's records name another key in place of the one that you pinned: {log.vkey}")
                with progress("mirroring") as bar:
                    copy_log(log, outlet, head, gather=source.gather, progress=bar.reach)
                added = finish_copy(log, outlet, head)
            finally:
                outlet.close()
        say(f"{folder} holds {many(head.size, 'record')}, {added} of them new, each as it was signed")

    repeated(every, once)


def tell(asked: "CosignatureResult") -> None:
    """Say how it went with a witness."""
    if asked.cosignature is not None:
        say(f"{asked.witness} cosigned")
    else:
        say(f"{asked.witness} did not cosign: {asked.reason}: {asked.what}")


def repeated(every: float | None, act: Callable[[], None]) -> None:
    """Do it once; with `every`, so often until stopped. What may pass (a network, a lock) is told and tried again."""
    if every is None:
        act()
        return
    from braid.tools.cli.errors import explain
    from braid.wal.errors import LogLockedError

    def loop() -> None:
        while True:
            try:
                act()
            except (ConnectionError, TimeoutError, LogLockedError) as error:
                say(*explain(error))
            time.sleep(every)

    until_stopped(loop)


def until_stopped(run: Callable[[], object]) -> None:
    """Run until SIGINT or SIGTERM, which are how a server is meant to end."""
    import signal

    def stop(number: int, frame: object) -> None:
        del number, frame
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        run()
    except KeyboardInterrupt:
        say("stopped")
