"""Lines of a stream within a limit: a longer one is read away in small pieces, never held."""

from collections.abc import Iterator
from typing import BinaryIO

from braid.tools.importers.source import BOM

MAX_LINE_BYTES = 32 * 2**20
_SKIP_BYTES = 2**16


def lines(stream: BinaryIO, limit: int = MAX_LINE_BYTES) -> Iterator[tuple[int, bytes | None]]:
    """Numbered lines without their ends, from 1; None for one over the limit."""
    number = 0
    while piece := stream.readline(limit + 2):  # room for CR LF after a line of just the limit
        number += 1
        ended = piece.endswith(b"\n")
        line = piece.removesuffix(b"\n").removesuffix(b"\r") if ended else piece
        if number == 1:
            line = line.removeprefix(BOM)
        if len(line) <= limit:
            yield number, line
            continue
        while not ended and (rest := stream.readline(_SKIP_BYTES)):
            ended = rest.endswith(b"\n")
        yield number, None
