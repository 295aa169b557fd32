"""The matrix of faults: every act, every system call in it, every occurrence, every way to fail; one cell at a time.

A cell is played on a fresh copy of a small world, then everything is looked at: what was acknowledged, what is half,
which heads were ever signed.
"""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from braid.ledger.publish.folder import CHECKPOINT
from braid.ledger.settings import load_settings
from braid.ledger.tree.checkpoint import open_checkpoint
from braid.ledger.tree.guard import Guard
from braid.ledger.tree.note import parse_vkey
from braid.tools.lab.torture.acts import ACTS, Prepared, World, prepare
from braid.tools.lab.torture.errors import TortureError
from braid.tools.lab.torture.examine import examine
from braid.tools.lab.torture.fickle import SYNCS
from braid.tools.lab.torture.onlookers import read_published
from braid.tools.lab.torture.player import Order, Played
from braid.tools.lab.torture.strace import Harm, Trace, calls, faults_of, harmed, kind_of
from braid.tools.lab.torture.told import Told
from braid.tools.lab.torture.words import text_of

DISK: Final = ("done", "lost")
T = TypeVar("T")


class Cell(NamedTuple):
    """One fault: in which act, in which call, at which of its occurrences, on which kind of file."""

    act: str
    call: str
    nth: int
    fault: str
    file: str

    @property
    def harm(self) -> Harm:
        """What strace is to do."""
        return Harm(self.call, self.nth, self.fault)

    def __str__(self) -> str:
        return f"{self.act}: {self.fault} at {self.call} {self.nth} ({self.file})"


class Matrix:
    """The worlds in which acts begin, and the process that plays them."""

    def __init__(self, home: Path) -> None:
        """Make the worlds below `home`."""
        self.home = home
        home.mkdir()
        self._worlds: dict[bool, Prepared] = {}
        surroundings = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self._player = subprocess.Popen(
            [sys.executable, "-m", "braid.tools.lab.torture.player"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=surroundings,
        )  # fmt: skip

    def close(self) -> None:
        """End the process."""
        self._player.communicate()

    # -- which cells there are ------------------------------------------------------------------------

    def cells(self, act: str, *, traced: bool) -> list[Cell]:
        """Return the cells of an act, found by playing it unharmed; without `traced` those of the fickle disk alone."""
        found: list[Cell] = []
        with self.world(act) as world:  # the first time also imports what is imported late
            played = _whole(self._play(Order(act, str(world.folder), loss="done")))
            counted: Counter[str] = Counter()
            for step, path in played.steps:
                counted[step] += 1
                faults = DISK if step in SYNCS else DISK[:1]
                found += [Cell(act, step, counted[step], fault, kind_of(path)) for fault in faults]
        if not traced:
            return found
        with self.world(act) as world:
            played, log = self._traced(Order(act, str(world.folder)))
            _whole(played)
            for call in calls(log, world.folder):
                found += [Cell(act, call.name, call.nth, fault, call.file) for fault in faults_of(call.name)]
        return found

    @staticmethod
    def sample(cells: list[Cell], count: int, chance: random.Random) -> list[Cell]:
        """Return so many cells, of as many kinds (call, fault, file) as there are: the rare ones are not drowned."""
        deck = cells[:]
        chance.shuffle(deck)
        seen: dict[tuple[str, str, str], int] = {}
        ranked: list[tuple[int, Cell]] = []
        for cell in deck:
            kind = (cell.call, cell.fault, cell.file)
            seen[kind] = seen.get(kind, 0) + 1
            ranked.append((seen[kind], cell))
        return [cell for _, cell in sorted(ranked, key=lambda one: one[0])[:count]]

    # -- playing them -----------------------------------------------------------------------------------

    def play(self, cell: Cell) -> Told:
        """Play a cell and look at what is left; return what was said.

        Raises TortureError for what must not be, and keeps the world.
        """
        with self.world(cell.act) as world:
            order = Order(cell.act, str(world.folder), kind=cell.call, nth=cell.nth)
            if cell.fault == "done" or cell.fault == "lost":  # noqa: PLR1714 - what a checker follows
                played = self._play(replace(order, loss=cell.fault))
            else:
                played, _ = self._traced(order, [cell.harm])
            return self._judged(world, played, cell.act, str(cell))

    def play_together(self, cells: Sequence[Cell]) -> tuple[Told, set[str]]:
        """Play an act with several of its calls harmed in one run, and look; return what was said, and which were met.

        A call that comes after a death, or in a step that was given up, is not met.
        """
        act, harms = cells[0].act, [cell.harm for cell in cells]
        with self.world(act) as world:
            played, log = self._traced(Order(act, str(world.folder)), harms)
            return self._judged(world, played, act, ", ".join(map(str, cells))), harmed(log, harms)

    def _judged(self, world: World, played: Played, act: str, what: str) -> Told:
        told = Told()
        told.hear(["harmed\n", *played.said])
        try:
            if played.complaint:
                raise TortureError(f"it broke: {played.complaint}")
            self.look(world, told, act)
        except Exception as error:
            kept = shutil.copytree(world.folder, self.home / "kept", dirs_exist_ok=True)
            raise TortureError(f"{what}: {type(error).__name__}: {error}; kept in {kept}") from error
        return told

    def before(self, act: str) -> Prepared:
        """Return what an act's world begins with, once there is one."""
        return self._worlds[ACTS[act].views]

    def look(self, world: World, told: Told, act: str) -> None:
        """Look at a wreck twice: as it is, and after it was published anew and written to."""
        views = ACTS[act].views
        told.hear(self._worlds[views].said)
        told.heads |= _heads_on_disk(world) | {_published(world)}
        examine(world.memory, world.guard, told, views=views)
        size, root = world.publish()  # goes on from what is there, whatever was left
        if _published(world) != (size, root.hex()):
            raise TortureError("publishing again does not show the newest head")
        with world.open() as store:
            told.hear([f"appended {store.append(text_of(random.Random(9)))}\n"])
        examine(world.memory, world.guard, told, views=False)
        _no_trace(world, told, self._worlds[views])

    def _play(self, order: Order) -> Played:
        self._order(order)
        return self._answer(Played)

    def _traced(self, order: Order, harms: Sequence[Harm] = ()) -> tuple[Played, str]:
        self._order(replace(order, stop=True))
        trace = Trace(self._answer(int), self.home / "trace", harms)
        trace.go()
        log = trace.end()
        return self._answer(Played), log

    def _order(self, order: Order) -> None:
        assert self._player.stdin is not None  # noqa: S101 - it is a pipe
        self._player.stdin.write(msgspec.json.encode(order) + b"\n")
        self._player.stdin.flush()

    def _answer(self, kind: type[T]) -> T:
        assert self._player.stdout is not None  # noqa: S101 - it is a pipe
        line = self._player.stdout.readline()
        if not line:
            raise TortureError("the player is gone")
        return msgspec.json.decode(line, type=kind)

    @contextmanager
    def world(self, act: str) -> Generator[World]:
        """Copy the world in which an act begins; it is gone when the block ends."""
        views = ACTS[act].views
        base = World(self.home / ("views" if views else "bare"))
        if views not in self._worlds:
            base.folder.mkdir()
            self._worlds[views] = prepare(base, views=views)
        with tempfile.TemporaryDirectory(dir=self.home) as folder:
            shutil.copytree(base.folder, folder, dirs_exist_ok=True)
            yield World(Path(folder))


def _whole(played: Played) -> Played:
    """Return what was played unharmed; TortureError where it was not."""
    refused = [line.strip() for line in played.said if line.startswith("refused")]
    if played.code or played.complaint or refused:
        raise TortureError(f"an act that nothing harms fails: {played.complaint or refused or played.code}")
    return played


def _heads_on_disk(world: World) -> set[tuple[int, str]]:
    """Return every head that was signed and can be found: in the guard, the history, the store, the published log."""
    settings = load_settings(world.memory)
    guard = Guard.of_store(settings.store_id, world.guard).read()
    if guard is None:
        raise TortureError("the guard is gone")
    found = {(guard.size, guard.root)}
    for path in (world.memory / "checkpoint", world.memory / "checkpoints", world.served / CHECKPOINT):
        for note in re.findall(rb"(?s)[^\n]+\n\d+\n.*?\n\n(?:\xe2\x80\x94 [^\n]+\n)+", path.read_bytes()):
            checkpoint, _ = open_checkpoint(note, guard.keys, settings.origin)
            found.add((checkpoint.size, checkpoint.root.hex()))
    return found


def _published(world: World) -> tuple[int, str]:
    """Read the whole published log as a stranger does; return its head."""
    head = Guard.of_store(load_settings(world.memory).store_id, world.guard).read()
    if head is None:
        raise TortureError("the guard is gone")
    return read_published(world.served, parse_vkey(head.vkey))


def _no_trace(world: World, told: Told, before: Prepared) -> None:
    """What was certified as erased is in no file any more."""
    if before.needle not in told.said("erased"):
        return
    for path in world.folder.rglob("*"):
        if path.is_file() and before.sealed in path.read_bytes():
            raise TortureError(f"{path.name} still holds what was erased")
