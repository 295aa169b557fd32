"""Redis Streams as transport: the contract on a real server, and what is its own: flushed, gone, bounded, ids only."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

import braid
from braid.job_state import job_state
from braid.models.redis_streams import GROUP, RedisStreams
from braid.work.breaker import Breaker, Limits
from braid.work.errors import TransportError
from braid.work.transport import Transport
from tests.transport_contract import KINDS, LEASE_S, TransportContract, batch
from tests.unit.api.test_jobs import FACT, Model, readings, say
from tests.unit.learn.test_extraction import HOME, PARSER

redis = pytest.importorskip("redis")
SERVER = shutil.which("redis-server")
pytestmark = pytest.mark.skipif(
    SERVER is None, reason="there is no redis-server here: apt-get install redis-server"
)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server on loopback, which keeps nothing on disk."""
    folder = tmp_path_factory.mktemp("redis")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = subprocess.Popen(
        [str(SERVER), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
         "--dir", str(folder), "--daemonize", "no", "--loglevel", "warning"],
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        client = redis.Redis(port=port)
        until = monotonic() + 30
        while True:
            try:
                client.ping()
                break
            except redis.exceptions.ConnectionError:
                assert monotonic() < until
                sleep(0.02)
        client.close()
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        running.terminate()
        running.wait(30)


class RedisWorld:
    """A server, and a clock: what it counts as idle is set, instead of waited for."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.now = 1_000_000.0
        self.client: Any = redis.Redis.from_url(url, decode_responses=True)
        self.client.flushall()
        self.transport = RedisStreams(url, "store")
        self._opened = [self.transport]

    def advance(self, seconds: float) -> None:
        self.now += seconds
        for stream in self.client.scan_iter("*:stream:*"):
            for one in self.client.xpending_range(stream, GROUP, "-", "+", 100):
                idle = one["time_since_delivered"] + int(1000 * seconds)
                self.client.xclaim(
                    stream, GROUP, one["consumer"], 0, [one["message_id"]], idle=idle, justid=True
                )

    def small(self, depth: int) -> Transport:
        made = RedisStreams(self.url, "small", depth=depth)
        self._opened.append(made)
        return made

    def lose(self) -> None:
        self.client.flushall()

    def close(self) -> None:
        for one in self._opened:
            one.close()
        self.client.close()


@pytest.fixture
def world(url: str) -> Iterator[RedisWorld]:
    made = RedisWorld(url)
    yield made
    made.close()


class TestRedis(TransportContract):
    pass


def test_it_holds_ids_and_indexes_alone(world: RedisWorld) -> None:
    transport = world.transport
    transport.offer(batch(1), world.now)
    stream = "braid:store:stream:reading@1"
    ((_, entry),) = world.client.xrange(stream)
    assert entry == {"job": batch(1).id}
    lease = transport.lease(KINDS, "a", world.now, LEASE_S)
    assert lease is not None
    transport.bury(lease, "ask", "failed", world.now)
    assert world.client.xlen(stream) == 0
    ((_, entry),) = world.client.xrange("braid:store:dead")
    assert entry == {"job": batch(1).id}


def test_stores_of_one_server_are_apart(world: RedisWorld) -> None:
    other = RedisStreams(world.url, "other")
    world.transport.offer(batch(1), world.now)
    assert other.lease(KINDS, "a", world.now, LEASE_S) is None
    other.close()


def test_an_entry_that_no_job_names_is_passed_over(world: RedisWorld) -> None:
    world.client.xadd("braid:store:stream:reading@1", {"job": "job_of_nobody"})
    world.client.xadd("braid:store:stream:reading@1", {"nonsense": "1"})
    world.transport.offer(batch(1), world.now)
    lease = world.transport.lease(KINDS, "a", world.now, LEASE_S)
    assert lease is not None
    assert lease.batch == batch(1)
    assert world.client.xlen("braid:store:stream:reading@1") == 1


def test_a_server_that_is_gone_opens_its_breaker() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    breaker = Breaker("redis", Limits(2, 60, 15))
    transport = RedisStreams(f"redis://127.0.0.1:{port}/0", "store", breaker=breaker)
    for _ in range(2):
        with pytest.raises(TransportError, match="ConnectionError"):
            transport.offer(batch(1), 0.0)
    with pytest.raises(TransportError, match="BreakerOpenError"):
        transport.offer(batch(1), 0.0)
    assert breaker.state().state == "open"
    transport.close()


def test_nothing_of_it_is_imported_before_it_is_used(tmp_path: Path) -> None:
    import sys

    said = "import sys, braid.models.redis_streams; print('redis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_store_works_by_it_and_a_flush_costs_a_repeated_attempt(world: RedisWorld, tmp_path: Path) -> None:
    with braid.open(tmp_path / "memory", parser=None) as store:
        job_state(store.session).transport = world.transport
        say(store, HOME)
        asked: list[str] = []

        def answer(text: str) -> str:
            asked.append(text)
            if len(asked) == 1:
                world.client.flushall()
            return FACT

        done = store.work(
            model=Model(answer), parser=PARSER, until_idle=True, consumers=["session-extraction"]
        )
        assert (done.done, done.lost, len(asked)) == (1, 1, 2)
        assert len(readings(store)) == 1
        assert not (store.path / "work.sqlite").exists()
        assert store.verify().findings == []
        raw = redis.Redis.from_url(world.url)
        assert not any(b"Porto" in (raw.dump(key) or b"") for key in raw.scan_iter())
        raw.close()
