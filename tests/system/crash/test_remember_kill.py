"""Remembering in processes: two at once make one memory; one that is killed leaves its words to whoever works."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import braid

WORKER = """
import sys
import braid
store, who, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with braid.open(store, shared=True, create=False, wait_s=60, parser=None) as memories:
    print("open", flush=True)
    sys.stdin.readline()
    for number in range(count):
        done = memories.remember(f"Fact {number}.", user_id="maya", raw=True, idempotency_key=f"{who}-{number}")
        print(done.memory_id)
"""
KILLED = """
import sys
import braid
with braid.open(sys.argv[1], create=False) as memories:
    memories.remember("I live in Porto.", user_id="maya", idempotency_key="k")
"""
COUNT = 30
pytestmark = pytest.mark.timeout(240)


def started(code: str, *words: str, **environment: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment},
    )


def test_two_processes_at_once_make_one_memory_of_each(tmp_path: Path) -> None:
    store = tmp_path / "memory"
    braid.init(store)
    with (
        started(WORKER, str(store), "a", str(COUNT)) as one,
        started(WORKER, str(store), "b", str(COUNT)) as two,
    ):
        for process in (one, two):
            assert process.stdout
            assert process.stdout.readline() == "open\n"
        told = [process.communicate("\n")[0].split() for process in (one, two)]
    assert (one.returncode, two.returncode) == (0, 0)
    assert told[0] == told[1]
    with braid.open(store, read_only=True) as memories:
        assert [one.text for one in memories.read() if one.kind == "experience"] == [
            f"Fact {n}." for n in range(COUNT)
        ]
        for id in told[0]:
            assert [change.change for change in memories.history(id).changes] == ["ADD", "NONE"]


@pytest.mark.soak
def test_killed_between_words_and_reading_it_is_read_once(tmp_path: Path) -> None:
    store = tmp_path / "memory"
    braid.init(store)
    with started(KILLED, str(store), BRAID_KILL_AT="remember.saved") as process:
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    work = [str(Path(sys.executable).with_name("braid")), "work", "--until-idle", "--store", str(store)]
    for _ in range(2):
        subprocess.run(work, check=True, capture_output=True)
    with braid.open(store, read_only=True) as memories:
        found = [one.text for one in memories.read() if one.kind == "experience"]
    assert found[0] == "I live in Porto."
    assert len(found) == 2
