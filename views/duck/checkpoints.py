"""Reading the store's history of published checkpoints: evidence that is shown, never trusted (SPEC §10.3)."""

import re
from pathlib import Path

from braid.views.values import Row

_NOTE = re.compile(r"[^\n]+\n(0|[1-9][0-9]{0,17})\n([A-Za-z0-9+/]{43}=)\n(?:[^\n]+\n)*\n(?:— [^\n]+\n)+")


def read_history(path: Path, seen: int, until: int | None = None) -> tuple[list[Row], int]:
    """Return the rows of the notes from byte `seen` on, up to byte `until`, and the byte behind the last whole one."""
    try:
        with path.open("rb") as file:
            if seen:
                file.seek(seen)
            raw = file.read(-1 if until is None else max(until - seen, 0))
    except FileNotFoundError:
        return [], seen
    rows: list[Row] = []
    end = 0
    text = raw.decode("utf-8", "surrogateescape")
    for found in _NOTE.finditer(text):
        size = int(found[1])
        note = found[0].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        rows.append((size - 1, None, size, found[2], note))
        end = found.end()
    return rows, seen + len(text[:end].encode("utf-8", "surrogateescape"))
