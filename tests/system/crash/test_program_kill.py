"""kill -9 between, in and after the steps of a program: another process goes on; nothing is done twice (SPEC §23)."""

import multiprocessing
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import braid
from braid.agent.program.events import Ended
from tests.system.crash import program_scenes as scenes

POINTS = (
    "program.begun@1", "program.called@1", "program.step@1", "program.called@2", "program.step@2", "program.step@3",
    "wal.write@1", "wal.write.done@2", "wal.sync@4", "wal.sync.done@5",
)  # fmt: skip
"""Of the run up to its pause: between any two records of it, and while a record is written."""
LAST = ("wal.write@1", "program.step@1", "wal.sync.done@2", "program.step@2")
pytestmark = [pytest.mark.timeout(240), pytest.mark.filterwarnings("ignore::DeprecationWarning")]
Scene = Callable[[str, str], None]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store and its guard."""
    folder = tmp_path_factory.mktemp("world")
    with braid.open(folder / "memory", guard_dir=folder / "guard") as store:
        store.append("It begins.")
    return folder


def start(scene: Scene, folder: Path, kill: str = "") -> multiprocessing.process.BaseProcess:
    """Play a scene in a process of its own, forked from a warmed one."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([scenes.__name__])
    process = context.Process(target=scene, args=(str(folder), kill))
    process.start()
    return process


def play(scene: Scene, folder: Path, kill: str = "") -> int | None:
    process = start(scene, folder, kill)
    process.join(120)
    return process.exitcode


def check(folder: Path) -> None:
    """The program has ended once, in one answer; each of its events is there once; the order went out once."""
    orders = (folder / "orders").read_text(encoding="utf-8").splitlines()
    assert [line.partition(" ")[2] for line in orders] == ["12 mugs"]
    with scenes.opened(folder) as store:
        program = scenes.begin(store, folder)
        assert program.standing == "answered"
        history = store.program_trace(program.id)
        assert [one.event.n for one in history] == list(range(len(history)))
        assert sum(isinstance(one.event, Ended) for one in history) == 1
        methods = Counter(one.members.get("provenance", {}).get("method") for one in store.read())
        assert (methods["ask"], methods["answer"], methods["reflect"]) == (1, 1, 1)
        assert store.verify().findings == []


@pytest.mark.sample(12)
@pytest.mark.parametrize("kill", POINTS)
def test_a_run_that_is_killed_is_gone_on_with(world: Path, tmp_path: Path, kill: str) -> None:
    folder = tmp_path / "w"
    shutil.copytree(world, folder)
    assert play(scenes.run, folder, kill) == -signal.SIGKILL
    assert play(scenes.run, folder) == 0  # its caller repeats it: with the key it is the same program
    assert play(scenes.go_on, folder) == 0
    check(folder)


@pytest.mark.soak
@pytest.mark.sample(4)
@pytest.mark.parametrize("kill", LAST)
def test_a_resumption_that_is_killed_is_gone_on_with(world: Path, tmp_path: Path, kill: str) -> None:
    folder = tmp_path / "w"
    shutil.copytree(world, folder)
    assert play(scenes.run, folder) == 0
    assert play(scenes.go_on, folder, kill) in (-signal.SIGKILL, 0)
    assert play(scenes.go_on, folder) == 0
    check(folder)


@pytest.mark.soak
def test_of_processes_that_resume_one_program_one_goes_on(world: Path, tmp_path: Path) -> None:
    folder = tmp_path / "w"
    shutil.copytree(world, folder)
    assert play(scenes.run, folder) == 0
    rivals = [start(scenes.answer, folder, str(number)) for number in range(3)]
    while len(list(folder.glob("ready-*"))) < len(rivals):
        time.sleep(0.02)
    (folder / "go").touch()
    for rival in rivals:
        rival.join(120)
    said = sorted(path.read_text(encoding="utf-8") for path in folder.glob("said-*"))
    assert [one.partition(":")[0] for one in said].count("done") == 1, said
    others = [one for one in said if one != "done"]
    assert len(others) == 2
    assert all(
        "is being run by process" in one or "is over" in one or "gone on with" in one for one in others
    ), said
    check(folder)
