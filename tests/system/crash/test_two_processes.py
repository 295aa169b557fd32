"""Two processes, one store: each waits its turn, each sees the other's records, and one may die in the middle."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from braid.ledger.audit.verify import verify
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Content, Draft, ExperienceBody
from braid.ledger.write.writer import Writer
from braid.wal.errors import LogLockedError

COUNT = 200
WORKER = """
import os, sys
import braid
name, count, store = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with braid.open(store, shared=True, create=False, wait_s=60) as memories:
    print("open", flush=True)
    sys.stdin.readline()
    for number in range(count):
        own = memories.append(f"{name} {number}", idempotency_key=f"{name}-{number}")
        common = memories.append(f"common {number}", idempotency_key=f"common-{number}")
        print(f"{name} {number} {own} {common}", flush=True)
    print("done", flush=True)
"""
pytestmark = pytest.mark.timeout(240)


@contextmanager
def worker(store: Path, name: str, kill: str = "") -> "Iterator[subprocess.Popen[str]]":
    """Start a process that opens the store to share it, and appends once it is told to."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"} | ({"BRAID_KILL_AT": kill} if kill else {})
    with subprocess.Popen(
        [sys.executable, "-c", WORKER, name, str(COUNT), store],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "open\n"
            yield process
        finally:
            process.kill()


def go(process: "subprocess.Popen[str]") -> None:
    """Let a worker begin."""
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def acknowledged(process: "subprocess.Popen[str]") -> dict[str, str]:
    """Wait for a worker's end; return id by text of what it was told is safe."""
    assert process.stdout
    lines = process.stdout.read().splitlines()
    process.wait()
    found: dict[str, str] = {}
    for line in lines:
        if line != "done":
            name, number, own, common = line.split()
            found |= {f"{name} {number}": own, f"common {number}": common}
    return found


def audited(store: Path) -> dict[str, list[str]]:
    """Audit the store deeply; return the ids by text."""
    report = verify(store, deep=True, workers=1)
    assert ([str(finding) for finding in report.findings], report.could_not_look) == ([], [])
    found: dict[str, list[str]] = {}
    with closing(Reader(store)) as reader:
        assert reader.published.size == reader.size
        for batch in reader.entries():
            for entry in batch:
                if entry.record.kind == "experience":
                    found.setdefault(entry.record.text, []).append(entry.record.id)
    return found


def test_two_processes_share_a_store(store: Path) -> None:
    with worker(store, "a") as one, worker(store, "b") as two:
        go(one)
        go(two)
        told = {"a": acknowledged(one), "b": acknowledged(two)}
        assert (one.returncode, two.returncode) == (0, 0)
    found = audited(store)
    assert all(len(ids) == 1 for ids in found.values())
    assert set(found) == {f"{name} {number}" for name in ("a", "b", "common") for number in range(COUNT)}
    for texts in told.values():
        assert all(
            found[text] == [id] for text, id in texts.items()
        )  # both were told of the same common record
    places = [int(text.split()[1]) for text in found if text.startswith("a ")]
    assert places == sorted(places)


def test_an_exclusive_opening_is_refused_while_another_writes(store: Path) -> None:
    with closing(Writer(store)):
        code = "import sys, braid; braid.open(sys.argv[1], create=False)"
        refused = subprocess.run(
            [sys.executable, "-c", code, store], capture_output=True, text=True, check=False
        )
        assert refused.returncode
        assert re.search(
            f"LogLockedError: {re.escape(str(store))} is open for writing elsewhere", refused.stderr
        )
        code = "import sys, braid; print(len(list(braid.open(sys.argv[1], read_only=True).read())))"
        read = subprocess.run(
            [sys.executable, "-c", code, store], capture_output=True, text=True, check=False
        )
        assert read.returncode == 0, read.stderr


def test_an_exclusive_handle_keeps_sharers_waiting_and_then_lets_them_in(store: Path) -> None:
    with worker(store, "a") as process:
        with closing(Writer(store)) as writer:  # a sharer holds the lock only while it writes
            go(process)
            writer.append(
                [
                    Draft(
                        kind="experience",
                        type="occurrence",
                        body=ExperienceBody(content=Content(text="mine 0")),
                    )
                ]
            )
            with pytest.raises(LogLockedError):
                Writer(store, shared=True, wait_s=0.01)
        told = acknowledged(process)
        assert process.returncode == 0
    assert len(told) == 2 * COUNT
    assert set(told) < set(audited(store))


@pytest.mark.soak
@pytest.mark.sample(3)
@pytest.mark.parametrize("kill", ["wal.write.done@61", "wal.sync@120", "guard.write.renamed@1"])
def test_one_is_killed_and_the_other_goes_on(store: Path, kill: str) -> None:
    with worker(store, "a", kill) as dying, worker(store, "b") as living:
        go(dying)
        go(living)
        told = {**acknowledged(dying), **acknowledged(living)}
        assert living.returncode == 0
        assert dying.returncode == -signal.SIGKILL
    Writer(store).close()  # the one that died may have been the last
    found = audited(store)
    assert all(len(ids) == 1 for ids in found.values())
    assert all(found[text] == [id] for text, id in told.items())
    assert {text for text in found if text.startswith(("b", "common"))} == {
        f"{name} {number}" for name in ("b", "common") for number in range(COUNT)
    }
    with worker(
        store, "a"
    ) as again:  # what it was not told of may be there: its keys make the repetition harmless
        go(again)
        acknowledged(again)
        assert again.returncode == 0
    assert all(len(ids) == 1 for ids in audited(store).values())
