"""What checking everything costs."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from braid.tools.bench.context import Bench, Measure
from braid.tools.bench.floors import CORES
from braid.tools.bench.measure import Figure, Floor, against, per_second, seconds_of
from braid.tools.bench.stores import TRANSACTION, Place

if TYPE_CHECKING:
    from braid.ledger.audit.findings import VerifiedState


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


def since(bench: Bench, n: int) -> Iterator[Figure]:
    """The last hundredth of the log, after an audit of what was before: its time against that of the whole."""
    from braid.ledger.audit.verify import verify

    tail = max(1, n // 100)
    with bench.stores.copy(n) as place:
        state = verify(place.path, guard=place.guard).state
        with place.writer() as writer:
            for first in range(0, tail, TRANSACTION):
                writer.append(bench.stores.texts.drafts(n + first, min(TRANSACTION, tail - first)))
        bench.told(f"verifying {tail:,} of {n + tail:,} records")
        whole = Floor("an audit of the whole log", partial(_audited, place))
        rounds = bench.rounds if n <= 100_000 else 1
        yield against("verify.since", n, "ms", partial(_audited, place, state), floor=whole, rounds=rounds)


def _audited(place: Place, state: "VerifiedState | None" = None) -> float:
    """Return the milliseconds of an audit, of all or of what came since."""
    from braid.ledger.audit.verify import verify

    def act() -> None:
        report = verify(place.path, guard=place.guard, since=state)
        if report.findings or (state is not None and not report.verified_from):
            raise UncleanError(str(report.findings[:1]))

    return seconds_of(act) * 1e3


def _verify(place: Place, hash_only: bool) -> float:
    from braid.ledger.audit.verify import verify  # a program of its own, which most runs don't need

    def act() -> None:
        report = verify(place.path, guard=place.guard, hash_only=hash_only)
        if report.findings:
            raise UncleanError(str(report.findings[0]))

    return per_second(act, place.n)


MEASURES = (
    Measure(("verify.full", "verify.hash"), verifying),
    Measure(("verify.since",), since),
)
