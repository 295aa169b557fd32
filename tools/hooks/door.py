"""How a hook asks a server: one request, without a client's weight. Standard library alone.

Over the socket in the store's folder the request is written by hand: `http.client` takes longer to load than all else
that a hook does here.
"""

import json
import socket
from pathlib import Path
from typing import Any, Final

from braid.bearer import bearer
from braid.socket_path import SOCKET, short_path
from braid.tools.hooks.state import as_object

ROUTE: Final = "/hook"
CONTENT_TYPE: Final = "application/x-braid-hook"
"""A header in JSON on the first line, the new lines of a transcript behind it."""
_LOCAL: Final = ("localhost", "127.0.0.1", "::1")


class DoorError(Exception):
    """A server that refused, or was lost."""


class NoServerError(Exception):
    """No server holds the store."""


def body_of(header: dict[str, Any], lines: bytes) -> bytes:
    """Return what is sent."""
    return json.dumps(header).encode() + b"\n" + lines


def ask_socket(store: str, header: dict[str, Any], lines: bytes, timeout_s: float) -> dict[str, Any]:
    """Return what the server of a store answers. Raises NoServerError, and DoorError."""
    path = Path(store) / SOCKET
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.settimeout(timeout_s)
    try:
        try:
            with short_path(path) as name:
                made.connect(name)
        except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
            raise NoServerError(store) from None
        body = body_of(header, lines)
        head = (
            f"POST {ROUTE} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            f"Content-Type: {CONTENT_TYPE}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        made.sendall(head.encode() + body)
        return _answered(made)
    except OSError as error:
        raise DoorError(f"the server of {store} was lost: {str(error) or type(error).__name__}") from None
    finally:
        made.close()


def _answered(made: socket.socket) -> dict[str, Any]:
    raw = bytearray()
    while part := made.recv(2**16):
        raw += part
    head, _, body = bytes(raw).partition(b"\r\n\r\n")
    status = head.split(b" ", 2)[1:2]
    return _decoded(int(status[0]) if status and status[0].isdigit() else 0, body)


def ask_url(url: str, token: str, header: dict[str, Any], lines: bytes, timeout_s: float) -> dict[str, Any]:
    """Return what a server at an address answers. Raises DoorError; ValueError for an address or a token of no use."""
    import http.client
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError(f"{url}: give http://127.0.0.1:PORT or https://HOST")
    if parts.scheme == "http" and host not in _LOCAL:
        raise ValueError(f"{url}: over a network the token would be readable: use https://")
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(host, parts.port, timeout=timeout_s)
    headers = {"Content-Type": CONTENT_TYPE} | ({"Authorization": bearer(token)} if token else {})
    try:
        connection.request("POST", ROUTE, body_of(header, lines), headers)
        answer = connection.getresponse()
        return _decoded(answer.status, answer.read())
    except (OSError, http.client.HTTPException) as error:
        raise DoorError(f"no server answers at {url}: {str(error) or type(error).__name__}") from None
    finally:
        connection.close()


def _decoded(status: int, body: bytes) -> dict[str, Any]:
    try:
        said = as_object(json.loads(body))
    except ValueError:
        said = None
    if said is None:
        raise DoorError("the server broke off" if not status else f"the server answered {status}")
    if status != 200:
        hint = f" ({said['hint']})" if said.get("hint") else ""
        raise DoorError(f"{said.get('detail', f'the server answered {status}')}{hint}")
    return said
