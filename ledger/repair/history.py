"""Harm to the history of published heads, and setting it aside (SPEC §12).

The file is evidence: what can't be derived from anything is kept under another name, and never deleted.
"""

from collections.abc import Collection, Iterator
from itertools import count
from pathlib import Path

from braid.ledger.audit.heads import split_history
from braid.ledger.errors import NoteError
from braid.ledger.repair.condition import Problem
from braid.ledger.tree.checkpoint import open_checkpoint
from braid.ledger.tree.history import join_heads, signed_heads
from braid.ledger.tree.note import VerifierKey
from braid.wal.durable import create_file, replace_file
from braid.wal.errors import ObstructedError
from braid.wal.regular import GROWING_BYTES, read_regular

_NAME = "checkpoints"


def history_problems(store: Path, keys: Collection[VerifierKey], origin: str) -> Iterator[Problem]:
    """Yield what `verify` would find in the history's own bytes: whether a head fits the log is for that to say."""
    try:
        data = read_regular(store / _NAME, GROWING_BYTES)
    except FileNotFoundError:
        return
    except ObstructedError as error:
        yield Problem(
            "history", f"{_NAME}: {error.found} stands where {error.wanted} belongs", "move it away"
        )
        return
    harmed = _harmed(data, keys, origin)
    if harmed:
        offset, why = harmed[0]
        more = f" (and {len(harmed) - 1} more)" if len(harmed) > 1 else ""
        yield Problem(
            "history",
            f"{_NAME}, offset {offset}: {why}{more}. The file is evidence of earlier heads: no memory depends on it",
            "braid doctor --fix keeps the file under another name, and goes on with the heads in it that are whole",
            True,
        )


def set_aside(store: Path, keys: Collection[VerifierKey], origin: str) -> str:
    """Keep a harmed history under a name of its own, go on with the heads in it that are signed, and say what is lost.

    Dying in between leaves the copy beside the harmed file, and the next repair makes another.
    """
    data = read_regular(store / _NAME, GROWING_BYTES)
    lost = len(_harmed(data, keys, origin))
    heads = signed_heads(data, keys, origin)
    aside = next(path for n in count(1) if not (path := store / f"{_NAME}.damaged-{n}").exists())
    create_file(aside, data, "history.aside")
    replace_file(store / _NAME, join_heads(heads), "history.write")
    return (
        f"history: the file is kept as {aside.name}; {len(heads)} signed heads go on in {_NAME}, "
        f"{lost} harmed {'entry is' if lost == 1 else 'entries are'} in {aside.name} alone"
    )


def _harmed(data: bytes, keys: Collection[VerifierKey], origin: str) -> list[tuple[int, str]]:
    """Return offset and fault of each entry that no key of the log signed, but for one that a crash left unfinished."""
    harmed: list[tuple[int, str]] = []
    for offset, note, last in split_history(data):
        try:
            open_checkpoint(note, keys, origin)
        except NoteError as error:
            if not last:
                harmed.append((offset, str(error)))
    return harmed
