"""A worker: what it does once, what it tries again, what it gives up; and dying at every point."""

from pathlib import Path

import pytest

from braid.work.backoff import Retry
from braid.work.breaker import Breakers, Limits
from braid.work.embedded import EmbeddedQueue
from tests.unit.work.world import World, failing

POINTS = ["work.leased", "work.ran", "log.append", "log.append.done", "work.settled"]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_everything_is_done_once(world: World) -> None:
    world.log.size = 20
    assert {step.ended for step in world.drain()} == {"done"}
    assert dict(world.log.effects) == dict.fromkeys(range(20), 1)
    assert world.drain() == []


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("loses", [False, True], ids=["the file stays", "the file is lost"])
def test_dying_anywhere_has_exactly_one_effect(world: World, point: str, loses: bool) -> None:
    world.log.size = 3
    assert world.step(point) is None
    if loses:
        world.transport.drop()
    first = world.log.effects.total()
    assert first == (point in ("log.append.done", "work.settled"))
    world.drain()
    assert dict(world.log.effects) == {0: 1, 1: 1, 2: 1}


@pytest.mark.parametrize("point", ["log.append", "log.append.done", "work.buried"])
def test_dying_while_giving_up_leaves_it_dead_once(world: World, point: str) -> None:
    world.log.size = 1
    world.trouble = failing(0)
    for _ in range(3):
        world.step()
        world.now += 40
    world.step(point)
    world.drain()
    assert (world.log.dead, dict(world.log.effects)) == ({0}, {})


def test_what_kills_its_worker_each_time_is_given_up(world: World) -> None:
    world.log.size = 1
    for _ in range(4):
        world.step("work.leased")
        world.now += 61
    step = world.step()
    assert step is not None
    assert (step.ended, step.stage, step.kind) == ("dead", "worker", "died")
    assert (world.log.dead, dict(world.log.effects)) == ({0}, {})


def test_it_is_tried_after_1_5_and_30_seconds_and_then_dead(world: World) -> None:
    world.log.size = 1
    world.trouble = failing(0, kind="timed out")
    began = world.now
    steps = world.drain()
    assert [(step.ended, step.stage, step.kind) for step in steps] == [
        ("retried", "ask", "timed out"),
        ("retried", "ask", "timed out"),
        ("retried", "ask", "timed out"),
        ("dead", "ask", "timed out"),
    ]
    assert 36 <= world.now - began <= 36 * 1.2 + 0.1
    (job,) = world.transport.jobs()
    assert (job.state, job.attempts) == ("dead", 4)
    assert world.log.dead == {0}


def test_waits_are_spread(world: World) -> None:
    waits = [Retry().wait_s(3, world.chance.random) for _ in range(100)]
    assert all(wait is not None and 30 <= wait < 36 for wait in waits)
    assert len(set(waits)) > 90
    assert Retry().wait_s(4, world.chance.random) is None


def test_an_exception_is_named_by_its_class_alone(world: World) -> None:
    world.log.size = 1

    def trouble(at: int) -> None:
        raise ValueError(f"secret {at}")

    world.trouble = trouble
    assert {(step.stage, step.kind) for step in world.drain()} == {("run", "ValueError")}


def test_an_open_breaker_costs_no_attempt(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.breakers = Breakers(lambda: world.now, {"model": Limits(3, 60, 15)})
    world.log.size = 5
    world.trouble = failing(*range(5))
    worker = world.worker()
    for _ in range(50):
        worker.step()
    assert world.reader.asked == 3
    assert world.breakers["model"].state().state == "open"
    assert sum(job.attempts for job in world.transport.jobs()) == 3
    world.trouble = lambda at: None
    assert worker.idle_s() is not None
    world.drain()
    assert dict(world.log.effects) == dict.fromkeys(range(5), 1)
    assert world.breakers["model"].state().state == "closed"


def test_a_breaker_that_opens_while_a_job_is_leased_gives_it_back(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.breakers = Breakers(lambda: world.now, {"model": Limits(1, 60, 15)})
    world.log.size = 1
    worker = world.worker()
    worker.offer()
    lease = world.transport.lease(["reading@1"], worker.owner, world.now, 60)
    assert lease is not None
    with pytest.raises(OSError, match="away"), world.breakers["model"].passing():
        raise OSError("away")
    assert worker.attempt(lease).ended == "released"
    (job,) = world.transport.jobs()
    assert (job.state, job.attempts) == ("pending", 0)


def test_a_worker_that_is_too_late_appends_nothing(world: World) -> None:
    world.log.size = 1
    slow = world.worker("slow")
    slow.offer()
    lease = world.transport.lease(["reading@1"], "slow", world.now, 60)
    assert lease is not None

    def meanwhile(at: int) -> None:
        world.trouble = lambda at: None
        world.now += 61
        assert world.worker("fast").step() is not None

    world.trouble = meanwhile
    assert slow.attempt(lease).ended == "lost"
    assert dict(world.log.effects) == {0: 1}


def test_one_whose_file_was_lost_appends_nothing_twice(world: World) -> None:
    world.log.size = 1
    slow = world.worker("slow")
    slow.offer()
    lease = world.transport.lease(["reading@1"], "slow", world.now, 60)
    assert lease is not None

    def meanwhile(at: int) -> None:
        world.trouble = lambda at: None
        world.transport.drop()
        assert world.worker("fast").step() is not None

    world.trouble = meanwhile
    assert slow.attempt(lease).ended == "lost"
    assert dict(world.log.effects) == {0: 1}


def test_ctrl_c_gives_the_job_back(world: World) -> None:
    world.log.size = 1

    def trouble(at: int) -> None:
        raise KeyboardInterrupt

    world.trouble = trouble
    with pytest.raises(KeyboardInterrupt):
        world.worker().step()
    (job,) = world.transport.jobs()
    assert (job.state, job.attempts) == ("pending", 0)


def test_a_full_transport_leaves_the_rest_in_the_log(world: World) -> None:
    world.transport = EmbeddedQueue(world.transport.path, depth=3)
    world.log.size = 10
    assert world.worker().offer() == 3
    assert len(world.transport.jobs()) == 3
    world.drain()
    assert dict(world.log.effects) == dict.fromkeys(range(10), 1)
