"""Proofs and edges against a naive tree that follows RFC 6962 word for word."""

from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.ledger.errors import ProofError
from braid.ledger.tree.merkle import (
    EMPTY_ROOT,
    check_consistency,
    check_inclusion,
    leaf_hash,
    node_hash,
    prove_consistency,
    prove_inclusion,
    root_of,
    subtrees_of,
)
from braid.ledger.tree.tiles import (
    Frontier,
    TileTree,
    entries_path,
    parse_entries_path,
    parse_tile_path,
    tile_path,
    tiles_for_size,
)

LEAVES = [leaf_hash(i.to_bytes(2, "big")) for i in range(2000)]


def split_of(count: int) -> int:
    split = 1
    while split * 2 < count:
        split *= 2
    return split


@cache
def mth(start: int, end: int) -> bytes:
    """RFC 6962 §2.1."""
    if end - start < 2:
        return LEAVES[start] if end > start else EMPTY_ROOT
    middle = start + split_of(end - start)
    return node_hash(mth(start, middle), mth(middle, end))


def path(index: int, start: int, end: int) -> list[bytes]:
    """RFC 6962 §2.1.1; `index` counts from `start`."""
    if end - start == 1:
        return []
    split = split_of(end - start)
    middle = start + split
    if index < split:
        return [*path(index, start, middle), mth(middle, end)]
    return [*path(index - split, middle, end), mth(start, middle)]


def subproof(old: int, start: int, end: int, whole: bool) -> list[bytes]:
    """RFC 6962 §2.1.2; `old` counts from `start`."""
    if old == end - start:
        return [] if whole else [mth(start, end)]
    split = split_of(end - start)
    middle = start + split
    if old <= split:
        return [*subproof(old, start, middle, whole), mth(middle, end)]
    return [*subproof(old - split, middle, end, False), mth(start, middle)]


def grown(leaves: Sequence[bytes]) -> TileTree:
    frontier = Frontier()
    frontier.extend(leaves)
    tiles = {(level, n): tile for level, n, tile in frontier.take_full()}
    return TileTree(lambda level, n, _: tiles[level, n], frontier)


def test_every_inclusion_up_to_64_leaves() -> None:
    subtree = subtrees_of(LEAVES)
    for size in range(1, 65):
        root = root_of(LEAVES[:size])
        assert root == mth(0, size)
        for index in range(size):
            proof = prove_inclusion(index, size, subtree)
            assert proof == path(index, 0, size)
            check_inclusion(index, size, LEAVES[index], proof, root)


def test_every_consistency_up_to_64_leaves() -> None:
    subtree = subtrees_of(LEAVES)
    for size in range(1, 65):
        for old in range(1, size + 1):
            proof = prove_consistency(old, size, subtree)
            assert proof == subproof(old, 0, size, True)
            check_consistency(old, size, proof, mth(0, old), mth(0, size))


def test_a_proof_holds_for_no_other_place_up_to_24_leaves() -> None:
    """Where the number of hashes fits another (index, size), a hash must not."""
    for size in range(1, 25):
        for index in range(size):
            proof = path(index, 0, size)
            for other in range(25):
                if other != index:
                    with pytest.raises(ProofError):
                        check_inclusion(other, size, LEAVES[index], proof, mth(0, size))


def test_a_consistency_proof_holds_for_no_other_sizes_up_to_20_leaves() -> None:
    """Each root stands for one size, and stating another pair of sizes with their own roots needs another proof."""
    pairs = [(old, size) for size in range(2, 21) for old in range(1, size)]
    for old, size in pairs:
        proof = subproof(old, 0, size, True)
        for other_old, other_size in pairs:
            if subproof(other_old, 0, other_size, True) != proof:
                with pytest.raises(ProofError):
                    check_consistency(other_old, other_size, proof, mth(0, other_old), mth(0, other_size))


sizes = st.integers(1, 2000)


@given(sizes, st.data())
def test_inclusion_from_tiles_is_that_of_the_rfc(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    tree = grown(LEAVES[: data.draw(st.integers(size, 2000))])
    proof = prove_inclusion(index, size, tree.subtree)
    assert proof == path(index, 0, size)
    check_inclusion(index, size, LEAVES[index], proof, mth(0, size))


@given(sizes, st.data())
def test_consistency_from_tiles_is_that_of_the_rfc(size: int, data: st.DataObject) -> None:
    old = data.draw(st.integers(1, size))
    tree = grown(LEAVES[: data.draw(st.integers(size, 2000))])
    proof = prove_consistency(old, size, tree.subtree)
    assert proof == subproof(old, 0, size, True)
    check_consistency(old, size, proof, mth(0, old), mth(0, size))


@given(sizes, st.data())
def test_a_flipped_bit_anywhere_is_refused(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    values = [LEAVES[index], mth(0, size), *path(index, 0, size)]
    which, bit = data.draw(st.integers(0, len(values) - 1)), data.draw(st.integers(0, 255))
    spoilt = bytearray(values[which])
    spoilt[bit // 8] ^= 1 << bit % 8
    values[which] = bytes(spoilt)
    leaf, root, *proof = values
    with pytest.raises(ProofError):
        check_inclusion(index, size, leaf, proof, root)


@given(st.lists(st.integers(0, 300), max_size=12))
def test_an_edge_is_the_same_however_it_grew(steps: list[int]) -> None:
    frontier, size = Frontier(), 0
    for step in steps:
        part = LEAVES[size : size + step]
        frontier.extend(part)
        size += len(part)
        again = Frontier.from_partials(size, {level: tile for level, _, _, tile in frontier.partials()})
        assert frontier.copy().root() == again.root() == mth(0, size)


@given(st.integers(0, 100_000), st.integers(0, 70_000))
def test_the_tiles_since_a_size_are_those_that_it_has_not(old: int, step: int) -> None:
    fresh = list(tiles_for_size(old + step, since=old))
    assert len(fresh) == len(set(fresh))
    assert set(fresh) == set(tiles_for_size(old + step)) - set(tiles_for_size(old))


@given(st.integers(0, 63), st.integers(0, 10**18), st.integers(0, 255))
def test_paths_come_back(level: int, n: int, width: int) -> None:
    assert parse_tile_path(tile_path(level, n, width)) == (level, n, width)
    assert parse_entries_path(entries_path(n, width)) == (n, width)


@given(
    st.from_regex(r"tile/(entries|[0-9]{1,2})/(x?[0-9]{2,4}/){0,3}[0-9]{3}(\.p/[0-9]{0,3})?", fullmatch=True)
)
def test_a_path_that_is_read_is_the_one_that_is_written(text: str) -> None:
    for parse, write in ((parse_tile_path, tile_path), (parse_entries_path, entries_path)):
        try:
            parsed = parse(text)
        except ValueError:
            continue
        assert write(*parsed) == text
