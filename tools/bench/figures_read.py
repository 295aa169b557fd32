"""What reading costs: opening, getting, proving, tracing."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle

from braid.ledger.crypto.seal import unseal_body
from braid.ledger.read.reader import Reader
from braid.ledger.record.envelope import decode_payload, unwrap
from braid.ledger.record.ids import RecordId, parse_id
from braid.ledger.record.record import Record
from braid.tools.bench.context import Bench, Measure
from braid.tools.bench.measure import Figure, Floor, Sample, against, alone, figure, seconds_of
from braid.tools.bench.stores import Place, spread_ids

WARM_TILES = 16
MANY = 1_000
_OPEN = """
import sys, time
from braid.entry import open
from pathlib import Path
start = time.perf_counter()
store = open(sys.argv[1], guard_dir=sys.argv[2], create=False, read_only=sys.argv[3] == "readonly")
seconds = time.perf_counter() - start
# The peak of this process alone: ru_maxrss would begin with what its parent had.
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(seconds, peak.split()[1])
store.close()
"""


def opening(bench: Bench, n: int) -> Iterator[Figure]:
    """Open in fresh processes: seconds of the call (imports done before), and the process's peak of memory."""
    place = bench.stores.of(n)
    for name, mode in (("open", "write"), ("open.readonly", "readonly")):
        runs = [_open_once(place, mode) for _ in range(bench.rounds)]
        seconds, peaks = iter([run[0] for run in runs]), iter([run[1] for run in runs])
        yield alone(name, n, "s", partial(next, seconds), len(runs))
        yield alone(f"{name}.rss", n, "MB", partial(next, peaks), len(runs))


def _open_once(place: Place, mode: str) -> tuple[float, float]:
    argv = [sys.executable, "-c", _OPEN, str(place.path), str(place.guard_dir), mode]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
    return float(said[0]), int(said[1]) / 1024


class Unverified:
    """A get that trusts what it reads: place, parsing, key and unsealing are the same, nothing is compared."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def get(self, id: str) -> Record:
        """Return the record of this id."""
        reader = self._reader
        index = parse_id(id).index
        payload, signature = unwrap(reader.log.envelope(index))
        envelope = decode_payload(payload)
        key = reader.need_vault().key(index)
        sealed = reader.log.body(index)
        raw = unseal_body(key, sealed, origin=envelope.origin, id=envelope.id, kind=envelope.kind)
        links = envelope.links
        return Record(envelope, links if isinstance(links, list) else [], raw, signature)


def getting(bench: Bench, n: int) -> Iterator[Figure]:
    """`get`, with its tiles in memory and without, against an unverified one."""
    place = bench.stores.of(n)
    with place.reader() as reader:
        ids = spread_ids(reader, 1_000, tiles=WARM_TILES, seed=bench.seed)
        floor = Floor("unverified get", _each(Unverified(reader).get, ids, bench.times(20_000)))
        verified = _each(reader.get, ids, bench.times(20_000))
        verified()
        floor.sample()
        yield against("get.warm", n, "µs", verified, floor=floor, rounds=bench.rounds)
        tiles = min(256, -(-reader.size // 256))
        cold_ids = [spread_ids(reader, 1, tiles=1, seed=bench.seed + k)[0] for k in range(tiles)]
        cold_ids = list({parse_id(id).index >> 8: id for id in cold_ids}.values())
    yield against(
        "get.cold",
        n,
        "µs",
        partial(_cold, place, cold_ids),
        floor=Floor("unverified warm get", _on(place, ids, bench)),
        rounds=bench.rounds,
    )


def _each(get: Callable[[str], object], ids: Sequence[RecordId], times: int) -> Sample:
    chosen = cycle(ids)

    def sample() -> float:
        work = [next(chosen) for _ in range(times)]

        def act() -> None:
            for id in work:
                get(id)

        return seconds_of(act) / times * 1e6

    return sample


def _cold(place: Place, ids: Sequence[RecordId]) -> float:
    """A fresh handle gets one record of each of many tiles."""
    with place.reader() as reader:
        return _each(reader.get, ids, len(ids))()


def _on(place: Place, ids: Sequence[RecordId], bench: Bench) -> Sample:
    def sample() -> float:
        with place.reader() as reader:
            warm = _each(Unverified(reader).get, ids, bench.times(20_000))
            warm()
            return warm()

    return sample


def proving(bench: Bench, n: int) -> Iterator[Figure]:
    """An inclusion proof of a record, tiles in memory."""
    with bench.stores.of(n).reader() as reader:
        ids = spread_ids(reader, 500, tiles=WARM_TILES, seed=bench.seed)

        def prove(id: str) -> bytes:
            return reader.prove(parse_id(id).index)

        sample = _each(prove, ids, bench.times(5_000))
        sample()
        yield alone("prove", n, "µs", sample, bench.rounds)
        yield figure("prove.bytes", n, "bytes", len(prove(ids[0])))


def proving_many(bench: Bench, n: int) -> Iterator[Figure]:
    """One proof of 1,000 hits all over the log: just after they were read, as recall does, and by a fresh handle."""
    place = bench.stores.of(n)
    with place.reader() as reader:
        spread = spread_ids(reader, MANY, tiles=-(-reader.size // 256), seed=bench.seed)
        indexes = [parse_id(id).index for id in spread]
        yield alone("prove.many", n, "ms", partial(_prove_many, reader, indexes), bench.rounds)
        yield figure("prove.many.bytes", n, "bytes", len(reader.prove_many(indexes)))

    def cold() -> float:
        with place.reader() as fresh:
            return _prove_many(fresh, indexes)

    yield alone("prove.many.cold", n, "ms", cold, bench.rounds)


def _prove_many(reader: Reader, indexes: Sequence[int]) -> float:
    return seconds_of(lambda: reader.prove_many(indexes)) * 1e3


MEASURES = (
    Measure(("open", "open.rss", "open.readonly", "open.readonly.rss"), opening),
    Measure(("get.warm", "get.cold"), getting),
    Measure(("prove", "prove.bytes"), proving),
    Measure(("prove.many", "prove.many.bytes", "prove.many.cold"), proving_many),
)
