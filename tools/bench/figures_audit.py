"""What checking everything costs."""

from collections.abc import Iterator
from functools import partial

from braid.tools.bench.context import Bench, Measure
from braid.tools.bench.floors import CORES
from braid.tools.bench.measure import Figure, Floor, against, per_second
from braid.tools.bench.stores import Place


class UncleanError(AssertionError):
    """The store that is measured has findings."""


def verifying(bench: Bench, n: int) -> Iterator[Figure]:
    """Every signature on all cores; then hashes only."""
    place = bench.stores.of(n)
    rounds = bench.rounds if n <= 100_000 else 1
    for name, act, unit, hash_only in (
        ("verify.full", "verify", "records/s", False),
        ("verify.hash", "leaf", "envelopes/s", True),
    ):
        label = "raw verify" if act == "verify" else "SHA-256 of a leaf and a node"
        floor = Floor(f"{label} × {CORES} processes", partial(bench.cores.rate, act, bench.slice_s))
        bench.told(f"verifying {n:,} records")
        yield against(name, n, unit, partial(_verify, place, hash_only), floor=floor, rounds=rounds)


def _verify(place: Place, hash_only: bool) -> float:
    from braid.ledger.audit.verify import verify  # a program of its own, which most runs don't need

    def act() -> None:
        report = verify(place.path, guard=place.guard, hash_only=hash_only)
        if report.findings:
            raise UncleanError(str(report.findings[0]))

    return per_second(act, place.n)


MEASURES = (Measure(("verify.full", "verify.hash"), verifying),)
