"""Remembering and recalling while workers, each a process of its own, are killed again and again; and the log then."""

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from typing import Final, NamedTuple

from braid.entry import init
from braid.entry import open as open_store
from braid.ledger.record.record import ExperienceBody
from braid.outcomes import outcomes
from braid.store import Store
from tests.unit.learn.test_extraction import HOME, PARSER

ROOT: Final = Path(__file__).parents[3]
CLIENTS: Final = 2
WORKERS: Final = 2
CONSUMERS: Final = ("session-extraction", "projection")
PAUSE_S: Final = 0.05
"""Between two acts of a client: it is time that is tested, and not how much a log can hold."""
IDLE_S: Final = 0.1
PATIENCE_S: Final = 60.0


class Report(NamedTuple):
    """What was done. `read`: readings that were signed; `rounds`: outcomes that were."""

    kills: int
    remembered: int
    recalled: int
    read: int
    rounds: int


def opened(folder: Path) -> Store:
    return open_store(
        folder / "memory",
        guard_dir=folder / "guard",
        shared=True,
        wait_s=PATIENCE_S,
        parser=lambda: PARSER,
        server=None,
    )


class Client:
    """A thread that remembers the same words for one person after the other, and now and then asks for them."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._stopped = Event()
        self._thread = Thread(target=self._run)
        self._failure: BaseException | None = None
        self.remembered: list[str] = []
        """For whom it was acknowledged."""
        self.recalled = 0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Let it end what it does. Raises what it failed with."""
        self._stopped.set()
        self._thread.join(2 * PATIENCE_S)
        assert not self._thread.is_alive()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        chance = random.Random(self._name)
        try:
            with opened(self._folder) as store:
                while not self._stopped.wait(PAUSE_S):
                    user = f"{self._name} {len(self.remembered)}"
                    done = store.remember(HOME, user_id=user, mode="async", idempotency_key=user)
                    assert done.status in ("queued", "raw_saved"), done
                    self.remembered.append(user)
                    if chance.random() < 0.3:
                        asked = chance.choice(self.remembered)
                        found = store.recall("Where do I live?", user_id=asked).results
                        assert [one.text for one in found if one.text == HOME] == [HOME], asked
                        self.recalled += 1
        except BaseException as error:  # raised by `stop`, in the thread of the test
            self._failure = error


def work(folder: Path) -> None:
    """Be a worker, until somebody ends the process."""
    with opened(folder) as store:
        while True:
            store.work(consumers=CONSUMERS)
            time.sleep(IDLE_S)


def worker(folder: Path) -> subprocess.Popen[bytes]:
    with (folder / "workers.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.soak.work.killed_workers", str(folder)], cwd=ROOT, stderr=log
        )


def kill_workers(folder: Path, seconds: float, every_s: float, *, seed: int = 1) -> Report:
    """Kill a worker so often, for so long; hold the log to what was acknowledged, and return the figures."""
    init(folder / "memory", guard_dir=folder / "guard")
    chance, kills = random.Random(seed), 0
    clients = [Client(folder, f"client {number}") for number in range(CLIENTS)]
    workers = [worker(folder) for _ in range(WORKERS)]
    ends = time.monotonic() + seconds
    try:
        for one in clients:
            one.start()
        while time.monotonic() < ends:
            time.sleep(chance.uniform(0.5, 1.5) * every_s)
            place = chance.randrange(WORKERS)
            workers[place].send_signal(signal.SIGKILL)
            assert workers[place].wait(30) == -signal.SIGKILL, (folder / "workers.log").read_text("utf-8")
            workers[place], kills = worker(folder), kills + 1
    finally:
        for each in workers:
            each.kill()
            each.wait(30)
        for one in clients:
            one.stop()
    users = [user for one in clients for user in one.remembered]
    read, rounds = _hold(folder, users)
    return Report(kills, len(users), sum(one.recalled for one in clients), read, rounds)


def _hold(folder: Path, users: list[str]) -> tuple[int, int]:
    """Do what is left. Each memory is there once and read once, no record has two outcomes, none is dead."""
    with opened(folder) as store:
        store.work(consumers=CONSUMERS, until_idle=True)
        said, read = Counter[str | None](), Counter[str | None]()
        for one in store.read():
            if isinstance(one.body, ExperienceBody):
                user = one.body.scope.user_id if one.body.scope is not None else None
                (read if one.type == "inference" else said)[user] += 1
        assert said == Counter(users)
        assert read == Counter(users)
        every = [one.outcome for one in outcomes(store.session).every()]
        assert {one.ended for one in every} <= {"done"}
        for kind in {(one.consumer, one.version) for one in every}:
            spans = sorted(span for one in every if (one.consumer, one.version) == kind for span in one.spans)
            assert all(stop <= start for (_, stop), (start, _) in pairwise(spans)), kind
        assert [one for one in store.jobs().jobs if one.consumer in CONSUMERS and one.state != "done"] == []
        assert store.verify(deep=True).findings == []
        return sum(read.values()), len(every)


if __name__ == "__main__":
    work(Path(sys.argv[1]))
