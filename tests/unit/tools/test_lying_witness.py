"""Asking witnesses: the 409 recovery, time limits, quorums; and witnesses that lie, each lie under its name."""

import threading
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from braid.ledger.errors import RefusedLogError
from braid.ledger.publish.policy import Policy, parse_policy
from braid.ledger.publish.remote import ServedLog, SignedHead
from braid.ledger.tree.merkle import subtrees_of
from braid.ledger.tree.note import COSIGNATURE, NoteSignature, cosign, parse_note, signing_key
from braid.ledger.tree.tiles import TileTree
from braid.ledger.witness.cosignature import CosignatureResult
from braid.ledger.witness.witness import SIZE_TYPE, Witness, format_submission
from braid.tools.tlog.cosignatures import cosigned
from braid.tools.tlog.server import HttpReply, LogServer
from braid.tools.tlog.witness import answer_as
from tests.unit.ledger.made_log import KEY, ORIGIN, MadeLog, counted, fetch_from

LOG = MadeLog(counted(300))
OTHER = MadeLog([*counted(100), *counted(300, "another")])
OWN = signing_key("witness.example/w", bytes(range(1, 33)), COSIGNATURE)
TEXT = "text/plain"
SAID = sha256(ORIGIN.encode()).hexdigest()


class Running:
    """A witness's server; `lie` answers in its place while it is set."""

    def __init__(self, folder: Path) -> None:
        self.witness = Witness(folder, OWN, [LOG.vkey])
        self.honest = answer_as(self.witness, lambda: int(time.time()))
        self.lie: Callable[[str, bytes], HttpReply | None] = lambda path, body: None
        self.asked: list[str] = []
        self.server = LogServer(("127.0.0.1", 0), self._answer)
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.policy = policy_of(self.server.url)

    def _answer(self, method: str, path: str, body: bytes, zips: bool) -> HttpReply:
        self.asked.append(body.partition(b"\n")[0].decode() or path)
        return self.lie(path, body) or self.honest(method, path, body, zips)

    def stand_at(self, log: MadeLog, size: int) -> None:
        assert self.witness.add_checkpoint(format_submission(0, [], log.head(size)), 1).status == 200

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()
        self.witness.close()


def policy_of(url: str, quorum: str = "w") -> Policy:
    return parse_policy(f"log {LOG.vkey}\nwitness w {OWN.verifier} {url}\nquorum {quorum}\n".encode())


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    """A witness that has seen nothing yet."""
    made = Running(tmp_path / "witness")
    yield made
    made.close()


def head_of(size: int, log: MadeLog = LOG) -> tuple[SignedHead, TileTree]:
    served = ServedLog(fetch_from(log.files(size)), log.vkey)
    head = served.head()
    return head, served.tree(head.checkpoint)


def test_a_cosigned_head(running: Running) -> None:
    head = cosigned(running.policy, *head_of(200))
    assert running.policy.signed_by(head.opened) == {"w"}
    assert [line.name for line in parse_note(head.note)[1]] == [ORIGIN, OWN.name]


def test_where_it_stands_is_learnt_by_409(running: Running) -> None:
    running.stand_at(LOG, 100)
    cosigned(running.policy, *head_of(200))
    assert running.asked == ["old 0", "old 100"]


def test_where_it_stood_is_known_from_its_cosignature(running: Running) -> None:
    known = cosigned(running.policy, *head_of(100))
    running.asked.clear()
    cosigned(running.policy, *head_of(200), known=known)
    assert running.asked == ["old 100"]


def test_a_head_may_be_cosigned_again(running: Running) -> None:
    cosigned(running.policy, *head_of(200))
    cosigned(running.policy, *head_of(200))
    assert running.asked == ["old 0", "old 0", "old 200"]


def test_a_witness_shows_that_the_whole_machine_was_set_back(running: Running) -> None:
    running.stand_at(LOG, 250)
    with pytest.raises(RefusedLogError) as refused:
        cosigned(running.policy, *head_of(200))
    assert refused.value.reason == "rollback"
    assert f"{ORIGIN}\n250\n" in refused.value.what
    assert running.asked == ["old 0", f"{SAID}/checkpoint"]


def test_a_witness_shows_a_fork(running: Running) -> None:
    running.stand_at(OTHER, 200)
    with pytest.raises(RefusedLogError, match="fork") as same_size:
        cosigned(running.policy, *head_of(200))
    assert same_size.value.reason == "fork"
    assert OTHER.head(200).decode() in same_size.value.what
    with pytest.raises(RefusedLogError, match="fork"):
        cosigned(running.policy, *head_of(300))


def test_a_fork_is_refused_even_where_a_quorum_of_others_cosigned(running: Running) -> None:
    running.stand_at(OTHER, 200)
    with pytest.raises(RefusedLogError, match="fork"):
        cosigned(msgspec.structs.replace(running.policy, quorum="none"), *head_of(200))


def answering(status: int, kind: str = TEXT, body: bytes = b"") -> Callable[[str, bytes], HttpReply]:
    return lambda path, sent: HttpReply(status, kind, body)


def cosigning(time_s: int, text: str | None = None) -> bytes:
    return str(cosign(text or parse_note(LOG.head(200))[0], OWN, time_s)).encode()


def later_head(path: str, sent: bytes) -> HttpReply:
    """Say 250, and show a head of 250 that the log never signed."""
    stranger = MadeLog(LOG.entries, signing_key(ORIGIN, bytes([9] * 32)))
    return (
        HttpReply(409, SIZE_TYPE, b"250\n")
        if path == "add-checkpoint"
        else HttpReply(200, TEXT, stranger.head(250))
    )


def earlier_head(path: str, sent: bytes) -> HttpReply:
    """Say 250, and show a head of 100, which was signed."""
    return (
        HttpReply(409, SIZE_TYPE, b"250\n")
        if path == "add-checkpoint"
        else HttpReply(200, TEXT, LOG.head(100))
    )


FORGED = str(NoteSignature(OWN.name, OWN.verifier.id, bytes(72))).encode()
STRANGER = str(
    cosign(parse_note(LOG.head(200))[0], signing_key(OWN.name, bytes(32), COSIGNATURE), 1)
).encode()
LIES: dict[str, tuple[str, Callable[[str, bytes], HttpReply | None]]] = {
    "a forged cosignature": ("signature", answering(200, TEXT, FORGED)),
    "a cosignature of another head": ("signature", answering(200, TEXT, cosigning(1, "x\n1\n\n"))),
    "another key under its name": ("signature", answering(200, TEXT, STRANGER)),
    "two lines of one key": ("signature", answering(200, TEXT, cosigning(1) + cosigning(2))),
    "a cosignature without a time": ("time", answering(200, TEXT, cosigning(0))),
    "a cosignature of next year": ("time", answering(200, TEXT, cosigning(int(time.time()) + 31_536_000))),
    "nothing": ("malformed", answering(200)),
    "a page": ("malformed", answering(200, "text/html", b"<html>ok</html>")),
    "bytes": ("malformed", answering(200, TEXT, b"\xff\xfe")),
    "too much": ("oversize", answering(200, TEXT, b"x" * 70_000)),
    "a conflict without a size": ("malformed", answering(409, SIZE_TYPE, b"")),
    "a conflict with a size in words": ("malformed", answering(409, SIZE_TYPE, b"many\n")),
    "a conflict with a zero before": ("malformed", answering(409, SIZE_TYPE, b"0100\n")),
    "a conflict without its newline": ("malformed", answering(409, SIZE_TYPE, b"100")),
    "a conflict above all sizes": ("malformed", answering(409, SIZE_TYPE, b"9999999999999999999\n")),
    "a conflict that never ends": ("malformed", answering(409, SIZE_TYPE, b"100\n")),
    "a later head that it doesn't show": ("unproven", answering(409, SIZE_TYPE, b"250\n")),
    "a later head that the log never signed": ("unproven", later_head),
    "a later head that is an earlier one": ("unproven", earlier_head),
    "that the log is unknown": ("unknown", answering(404)),
    "that the signature is none": ("signature", answering(403)),
    "that the request is malformed": ("malformed", answering(400)),
    "an error": ("unreachable", answering(500)),
    "a redirect": ("unreachable", answering(302)),
}


@pytest.mark.parametrize("what", LIES)
def test_a_lie_gives_no_cosignature_and_no_quorum(what: str, running: Running) -> None:
    reason, running.lie = LIES[what]
    told: list[CosignatureResult] = []
    with pytest.raises(RefusedLogError) as refused:
        cosigned(running.policy, *head_of(200), told=told.append)
    assert refused.value.reason == "quorum"
    assert [one.reason for one in told] == [reason], told
    assert told[0].cosignature is None
    assert len(running.asked) <= 4


@pytest.mark.parametrize("status", [409, 422])
def test_a_witness_that_only_says_fork_does_not_stop_the_others(running: Running, status: int) -> None:
    """What it says counts when it shows a head that the log's key signed and that contradicts this one."""
    told: list[CosignatureResult] = []
    running.stand_at(LOG, 100)
    running.lie = lambda path, body: HttpReply(status, TEXT, b"no") if path == "add-checkpoint" else None
    cosigned(msgspec.structs.replace(running.policy, quorum="none"), *head_of(200), told=told.append)
    assert told[0].reason == "unproven"


def test_a_slow_witness_costs_its_time_and_no_more(running: Running) -> None:
    def sleep(path: str, body: bytes) -> None:
        time.sleep(0.8)

    running.lie = sleep
    began, told = time.monotonic(), list[CosignatureResult]()
    head = cosigned(policy_of(running.server.url, "none"), *head_of(200), timeout_s=0.2, told=told.append)
    assert time.monotonic() - began < 0.7
    assert told[0].reason == "unreachable"
    assert [line.name for line in parse_note(head.note)[1]] == [ORIGIN]


def test_nobody_to_ask_is_no_quorum() -> None:
    policy = parse_policy(f"witness w {OWN.verifier}\nquorum w\n".encode())
    with pytest.raises(RefusedLogError, match="quorum"):
        cosigned(policy, *head_of(200))


def test_a_policy_of_another_log_is_refused(running: Running) -> None:
    other = signing_key("log.example/other", bytes(32)).verifier
    policy = parse_policy(f"log {other}\nwitness w {OWN.verifier} {running.server.url}\nquorum w\n".encode())
    with pytest.raises(RefusedLogError, match="policy"):
        cosigned(policy, *head_of(200))


def test_proofs_are_those_of_the_tree(running: Running) -> None:
    """From every size to every other: the witness, not this test, checks each proof."""
    for old in (1, 2, 3, 127, 128, 199, 255):
        running.stand_at(LOG, old) if running.witness.standing(ORIGIN) is None else None
        size = min(old + 45, 300)
        head = cosigned(running.policy, *head_of(size))
        assert head.size == size
    assert subtrees_of(LOG.leaves)(0, 0) == LOG.leaves[0]
    assert KEY.name == ORIGIN
