"""kill −9 in the middle of a stance, a view, a reading; and two processes that reconcile at once.

A stance stands with its reconciliation, a view with what was asked of its lens, a batch of readings whole: all or
nothing, and whoever asks again finds it done or does it, once.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.store import Store

DRIVER = """
import json, os, sys
from datetime import UTC, datetime, timedelta
import braid, duckdb
import braid.jobs.running
import braid.claims.decision, braid.knowledge.learner, braid.lens.standing, braid.lens.view, braid.views.store
from braid.models.spacy_parser import shared
from braid.wal import failpoint

shared().parse(["Ana lives in Leeds."])  # loaded once, before the forks

def play(order):
    passed = []
    failpoint.arm(failpoint.kill_at(order["kill"]) if order.get("kill") else passed.append)
    clock = lambda: datetime.now(UTC) + timedelta(seconds=order.get("ahead", 0))
    with braid.open(order["store"], guard_dir=order["guard"], shared=True, wait_s=60, clock=clock) as store:
        if order["what"] == "stance":
            store.stance("Where does Ana live?", user_id="ana")
        elif order["what"] == "lens":
            store.apply_lens("temporal", user_id="ana")
        elif order["what"] == "work":
            store.work(consumers=["session-extraction"])
        else:
            store.learn()
    return passed

def start(order):
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.write(sending, json.dumps(play(order)).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(sending)
    return child, receiving

for line in sys.stdin:
    done = []
    for child, receiving in [start(order) for order in json.loads(line)]:
        with os.fdopen(receiving) as said:
            text = said.read()
        done.append({"status": os.waitpid(child, 0)[1], "passed": json.loads(text or "[]")})
    print(json.dumps(done), flush=True)
"""
Play = Callable[..., list[dict[str, Any]]]
WHOLE = {
    "stance": {"stance": 1, "reconciliation": 1},
    "lens": {"view": 1, "event": 1},
    "learn": {"inference": 2},
}
KILLS = 4
"""Of the points that each passes, so many are played, from the first to the last."""
TRIES = 8
pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
]


@pytest.fixture(scope="module")
def play() -> Iterator[Play]:
    """A function that plays orders at the same time, each in a fork of a warmed process."""
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    ) as driver:

        def played(*orders: dict[str, str]) -> list[dict[str, Any]]:
            assert driver.stdin
            assert driver.stdout
            driver.stdin.write(json.dumps(orders) + "\n")
            driver.stdin.flush()
            done: list[dict[str, Any]] = json.loads(driver.stdout.readline())
            return done

        yield played
        driver.kill()


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world with a store in which Ana says two things, one of them claimed; nothing of it has been read."""
    world = tmp_path_factory.mktemp("base")
    with braid.open(world / "memory", guard_dir=world / "guard") as store:
        for day, where in enumerate(("Leeds", "Hull"), 1):
            claim = braid.Claim(subject="Ana", rel="lives_in", object=where)
            when = datetime(2025, 3, day, tzinfo=UTC)
            text = f"I live in {where} now, since 1 March 2025."
            store.append(text, claims=[claim], name="Ana", user_id="ana", occurred_at=when)
    return world


def order(world: Path, what: str, kill: str = "") -> dict[str, str]:
    return {"store": str(world / "memory"), "guard": str(world / "guard"), "what": what, "kill": kill}


def made(world: Path) -> tuple[dict[str, int], int]:
    """What stands in a log beside the base, by kind or type; and how its audit ended."""
    with braid.open(world / "memory", guard_dir=world / "guard") as store:
        return _counted(store), store.verify(rederive=True).exit_code


def _counted(store: Store) -> dict[str, int]:
    kinds = Counter(record.type or record.kind for record in store.read() if record.kind != "genesis")
    return {kind: count for kind, count in kinds.items() if kind not in ("occurrence", "key")}


@pytest.mark.soak
@pytest.mark.parametrize("what", sorted(WHOLE))
def test_it_is_whole_or_not_at_all(play: Play, base: Path, tmp_path: Path, what: str) -> None:
    shutil.copytree(base, tmp_path / "unharmed")
    (unharmed,) = play(order(tmp_path / "unharmed", what))
    assert unharmed["status"] == 0
    assert made(tmp_path / "unharmed") == (WHOLE[what], 0)
    passed: list[str] = unharmed["passed"]
    points = [f"{name}@{passed[: at + 1].count(name)}" for at, name in enumerate(passed)]
    assert len(points) >= KILLS
    for at in {round(k * (len(points) - 1) / (KILLS - 1)) for k in range(KILLS)}:
        world = _killed(play, base, tmp_path / f"killed-{at}", what, points[at])
        found, exit_code = made(world)
        assert found in ({}, WHOLE[what]), points[at]
        assert exit_code == 0, points[at]
        (again,) = play(order(world, what))
        assert (again["status"], made(world)) == (0, (WHOLE[what], 0)), points[at]


@pytest.mark.soak
def test_two_that_reconcile_at_once_write_one_stance(play: Play, base: Path, tmp_path: Path) -> None:
    world = tmp_path / "world"
    shutil.copytree(base, world)
    assert [one["status"] for one in play(*[order(world, "stance")] * 3)] == [0, 0, 0]
    assert made(world) == (WHOLE["stance"], 0)


POINTS = [
    "work.leased",
    "work.ran",
    "work.append",
    "wal.write",
    "wal.write.done",
    "work.append.done",
    "work.settled",
]


@pytest.mark.sample(8)
@pytest.mark.parametrize("point", POINTS)
def test_a_worker_that_is_killed_has_exactly_one_effect(
    play: Play, base: Path, tmp_path: Path, point: str
) -> None:
    """Its lease expires, and another does what the log has no outcome of."""
    world = tmp_path / "world"
    shutil.copytree(base, world)
    (ended,) = play(order(world, "work", point))
    assert ended["status"] == signal.SIGKILL
    whole = {"inference": 2, "event": 1}
    is_in = point in ("wal.write.done", "work.append.done", "work.settled")
    assert made(world) == (whole if is_in else {}, 0)
    early, late = play(order(world, "work"), order(world, "work") | {"ahead": 61})
    assert (early["status"], late["status"], made(world)) == (0, 0, (whole, 0))


def _killed(play: Play, base: Path, place: Path, what: str, point: str) -> Path:
    """Return a world that died at a point. How often some are passed depends on what is published meanwhile, so one
    that wasn't reached is tried again; what lived on is whole."""
    for attempt in range(TRIES):
        world = place / str(attempt)
        shutil.copytree(base, world)
        (ended,) = play(order(world, what, point))
        if ended["status"] == signal.SIGKILL:
            return world
        assert (ended["status"], made(world)) == (0, (WHOLE[what], 0)), point
    pytest.fail(f"{point} was not reached in {TRIES} tries")
