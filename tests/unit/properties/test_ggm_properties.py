"""The puncturable key against a table of every leaf of a small tree (SPEC §4.1, §4.3)."""

import gc
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import astuple

from braid.ledger.crypto.ggm import Node, PuncturableKey
from braid.ledger.errors import PuncturedError
from braid.ledger.keys.vault import Vault

DEPTHS = st.integers(1, 10)
ROOT = b"\x07" * 32


def all_seeds(root: bytes, depth: int) -> dict[int, bytes]:
    """Return the seed of every node of the tree by heap number."""
    seeds = {1: root}
    for number in range(1, 1 << depth):
        pair = blake3(b"braid/v1/ggm", key=seeds[number]).digest(length=64)
        seeds[2 * number], seeds[2 * number + 1] = pair[:32], pair[32:]
    return seeds


TABLES = {depth: all_seeds(ROOT, depth) for depth in range(1, 11)}


def fatal(depth: int, gone: set[int]) -> set[bytes]:
    """Return every seed from which one of the erased leaves follows."""
    return {TABLES[depth][((1 << depth) | leaf) >> up] for leaf in gone for up in range(depth + 1)}


def leaves(depth: int) -> st.SearchStrategy[list[int]]:
    """Draw leaf indexes: scattered ones and runs."""
    one = st.integers(0, (1 << depth) - 1)
    runs = st.tuples(one, st.integers(1, 40)).map(lambda run: list(range(run[0], min(sum(run), 1 << depth))))
    return st.lists(one.map(lambda leaf: [leaf]) | runs, max_size=12).map(
        lambda parts: list(chain.from_iterable(parts))
    )


def number(node: Node) -> int:
    """Return a node's heap number."""
    return 1 << node.depth | node.prefix


@st.composite
def cases(draw: st.DrawFn) -> tuple[int, list[int], list[int]]:
    """Draw a depth, leaves to erase, and leaves to read before and between."""
    depth = draw(DEPTHS)
    return depth, draw(leaves(depth)), draw(leaves(depth))


@given(cases())
def test_what_remains_is_the_table_without_the_erased(case: tuple[int, list[int], list[int]]) -> None:
    depth, gone, reads = case
    key = PuncturableKey.fresh(ROOT, depth)
    for leaf in reads:
        assert key.derive(leaf) == TABLES[depth][1 << depth | leaf]
    key.puncture(gone)
    expected = [None if i in set(gone) else TABLES[depth][1 << depth | i] for i in range(1 << depth)]
    assert key.derive_block(0, 1 << depth) == expected
    for leaf in [*reads, *gone]:
        assert key.is_punctured(leaf) == (leaf in set(gone))
        if leaf not in set(gone):
            assert key.derive(leaf) == expected[leaf]
            continue
        with pytest.raises(PuncturedError) as refusal:
            key.derive(leaf)
        assert refusal.value.index == leaf


@given(cases(), st.integers(0, 1023), st.integers(0, 1023))
def test_any_block_is_a_slice(case: tuple[int, list[int], list[int]], a: int, b: int) -> None:
    depth, gone, _ = case
    start, stop = sorted((a % (1 << depth), b % (1 << depth)))
    key = PuncturableKey.fresh(ROOT, depth)
    key.puncture(gone)
    assert key.derive_block(start, stop - start) == key.derive_block(0, 1 << depth)[start:stop]


@given(cases(), st.data())
def test_order_and_grouping_do_not_matter(
    case: tuple[int, list[int], list[int]], data: st.DataObject
) -> None:
    depth, gone, _ = case
    at_once = PuncturableKey.fresh(ROOT, depth)
    at_once.puncture(gone)
    one_by_one = PuncturableKey.fresh(ROOT, depth)
    for leaf in data.draw(st.permutations(gone)):
        one_by_one.puncture([leaf])
    assert one_by_one == at_once
    assert list(one_by_one.nodes()) == list(at_once.nodes())


@given(cases())
def test_nodes_are_the_maximal_subtrees_without_an_erased_leaf(
    case: tuple[int, list[int], list[int]],
) -> None:
    depth, gone, _ = case
    key = PuncturableKey.fresh(ROOT, depth)
    key.puncture(gone)
    broken = {((1 << depth) | leaf) >> up for leaf in gone for up in range(depth + 1)}
    expected = {n for n in TABLES[depth] if n not in broken and (n == 1 or n >> 1 in broken)}
    assert {number(node) for node in key.nodes()} == expected
    assert all(node.seed == TABLES[depth][number(node)] for node in key.nodes())
    spans = [(n.prefix << (depth - n.depth), (n.prefix + 1) << (depth - n.depth)) for n in key.nodes()]
    assert all(left[1] <= right[0] for left, right in pairwise(spans))


def held_bytes(key: PuncturableKey) -> set[bytes]:
    """Return both halves of every bytes object that the key still refers to, caches included."""
    found: set[bytes] = set()
    todo: list[object] = [key]
    seen: set[int] = set()
    while todo:
        thing = todo.pop()
        if id(thing) in seen or isinstance(thing, type) or callable(thing):
            continue
        seen.add(id(thing))
        if isinstance(thing, bytes):
            found |= {thing[:32], thing[32:]}
        else:
            todo += gc.get_referents(thing)
    return found


@given(cases())
def test_no_cache_keeps_a_seed_above_an_erased_leaf(case: tuple[int, list[int], list[int]]) -> None:
    depth, gone, reads = case
    key = PuncturableKey.fresh(ROOT, depth)
    for leaf in [*reads, *gone]:
        key.derive(leaf)
    assert not gone or held_bytes(key) & fatal(depth, set(gone))  # the search does see them before
    key.puncture(gone)
    assert not held_bytes(key) & fatal(depth, set(gone))
    for leaf in reads:
        if not key.is_punctured(leaf):
            key.derive(leaf)
    assert not held_bytes(key) & fatal(depth, set(gone))


@given(st.sets(st.integers(0, 5000), min_size=1, max_size=6))
@settings(max_examples=15)
def test_the_vault_folder_holds_no_seed_above_an_erased_leaf(gone: set[int]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "vault")
        vault = Vault.create(path, "abcdefghijklmnop")
        root = path.read_bytes()[-32:]
        before = {leaf: vault.key(leaf) for leaf in gone}
        assert vault.puncture(gone) == 1
        raw = b"".join(file.read_bytes() for file in Path(folder).iterdir())
        for leaf in gone:
            seed = root
            for bit in range(39, -1, -1):
                assert seed not in raw
                pair = blake3(b"braid/v1/ggm", key=seed).digest(length=64)
                seed = pair[32:] if leaf >> bit & 1 else pair[:32]
            assert seed not in raw
            assert not any(part in raw for part in astuple(before[leaf]))
        survivor = min(set(range(5002)) - gone)
        assert Vault.open(path).key(survivor) == vault.key(survivor)
