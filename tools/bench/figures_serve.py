"""What a store costs behind its server: the server is a process, and the clients are threads of another."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from threading import Thread
from typing import Final

from braid.client.remote import Remote
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import utc_now
from braid.tools.bench.context import Bench, Measure
from braid.tools.bench.counted_server import counted, new_counter
from braid.tools.bench.figures_recall import Turns
from braid.tools.bench.measure import Figure, figure
from braid.tools.bench.stores import TRANSACTION, Place

CLIENTS: Final = (1, 8, 64)
RECALLS_A_CLIENT_S, APPENDS_A_CLIENT_S = 60, 250
"""How many questions or records fill about a second, shared by all clients."""
START_S: Final = 60.0
SLOW_S: Final = 0.005
"""How much longer a sync takes on the slow disk: as long as one of a disk that turns, or of a volume over a network."""
_FRAME_BYTES: Final = 2200


class LostServerError(RuntimeError):
    """A server that didn't start, or a request that it didn't answer."""


def serving(bench: Bench, n: int) -> Iterator[Figure]:
    """Questions to a server, then durable appends, from 1, 8 and 64 clients at once."""
    place, turns = conversations(bench, n, f"served{n}"), Turns(bench.seed)
    asked = turns.questions(n)
    with server(place):
        _run(place.path, "recall", [{"query": next(asked)}], 1)
        for clients in CLIENTS:
            many = max(4 * clients, bench.times(5 * RECALLS_A_CLIENT_S))
            took, seconds = _run(
                place.path, "recall", [{"query": one} for one in islice(asked, many)], clients
            )
            yield figure(f"serve.recall.{clients}", n, "recalls/s", len(took) / seconds)
            for part in (50, 95, 99):
                value = 1e3 * took[min(len(took) - 1, len(took) * part // 100)]
                yield figure(f"serve.recall.{clients}.p{part}", n, "ms", value)
    yield from _appending(bench, place, "serve.append", 0.0)
    yield from _appending(bench, place, "serve.append.slow", SLOW_S)
    bench.stores.remove(place)


def _appending(bench: Bench, place: Place, name: str, delay_s: float) -> Iterator[Figure]:
    """Durable appends beside the rate of one sync after another, the syncs that each needs, and what sharing gains."""
    counter, numbers, rates = new_counter(place.path.with_name("syncs")), count(), list[float]()
    with server(place, counter, delay_s):
        for clients in CLIENTS:
            many = max(16 * clients, bench.times(5 * APPENDS_A_CLIENT_S))
            bodies = [{"text": f"Record {next(numbers)} of the bench, durable."} for _ in range(many)]
            floor = bench.disk.synced_writes(_FRAME_BYTES, bench.slice_s, signing=False, delay_s=delay_s)
            before = counted(counter)
            took, seconds = _run(place.path, "append", bodies, clients)
            rate = len(took) / seconds
            rates.append(rate)
            yield Figure(
                name=f"{name}.{clients}", n=place.n, value=rate, unit="records/s", floor=floor,
                ratio=rate / floor, floor_name="one sync after another",
            ).judged()  # fmt: skip
            yield figure(
                f"{name}.{clients}.syncs", place.n, "syncs a record", (counted(counter) - before) / many
            )
    yield figure(f"{name}.gain", place.n, "times one client's rate", rates[-1] / rates[0])


def conversations(bench: Bench, n: int, name: str) -> Place:
    """Return a new store of n turns that are indexed, in a folder of that name."""
    from braid import open as opening

    place = Place(bench.stores.folder / name / "memory", n)
    turns = Turns(bench.seed)
    create_store(place.path, now=utc_now(), guard_folder=place.guard_dir)
    with opening(place.path, guard_dir=place.guard_dir, server=None) as store:
        for first in range(0, n, TRANSACTION):
            drafts = [turns.draft(number) for number in range(first, min(first + TRANSACTION, n))]
            store.session.append_drafts(drafts)
        store.views.search.index(wait_s=600.0)
    return place


@contextmanager
def server(place: Place, counter: Path | None = None, delay_s: float = 0.0) -> Generator[None]:
    """Serve a store by a process. Raises LostServerError where it doesn't start.

    `counter`: where it counts its syncs, each of which takes `delay_s` longer than the disk.
    """
    command = [str(Path(sys.executable).with_name("braid"))]
    if counter is not None:
        command = [sys.executable, "-m", "braid.tools.bench.counted_server", str(counter), str(delay_s)]
    words = ["--guard-dir", str(place.guard_dir), "serve", "--store", str(place.path)]
    started = subprocess.Popen([*command, *words], stderr=subprocess.DEVNULL)
    try:
        ends = time.monotonic() + START_S
        while not Remote(place.path).answers():
            if started.poll() is not None or time.monotonic() > ends:
                raise LostServerError("braid serve did not start: is the extra `serve` installed?")
            time.sleep(0.05)
        yield
    finally:
        started.terminate()
        started.wait(30)


def _run(store: Path, name: str, bodies: list[dict[str, str]], clients: int) -> tuple[list[float], float]:
    """Ask everything by so many clients; return how long each answer took, sorted, and how long all of it."""
    took: list[float] = []
    failures: list[BaseException] = []

    def client(share: list[bytes]) -> None:
        connection = Remote(store).connection()
        try:
            for body in share:
                began = time.perf_counter()
                connection.request("POST", f"/v1/{name}", body)
                answer = connection.getresponse()
                raw = answer.read()
                if answer.status != 200:
                    raise LostServerError(raw.decode("utf-8", "replace"))
                took.append(time.perf_counter() - began)
        except BaseException as error:  # raised below, in the thread that measures
            failures.append(error)
        finally:
            connection.close()

    sent = [json.dumps(one).encode() for one in bodies]
    threads = [Thread(target=client, args=(sent[k::clients],)) for k in range(clients)]
    seconds = _seconds(threads)
    if failures:
        raise failures[0]
    return sorted(took), seconds


def _seconds(threads: list[Thread], clock: Callable[[], float] = time.perf_counter) -> float:
    began = clock()
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return clock() - began


_PARTS: Final = {
    "recall": ("", ".p50", ".p95", ".p99"),
    "append": ("", ".syncs"),
    "append.slow": ("", ".syncs"),
}
MEASURES = (
    Measure(
        (
            *(
                f"serve.{name}.{clients}{part}"
                for name, parts in _PARTS.items()
                for clients in CLIENTS
                for part in parts
            ),
            "serve.append.gain",
            "serve.append.slow.gain",
        ),
        serving,
    ),
)
