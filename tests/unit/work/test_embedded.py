"""The embedded transport: the contract, and what is its own: the file, its mode, what became of it meanwhile."""

import sqlite3
import stat
from pathlib import Path

import pytest

from braid.work.embedded import EmbeddedQueue
from braid.work.errors import LeaseLostError, TransportError
from tests.transport_contract import KINDS, LEASE_S, TransportContract, batch


class FileWorld:
    """A file, and a clock that only moves when it is told to."""

    def __init__(self, folder: Path) -> None:
        self.now = 1_000_000.0
        self.folder = folder
        self.transport = EmbeddedQueue(folder / "work.sqlite")

    def advance(self, seconds: float) -> None:
        self.now += seconds

    def small(self, depth: int) -> EmbeddedQueue:
        return EmbeddedQueue(self.folder / "small.sqlite", depth=depth)

    def lose(self) -> None:
        self.transport.drop()


@pytest.fixture
def world(tmp_path: Path) -> FileWorld:
    return FileWorld(tmp_path)


class TestEmbedded(TransportContract):
    pass


def test_its_file_is_for_its_owner_alone_and_made_when_it_is_needed(world: FileWorld) -> None:
    path = world.transport.path
    assert world.transport.jobs() == []
    assert world.transport.lease(KINDS, "a", world.now, LEASE_S) is None
    assert not path.exists()
    world.transport.offer(batch(1), world.now)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    con = sqlite3.connect(path)
    assert con.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    con.close()


def test_two_handles_of_one_file_see_each_other(world: FileWorld) -> None:
    other = EmbeddedQueue(world.transport.path)
    world.transport.offer(batch(1), world.now)
    lease = other.lease(KINDS, "b", world.now, LEASE_S)
    assert lease is not None
    assert world.transport.lease(KINDS, "a", world.now, LEASE_S) is None


@pytest.mark.parametrize("content", [b"no database at all, but long enough to be looked at" * 40, b"short"])
def test_a_damaged_file_is_made_again(world: FileWorld, content: bytes) -> None:
    world.transport.offer(batch(1), world.now)
    lease = world.transport.lease(KINDS, "a", world.now, LEASE_S)
    assert lease is not None
    world.transport.drop()
    world.transport.path.write_bytes(content)
    with pytest.raises(LeaseLostError):
        world.transport.require(lease, world.now)
    assert world.transport.offer(batch(1), world.now) == "offered"


def test_one_that_is_damaged_where_nobody_looked_is_made_again_too(world: FileWorld) -> None:
    for at in range(200):
        world.transport.offer(batch(at), world.now)
    path = world.transport.path
    content = path.read_bytes()
    path.write_bytes(content[:8192] + b"\xff" * (len(content) - 8192))
    with pytest.raises(TransportError, match="made again"):
        offer_many(world)
    assert world.transport.offer(batch(1), world.now) == "offered"


def offer_many(world: FileWorld) -> None:
    for at in range(200, 400):
        world.transport.offer(batch(at), world.now)


def test_a_file_that_cannot_be_had_is_a_failure_of_the_transport(tmp_path: Path) -> None:
    (tmp_path / "work.sqlite").mkdir()
    with pytest.raises(TransportError, match=r"work\.sqlite"):
        EmbeddedQueue(tmp_path / "work.sqlite").offer(batch(1), 0.0)


def test_what_is_done_is_let_go_of_after_four_weeks_where_nobody_does(world: FileWorld) -> None:
    world.transport.offer(batch(1), world.now)
    lease = world.transport.lease(KINDS, "a", world.now, LEASE_S)
    assert lease is not None
    world.transport.done(lease, world.now)
    world.advance(27 * 86_400)
    world.transport.offer(batch(2), world.now)
    assert len(world.transport.jobs()) == 2
    world.advance(2 * 86_400)
    world.transport.offer(batch(3), world.now)
    assert [one.batch for one in world.transport.jobs()] == [batch(2), batch(3)]
