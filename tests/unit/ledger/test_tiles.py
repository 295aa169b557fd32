"""The growing edge and authenticated reads of tiles."""

from collections.abc import Sequence
from functools import cache

import pytest

from braid.ledger.errors import TileError
from braid.ledger.tree.merkle import EMPTY_ROOT, leaf_hash, node_hash, prove_inclusion, root_of, subtrees_of
from braid.ledger.tree.tiles import Frontier, TileTree, partial_tiles, tile_path, tile_root, tiles_for_size

LEAVES = [leaf_hash(b"leaf %d" % i) for i in range(70_000)]
Stored = dict[tuple[int, int], bytes]


def naive_root(leaves: Sequence[bytes]) -> bytes:
    """RFC 6962 §2.1, word for word."""
    if len(leaves) < 2:
        return leaves[0] if leaves else EMPTY_ROOT
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return node_hash(naive_root(leaves[:split]), naive_root(leaves[split:]))


def naive_tile(level: int, n: int, leaves: Sequence[bytes]) -> bytes:
    """The definition of a tile, from the leaves."""
    span = 256**level
    starts = range(n * 256 * span, min((n + 1) * 256 * span, len(leaves) - span + 1), span)
    return b"".join(naive_root(leaves[start : start + span]) for start in starts)


@cache
def _grown(size: int) -> tuple[Frontier, Stored]:
    frontier = Frontier()
    frontier.extend(LEAVES[:size])
    return frontier, {(level, n): tile for level, n, tile in frontier.take_full()}


def grown(size: int) -> tuple[Frontier, Stored]:
    frontier, tiles = _grown(size)
    return frontier.copy(), dict(tiles)


class Storage:
    """A store of full tiles that counts what is read, and fails the test when a partial one is asked for."""

    def __init__(self, tiles: Stored) -> None:
        self.tiles = tiles
        self.reads: list[tuple[int, int]] = []

    def __call__(self, level: int, n: int, width: int) -> bytes:
        assert width == 0
        self.reads.append((level, n))
        return self.tiles[level, n]


def test_the_edge_at_every_size_one_by_one() -> None:
    frontier = Frontier()
    full: Stored = {}
    for size in range(601):
        assert frontier.size == size
        assert frontier.root() == naive_root(LEAVES[:size])
        assert [tile[:3] for tile in frontier.partials()] == partial_tiles(size)
        for level, n, width, tile in frontier.partials():
            assert tile == naive_tile(level, n, LEAVES[:size])
            assert frontier.edge[level] == [tile[i : i + 32] for i in range(0, 32 * width, 32)]
        full |= {(level, n): tile for level, n, tile in frontier.take_full()}
        assert set(full) == {tile[:2] for tile in tiles_for_size(size) if not tile.width}
        frontier.append(LEAVES[size])
    assert full == {(0, n): naive_tile(0, n, LEAVES[:600]) for n in range(2)}


def test_the_edge_at_every_size_at_once_is_the_same() -> None:
    for size in range(0, 601, 7):
        frontier, _ = grown(size)
        assert frontier.root() == root_of(LEAVES[:size])


@pytest.mark.sample(6)
@pytest.mark.parametrize("step", [1, 3, 255, 256, 257, 1000, 70_000])
def test_the_edge_of_70000_leaves_in_steps(step: int) -> None:
    frontier = Frontier()
    tiles: Stored = {}
    for start in range(0, 70_000, step):
        frontier.extend(LEAVES[start : start + step])
        for level, n, tile in frontier.take_full():
            if level:  # Children come before their parent.
                assert all((level - 1, child) in tiles for child in range(n * 256, n * 256 + 256))
            tiles[level, n] = tile
    assert frontier.take_full() == []
    assert frontier.root() == root_of(LEAVES)
    assert list(map(len, frontier.edge)) == [112, 17, 1]
    assert set(tiles) == {(0, n) for n in range(273)} | {(1, 0)}
    assert tiles[1, 0] == b"".join(tile_root(tiles[0, n]) for n in range(256))
    assert tiles[0, 272] == b"".join(LEAVES[272 * 256 : 273 * 256])


def test_every_root_between_agrees_however_often_it_is_asked_for() -> None:
    """Inner nodes are hashed when first asked for; asking early must not change what comes later."""
    asked, silent = Frontier(), Frontier()
    for start in range(0, 2000, 37):
        part = LEAVES[start : start + 37]
        asked.extend(part)
        silent.extend(part)
        assert asked.root() == asked.root() == root_of(LEAVES[: start + 37])
    assert asked.take_full() == silent.take_full()
    assert asked.root() == silent.root()


@pytest.mark.parametrize("size", [0, 1, 2, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, 70_000])
def test_an_edge_is_rebuilt_from_its_partial_tiles(size: int) -> None:
    frontier, _ = grown(size)
    again = Frontier.from_partials(size, {level: tile for level, _, _, tile in frontier.partials()})
    assert (again.size, again.root()) == (size, frontier.root())
    for edge in (frontier, again):
        edge.extend(LEAVES[:300])
    assert again.root() == frontier.root()
    assert again.take_full() == frontier.take_full()
    assert again.partials() == frontier.partials()


def test_an_edge_is_not_rebuilt_from_tiles_that_do_not_fit() -> None:
    frontier, _ = grown(257)
    tiles = {level: tile for level, _, _, tile in frontier.partials()}
    for level, tile in tiles.items():
        for wrong in (b"", tile[:-1], tile + b"\0", tile + tile):
            with pytest.raises(TileError, match=tile_path(level, 1 - level, 1)):
                Frontier.from_partials(257, tiles | {level: wrong})
    with pytest.raises(TileError, match=r"tile/1/000\.p/1 has 0 bytes, not 32"):
        Frontier.from_partials(257, {0: tiles[0]})
    assert Frontier.from_partials(257, tiles | {0: tiles[1]}).root() != frontier.root()


def test_a_copy_goes_its_own_way() -> None:
    frontier = Frontier()
    frontier.extend(LEAVES[:300])
    twin = frontier.copy()
    twin.extend(LEAVES[300:600])
    assert (frontier.size, frontier.root()) == (300, root_of(LEAVES[:300]))
    assert (twin.size, twin.root()) == (600, root_of(LEAVES[:600]))
    assert [tile[:2] for tile in twin.take_full()] == [(0, 0), (0, 1)]
    assert [tile[:2] for tile in frontier.take_full()] == [(0, 0)]


@pytest.mark.parametrize("bad", [b"", b"x" * 31, b"x" * 33, b"x" * 64])
def test_a_hash_of_another_length_changes_nothing(bad: bytes) -> None:
    frontier, _ = grown(300)
    with pytest.raises(ValueError, match="32 bytes"):
        frontier.append(bad)
    with pytest.raises(ValueError, match="32 bytes"):
        frontier.extend([*LEAVES[:10], bad])
    assert (frontier.size, frontier.root()) == (300, root_of(LEAVES[:300]))


def test_the_edge_that_is_handed_out_is_a_copy() -> None:
    frontier, _ = grown(3)
    frontier.edge[0].clear()
    assert frontier.root() == root_of(LEAVES[:3])


@pytest.mark.parametrize("length", [0, 32, 8160, 8191, 8193, 8224, 16_384])
def test_only_a_full_tile_has_a_tile_root(length: int) -> None:
    with pytest.raises(ValueError, match="8192"):
        tile_root(bytes(length))


@pytest.mark.parametrize("size", [1, 255, 256, 257, 65_536, 70_000])
def test_reads_agree_with_the_leaves(size: int) -> None:
    frontier, tiles = grown(size)
    tree = TileTree(Storage(tiles), frontier)
    assert tree.size == size
    for index in {*range(0, size, 97), size - 1}:
        assert tree.leaf(index) == LEAVES[index]
        assert tree.leaf(index) == LEAVES[index]
    for start, stop in ((0, size), (size // 2, size), (size // 3, size // 2 + 1), (size, size)):
        assert tree.leaves(start, stop) == LEAVES[start:stop]
    naive = subtrees_of(LEAVES[:size])
    for level in range(size.bit_length()):
        last = (size >> level) - 1
        for index in {0, last // 2, last}:
            assert tree.subtree(level, index) == naive(level, index)


def test_proofs_come_from_tiles() -> None:
    frontier, tiles = grown(70_000)
    tree = TileTree(Storage(tiles), frontier)
    naive = subtrees_of(LEAVES)
    for index, size in ((0, 70_000), (69_999, 70_000), (65_535, 70_000), (12_345, 65_537), (300, 301)):
        assert prove_inclusion(index, size, tree.subtree) == prove_inclusion(index, size, naive)


@pytest.mark.parametrize(("level", "index"), [(0, -1), (0, 600), (1, 300), (8, 2), (10, 0), (-1, 0), (64, 0)])
def test_nothing_beyond_the_tree_is_read(level: int, index: int) -> None:
    frontier, tiles = grown(600)
    storage = Storage(tiles)
    tree = TileTree(storage, frontier)
    with pytest.raises(IndexError):
        tree.subtree(level, index)
    if level == 0:
        with pytest.raises(IndexError):
            tree.leaf(index)
        with pytest.raises(IndexError):
            tree.leaves(index, index + 1)
    with pytest.raises(KeyError):
        frontier.subtree(level, index)
    assert storage.reads == []


def test_a_checked_tile_is_read_once() -> None:
    frontier, tiles = grown(70_000)
    storage = Storage(tiles)
    tree = TileTree(storage, frontier)
    for index in (0, 1, 255, 0):
        tree.leaf(index)
    assert storage.reads == [(0, 0), (1, 0)]
    tree.leaf(65_536)  # Its parent is on the edge.
    tree.leaf(69_999)  # It is on the edge itself.
    assert storage.reads == [(0, 0), (1, 0), (0, 256)]


def test_the_cache_is_bounded_and_drops_what_was_used_longest_ago() -> None:
    frontier, tiles = grown(1024)
    storage = Storage(tiles)
    tree = TileTree(storage, frontier, capacity=2)
    for n in (0, 1, 0, 2, 0, 1):
        assert tree.leaf(n * 256) == LEAVES[n * 256]
    assert storage.reads == [(0, 0), (0, 1), (0, 2), (0, 1)]
    with pytest.raises(ValueError, match="at least one"):
        TileTree(storage, frontier, capacity=0)


def test_a_cache_of_one_tile_still_reads_the_whole_tree() -> None:
    frontier, tiles = grown(70_000)
    tree = TileTree(Storage(tiles), frontier, capacity=1)
    for index in range(0, 70_000, 5003):
        assert tree.leaf(index) == LEAVES[index]


def test_the_edge_advances_under_the_reader() -> None:
    frontier = Frontier()
    stored: Stored = {}
    pending: Stored = {}
    tree = TileTree(Storage(stored), frontier, pending)
    for size in range(100, 2001, 100):
        frontier.extend(LEAVES[size - 100 : size])
        for level, n, tile in frontier.take_full():
            stored |= pending  # What was pending until now has been written.
            pending.clear()
            pending[level, n] = tile
        for index in range(0, size, 31):
            assert tree.leaf(index) == LEAVES[index]
        assert tree.subtree(6, size // 64 - 1) == root_of(LEAVES[(size // 64 - 1) * 64 : size // 64 * 64])


def wrong_tiles(tile: bytes) -> dict[str, bytes]:
    return {
        "first bit": bytes([tile[0] ^ 1]) + tile[1:],
        "last bit": tile[:-1] + bytes([tile[-1] ^ 0x80]),
        "a hash replaced": tile[:4096] + LEAVES[-1] + tile[4128:],
        "two hashes swapped": tile[32:64] + tile[:32] + tile[64:],
        "reversed": tile[::-1],
        "zeros": bytes(8192),
        "empty": b"",
        "one byte less": tile[:-1],
        "one hash less": tile[:-32],
        "one hash more": tile + tile[:32],
        "twice": tile * 2,
        "its own root": tile_root(tile),
    }


@pytest.mark.parametrize("what", wrong_tiles(bytes(8192)))
@pytest.mark.parametrize("key", [(0, 0), (0, 100), (0, 256), (1, 0)])
def test_a_wrong_tile_is_refused_wherever_it_is_read(what: str, key: tuple[int, int]) -> None:
    level, n = key
    frontier, tiles = grown(70_000)
    wrong = wrong_tiles(tiles[key])[what]
    named = rf"^{tile_path(level, n)} .*braid doctor --fix"
    for overlay in (False, True):
        storage = Storage(tiles | ({} if overlay else {key: wrong}))
        tree = TileTree(storage, frontier, {key: wrong} if overlay else {})
        for _ in range(2):  # A refused tile isn't kept.
            with pytest.raises(TileError, match=named):
                tree.leaf(n << 8 * (level + 1))
            with pytest.raises(TileError, match=named):
                tree.subtree(8 * level + 3, n << 5)
        storage.tiles = tiles
        if not overlay:
            assert tree.leaf(n << 8 * (level + 1)) == LEAVES[n << 8 * (level + 1)]


def test_another_tree_s_tiles_are_refused() -> None:
    """Tiles that agree with each other but not with the authenticated edge."""
    frontier, tiles = grown(70_000)
    other = Frontier()
    other.extend([LEAVES[1], *LEAVES[1:]])
    forged = {(level, n): tile for level, n, tile in other.take_full()}
    tree = TileTree(Storage(tiles | forged), frontier)
    with pytest.raises(TileError, match=r"^tile/1/000 "):
        tree.leaf(5)
    assert tree.leaf(66_000) == LEAVES[66_000]


def test_a_tile_in_the_place_of_its_neighbour_is_refused() -> None:
    frontier, tiles = grown(70_000)
    tree = TileTree(Storage(tiles | {(0, 7): tiles[0, 8]}), frontier)
    with pytest.raises(TileError, match=r"^tile/0/007 "):
        tree.leaf(7 * 256)


@pytest.mark.parametrize("error", [KeyError, FileNotFoundError])
def test_a_missing_tile_is_named(error: type[Exception]) -> None:
    frontier, _ = grown(600)

    def load(level: int, n: int, width: int) -> bytes:
        raise error

    with pytest.raises(TileError, match="tile/0/001 is missing; rebuild tiles with `braid doctor --fix`"):
        TileTree(load, frontier).leaf(300)


def test_a_failing_disk_is_not_a_bad_tile() -> None:
    frontier, _ = grown(600)

    def load(level: int, n: int, width: int) -> bytes:
        raise OSError(5, "Input/output error")

    with pytest.raises(OSError, match="Input/output"):
        TileTree(load, frontier).leaf(300)
