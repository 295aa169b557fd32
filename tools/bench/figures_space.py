"""What is kept: bytes a record, by what they are; what erasing one record costs."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec

from braid.ledger.erase import cascade as cascades
from braid.ledger.erase import erasure as erasing
from braid.ledger.write.writer import Writer
from braid.tools.bench.context import Bench, Measure
from braid.tools.bench.measure import Figure, alone, figure, seconds_of

LEFT_OUT = frozenset(("views", "blobs", "reserve"))
"""Projections and media are not overhead of a record; the reserve is a fixed mebibyte."""


def keeping(bench: Bench, n: int) -> Iterator[Figure]:
    """Bytes on disk a record beyond the body's plain JSON, and all bytes by what they are."""
    place = bench.stores.of(n)
    plain = sum(len(msgspec.json.encode(bench.stores.texts.draft(number).body)) for number in range(n))
    sizes = _sizes(place.path)
    kept = sum(sizes.values())
    yield figure("overhead", n, "bytes/record", (kept - plain) / n)
    bodies = heads = 0
    with place.reader() as reader:
        for frame in reader.log.frames(bodies=False):
            bodies += frame.header.body_len
            heads += frame.header.head_len
    parts = {
        "body": bodies,
        "envelope": heads,
        "tile": sizes.get("tile", 0),
        "idx": sizes.get("idx", 0),
        "rest": kept - bodies - heads - sizes.get("tile", 0) - sizes.get("idx", 0),
    }
    for name, size in parts.items():
        yield figure(f"disk.{name}", n, "bytes/record", size / n)


def _sizes(store: Path) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for path in store.rglob("*"):
        top = path.relative_to(store).parts[0]
        if top not in LEFT_OUT and path.is_file():
            name = "idx" if path.suffix == ".idx" else top
            sizes[name] = sizes.get(name, 0) + path.stat().st_size
    return sizes


def erasing_some(bench: Bench, n: int) -> Iterator[Figure]:
    """Erase single records, newest first for the steps, from the middle for the search of what is derived; then one
    record in a thousand, all over the log, at once.
    """
    with bench.stores.copy(n) as place, place.writer() as writer:
        targets = iter(range(writer.size - 1, 3, -1))
        rounds = min(max(3, bench.rounds), n // 4)
        yield alone("erase.one", n, "ms", lambda: _erase(writer, next(targets)), rounds)
        half = writer.size // 2
        search = partial(seconds_of, partial(cascades.plan, writer, [half]))
        yield alone("erase.plan.first", n, "ms", lambda: search() * 1e3, 1)
        yield alone("erase.plan", n, "ms", lambda: search() * 1e3, max(3, bench.rounds))
        share = range(5, writer.size // 2, 1000)
        each = seconds_of(lambda: erasing.erase(writer, lambda: share, list)) * 1e3 / len(share)
        yield figure("erase.thousandth", n, "ms/record", each)


def _erase(writer: Writer, index: int) -> float:
    """Return milliseconds from the plan to the certificate; projections are none of it."""
    cascade = cascades.plan(writer, [index])
    return seconds_of(lambda: erasing.erase(writer, cascade, list)) * 1e3


MEASURES = (
    Measure(("overhead", "disk.body", "disk.envelope", "disk.tile", "disk.idx", "disk.rest"), keeping),
    Measure(("erase.one", "erase.plan.first", "erase.plan", "erase.thousandth"), erasing_some),
)
