"""What the projections cost: rebuilding, following, asking for a braid."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from braid.ledger.record.record import Draft
from braid.tools.bench.context import Bench, Measure
from braid.tools.bench.floors import raw
from braid.tools.bench.measure import Figure, Floor, against, alone, per_second, seconds_of
from braid.tools.bench.stores import Place, Texts

if TYPE_CHECKING:
    from braid.store import Store

GENERATIONS = 8


def replaying(bench: Bench, n: int) -> Iterator[Figure]:
    """Rebuild the DuckDB projection from the log; then follow single appends."""
    with bench.stores.copy(n) as place, _opened(place) as store:
        bench.told(f"replaying {n:,} records")
        floor = Floor("raw XChaCha20-Poly1305 open, one core", partial(raw, "aead.open", bench.slice_s))
        rounds = bench.rounds if n <= 100_000 else 1
        yield against("replay.duckdb", n, "records/s", partial(_replay, store, n), floor=floor, rounds=rounds)
        scratch = Floor(
            "a replay of all from the log alone", partial(_replay_all, store, n, from_scratch=True)
        )
        store.snapshot()
        bench.told(f"replaying {n:,} records from a snapshot")
        all_ = partial(_replay_all, store, n, from_scratch=False)
        yield against("replay.snapshot", n, "records/s", all_, floor=scratch, rounds=1)
        store.views.sql("SELECT 1")
        yield alone(
            "catch_up.one", n, "ms", partial(_follow, store, bench.stores.texts, n, 1), max(3, bench.rounds)
        )
        yield alone(
            "catch_up.record", n, "ms", partial(_follow, store, bench.stores.texts, n, 500), bench.rounds
        )


def _replay(store: "Store", n: int) -> float:
    return per_second(partial(store.replay, "duck"), n)


def _replay_all(store: "Store", n: int, *, from_scratch: bool) -> float:
    return per_second(partial(store.replay, from_scratch=from_scratch), n)


def _follow(store: "Store", texts: Texts, n: int, count: int) -> float:
    """Return milliseconds a record that a query waits for `count` records appended just before."""
    store.session.append_drafts(texts.drafts(n, count))
    return seconds_of(partial(store.views.sql, "SELECT 1")) * 1e3 / count


def tracing(bench: Bench, n: int) -> Iterator[Figure]:
    """The braid of a record: eight generations, two parents each, at the end of the log."""
    with bench.stores.copy(n) as place, _opened(place) as store:
        ids = [store.session.append_drafts([bench.stores.texts.draft(n + k)])[0].id for k in range(2)]
        for k in range(GENERATIONS):
            draft = bench.stores.texts.draft(n + 2 + k)
            parents = [("parent", id) for id in ids[-2:]]
            drawn = Draft(kind=draft.kind, type="inference", body=draft.body, links=parents)
            ids.append(store.session.append_drafts([drawn])[0].id)
        store.trace(ids[0])
        yield alone(
            "trace", n, "ms", lambda: seconds_of(partial(store.trace, ids[-1])) * 1e3, max(3, bench.rounds)
        )


def _opened(place: Place) -> "Store":
    from braid.entry import open as open_store  # with DuckDB behind it

    return open_store(place.path, guard_dir=place.guard_dir, create=False)


MEASURES = (
    Measure(("replay.duckdb", "replay.snapshot", "catch_up.one", "catch_up.record"), replaying),
    Measure(("trace",), tracing),
)
