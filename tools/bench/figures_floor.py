"""The floors as figures of their own."""

from collections.abc import Iterator
from functools import partial

from braid.tools.bench.context import Bench, Measure
from braid.tools.bench.floors import ACTS, raw
from braid.tools.bench.measure import Figure, alone

_FRAME_BYTES = 2200


def floors(bench: Bench, n: int) -> Iterator[Figure]:
    """Raw rates of one core and of all of them, of the disk, of reading."""
    for act in ACTS:
        yield alone(f"floor.{act}", 0, "/s, one core", partial(raw, act, bench.slice_s), bench.rounds)
    for act in ("verify", "leaf"):
        yield alone(
            f"floor.{act}.cores",
            0,
            "/s, all cores",
            partial(bench.cores.rate, act, bench.slice_s),
            bench.rounds,
        )
    sync = partial(bench.disk.synced_writes, _FRAME_BYTES, bench.slice_s, signing=False)
    yield alone("floor.fdatasync", 0, "/s", sync, bench.rounds)
    segment = next((bench.stores.of(n).path / "log").glob("*.seg"))
    yield alone("floor.read", 0, "MB/s, page cache", partial(bench.disk.read_rate, segment), bench.rounds)


MEASURES = (
    Measure(
        (
            *(f"floor.{act}" for act in ACTS),
            "floor.verify.cores",
            "floor.leaf.cores",
            "floor.fdatasync",
            "floor.read",
        ),
        floors,
        sized=False,
    ),
)
