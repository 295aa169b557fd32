"""`stance/` and `text/` are pure: no files, no sockets, no clock, no chance, and nothing of affect."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PURE = ("stance", "text")
MAY_IMPORT = {
    "collections", "dataclasses", "datetime", "decimal", "enum", "functools", "hashlib", "itertools", "math", "re",
    "typing", "unicodedata", "msgspec", "numpy", "Stemmer", "bisect", "heapq",
    "operator", "array", "contextlib", "dateutil",
}  # fmt: skip
BENEATH = (
    "braid.ledger.record.record",
    "braid.ledger.errors",
    "braid.ledger.record.envelope",
    "braid.ledger.record.ids",
    "braid.ledger.record.scope",
    "braid.ledger.record.source",
)
"""What of the ledger is values alone."""
CALLS = {"open", "input", "print", "exec", "eval", "__import__", "breakpoint"}
CLOCKS = {"now", "utcnow", "today"}


def impurities(source: str) -> Iterator[str]:
    """What a module reaches for beyond values."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (f"imports {alias.name}" for alias in node.names if not _is_pure(alias.name))
        elif isinstance(node, ast.ImportFrom) and not _is_pure(node.module or "."):
            yield f"imports {node.module}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            yield f"calls {node.func.id}"
        elif isinstance(node, ast.Attribute) and node.attr in CLOCKS:
            yield f"asks the clock: {node.attr}"


def _is_pure(module: str) -> bool:
    room = any(module == f"braid.{pure}" or module.startswith(f"braid.{pure}.") for pure in PURE)
    return room or module in BENEATH or module.partition(".")[0] in MAY_IMPORT


@pytest.mark.parametrize(
    "path", sorted(path for room in PURE for path in (ROOT / room).rglob("*.py")), ids=lambda path: path.name
)
def test_it_is_pure(path: Path) -> None:
    assert list(impurities(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "import os", "from pathlib import Path", "import socket", "from time import time", "import random",
        "import secrets", "from braid.affect import words", "from braid.ledger.read.reader import Reader", "open('x')",
        "from datetime import datetime\ndatetime.now()", "def late():\n    import subprocess",
    ],
)  # fmt: skip
def test_the_fence_sees_it(source: str) -> None:
    assert list(impurities(source))
