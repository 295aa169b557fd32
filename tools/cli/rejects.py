"""Lines that were left out: the first are told on stderr as they come, and where there are more, all are in a file."""

import os
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from typing import Final, NamedTuple, Self, TextIO

from braid.tools.cli.output import line, say

TOLD: Final = 10
"""How many are told one by one."""
LISTED: Final = 1_000
"""How many a report for programs lists."""


class Skipped(NamedTuple):
    """A line that was left out."""

    place: str
    reason: str


class Skips:
    """Counts the lines that are left out, and tells of them.

    The file is made with the eleventh, in the folder for temporary files, readable by its owner alone. Where it can't
    be written, that is told, and counting goes on without it.
    """

    def __init__(self) -> None:
        self.count = 0
        self.listed: list[Skipped] = []
        self.path: str | None = None
        """The file that holds all of them, one a line; None where none is needed, or none could be written."""
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def tell(self, place: str, reason: str) -> None:
        """Note a line that was left out."""
        self.count += 1
        one = Skipped(place, reason)
        if self.count <= TOLD:
            say(f"{place}: {reason}")
        elif self.count == TOLD + 1:
            self._begin()
        if len(self.listed) < LISTED:
            self.listed.append(one)
        self._write(one)

    def where(self) -> str:
        """Return, to stand behind the count, where all are told; nothing where that is above."""
        return f"; all of them are in {self.path}" if self.path else ""

    def flush(self) -> None:
        """Bring what was noted into the file."""
        if self._file:
            try:
                self._file.flush()
            except OSError as error:
                self._lose(error)

    def close(self) -> None:
        """Close the file, which stays."""
        self.flush()
        if self._file:
            self._file.close()
            self._file = None

    def _begin(self) -> None:
        try:
            descriptor, self.path = mkstemp(".txt", "braid-skipped-")  # 0600
        except OSError as error:
            self._lose(error)
            return
        self._file = os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace")
        say(f"more are left out: all of them go to {self.path}")
        for one in self.listed:
            self._write(one)

    def _write(self, one: Skipped) -> None:
        if self._file:
            try:
                self._file.write(f"{line(one.place)}: {line(one.reason)}\n")
            except OSError as error:
                self._lose(error)

    def _lose(self, error: OSError) -> None:
        """Go on without the file: a full disk for reports must not end the taking in."""
        say(f"the lines that are left out can't be written down: {error.strerror or error}")
        file, path = self._file, self.path
        self._file = self.path = None
        with suppress(OSError):
            if file:
                file.close()
        with suppress(OSError):
            if path:
                Path(path).unlink()
