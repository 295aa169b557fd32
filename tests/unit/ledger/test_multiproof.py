"""One proof for many records: it holds for what it names, has no hash to spare, and nothing else passes for it."""

import os
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.ledger.errors import EnvelopeError, LedgerError, NoteError, ProofError
from braid.ledger.keys.author_key import Signer
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Content, Draft, ExperienceBody
from braid.ledger.tree.merkle import leaf_hash, prove_inclusion, root_of, subtrees_of
from braid.ledger.tree.multiproof import (
    MultiProof,
    check_inclusions,
    check_multiproof,
    format_multiproof,
    is_multiproof,
    parse_multiproof,
    prove_inclusions,
)
from braid.ledger.tree.note import verifier_key
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import Writer

MAX = 300
LEAVES = [leaf_hash(b"%d" % n) for n in range(MAX)]


@st.composite
def chosen(draw: st.DrawFn) -> tuple[int, list[int]]:
    size = draw(st.integers(1, MAX))
    return size, draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=size, unique=True))


@given(chosen())
def test_it_leads_to_the_root(case: tuple[int, list[int]]) -> None:
    size, indexes = case
    proof = prove_inclusions(indexes, size, subtrees_of(LEAVES[:size]))
    leaves = {index: LEAVES[index] for index in indexes}
    check_inclusions(leaves, size, proof, root_of(LEAVES[:size]))
    alone = sum(len(prove_inclusion(index, size, subtrees_of(LEAVES[:size]))) for index in indexes)
    assert len(proof) <= alone


@given(st.integers(1, MAX), st.data())
def test_of_one_record_it_is_rfc_9162s(size: int, data: st.DataObject) -> None:
    index, subtree = data.draw(st.integers(0, size - 1)), subtrees_of(LEAVES[:size])
    assert prove_inclusions([index], size, subtree) == prove_inclusion(index, size, subtree)


@given(st.integers(1, MAX))
def test_of_every_record_it_needs_no_hash(size: int) -> None:
    assert prove_inclusions(range(size), size, subtrees_of(LEAVES[:size])) == []


@given(chosen(), st.randoms(use_true_random=False))
def test_nothing_else_passes(case: tuple[int, list[int]], chance: random.Random) -> None:
    size, indexes = case
    root = root_of(LEAVES[:size])
    proof = prove_inclusions(indexes, size, subtrees_of(LEAVES[:size]))
    leaves = {index: LEAVES[index] for index in indexes}
    at = chance.choice(indexes)
    bad: list[tuple[dict[int, bytes], int, list[bytes], bytes]] = [
        (leaves | {at: os.urandom(32)}, size, proof, root),
        (leaves, size, [*proof, root], root),
        (leaves, size, proof, os.urandom(32)),
        ({}, size, proof, root),
        ({index + size: leaf for index, leaf in leaves.items()}, size, proof, root),
        (leaves | {at: b"short"}, size, proof, root),
    ]
    if proof:
        cut = chance.randrange(len(proof))
        bad += [
            (leaves, size, proof[:cut] + proof[cut + 1 :], root),
            (leaves, size, [*proof[:cut], os.urandom(32), *proof[cut + 1 :]], root),
        ]
    if len(leaves) < size:  # a record that was not proved can't be slipped in
        stranger = next(index for index in range(size) if index not in leaves)
        bad.append((leaves | {stranger: LEAVES[stranger]}, size, proof, root))
    for given_ in bad:
        with pytest.raises(ProofError):
            check_inclusions(*given_)


def test_a_leaf_outside_the_tree_has_no_proof() -> None:
    for index in (-1, 5):
        with pytest.raises(IndexError):
            prove_inclusions([2, index], 5, subtrees_of(LEAVES[:5]))


# -- the file ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    folder = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRAID_GUARD_DIR", str(folder / "guard"))
        create_store(folder / "store", now=datetime.now(UTC))
        writer = Writer(folder / "store")
        drafts = [
            Draft(kind="experience", type="occurrence", body=ExperienceBody(content=Content(text=f"n {n}")))
            for n in range(20)
        ]
        writer.append(drafts)
        writer.close()
        return Reader(folder / "store")


def test_it_shows_the_ids_offline(reader: Reader) -> None:
    indexes = [20, 4, 5, 11, 5]
    data = reader.prove_many(indexes)
    assert is_multiproof(data)
    proven = check_multiproof(data, reader.vkey)
    assert proven.ids == {index: reader.envelope(index).id for index in sorted(set(indexes))}
    assert proven.checkpoint == reader.published


def test_it_is_smaller_than_the_proofs_of_each(reader: Reader) -> None:
    indexes = range(3, 23)
    envelopes = sum(len(reader.stored_envelope(index)) for index in indexes)
    together = len(reader.prove_many(indexes)) - envelopes * 4 // 3
    assert together < sum(len(reader.prove(index)) for index in indexes) / 5


def test_edits_of_the_file_are_refused(reader: Reader) -> None:
    data = reader.prove_many([4, 5, 11])
    read = parse_multiproof(data)
    (first, one), (second, two), third = read.leaves
    edited = [
        data.replace(b"@v1", b"@v2"),
        data.replace(b"leaf 4 ", b"leaf 04 "),
        data.replace(b"leaf 4 ", b"leaf 6 "),
        data[: data.index(b"\n\n")],
        data[:-20] + bytes([data[-20] ^ 1]) + data[-19:],
        *(
            format_multiproof(one_)
            for one_ in (
                MultiProof(((first, two), (second, one), third), read.hashes, read.checkpoint),
                MultiProof(((first, one), (second, two)), read.hashes, read.checkpoint),
                MultiProof(((second, two), (first, one), third), read.hashes, read.checkpoint),
                MultiProof(((first, one), (first, one), third), read.hashes, read.checkpoint),
                MultiProof(read.leaves, read.hashes[::-1], read.checkpoint),
                MultiProof(read.leaves, read.hashes[:-1], read.checkpoint),
                MultiProof(read.leaves, (*read.hashes, bytes(32)), read.checkpoint),
                MultiProof(read.leaves, (b"short", *read.hashes), read.checkpoint),
            )
        ),
    ]
    for one_ in edited:
        assert one_ != data
        with pytest.raises((ProofError, NoteError, EnvelopeError)):
            check_multiproof(one_, reader.vkey)


@given(st.integers(0, 1 << 20), st.integers(0, 7))
def test_no_flipped_bit_passes(reader: Reader, at: int, bit: int) -> None:
    data = bytearray(reader.prove_many([4, 11]))
    data[at % len(data)] ^= 1 << bit
    with pytest.raises(LedgerError):
        check_multiproof(bytes(data), reader.vkey)


def test_another_logs_key_shows_nothing(reader: Reader) -> None:
    other = verifier_key(reader.origin, Signer.fresh("user").public)
    with pytest.raises(NoteError):
        check_multiproof(reader.prove_many([4]), other)


def test_what_can_not_be_proved(reader: Reader) -> None:
    with pytest.raises(ValueError, match="one record at least"):
        reader.prove_many([])
    with pytest.raises(ValueError, match="not under a published checkpoint"):
        reader.prove_many([reader.size])
    forged = reader.published.__class__(reader.origin, 5, bytes(32))
    with pytest.raises(ValueError, match="not of what this store holds"):
        reader.prove_many([3], forged, reader.checkpoint_note)
    with pytest.raises(ProofError, match="1 to 100,000"):
        format_multiproof(MultiProof((), (), b"note"))


def test_the_smallest_store_path(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "proof").write_bytes(reader.prove_many(range(reader.size)))
    assert len(parse_multiproof((tmp_path / "proof").read_bytes()).hashes) == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"leaves": {}}, "a multi-proof of no record shows nothing"),
        ({"root": b"short"}, "a hash has 32 bytes"),
        ({"size": 5}, "a leaf of the proof isn't in a tree of 5"),
        ({"extra": [bytes(32)]}, "more than its records need"),
        ({"fewer": 1}, "fewer than its records need"),
        ({"root": bytes(32)}, "the multi-proof leads to"),
    ],
)
def test_each_refusal_of_a_proof_that_is_read(change: dict[str, Any], said: str) -> None:
    leaves = [leaf_hash(b"%d" % n) for n in range(11)]
    subtree, size = subtrees_of(leaves), change.get("size", 11)
    proof = prove_inclusions([2, 5], 11, subtree)
    proof = [*proof[: len(proof) - change.get("fewer", 0)], *change.get("extra", [])]
    shown = change.get("leaves", {2: leaves[2], 5: leaves[5]})
    with pytest.raises(ProofError, match=said):
        check_inclusions(shown, size, proof, change.get("root", root_of(leaves)))
