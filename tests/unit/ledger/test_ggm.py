"""The puncturable key at its real depth: fixed values, costs, refusals (SPEC §4.1)."""

import random

import pytest
from blake3 import blake3

from braid.ledger.crypto import ggm
from braid.ledger.crypto.ggm import Node, PuncturableKey
from braid.ledger.errors import LedgerError, PuncturedError

ROOT = bytes(range(32))
TOP = 2**40 - 1


def leaf_by_hand(root: bytes, index: int, depth: int = 40) -> bytes:
    """Return a leaf seed as SPEC §4.1 says it, bit by bit."""
    seed = root
    for bit in range(depth - 1, -1, -1):
        pair = blake3(b"braid/v1/ggm", key=seed).digest(length=64)
        seed = pair[32:] if index >> bit & 1 else pair[:32]
    return seed


def count_expansions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the BLAKE3 calls of the module from now on, in a list of one number."""
    calls = [0]

    def counting(data: bytes, *, key: bytes) -> blake3:
        calls[0] += 1
        return blake3(data, key=key)

    monkeypatch.setattr(ggm, "blake3", counting)
    return calls


def test_leaves_follow_the_specification() -> None:
    key = PuncturableKey.fresh(ROOT)
    for index in (0, 1, 2, 255, 256, 257, 2**20, 2**39 - 1, 2**39, TOP, 1, 0):
        assert key.derive(index) == leaf_by_hand(ROOT, index)


def test_known_answer() -> None:
    key = PuncturableKey.fresh(bytes(32))
    assert key.derive(0).hex() == "0800644f7ea0f0ec9a915ae83ddcd6b6a61e14dacf86b2bccae1738c1c588ec1"
    assert key.derive(TOP).hex() == "cb42b67dc3ced5c9f33f7c49a86dee0a2a61962831111537b7e0416d007a3918"


def test_random_order_equals_block_order() -> None:
    key = PuncturableKey.fresh(ROOT)
    block = key.derive_block(1000, 700)
    indexes = [random.randrange(700) for _ in range(500)]
    assert [key.derive(1000 + i) for i in indexes] == [block[i] for i in indexes]


def test_sequential_derivation_expands_each_node_once(monkeypatch: pytest.MonkeyPatch) -> None:
    key = PuncturableKey.fresh(ROOT)
    calls = count_expansions(monkeypatch)
    for index in range(4096):
        key.derive(index)
    assert calls[0] <= 4096 + 40
    calls[0] = 0
    key.derive_block(4096, 4096)
    assert calls[0] <= 4096 + 40


def test_repeated_reads_near_each_other_start_from_a_cached_block(monkeypatch: pytest.MonkeyPatch) -> None:
    key = PuncturableKey.fresh(ROOT)
    places = [random.randrange(2**40) for _ in range(50)]
    for place in places:
        key.derive(place)
    calls = count_expansions(monkeypatch)
    for place in places:
        key.derive(place ^ 1)
    assert calls[0] == 0  # the pair of siblings was kept
    for place in places:
        key.derive(place ^ 0x80)
    assert calls[0] <= 8 * len(places)


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ggm, "CACHED_BLOCKS", 4)
    key = PuncturableKey.fresh(ROOT)
    for index in range(0, 256 * 20, 256):
        key.derive(index)
    assert len(key._blocks) == 4  # pyright: ignore[reportPrivateUsage]
    assert key.derive(0) == leaf_by_hand(ROOT, 0)


def test_a_punctured_leaf_is_refused_by_index_and_its_neighbours_stay() -> None:
    key = PuncturableKey.fresh(ROOT)
    key.derive(41)
    key.derive(42)
    key.puncture([42])
    with pytest.raises(PuncturedError, match=r"^the key of record 42 was erased$") as refusal:
        key.derive(42)
    assert refusal.value.index == 42
    assert isinstance(refusal.value, LedgerError)
    assert isinstance(refusal.value, LookupError)
    assert key.is_punctured(42)
    assert not key.is_punctured(43)
    assert [key.derive(i) for i in (41, 43, TOP)] == [leaf_by_hand(ROOT, i) for i in (41, 43, TOP)]
    assert key.derive_block(41, 3) == [leaf_by_hand(ROOT, 41), None, leaf_by_hand(ROOT, 43)]
    assert len(key) == 40


def test_ranges_cost_few_nodes_and_scattered_leaves_are_quick() -> None:
    key = PuncturableKey.fresh(ROOT)
    key.puncture(range(1 << 16))
    assert len(key) == 24
    scattered = random.sample(range(1 << 16, 1 << 20), 20_000)
    key.puncture(scattered)
    gone = set(scattered)
    for index in random.sample(range(1 << 16, 1 << 20), 300):
        assert key.is_punctured(index) == (index in gone)
        if index not in gone:
            assert key.derive(index) == leaf_by_hand(ROOT, index)


def test_puncturing_again_or_with_nothing_changes_nothing() -> None:
    key = PuncturableKey.fresh(ROOT)
    key.puncture([7, 9])
    before = list(key.nodes())
    key.puncture([9, 7, 7])
    key.puncture([])
    assert list(key.nodes()) == before


def test_a_copy_is_equal_and_separate() -> None:
    key = PuncturableKey.fresh(ROOT)
    twin = key.copy()
    assert twin == key
    twin.puncture([3])
    assert twin != key
    assert key.derive(3) == leaf_by_hand(ROOT, 3)
    assert key != "something else"


def test_nodes_rebuild_the_key() -> None:
    key = PuncturableKey.fresh(ROOT)
    key.puncture([5, 1000, TOP])
    nodes = list(key.nodes())
    assert PuncturableKey(nodes) == key
    assert PuncturableKey(reversed(nodes)) == key
    firsts = [node.prefix << (40 - node.depth) for node in nodes]
    assert firsts == sorted(firsts)


@pytest.mark.parametrize("index", [-1, 2**40, 2**70])
def test_indexes_outside_the_tree_are_misuse(index: int) -> None:
    key = PuncturableKey.fresh(ROOT)
    for use in (key.derive, key.is_punctured):
        with pytest.raises(ValueError, match="not within"):
            use(index)
    with pytest.raises(ValueError, match="not within"):
        key.puncture([1, index])
    with pytest.raises(ValueError, match="not within"):
        key.derive_block(index, 1)
    assert key == PuncturableKey.fresh(ROOT)


def test_blocks_end_with_the_tree() -> None:
    key = PuncturableKey.fresh(ROOT)
    assert key.derive_block(TOP, 1) == [leaf_by_hand(ROOT, TOP)]
    assert key.derive_block(5, 0) == []
    with pytest.raises(ValueError, match="not within"):
        key.derive_block(TOP, 2)


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([Node(0, 0, b"short")], "not 32 bytes"),
        ([Node(41, 0, ROOT)], "not a node"),
        ([Node(-1, 0, ROOT)], "not a node"),
        ([Node(3, 8, ROOT)], "not a node"),
        ([Node(3, 2, ROOT), Node(3, 2, ROOT)], "given twice"),
        ([Node(3, 2, ROOT), Node(2, 1, ROOT)], "inside another"),
        ([Node(2, 1, ROOT), Node(40, 1 << 38, ROOT)], "inside another"),
    ],
)
def test_nodes_that_make_no_key_are_refused(nodes: list[Node], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        PuncturableKey(nodes)


@pytest.mark.parametrize("depth", [0, 61])
def test_depths_outside_the_format_are_refused(depth: int) -> None:
    with pytest.raises(ValueError, match="depth"):
        PuncturableKey.fresh(ROOT, depth)


def test_nothing_prints_a_seed() -> None:
    key = PuncturableKey.fresh(b"\xaa" * 32)
    shown = f"{key!r} {key} {next(key.nodes())!r} {Node(1, 0, b'short')!r}"
    assert "aa" not in shown
    assert "short" not in shown


def test_the_highest_erased_leaf_is_known() -> None:
    key = PuncturableKey.fresh(bytes(32), depth=5)
    assert key.last_punctured() == -1
    for leaf in (0, 7, 3, 30, 12, 31):
        key.puncture([leaf])
        assert key.last_punctured() == max(at for at in range(32) if key.is_punctured(at))
    key.puncture(range(32))
    assert key.last_punctured() == 31
