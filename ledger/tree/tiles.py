"""The tree in tiles of 256 hashes (C2SP tlog-tiles v0.1.0): names, growing right edge, authenticated reads.

A tile at level L holds the hashes of perfect subtrees of 256^L leaves: `Tile(L, n)[i]` is
`MTH(D[(n*256+i)*256^L : (n*256+i+1)*256^L])`. Width 0 stands for a full tile of 256 hashes (8192 bytes),
1 … 255 for a partial one. Partial tiles lie on the right edge only and are never hashed into the level above.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from struct import pack
from typing import NamedTuple

from braid.ledger.errors import TileError
from braid.ledger.tree.merkle import EMPTY_ROOT, HASH_BYTES, node_hash, row_above

TILE_WIDTH = 256
TILE_BYTES = TILE_WIDTH * HASH_BYTES
MAX_LEVEL = 63
MAX_ENTRY_BYTES = 65_535

LoadTile = Callable[[int, int, int], bytes]
"""`(level, n, width)` to the stored bytes of a tile; KeyError or FileNotFoundError where there is none."""

_HEIGHT = 8  # levels of the binary tree in one tile
_TILE_PATH = re.compile(r"tile/([0-9]{1,2})/((?:x[0-9]{3}/){0,6}[0-9]{3})(?:\.p/([0-9]{1,3}))?")
_ENTRIES_PATH = re.compile(r"tile/entries/((?:x[0-9]{3}/){0,6}[0-9]{3})(?:\.p/([0-9]{1,3}))?")


class Tile(NamedTuple):
    """The place of a tile: level, number in its level, width (0 = full)."""

    level: int
    n: int
    width: int


def tile_path(level: int, n: int, width: int = 0) -> str:
    """Return the path of a hash tile, such as `tile/0/x001/234.p/7`; ValueError outside its ranges."""
    if not 0 <= level <= MAX_LEVEL:
        raise ValueError(f"a tile level is 0 … {MAX_LEVEL}, not {level}")
    return f"tile/{level}/{_number(n, width)}"


def entries_path(n: int, width: int = 0) -> str:
    """Return the path of an entry bundle, such as `tile/entries/000.p/3`; ValueError outside the ranges."""
    return f"tile/entries/{_number(n, width)}"


def parse_tile_path(path: str) -> Tile:
    """Return the tile that `path` names; ValueError unless `tile_path` writes it so."""
    match = _TILE_PATH.fullmatch(path)
    if match:
        level, number, width = match.groups()
        tile = Tile(int(level), _parse_number(number), int(width or 0))
        if tile.level <= MAX_LEVEL and tile.width < TILE_WIDTH and path == tile_path(*tile):
            return tile
    raise ValueError(f"not the path of a tile: {path!r}")


def parse_entries_path(path: str) -> tuple[int, int]:
    """Return (n, width) of the bundle that `path` names; ValueError unless `entries_path` writes it so."""
    match = _ENTRIES_PATH.fullmatch(path)
    if match:
        n, width = _parse_number(match[1]), int(match[2] or 0)
        if width < TILE_WIDTH and path == entries_path(n, width):
            return n, width
    raise ValueError(f"not the path of an entry bundle: {path!r}")


def _number(n: int, width: int) -> str:
    if n < 0:
        raise ValueError(f"a tile number is 0 or more, not {n}")
    if not 0 <= width < TILE_WIDTH:
        raise ValueError(f"a partial tile has 1 … {TILE_WIDTH - 1} hashes, not {width}")
    groups = [f"{n % 1000:03}"]
    while n := n // 1000:
        groups.append(f"x{n % 1000:03}")
    return "/".join(reversed(groups)) + (f".p/{width}" if width else "")


def _parse_number(text: str) -> int:
    return int(text.replace("x", "").replace("/", ""))


def tile_width(level: int, n: int, size: int) -> int:
    """Return the width of tile (level, n) in a tree of `size`, 0 when full; IndexError when empty."""
    hashes = (size >> _HEIGHT * level) - n * TILE_WIDTH
    if n < 0 or hashes <= 0:
        raise IndexError(f"a tree of {size} leaves has no tile ({level}, {n})")
    return 0 if hashes >= TILE_WIDTH else hashes


def partial_tiles(size: int) -> list[Tile]:
    """Return the partial tiles on the right edge of a tree of `size` leaves, lowest level first."""
    levels = range(-(-size.bit_length() // _HEIGHT))
    widths = [(level, size >> _HEIGHT * level) for level in levels]
    return [Tile(level, hashes >> _HEIGHT, hashes & 255) for level, hashes in widths if hashes & 255]


def tiles_for_size(size: int, since: int = 0) -> Iterator[Tile]:
    """Yield the tiles of a tree of `size` that one of `since` hasn't: full ones, then partial ones."""
    level = 0
    while full := size >> _HEIGHT * (level + 1):
        yield from (Tile(level, n, 0) for n in range(since >> _HEIGHT * (level + 1), full))
        level += 1
    kept = set(partial_tiles(since))
    yield from (tile for tile in partial_tiles(size) if tile not in kept)


def tile_root(hashes: bytes) -> bytes:
    """Return the root over a full tile, its entry in the level above; ValueError unless it has 8192 bytes."""
    if len(hashes) != TILE_BYTES:
        raise ValueError(f"a full tile has {TILE_BYTES} bytes, not {len(hashes)}")
    return _pyramid(hashes)[-HASH_BYTES:]


def pack_entries(entries: Sequence[bytes]) -> bytes:
    """Return the bundle of 1 … 256 entries: of each its length (u16, big-endian) and bytes; or ValueError."""
    if not 1 <= len(entries) <= TILE_WIDTH:
        raise ValueError(f"a bundle has 1 … {TILE_WIDTH} entries, not {len(entries)}")
    if max(map(len, entries)) > MAX_ENTRY_BYTES:
        raise ValueError(f"an entry has at most {MAX_ENTRY_BYTES} bytes")
    sizes = pack(f">{len(entries)}H", *map(len, entries))
    pieces = [b""] * (2 * len(entries))
    pieces[0::2] = [sizes[at : at + 2] for at in range(0, len(sizes), 2)]
    pieces[1::2] = entries
    return b"".join(pieces)


def unpack_entries(bundle: bytes) -> list[bytes]:
    """Return the entries of a bundle; ValueError where it ends within one or hasn't 1 … 256 of them."""
    entries: list[bytes] = []
    at, end = 0, len(bundle)
    while at + 1 < end:
        start = at + 2
        at = start + (bundle[at] << 8 | bundle[at + 1])
        entries.append(bundle[start:at])
    if at != end or not 1 <= len(entries) <= TILE_WIDTH:
        raise ValueError(f"not an entry bundle: {len(entries)} entries in {len(bundle)} bytes")
    return entries


def _pyramid(hashes: bytes) -> bytes:
    """Return a full tile and all the rows above it to its root: 256, 128, … 1 hashes, 16,352 bytes."""
    rows, row = [hashes], hashes
    while len(row) > HASH_BYTES:
        row = row_above(row)
        rows.append(row)
    return b"".join(rows)


def _row_start(height: int) -> int:
    """Return where the row of subtrees of 2^height hashes begins in a pyramid."""
    return 2 * TILE_BYTES - (2 * TILE_BYTES >> height)


class Frontier:
    """The right edge of a growing tree: at most 255 hashes a level, enough for its root and all that follows.

    For each level it keeps the partial tile and, above it, the rows of complete pairs, so that every inner
    node is hashed once, whether a root, a proof or the completed tile asks first. Threads need a lock.
    """

    __slots__ = ("_full", "_levels", "_size")

    def __init__(self) -> None:
        self._size = 0
        self._levels: list[list[list[bytes]]] = []  # [level][height in the tile][i]
        self._full: list[tuple[int, int, bytes]] = []

    @classmethod
    def from_partials(cls, size: int, partials: Mapping[int, bytes]) -> "Frontier":
        """Return the edge of a tree of `size` leaves from its partial tiles by level (`partial_tiles(size)`).

        Compare `root()` with a signed root before trusting it. Raises TileError for a tile that is missing or
        hasn't the length that `size` demands; levels that have no partial tile are ignored.
        """
        edge = cls()
        edge._size = size
        for level, n, width in partial_tiles(size):
            tile = partials.get(level, b"")
            if len(tile) != width * HASH_BYTES:
                raise _refusal(level, n, width, f"has {len(tile)} bytes, not {width * HASH_BYTES}")
            edge._rows(level)[0] += [tile[at : at + HASH_BYTES] for at in range(0, len(tile), HASH_BYTES)]
        return edge

    @property
    def size(self) -> int:
        """Number of leaves."""
        return self._size

    @property
    def edge(self) -> list[list[bytes]]:
        """For each level the hashes of its partial tile (0 … 255 of them)."""
        return [rows[0][:] for rows in self._levels]

    def append(self, leaf_hash: bytes) -> None:
        """Add one leaf by its hash; ValueError unless it has 32 bytes."""
        self.extend((leaf_hash,))

    def extend(self, leaf_hashes: Sequence[bytes]) -> None:
        """Add leaves by their hashes, all or none; ValueError unless each has 32 bytes."""
        if not set(map(len, leaf_hashes)) <= {HASH_BYTES}:
            raise ValueError(f"a leaf hash has {HASH_BYTES} bytes")
        done, count = 0, len(leaf_hashes)
        while done < count:
            row = self._rows(0)[0]
            part = leaf_hashes[done : done + TILE_WIDTH - len(row)]
            row += part
            done += len(part)
            self._size += len(part)
            if len(row) == TILE_WIDTH:
                self._complete()

    def root(self) -> bytes:
        """Return the root of the tree (RFC 6962 §2.1)."""
        root = b""
        for rows in self._levels:
            _grow(rows)
            for row in rows[:_HEIGHT]:
                if len(row) % 2:  # The last of an odd row is a perfect subtree that has no sibling yet.
                    root = node_hash(row[-1], root) if root else row[-1]
        return root or EMPTY_ROOT

    def subtree(self, level: int, index: int) -> bytes:
        """Return the hash of a perfect subtree that lies within the edge; KeyError where it doesn't."""
        height = level % _HEIGHT
        first = (self._size >> (level - height + _HEIGHT)) << (_HEIGHT - height)
        if index < first or level < 0 or (index + 1) << level > self._size:
            raise KeyError((level, index))
        rows = self._levels[level // _HEIGHT]
        if height:
            _grow(rows)
        return rows[height][index - first]

    def take_full(self) -> list[tuple[int, int, bytes]]:
        """Return (level, n, 8192 bytes) of each tile completed since the last call, child before parent."""
        full, self._full = self._full, []
        return full

    def partials(self) -> list[tuple[int, int, int, bytes]]:
        """Return (level, n, width, bytes) of each partial tile on the edge, lowest level first."""
        tiles = partial_tiles(self._size)
        return [(level, n, width, b"".join(self._levels[level][0])) for level, n, width in tiles]

    def copy(self) -> "Frontier":
        """Return an independent edge in the same state, untaken full tiles included."""
        twin = Frontier()
        twin._size, twin._full = self._size, self._full[:]
        twin._levels = [[row[:] for row in rows] for rows in self._levels]
        return twin

    def _rows(self, level: int) -> list[list[bytes]]:
        while len(self._levels) <= level:
            self._levels.append([[] for _ in range(_HEIGHT + 1)])
        return self._levels[level]

    def _complete(self) -> None:
        """Turn the full rows of level 0, and of each level that they fill, into full tiles."""
        level = 0
        while len((rows := self._rows(level))[0]) == TILE_WIDTH:
            _grow(rows)
            n = (self._size >> _HEIGHT * (level + 1)) - 1
            self._full.append((level, n, b"".join(rows[0])))
            self._levels[level] = [[] for _ in range(_HEIGHT + 1)]
            level += 1
            self._rows(level)[0].append(rows[_HEIGHT][0])


def _grow(rows: list[list[bytes]]) -> None:
    """Hash each pair that has no node above it yet, row by row."""
    hash_ = sha256
    for row, above in pairwise(rows):
        new = row[2 * len(above) :]
        if len(new) < 2:
            continue
        above += [hash_(b"\x01" + a + b).digest() for a, b in zip(new[::2], new[1::2], strict=False)]


class TileTree:
    """A tree whose full tiles lie in untrusted storage: each is checked against its parent before it is used.

    The chain of parents ends in `frontier`, whose root the caller has authenticated and which may grow. A
    tile that is complete but not stored yet is looked for in `pending`, where the caller puts what
    `take_full()` returns. The `capacity` tiles used last are kept, checked, 16 KiB each.
    """

    __slots__ = ("_capacity", "_checked", "_frontier", "_load", "_pending")

    def __init__(
        self,
        load: LoadTile,
        frontier: Frontier,
        pending: Mapping[tuple[int, int], bytes] | None = None,
        capacity: int = 1024,
    ) -> None:
        """Read through `load` up to the edge of `frontier`; ValueError unless `capacity` is at least 1."""
        if capacity < 1:
            raise ValueError(f"the cache holds at least one tile, not {capacity}")
        self._load = load
        self._frontier = frontier
        self._pending: Mapping[tuple[int, int], bytes] = {} if pending is None else pending
        self._capacity = capacity
        self._checked: OrderedDict[tuple[int, int], bytes] = OrderedDict()  # (level, n) → pyramid

    @property
    def size(self) -> int:
        """Number of leaves, as of now."""
        return self._frontier.size

    def leaf(self, index: int) -> bytes:
        """Return the authenticated hash of a leaf; IndexError outside the tree, TileError for a bad tile."""
        key = (0, index >> _HEIGHT)
        pyramid = self._checked.get(key)
        if pyramid is None:
            return self.subtree(0, index)
        self._touch(key)
        at = (index & 255) * HASH_BYTES
        return pyramid[at : at + HASH_BYTES]

    def leaves(self, start: int, stop: int) -> list[bytes]:
        """Return the authenticated hashes of the leaves from `start` to `stop`; errors as for `leaf`."""
        if not 0 <= start <= stop <= self._frontier.size:
            raise IndexError(f"leaves {start} to {stop} reach beyond {self._frontier.size}")
        found: list[bytes] = []
        while start < stop:
            n, first = divmod(start, TILE_WIDTH)
            end = min(stop - n * TILE_WIDTH, TILE_WIDTH)
            if n == self._frontier.size >> _HEIGHT:
                found += [self._frontier.subtree(0, index) for index in range(start, stop)]
                break
            row = self._full(0, n)
            found += [
                row[at : at + HASH_BYTES] for at in range(first * HASH_BYTES, end * HASH_BYTES, HASH_BYTES)
            ]
            start = n * TILE_WIDTH + end
        return found

    def subtree(self, level: int, index: int) -> bytes:
        """Return the authenticated hash of leaves [index << level, (index + 1) << level) (a `SubtreeHash`).

        Raises IndexError unless all are in the tree, TileError where a tile on the way is missing or wrong.
        """
        if level < 0 or index < 0 or (index + 1) << level > self._frontier.size:
            raise IndexError(f"subtree ({level}, {index}) reaches beyond {self._frontier.size} leaves")
        tile_level, height = divmod(level, _HEIGHT)
        n, place = divmod(index, TILE_WIDTH >> height)
        if n == self._frontier.size >> _HEIGHT * (tile_level + 1):
            return self._frontier.subtree(level, index)
        at = _row_start(height) + place * HASH_BYTES
        return self._full(tile_level, n)[at : at + HASH_BYTES]

    def tile(self, level: int, n: int, width: int = 0) -> bytes:
        """Return the authenticated bytes of a tile, full or the first `width` hashes; errors as for `subtree`."""
        if not width and n < self._frontier.size >> _HEIGHT * (level + 1):
            return self._full(level, n)[:TILE_BYTES]
        first = n * TILE_WIDTH
        return b"".join(
            [self.subtree(_HEIGHT * level, index) for index in range(first, first + (width or TILE_WIDTH))]
        )

    def _full(self, level: int, n: int) -> bytes:
        """Return the pyramid of a full tile, checked."""
        key = (level, n)
        pyramid = self._checked.get(key)
        if pyramid is not None:
            self._touch(key)
            return pyramid
        pyramid = _pyramid(self._read(level, n))
        if pyramid[-HASH_BYTES:] != self.subtree(_HEIGHT * (level + 1), n):
            raise _refusal(level, n, 0, "doesn't match its entry in the level above")
        self._checked[key] = pyramid
        while len(self._checked) > self._capacity:
            self._checked.popitem(last=False)
        return pyramid

    def _read(self, level: int, n: int) -> bytes:
        tile = self._pending.get((level, n))
        if tile is None:
            try:
                tile = self._load(level, n, 0)
            except (KeyError, FileNotFoundError):
                raise _refusal(level, n, 0, "is missing") from None
        if len(tile) != TILE_BYTES:
            raise _refusal(level, n, 0, f"has {len(tile)} bytes, not {TILE_BYTES}")
        return tile

    def _touch(self, key: tuple[int, int]) -> None:
        try:
            self._checked.move_to_end(key)
        except KeyError:  # Another reader has evicted it since; the bytes in hand stay good.
            return


def _refusal(level: int, n: int, width: int, what: str) -> TileError:
    return TileError(f"{tile_path(level, n, width)} {what}; rebuild tiles with `braid doctor --fix`")
