"""Proof files: a whole proof of the small log of tessera, and the error cases of tlog-proof."""

from base64 import b64decode, b64encode

import pytest

from braid.ledger.errors import NoteError, ProofError
from braid.ledger.tree.checkpoint import Checkpoint, sign_checkpoint
from braid.ledger.tree.merkle import leaf_hash, prove_inclusion, root_of, subtrees_of
from braid.ledger.tree.note import COSIGNATURE, cosign, parse_skey, parse_vkey, sign_note, signing_key
from braid.ledger.tree.proof import Proof, check_proof, format_proof, parse_proof

ORIGIN = "example.com/log/testdata"
LOG = parse_skey("PRIVATE+KEY+example.com/log/testdata+33d7b496+AeymY/SZAX0jZcJ8enZ5FY1Dz+wTML2yWSkK+9DSF3eg")
KEY = parse_vkey("example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx")
ENTRIES = b"one two three four five six seven eit nain ten ileven twelf threeten fourten fivten".split()
LEAVES = [leaf_hash(entry) for entry in ENTRIES]
CHECKPOINT = (
    "example.com/log/testdata\n15\nrKbDipCvhuX1GZ7g5BBe8sA6BbJ7ja/1nk427v383cs=\n\n— example.com/log/testdata "
    "M9e0luh4jTG+UMBqOUo9/q+yAEvx1ilBEniMvjf1zfcBOhg+CKubMt53MvIt/uEWP6zdkdIQzd/fmwlM/dlPWF74ewI=\n"
).encode()
HASHES = [
    "zMKa4OAqd7D0V4wawXST15z0JiEEkprIBPkfxOesWvA=",
    "nk9gCR+floFqznAPtqjjcnnV64dge2jQB95D5t164Hg=",
    "zY1lN35vrXYAPixXSd59LsU29xUJtuW4o2dNNg5Y2Co=",
    "5jLpqTgjsBDSEX6SgZiRnbTMdTuRd8bQ5tSsAOxe0Ks=",
]
HEADER = "c2sp.org/tlog-proof@v1"


def proof_file(lines: list[str], checkpoint: bytes = CHECKPOINT) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode() + b"\n" + checkpoint


WHOLE = proof_file([HEADER, "index 5", *HASHES])


def test_the_proof_of_the_sixth_entry() -> None:
    hashes = [b64decode(text) for text in HASHES]
    assert format_proof(5, hashes, CHECKPOINT) == WHOLE
    assert parse_proof(WHOLE) == Proof(5, tuple(hashes), CHECKPOINT)
    proven = check_proof(WHOLE, leaf_hash(b"six"), KEY)
    assert (proven.index, proven.checkpoint.origin, proven.checkpoint.size) == (5, ORIGIN, 15)
    assert [signature.name for signature in proven.note.verified] == [ORIGIN]


@pytest.mark.parametrize("index", range(15))
def test_every_entry_of_the_small_log(index: int) -> None:
    proof = format_proof(index, prove_inclusion(index, 15, subtrees_of(LEAVES)), CHECKPOINT)
    assert check_proof(proof, LEAVES[index], KEY).index == index
    for other in set(range(15)) - {index}:
        with pytest.raises(ProofError):
            check_proof(proof, LEAVES[other], KEY)
        with pytest.raises(ProofError):
            check_proof(proof.replace(b"index %d\n" % index, b"index %d\n" % other), LEAVES[index], KEY)


def test_a_tree_of_one_leaf_needs_no_hashes() -> None:
    checkpoint = sign_checkpoint(Checkpoint(ORIGIN, 1, root_of(LEAVES[:1])), [LOG])
    proof = format_proof(0, [], checkpoint)
    assert proof == f"{HEADER}\nindex 0\n\n".encode() + checkpoint
    assert check_proof(proof, LEAVES[0], KEY).checkpoint.size == 1


@pytest.mark.parametrize("extra", [b"", b"any bytes \n\n", bytes(range(256))])
def test_extra_is_carried_and_proves_nothing(extra: bytes) -> None:
    proof = format_proof(5, [b64decode(text) for text in HASHES], CHECKPOINT, extra)
    assert proof.split(b"\n")[1] == b"extra " + b64encode(extra)
    assert parse_proof(proof).extra == extra
    assert check_proof(proof, LEAVES[5], KEY) == check_proof(WHOLE, LEAVES[5], KEY)


def test_cosignatures_are_checked_with_it() -> None:
    witness = signing_key("witness.example/w1", bytes(range(32)), COSIGNATURE)
    text = CHECKPOINT.split(b"\n\n")[0].decode() + "\n"
    right, wrong = cosign(text, witness, 1_700_000_000), cosign(text + "x\n", witness, 1_700_000_000)
    proven = check_proof(WHOLE + str(right).encode(), LEAVES[5], KEY, [witness.verifier])
    assert [signature.name for signature in proven.note.verified] == [ORIGIN, "witness.example/w1"]
    assert len(check_proof(WHOLE + str(right).encode(), LEAVES[5], KEY).note.verified) == 1
    with pytest.raises(NoteError, match="witness"):
        check_proof(WHOLE + str(wrong).encode(), LEAVES[5], KEY, [witness.verifier])


LONG = b64encode(bytes(64)).decode()
MALFORMED = {
    "empty": b"",
    "checkpoint alone": CHECKPOINT,
    "missing header": proof_file(["index 5", *HASHES]),
    "other version": proof_file([HEADER.replace("v1", "v2"), "index 5", *HASHES]),
    "space after the header": proof_file([HEADER + " ", "index 5", *HASHES]),
    "empty line first": b"\n" + WHOLE,
    "bad extra": proof_file([HEADER, "extra !", "index 5", *HASHES]),
    "extra without padding": proof_file([HEADER, "extra AA", "index 5", *HASHES]),
    "extra twice": proof_file([HEADER, "extra AAAA", "extra AAAA", "index 5", *HASHES]),
    "extra after the index": proof_file([HEADER, "index 5", "extra AAAA", *HASHES]),
    "extra without a space": proof_file([HEADER, "extra", "index 5", *HASHES]),
    "missing index": proof_file([HEADER, *HASHES]),
    "nothing but a header": proof_file([HEADER]),
    "index without a number": proof_file([HEADER, "index", *HASHES]),
    "negative index": proof_file([HEADER, "index -5", *HASHES]),
    "index with a sign": proof_file([HEADER, "index +5", *HASHES]),
    "index with a leading zero": proof_file([HEADER, "index 05", *HASHES]),
    "index with a space": proof_file([HEADER, "index  5", *HASHES]),
    "index in other digits": proof_file([HEADER, "index \u0665", *HASHES]),
    "index in words": proof_file([HEADER, "index five", *HASHES]),
    "index too large": proof_file([HEADER, f"index {2**64}", *HASHES]),
    "index twice": proof_file([HEADER, "index 5", "index 5", *HASHES]),
    "bad base64": proof_file([HEADER, "index 5", "not base64", *HASHES[1:]]),
    "base64 that isn't canonical": proof_file([HEADER, "index 5", HASHES[0][:-2] + "B=", *HASHES[1:]]),
    "64-byte hash": proof_file([HEADER, "index 5", LONG, *HASHES[1:]]),
    "31-byte hash": proof_file([HEADER, "index 5", b64encode(bytes(31)).decode(), *HASHES[1:]]),
    "two hashes in a line": proof_file([HEADER, "index 5", " ".join(HASHES)]),
    "64 hashes": proof_file([HEADER, "index 5", *HASHES * 16]),
    "carriage returns": WHOLE.replace(b"\n", b"\r\n"),
    "no empty line": WHOLE.replace(b"\n\n", b"\n", 1).replace(b"\n\n", b"\n"),
    "no checkpoint": WHOLE.split(b"\n\n")[0] + b"\n\n",
    "not UTF-8": WHOLE.replace(b"index 5", b"index \xff"),
    "too large": WHOLE + b"x" * 2_000_000,
}


@pytest.mark.parametrize("what", MALFORMED)
def test_a_malformed_proof_is_refused(what: str) -> None:
    with pytest.raises(ProofError):
        parse_proof(MALFORMED[what])
    with pytest.raises(ProofError):
        check_proof(MALFORMED[what], LEAVES[5], KEY)


@pytest.mark.parametrize(
    ("what", "lines"),
    {
        "no hashes": ["index 5"],
        "a hash less": ["index 5", *HASHES[:-1]],
        "a hash more": ["index 5", *HASHES, HASHES[0]],
        "a hash before": ["index 5", HASHES[0], *HASHES],
        "two swapped": ["index 5", HASHES[1], HASHES[0], *HASHES[2:]],
        "another index": ["index 4", *HASHES],
        "an index beyond the tree": ["index 15", *HASHES],
        "an index far beyond": [f"index {2**62}", *HASHES],
    }.items(),
)
def test_a_proof_that_leads_elsewhere_is_refused(what: str, lines: list[str]) -> None:
    with pytest.raises(ProofError):
        check_proof(proof_file([HEADER, *lines]), LEAVES[5], KEY)


def test_the_checkpoint_is_the_log_s() -> None:
    stranger = signing_key(ORIGIN, bytes(range(32)))
    for size, root in ((15, root_of(LEAVES)), (1, LEAVES[5])):
        forged = sign_checkpoint(Checkpoint(ORIGIN, size, root), [stranger])
        with pytest.raises(NoteError, match="no trusted key"):
            check_proof(proof_file([HEADER, "index 0"], forged), LEAVES[5], KEY)
    with pytest.raises(NoteError, match="is wrong"):
        check_proof(WHOLE.replace(b"\n15\n", b"\n16\n"), LEAVES[5], KEY)


def test_a_key_speaks_for_the_log_that_it_is_named_after() -> None:
    """The same bytes of a key under another name, and a checkpoint that still says the first one."""
    other = signing_key("example.com/other", LOG.seed)
    note = sign_note(CHECKPOINT.split(b"\n\n")[0].decode() + "\n", [other])
    with pytest.raises(NoteError, match="is of the log"):
        check_proof(proof_file([HEADER, "index 5", *HASHES], note), LEAVES[5], other.verifier)


def test_a_leaf_is_given_by_its_hash() -> None:
    with pytest.raises(ProofError, match="32 bytes"):
        check_proof(WHOLE, b"six", KEY)


def test_every_flipped_bit_is_refused() -> None:
    for at in range(len(WHOLE)):
        for bit in (0, 4, 7):
            spoilt = WHOLE[:at] + bytes([WHOLE[at] ^ 1 << bit]) + WHOLE[at + 1 :]
            with pytest.raises((ProofError, NoteError)):
                check_proof(spoilt, LEAVES[5], KEY)


def test_what_no_one_could_read_is_not_written() -> None:
    for index, hashes, checkpoint in ((-1, [], CHECKPOINT), (0, [b"x"], CHECKPOINT), (0, [], b"")):
        with pytest.raises(ProofError):
            format_proof(index, hashes, checkpoint)
