"""Up to where an extractor that needs no model has read the log: a file that may be thrown away, one an extractor.

It spares reading again what lies between two signed outcomes. Without it that is read again, and keys keep what was
found from being recorded twice.
"""

import re
from contextlib import suppress
from pathlib import Path

import msgspec

from braid.wal.durable import make_folder, replace_file


class Cursor(msgspec.Struct):
    """Everything before `position` has been read."""

    position: int = 0


def path_of(folder: Path, method: str) -> Path:
    """Return the file of an extractor's cursor, beside `learned.json`."""
    return folder / f"extracted-{re.sub(r'[^A-Za-z0-9]+', '-', method)}.json"


def load(path: Path, size: int) -> Cursor:
    """Return a cursor; a new one where there is none, where it can't be read, or where the log is shorter."""
    with suppress(OSError, msgspec.MsgspecError):
        found = msgspec.json.decode(path.read_bytes(), type=Cursor)
        if found.position <= size:
            return found
    return Cursor()


def save(path: Path, cursor: Cursor) -> None:
    """Keep a cursor. If the process dies before, what was appended since is met again, and known by its key."""
    make_folder(path.parent)
    # Another process that shares the store may have renamed the new file away: its cursor does as well.
    with suppress(FileNotFoundError):
        replace_file(path, msgspec.json.encode(cursor), f"{path.stem}.write")
