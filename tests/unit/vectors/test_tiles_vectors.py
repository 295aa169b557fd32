"""Tile paths, tile contents and tile-crossing roots: values of tessera and of the tlog-tiles specification."""

import pytest

from braid.ledger.tree.merkle import leaf_hash
from braid.ledger.tree.tiles import (
    Frontier,
    Tile,
    entries_path,
    pack_entries,
    parse_entries_path,
    parse_tile_path,
    partial_tiles,
    tile_path,
    tile_root,
    tile_width,
    tiles_for_size,
    unpack_entries,
)

PATHS = {
    "tile/0/000": (0, 0, 0),
    "tile/0/000.p/1": (0, 0, 1),
    "tile/15/x455/667": (15, 455_667, 0),
    "tile/3/x001/x234/067": (3, 1_234_067, 0),
    "tile/15/x123/x456/789.p/41": (15, 123_456_789, 41),
    "tile/63/999.p/255": (63, 999, 255),
    "tile/1/x001/000": (1, 1000, 0),
}


@pytest.mark.parametrize("path", PATHS)
def test_tile_path(path: str) -> None:
    assert tile_path(*PATHS[path]) == path
    assert parse_tile_path(path) == Tile(*PATHS[path])


@pytest.mark.parametrize(
    ("path", "n", "width"),
    [
        ("tile/entries/255.p/253", 255, 253),
        ("tile/entries/000", 0, 0),
        ("tile/entries/x001/x234/067.p/8", 1_234_067, 8),
    ],
)
def test_entries_path(path: str, n: int, width: int) -> None:
    assert entries_path(n, width) == path
    assert parse_entries_path(path) == (n, width)


@pytest.mark.parametrize(
    ("index", "size", "path"),
    [(256, 257, "tile/entries/001.p/1"), (3, 257, "tile/entries/000"), (0, 1, "tile/entries/000.p/1")],
)
def test_the_bundle_of_an_entry(index: int, size: int, path: str) -> None:
    n = index // 256
    assert entries_path(n, tile_width(0, n, size)) == path


BAD_NUMBERS = [
    "x001/x234/067.p/",
    "x001/x234",
    "x001",
    "x001/0002",
    "x001/-002",
    "x001/002.p/256",
    "x001/002.p/0",
    "x001/002.p/01",
    "x001/002.p/-1",
    "x001/002.p/1.p/1",
    "001/002",
    "x000/001",
    "x001/x002/003/004",
    "",
    "0",
    "00",
    "0000",
    "abc",
    "+01",
    "1_0",
    "\u0660\u0660\u0661",
    "000/",
    "/000",
    "000\n",
    "000.P/1",
    "x" * 3,
    "x001/" * 7 + "000",
]


@pytest.mark.parametrize("number", BAD_NUMBERS)
def test_a_bad_number_is_refused(number: str) -> None:
    with pytest.raises(ValueError, match="not the path of a tile"):
        parse_tile_path(f"tile/0/{number}")
    with pytest.raises(ValueError, match="not the path of an entry bundle"):
        parse_entries_path(f"tile/entries/{number}")


@pytest.mark.parametrize(
    "path",
    ["tile/64/000", "tile/-1/000", "tile/00/000", "tile/01/000", "tile/ 1/000", "tile/1", "/tile/1/000", ""],
)
def test_a_bad_level_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="not the path of a tile"):
        parse_tile_path(path)


def test_the_two_kinds_of_path_are_not_confused() -> None:
    with pytest.raises(ValueError, match="not the path"):
        parse_tile_path("tile/entries/000")
    with pytest.raises(ValueError, match="not the path"):
        parse_entries_path("tile/0/000")


@pytest.mark.parametrize(
    ("level", "n", "width"), [(64, 0, 0), (-1, 0, 0), (0, -1, 0), (0, 0, 256), (0, 0, -1)]
)
def test_no_path_outside_the_ranges(level: int, n: int, width: int) -> None:
    with pytest.raises(ValueError, match="tile"):
        tile_path(level, n, width)


def test_the_tiles_of_70000_leaves() -> None:
    tiles = list(tiles_for_size(70_000))
    assert tiles == [
        *(Tile(0, n, 0) for n in range(273)),
        Tile(1, 0, 0),
        Tile(0, 273, 112),
        Tile(1, 1, 17),
        Tile(2, 0, 1),
    ]
    assert partial_tiles(70_000) == tiles[-3:]
    assert [tile_width(*tile[:2], 70_000) for tile in tiles] == [tile.width for tile in tiles]


def test_the_tiles_of_256_leaves() -> None:
    assert [tile_path(*tile) for tile in tiles_for_size(256)] == ["tile/0/000", "tile/1/000.p/1"]


def test_the_tiles_of_no_leaves() -> None:
    assert list(tiles_for_size(0)) == partial_tiles(0) == []
    with pytest.raises(IndexError):
        tile_width(0, 0, 0)


@pytest.mark.parametrize(
    ("size", "root"),
    [
        (255, "32f85bcaa87d7bcd05728f09e9aeba350ba6a2f733830087f0597682848be5cb"),
        (256, "828515d033c19d8c901f37eccb8aed919667703486f8d2fff1cf7040321c5db1"),
        (257, "1eda049a4351d86f76252bd7ec0b7746ad75b7fa0316ad5f541dbda458a312c4"),
        (300, "84e13ec1e037155ae619757599b2cd21ada5a565e0fd9b3139c0c3c6c1b8ada9"),
        (70_000, "1a4cdfcb66374a0c0dcbef49acbd4976d13ee864fb3cb241fc943cad04f02f7e"),
    ],
)
def test_tile_crossing_roots(size: int, root: str) -> None:
    frontier = Frontier()
    frontier.extend([leaf_hash(str(i).encode()) for i in range(size)])
    assert frontier.root().hex() == root


def test_the_level_1_tile_of_256_leaves_is_the_root() -> None:
    frontier = Frontier()
    frontier.extend([leaf_hash(str(i).encode()) for i in range(256)])
    root = bytes.fromhex("828515d033c19d8c901f37eccb8aed919667703486f8d2fff1cf7040321c5db1")
    [(level, n, tile)] = frontier.take_full()
    assert (level, n, len(tile), tile_root(tile)) == (0, 0, 8192, root)
    assert frontier.partials() == [(1, 0, 1, root)]


def test_the_first_tile_of_the_small_log() -> None:
    frontier = Frontier()
    frontier.append(leaf_hash(b"one"))
    tile = bytes.fromhex("d0d7360ab79f58ab1e1e3fe64ad77e2ea0bc07e36b5f46ed2223edd9298df9e9")
    assert frontier.partials() == [(0, 0, 1, tile)]


def test_the_entry_bundle_of_the_small_log() -> None:
    bundle = bytes.fromhex("00036f6e65000374776f")
    assert pack_entries([b"one", b"two"]) == bundle
    assert unpack_entries(bundle) == [b"one", b"two"]
    assert unpack_entries(pack_entries([b"", b"x" * 65_535])) == [b"", b"x" * 65_535]


@pytest.mark.parametrize("cut", [1, 2, 3, 4, 6, 7, 9])
def test_a_bundle_that_ends_within_an_entry_is_refused(cut: int) -> None:
    with pytest.raises(ValueError, match="not an entry bundle"):
        unpack_entries(bytes.fromhex("00036f6e65000374776f")[:cut])


def test_bundles_out_of_range_are_refused() -> None:
    for entries in ([], [b""] * 257, [b"x" * 65_536]):
        with pytest.raises(ValueError, match="has"):
            pack_entries(entries)
    for bundle in (b"", b"\0\0" * 257):
        with pytest.raises(ValueError, match="not an entry bundle"):
            unpack_entries(bundle)
