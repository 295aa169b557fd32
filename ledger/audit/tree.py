"""The tree derived again from the records and compared with every stored tile and signed head (SPEC §5.2, §11.1).

Where a record's leaf and the stored tile disagree, the entry in the level above says which of them is right: so a bad
record is named as a record, a bad tile as a tile, and neither makes the rest of the log look bad.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache

from braid.ledger.audit.findings import Finding
from braid.ledger.tree.merkle import EMPTY_ROOT, HASH_BYTES, node_hash
from braid.ledger.tree.tiles import TILE_BYTES, TILE_WIDTH, partial_tiles, tile_path, tile_root

ReadTile = Callable[[int, int, int], bytes | None]
"""`(level, n, width)` to the bytes of a stored tile; None where there is none."""


def edge_root(rows: Iterable[bytes]) -> bytes:
    """Return the root of a tree whose right edge is `rows`: for each tile level up to 256 hashes, lowest first."""
    return _edge_root(tuple(map(bytes, rows)))


@lru_cache(maxsize=4)  # the first edge and the last are each asked for twice
def _edge_root(rows: tuple[bytes, ...]) -> bytes:
    levels = list(rows)
    root, level = b"", 0
    while level < len(levels):
        row = levels[level]
        if len(row) == TILE_BYTES:
            above = levels[level + 1 : level + 2] or [b""]
            levels[level + 1 : level + 2] = [above[0] + tile_root(row)]
            row = b""
        hashes = [row[at : at + HASH_BYTES] for at in range(0, len(row), HASH_BYTES)]
        while hashes:
            if len(hashes) % 2:
                root = node_hash(hashes[-1], root) if root else hashes[-1]
            hashes = [node_hash(a, b) for a, b in zip(hashes[::2], hashes[1::2], strict=False)]
        level += 1
    return root or EMPTY_ROOT


def read_edge(size: int, published: int, read: ReadTile) -> list[bytes] | None:
    """Return the right edge of the tree of `size` from the tiles of one of `published`; None where one is missing."""
    rows: list[bytes] = []
    level = 0
    while size >> 8 * level:
        hashes = size >> 8 * level
        n, width = hashes >> 8, hashes & 255
        total = published >> 8 * level
        stored = b"" if not width else read(level, n, 0 if total >> 8 > n else total & 255)
        if stored is None or len(stored) < width * HASH_BYTES:
            return None
        rows.append(stored[: width * HASH_BYTES])
        level += 1
    return rows


class Recount:
    """Takes leaf hashes in order; keeps one tile a level, the roots at wanted sizes, and what is wrong."""

    def __init__(  # noqa: PLR0917 - what it starts from  # noqa: PLR0913 - one decision a line
        self,
        read: ReadTile,
        published: int,
        heads: dict[int, bytes],
        wanted: Iterable[int],
        edge: list[bytes],
        start: int,
    ) -> None:
        """Start at `start` leaves with their right edge. `heads`: roots that signed heads state, by size."""
        self._read = read
        self._published = published
        self._heads = heads
        self._wanted = sorted({size for size in wanted if size > start}, reverse=True)
        self._partials = {(tile.level, tile.n): tile.width for tile in partial_tiles(published)}
        self._rows: list[bytearray] = [bytearray(row) for row in edge] or [bytearray()]
        self._unread: set[int] = set()
        self.size = start
        self.roots: dict[int, bytes] = {0: EMPTY_ROOT, start: edge_root(map(bytes, edge))}
        self.findings: list[Finding] = []

    def extend(self, leaves: bytes) -> None:
        """Add leaf hashes, back to back."""
        at = 0
        while at < len(leaves):
            row = self._rows[0]
            part = leaves[at : at + TILE_BYTES - len(row)]
            row += part
            at += len(part)
            self.size += len(part) // HASH_BYTES
            if len(row) == TILE_BYTES:
                self._complete()

    def skip(self, count: int) -> None:
        """Take the stored leaves in the place of records that can't be read, so that all others can be judged."""
        self._unread.update(range(self.size, self.size + count))
        while count > 0:
            at = self.size & 255
            part = min(count, TILE_WIDTH - at)
            tile = self._stored(0, self.size >> 8) or b""
            self.extend(tile[at * HASH_BYTES : (at + part) * HASH_BYTES].ljust(part * HASH_BYTES, b"\x00"))
            count -= part

    def finish(self) -> None:
        """Compare the right edge and take the last root."""
        for level in range(len(self._rows)):
            n = (self.size >> 8 * level) >> 8
            self._settle(level, n)
            if level == 0:
                self._take_roots(n)
        self.roots[self.size] = self._root()

    def _root(self) -> bytes:
        return edge_root(map(bytes, self._rows))

    def _complete(self) -> None:
        level = 0
        while len(self._rows[level]) == TILE_BYTES:
            n = (self.size >> 8 * (level + 1)) - 1
            self._settle(level, n)
            if level == 0:
                self._take_roots(n)
            above = tile_root(bytes(self._rows[level]))
            self._rows[level] = bytearray()
            level += 1
            if level == len(self._rows):
                self._rows.append(bytearray())
            self._rows[level] += above

    def _take_roots(self, n: int) -> None:
        """Take the roots at wanted sizes within tile n of the lowest level, whose row is settled."""
        row, base = self._rows[0], n * TILE_WIDTH
        while self._wanted and self._wanted[-1] <= base + len(row) // HASH_BYTES:
            size = self._wanted.pop()
            edge = [bytes(row[: (size - base) * HASH_BYTES]), *map(bytes, self._rows[1:])]
            self.roots[size] = edge_root(edge)

    # -- stored tiles -----------------------------------------------------------------------------

    def _stored(self, level: int, n: int) -> bytes | None:
        """Return the stored tile that the published tree has at this place, full or partial."""
        if (n + 1) << 8 * (level + 1) <= self._published:
            return self._read(level, n, 0)
        width = self._partials.get((level, n))
        return self._read(level, n, width) if width else None

    def _settle(self, level: int, n: int) -> None:
        """Compare a row with its stored tile, and keep of each that which the tree confirms."""
        width = (
            TILE_WIDTH if (n + 1) << 8 * (level + 1) <= self._published else self._partials.get((level, n), 0)
        )
        row = self._rows[level]
        length = min(width * HASH_BYTES, len(row))
        if not length:
            return
        stored = self._read(level, n, width % TILE_WIDTH)
        if stored is None:
            self._tile(level, n, width, "the tile is missing")
            return
        if stored == bytes(row[:length]):
            return
        if len(stored) != width * HASH_BYTES:
            self._tile(level, n, width, f"the tile has {len(stored)} bytes, not {width * HASH_BYTES}")
            return
        if len(row) < width * HASH_BYTES:
            return  # the log ends before the published head: named there
        other = bytearray(stored) + row[length:]
        if self._confirmed(level, n, width, bytes(row)) or not self._confirmed(level, n, width, bytes(other)):
            self._tile(level, n, width, "the tile is not that of the records")
            return
        self._name_leaves(level, n, bytes(row[:length]), stored)
        self._rows[level] = other

    def _confirmed(self, level: int, n: int, width: int, row: bytes) -> bool:
        """Whether the tree above, or the signed head, has this row."""
        if width == TILE_WIDTH:
            above = self._stored(level + 1, n >> 8)
            at = (n & 255) * HASH_BYTES
            if above is not None and len(above) >= at + HASH_BYTES:
                return above[at : at + HASH_BYTES] == tile_root(row)
        if level:
            return False  # what lies below was settled already
        rows = [row[: width * HASH_BYTES], *map(bytes, self._rows[1:])]
        expected = self._heads.get(self._published)
        base = n * TILE_WIDTH + width
        return expected is not None and base == self._published and edge_root(rows) == expected

    def _name_leaves(self, level: int, n: int, row: bytes, stored: bytes) -> None:
        span = TILE_WIDTH**level
        for at in range(0, len(row), HASH_BYTES):
            index = (n * TILE_WIDTH + at // HASH_BYTES) * span
            if row[at : at + HASH_BYTES] == stored[at : at + HASH_BYTES] or index in self._unread:
                continue
            what = "the record is not the one" if level == 0 else "the records are not those"
            self.findings.append(Finding("leaf", f"{what} that the tree holds there", index, count=span))

    def _tile(self, level: int, n: int, width: int, message: str) -> None:
        fix = "`braid doctor --fix` derives it again"
        self.findings.append(
            Finding("tile", f"{message}: {fix}", file=tile_path(level, n, width % TILE_WIDTH))
        )
