"""Sockets stay in tools/ and models/.

import-linter holds the floors, but sees the standard library only by whole packages: it can't tell `urllib.parse`
from `urllib.request`. So this fence reads the imports itself.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MAY_CONNECT = {"client", "models", "tools"}
NOT_ROOMS = {"build", "dist", "docs", "examples", "tests"}

# A name stands for all below it.
CONNECTS = {
    "_socket", "aiohttp", "anthropic", "botocore", "boto3", "ftplib", "grpc", "http", "httpcore", "httpcore2", "httpx",
    "httpx2", "huggingface_hub", "imaplib", "multiprocessing.connection", "openai", "poplib", "pycurl", "requests",
    "smtplib", "socket", "socketserver", "ssl", "telnetlib", "urllib.request", "urllib3", "webbrowser",
    "websockets", "wsgiref", "xmlrpc",
}  # fmt: skip
# asyncio itself is welcome (an awaitable front door needs it); what opens a connection is not.
ASYNCIO_CONNECTS = {
    "open_connection", "open_unix_connection", "start_server", "start_unix_server", "create_connection",
    "create_datagram_endpoint", "create_server", "create_unix_connection", "create_unix_server",
    "StreamReader", "StreamWriter", "streams",
}  # fmt: skip


def imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Each line that imports and the dotted name it asks for, the late and the dynamic ones too."""
    for node in nodes:
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from ((node.lineno, f"{module}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield node.lineno, module


def breaches(source: str) -> list[str]:
    """What in a module reaches for a connection, as `line: name`."""
    nodes = list(ast.walk(ast.parse(source)))
    found = [
        (line, name)
        for line, name in imported(nodes)
        if any(f"{name}.".startswith(f"{banned}.") for banned in CONNECTS)
        or (name.startswith("asyncio.") and name.split(".")[1] in ASYNCIO_CONNECTS)
    ]
    found += [
        (node.lineno, f"….{node.attr}")
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr in ASYNCIO_CONNECTS
    ]
    return [f"{line}: {name}" for line, name in sorted(found)]


def fenced_modules() -> list[str]:
    """Every module of a room that may not connect, as a path from the root."""
    return sorted(
        path.relative_to(ROOT).as_posix()
        for room in ROOT.iterdir()
        if room.is_dir() and not room.name.startswith(".") and room.name not in MAY_CONNECT | NOT_ROOMS
        if not (room / "pyvenv.cfg").exists()
        for path in room.rglob("*.py")
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize("module", fenced_modules())
def test_only_tools_and_models_connect(module: str) -> None:
    assert breaches((ROOT / module).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "import socket",
        "import http.client as h",
        "from urllib import request",
        "from urllib.request import urlopen",
        "def late():\n    import requests",
        "import importlib\nimportlib.import_module('httpx')",
        "def late():\n    import httpx2",
        "from httpcore2 import ConnectionPool",
        "__import__('ssl')",
        "from asyncio import open_connection",
        "import asyncio\nasyncio.start_server(None)",
        "async def f(loop):\n    await loop.create_connection(None)",
    ],
)
def test_the_fence_sees_a_connection(source: str) -> None:
    assert breaches(source) != []


@pytest.mark.parametrize(
    "source",
    ["from urllib.parse import quote", "import asyncio\nasyncio.to_thread(print)", "import https_notes"],
)
def test_the_fence_lets_the_rest_pass(source: str) -> None:
    assert breaches(source) == []
