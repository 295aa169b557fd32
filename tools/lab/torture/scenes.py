"""What is done to a store: seven scenes, each a round of processes and something that goes wrong for them.

A scene gets the stage and chance, and returns in a few words what it did. The look at what is left comes after it.
"""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import braid
from braid.ledger.settings import load_settings
from braid.ledger.tree.guard import Guard
from braid.ledger.tree.note import parse_vkey
from braid.tools.lab.torture.clock import SetClock
from braid.tools.lab.torture.deck import Deck
from braid.tools.lab.torture.disk import SmallDisk
from braid.tools.lab.torture.errors import TortureError
from braid.tools.lab.torture.onlookers import read_published
from braid.tools.lab.torture.processes import Process, let_run, running, tell_to_end
from braid.tools.lab.torture.told import Told
from braid.tools.lab.torture.words import text_of

FREE_KIB: Final = (40, 150, 600, 2_000)
SLOW_US: Final = (200, 2_000, 8_000)
_JUMPS_S: Final = (-90_000, -4_000, -900, -290, -30, -1, 0, 1, 30, 290, 900, 4_000, 90_000)


class Stage:
    """One store under torture and what a scene may do to it."""

    def __init__(
        self,
        folder: Path,
        guard: Path,
        *,
        points: list[str],
        shim: Path | None,
        disk: SmallDisk,
        deck: Deck,
        longest_s: float,
    ) -> None:
        """`points`: failpoints to kill at. `deck`: faults to play. `longest_s`: how long a round runs at most."""
        self.folder = folder
        self.path = folder / "memory"
        self.guard = guard
        self.points = points
        self.shim = shim
        self.disk = disk
        self.deck = deck
        self.told = Told()
        self._longest_s = longest_s

    def create(self) -> None:
        """Make the store, with something in it to erase; a round's processes find it there."""
        self.folder.mkdir(exist_ok=True)
        with braid.open(self.path, guard_dir=self.guard) as store:
            chance = random.Random(0)
            ids = [store.append(text_of(chance)) for _ in range(5)]
        self.told.hear([f"appended {' '.join(ids)}\n"])

    def running(
        self, roles: list[str], chance: random.Random, each: Sequence[Mapping[str, str]]
    ) -> AbstractContextManager[list[Process]]:
        """Run processes in these roles on the store, each with what `each` adds to its environment."""
        return running(roles, self.path, self.guard, self.told, chance=chance, each=each)

    def seconds(self, chance: random.Random) -> float:
        """Return how long this round's processes run."""
        return chance.uniform(0.2, 1.0) * self._longest_s


def kill(stage: Stage, chance: random.Random) -> str:
    """Kill −9 all processes: when the first passes a failpoint, or at any moment."""
    roles = ["write"] * chance.choice((1, 1, 2, 3)) + ["read"] * chance.choice((0, 1))
    point = f"{chance.choice(stage.points)}@{chance.choice((1, 1, 2, 3, 7))}" if chance.random() < 0.6 else ""
    own: list[Mapping[str, str]] = [{} for _ in roles]
    if point:
        own[0] = {"BRAID_KILL_AT": point}
    with stage.running(roles, chance, own) as processes:
        let_run(processes, stage.seconds(chance))
        passed = processes[0].popen.poll() is not None
    return f"{len(roles)} killed at {point if passed and point else 'a moment'}"


def full(stage: Stage, chance: random.Random) -> str:
    """Let the disk run full under writers and kill them; then not a byte is left, and an erasure must be had."""
    stage.disk.nearly_fill(chance.choice(FREE_KIB))
    roles = ["write"] * chance.choice((1, 2)) + ["read"]
    own = [stage.disk.limits() for _ in roles]
    try:
        with stage.running(roles, chance, own) as processes:
            let_run(processes, stage.seconds(chance))
        erased = _erase_on_a_full_disk(stage)
    finally:
        stage.disk.clear()  # with room again, everything must be there
    return f"{len(roles)} killed on a disk that ran full{erased}"


def _erase_on_a_full_disk(stage: Stage) -> str:
    """Erase one record while no block is free; only without the reserve may that wait (SPEC §9.4)."""
    if not stage.disk.fill():
        return ""
    had_reserve = (stage.path / "reserve").exists()
    try:
        with braid.open(stage.path, create=False, guard_dir=stage.guard, clock=_late) as store:
            erased = store.reader.control.erased
            id = next(
                envelope.id
                for envelope, _ in store.reader.envelopes()
                if envelope.kind == "experience" and envelope.index not in erased
            )
            stage.told.hear([f"erasing {id}\n"])
            store.erase(id)
            stage.told.hear([f"erased {id}\n"])
    except OSError as error:
        stage.told.hear([f"refused {type(error).__name__}\n"])
        if had_reserve:
            raise TortureError(
                f"the disk is full, the reserve was there, and erasing was refused: {error}"
            ) from error
        return ""
    return ", one record erased without a byte free"


def _late() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


def slow(stage: Stage, chance: random.Random) -> str:
    """Writes go in pieces with pauses between them, syncs take long; kill −9 in the middle of that."""
    if stage.shim is None:
        return ""
    slow_us = chance.choice(SLOW_US)
    roles = ["write"] * chance.choice((1, 2)) + ["read"] * chance.choice((0, 1))
    own = [{"LD_PRELOAD": str(stage.shim), "BRAID_SHIM_SLOW_US": str(slow_us)} for _ in roles]
    with stage.running(roles, chance, own) as processes:
        let_run(processes, stage.seconds(chance))
    return f"{len(roles)} killed on a disk with pauses of up to {slow_us / 1000:g} ms"


def crowd(stage: Stage, chance: random.Random) -> str:
    """Writers and readers share the store; one writer may die; the others go on and close in good order."""
    roles = ["write"] * chance.choice((2, 3)) + ["read"] * chance.choice((1, 2))
    with stage.running(roles, chance, [{} for _ in roles]) as processes:
        let_run(processes, stage.seconds(chance) / 2)
        if dies := chance.random() < 0.5:
            processes[0].popen.kill()
        let_run(processes[1:] if dies else processes, stage.seconds(chance) / 2)
        tell_to_end(processes)
    return f"{len(roles)} sharing, {'one killed' if dies else 'none killed'}"


def clock(stage: Stage, chance: random.Random) -> str:
    """The wall clock jumps back and forth: under one writer that knows what must come of it, or under several."""
    if chance.random() < 0.4:
        with stage.running(["stray"], chance, [{}]) as processes:
            let_run(processes, stage.seconds(chance))
        return "one killed under a clock of its own that jumps"
    set_clock = SetClock(stage.folder / "clock")
    roles = ["write"] * chance.choice((1, 2)) + ["read"]
    shimmed = stage.shim is not None and chance.random() < 0.7
    own = [_clocked(stage, set_clock, shimmed=shimmed) for _ in roles]
    with stage.running(roles, chance, own) as processes:
        for _ in range(chance.randrange(3, 9)):
            set_clock.set(timedelta(seconds=chance.choice(_JUMPS_S)))
            let_run(processes, stage.seconds(chance) / 6)
        if ends := chance.random() < 0.5:
            tell_to_end(processes)
    return f"{len(roles)} {'ended' if ends else 'killed'} while {'the system' if shimmed else 'their'} clock jumped"


def _clocked(stage: Stage, set_clock: SetClock, *, shimmed: bool) -> Mapping[str, str]:
    if shimmed:
        return {"LD_PRELOAD": str(stage.shim), "BRAID_SHIM_CLOCK": str(set_clock.path)}
    return {"BRAID_TORTURE_CLOCK": str(set_clock.path)}


def hammer(stage: Stage, chance: random.Random) -> str:
    """Writers, random readers, full readers and a mirror at once; all hold what they see to signed heads."""
    roles = ["write"] * chance.choice((2, 3)) + ["read", "scan", "follow"]
    with stage.running(roles, chance, [{} for _ in roles]) as processes:
        let_run(processes, stage.seconds(chance))
        tell_to_end(processes)
    head = Guard.of_store(load_settings(stage.path).store_id, stage.guard).read()
    if head is None:
        raise TortureError("the guard is gone")
    size, root = read_published(stage.folder / "served", parse_vkey(head.vkey))
    stage.told.heads.add((size, root))
    return f"{len(roles)} at once; the mirror holds {size} records"


def inject(stage: Stage, chance: random.Random) -> str:
    """Play the next cells of the matrix of faults, each on a small world of its own."""
    end = time.monotonic() + stage.seconds(chance)
    played = 0
    while not played or time.monotonic() < end:
        stage.told.counts += stage.deck.play()
        played += 1
    return f"{played} steps made to fail; {stage.deck}"


Scene = Callable[[Stage, random.Random], str]
SCENES: Final[dict[str, Scene]] = {
    scene.__name__: scene for scene in (kill, full, slow, crowd, clock, hammer, inject)
}
