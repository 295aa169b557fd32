"""One proof for many records: RFC 6962 inclusion, shared nodes left out, and the file that carries it (SPEC §5.5).

Level by level, leaves first, a node whose sibling is known already needs no hash; of all others the sibling's hash is
in the proof, from left to right. So the order is fixed by the indexes and the size alone, and nothing says which node
a hash belongs to. The file has the records' envelopes, the hashes and the signed head: it is checked offline. Pure.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec

from braid.ledger.errors import ProofError
from braid.ledger.record.envelope import check_structure, decode_payload, unwrap
from braid.ledger.tree.checkpoint import MAX_SIZE, Checkpoint, open_checkpoint
from braid.ledger.tree.merkle import HASH_BYTES, SubtreeHash, leaf_hash, node_hash, range_root
from braid.ledger.tree.note import SignedNote, VerifierKey, from_base64, to_base64

MAX_MULTIPROOF_BYTES = 256 << 20
MAX_LEAVES = 100_000
HEADER = "braid/multi-proof@v1"
_LEAF = re.compile(r"leaf (0|[1-9][0-9]{0,18}) ([A-Za-z0-9+/=]+)")


class MultiProof(msgspec.Struct, frozen=True):
    """What the file says: stored envelopes by index, rising; hashes in the order of their use; the head's note."""

    leaves: tuple[tuple[int, bytes], ...]
    hashes: tuple[bytes, ...]
    checkpoint: bytes


class ProvenMany(msgspec.Struct, frozen=True):
    """A multi-proof that holds: ids of its records by index, the head that includes them, its note with signatures."""

    ids: dict[int, str]
    checkpoint: Checkpoint
    note: SignedNote


def prove_inclusions(indexes: Collection[int], size: int, subtree: SubtreeHash) -> list[bytes]:
    """Return the hashes that, with the leaves at `indexes`, give the root of `size` leaves; IndexError outside it."""
    row = sorted(set(indexes))
    if row and not 0 <= row[0] <= row[-1] < size:
        raise IndexError(f"leaf {row[-1] if row[0] >= 0 else row[0]} isn't in a tree of {size}")
    hashes: list[bytes] = []
    level, width = 0, size
    while row and width > 1:
        above: list[int] = []
        last = -1
        for place, node in enumerate(row):
            sibling = node ^ 1
            if sibling == last:
                continue  # the pair went up with its left half
            last = node
            above.append(node >> 1)
            if sibling == width or (place + 1 < len(row) and row[place + 1] == sibling):
                continue  # the last of an odd row has no sibling; one that is known needs no hash
            hashes.append(_node(level, sibling, size, subtree))
        row, level, width = above, level + 1, (width + 1) >> 1
    return hashes


def _node(level: int, index: int, size: int, subtree: SubtreeHash) -> bytes:
    """Return the hash of a node of the row `level`, the last of which may stand over fewer leaves."""
    if (index + 1) << level <= size:
        return subtree(level, index)
    return range_root(index << level, size, subtree)


def check_inclusions(leaves: Mapping[int, bytes], size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Return if `proof` and the leaf hashes by index lead to `root` of `size` leaves; raise ProofError otherwise."""
    if not leaves:
        raise ProofError("a multi-proof of no record shows nothing")
    if any(len(given) != HASH_BYTES for given in (root, *leaves.values(), *proof)):
        raise ProofError(f"a hash has {HASH_BYTES} bytes")
    if not 0 <= min(leaves) <= max(leaves) < size:
        raise ProofError(f"a leaf of the proof isn't in a tree of {size}")
    row = sorted(leaves.items())
    left = iter(proof)
    width = size
    while width > 1:
        row = _climb(row, width, left, len(proof))
        width = (width + 1) >> 1
    if next(left, None) is not None:
        raise ProofError(f"the multi-proof has {len(proof)} hashes, more than its records need")
    if row[0][1] != root:
        raise ProofError(f"the multi-proof leads to {row[0][1].hex()}, the root is {root.hex()}")


def _climb(
    row: list[tuple[int, bytes]], width: int, left: Iterator[bytes], total: int
) -> list[tuple[int, bytes]]:
    """Return the known nodes of the row above, taking siblings that aren't known from `left`."""
    above: list[tuple[int, bytes]] = []
    place = 0
    while place < len(row):
        node, seen = row[place]
        place += 1
        sibling = node ^ 1
        if sibling == width:
            above.append((node >> 1, seen))
            continue
        if place < len(row) and row[place][0] == sibling:
            other = row[place][1]
            place += 1
        elif (given := next(left, None)) is not None:
            other = given
        else:
            raise ProofError(f"the multi-proof has {total} hashes, fewer than its records need")
        above.append((node >> 1, node_hash(other, seen) if node & 1 else node_hash(seen, other)))
    return above


def format_multiproof(proof: MultiProof) -> bytes:
    """Return the file of a proof; ProofError for what `parse_multiproof` would refuse."""
    lines = [HEADER, *(f"leaf {index} {to_base64(envelope)}" for index, envelope in proof.leaves)]
    lines += [*map(to_base64, proof.hashes), "", ""]
    data = "\n".join(lines).encode() + proof.checkpoint
    if not proof.leaves or len(proof.leaves) > MAX_LEAVES or len(data) > MAX_MULTIPROOF_BYTES:
        raise ProofError(f"a multi-proof is of 1 to {MAX_LEAVES:,} records; ask for several")
    return data


def is_multiproof(data: bytes) -> bool:
    """Whether a file begins as a multi-proof does."""
    return data.startswith(f"{HEADER}\n".encode())


def parse_multiproof(data: bytes) -> MultiProof:
    """Return what a multi-proof says, not verified; ProofError where it isn't well-formed."""
    if len(data) > MAX_MULTIPROOF_BYTES:
        raise ProofError(f"the multi-proof has {len(data)} bytes, more than {MAX_MULTIPROOF_BYTES}")
    head, gap, checkpoint = data.partition(b"\n\n")
    if not gap or not checkpoint:
        raise ProofError("the multi-proof has no checkpoint after an empty line")
    lines = head.decode("ascii", "replace").split("\n")
    if lines.pop(0) != HEADER:
        raise ProofError(f"the multi-proof doesn't begin with {HEADER}")
    count = next((at for at, line in enumerate(lines) if not line.startswith("leaf ")), len(lines))
    leaves = tuple(map(_leaf, lines[:count]))
    indexes = [index for index, _ in leaves]
    if not leaves or count > MAX_LEAVES or any(a >= b for a, b in pairwise(indexes)):
        raise ProofError(f"a multi-proof names 1 to {MAX_LEAVES:,} records, by rising index")
    return MultiProof(leaves, tuple(map(_hash, lines[count:])), checkpoint)


def check_multiproof(
    data: bytes, log_key: VerifierKey, cosigners: Collection[VerifierKey] = ()
) -> ProvenMany:
    """Return what a multi-proof shows in the log whose key, named like it, is `log_key`.

    Raises ProofError where it is malformed or doesn't lead to the checkpoint's root, NoteError where the checkpoint
    isn't the log's, EnvelopeError for an envelope that is none of this log, or stands elsewhere.
    """
    read = parse_multiproof(data)
    checkpoint, note = open_checkpoint(read.checkpoint, [log_key, *cosigners], log_key.name)
    leaves = {index: leaf_hash(envelope) for index, envelope in read.leaves}
    check_inclusions(leaves, checkpoint.size, read.hashes, checkpoint.root)
    ids: dict[int, str] = {}
    for index, stored in read.leaves:
        envelope = decode_payload(unwrap(stored).payload)
        check_structure(envelope, checkpoint.origin)
        if envelope.index != index:
            raise ProofError(f"a record says that it stands at {envelope.index}, the proof has it at {index}")
        ids[index] = envelope.id
    return ProvenMany(ids, checkpoint, note)


def _leaf(line: str) -> tuple[int, bytes]:
    match = _LEAF.fullmatch(line)
    if not match or int(match[1]) >= MAX_SIZE:
        raise ProofError(f"not a leaf line: {line[:80]!r}")
    return int(match[1]), _from_base64(match[2])


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
