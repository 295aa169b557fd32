"""Up to where an extractor has read the log, and which turns wait: a file that may be thrown away, one an extractor.

Without it the log is read from its beginning; keys keep what was found from being recorded twice. A model is then asked
again of turns in which it had found nothing.
"""

import re
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from braid.wal.durable import make_folder, replace_file

RUNS: Final = 3
"""So many runs of the extractor try a turn that its model fails at; then it is given up (`000_` §3)."""


class Cursor(msgspec.Struct):
    """`waiting`: turns before `position` that are still to be read; `tries`: how often each of them has failed."""

    position: int = 0
    waiting: list[int] = []
    tries: dict[int, int] = {}
    dead: list[int] = []
    """The turns that were given up."""

    def failed(self, index: int) -> bool:
        """Note that a turn could not be read; return whether it is given up."""
        self.tries[index] = self.tries.get(index, 0) + 1
        if self.tries[index] < RUNS:
            return False
        del self.tries[index]
        self.dead.append(index)
        return True


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
