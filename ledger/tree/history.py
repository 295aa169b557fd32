"""The history of published heads, `checkpoints`: evidence for auditors, which nothing is derived from (SPEC §5.4)."""

import re
from collections.abc import Collection
from contextlib import suppress

from braid.ledger.errors import NoteError
from braid.ledger.tree.checkpoint import open_checkpoint
from braid.ledger.tree.note import VerifierKey

_TEXT_AND_SIGNATURES = rb"%b\n(?:(?![^\n]*%b\n)[^\n]+\n)+\n(?:\xe2\x80\x94 [^\n]+\n)+"


def signed_heads(data: bytes, keys: Collection[VerifierKey], origin: str) -> dict[bytes, int]:
    """Return the notes in `data` that a key of the log signed, each once and in order, with the sizes they state.

    A note is looked for wherever the log's name ends a line, not where the last one ends: harm to one hides no other.
    """
    name = re.escape(origin.encode())
    heads: dict[bytes, int] = {}
    for found in re.finditer(_TEXT_AND_SIGNATURES % (name, name), data):
        with suppress(NoteError):
            heads[found[0]] = open_checkpoint(found[0], keys, origin)[0].size
    return heads


def join_heads(notes: Collection[bytes]) -> bytes:
    """Return the bytes of a history: each note is followed by an empty line."""
    return b"".join(note + b"\n" for note in notes)
