"""Random mixes of what changes a store, with `kill -9` in the middle, and a backup that goes on through all of them.

Whatever came before, the next backup goes on from the one that is there; it verifies, restores, and holds no body of
what was erased, sealed or in clear.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.ledger.audit.verify import verify
from braid.ledger.backup.backup import back_up
from braid.ledger.read.reader import Reader
from braid.ledger.tree.guard import Guard

TORTURE = bool(os.environ.get("BRAID_TORTURE"))
pytestmark = [
    pytest.mark.timeout(3600 if TORTURE else 120),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
]
DRIVER = """
import json, os, random, sys, traceback
import braid, duckdb
import braid.admin.offline, braid.ledger.audit.verify, braid.store, braid.views.store
from braid.wal import append, failpoint

append.SEGMENT_LIMIT = 20_000

def say(out, **what):
    os.write(out, json.dumps(what).encode() + b"\\n")

def play(order, out):
    what, number = order["what"], order["number"]
    with braid.open(order["store"], guard_dir=order["guard"]) as store:
        if order["kill"]:  # the points of this act alone: opening and closing are another test's
            failpoint.arm(failpoint.kill_at(order["kill"]))
        else:
            failpoint.arm(lambda name: say(out, passed=name))
        if what == "append":
            for k in range(3):
                store.append(f"needle {number} {k} " + "." * 200)
        elif what == "erase":
            store.erase(random.Random(number).choice(order["living"]))
        elif what == "compact":
            store.compact()
        elif what == "snapshot":
            store.snapshot()
        elif what == "replay":
            store.replay()
        else:
            store.backup(order["backup"], with_vault=order["with_vault"])
        failpoint.arm(None)

for line in sys.stdin:
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            play(json.loads(line), sending)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(sending)
    with os.fdopen(receiving) as said:
        lines = said.readlines()
    status = os.waitpid(child, 0)[1]
    print(json.dumps({"status": status, "said": [json.loads(one) for one in lines]}), flush=True)
"""

ACTS = ("append", "append", "erase", "erase", "compact", "backup", "backup", "snapshot", "replay")
Play = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def play() -> Iterator[Play]:
    """A function that plays one act in a fork of a warmed process."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as driver:

        def act(**order: Any) -> dict[str, Any]:
            assert driver.stdin
            assert driver.stdout
            driver.stdin.write(json.dumps(order) + "\n")
            driver.stdin.flush()
            done: dict[str, Any] = json.loads(driver.stdout.readline())
            return done

        yield act
        assert driver.stdin
        driver.stdin.close()
        assert driver.wait() == 0


class Mix:
    """A store, its backup, and what the test knows of both."""

    def __init__(self, play: Play, folder: Path, seed: int) -> None:
        self._play = play
        self._chance = random.Random(seed)
        self.folder, self.guards = folder, folder / "guard"
        self.store, self.backup = folder / "memory", folder / "backup"
        self.with_vault = bool(seed % 2)
        self.sealed: dict[str, bytes] = {}
        """Every body that was ever in the log, as it was sealed, by id."""
        self._points: dict[str, list[str]] = {}
        braid.init(self.store, guard_dir=self.guards)

    def reader(self) -> Reader:
        """Open the store for reading."""
        return Reader(self.store, guard=Guard.of_store(self._id(), self.guards))

    def _id(self) -> str:
        return str(json.loads((self.store / "store.json").read_bytes())["store_id"])

    def texts(self) -> dict[str, str]:
        """Return the text of every living memory by its id, and note how each was sealed."""
        with closing(self.reader()) as reader:
            living = texts_of(reader)
            for id in living:
                self.sealed.setdefault(id, reader.log.body(reader.index_of(id)))
        return living

    def step(self, number: int) -> str:
        """Play one act, killed somewhere in it every other time; return what it was."""
        living = self.texts()
        what = self._chance.choice(ACTS)
        if what == "erase" and not living:
            what = "append"
        points = self._points.get(what, [])
        kill = self._chance.choice(points) if points and self._chance.random() < 0.6 else ""
        done = self._play(
            what=what,
            number=number,
            kill=kill,
            living=sorted(living),
            store=str(self.store),
            guard=str(self.guards),
            backup=str(self.backup),
            with_vault=self.with_vault,
        )
        assert os.WIFSIGNALED(done["status"]) if kill and done["status"] else done["status"] == 0, (
            what,
            kill,
        )
        passed = [one["passed"] for one in done["said"] if "passed" in one]
        if not kill:
            self._points[what] = [f"{name}@{passed[: k + 1].count(name)}" for k, name in enumerate(passed)]
        return f"{what} {kill}".strip()

    def check(self) -> None:
        """Back up what there is now; hold the backup and what is restored of it to the store."""
        with braid.open(self.store, guard_dir=self.guards):  # completes what a kill left undone
            pass
        living = self.texts()
        with closing(self.reader()) as reader:
            back_up(reader, self.backup, now=datetime.now(UTC), with_vault=self.with_vault)
        data = b"".join(path.read_bytes() for path in self.backup.rglob("*.seg"))
        assert not [id for id, sealed in self.sealed.items() if id not in living and sealed in data]
        report = verify(self.backup, workers=1, guard=Guard.of_store(self._id(), self.guards))
        assert ([*map(str, report.findings)], report.could_not_look) == ([], [])
        place = self.folder / "back"
        vault, keys = (None, None) if self.with_vault else (self.store / "vault", self.store / "keys")
        braid.restore(self.backup, place, vault=vault, keys=keys, guard_dir=self.guards)
        with closing(Reader(place, guard=Guard.of_store(self._id(), self.guards))) as reader:
            assert texts_of(reader) == living
        shutil.rmtree(place)


def texts_of(reader: Reader) -> dict[str, str]:
    """Return the text of every memory that can be read, by id."""
    return {
        entry.record.id: entry.record.text
        for batch in reader.entries()
        for entry in batch
        if entry.record.kind == "experience" and entry.record.raw is not None
    }


@pytest.mark.soak(first=True)
@pytest.mark.parametrize(
    "seed",
    [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (range(2, 60) if TORTURE else (2, 3)))],
)
def test_a_backup_goes_on_through_anything(play: Play, tmp_path: Path, seed: int) -> None:
    mix = Mix(play, tmp_path, seed)
    played: list[str] = []
    try:
        for number in range(24):
            played.append(mix.step(number))
            if number % 6 == 5:
                mix.check()
    except BaseException as error:
        error.add_note(f"seed {seed}: {', '.join(played)}")
        raise
