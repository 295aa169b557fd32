"""The witness's side of C2SP tlog-witness: each status code, what is kept, and what can't wedge it.

The conversation is the one that sunlight and torchwood test their witnesses with.
"""

import os
import signal
import threading
from base64 import b64decode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from braid.ledger.errors import NoteError
from braid.ledger.tree.checkpoint import Checkpoint, sign_checkpoint
from braid.ledger.tree.merkle import prove_consistency, root_of, subtrees_of
from braid.ledger.tree.note import (
    COSIGNATURE,
    NoteSignature,
    VerifierKey,
    cosign,
    cosignature_time,
    format_note,
    open_note,
    parse_note,
    parse_signature,
    signing_key,
    verifier_key,
)
from braid.ledger.witness.witness import SIZE_TYPE, Witness, format_submission, parse_submission
from braid.wal.errors import LogLockedError
from braid.wal.failpoint import arm
from tests.unit.ledger.made_log import KEY, ORIGIN, MadeLog, counted

NOW = 1_700_000_000
SIGSUM = "sigsum.org/v1/tree/4d6d8825a6bb689d459628312889dfbb0bcd41b5211d9e1ce768b0ff0309e562"
SIGSUM_KEY = bytes.fromhex("ffdc2d4d98e4124d3feaf788c0c2f9abfd796083d1f0495437f302ec79cf100f")
ROOTS = {
    1: "KgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    3: "RcCI1Nk56ZcSmIEfIn0SleqtV7uvrlXNccFx595Iwl0=",
    5: "QrtXrQZCCvpIgsSmOsah7HdICzMLLyDfxToMql9WTjY=",
}
SIGNATURES = {
    1: "UgIom7fPZTqpxWWhyjWduBvTvGVqsokMbqTArsQilegKoFBJQjUFAmQ0+YeSPM3wfUQMFSzVnnNuWRTYrajXpNUbIQY=",
    3: "UgIom2VbtIcdFbwFAy1n7s6IkAxIY6J/GQOTuZF2ORV39d75cbAj2aQYwyJre36kezNobZs4SUUdrcawfAB8WVrx6go=",
    5: "UgIomw/EOJmWi0i1FQsOj+etB7F8IccFam/jgd6wzRns4QPVmyEZtdvl1U2KEmLOZ/ASRcWJi0tW90dJWAShei7sDww=",
}
HASHES = [bytes([0x2A, number]) + bytes(30) if number else bytes([0x2A]) + bytes(31) for number in range(5)]
OWN = signing_key("witness.example/w1", bytes(range(1, 33)), COSIGNATURE)
LOG = MadeLog(counted(300))


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[Witness]:
    """A witness of the conversation's log and of the made one."""
    running = Witness(tmp_path / "witness", OWN, [verifier_key(SIGSUM, SIGSUM_KEY), LOG.vkey])
    yield running
    running.close()


def sigsum(size: int, signature: str | None = None) -> bytes:
    return f"{SIGSUM}\n{size}\n{ROOTS[size]}\n\n— {SIGSUM} {signature or SIGNATURES[size]}\n".encode()


def test_the_vectors_are_what_they_are_said_to_be() -> None:
    assert verifier_key(SIGSUM, SIGSUM_KEY).id.hex() == "5202289b"
    for size, root in ROOTS.items():
        assert root_of(HASHES[:size]) == b64decode(root)


def test_the_conversation_of_other_witnesses(witness: Witness) -> None:
    proof3 = prove_consistency(1, 3, subtrees_of(HASHES))
    proof5 = prove_consistency(3, 5, subtrees_of(HASHES))
    assert proof3 == HASHES[1:3]
    steps: list[tuple[int, list[bytes], bytes, int, bytes]] = [
        (0, [], sigsum(1), 200, b""),
        (1, [], sigsum(1, SIGNATURES[3]), 403, b""),
        (0, [], sigsum(1).replace(SIGSUM.encode(), b"example.com/unknown"), 404, b""),
        (1, [], sigsum(3), 422, b""),
        (1, [HASHES[0], HASHES[2]], sigsum(3), 422, b""),
        (1, proof3, sigsum(3), 200, b""),
        (1, proof3, sigsum(5), 409, b"3\n"),
        (3, proof5, sigsum(5), 200, b""),
        (0, [], sigsum(5), 409, b"5\n"),
        (5, [], sigsum(5), 200, b""),
        (5, [], sigsum(5).split(b"\xe2\x80\x94")[0], 400, b""),
        (6, [], sigsum(5), 400, b""),
        (5, [HASHES[0]], sigsum(5), 422, b""),
    ]
    for old, proof, note, status, body in steps:
        answer = witness.add_checkpoint(format_submission(old, proof, note), NOW)
        assert answer.status == status, answer
        assert answer.body == body or not body
        if status == 409:
            assert answer.kind == SIZE_TYPE
        if status == 200:
            cosignature = parse_signature(answer.body.decode().removesuffix("\n"))
            opened = open_note(format_note(parse_note(note)[0], [cosignature]), [OWN.verifier])
            assert cosignature_time(opened.verified[0]) == NOW


def test_the_hash_of_the_conversation() -> None:
    assert prove_consistency(3, 5, subtrees_of(HASHES))[2] == b64decode(
        "wgiIFdZfYNv6WU1OllBKsWnLYIS/DBMqt8Uh/S4OukE="
    )


MALFORMED = {
    "size in words": b"old five\n\n",
    "no old line": b"\n\n",
    "another word": b"new 0\n\n",
    "a zero before": b"old 00\n\n",
    "a sign": b"old +1\n\n",
    "a size above all": b"old 9999999999999999999\n\n",
    "a hash that is none": b"old 0\nabc\n\n",
    "a short hash": b"old 0\nAAAA\n\n",
    "sixty-four hashes": b"old 0\n" + (b"A" * 43 + b"=\n") * 64 + b"\n",
    "no empty line": b"old 0\n",
    "bytes": b"old 0\n\xff\n\n",
}


@pytest.mark.parametrize("what", MALFORMED)
def test_a_malformed_request_is_400(witness: Witness, what: str) -> None:
    body = MALFORMED[what] + (LOG.head(10) if MALFORMED[what].endswith(b"\n\n") else b"")
    assert witness.add_checkpoint(body, NOW).status == 400
    assert witness.standing(ORIGIN) is None


def test_a_request_is_read_as_it_was_written() -> None:
    body = format_submission(7, HASHES, LOG.head(9))
    assert parse_submission(body) == (7, tuple(HASHES), LOG.head(9))


def submit(witness: Witness, old: int, size: int, log: MadeLog = LOG) -> int:
    proof = prove_consistency(old, size, subtrees_of(log.leaves)) if 0 < old <= size else []
    return witness.add_checkpoint(format_submission(old, proof, log.head(size)), NOW).status


def test_it_only_ever_goes_forward(witness: Witness) -> None:
    assert submit(witness, 0, 200) == 200
    assert submit(witness, 200, 200) == 200
    assert submit(witness, 200, 300) == 200
    assert submit(witness, 200, 250) == 409
    assert submit(witness, 250, 250) == 409
    stands = witness.standing(ORIGIN)
    assert stands
    assert stands.size == 300


def test_two_histories_are_never_both_cosigned(witness: Witness) -> None:
    other = MadeLog([*counted(150), *counted(200, "another")])
    assert submit(witness, 0, 200) == 200
    assert submit(witness, 200, 200, other) == 422
    assert submit(witness, 200, 300, other) == 422
    assert submit(witness, 200, 300) == 200


def test_nothing_is_proved_from_size_0(witness: Witness) -> None:
    body = format_submission(0, [bytes(32)], LOG.head(10))
    assert witness.add_checkpoint(body, NOW).status == 422


def test_the_empty_tree_has_one_root(witness: Witness) -> None:
    from braid.ledger.tree.note import sign_note

    wrong = sign_note(f"{ORIGIN}\n0\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n", [KEY])
    assert witness.add_checkpoint(format_submission(0, [], wrong), NOW).status == 422
    assert submit(witness, 0, 0) == 200
    assert submit(witness, 0, 10) == 200


def test_a_wrong_line_of_a_trusted_key_is_403_even_beside_a_right_one(witness: Witness) -> None:
    text, (good,) = parse_note(LOG.head(10))
    second = signing_key(ORIGIN, bytes([7] * 32)).verifier
    trusting = Witness(Path(str(witness._folder) + "-2"), OWN, [LOG.vkey, second])
    forged = format_note(text, [good, NoteSignature(ORIGIN, second.id, bytes(64))])
    assert trusting.add_checkpoint(format_submission(0, [], forged), NOW).status == 403
    trusting.close()
    assert (
        witness.add_checkpoint(format_submission(0, [], forged), NOW).status == 200
    )  # an unknown key is ignored


def test_forged_lines_of_its_own_key_do_not_wedge_it(witness: Witness) -> None:
    text, (good,) = parse_note(LOG.head(10))
    own = OWN.verifier
    for blob in (bytes(72), b"\x00", cosign("other\n1\n\n", OWN, NOW).blob):
        forged = format_note(text, [good, NoteSignature(own.name, own.id, blob)])
        old = 10 if witness.standing(ORIGIN) else 0
        assert witness.add_checkpoint(format_submission(old, [], forged), NOW).status == 200
    stored = witness.latest(sha256(ORIGIN.encode()).hexdigest())
    assert stored
    assert len(open_note(stored, [own, LOG.vkey]).verified) == 2
    assert submit(witness, 10, 20) == 200


def test_what_it_keeps_is_what_was_verified(witness: Witness) -> None:
    text, (good,) = parse_note(LOG.head(10))
    stranger = cosign(text, signing_key("w.example/x", bytes([9] * 32), COSIGNATURE), NOW)
    body = format_submission(0, [], format_note(text, [stranger, good]))
    assert witness.add_checkpoint(body, NOW).status == 200
    stored = witness.latest(sha256(ORIGIN.encode()).hexdigest())
    assert stored
    assert [line.name for line in parse_note(stored)[1]] == [ORIGIN, OWN.name]
    assert witness.latest("0" * 64) is None


def test_it_stands_where_it_stood(witness: Witness, tmp_path: Path) -> None:
    assert submit(witness, 0, 200) == 200
    witness.close()
    again = Witness(tmp_path / "witness", OWN, [LOG.vkey])
    assert submit(again, 0, 300) == 409
    assert submit(again, 200, 300) == 200
    again.close()


def test_a_damaged_memory_is_no_memory_to_go_on_from(witness: Witness, tmp_path: Path) -> None:
    assert submit(witness, 0, 200) == 200
    path = tmp_path / "witness" / sha256(ORIGIN.encode()).hexdigest() / "checkpoint"
    whole = path.read_bytes()
    for bad in (b"", whole[:-10], whole.replace(b"\n200\n", b"\n100\n"), LOG.head(100)):
        path.write_bytes(bad)
        with pytest.raises(NoteError):
            witness.standing(ORIGIN)
        assert submit(witness, 0, 100) != 200
        assert path.read_bytes() == bad
    path.write_bytes(whole)
    assert submit(witness, 200, 300) == 200


def test_only_one_process_witnesses(witness: Witness, tmp_path: Path) -> None:
    del witness
    with pytest.raises(LogLockedError):
        Witness(tmp_path / "witness", OWN, [LOG.vkey])


def test_nothing_is_answered_that_is_not_on_disk(witness: Witness) -> None:
    def fail(name: str) -> None:
        if name == "witness.write":
            raise OSError(28, "No space left on device")

    arm(fail)
    try:
        with pytest.raises(OSError, match="No space"):
            submit(witness, 0, 200)
    finally:
        arm(None)
    assert witness.standing(ORIGIN) is None


@pytest.mark.parametrize(
    ("point", "stands"), [("witness.write", 0), ("witness.write.done", 0), ("witness.write.renamed", 200)]
)
def test_killed_at_any_point_it_stands_before_or_behind(tmp_path: Path, point: str, stands: int) -> None:
    """Where it stands behind a head whose cosignature was lost, the log recovers by 409 and asks again."""
    child = os.fork()
    if child == 0:
        from braid.wal.failpoint import kill_at

        arm(kill_at(point))
        submit(Witness(tmp_path / "w", OWN, [LOG.vkey]), 0, 200)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    again = Witness(tmp_path / "w", OWN, [LOG.vkey])
    found = again.standing(ORIGIN)
    assert (found.size if found else 0) == stands
    assert submit(again, stands, 200) == 200
    again.close()


def test_of_many_at_once_none_goes_back(witness: Witness) -> None:
    """Every cosigned head continues the one before it, however requests interleave."""
    assert submit(witness, 0, 100) == 200
    sizes = [110, 120, 150, 180, 200, 250, 300] * 3
    granted: list[int] = []

    def race(size: int) -> None:
        if submit(witness, 100, size) == 200:
            granted.append(size)

    threads = [threading.Thread(target=race, args=(size,)) for size in sizes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == 1
    stands = witness.standing(ORIGIN)
    assert stands
    assert stands.size == granted[0]


def test_keys_of_the_wrong_type_are_misuse(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cosignature key"):
        Witness(tmp_path / "a", KEY, [LOG.vkey])
    with pytest.raises(ValueError, match="Ed25519"):
        Witness(tmp_path / "b", OWN, [OWN.verifier])
    with pytest.raises(ValueError, match="a time"):
        Witness(tmp_path / "c", OWN, [LOG.vkey]).add_checkpoint(b"", 0)


def test_a_key_that_was_changed_is_known_beside_the_old_one(tmp_path: Path) -> None:
    fresh: VerifierKey = signing_key(ORIGIN, bytes([5] * 32)).verifier
    running = Witness(tmp_path / "w", OWN, [LOG.vkey, fresh])
    assert submit(running, 0, 100) == 200
    assert submit(running, 100, 200, MadeLog(counted(300), signing_key(ORIGIN, bytes([5] * 32)))) == 200
    running.close()


def test_a_log_passes_from_key_to_key_while_the_witness_stands(tmp_path: Path) -> None:
    """Told both keys, then the new one alone: no head is lost, none is cosigned twice, the old key ends."""
    new_key = signing_key(ORIGIN, bytes([5] * 32))
    new = MadeLog(counted(300), new_key)
    both = sign_checkpoint(Checkpoint(ORIGIN, 200, root_of(LOG.leaves[:200])), [KEY, new_key])
    running = Witness(tmp_path / "w", OWN, [LOG.vkey])
    assert submit(running, 0, 100) == 200
    assert submit(running, 100, 200, new) == 403  # nobody has told it of the new key
    proof = prove_consistency(100, 200, subtrees_of(LOG.leaves[:200]))
    assert running.add_checkpoint(format_submission(100, proof, both), NOW).status == 200
    assert submit(running, 200, 250, new) == 403  # nor is it learned from a head that both have signed
    running.know([LOG.vkey, new.vkey])
    assert submit(running, 200, 250, new) == 200
    running.know([new.vkey])
    assert submit(running, 250, 300) == 403  # the retired key speaks for the log no more
    assert submit(running, 100, 300, new) == 409
    forked = MadeLog(counted(300, "other"), new_key)
    assert submit(running, 250, 300, forked) == 422
    assert submit(running, 250, 300, new) == 200
    with pytest.raises(ValueError, match="Ed25519"):
        running.know([OWN.verifier])
    assert submit(running, 300, 300, new) == 200  # a list that is refused leaves the keys that were
    running.close()
