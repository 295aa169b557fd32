"""The puncturable key: one seed from which every record's seed follows, and any of them can be cut out.

A GGM tree (Goldreich, Goldwasser, Micali 1986) over the log index, SPEC §4.1. The key is a set of subtree
roots that cover exactly the leaves still derivable. Puncturing a leaf replaces the root above it by the
siblings of the path down to it; nothing that remains leads back, because an expansion is one BLAKE3 call and
goes one way.

Nodes are numbered as in a binary heap: the root is 1, the children of n are 2n and 2n + 1, so the node of a
prefix at depth d is `2^d | prefix`, and an ancestor is a right shift.

Not thread-safe: a derivation moves the cached path (the vault holds a lock around it).
"""

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from blake3 import blake3

from braid.ledger.errors import PuncturedError

DEPTH = 40
SEED_BYTES = 32
MAX_DEPTH = 60
BLOCK_DEPTH = 8
"""Levels below a cached inner node: a block is the 2^8 leaves under one."""
CACHED_BLOCKS = 1024
_INFO = b"braid/v1/ggm"


class Node(NamedTuple):
    """A subtree whose leaves are all derivable: its depth, the index bits above it, and its secret seed."""

    depth: int
    prefix: int
    seed: bytes

    def __repr__(self) -> str:
        return f"Node(depth={self.depth}, prefix={self.prefix})"


class _Path:
    """The expansions on the way from one subtree's root to the leaf last derived below it."""

    __slots__ = ("_height", "_last", "_pairs", "_top", "number")

    def __init__(self, number: int, seed: bytes, height: int) -> None:
        self.number = number
        self._top = seed
        self._height = height
        self._last = -1
        self._pairs = [b""] * height

    def holds(self, node: int) -> bool:
        """Whether `node`, a heap number of this path's leaf depth, lies below its root."""
        return node >> self._height == self.number

    def seed(self, node: int) -> bytes:
        """Return the seed of a node at leaf depth: one expansion for each level not shared with the last."""
        height, pairs = self._height, self._pairs
        if not height:
            return self._top
        if self._last < 0:
            level, seed = 0, self._top
        else:
            # pairs[j] belongs to the ancestor j levels below the root; those down to `level` are shared.
            level = min(height - (node ^ self._last).bit_length(), height - 1)
            pair = pairs[level]
            level += 1
            seed = pair[32:] if node >> (height - level) & 1 else pair[:32]
        self._last = node
        for j in range(level, height):
            pairs[j] = pair = blake3(_INFO, key=seed).digest(64)
            seed = pair[32:] if node >> (height - 1 - j) & 1 else pair[:32]
        return seed


class PuncturableKey:  # noqa: PLW1641 - puncturing changes it, so it has no hash
    """A set of subtree roots covering exactly the leaves that can still be derived (SPEC §4.1)."""

    _path: _Path
    _upper: _Path
    _blocks: OrderedDict[int, _Path]

    def __init__(self, nodes: Iterable[Node], depth: int = DEPTH) -> None:
        """Hold `nodes`, which must be disjoint and within `depth`; raise ValueError otherwise."""
        if not 1 <= depth <= MAX_DEPTH:
            raise ValueError(f"depth {depth} is not within 1 … {MAX_DEPTH}")
        self.depth = depth
        self._leaf_bit = 1 << depth
        self._block_depth = min(BLOCK_DEPTH, depth)
        self._nodes: dict[int, bytes] = {}
        self._forget_paths()
        for node in nodes:
            self._admit(node)
        self._require_disjoint()

    @classmethod
    def fresh(cls, root_seed: bytes, depth: int = DEPTH) -> "PuncturableKey":
        """Return the key of a whole tree from 32 random bytes."""
        return cls([Node(0, 0, root_seed)], depth)

    def derive(self, index: int) -> bytes:
        """Return the 32-byte seed of leaf `index`; raise PuncturedError when it was erased (SPEC §4.1)."""
        leaf = self._leaf(index)
        if not self._path.holds(leaf):
            self._path = self._enter(leaf)
        return self._path.seed(leaf)

    def derive_block(self, start: int, count: int) -> list[bytes | None]:
        """Return the seeds of `count` leaves from `start`, None where erased, expanding each node once."""
        seeds: list[bytes | None] = []
        if count <= 0:
            return seeds
        leaf, end = self._leaf(start), self._leaf(start + count - 1) + 1
        while leaf < end:
            number = self._cover(leaf)
            if not number:
                seeds.append(None)
                leaf += 1
                continue
            stop = min(end, (number + 1) << self._height(number))
            seeds += self._expand(number, leaf, stop)
            leaf = stop
        return seeds

    def puncture(self, indexes: Iterable[int]) -> None:
        """Make the leaves underivable for ever, whatever their order or repetition (SPEC §4.1).

        Raises ValueError, having changed nothing, for an index outside the tree.
        """
        leaves = sorted({self._leaf(index) for index in indexes})
        # Cached paths hold seeds above the leaves that go; dropping all of them is what makes the cut
        # complete. Python can't wipe a bytes object: its memory is given back, not overwritten.
        self._forget_paths()
        at = 0
        while at < len(leaves):
            number = self._cover(leaves[at])
            if not number:
                at += 1
                continue
            stop = bisect_left(leaves, (number + 1) << self._height(number), at)
            self._split(number, leaves, at, stop)
            at = stop

    def is_punctured(self, index: int) -> bool:
        """Whether leaf `index` was erased."""
        return not self._cover(self._leaf(index))

    def last_punctured(self) -> int:
        """Return the highest leaf that was erased, -1 when none was."""
        leaf = 2 * self._leaf_bit - 1
        while leaf >= self._leaf_bit and (number := self._cover(leaf)):
            leaf = (number << self._height(number)) - 1
        return leaf - self._leaf_bit

    def copy(self) -> "PuncturableKey":
        """Return an equal key with empty caches."""
        twin = PuncturableKey((), self.depth)
        twin._nodes = dict(self._nodes)
        return twin

    def nodes(self) -> Iterator[Node]:
        """Yield the subtree roots from the lowest leaf to the highest: what is stored (SPEC §4.3)."""
        for number in self._in_leaf_order():
            depth = number.bit_length() - 1
            yield Node(depth, number ^ (1 << depth), self._nodes[number])

    def __len__(self) -> int:
        return len(self._nodes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PuncturableKey):
            return NotImplemented
        return self.depth == other.depth and self._nodes == other._nodes

    def __repr__(self) -> str:
        return f"PuncturableKey(depth={self.depth}, nodes={len(self._nodes)})"

    def _leaf(self, index: int) -> int:
        if not 0 <= index < self._leaf_bit:
            raise ValueError(f"index {index} is not within 0 … 2^{self.depth} - 1")
        return self._leaf_bit | index

    def _height(self, number: int) -> int:
        return self.depth + 1 - number.bit_length()

    def _cover(self, node: int) -> int:
        """Return the number of the stored node at or above `node`, or 0."""
        nodes = self._nodes
        while node and node not in nodes:
            node >>= 1
        return node

    def _forget_paths(self) -> None:
        self._path = self._upper = _Path(0, b"", 0)  # number 0: holds nothing
        self._blocks = OrderedDict()

    def _enter(self, leaf: int) -> _Path:
        """Return a path that holds `leaf`: of its whole block if unbroken, else of the node above it."""
        block = leaf >> self._block_depth
        path = self._blocks.get(block)
        if path is not None:
            self._blocks.move_to_end(block)
            return path
        if not self._upper.holds(block):
            number = self._cover(leaf)
            if not number:
                raise PuncturedError(leaf ^ self._leaf_bit)
            if number > block:  # a node inside the block: part of the block is erased
                return _Path(number, self._nodes[number], self._height(number))
            self._upper = _Path(number, self._nodes[number], self._height(number) - self._block_depth)
        path = self._blocks[block] = _Path(block, self._upper.seed(block), self._block_depth)
        if len(self._blocks) > CACHED_BLOCKS:
            self._blocks.popitem(last=False)
        return path

    def _expand(self, number: int, first: int, stop: int) -> list[bytes]:
        """Return the seeds of leaves first … stop - 1 (heap numbers) below a stored node, level by level."""
        level = [self._nodes[number]]
        for up in range(self._height(number) - 1, -1, -1):
            below: list[bytes] = []
            for seed in level:
                pair = blake3(_INFO, key=seed).digest(64)
                below.append(pair[:32])
                below.append(pair[32:])
            # At most one child on either side falls outside the range.
            if first >> up & 1:
                del below[0]
            if not (stop - 1) >> up & 1:
                del below[-1]
            level = below
        return level

    def _split(self, number: int, leaves: list[int], low: int, high: int) -> None:
        """Replace a stored node by the maximal subtrees below it that hold none of leaves[low:high]."""
        todo = [(number, self._nodes.pop(number), low, high)]
        while todo:
            number, seed, low, high = todo.pop()
            height = self._height(number)
            if low == high:
                self._nodes[number] = seed
            elif high - low < 1 << height:  # else every leaf below goes, and the seed with them
                pair = blake3(_INFO, key=seed).digest(64)
                right = 2 * number + 1
                middle = bisect_left(leaves, right << (height - 1), low, high)
                todo.append((right, pair[32:], middle, high))
                todo.append((right - 1, pair[:32], low, middle))

    def _in_leaf_order(self) -> list[int]:
        return sorted(self._nodes, key=lambda number: number << self._height(number))

    def _admit(self, node: Node) -> None:
        if not (0 <= node.depth <= self.depth and 0 <= node.prefix < 1 << node.depth):
            raise ValueError(f"{node!r} is not a node of a tree of depth {self.depth}")
        if len(node.seed) != SEED_BYTES:
            raise ValueError(f"the seed of {node!r} is not {SEED_BYTES} bytes")
        number = 1 << node.depth | node.prefix
        if number in self._nodes:
            raise ValueError(f"{node!r} is given twice")
        self._nodes[number] = node.seed

    def _require_disjoint(self) -> None:
        end = 0
        for number in self._in_leaf_order():
            height = self._height(number)
            if number << height < end:
                raise ValueError("one of the nodes lies inside another")
            end = (number + 1) << height
