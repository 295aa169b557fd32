"""LanceDB's extension in one process with others: its whole package, threads, forks, and who gives up waiting."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from braid.views.lance.extension import Waiter

OURS = """
from pathlib import Path
from braid.views.lance.arrow import pa
from braid.views.lance.extension import extension
from braid.views.lance.table import Table
schema = pa.schema([("n", pa.int64())])
def ours(name):
    folder = Path(name)
    folder.mkdir(exist_ok=True)
    table = Table.create(folder, "rows", schema)
    table.add(pa.table({"n": [1, 2]}, schema=schema))
    return table
"""
THEIRS = """
import lancedb
def theirs(name):
    return lancedb.connect(name).create_table("rows", [{"n": 1}, {"n": 2}])
"""
BOTH = """
import sys
assert theirs("theirs").search().where("n > 1").to_list() == [{"n": 2}]
assert ours("ours").rows("n > 1").to_pylist() == [{"n": 2}]
assert lancedb.connect("ours").open_table("rows").count_rows() == 2
assert Table.open(Path("theirs"), "rows").count() == 2
assert sys.modules["lancedb._lancedb"] is extension()
assert lancedb.Session is extension().Session
import lancedb._lancedb as named
from lancedb import _lancedb as taken
assert named is taken is extension()
"""


def play(folder: Path, program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-W", "ignore::DeprecationWarning", "-c", program],
        cwd=folder, check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.soak
@pytest.mark.parametrize(
    "program",
    [
        OURS + "ours('first')" + THEIRS + BOTH,
        THEIRS + "theirs('first')" + OURS + BOTH,
        OURS + "extension()" + THEIRS + BOTH,
    ],
    ids=["ours first", "the package first", "ours loaded, and not used"],
)
def test_the_whole_package_may_be_imported_before_and_after(tmp_path: Path, program: str) -> None:
    play(tmp_path, program)


@pytest.mark.soak
def test_both_may_be_loaded_at_once(tmp_path: Path) -> None:
    """The extension can be loaded once a process: a thread that imports the package must not meet one that loads it."""
    program = """
import sys, threading
from braid.views.lance.extension import extension
gate, found = threading.Barrier(4), []
def whole():
    gate.wait()
    import lancedb
    found.append(lancedb.Session)
def alone():
    gate.wait()
    found.append(extension().Session)
threads = [threading.Thread(target=act) for act in (whole, alone, whole, alone)]
for one in threads: one.start()
for one in threads: one.join()
assert len(found) == 4 and len(set(found)) == 1, found
"""
    play(tmp_path, program)


def test_a_forked_child_asks_for_itself(tmp_path: Path) -> None:
    program = """
import os, signal
table = ours("memory")
child = os.fork()
if child == 0:
    signal.alarm(60)
    found = Table.open(Path("memory"), "rows").rows("n > 0")
    os._exit(0 if found.num_rows == 2 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert table.count() == 2
"""
    play(tmp_path, OURS + program)


def test_it_has_no_thread_before_it_is_asked(tmp_path: Path) -> None:
    """So a process may fork until then, as the one does that runs the tests' commands."""
    program = """
import os, sys, threading
import braid.views.store, braid.views.lance.view
from braid.views.lance.extension import NAME, extension
assert NAME not in sys.modules
tasks = os.listdir("/proc/self/task")
extension()
assert os.listdir("/proc/self/task") == tasks
assert threading.active_count() == 1
"""
    play(tmp_path, program)


def test_it_writes_no_warnings_to_the_terminal(tmp_path: Path) -> None:
    """A small index of vectors is worth one to LanceDB."""
    program = """
import numpy as np
from braid.views.lance.arrow import schema_of, to_arrow
from braid.views.lance.table import IvfFlat
vectors = np.repeat(np.eye(8, dtype=np.float32), 50, axis=0)
rows = [{"log_index": n, "vector": vector} for n, vector in enumerate(vectors)]
Path("memory").mkdir()
table = Table.create(Path("memory"), "vectors", schema_of(8))
table.add(to_arrow(rows, 8))
table.create_index("vector", IvfFlat(16, sample_rate=25, distance_type="dot"))
"""
    play(tmp_path, OURS + program)


def test_who_gives_up_waiting_cancels_what_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    waiter = Waiter()
    begun, cancelled = threading.Event(), threading.Event()

    async def slow() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    class Interrupted:
        """A wait into which an interrupt falls."""

        def __init__(self, waiting: object) -> None:
            self._waiting = waiting

        def result(self) -> None:
            assert begun.wait(10)
            raise KeyboardInterrupt

        def cancel(self) -> None:
            self._waiting.cancel()  # type: ignore[attr-defined]

    submit = asyncio.run_coroutine_threadsafe
    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", lambda *given: Interrupted(submit(*given)))
    with pytest.raises(KeyboardInterrupt):
        waiter.run(slow)
    assert cancelled.wait(10)


def test_many_threads_start_one_waiter() -> None:
    waiter, gate, loops = Waiter(), threading.Barrier(8), set[object]()

    async def where() -> object:
        return asyncio.get_running_loop()

    def ask() -> None:
        gate.wait()
        loops.add(waiter.run(where))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(loops) == 1


def test_what_is_asked_within_a_running_loop_blocks_and_answers() -> None:
    """A store's methods may be called in a coroutine: they have a loop of their own."""
    waiter = Waiter()

    async def one() -> int:
        return 1

    async def within() -> int:
        return waiter.run(one)

    assert asyncio.run(within()) == 1
