"""What it costs to write the log for others."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from braid.tools.bench.context import Bench, Measure
from braid.tools.bench.floors import raw
from braid.tools.bench.measure import Figure, Floor, against, per_second
from braid.tools.bench.stores import Place


def publishing(bench: Bench, n: int) -> Iterator[Figure]:
    """A new folder each time, from opening the store to the durable checkpoint."""
    place, folder = bench.stores.of(n), bench.stores.folder / "published"
    bench.told(f"publishing {n:,} records")
    floor = Floor("SHA-256 of a leaf and a node, one core", partial(raw, "leaf", bench.slice_s))
    rounds = bench.rounds if n <= 100_000 else 1
    yield against("publish", n, "records/s", partial(_publish, place, folder), floor=floor, rounds=rounds)


def _publish(place: Place, folder: Path) -> float:
    from braid.ledger.publish.folder import Outlet
    from braid.ledger.publish.mirror import copy_log, finish_copy
    from braid.tools.tlog.sources import own_log

    def act() -> None:
        with own_log(place.path, place.guard) as log, closing(Outlet(folder)) as outlet:
            head = log.head()
            copy_log(log, outlet, head, twins=place.path)
            finish_copy(log, outlet, head)

    try:
        return per_second(act, place.n)
    finally:
        shutil.rmtree(folder)


MEASURES = (Measure(("publish",), publishing),)
