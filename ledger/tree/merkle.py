"""The Merkle tree of RFC 6962 / RFC 9162: hashes, and proofs of inclusion and of consistency.

A hash is 32 bytes of SHA-256. A proof is the list of hashes that RFC 9162 §2.1.3 and §2.1.4 name, leaf side
first. Provers ask for perfect subtrees only, so that they run on tiles as well as on a list in memory.
Checkers are given all but the hashes of the proof: sizes, index, leaf and roots are the verifier's own.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

from braid.ledger.errors import ProofError

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()

SubtreeHash = Callable[[int, int], bytes]
"""`(level, index)` to the hash of the perfect subtree of leaves [index << level, (index + 1) << level)."""


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of the leaf that holds `data` (RFC 6962 §2.1)."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of the node above two hashes (RFC 6962 §2.1)."""
    return sha256(b"\x01" + left + right).digest()


_LEAF, _NODE = sha256(b"\x00"), sha256(b"\x01")
"""The hashes with their first byte taken in: to go on from a copy costs a quarter less than to begin again."""


def leaf_hashes(entries: Iterable[bytes]) -> list[bytes]:
    """Return the hash of each leaf: `leaf_hash` of many."""
    start = _LEAF.copy
    hashes: list[bytes] = []
    for entry in entries:
        leaf = start()
        leaf.update(entry)
        hashes.append(leaf.digest())
    return hashes


def row_above(row: bytes) -> bytes:
    """Return the hashes above a row of pairs, both back to back: `node_hash` of many."""
    start = _NODE.copy
    hashes: list[bytes] = []
    for at in range(0, len(row), 2 * HASH_BYTES):
        node = start()
        node.update(row[at : at + 2 * HASH_BYTES])
        hashes.append(node.digest())
    return b"".join(hashes)


def root_of(leaf_hashes: Sequence[bytes]) -> bytes:
    """Return the root of the tree over `leaf_hashes`; `EMPTY_ROOT` for none (RFC 6962 §2.1)."""
    row = list(leaf_hashes)
    while len(row) > 1:
        # The last of an odd row goes up unchanged: the same tree as splitting at the largest power of two.
        odd = row[-1:] if len(row) % 2 else []
        row = [node_hash(left, right) for left, right in zip(row[::2], row[1::2], strict=False)] + odd
    return row[0] if row else EMPTY_ROOT


def subtrees_of(leaf_hashes: Sequence[bytes]) -> SubtreeHash:
    """Return a getter of perfect subtrees over leaf hashes in memory; it raises IndexError beyond them."""

    def subtree(level: int, index: int) -> bytes:
        start, end = index << level, (index + 1) << level
        if start < 0 or end > len(leaf_hashes):
            raise IndexError(f"subtree ({level}, {index}) reaches beyond {len(leaf_hashes)} leaves")
        return root_of(leaf_hashes[start:end])

    return subtree


def range_root(start: int, end: int, subtree: SubtreeHash) -> bytes:
    """Return MTH(D[start:end]) for the range of a node (RFC 6962 §2.1).

    `start` must be a multiple of the least power of two that isn't below `end - start`.
    """
    perfect: list[bytes] = []
    while start < end:
        level = (end - start).bit_length() - 1
        perfect.append(subtree(level, start >> level))
        start += 1 << level
    if not perfect:
        return EMPTY_ROOT
    root = perfect.pop()
    while perfect:
        root = node_hash(perfect.pop(), root)
    return root


def inclusion_ranges(index: int, size: int) -> list[tuple[int, int]]:
    """Return the leaf ranges whose hashes are the proof of leaf `index` in `size` leaves (RFC 9162 §2.1.3.1).

    Raises IndexError unless 0 <= index < size.
    """
    if not 0 <= index < size:
        raise IndexError(f"leaf {index} isn't in a tree of {size}")
    ranges: list[tuple[int, int]] = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            ranges.append((middle, end))
            end = middle
        else:
            ranges.append((start, middle))
            start = middle
    return ranges[::-1]


def consistency_ranges(old_size: int, size: int) -> list[tuple[int, int]]:
    """Return the leaf ranges whose hashes prove that one tree begins another (RFC 9162 §2.1.4.1).

    Raises ValueError unless 0 < old_size <= size: the empty tree begins every tree, which proves nothing.
    """
    if not 0 < old_size <= size:
        raise ValueError(f"no consistency proof leads from size {old_size} to {size}")
    ranges: list[tuple[int, int]] = []
    start, end = 0, size
    while old_size != end:
        middle = start + _split(end - start)
        if old_size <= middle:
            ranges.append((middle, end))
            end = middle
        else:
            ranges.append((start, middle))
            start = middle
    if start:  # At 0 the verifier's own old root is the hash of this range.
        ranges.append((start, end))
    return ranges[::-1]


def prove_inclusion(index: int, size: int, subtree: SubtreeHash) -> list[bytes]:
    """Return the proof that leaf `index` is in the tree of `size` (RFC 9162 §2.1.3.1), else IndexError."""
    return [range_root(start, end, subtree) for start, end in inclusion_ranges(index, size)]


def prove_consistency(old_size: int, size: int, subtree: SubtreeHash) -> list[bytes]:
    """Return the proof that the tree of `old_size` begins the tree of `size` (RFC 9162 §2.1.4.1).

    Raises ValueError unless 0 < old_size <= size; equal sizes have the empty proof.
    """
    return [range_root(start, end, subtree) for start, end in consistency_ranges(old_size, size)]


def check_inclusion(index: int, size: int, leaf: bytes, proof: Sequence[bytes], root: bytes) -> None:
    """Return if `proof` leads from the hash `leaf` at `index` to `root` of `size` leaves (RFC 9162 §2.1.3.2).

    Raises ProofError otherwise.
    """
    _refuse_lengths([leaf, root, *proof])
    if not 0 <= index < size:
        raise ProofError(f"leaf {index} isn't in a tree of {size}")
    at, last, seen = index, size - 1, leaf
    for step in proof:
        if last == 0:
            raise ProofError(
                f"the inclusion proof has {len(proof)} hashes, more than leaf {index} of {size} needs"
            )
        if at & 1 or at == last:
            seen = node_hash(step, seen)
            at, last = _climb(at, last)
        else:
            seen = node_hash(seen, step)
        at, last = at >> 1, last >> 1
    if last:
        raise ProofError(
            f"the inclusion proof has {len(proof)} hashes, fewer than leaf {index} of {size} needs"
        )
    if seen != root:
        raise ProofError(f"leaf {index} of {size}: the proof leads to {seen.hex()}, the root is {root.hex()}")


def check_consistency(old_size: int, size: int, proof: Sequence[bytes], old_root: bytes, root: bytes) -> None:
    """Return if `proof` shows that the tree (old_size, old_root) begins (size, root) (RFC 9162 §2.1.4.2).

    Raises ProofError otherwise, and for `old_size` 0, from which nothing can be proved.
    """
    _refuse_lengths([old_root, root, *proof])
    if not 0 < old_size <= size:
        raise ProofError(f"no consistency proof leads from size {old_size} to {size}")
    if old_size == size:
        _check_same(size, proof, old_root, root)
        return
    if not proof:
        raise ProofError(f"the consistency proof from {old_size} to {size} is empty")
    # A perfect old tree is a node of the new one, and its hash is known already.
    path = [old_root, *proof] if old_size & (old_size - 1) == 0 else list(proof)
    old_seen, seen = _roots_from_consistency(old_size, size, path)
    if old_seen != old_root:
        raise ProofError(
            f"size {old_size}: the proof leads to {old_seen.hex()}, the old root is {old_root.hex()}"
        )
    if seen != root:
        raise ProofError(f"size {size}: the proof leads to {seen.hex()}, the root is {root.hex()}")


def _check_same(size: int, proof: Sequence[bytes], old_root: bytes, root: bytes) -> None:
    if proof:
        raise ProofError(f"the consistency proof from {size} to itself isn't empty")
    if old_root != root:
        raise ProofError(f"two roots for size {size}: {old_root.hex()} and {root.hex()}")


def _roots_from_consistency(old_size: int, size: int, path: list[bytes]) -> tuple[bytes, bytes]:
    """Return both roots that `path` leads to; ProofError where its length doesn't fit the sizes."""
    at, last = old_size - 1, size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    old_seen = seen = path[0]
    for step in path[1:]:
        if last == 0:
            raise ProofError(f"the consistency proof from {old_size} to {size} has too many hashes")
        if at & 1 or at == last:
            old_seen, seen = node_hash(step, old_seen), node_hash(step, seen)
            at, last = _climb(at, last)
        else:
            seen = node_hash(seen, step)
        at, last = at >> 1, last >> 1
    if last:
        raise ProofError(f"the consistency proof from {old_size} to {size} has too few hashes")
    return old_seen, seen


def _climb(at: int, last: int) -> tuple[int, int]:
    """Skip the levels on which an even node, the last of its row, has no sibling and goes up unchanged."""
    while not (at & 1 or at == 0):
        at, last = at >> 1, last >> 1
    return at, last


def _split(count: int) -> int:
    """Return the largest power of two below `count`, for `count` above 1 (RFC 6962 §2.1)."""
    return 1 << ((count - 1).bit_length() - 1)


def _refuse_lengths(hashes: Sequence[bytes]) -> None:
    for given in hashes:
        if len(given) != HASH_BYTES:
            raise ProofError(f"a hash has {HASH_BYTES} bytes, not {len(given)}")
