"""A transcript that grows: what is new in it since it was last read, whole lines alone. Standard library alone."""

import os
from pathlib import Path
from typing import Final
from zlib import crc32

from braid.tools.hooks.state import SessionState

PIECE: Final = 2 * 2**20
"""How many bytes are read at a call; what is left is read at the next."""
LONGEST: Final = 12 * 2**20
"""A line that is longer is passed over, and told."""
_BEFORE: Final = 1024
"""So many bytes before the place are looked at again: they say whether this is still the file that was read."""


class Piece:
    """What is new in a transcript. `line`: the number of its first line, from 0; `note`: what a person should know."""

    def __init__(self, lines: bytes, line: int, note: str | None) -> None:
        self.lines = lines
        self.line = line
        self.note = note


def size_of(state: SessionState) -> int | None:
    """Return how long a session's transcript is, in bytes; None where there is none."""
    if not state.transcript:
        return None  # its path would be the folder's
    try:
        return Path(state.transcript).stat().st_size
    except OSError:
        return None


def read(state: SessionState) -> Piece:
    """Return what is new in a session's transcript, and move its state behind that. OSError is left alone.

    A file that was cut or written anew is read from its beginning: each turn has its key, so none is recorded twice.
    """
    descriptor = os.open(state.transcript, os.O_RDONLY | os.O_CLOEXEC)
    try:
        note = None
        if not _is_same(descriptor, state):
            state.offset = state.line = 0
            state.calls = {}
            note = f"{state.transcript} was rewritten: it was read again from its beginning"
        first, lines = state.line, _lines(descriptor, state.offset)
        end = state.offset + len(lines)
        passed = 0
        if not lines and (end := _end_of_line(descriptor, state.offset)) > state.offset:
            note = f"{state.transcript}:{state.line + 1} is longer than {LONGEST} bytes and was passed over"
            passed = 1
        state.line += lines.count(b"\n") + passed
        state.offset = end
        state.mark = crc32(_before(descriptor, end))
        return Piece(lines, first, note)
    finally:
        os.close(descriptor)


def _is_same(descriptor: int, state: SessionState) -> bool:
    """Whether a file still has what was read of it."""
    if state.offset == 0:
        return True
    return (
        os.fstat(descriptor).st_size >= state.offset
        and crc32(_before(descriptor, state.offset)) == state.mark
    )


def _before(descriptor: int, offset: int) -> bytes:
    start = max(0, offset - _BEFORE)
    return os.pread(descriptor, offset - start, start)


def _lines(descriptor: int, offset: int) -> bytes:
    """Return whole lines from a place on: a piece of them, or one that is longer; nothing where none is whole."""
    data = os.pread(descriptor, PIECE, offset)
    end = data.rfind(b"\n") + 1
    if not end and len(data) == PIECE:
        data += os.pread(descriptor, LONGEST - PIECE, offset + PIECE)
        end = data.find(b"\n") + 1
    return data[:end]


def _end_of_line(descriptor: int, offset: int) -> int:
    """Return where a line ends that is too long to be taken; its beginning where it isn't whole yet, or short."""
    at = offset
    while data := os.pread(descriptor, PIECE, at):
        found = data.find(b"\n")
        if found >= 0:
            return at + found + 1
        at += len(data)
    return offset
