"""`make torture`: rounds of scenes until the time is over, or until the store has lost something."""

import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

import braid
from braid.ledger.errors import LedgerError
from braid.tools.lab.torture.deck import Deck
from braid.tools.lab.torture.disk import SmallDisk, enter_namespace
from braid.tools.lab.torture.errors import TortureError
from braid.tools.lab.torture.examine import examine
from braid.tools.lab.torture.report import Finding, Summary, fill, table
from braid.tools.lab.torture.scenes import SCENES, Stage
from braid.tools.lab.torture.shim import build_shim
from braid.tools.lab.torture.strace import why_not
from braid.tools.lab.torture.words import text_of
from braid.views.errors import ViewError
from braid.wal import failpoint
from braid.wal.errors import WalError

ROUND_S: Final = 3.0
FULL_STORE: Final = 2_000
"""Records after which a store has lived long enough: the next round begins a new one."""


class Theatre:
    """All that a run needs: its folder, failpoints, shim, small disk, and a stage for each kind of store."""

    def __init__(self, home: Path, seed: int, longest_s: float = ROUND_S) -> None:
        self.home = home
        self.chance = random.Random(seed)
        self.points = passed_points(home / "probe", home / "guard", seed)
        self.shim = build_shim(home)
        self.disk = SmallDisk(home / "disk")
        self.deck = Deck(home / "matrix", seed)
        self._longest_s = longest_s
        self._stages: dict[str, Stage] = {}
        self.heard: Counter[str] = Counter()

    def scenes(self) -> list[str]:
        """Return the names of the scenes that can be played here."""
        return [name for name in SCENES if name != "slow" or self.shim]

    def play(self, scene: str) -> tuple[str, int]:
        """Play one round and look at what is left; return what was done and how many records stand.

        Raises TortureError and whatever opening and reading a damaged store raise.
        """
        stage = self._stage(scene)
        before = Counter(stage.told.counts)
        try:
            done = SCENES[scene](stage, self.chance)
            size = examine(stage.path, stage.guard, stage.told)
        finally:
            self.heard += stage.told.counts - before
        if size > FULL_STORE or scene == "full":
            self._stages.pop(_stage_of(scene))
            shutil.rmtree(stage.folder)
        return done, size

    def _stage(self, scene: str) -> Stage:
        name = _stage_of(scene)
        if name not in self._stages:
            folder = self.disk.folder / "full" if name == "full" else self.home / name
            stage = Stage(
                folder,
                self.home / "guard",
                points=self.points,
                shim=self.shim,
                disk=self.disk,
                deck=self.deck,
                longest_s=self._longest_s,
            )
            stage.create()
            self._stages[name] = stage
        return self._stages[name]

    def keep(self) -> None:
        """Save what would go with the small disk."""
        if self.disk.mounted and (self.disk.folder / "full").exists():
            shutil.copytree(self.disk.folder / "full", self.home / "full")

    def close(self) -> None:
        """Give the small disk back, and end the player of the matrix."""
        self.deck.close()
        self.disk.close()


def _stage_of(scene: str) -> str:
    """A store whose disk runs full, or whose times lie days ahead, is not one for the other scenes."""
    return scene if scene in ("full", "clock") else "memories"


def passed_points(path: Path, guard: Path, seed: int) -> list[str]:
    """Return the failpoints that this workload passes, found by letting some of it run here."""
    seen: set[str] = set()
    chance = random.Random(seed)
    braid.init(path, guard_dir=guard)  # what only creating passes is not passed by the processes
    failpoint.arm(seen.add)
    try:
        with braid.open(path, guard_dir=guard) as store:
            for _ in range(3):
                ids = [store.append(text_of(chance)) for _ in range(8)]
                store.checkpoint()
                store.sql("SELECT count(*) FROM experiences")
                store.forget(ids[1])
                store.erase(ids[0])
                store.replay()
                store.compact()
    finally:
        failpoint.arm(None)
    return sorted(seen)


def torture(
    minutes: Annotated[float, typer.Option(help="How long to go on.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Of what is done; when it happens is the machine's.")] = 1,
    only: Annotated[
        list[str] | None, typer.Option("--only", help=f"These scenes alone: {', '.join(SCENES)}.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Write the summary into this page, such as docs/reliability.md."),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--dir", help="Where (default: the temporary folder).")
    ] = None,
) -> None:
    """Break a store on purpose until the time is over; exit 1 at the first loss, keeping the store.

    The summary goes to stderr as a table and to stdout as JSON.
    """
    if unknown := set(only or ()) - SCENES.keys():
        raise typer.BadParameter(f"there is no scene {min(unknown)!r}; known: {', '.join(SCENES)}")
    enter_namespace()
    home = Path(tempfile.mkdtemp(prefix="braid-torture-", dir=folder))
    begun, started = datetime.now(UTC), time.monotonic()
    rounds: Counter[str] = Counter()
    finding: Finding | None = None
    with _theatre(home, seed) as theatre:
        scenes = [name for name in theatre.scenes() if not only or name in only]
        if not scenes:
            raise typer.BadParameter("the scene `slow` needs a C compiler", param_hint="--only")
        while finding is None and (not rounds or time.monotonic() - started < minutes * 60):
            scene = scenes[rounds.total() % len(scenes)]
            rounds[scene] += 1
            try:
                done, size = theatre.play(scene)
                typer.echo(f"round {rounds.total()}, {scene}: {done}; {size} records stand", err=True)
            except (TortureError, LedgerError, WalError, ViewError, OSError, ValueError) as error:
                theatre.keep()
                finding = Finding(rounds.total(), scene, f"{type(error).__name__}: {error}", str(home))
        summary = Summary(
            seed=seed,
            begun=begun,
            seconds=time.monotonic() - started,
            rounds=dict(rounds),
            heard=dict(theatre.heard),
            full_disk=theatre.disk.kind,
            system_calls=f"left out: {why}" if (why := why_not()) else "strace",
            slow_disk="LD_PRELOAD" if theatre.shim else "left out: there is no C compiler",
            findings=[finding] if finding else [],
        )
    typer.echo(table(summary), err=True)
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(summary), indent=1).decode() + "\n")
    if report is not None:
        fill(report, summary, command=_command(minutes, seed, only))
    if finding:
        typer.echo(
            f"braid: round {finding.round} ({finding.scene}) of seed {seed}: {finding.what}\n"
            f"braid: the store, its guard and what the processes said are kept in {home}",
            err=True,
        )
        raise typer.Exit(1)
    shutil.rmtree(home, ignore_errors=True)


@contextmanager
def _theatre(home: Path, seed: int) -> Generator[Theatre]:
    """Open a theatre whose processes inherit nothing that points at a store of the user's."""
    for name in [name for name in os.environ if name in ("BRAID_STORE", "BRAID_PASSPHRASE_FILE")]:
        del os.environ[name]
    theatre = Theatre(home, seed)
    try:
        yield theatre
    finally:
        theatre.close()


def _command(minutes: float, seed: int, only: list[str] | None) -> str:
    scenes = "".join(f" --only {name}" for name in only or ())
    return f"make torture ARGS='--minutes {minutes:g} --seed {seed}{scenes}'"
