"""RFC 6962 hashes and proofs: the values and the refusals of transparency-dev/merkle."""

from base64 import b64decode
from collections.abc import Iterator, Sequence
from hashlib import sha256

import pytest

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
from braid.ledger.tree.tiles import Frontier

ENTRIES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
LEAVES = [leaf_hash(entry) for entry in ENTRIES]
ROOTS = [
    bytes.fromhex(text)
    for text in (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    )
]
RANDOM = bytes.fromhex("abacaba000000000000000000000000000000000000000000060061e00123456")
TESTDATA_ENTRIES = (
    b"one two three four five six seven eit nain ten ileven twelf threeten fourten fivten".split()
)
TESTDATA_ROOTS = {
    0: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    1: "0Nc2CrefWKseHj/mStd+LqC8B+NrX0btIiPt2SmN+ek=",
    2: "T1X2GdkhUjV3iyufF9b0kVsWFxIU0VI4EpNml2Teci4=",
    3: "Wqx3HImawpLnS/Gv4ubjAvi1WIOy0b8Ze0amvqbavKk=",
    8: "bC+VwvrJbalNVjfkdI8kUgs7mJoXrqiXCE7bgnD28pY=",
    15: "rKbDipCvhuX1GZ7g5BBe8sA6BbJ7ja/1nk427v383cs=",
}


def hashes(*texts: str) -> list[bytes]:
    return [b64decode(text) for text in texts]


def flipped(data: bytes, bit: int = 4) -> bytes:
    return bytes([data[0] ^ 1 << bit]) + data[1:]


def test_the_hasher_of_rfc_6962() -> None:
    assert sha256(b"").digest() == EMPTY_ROOT == root_of([])
    assert leaf_hash(b"").hex() == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    assert leaf_hash(b"L123456").hex() == "395aa064aa4c29f7010acfe3f25db9485bbd4b91897b6ad7ad547639252b4d56"
    assert (
        node_hash(b"N123", b"N456").hex()
        == "aa217fe888e47007fa15edab33c2b492a722cb106c64667fc2b044444de66bbb"
    )


@pytest.mark.parametrize("size", range(9))
def test_the_roots_of_the_eight_leaf_tree(size: int) -> None:
    frontier = Frontier()
    frontier.extend(LEAVES[:size])
    assert root_of(LEAVES[:size]) == frontier.root() == ROOTS[size]


@pytest.mark.parametrize("size", TESTDATA_ROOTS)
def test_the_roots_of_the_small_log(size: int) -> None:
    leaves = [leaf_hash(entry) for entry in TESTDATA_ENTRIES]
    assert root_of(leaves[:size]) == b64decode(TESTDATA_ROOTS[size])


def test_the_proofs_of_the_small_log() -> None:
    leaves = [leaf_hash(entry) for entry in TESTDATA_ENTRIES]
    inclusion = hashes(
        "zMKa4OAqd7D0V4wawXST15z0JiEEkprIBPkfxOesWvA=",
        "nk9gCR+floFqznAPtqjjcnnV64dge2jQB95D5t164Hg=",
        "zY1lN35vrXYAPixXSd59LsU29xUJtuW4o2dNNg5Y2Co=",
        "5jLpqTgjsBDSEX6SgZiRnbTMdTuRd8bQ5tSsAOxe0Ks=",
    )
    assert leaves[5] == b64decode("yiM+eia4w1wsk/Ukx7kF56IQVkDW3MWUaUz/VtJu+yU=")
    assert prove_inclusion(5, 15, subtrees_of(leaves)) == inclusion
    check_inclusion(5, 15, leaves[5], inclusion, b64decode(TESTDATA_ROOTS[15]))
    consistency = hashes("5jLpqTgjsBDSEX6SgZiRnbTMdTuRd8bQ5tSsAOxe0Ks=")
    assert prove_consistency(8, 15, subtrees_of(leaves)) == consistency
    check_consistency(8, 15, consistency, b64decode(TESTDATA_ROOTS[8]), b64decode(TESTDATA_ROOTS[15]))


INCLUSION = {
    (0, 1): [],
    (0, 8): None,
    (5, 8): hashes(
        "vBoGQ7EuTS18d5GPROD095qDi2z57FtcKD4fTYhZnms=",
        "yoVOoSjtBQtBs1/8G4e46yveRh6eO1WW7Oa51ZdaCuA=",
        "037kGJdt2VdTwcc4Yrk5j6Kiz5tP8P3+izDNlSCWFLc=",
    ),
    (2, 3): hashes("+sVCA+fMaWzw38tCySodnbr3CtnmIfS9jZhmLwDjwSU="),
    (1, 5): None,
}
CONSISTENCY = {
    (1, 1): [],
    (1, 8): None,
    (6, 8): hashes(
        "DrxdNDf74tsVi58Sah0RjjCBgQMdCpSfje3t68VY72o=",
        "yoVOoSjtBQtBs1/8G4e46yveRh6eO1WW7Oa51ZdaCuA=",
        "037kGJdt2VdTwcc4Yrk5j6Kiz5tP8P3+izDNlSCWFLc=",
    ),
    (2, 5): hashes(
        "Xwg/ChozygdqlSeYMlgNs+DvRYS9/x9UyKNg9Q3jAx4=",
        "vBoGQ7EuTS18d5GPROD095qDi2z57FtcKD4fTYhZnms=",
    ),
    (6, 7): None,
}


@pytest.mark.parametrize("case", INCLUSION)
def test_inclusion_happy_path(case: tuple[int, int]) -> None:
    index, size = case
    proof = prove_inclusion(index, size, subtrees_of(LEAVES))
    assert INCLUSION[case] in (None, proof)
    check_inclusion(index, size, LEAVES[index], proof, ROOTS[size])


@pytest.mark.parametrize("case", CONSISTENCY)
def test_consistency_happy_path(case: tuple[int, int]) -> None:
    old, size = case
    proof = prove_consistency(old, size, subtrees_of(LEAVES))
    assert CONSISTENCY[case] in (None, proof)
    check_consistency(old, size, proof, ROOTS[old], ROOTS[size])


def wrong_proofs(proof: list[bytes], roots: Sequence[bytes]) -> Iterator[tuple[str, list[bytes]]]:
    """Yield the ways in which a list of hashes is spoilt, each with its name in the corpus."""
    for i in range(len(proof)):
        yield f"modified-proof[{i}]-bit-4", [*proof[:i], flipped(proof[i]), *proof[i + 1 :]]
        yield f"removed-component[{i}]", [*proof[:i], *proof[i + 1 :]]
    for i in range(len(proof) + 1):
        yield f"inserted-component[{i}]", [*proof[:i], RANDOM, *proof[i:]]
    if proof:
        yield "empty-proof", []
        yield "truncated-proof", proof[:-1]
        yield "preceding-proof[0]", [proof[0], *proof]
        yield "short-hash", [proof[0][:-1], *proof[1:]]
        yield "long-hash", [proof[0] + b"\0", *proof[1:]]
    yield "preceding-garbage", [b"\0" * 32, *proof]
    yield "trailing-garbage", [*proof, b"\0" * 32]
    yield "trailing-empty-hash", [*proof, b""]
    for number, root in enumerate(roots, 1):
        yield f"preceding-root{number}", [root, *proof]
        yield f"trailing-root{number}", [*proof, root]


def inclusion_probes() -> Iterator[tuple[str, int, int, bytes, list[bytes], bytes]]:
    for index, size in INCLUSION:
        leaf, root = LEAVES[index], ROOTS[size]
        proof = prove_inclusion(index, size, subtrees_of(LEAVES))
        case = f"{index}@{size}"
        for name, wrong in wrong_proofs(proof, [root]):
            yield f"{case}-{name}", index, size, leaf, wrong, root
        for name, other in {"-1": index - 1, "+1": index + 1, "XOR 2": index ^ 2, "*2": index * 2}.items():
            if other != index:
                yield f"{case}-leafIdx {name}", other, size, leaf, proof, root
        for name, other in {"*2": size * 2, "/2": size // 2, "negative": -size}.items():
            # The proof of leaf 0 in 8 leaves is too short for 16 and too long for 4.
            yield f"{case}-treeSize {name}", index, other, leaf, proof, root
        yield f"{case}-wrong-leaf", index, size, leaf_hash(b"WrongLeaf"), proof, root
        yield f"{case}-leaf-entry-for-hash", index, size, ENTRIES[index], proof, root
        yield f"{case}-random-root", index, size, leaf, proof, RANDOM
        yield f"{case}-modified-root-bit-4", index, size, leaf, proof, flipped(root)
        yield f"{case}-empty-root", index, size, leaf, proof, EMPTY_ROOT
        yield f"{case}-no-root", index, size, leaf, proof, b""
    for index, size in ((0, 0), (0, 1), (1, 0), (2, 1)):
        yield f"additional/{index}@{size}/empty-root", index, size, b"", [], EMPTY_ROOT
        yield f"additional/{index}@{size}/random-leaf", index, size, RANDOM, [], b""
        yield f"additional/{index}@{size}/empty-root-and-random-leaf", index, size, RANDOM, [], EMPTY_ROOT


INCLUSION_PROBES = {probe[0]: probe[1:] for probe in inclusion_probes()}


@pytest.mark.parametrize("name", INCLUSION_PROBES)
def test_inclusion_probe_is_refused(name: str) -> None:
    index, size, leaf, proof, root = INCLUSION_PROBES[name]
    with pytest.raises(ProofError):
        check_inclusion(index, size, leaf, proof, root)


def consistency_probes() -> Iterator[tuple[str, int, int, list[bytes], bytes, bytes]]:
    for old, size in CONSISTENCY:
        root1, root2 = ROOTS[old], ROOTS[size]
        proof = prove_consistency(old, size, subtrees_of(LEAVES))
        case = f"{old}to{size}"
        for name, wrong in wrong_proofs(proof, [root1, root2]):
            yield f"{case}-{name}", old, size, wrong, root1, root2
        for name, other in {"-1": old - 1, "+1": old + 1, "XOR 2": old ^ 2, "/2": old // 2}.items():
            yield f"{case}-size1 {name}", other, size, proof, root1, root2
        for name, other in {"*2": size * 2, "/2": size // 2}.items():
            if (old, size, name) != (1, 1, "/2"):
                yield f"{case}-size2 {name}", old, other, proof, root1, root2
        if root1 != root2:
            yield f"{case}-swapped-roots", old, size, proof, root2, root1
        yield f"{case}-wrong-root1", old, size, proof, RANDOM, root2
        yield f"{case}-wrong-root2", old, size, proof, root1, RANDOM
    dont_care1, dont_care2 = b"don't care 1", b"don't care 2"
    one, two = RANDOM, flipped(RANDOM)
    for a, b in ((dont_care1, dont_care2), (one, two), (one, one)):
        where = f"{len(a)}-{a == b}"
        for old, size in ((0, 0), (0, 1), (0, 2), (2, 1), (8, 7), (-1, 1), (-1, -1)):
            yield f"additional/{where}/no-proof-from-{old}-to-{size}", old, size, [], a, b
            yield f"additional/{where}/some-proof-from-{old}-to-{size}", old, size, [RANDOM], a, b
        yield f"additional/{where}/sizes-do-not-match-and-proof-is-empty", 1, 2, [], a, b
        yield f"additional/{where}/sizes-match-but-proof-is-not-empty", 1, 1, [RANDOM], a, b
    yield "additional/roots-do-not-match-and-sizes-are-zero", 0, 0, [], EMPTY_ROOT, RANDOM
    yield "additional/roots-do-not-match-and-sizes-are-one", 1, 1, [], ROOTS[1], RANDOM
    yield "additional/consistency-check-on-empty-tree-is-useless", 0, 5, [], EMPTY_ROOT, ROOTS[5]


CONSISTENCY_PROBES = {probe[0]: probe[1:] for probe in consistency_probes()}


@pytest.mark.parametrize("name", CONSISTENCY_PROBES)
def test_consistency_probe_is_refused(name: str) -> None:
    old, size, proof, root1, root2 = CONSISTENCY_PROBES[name]
    with pytest.raises(ProofError):
        check_consistency(old, size, proof, root1, root2)


def test_a_refusal_says_what_is_wrong_with_the_length() -> None:
    inclusion = prove_inclusion(5, 8, subtrees_of(LEAVES))
    consistency = prove_consistency(6, 8, subtrees_of(LEAVES))
    for step, what in ((-1, "fewer|too few"), (1, "more|too many")):
        with pytest.raises(ProofError, match=what):
            check_inclusion(5, 8, LEAVES[5], [*inclusion, RANDOM][: 3 + step], ROOTS[8])
        with pytest.raises(ProofError, match=what):
            check_consistency(6, 8, [*consistency, RANDOM][: 3 + step], ROOTS[6], ROOTS[8])


def test_a_consistency_proof_binds_both_roots() -> None:
    """Where only the new root is compared, a proof of one history passes for another (CVE-2022-36111)."""
    proof = prove_consistency(6, 8, subtrees_of(LEAVES))
    forked = root_of([*LEAVES[:5], leaf_hash(b"fork")])
    with pytest.raises(ProofError, match="old root"):
        check_consistency(6, 8, proof, forked, ROOTS[8])


def test_duplicating_the_last_leaf_changes_the_root() -> None:
    """The tree isn't Bitcoin's, in which an odd row repeats its last node (CVE-2012-2459)."""
    assert root_of(LEAVES[:3]) != root_of([*LEAVES[:3], LEAVES[2]])


def test_provers_refuse_what_is_not_in_the_tree() -> None:
    subtree = subtrees_of(LEAVES)
    for index, size in ((0, 0), (8, 8), (-1, 8)):
        with pytest.raises(IndexError):
            prove_inclusion(index, size, subtree)
    for old, size in ((0, 0), (0, 8), (8, 7), (-1, 8)):
        with pytest.raises(ValueError, match="no consistency proof"):
            prove_consistency(old, size, subtree)
    with pytest.raises(IndexError):
        subtree(1, 4)
    with pytest.raises(IndexError):
        prove_inclusion(3, 9, subtree)


# The tree of the witness conversation (sunlight, internal/witness): level-0 hashes are literal, roots are of it.
WITNESS_LEAVES = [bytes([0x2A, i]) + b"\0" * 30 for i in range(5)]


def test_the_tree_of_the_witness_conversation() -> None:
    assert root_of(WITNESS_LEAVES[:1]) == b64decode("KgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
    root3 = b64decode("RcCI1Nk56ZcSmIEfIn0SleqtV7uvrlXNccFx595Iwl0=")
    root5 = b64decode("QrtXrQZCCvpIgsSmOsah7HdICzMLLyDfxToMql9WTjY=")
    assert root_of(WITNESS_LEAVES[:3]) == root3
    assert root_of(WITNESS_LEAVES) == root5
    _, h1, h2, h3, h4 = WITNESS_LEAVES
    check_consistency(1, 3, [h1, h2], WITNESS_LEAVES[0], root3)
    left = b64decode("wgiIFdZfYNv6WU1OllBKsWnLYIS/DBMqt8Uh/S4OukE=")
    check_consistency(3, 5, [h2, h3, left, h4], root3, root5)
    for wrong in ([], [h1], [h1, h3], [h2, h1]):
        with pytest.raises(ProofError):
            check_consistency(1, 3, wrong, WITNESS_LEAVES[0], root3)
