"""System calls that fail and disks that lose what they were given, one step at a time, and then a look at everything.

A seeded sample of the matrix, of as many kinds of calls, files and faults as there are; `make torture` plays all of it.
"""

import os
import random
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from braid.ledger.keys.logkeys import load_log_key
from braid.ledger.tree.checkpoint import Checkpoint, sign_checkpoint
from braid.tools.lab.torture.acts import ACTS, World
from braid.tools.lab.torture.deck import Deck
from braid.tools.lab.torture.errors import TortureError
from braid.tools.lab.torture.fickle import STEPS, FickleDisk
from braid.tools.lab.torture.matrix import Cell, Matrix
from braid.tools.lab.torture.strace import KILL, calls, faults_of, harmed, kind_of, why_not
from braid.tools.lab.torture.told import Told

SEED = 8
ON_A_FICKLE_DISK = 4
SLOW = {"replay": 6, "snapshot": 6}
"""Acts that take a second or more: how many of their calls are harmed in one run."""
LOOKING = frozenset((
    "close", "fadvise64", "fcntl", "flock", "fstat", "getdents64", "ioctl", "lseek", "newfstatat", "pread64", "read",
    "readlink", "stat",
))  # fmt: skip
"""Calls that change nothing on disk: of slow acts they are harmed under BRAID_TORTURE alone."""
ALL = "BRAID_TORTURE" in os.environ
needs_strace = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Matrix]:
    made = Matrix(tmp_path_factory.mktemp("matrix") / "worlds")
    yield made
    made.close()


@pytest.mark.sample(3)
@needs_strace
@pytest.mark.parametrize(
    "act", [pytest.param(act, marks=[pytest.mark.soak] if act in SLOW else []) for act in ACTS]
)
def test_every_system_call_of_an_act_fails_or_is_the_last(matrix: Matrix, act: str) -> None:
    """Each call at least once, at a place and in a way that the seed chooses; `make torture` plays every place."""
    cells = [cell for cell in matrix.cells(act, traced=True) if cell.fault not in ("done", "lost")]
    assert {cell.fault for cell in cells} == {"EIO", "ENOSPC", "SIGKILL"}
    assert {"openat", "write", "fsync"} <= {cell.call for cell in cells}
    together = SLOW.get(act, 1)
    if (
        act in SLOW
    ):  # nothing comes behind a death: one by itself, and of the rest what changes a file or a folder
        assert matrix.play(next(cell for cell in seeded(cells) if cell.fault == KILL)).counts["harmed"]
        cells = [cell for cell in cells if cell.fault != KILL and (ALL or cell.call not in LOOKING)]
    waiting: dict[str, list[Cell]] = {}
    for cell in seeded(cells):
        waiting.setdefault(cell.call, []).append(cell)
    met = set(waiting)
    for _ in range(4 * len(waiting)):
        chosen = list(waiting)[
            : together if met else 1
        ]  # where some stood in the others' way, the first alone
        _, met = matrix.play_together([waiting[call][-1] for call in chosen])
        for call in chosen:
            if call in met:
                del waiting[call]
            elif len(chosen) == 1:
                waiting[call].pop()
                assert waiting[call], f"{call} was never met"
        if not waiting:
            return
    raise AssertionError(f"never met: {', '.join(waiting)}")


def seeded(cells: list[Cell]) -> list[Cell]:
    return random.Random(SEED).sample(cells, len(cells))


@pytest.mark.soak
@pytest.mark.sample(3)
@pytest.mark.parametrize("act", [act for act in ACTS if act not in SLOW])
def test_a_step_fails_but_was_done_or_was_lost(matrix: Matrix, act: str) -> None:
    cells = matrix.cells(act, traced=False)
    assert {cell.fault for cell in cells} == {"done", "lost"}
    for cell in matrix.sample(cells, ON_A_FICKLE_DISK, random.Random(SEED)):
        assert matrix.play(cell).counts["harmed"] == 1


def test_every_file_that_is_synced_is_in_the_matrix(matrix: Matrix) -> None:
    """What each sync was for, told apart by its file: here a new file of the store shows that nobody has harmed yet."""
    synced = {
        cell.file
        for act in ACTS
        if act not in SLOW
        for cell in matrix.cells(act, traced=False)
        if cell.fault == "lost"
    }
    assert synced == {
        "guard", "guard/.N.guard.new", "memory", "memory/.checkpoint.new", "memory/blobs/N", "memory/blobs/N/N",
        "memory/log", "memory/log/.N.idx.new", "memory/log/.N.seg.new", "memory/log/N.idx", "memory/log/N.seg",
        "memory/tile/N/N.p", "memory/tile/N/N.p/.N.new", "memory/vault.new", "memory/vault.old",
        "served", "served/.checkpoint.new", "served/tile/N/N.p", "served/tile/N/N.p/.N.new",
        "served/tile/entries/N.p", "served/tile/entries/N.p/.N.new",
    }  # fmt: skip


# -- a fault is one ---------------------------------------------------------------------------------


@needs_strace
def test_a_call_is_really_made_to_fail(matrix: Matrix) -> None:
    syncs = [cell for cell in matrix.cells("append", traced=True) if cell.call == "fdatasync"]
    assert {cell.fault for cell in syncs} == {"EIO", "ENOSPC", "SIGKILL", "done", "lost"}
    for fault, said in (  # the first sync is that of opening
        ("EIO", {"refused: OutcomeUnknownError": 1, "refused: WriterPoisonedError": 2}),
        ("SIGKILL", {}),
    ):
        heard = matrix.play(next(cell for cell in syncs if (cell.fault, cell.nth) == (fault, 2))).counts
        assert {word: count for word, count in heard.items() if word.startswith("refused")} == said
        assert heard["appended"] == 6  # what the world began with, and the look
    told = matrix.play(Cell("append", "fdatasync", 99, KILL, "none"))
    assert told.counts["appended"] == 11  # never reached: nothing is harmed


@needs_strace
def test_a_log_tells_which_calls_were_harmed(matrix: Matrix) -> None:
    syncs = [
        cell for cell in matrix.cells("append", traced=True) if cell.call == "fdatasync" and cell.nth == 2
    ]
    (fails,) = [cell for cell in syncs if cell.fault == "EIO"]
    later = Cell("append", "close", 9_999, KILL, "none")
    told, met = matrix.play_together([fails, later])
    assert met == {"fdatasync"}
    assert told.counts["refused: OutcomeUnknownError"] == 1
    (dies,) = [cell for cell in syncs if cell.fault == KILL]
    assert matrix.play_together([dies, Cell("append", "rename", 9_999, "EIO", "none")])[1] == {"fdatasync"}
    log = '7 write(3<f>, ""..., 9 <unfinished ...>\n7 <... write resumed>) = -1 EIO (Input/output error) (INJECTED)\n'
    assert harmed(log, []) == {"write"}


def test_which_calls_touch_the_world(tmp_path: Path) -> None:
    log = (
        '7 openat(AT_FDCWD</>, "/usr/lib/x.py", O_RDONLY) = 3</usr/lib/x.py>\n'
        '7 openat(AT_FDCWD</>, "W/memory/log/00000000.seg", O_RDWR) = 3<W/memory/log/00000000.seg>\n'
        '8 write(3<W/memory/log/00000000.seg>, ""..., 9) = 9\n'
        '7 write(1<pipe:[3]>, ""..., 9) = 9\n'
        '7 write(3<W/guard/0123456789abcdef.guard>, ""..., 9 <unfinished ...>\n'
        "7 <... write resumed>) = 9\n"
        "8 +++ exited with 0 +++\n"
    ).replace("W", str(tmp_path))
    assert calls(log, tmp_path) == [
        ("openat", 2, "memory/log/N.seg"),
        ("write", 1, "memory/log/N.seg"),
        ("write", 2, "guard/N.guard"),
    ]
    assert faults_of("rename") == ("EIO", "ENOSPC", "SIGKILL")
    assert faults_of("close") == ("SIGKILL",)
    assert kind_of("tile/0/x001/002.p/17") == "tile/N/xN/N.p/N"


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., FickleDisk]]:
    """Make a fickle disk over a folder with one synced file, and give `os` back afterwards."""
    for step in STEPS:
        monkeypatch.setattr(os, step, getattr(os, step))
    (tmp_path / "file").write_bytes(b"synced")

    def make(kind: str, nth: int, loss: str) -> FickleDisk:
        made = FickleDisk(tmp_path, kind, nth, loss)  # type: ignore[arg-type]
        made.stand_behind()
        return made

    yield make
    monkeypatch.undo()


@pytest.mark.parametrize(("loss", "left"), [("lost", b"synced again"), ("done", b"synced again, and more")])
def test_what_a_failed_sync_leaves(
    disk: Callable[..., FickleDisk], tmp_path: Path, loss: str, left: bytes
) -> None:
    made = disk("fsync", 2, loss)
    fd = os.open(tmp_path / "file", os.O_WRONLY | os.O_APPEND)
    os.write(fd, b" again")
    os.fsync(fd)
    os.write(fd, b", and more")
    with pytest.raises(OSError, match="Input/output error"):
        os.fsync(fd)
    os.close(fd)
    assert (tmp_path / "file").read_bytes() == left
    assert made.steps == [("write", "file"), ("fsync", "file")] * 2


def test_names_that_were_never_synced_go_with_the_power(
    disk: Callable[..., FickleDisk], tmp_path: Path
) -> None:
    child = os.fork()
    if child == 0:
        disk("fsync", 1, "lost")
        (tmp_path / "new").write_bytes(b"new")
        (tmp_path / "other").write_bytes(b"other")
        (tmp_path / "other").replace(tmp_path / "file")
        os.fsync(os.open(tmp_path, os.O_RDONLY))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"synced"


# -- the look sees it -------------------------------------------------------------------------------


def forged_head(world: World) -> None:
    with (world.memory / "checkpoints").open("ab") as history:
        key = load_log_key(world.memory)
        history.write(sign_checkpoint(Checkpoint(key.verifier.name, 4, bytes(32)), [key]) + b"\n")


def spoiled_tile(world: World) -> None:
    for path in (world.served / "tile" / "entries").rglob("*.p/*"):
        path.write_bytes(path.read_bytes()[:-1] + b"?")


def lost_folder(world: World) -> None:
    shutil.rmtree(world.guard)


@pytest.mark.parametrize(
    ("act", "words", "finding"),
    [
        (None, "appended exp_lost", "misses 1 acknowledged"),
        (None, "erased {needle}", "was erased and is back"),
        (None, "published 500 " + "00" * 32, "a head of 500 records was published"),
        (forged_head, "", "a head of 4 records was published that this log contradicts"),
        (spoiled_tile, "", "is not what the signed tree holds there"),
        (lost_folder, "", "the guard is gone"),
    ],
    ids=["lost", "back", "ahead", "contradicted", "spoiled", "unguarded"],
)  # fmt: skip
def test_what_must_not_be_is_found(
    matrix: Matrix, act: Callable[[World], None] | None, words: str, finding: str
) -> None:
    with matrix.world("append") as world:
        told = Told()
        if words:
            told.hear([words.format(needle=matrix.before("append").needle) + "\n"])
        if act:
            act(world)
        with pytest.raises(Exception, match=finding):
            matrix.look(world, told, "append")


def test_bytes_of_the_erased_are_found(matrix: Matrix) -> None:
    with matrix.world("append") as world:
        before, told = matrix.before("append"), Told()
        with world.open() as store:
            named = [one.id for one in store.plan_erase(before.needle).erased]
            told.hear([f"erasing {' '.join(named)}\n"])
            store.erase(before.needle)
            told.hear([f"erased {' '.join(named)}\n"])
        matrix.look(world, told, "append")
        (world.folder / "left").write_bytes(b"..." + before.sealed + b"...")
        with pytest.raises(TortureError, match="left still holds what was erased"):
            matrix.look(world, told, "append")


def test_a_finding_names_its_cell_and_keeps_the_world(
    matrix: Matrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(*_: object) -> None:
        raise TortureError("something is lost")

    monkeypatch.setattr(matrix, "look", look)
    with pytest.raises(
        TortureError,
        match=r"append: done at fdatasync 1 \(memory/log/N.seg\): TortureError: something is lost; kept in",
    ):
        matrix.play(Cell("append", "fdatasync", 1, "done", "memory/log/N.seg"))
    assert (matrix.home / "kept" / "memory" / "store.json").exists()


def test_the_deck_deals_every_act(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dealt: list[Cell] = []

    def cells(matrix: Matrix, act: str, *, traced: bool) -> list[Cell]:
        return [Cell(act, "write", nth, "EIO", "file") for nth in range(2)]

    def played(matrix: Matrix, cell: Cell) -> Told:
        dealt.append(cell)
        return Told()

    monkeypatch.setattr(Matrix, "cells", cells)
    monkeypatch.setattr(Matrix, "play", played)
    deck = Deck(tmp_path / "worlds", seed=1)
    for _ in range(4 * len(ACTS)):
        deck.play()
    deck.close()
    assert Counter(cell.act for cell in dealt[: len(ACTS)]) == Counter(list(ACTS))
    assert set(Counter(dealt).values()) == {2}
    assert str(deck) == f"{4 * len(ACTS)} of the matrix's {2 * len(ACTS)} so far"
