"""Checkpoints (C2SP tlog-checkpoint v1.0.0): a log's signed statement of its size and root.

The text has three lines: origin, size, root in base64. Extension lines may follow; Braid writes none. It is
signed as a note by the log's Ed25519 key, whose name is the origin.
"""

import re
from collections.abc import Collection, Sequence

import msgspec

from braid.ledger.errors import NoteError
from braid.ledger.tree.merkle import EMPTY_ROOT, HASH_BYTES
from braid.ledger.tree.note import (
    ED25519,
    SignedNote,
    SigningKey,
    VerifierKey,
    from_base64,
    open_note,
    sign_note,
    to_base64,
)

MAX_SIZE = 2**63 - 1
_SIZE = re.compile(r"0|[1-9][0-9]{0,18}")


class Checkpoint(msgspec.Struct, frozen=True):
    """What a checkpoint says: origin of the log, number of leaves, root, extension lines (as a rule none)."""

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()


def format_checkpoint(checkpoint: Checkpoint) -> str:
    """Return the text of a checkpoint; NoteError for what `parse_checkpoint` would refuse."""
    root = to_base64(checkpoint.root)
    text = "".join(f"{line}\n" for line in (checkpoint.origin, checkpoint.size, root, *checkpoint.extensions))
    if parse_checkpoint(text) != checkpoint:
        raise NoteError("a line of the checkpoint has a newline in it")
    return text


def parse_checkpoint(text: str, *, any_empty_root: bool = False) -> Checkpoint:
    """Return what a checkpoint's text states, not verified; NoteError where it isn't well-formed.

    With `any_empty_root` the root of size 0 is the caller's to judge: a witness has an answer of its own for it.
    """
    origin, size, root, *extensions = _lines(text)
    if not origin:
        raise NoteError("the checkpoint has no origin")
    if not _SIZE.fullmatch(size) or int(size) > MAX_SIZE:
        raise NoteError(f"not the size of a tree: {size!r}")
    if not all(extensions):
        raise NoteError("the checkpoint has an empty extension line")
    checkpoint = Checkpoint(origin, int(size), _root(root), tuple(extensions))
    if checkpoint.size == 0 and checkpoint.root != EMPTY_ROOT and not any_empty_root:
        raise NoteError("the checkpoint of size 0 hasn't the root of the empty tree")
    return checkpoint


def sign_checkpoint(checkpoint: Checkpoint, signers: Sequence[SigningKey]) -> bytes:
    """Return the note that states `checkpoint`, signed by each key; more than one while keys are changed.

    Raises ValueError for no key, or one that isn't Ed25519 or isn't named after the origin; NoteError for a
    checkpoint that can't be stated. The caller makes sure that it is consistent with all it ever signed.
    """
    if any(signer.name != checkpoint.origin for signer in signers):
        raise ValueError(f"a checkpoint of {checkpoint.origin!r} is signed by keys of that name")
    return sign_note(format_checkpoint(checkpoint), signers)


def open_checkpoint(note: bytes, keys: Collection[VerifierKey], origin: str) -> tuple[Checkpoint, SignedNote]:
    """Return the checkpoint of the log `origin` if a trusted key of the log signed it, and the opened note.

    `keys` are the log's, named after `origin`, and those of trusted cosigners, who alone aren't enough.
    Raises NoteError otherwise, ValueError where `keys` contradict each other.
    """
    opened = open_note(note, keys)
    checkpoint = parse_checkpoint(opened.text)
    if checkpoint.origin != origin:
        raise NoteError(f"the checkpoint is of the log {checkpoint.origin!r}, not of {origin!r}")
    log_keys = {key.id for key in keys if key.name == origin and key.type == ED25519}
    if not any(signature.name == origin and signature.id in log_keys for signature in opened.verified):
        raise NoteError(f"no trusted key of the log {origin!r} signed the checkpoint")
    return checkpoint, opened


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if len(lines) < 4 or lines.pop():
        raise NoteError("a checkpoint has an origin, a size and a root, each on its line")
    return lines


def _root(text: str) -> bytes:
    root = from_base64(text)
    if root is None or len(root) != HASH_BYTES:
        raise NoteError(f"not a root of {HASH_BYTES} bytes in canonical base64: {text!r}")
    return root
