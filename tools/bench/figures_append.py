"""What remembering costs, by durability."""

from collections.abc import Iterator
from functools import partial
from itertools import count
from threading import Thread

from braid.ledger.settings import Durability
from braid.ledger.write.writer import Writer
from braid.tools.bench.context import Bench, Measure
from braid.tools.bench.floors import durable, signing
from braid.tools.bench.measure import Figure, Sample, against, per_second
from braid.tools.bench.stores import TRANSACTION, Texts
from braid.wal.durable import counts

THREADS = 8


class SyncCountError(AssertionError):
    """The log was synced more or less often than once for each durable append."""


def _single(writer: Writer, texts: Texts, numbers: Iterator[int], times: int) -> Sample:
    """Append one record `times` times, each a transaction of its own."""

    def sample() -> float:
        drafts = [texts.draft(next(numbers)) for _ in range(times)]

        def act() -> None:
            for draft in drafts:
                writer.append([draft])

        return per_second(act, times)

    return sample


def exactly_one_sync(sample: Sample, times: int) -> Sample:
    """Wrap a slice of `times` durable appends: raise SyncCountError unless the log was synced once for each."""

    def counted() -> float:
        before = counts["wal.sync"]
        rate = sample()
        if (syncs := counts["wal.sync"] - before) != times:
            raise SyncCountError(f"{syncs} fdatasyncs of the log for {times} durable appends")
        return rate

    return counted


def in_transactions(bench: Bench, n: int) -> Iterator[Figure]:
    """Transactions of a thousand, against raw signing; durable each."""
    size = min(TRANSACTION, n)
    with bench.stores.copy(n) as place, place.writer() as writer:
        numbers = count(n, size)
        batches = -(-bench.times(15_000) // size)

        def sample() -> float:
            drafts = [bench.stores.texts.drafts(next(numbers), size) for _ in range(batches)]

            def act() -> None:
                for batch in drafts:
                    writer.append(batch)

            return per_second(act, batches * size)

        sample()
        yield against(
            "append.tx1000", n, "records/s", sample, floor=signing(bench.slice_s), rounds=bench.rounds
        )


def one_by_one(bench: Bench, n: int) -> Iterator[Figure]:
    """Single records by each durability, and by eight threads at once."""
    modes: tuple[tuple[Durability, int], ...] = (("always", 3_000), ("interval", 8_000), ("none", 8_000))
    for durability, rate in modes:
        with bench.stores.copy(n, durability) as place, place.writer() as writer:
            numbers, times = count(n), bench.times(rate)
            frame = _frame_bytes(writer)
            single = _single(writer, bench.stores.texts, numbers, times)
            single()
            if durability == "always":
                floor = durable(bench.disk, frame, bench.slice_s)
                yield against(
                    "append.always",
                    n,
                    "records/s",
                    exactly_one_sync(single, times),
                    floor=floor,
                    rounds=bench.rounds,
                )
                shared = partial(_shared, writer, bench.stores.texts, numbers, bench.times(6_000))
                yield against("append.shared", n, "records/s", shared, floor=floor, rounds=bench.rounds)
            else:
                yield against(
                    f"append.{durability}",
                    n,
                    "records/s",
                    single,
                    floor=signing(bench.slice_s),
                    rounds=bench.rounds,
                )


def _shared(writer: Writer, texts: Texts, numbers: Iterator[int], times: int) -> float:
    share = -(-times // THREADS)
    work = [[texts.draft(next(numbers)) for _ in range(share)] for _ in range(THREADS)]
    failures: list[BaseException] = []

    def run(k: int) -> None:
        try:
            for draft in work[k]:
                writer.append([draft])
        except BaseException as error:  # raised below, in the thread that measures
            failures.append(error)

    threads = [Thread(target=run, args=(k,)) for k in range(THREADS)]

    def act() -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    rate = per_second(act, share * THREADS)
    if failures:
        raise failures[0]
    return rate


def _frame_bytes(writer: Writer) -> int:
    """Return the size of a frame of one record like the last."""
    _, extent = writer.log.locate(writer.size - 1)
    return 96 + 12 + extent.envelope_len + extent.body_len


MEASURES = (
    Measure(("append.tx1000",), in_transactions),
    Measure(("append.always", "append.shared", "append.interval", "append.none"), one_by_one),
)
