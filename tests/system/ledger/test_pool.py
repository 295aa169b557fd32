"""An audit's cores: whoever does the work, the findings are the same, and nobody is left behind (SPEC §11.1)."""

import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nacl.bindings import crypto_sign_open
from nacl.exceptions import CryptoError

from braid.ledger.audit import checkers, chunk, pool
from braid.ledger.audit import verify as verify_module
from braid.ledger.audit.checkers import Checkers, Ticket, _Child
from braid.ledger.audit.chunk import examine
from braid.ledger.audit.findings import Report
from braid.ledger.audit.signatures import Claim
from braid.ledger.audit.verify import verify
from braid.ledger.crypto import signature
from braid.ledger.crypto.signature import verify_signature
from braid.ledger.keys.author_key import Signer
from braid.ledger.record.record import Content, Draft, ExperienceBody
from braid.ledger.settings import load_settings
from braid.ledger.tree.guard import Guard
from braid.ledger.worker import Worker
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import Writer
from tests.unit.ledger.forge import Frames, read_frames, write_frames

FORGED = (7, 8, 30, 119, 140)


def memory(number: int) -> Draft:
    body = ExperienceBody(content=Content(text=f"note {number} " + "x" * 300))
    return Draft(kind="experience", type="occurrence", body=body)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """146 records in transactions of 1 … 40, of which some have a signature that does not hold; to read only."""
    folder = tmp_path_factory.mktemp("pool")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRAID_GUARD_DIR", str(folder / "guard"))
        create_store(folder / "store", now=datetime.now(UTC))
        with closing(Writer(folder / "store")) as writer:
            for count in (40, 1, 1, 30, 20, 1, 40, 5, 5):
                writer.append([memory(number) for number in range(count)])
        write_frames(folder / "store", forged(read_frames(folder / "store")))
        yield folder / "store"


def forged(frames: Frames) -> Frames:
    """Change one character in the signatures of `FORGED`."""
    index = 0
    for records in frames:
        for place, record in enumerate(records):
            if index in FORGED:
                other = b"A" if record.envelope[-20:-19] != b"A" else b"B"
                envelope = record.envelope[:-20] + other + record.envelope[-19:]
                records[place] = record._replace(envelope=envelope)
            index += 1
    return frames


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Worker]:
    """Small stretches by processes; the workers that were started."""
    monkeypatch.setattr(verify_module, "MIN_CHUNK", 2048)
    monkeypatch.setattr(verify_module, "CHECKER_BYTES", 0)
    monkeypatch.setattr(verify_module, "CHILD_BYTES", 0)
    workers: list[Worker] = []
    start = Worker.start

    def starting(module: str, terms: bytes) -> Worker | None:
        worker = start(module, terms)
        workers.extend([worker] if worker else [])
        return worker

    monkeypatch.setattr(Worker, "start", starting)
    return workers


@pytest.fixture
def checking(monkeypatch: pytest.MonkeyPatch) -> list[_Child]:
    """Small stretches whose signatures processes check, eight at a time; the processes that were started."""
    monkeypatch.setattr(verify_module, "MIN_CHUNK", 2048)
    monkeypatch.setattr(verify_module, "CHECKER_BYTES", 0)
    monkeypatch.setattr(checkers, "PART", 8)
    children: list[_Child] = []
    start = _Child.start

    def starting() -> _Child | None:
        child = start()
        children.extend([child] if child else [])
        return child

    monkeypatch.setattr(_Child, "start", starting)
    return children


@pytest.fixture(scope="module")
def alone(store: Path) -> Report:
    """What one core finds."""
    report = comparable(audit(store, workers=1))
    assert [f.index for f in report.findings if f.kind == "signature"] == list(FORGED)
    return report


def audit(store: Path, **options: Any) -> Report:
    return verify(
        store, guard=Guard.of_store(load_settings(store).store_id, store.parent / "guard"), **options
    )


def comparable(report: Report) -> Report:
    return msgspec.structs.replace(report, seconds=0.0, verified_at="")


def left_behind(workers: list[Worker]) -> list[object]:
    """Processes that still run, and threads of the audit."""
    running: list[object] = [worker for worker in workers if worker._process.poll() is None]
    return running + [one for one in threading.enumerate() if one.name.startswith("braid-verify")]


def test_threads_find_what_one_finds(store: Path, alone: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (2048, 1 << 20):
        monkeypatch.setattr(verify_module, "MIN_CHUNK", size)
        assert comparable(audit(store, workers=3)) == alone
    assert left_behind([]) == []


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[bytes | None]:
    """What workers said; the caller examines nothing itself before they have said three things."""
    said: list[bytes | None] = []
    enough = threading.Event()
    ask = Worker.ask

    def asking(self: Worker, question: bytes) -> bytes | None:
        answer = ask(self, question)
        said.append(answer)
        if len(said) >= 2:
            self.kill()
        if len(said) >= 3:
            enough.set()
        return answer

    def waiting(*work: Any) -> Any:
        assert enough.wait(60)
        return examine(*work)

    monkeypatch.setattr(Worker, "ask", asking)
    monkeypatch.setattr(pool, "examine", waiting)
    return said


def test_a_worker_that_dies_leaves_its_work_to_this_process(
    store: Path, alone: Report, started: list[Worker], answers: list[bytes | None]
) -> None:
    assert comparable(audit(store, workers=2)) == alone
    assert all(answers[:2])
    assert len(answers) >= 3
    assert not any(answers[2:])
    assert left_behind(started) == []


@pytest.mark.parametrize("said", [b"", b"\xc1", b"\x01"])
def test_an_answer_that_cannot_be_read_is_none(
    store: Path, alone: Report, started: list[Worker], monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(Worker, "ask", lambda _self, _question: said)
    assert comparable(audit(store, workers=2)) == alone
    assert left_behind(started) == []


def test_workers_share_the_work(
    store: Path, alone: Report, started: list[Worker], answers: list[bytes | None]
) -> None:
    assert comparable(audit(store, workers=3)) == alone
    assert len(started) == 2  # and this process is the third
    assert len([answer for answer in answers if answer]) >= 2
    assert left_behind(started) == []


def test_workers_that_never_speak(
    store: Path, alone: Report, started: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_CHILD", "braid.ledger.audit.no_such_module")
    assert comparable(audit(store, workers=3)) == alone
    assert len(started) == 2


def test_where_no_worker_can_be_had_threads_share_the_signatures(
    store: Path, alone: Report, started: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert comparable(audit(store, workers=3)) == alone
    assert started == []


@pytest.mark.parametrize("workers", [2, 3, 5])
def test_processes_that_check_signatures_find_what_one_finds(
    store: Path, alone: Report, checking: list[_Child], monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """Nobody else checks any: what they say is all that is known."""
    by_bits: list[list[int]] = []
    take = _Child.take

    def taking(self: _Child) -> bool:
        part = self.given[0]
        taken = take(self)
        if part.claims != checkers._PROBE:
            by_bits.append([part.start + place for place in range(len(part.claims))])
        return taken

    monkeypatch.setattr(_Child, "take", taking)
    monkeypatch.setattr(checkers, "DEPTH", 1 << 20)
    monkeypatch.setattr(checkers, "wrong", pytest.fail)
    assert comparable(audit(store, workers=workers)) == alone
    assert len(checking) == workers - 1
    assert sum(map(len, by_bits)) == alone.records
    assert exited(checking)


@pytest.mark.parametrize("together", [1, 7])
def test_signatures_are_handed_on_while_a_long_transaction_is_read(
    store: Path, alone: Report, checking: list[_Child], monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    monkeypatch.setattr(chunk, "TOGETHER", together)
    monkeypatch.setattr(verify_module, "MIN_CHUNK", 1 << 20)
    handed: list[int] = []
    offer = Checkers.offer

    def offering(self: Checkers, ticket: Ticket, claims: list[Claim]) -> None:
        handed.append(len(claims))
        offer(self, ticket, claims)

    monkeypatch.setattr(Checkers, "offer", offering)
    assert comparable(audit(store, workers=2)) == alone
    assert (max(handed), sum(handed)) == (together, alone.records)


def exited(children: list[_Child]) -> bool:
    return all(child._process.poll() is not None for child in children)


@pytest.mark.parametrize("lives", [0, 1, 4])
def test_a_process_that_dies_leaves_its_signatures_to_this_one(
    store: Path, alone: Report, checking: list[_Child], monkeypatch: pytest.MonkeyPatch, lives: int
) -> None:
    monkeypatch.setattr(checkers, "DEPTH", 1 << 20)  # it is given all, and may answer only so much
    taken: list[int] = []
    take = _Child.take

    def taking(self: _Child) -> bool:
        if len(taken) == lives:
            self._process.kill()
            self._process.wait()
            while os.read(self.answers, 1):  # what it had said already
                pass
        taken.append(len(self.given))
        return take(self)

    monkeypatch.setattr(_Child, "take", taking)
    assert comparable(audit(store, workers=2)) == alone
    assert len(taken) == lives + 1
    assert exited(checking)


def test_a_process_that_is_gone_before_it_was_given_anything(
    store: Path, alone: Report, checking: list[_Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    give = _Child.give

    def giving(self: _Child, part: Any) -> bool:
        self._process.kill()
        self._process.wait()
        return give(self, part)

    monkeypatch.setattr(_Child, "give", giving)
    assert comparable(audit(store, workers=3)) == alone
    assert exited(checking)


_ANSWERING = """
import marshal, os, sys
from nacl.bindings import crypto_sign_open
asked = 0
while len(head := sys.stdin.buffer.read(8)) == 8:
    claims = marshal.loads(sys.stdin.buffer.read(int.from_bytes(head[4:], "little")))
    asked += 1
    {}
"""
_HONEST = """
    bits = 0
    for place, (key, message, signature) in enumerate(claims):
        try:
            crypto_sign_open(signature + message, key)
        except Exception:
            bits |= 1 << place
"""
_LYING = {
    "not there": None,
    "silent": "",
    "blind": _ANSWERING.format("os.write(1, head[:4] + bytes(4))"),
    "nothing but zeros": "import os, sys\nwhile sys.stdin.buffer.read(1000):\n    os.write(1, bytes(1000))\n",
    "by contraries": _ANSWERING.format(
        _HONEST + "    os.write(1, head[:4] + (bits ^ (1 << len(claims)) - 1).to_bytes(4, 'little'))"
    ),
    "from the other end": _ANSWERING.format(
        _HONEST + "    os.write(1, head[:4] + bits.to_bytes(4, 'little')[::-1])"
    ),
    "in another order": _ANSWERING.format(
        _HONEST + "    number = (asked - 1 if asked < 4 else 7).to_bytes(4, 'little')\n"
        "    os.write(1, number + bits.to_bytes(4, 'little'))"
    ),
    "more than was asked": _ANSWERING.format(
        _HONEST + "    os.write(1, head[:4] + (bits | (asked > 3) << 31).to_bytes(4, 'little'))"
    ),
    "half, and gone": _ANSWERING.format(
        _HONEST + "    os.write(1, (head[:4] + bits.to_bytes(4, 'little'))[: 4 if asked > 3 else 8])\n"
        "    if asked > 3:\n"
        "        sys.exit()"
    ),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", _LYING)
def test_a_process_that_does_not_check_as_asked_is_not_believed(
    store: Path,
    alone: Report,
    checking: list[_Child],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    *,
    kind: str,
) -> None:
    """Bits that are 0 say that signatures hold: a program that says so blindly must not be heard."""
    if (text := _LYING[kind]) is not None:
        (tmp_path / "program.py").write_text(text)
    monkeypatch.setattr(checkers, "_PROGRAM", str(tmp_path / "program.py"))
    monkeypatch.setattr(checkers, "DEPTH", 1 << 20)
    assert comparable(audit(store, workers=3)) == alone
    assert len(checking) == 2
    assert exited(checking)


@pytest.mark.parametrize("reads", [True, False])
def test_a_process_that_hangs_is_not_waited_for(
    store: Path,
    alone: Report,
    checking: list[_Child],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    *,
    reads: bool,
) -> None:
    (tmp_path / "program.py").write_text(
        "import sys, time\n" + "sys.stdin.buffer.read()\n" * reads + "time.sleep(600)\n"
    )
    monkeypatch.setattr(checkers, "_PROGRAM", str(tmp_path / "program.py"))
    monkeypatch.setattr(checkers, "DEPTH", 1 << 20)
    monkeypatch.setattr(checkers, "PATIENCE_S", 0.3)
    monkeypatch.setattr(checkers, "_PIPE_BYTES", 4096)
    assert comparable(audit(store, workers=2)) == alone
    assert exited(checking)


def test_what_is_no_text_among_the_paths_is_passed_over(
    store: Path, alone: Report, checking: list[_Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [Path("/no/such/folder"), *sys.path])
    assert comparable(audit(store, workers=2)) == alone
    assert len(checking) == 1


def test_where_no_process_can_be_had_threads_check_signatures(
    store: Path, alone: Report, checking: list[_Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert comparable(audit(store, workers=3)) == alone
    assert checking == []


def test_a_check_that_cannot_be_made_here_is_raised(
    store: Path, checking: list[_Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(claims: list[Any]) -> list[int]:
        raise MemoryError

    monkeypatch.setattr(checkers, "wrong", failing)
    monkeypatch.setattr(_Child, "give", lambda _self, _part: False)
    with pytest.raises(MemoryError):
        audit(store, workers=3)
    assert exited(checking)


def test_the_checking_program_needs_nothing_of_braid() -> None:
    """A process has checked its first signature while another would still be importing."""
    told = subprocess.run(
        [sys.executable, "-S", "-P", "-X", "importtime", signature.__file__],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    loaded = {line.split("|")[-1].strip() for line in told.splitlines()}
    assert "_cffi_backend" in loaded
    assert not {"site", "typing", "msgspec", "nacl.bindings"}.intersection(loaded)
    assert not [name for name in loaded if name.startswith("braid")]


def test_what_a_thread_raises_is_raised(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that could not be made is no check that holds."""
    here = threading.get_ident()

    def failing(claims: list[Any]) -> list[int]:
        if threading.get_ident() == here:
            raise AssertionError("this thread was to wait")
        raise MemoryError

    monkeypatch.setattr(pool, "wrong", failing)
    with pytest.raises((MemoryError, AssertionError)):
        audit(store, workers=3)
    assert left_behind([]) == []


def test_what_nobody_has_begun_is_done_here_in_order() -> None:
    begin, done_by = threading.Event(), list[str]()

    def work(number: int) -> int:
        done_by.append(threading.current_thread().name)
        return number * number

    def slow(number: int) -> int:
        assert begin.wait(60)
        return work(number)

    with ThreadPoolExecutor(1, "other") as others:
        waiting = deque(pool._Asked(number, others.submit(slow, number)) for number in range(5))
        while not waiting[0].future.running():
            pass

        def here(number: int) -> int:
            if number == 4:
                begin.set()
            return work(number)

        assert [pool._settle(waiting, here) for _ in range(5)] == [(n, n * n) for n in range(5)]
    assert [name.startswith("other") for name in done_by].count(True) == 1


def test_no_answer_means_here() -> None:
    future: Future[int | None] = Future()
    future.set_result(None)
    assert pool._settle(deque([pool._Asked(3, future)]), lambda number: number + 1) == (3, 4)


@pytest.mark.parametrize("sharing", ["threads", "signatures", "stretches"])
def test_an_interrupt_leaves_nobody_behind(
    store: Path,
    started: list[Worker],
    checking: list[_Child],
    monkeypatch: pytest.MonkeyPatch,
    sharing: pool.Sharing,
) -> None:
    def interrupted(done: int, total: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(verify_module, "CHECKER_BYTES", 1 << 40 if sharing == "threads" else 0)
    monkeypatch.setattr(verify_module, "CHILD_BYTES", 0 if sharing == "stretches" else 1 << 40)
    with pytest.raises(KeyboardInterrupt):
        audit(store, workers=3, progress=interrupted)
    assert (len(started), len(checking)) == (2 * (sharing == "stretches"), 2 * (sharing == "signatures"))
    assert left_behind(started) == []
    assert exited(checking)


UNGUARDED = """
import subprocess
from pathlib import Path
from braid.ledger.audit import verify
from braid.ledger.tree.guard import Guard
print("run")
made, start = [], subprocess.Popen
subprocess.Popen = lambda *given, **more: made.append(given) or start(*given, **more)
verify.CHECKER_BYTES, verify.CHILD_BYTES = 0, {child_bytes}
store = Path({store!r})
report = verify.verify(store, guard=Guard.of_store({store_id!r}, store.parent / "guard"), workers=3)
print(len(made), len(report.findings) > 0)
"""


@pytest.mark.parametrize("child_bytes", [0, 1 << 40], ids=["stretches", "signatures"])
def test_the_callers_program_is_run_once(store: Path, tmp_path: Path, child_bytes: int) -> None:
    """It says nothing of `__name__`: a child that ran it again would append what it appends again."""
    program = tmp_path / "program.py"
    store_id = load_settings(store).store_id
    program.write_text(UNGUARDED.format(store=str(store), store_id=store_id, child_bytes=child_bytes))
    said = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["run", "2", "True"]


def test_a_worker_needs_neither_the_pool_nor_what_opens_bodies() -> None:
    code = "import sys, braid.ledger.audit.child; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    unneeded = {
        "braid.ledger.audit.pool",
        "braid.ledger.audit.body",
        "subprocess",
        "concurrent.futures",
        "numpy",
    }
    assert not unneeded.intersection(loaded.split())


def by_the_wrapper(public: bytes, message: bytes, signature: bytes) -> bool:
    try:
        return crypto_sign_open(signature + message, public) == message
    except CryptoError:
        return False


def test_signatures_are_checked_as_the_wrapper_checks_them() -> None:
    signer, other = Signer(bytes(range(32)), "recorder"), Signer(bytes(32), "recorder")
    for message in (b"", b"m", bytes(1000)):
        good = signer.sign(message)
        cases = [
            (signer.public, message, good),
            (other.public, message, good),
            (signer.public, message + b"x", good),
        ]
        cases += [
            (signer.public, message, good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]) for at in range(64)
        ]
        for case in cases:
            assert verify_signature(*case) == by_the_wrapper(*case)
        assert verify_signature(*cases[0])


def test_signatures_and_keys_of_another_length_do_not_hold() -> None:
    signer = Signer(bytes(range(32)), "recorder")
    good = signer.sign(b"m")
    assert verify_signature(signer.public, b"m", good)
    for public, wrong in (
        (signer.public[:-1], good),
        (signer.public + b"\x00", good),
        (b"", good),
        (signer.public, good[:-1]),
        (signer.public, good + b"\x00"),
        (signer.public, b""),
    ):
        assert not verify_signature(public, b"m", wrong)
    assert not verify_signature(
        signer.public, b"", good + b"m"
    )  # the message's bytes are none of the signature's
