"""Every fault at every step of a memory's way: remember → lease → extract → decide → append → project.

Nothing that was acknowledged is lost, nothing is doubled, and every job is done. A part is looked at with every run,
the whole of it, at each point that is passed, by `make soak`.
"""

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Final, NamedTuple

import pytest

from braid.claims import judgements
from braid.models.redis_streams import RedisStreams
from braid.store import Store
from braid.text.chat import ChatError
from tests.system.work import faults
from tests.system.work.faults import FACT, Point, Result, World, passed, struck

SERVER: Final = shutil.which("redis-server")
ROOT: Final = Path(__file__).parents[3]
STEPS: Final = {
    "remember": ("wal.write@1", "wal.sync@1", "wal.sync.done@1", "remember.saved@1"),
    "lease": ("work.leased@1", "work.leased@2"),
    "extract": (f"{faults.ASKED}@1", f"{faults.ANSWERED}@1"),
    "decide": ("work.ran@1", "work.ran@2"),
    "append": ("work.append@1", "wal.write@2", "wal.sync@2", "work.append.done@1", "work.settled@1"),
    "project": (
        "views.commit@1",
        "views.catalog.commit@1",
        "views.lance.commit@1",
        "views.lance.commit.done@1",
    ),
}
"""Points of each step that are looked at with every run, by turns."""
FAULTS: Final = ("the process dies", "exception", "full disk", "time is over", "clock back", "queue locked")
HOURS_S: Final = 7200.0
QUICK: Final = [
    (fault, points[turn % len(points)]) for turn, fault in enumerate(FAULTS) for points in STEPS.values()
]


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Point], Result]:
    world = World(tmp_path_factory.mktemp("unharmed"))
    return passed(world, world.live), world.recovered()


def test_without_a_fault_all_is_there_once(baseline: tuple[list[Point], Result]) -> None:
    points, result = baseline
    assert result.memories == result.found == ("I live in Porto.",)
    assert [one.partition("@")[0] for one in result.readings] == ["read:model", "read:parse"]
    assert result.ended == ("session-extraction done",) * 2
    assert (result.waiting, result.findings) == (0, ())
    names = {str(one) for one in points}
    assert [one for several in STEPS.values() for one in several if one not in names] == []


def acts(world: World, fault: str, folder: Path) -> tuple[Callable[[], None], Callable[[], None]]:
    """Return what a fault does, and what ends it."""
    if fault == "queue locked":
        return _locks(folder / "memory" / "work.sqlite")
    return {
        "the process dies": faults.die,
        "exception": faults.fail,
        "full disk": faults.fill,
        "time is over": lambda: world.clock.move(HOURS_S),  # every lease has run out
        "clock back": lambda: world.clock.move(-HOURS_S),
    }[fault], lambda: world.clock.move(HOURS_S)


def _locks(file: Path) -> tuple[Callable[[], None], Callable[[], None]]:
    held: list[sqlite3.Connection] = []

    def act() -> None:
        held.append(sqlite3.connect(file, isolation_level=None, check_same_thread=False))
        held[0].execute("BEGIN EXCLUSIVE")

    def end() -> None:
        for one in held:
            one.close()

    return act, end


def survives(folder: Path, point: Point, fault: str, expected: Result) -> bool:
    """Strike a life at a point, and look at what is left of it; return whether it came to that point."""
    world = World(folder)
    act, end = acts(world, fault, folder)
    try:
        reached = struck(world, point, act, world.live)
    finally:
        end()
    assert world.recovered() == expected, f"{fault} at {point}"
    return reached


def at(text: str) -> Point:
    name, _, nth = text.rpartition("@")
    return Point(name, int(nth))


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue that is locked is given up sooner."""
    monkeypatch.setattr("braid.work.embedded.BUSY_S", 0.2)


@pytest.mark.sample(12)
@pytest.mark.parametrize(("fault", "point"), QUICK)
def test_a_fault_at_a_step_loses_nothing_and_doubles_nothing(
    tmp_path: Path, baseline: tuple[list[Point], Result], fault: str, point: str
) -> None:
    assert survives(tmp_path, at(point), fault, baseline[1])


@pytest.mark.soak
@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnhandledThreadExceptionWarning"
)  # a thread of its own dies, too
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_every_point_loses_nothing_and_doubles_nothing(
    tmp_path: Path, baseline: tuple[list[Point], Result], fault: str
) -> None:
    points, expected = baseline
    reached = 0
    for number, point in enumerate(points):
        reached += survives(tmp_path / str(number), point, fault, expected)
    assert reached > 0.7 * len(points), "some are passed by a thread of their own, now and then"


# -- change, forget, recover ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> list[Point]:
    """The points that a memory passes which is put right, forgotten and recovered."""
    world = World(tmp_path_factory.mktemp("changed"))
    points = passed(world, world.change)
    assert world.changed() == CHANGED
    return points


CHANGED: Final = (
    "I live in Porto.", "I live in Faro.",
    "updates", "I live in Faro.", "found", "I live in Faro.", "loser", "VersionConflictError",
)  # fmt: skip
"""The old words and the new, one change by whatever repeats it, and a name for who came too late."""
CHANGES: Final = ("the process dies", "exception", "full disk", "clock back")


def changes_once(folder: Path, point: Point, fault: str) -> None:
    world = World(folder)
    act, end = acts(world, fault, folder)
    struck(world, point, act, world.change)
    end()
    assert world.changed() == CHANGED, f"{fault} at {point}"


@pytest.mark.sample(6)
@pytest.mark.parametrize("fault", CHANGES)
def test_a_change_that_is_repeated_has_one_effect(tmp_path: Path, changed: list[Point], fault: str) -> None:
    points = [one for one in changed if one.name in ("wal.write", "wal.sync", "wal.sync.done")]
    for number, point in enumerate(points[CHANGES.index(fault) :: len(CHANGES)]):
        changes_once(tmp_path / str(number), point, fault)


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("fault", CHANGES)
def test_a_change_that_is_repeated_has_one_effect_at_every_point(
    tmp_path: Path, changed: list[Point], fault: str
) -> None:
    for number, point in enumerate(changed):
        changes_once(tmp_path / str(number), point, fault)


# -- a decision ------------------------------------------------------------------------------------


DECIDED: Final = (
    "I live in Porto.", "I live in Lisbon.",
    "decided", "UPDATE newer: 2025-04-03 after 2025-01-03", "held", "Maya lives in Lisbon",
)  # fmt: skip
"""Both words, one decision that counts, the claim that holds by it; no job that waits or is dead, and no finding."""


@pytest.fixture(scope="module")
def deciding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Point]]:
    """The points that are passed where a program decides what takes a claim's place; its figures are taken as given."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(judgements, "LEAST", 0)
        patched.setattr(judgements, "BOUND", 0.0)
        world = World(tmp_path_factory.mktemp("deciding"))
        points = passed(world, world.decide)
        assert world.decided() == DECIDED
        yield points


class Round(NamedTuple):
    """What is done by jobs, and what a world then holds of it."""

    life: Callable[[World, Store], None]
    held: Callable[[World], object]
    wanted: object


DECIDING: Final = Round(World.decide, World.decided, DECIDED)


def has_one_effect(folder: Path, point: Point, fault: str, done: Round) -> None:
    """Do it with a fault at one of its points, and then what is left: the world holds it once."""
    world = World(folder)
    act, end = acts(world, fault, folder)
    try:
        struck(world, point, act, partial(done.life, world))
    finally:
        end()
    assert done.held(world) == done.wanted, f"{fault} at {point}"


def at_steps(points: Sequence[Point], fault: str) -> list[Point]:
    """Return where a round is struck by a fault: each step by some of them."""
    names = (
        "work.leased",
        "work.ran",
        "work.append",
        "wal.write",
        "wal.sync.done",
        "work.append.done",
        "work.settled",
    )
    found = [next(one for one in reversed(points) if one.name == name) for name in names]
    return found[FAULTS.index(fault) % 3 :: 3]


@pytest.mark.sample(6)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_decision_is_carried_out_once(tmp_path: Path, deciding: list[Point], fault: str) -> None:
    for number, point in enumerate(at_steps(deciding, fault)):
        has_one_effect(tmp_path / str(number), point, fault, DECIDING)


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_decision_is_carried_out_once_at_every_point(
    tmp_path: Path, deciding: list[Point], fault: str
) -> None:
    for number, point in enumerate(deciding):
        has_one_effect(tmp_path / str(number), point, fault, DECIDING)


# -- a round of consolidation ----------------------------------------------------------------------


CONSOLIDATED: Final = (
    "Maya likes tea: accepted", "Maya likes tea: accepted", "Maya lives in Lisbon: rejected",
    "3",
)  # fmt: skip
"""What became of what waited, by one record each; no job that waits or is dead, and no finding."""


@pytest.fixture(scope="module")
def consolidating(tmp_path_factory: pytest.TempPathFactory) -> list[Point]:
    """The points that are passed where what waits in staging is reviewed."""
    world = World(tmp_path_factory.mktemp("consolidating"))
    points = passed(world, world.consolidate)
    assert world.consolidated() == CONSOLIDATED
    return points


CONSOLIDATING: Final = Round(World.consolidate, World.consolidated, CONSOLIDATED)


@pytest.mark.sample(6)
@pytest.mark.parametrize("fault", FAULTS)
def test_what_waits_is_decided_once(tmp_path: Path, consolidating: list[Point], fault: str) -> None:
    for number, point in enumerate(at_steps(consolidating, fault)):
        has_one_effect(tmp_path / str(number), point, fault, CONSOLIDATING)


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("fault", FAULTS)
def test_what_waits_is_decided_once_at_every_point(
    tmp_path: Path, consolidating: list[Point], fault: str
) -> None:
    for number, point in enumerate(consolidating):
        has_one_effect(tmp_path / str(number), point, fault, CONSOLIDATING)


# -- a process of its own, killed -----------------------------------------------------------------


def killed(folder: Path, point: str, expected: Result) -> None:
    environment = os.environ | {"BRAID_KILL_AT": point, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.system.work.faults", str(folder)],
        env=environment, cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == -9, done.stderr
    assert World(folder).recovered() == expected


@pytest.mark.soak
@pytest.mark.sample(8)
@pytest.mark.parametrize("point", [points[-1] for points in STEPS.values()])
def test_a_process_that_is_killed_at_a_step_loses_nothing(
    tmp_path: Path, baseline: tuple[list[Point], Result], point: str
) -> None:
    killed(tmp_path, point, baseline[1])


@pytest.mark.soak
def test_a_process_that_is_killed_at_any_point_loses_nothing(
    tmp_path: Path, baseline: tuple[list[Point], Result]
) -> None:
    for number, point in enumerate(baseline[0]):
        if point.name in {name.rpartition("@")[0] for points in STEPS.values() for name in points}:
            killed(tmp_path / str(number), str(point), baseline[1])


# -- Redis is gone --------------------------------------------------------------------------------


class Redis:
    """A server that keeps nothing on disk, and its transports."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._running: subprocess.Popen[bytes] | None = None
        self._made: list[RedisStreams] = []

    def transport(self) -> RedisStreams:
        self._made.append(RedisStreams(f"redis://127.0.0.1:{self._port}/0", "store"))
        return self._made[-1]

    def start(self) -> None:
        self._running = subprocess.Popen(
            [str(SERVER), "--port", str(self._port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
             "--dir", str(self._folder), "--loglevel", "warning"],
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        until = monotonic() + 30
        while True:
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", self._port)) == 0:
                    return
            assert monotonic() < until
            sleep(0.02)

    def kill(self) -> None:
        assert self._running is not None
        self._running.kill()
        self._running.wait(30)

    def close(self) -> None:
        for one in self._made:
            one.close()
        self.kill()


@pytest.mark.sample(3)
@pytest.mark.skipif(SERVER is None, reason="there is no redis-server here: apt-get install redis-server")
@pytest.mark.parametrize("point", [points[0] for points in STEPS.values()])
def test_redis_that_goes_away_at_a_step_loses_nothing(
    tmp_path: Path, baseline: tuple[list[Point], Result], point: str
) -> None:
    pytest.importorskip("redis")
    server = Redis(tmp_path)
    server.start()
    try:
        world = World(tmp_path, server.transport)
        assert struck(world, at(point), server.kill, world.live), f"{point} was never reached"
        server.start()
        assert world.recovered() == baseline[1]
    finally:
        server.close()


# -- a model --------------------------------------------------------------------------------------


def _late(_: str) -> str:
    raise ChatError("the model took too long")


ANSWERS: Final = {
    "nonsense": lambda _: "I'm sorry, I can't {[",
    "another shape": lambda _: '{"facts": 7}',
    "nothing": lambda _: "",
    "an invented quote": lambda _: FACT.replace("I live in Porto", "I live in Parma"),
    "a turn that is none": lambda _: FACT.replace('"turn": 1', '"turn": 99'),
    "too late": _late,
}


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", ANSWERS)
def test_what_a_model_answers_can_only_be_missing(
    tmp_path: Path, baseline: tuple[list[Point], Result], name: str
) -> None:
    """A bad answer is tried again where that may help; what is no fact of the words never becomes one."""
    asked: list[str] = []

    def answer(text: str) -> str:
        asked.append(text)
        return ANSWERS[name](text) if len(asked) == 1 else FACT

    world = World(tmp_path)
    with world.opened() as store:
        world.live(store, answer)
    result, expected = world.recovered(), baseline[1]
    assert set(result.readings) <= set(expected.readings)
    assert expected.readings[1] in result.readings  # the parse needs no model
    assert result._replace(readings=()) == expected._replace(readings=())
