"""What a monitor remembers of a tree: enough to go on from, and to compare with another monitor's offline. Pure.

A trail is the row of hashes of perfect subtrees of 2^grain leaves, and the perfect subtrees of what is left over. Up
to 4,096 leaves it holds each of them; then, each time that the row is full, pairs become one. So it has at most
128 KiB, its root is that of the whole tree, and two trails show the first block of leaves in which they differ.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from braid.ledger.tree.merkle import EMPTY_ROOT, HASH_BYTES, node_hash, root_of
from braid.ledger.tree.note import from_base64, to_base64

MAX_ROW: Final = 4096
_MAX_GRAIN: Final = 40


class TrailText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trail as a state file has it; hashes back to back in base64."""

    size: int
    grain: int
    row: str
    tail: str


class Trail:
    """A tree by its row and its tail; it grows by leaves."""

    __slots__ = ("grain", "row", "size", "tail")

    def __init__(self) -> None:
        self.size = 0
        self.grain = 0
        self.row: list[bytes] = []
        self.tail: list[bytes] = []

    @classmethod
    def from_text(cls, text: TrailText) -> "Trail":
        """Return the trail of a state file; ValueError where its parts don't fit each other."""
        trail = cls()
        trail.size, trail.grain = text.size, text.grain
        trail.row, trail.tail = _hashes(text.row), _hashes(text.tail)
        rest = text.size - (len(trail.row) << text.grain) if 0 <= text.grain <= _MAX_GRAIN else -1
        if not 0 <= rest < 1 << text.grain or rest.bit_count() != len(trail.tail) or len(trail.row) > MAX_ROW:
            raise ValueError("the trail's hashes do not make a tree of its size")
        return trail

    def to_text(self) -> TrailText:
        """Return the trail as a state file has it."""
        row, tail = b"".join(self.row), b"".join(self.tail)
        return TrailText(self.size, self.grain, to_base64(row), to_base64(tail))

    def extend(self, leaf_hashes: Iterable[bytes]) -> None:
        """Add leaves by their hashes."""
        for leaf in leaf_hashes:
            level, at, above = 0, self.size, leaf
            while at & 1 and level < self.grain:
                above = node_hash(self.tail.pop(), above)
                level, at = level + 1, at >> 1
            self.size += 1
            (self.row if level == self.grain else self.tail).append(above)
            if len(self.row) > MAX_ROW:
                self._coarsen()

    def root(self) -> bytes:
        """Return the root of the tree (RFC 6962 §2.1)."""
        perfect: list[bytes] = []
        start, count = 0, len(self.row)
        while start < count:
            width = 1 << ((count - start).bit_length() - 1)
            perfect.append(root_of(self.row[start : start + width]))
            start += width
        perfect += self.tail
        root = perfect.pop() if perfect else EMPTY_ROOT
        while perfect:
            root = node_hash(perfect.pop(), root)
        return root

    def copy(self) -> "Trail":
        """Return an independent trail of the same tree."""
        return Trail.from_text(self.to_text())

    def _coarsen(self) -> None:
        if len(self.row) % 2:
            self.tail.insert(0, self.row.pop())
        self.row = [node_hash(left, right) for left, right in zip(self.row[::2], self.row[1::2], strict=True)]
        self.grain += 1

    def differ(self, other: "Trail") -> tuple[int, int] | None:
        """Return the first block of leaves [start, stop) that is not the same in both trees, None where none is seen.

        Seen is what both hold in whole blocks of the coarser grain; of equal sizes everything.
        """
        mine, theirs = self.copy(), other.copy()
        while mine.grain != theirs.grain:
            (mine if mine.grain < theirs.grain else theirs)._coarsen()
        for place, (a, b) in enumerate(zip(mine.row, theirs.row, strict=False)):
            if a != b:
                return place << mine.grain, (place + 1) << mine.grain
        if self.size == other.size and self.root() != other.root():
            return len(mine.row) << mine.grain, self.size
        return None

    def shared(self, other: "Trail") -> int:
        """Return how many leaves `differ` compares."""
        if self.size == other.size:
            return self.size
        grain = max(self.grain, other.grain)
        return min(self.size, other.size) >> grain << grain


def _hashes(text: str) -> list[bytes]:
    data = from_base64(text)
    if data is None or len(data) % HASH_BYTES:
        raise ValueError("the trail is not made of hashes")
    return [data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES)]
