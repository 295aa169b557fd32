"""Running the server: where it listens, and how it stops."""

import logging
import os
import socket
from collections.abc import Callable
from contextlib import ExitStack
from ipaddress import ip_address
from pathlib import Path

import uvicorn

from braid.admin.projections import SqlCeiling, sql_ceiling
from braid.jobs.running import Models
from braid.session import Session
from braid.socket_path import SOCKET, short_path
from braid.tools.event_lines import Form, shown
from braid.tools.http.app import Mode, Server
from braid.tools.http.limits import Limits
from braid.tools.http.listeners import CONNECTIONS, Listeners, PromptProtocol
from braid.tools.http.request_log import noted
from braid.tools.http.workers import Workers

DRAIN_S = 10
"""How long what is being answered may take once the server is told to stop."""


def serve(
    session: Session,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    mode: Mode = "hybrid",
    limits: Limits | None = None,
    statements: SqlCeiling | None = None,
    workers: int = 0,
    models: Callable[[], Models] = Models,
    log: Form | None = None,
    told: Callable[[str], None] = print,
) -> None:
    """Serve a store until a signal stops it: by the socket in its folder, and at `port` where one is given.

    `limits`: how often a token may ask; `statements`: how far its statements of SQL may go. So many `workers` work off
    jobs meanwhile, with the `models` that are named when they look. `log`: events, a line each; without one, only what
    goes wrong is shown.

    Raises ValueError for a port that can't be had, and for a host that is not this machine's: what goes over a network
    needs a proxy with TLS in front.
    """
    if port is not None and not _is_loopback(host):
        raise ValueError(f"{host}: only this machine is served; put a proxy with TLS in front of 127.0.0.1")
    if mode == "local" and port is not None:
        raise ValueError("--mode local is the socket alone: leave --port out, or choose hybrid")
    with ExitStack() as opened:
        opened.enter_context(shown(log or "text", level=logging.INFO if log else logging.WARNING))
        sql_ceiling(session, statements)
        session.observers.append(noted)
        opened.callback(session.observers.remove, noted)
        at_port = [] if port is None else [opened.enter_context(_tcp_socket(host, port))]
        sockets = [opened.enter_context(_unix_socket(session.path)), *at_port]
        opened.callback((session.path / SOCKET).unlink, missing_ok=True)
        told(f"serving {session.path} at {session.path / SOCKET}")
        for one in at_port:
            told(f"and at http://{host}:{one.getsockname()[1]}, for whoever has a token")
        server = Server(session, mode=mode, limits=limits)
        opened.callback(server.watch.sign, ending=True)
        working = Workers(session, workers, models)
        server.changed = working.wake
        opened.callback(working.stop, DRAIN_S)
        working.start()
        config = uvicorn.Config(
            server.application(),
            log_level="warning",
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_keep_alive=15,
            timeout_graceful_shutdown=DRAIN_S,
            h11_max_incomplete_event_size=64 * 2**10,
            limit_concurrency=CONNECTIONS,
            http=PromptProtocol,
        )
        Listeners(config).run(sockets)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _unix_socket(store: Path) -> socket.socket:
    """Return the socket in a store's folder, which its owner alone can open. What a dead server left is replaced."""
    path = store / SOCKET
    path.unlink(missing_ok=True)  # this process has the store's lock: no server that lives has this socket
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        with short_path(path) as name:
            made.bind(name)
    finally:
        os.umask(before)
    made.listen(128)
    return made


def _tcp_socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(128)
    except OSError as error:
        made.close()
        raise ValueError(
            f"port {port} of {host} can't be had ({error.strerror}): choose another with --port; 0 takes a free one"
        ) from error
    return made
