"""Proof files (C2SP tlog-proof, `c2sp.org/tlog-proof@v1`): the inclusion of a leaf under a signed checkpoint.

Such a file (`*.tlog-proof`) needs nothing but the record and the log's verifier key to be checked offline. It
states index and hashes; size and root come from the checkpoint, leaf and key from whoever checks.
"""

import re
from collections.abc import Collection, Sequence

import msgspec

from braid.ledger.errors import ProofError
from braid.ledger.tree.checkpoint import MAX_SIZE, Checkpoint, open_checkpoint
from braid.ledger.tree.merkle import HASH_BYTES, check_inclusion
from braid.ledger.tree.note import MAX_NOTE_BYTES, SignedNote, VerifierKey, from_base64, to_base64

MAX_HASHES = 63
MAX_PROOF_BYTES = 2 * MAX_NOTE_BYTES
_HEADER = "c2sp.org/tlog-proof@v1"
_INDEX = re.compile(r"index (0|[1-9][0-9]{0,18})")


class Proof(msgspec.Struct, frozen=True):
    """What a proof file says: leaf index, hashes from the leaf up, checkpoint note, unauthenticated extra."""

    index: int
    hashes: tuple[bytes, ...]
    checkpoint: bytes
    extra: bytes | None = None


class Proven(msgspec.Struct, frozen=True):
    """A proof that holds: the leaf's index, the checkpoint that includes it, and its note with signatures."""

    index: int
    checkpoint: Checkpoint
    note: SignedNote


def format_proof(index: int, hashes: Sequence[bytes], checkpoint: bytes, extra: bytes | None = None) -> bytes:
    """Return the proof file of a leaf; ProofError for what `parse_proof` would refuse."""
    lines = [_HEADER]
    if extra is not None:
        lines.append(f"extra {to_base64(extra)}")
    lines += [f"index {index}", *map(to_base64, hashes), "", ""]
    proof = "\n".join(lines).encode() + checkpoint
    if parse_proof(proof) != Proof(index, tuple(hashes), checkpoint, extra):
        raise ProofError("the proof can't be stated")
    return proof


def parse_proof(proof: bytes) -> Proof:
    """Return what a proof file says, not verified; ProofError where it isn't well-formed (tlog-proof)."""
    if len(proof) > MAX_PROOF_BYTES:
        raise ProofError(f"the proof has {len(proof)} bytes, more than {MAX_PROOF_BYTES}")
    head, gap, checkpoint = proof.partition(b"\n\n")
    if not gap or not checkpoint:
        raise ProofError("the proof has no checkpoint after an empty line")
    lines = head.decode("ascii", "replace").split("\n")
    if lines.pop(0) != _HEADER:
        raise ProofError(f"the proof doesn't begin with {_HEADER}")
    extra = None
    if lines and lines[0].startswith("extra "):
        extra = _from_base64(lines.pop(0).removeprefix("extra "))
    index = _index(lines.pop(0) if lines else "")
    if len(lines) > MAX_HASHES:
        raise ProofError(f"the proof has {len(lines)} hashes, more than {MAX_HASHES}")
    return Proof(index, tuple(map(_hash, lines)), checkpoint, extra)


def check_proof(
    proof: bytes, leaf: bytes, log_key: VerifierKey, cosigners: Collection[VerifierKey] = ()
) -> Proven:
    """Return what `proof` shows of the leaf hash `leaf` in the log whose key, named like it, is `log_key`.

    Raises ProofError where the proof is malformed or doesn't lead to the checkpoint's root, NoteError where
    the checkpoint isn't the log's or a trusted key's signature is wrong. `note.verified` has cosignatures too.
    """
    read = parse_proof(proof)
    checkpoint, note = open_checkpoint(read.checkpoint, [log_key, *cosigners], log_key.name)
    check_inclusion(read.index, checkpoint.size, leaf, read.hashes, checkpoint.root)
    return Proven(read.index, checkpoint, note)


def _index(line: str) -> int:
    match = _INDEX.fullmatch(line)
    if not match or int(match[1]) >= MAX_SIZE:
        raise ProofError(f"not an index line: {line!r}")
    return int(match[1])


def _hash(line: str) -> bytes:
    data = _from_base64(line)
    if len(data) != HASH_BYTES:
        raise ProofError(f"a hash of the proof has {HASH_BYTES} bytes, not {len(data)}")
    return data


def _from_base64(text: str) -> bytes:
    data = from_base64(text)
    if data is None:
        raise ProofError(f"not canonical base64 in the proof: {text[:80]!r}")
    return data
