"""Where a store's server is asked on this machine. Standard library alone: short-lived programs begin here."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

SOCKET: Final = "serve.sock"
"""The socket of a server, in its store's folder."""
_LONGEST: Final = 100
"""Bytes that a socket's path may have on every system."""


@contextmanager
def short_path(path: Path) -> Generator[str]:
    """Yield a name for a socket that the system takes: a path of it may have some hundred bytes at most."""
    if len(os.fsencode(path)) < _LONGEST:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
