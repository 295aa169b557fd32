"""What a memory's life costs: remembered, changed, forgotten, right at the front door; and jobs a minute."""

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from braid.ledger.record.record import Draft, ExperienceBody
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import utc_now
from braid.text.chat import ChatMessage, Completion
from braid.tools.bench.context import Bench, Measure
from braid.tools.bench.figures_recall import Turns
from braid.tools.bench.measure import Figure, figure
from braid.tools.bench.stores import TRANSACTION, Place

if TYPE_CHECKING:
    from braid.store import Store
    from braid.text.parse import Parse

ACTS_A_SECOND: Final = 500
"""How many acts of a kind are timed, by the length of a slice; their 95th percentile counts."""
JOBS: Final = 200
REDIS_S: Final = 30.0
CONSUMER: Final = "session-extraction"


class LivingProviderError(RuntimeError):
    """A provider that should have failed did not."""


class DeadParser:
    """A reader whose provider is gone."""

    name = "dead"

    def parse(self, texts: Sequence[str]) -> "list[Parse]":
        """Fail as a provider does that refuses the connection."""
        del texts
        raise ConnectionRefusedError("the provider is gone")


class QuickModel:
    """A language model that answers at once and finds nothing: what is left is what the work itself costs."""

    name, remote = "quick", False

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Return no facts."""
        del messages, max_tokens, timeout_s, schema
        return Completion('{"facts": []}', 100, 5, "quick")


def living(bench: Bench, n: int) -> Iterator[Figure]:
    """Remembering, changing and forgetting, one act after the other, each durable, beside n memories."""
    place = Place(bench.stores.folder / f"life{n}" / "memory", n)
    turns, numbers, times = Turns(bench.seed), count(n), max(20, bench.times(ACTS_A_SECOND))
    create_store(place.path, now=utc_now(), guard_folder=place.guard_dir)
    with _opened(place) as store:
        bench.told(f"remembering {n:,} memories")
        for first in range(0, n, TRANSACTION):
            batch = [_raw(turns.draft(number)) for number in range(first, min(first + TRANSACTION, n))]
            store.session.append_drafts(batch)
        store.views.search.index(wait_s=600.0)
        while store.remember(_said(turns, next(numbers)), user_id="user-life").status == "queued":
            pass  # what was there before is read first
        ids: list[str] = []

        def remember(**how: Any) -> None:
            ids.append(store.remember(_said(turns, next(numbers)), user_id="user-life", **how)[0])

        yield from _tail("life.remember", n, [remember] * times, (95, 99))
        yield _p95("life.remember.queued", n, [partial(remember, mode="async")] * times)
        changing, leaving = iter(ids), iter(ids[::-1])

        def modify() -> None:
            store.modify(next(changing), text=turns.text(next(numbers)), reason="measured")

        def pin() -> None:
            store.modify(next(changing), importance=0.7, reason="measured")

        def forget() -> None:
            store.forget(next(leaving))

        yield _p95("life.modify", n, [modify] * (times // 2))
        yield _p95("life.pin", n, [pin] * (times // 2))
        yield _p95("life.forget", n, [forget] * (times // 2))
    with _opened(place, parser=DeadParser) as store, _dead_queue(store):

        def unread() -> None:
            if store.remember(_said(turns, next(numbers)), user_id="user-life").status != "raw_saved":
                raise LivingProviderError("the provider was to be gone, and something was read")

        unread()
        yield _p95("life.remember.dead", n, [unread] * times)
    bench.stores.remove(place)


def _p95(name: str, n: int, acts: Sequence[Callable[[], object]]) -> Figure:
    """Run each act once and return the 95th percentile of how long they took."""
    return _tail(name, n, acts, (95,))[0]


def _tail(name: str, n: int, acts: Sequence[Callable[[], object]], percents: Sequence[int]) -> list[Figure]:
    """Run each act once and return these percentiles of how long they took."""
    took: list[float] = []
    for act in acts:
        began = time.perf_counter()
        act()
        took.append(time.perf_counter() - began)
    took.sort()
    last = len(took) - 1
    return [
        figure(f"{name}.p{one}", n, "ms", 1e3 * took[min(last, len(took) * one // 100)]) for one in percents
    ]


def _raw(draft: Draft) -> Draft:
    """Return a turn that no reader takes anything from: 10⁵ of them are no reading to wait for."""
    assert isinstance(draft.body, ExperienceBody)  # noqa: S101 - a turn has no other
    return msgspec.structs.replace(draft, body=msgspec.structs.replace(draft.body, raw=True))


def _said(turns: Turns, number: int) -> dict[str, Any]:
    return {"role": "user", "content": f"I live in Porto. {turns.text(number)}", "name": "Maya"}


def _opened(place: Place, **options: Any) -> "Store":
    from braid import open as opening
    from braid.entry import open as bare

    if options:
        return bare(place.path, guard_dir=place.guard_dir, server=None, **options)
    return opening(place.path, guard_dir=place.guard_dir, server=None)


@contextmanager
def _dead_queue(store: "Store") -> Generator[None]:
    """Let a store's jobs go to a Redis that nothing listens for."""
    from braid.job_state import job_state
    from braid.models.redis_streams import RedisStreams

    gone = RedisStreams(f"redis://127.0.0.1:{_free_port()}/0", "life")
    job_state(store.session).transport = gone
    try:
        yield
    finally:
        gone.close()


# -- jobs -----------------------------------------------------------------------------------------


def working(bench: Bench, n: int) -> Iterator[Figure]:
    """Jobs of one worker a minute: a session of one turn each, read by a model that answers at once."""
    del n
    yield figure("life.jobs", 0, "jobs/min", _jobs_a_minute(bench, "embedded", None))
    program = shutil.which("redis-server")
    if program is None:
        bench.told("life.jobs.redis is left out: there is no redis-server here")
        return
    with _redis(program, bench.stores.folder) as url:
        yield figure("life.jobs.redis", 0, "jobs/min", _jobs_a_minute(bench, "redis", url))


def _jobs_a_minute(bench: Bench, name: str, url: str | None) -> float:
    from braid.job_state import job_state
    from braid.models.redis_streams import RedisStreams

    place = Place(bench.stores.folder / f"jobs-{name}" / "memory", JOBS)
    turns = Turns(bench.seed)
    create_store(place.path, now=utc_now(), guard_folder=place.guard_dir)
    streams = None if url is None else RedisStreams(url, "life")
    with _opened(place) as store:
        if streams is not None:
            job_state(store.session).transport = streams
        for number in range(JOBS):
            said = [_said(turns, number)]
            store.remember(said, user_id="user-life", session_id=f"s{number:04}", learn=False)
        began = time.perf_counter()
        done = store.work(model=QuickModel(), until_idle=True, consumers=[CONSUMER]).done
        seconds = time.perf_counter() - began
        if streams is not None:
            streams.close()
    bench.stores.remove(place)
    return 60 * done / seconds


@contextmanager
def _redis(program: str, folder: Path) -> Generator[str]:
    """Start a Redis on loopback that keeps nothing on disk; yield its URL."""
    port = _free_port()
    started = subprocess.Popen(
        [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
         "--dir", str(folder), "--daemonize", "no", "--loglevel", "warning"],
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        ends = time.monotonic() + REDIS_S
        while not _listens(port) and time.monotonic() < ends and started.poll() is None:
            time.sleep(0.02)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        started.terminate()
        started.wait(REDIS_S)


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


MEASURES = (
    Measure(
        tuple(
            f"life.{name}.p95"
            for name in ("remember", "remember.queued", "modify", "pin", "forget", "remember.dead")
        ),
        living,
    ),
    Measure(("life.jobs", "life.jobs.redis"), working, sized=False),
)
