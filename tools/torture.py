"""Break a store on purpose, again and again, and see that nothing acknowledged is lost (`make torture`).

Each round starts processes that write and read one store at once, with clocks that jump; kills them at a failpoint or
at any moment, or fills their disk; then opens the store, verifies all of it and looks for what was acknowledged.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

import braid
from braid.ledger.errors import LedgerError
from braid.tools.torture_child import text_of
from braid.wal import failpoint
from braid.wal.errors import WalError

ROUND_S: Final = (0.3, 2.5)
DISK_MIB: Final = 32
FREE_MIB: Final = 4
FULL_STORE: Final = 3_000
"""Records after which a store has lived long enough: the next round begins a new one."""


class TortureError(AssertionError):
    """The store lost, kept or showed what it must not."""


# -- a round ----------------------------------------------------------------------------------------


class Ledger:
    """What the processes were told: ids acknowledged, and those that may be hidden, or gone, since."""

    def __init__(self) -> None:
        self.appended: set[str] = set()
        self.going: set[str] = set()
        self.gone: set[str] = set()
        self.counts: Counter[str] = Counter()

    def hear(self, out: Iterable[str]) -> None:
        """Read one process's lines to the end; a last line cut short was not acknowledged."""
        for line in out:
            if not line.endswith("\n"):
                return
            what, *ids = line.split()
            self.counts[what] += len(ids)
            {"append": self.appended, "erasing": self.going, "erased": self.gone}.get(
                what, set[str]()
            ).update(ids)


def torment(path: Path, guard: Path, chance: random.Random, points: list[str], ledger: Ledger) -> str:
    """Run one round of processes on the store; return what was done to them."""
    roles = ["write"] * chance.choice((1, 1, 2, 3)) + ["read"] * chance.choice((0, 1))
    at_point = chance.random() < 0.5
    point = f"{chance.choice(points)}@{chance.choice((1, 1, 2, 3, 7))}" if at_point else ""
    children: list[subprocess.Popen[str]] = []
    listeners: list[threading.Thread] = []
    for k, role in enumerate(roles):
        skew_s = chance.choice((0.0, 0.0, 0.5, -200.0, -900.0, 900.0))
        argv = [
            sys.executable,
            "-m",
            "braid.tools.torture_child",
            role,
            str(path),
            str(chance.getrandbits(32)),
            str(skew_s),
        ]
        surroundings = {**os.environ, "BRAID_GUARD_DIR": str(guard)}
        if point and k == 0:
            surroundings["BRAID_KILL_AT"] = point
        one = subprocess.Popen(
            argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=surroundings
        )
        assert one.stdout is not None  # noqa: S101 - it is a pipe
        listeners.append(threading.Thread(target=ledger.hear, args=(one.stdout,)))
        listeners[-1].start()
        children.append(one)
    end = time.monotonic() + 0.8 + chance.uniform(*ROUND_S)
    while time.monotonic() < end and any(one.poll() is None for one in children):
        time.sleep(0.01)
    complaints = [
        one.stderr.read() for one in children if one.poll() not in (None, -9) and one.stderr is not None
    ]
    for one in children:
        one.kill()
    for one, listener in zip(children, listeners, strict=True):
        listener.join()
        one.wait()
        if one.stderr is not None:
            one.stderr.close()
    if complaints:
        raise TortureError(
            f"a process ended by itself ({', '.join(roles)}; {point or 'by time'}):\n{complaints[0]}"
        )
    return f"kill at {point}" if point else "kill at a moment"


def examine(path: Path, guard: Path, ledger: Ledger) -> None:
    """Open what is left, verify all of it, and look for every acknowledged record."""
    with braid.open(path, guard_dir=guard, adopt=False, clock=_far_clock) as store:
        report = store.verify()
        if report.findings:
            raise TortureError(f"verify: {report.findings[0]}")
        there = {envelope.id for envelope, _ in store.reader.envelopes()}
        if lost := ledger.appended - there:
            raise TortureError(f"{len(lost)} acknowledged records are lost, such as {min(lost)}")
        erased = {store.reader.envelope(index).id for index in store.reader.control.erased}
        if kept := ledger.gone - erased:
            raise TortureError(f"{min(kept)} was erased and is back")
        if strange := erased - ledger.going - ledger.gone:
            raise TortureError(f"{min(strange)} was erased by nobody")
        for entries in store.reader.entries():
            for record, _ in entries:
                if (
                    record.id not in erased
                    and record.kind == "experience"
                    and not record.text.startswith("torture ")
                ):
                    raise TortureError(f"{record.id} reads {record.text[:40]!r}")


def _far_clock() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


def passed_points(path: Path, guard: Path, seed: int) -> list[str]:
    """Return the failpoints that this workload passes, found by letting some of it run here."""
    seen: set[str] = set()
    chance = random.Random(seed)
    failpoint.arm(seen.add)
    try:
        with braid.open(path, guard_dir=guard) as store:
            for _ in range(5):
                ids = [store.append(text_of(chance)) for _ in range(8)]
                store.checkpoint()
                store.erase(ids[0])
                store.compact()
    finally:
        failpoint.arm(None)
    return sorted(seen)


def torture(
    minutes: Annotated[float, typer.Option(help="How long to go on.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Of the rounds; timing stays the machine's.")] = 1,
    folder: Annotated[
        Path | None, typer.Option("--dir", help="Where (default: the temporary folder).")
    ] = None,
) -> None:
    """Kill writers again and again and verify what is left; exit 1 at the first loss, keeping the store."""
    home = Path(tempfile.mkdtemp(prefix="braid-torture-", dir=folder))
    end, chance, done = time.monotonic() + minutes * 60, random.Random(seed), Counter[str]()
    heard: Counter[str] = Counter()
    store, guard = home / "memory", home / "guard"
    disk = _small_disk(home / "disk")
    try:
        points = passed_points(home / "probe", home / "guard", seed)
        while not done or time.monotonic() < end:
            ledger = Ledger()
            full = disk is not None and done.total() % 5 == 4
            place = disk / "memory" if full and disk else store
            filler = home / "filler"
            with braid.open(place, guard_dir=guard):  # created here: a round's processes find a store
                if full and disk:
                    filler = disk / "filler"
                    filler.write_bytes(bytes((DISK_MIB - FREE_MIB) << 20))
            while ledger.counts["append"] < FULL_STORE and (time.monotonic() < end or not ledger.counts):
                what = torment(place, guard, chance, points, ledger)
                filler.unlink(missing_ok=True)  # with room again, everything must be there
                examine(place, guard, ledger)
                done[what.partition(" at ")[2].partition("@")[0] or what] += 1
                typer.echo(f"round {done.total()}: {what}; {len(ledger.appended)} records stand", err=True)
                if full:
                    break
            heard += ledger.counts
            shutil.rmtree(place)
    except (TortureError, LedgerError, WalError) as error:
        if disk is not None and (disk / "memory").exists():
            shutil.copytree(disk / "memory", home / "memory-of-the-full-disk")
        typer.echo(
            f"braid: round {done.total() + 1} of seed {seed}: {error}\nbraid: the store is kept in {home}",
            err=True,
        )
        raise typer.Exit(1) from error
    finally:
        if disk is not None:
            subprocess.run(["/bin/umount", str(disk)], check=False)
    shutil.rmtree(home, ignore_errors=True)
    summary = {
        "rounds": done.total(),
        "seed": seed,
        "acknowledged": heard,
        "kills": done,
        "full_disk": disk is not None,
    }
    typer.echo(json.dumps(summary, indent=1))


def _small_disk(path: Path) -> Path | None:
    """Mount a tmpfs of a few MiB; None where this user may not."""
    path.mkdir()
    argv = ["/bin/mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "braid-torture", str(path)]
    try:
        mounted = subprocess.run(argv, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    return path if mounted else None


if __name__ == "__main__":
    typer.run(torture)
