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
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

import braid
from braid.ledger.errors import ClockError, ErasedError, ForgottenError, LedgerError
from braid.views.errors import ViewError
from braid.wal import failpoint

CHILD: Final = "--child"
ROUND_S: Final = (0.3, 2.5)
DISK_MIB: Final = 12
FULL_STORE: Final = 3_000
"""Records after which a store has lived long enough: the next round begins a new one."""


class TortureError(AssertionError):
    """The store lost, kept or showed what it must not."""


# -- what a tormented process does ------------------------------------------------------------------


def child(role: str, path: Path, seed: int, skew_s: float) -> None:
    """Write or read at random until killed; each line on stdout says what has been acknowledged."""
    chance = random.Random(seed)

    def clock() -> datetime:
        return datetime.now(UTC) + timedelta(seconds=skew_s)

    while True:
        try:
            with braid.open(path, read_only=role == "read", shared=True, wait_s=20, clock=clock) as store:
                for _ in range(chance.randrange(5, 60)):
                    (_read if role == "read" else _write)(store, chance)
        except ClockError:
            with braid.open(path, shared=True, wait_s=20, clock=clock) as store:
                store.writer.accept_clock("torture")
        except OSError as error:
            _say("refused", type(error).__name__)
            time.sleep(0.05)


def _write(store: "braid.Store", chance: random.Random) -> None:
    act = chance.random()
    if act < 0.55:
        _say("append", store.append(_text(chance)))
    elif act < 0.8:
        with store.transaction() as transaction:
            places = [transaction.append(_text(chance)) for _ in range(chance.randrange(1, 40))]
        _say("append", *[place.id for place in places])
    elif act < 0.85:
        store.checkpoint()
    elif act < 0.88:
        with suppress(ViewError):  # another process is at work on the view
            store.views.sql("SELECT count(*) FROM experiences")
    elif act < 0.89:
        store.compact()
    else:
        _forget(store, chance, act)


def _forget(store: "braid.Store", chance: random.Random, act: float) -> None:
    index = chance.randrange(3, len(store)) if len(store) > 3 else 0
    envelope = store.reader.envelope(index)
    if envelope.kind != "experience":
        return
    try:
        if act < 0.93:
            _say("hiding", envelope.id)
            store.forget(envelope.id)
        elif act < 0.96:
            store.recover(envelope.id)
        else:
            _say("erasing", envelope.id)
            store.erase(envelope.id)
            _say("erased", envelope.id)
    except (ErasedError, ForgottenError, ValueError, ViewError):
        return  # another process was first, or is at work on the view


def _read(store: "braid.Store", chance: random.Random) -> None:
    store.refresh()
    index = chance.randrange(len(store))
    try:
        record = store.reader.at(index, include_forgotten=True)
    except ErasedError:
        return
    if record.kind == "experience" and not record.text.startswith("torture "):
        raise TortureError(f"record {index} reads {record.text[:40]!r}")


def _text(chance: random.Random) -> str:
    return f"torture {chance.getrandbits(64):016x} " + "x" * chance.choice((0, 10, 1_000, 20_000))


def _say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


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
            "braid.tools.torture",
            CHILD,
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
    """Return the failpoints that this workload passes, found by letting it run here for a while."""
    seen: set[str] = set()
    failpoint.arm(seen.add)
    try:
        chance = random.Random(seed)
        with braid.open(path, guard_dir=guard) as store:
            for _ in range(60):
                _quiet(store, chance)
    finally:
        failpoint.arm(None)
    return sorted(seen)


def _quiet(store: "braid.Store", chance: random.Random) -> None:
    id = store.append(_text(chance))
    if chance.random() < 0.1:
        store.checkpoint()
        store.erase(id)
        store.compact()


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
            with braid.open(place, guard_dir=guard):
                pass  # created here: a round's processes find a store
            while ledger.counts["append"] < FULL_STORE and (time.monotonic() < end or not ledger.counts):
                what = torment(place, guard, chance, points, ledger)
                examine(place, guard, ledger) if not full else _examine_full(place, guard, ledger)
                done[what.partition(" at ")[2].partition("@")[0] or what] += 1
                typer.echo(f"round {done.total()}: {what}; {len(ledger.appended)} records stand", err=True)
                if full:
                    break
            heard += ledger.counts
            shutil.rmtree(place)
    except (TortureError, LedgerError) as error:
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
        "acknowledged": dict(heard),
        "kills": dict(done.most_common()),
    }
    typer.echo(json.dumps({**summary, "full_disk": disk is not None}, indent=1))


def _examine_full(place: Path, guard: Path, ledger: Ledger) -> None:
    """On a full disk opening may be refused; with room again it may not."""
    filler = place.parent / "filler"
    filler.unlink(missing_ok=True)
    examine(place, guard, ledger)


def _small_disk(path: Path) -> Path | None:
    """Mount a tmpfs of a few MiB, most of it taken; None where this user may not."""
    path.mkdir()
    argv = ["/bin/mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "braid-torture", str(path)]
    try:
        mounted = subprocess.run(argv, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    return path if mounted else None


if __name__ == "__main__":
    if sys.argv[1:2] == [CHILD]:
        child(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
    else:
        typer.run(torture)
