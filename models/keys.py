"""Where the key of a language model comes from: the environment, or a file that only its owner reads."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

VARIABLE: Final = "BRAID_CHAT_KEY"
FILE_VARIABLE: Final = "BRAID_CHAT_KEY_FILE"
_MOST_BYTES: Final = 8_192


def key(environment: Mapping[str, str], *names: str) -> str | None:
    """Return the key that the environment holds under the first of `names` that is set, or in the file it names.

    None where there is neither. Raises ValueError for a file that others may read, and for what can't be a key; no
    message holds any of it.
    """
    for name in (*names, VARIABLE):
        if found := environment.get(name, "").strip():
            return _sound(found, name)
    if not (file := environment.get(FILE_VARIABLE)):
        return None
    return _sound(_read(Path(file)), file)


def _read(file: Path) -> str:
    """Return the first line of a file. What is opened is what is looked at: a link put there between is not read."""
    with file.open("rb") as opened:
        found = os.fstat(opened.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ValueError(f"{file} is no file; {FILE_VARIABLE} names the file that holds the key")
        if os.name == "posix" and stat.S_IMODE(found.st_mode) & 0o077:
            raise ValueError(f"{file} can be read by others, and holds a key: chmod 600 {file}")
        return opened.read(_MOST_BYTES).decode("utf-8", "replace").partition("\n")[0].strip()


def _sound(found: str, where: str) -> str:
    """Return a key that can stand in a header."""
    if not found or not found.isascii() or not found.isprintable() or " " in found:
        raise ValueError(f"{where} holds no key: one is a line of letters, digits and signs")
    return found
