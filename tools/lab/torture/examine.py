"""The look at what is left after a round: all that was acknowledged is there, nothing half is, nothing contradicts."""

from datetime import UTC, datetime
from pathlib import Path

import braid
from braid.ledger.read.prefix import root_at
from braid.ledger.repair.derived_files import examine as diagnose
from braid.ledger.settings import load_settings
from braid.ledger.tree.guard import Guard
from braid.tools.lab.torture.errors import TortureError
from braid.tools.lab.torture.told import Told
from braid.tools.lab.torture.words import is_whole


def examine(path: Path, guard: Path, told: Told, *, views: bool = True) -> int:
    """Look at a wreck: the guard, a reader, a writer, which makes good what is left; return how many records stand.

    `views`: whether projections are compared with a replay too.

    Raises TortureError for what must not be, and whatever opening and reading raise.
    """
    _guard_is_ahead(path, guard, told)
    last = _as_a_reader_finds_it(path, guard, told)

    def clock() -> datetime:  # the machine's may have been set back for good
        return max(datetime.now(UTC), last)

    with braid.open(path, create=False, guard_dir=guard, clock=clock) as store:
        _whole_and_all_there(store, told)
        _gone_and_hidden(store, told)
        _heads_are_ours(store, told)
        if views:
            _projection_is_a_replay(store)
        report = store.verify(deep=True)
        if report.exit_code:
            raise TortureError(f"verify: {[*map(str, report.findings), *report.could_not_look][0]}")
        size = len(store)
    head = Guard.of_store(load_settings(path).store_id, guard).read()
    if head is None or head.size != size:
        raise TortureError(f"{size} records, and the guard remembers {head and head.size} after closing")
    # A full disk may have used up the reserve, a small one is small, a clock that ran ahead is back: no damage.
    for problem in diagnose(path, Guard.of_store(load_settings(path).store_id, guard)):
        if problem.name not in ("reserve", "space", "clock"):
            raise TortureError(f"doctor: {problem.name}: {problem.detail}")
    return size


def _guard_is_ahead(path: Path, guard: Path, told: Told) -> None:
    """Guard first, then the head (SPEC §5.4): nobody may have seen a published head that the guard has not."""
    head = Guard.of_store(load_settings(path).store_id, guard).read()
    seen = max(told.heads, default=(0, ""))[0]
    if head is None or head.size < seen:
        raise TortureError(
            f"a head of {seen} records was published, the guard remembers {head and head.size}"
        )


def _as_a_reader_finds_it(path: Path, guard: Path, told: Told) -> datetime:
    """Read the wreck before any writer has touched it; return the time of its last record."""
    with braid.open(path, read_only=True, guard_dir=guard) as store:
        there = {envelope.id for envelope, _ in store.reader.envelopes()}
        if lost := told.said("appended") - there:
            raise TortureError(f"a reader misses {len(lost)} acknowledged records, such as {min(lost)}")
        return datetime.fromisoformat(store.reader.envelope(len(store) - 1).created_at)


def _whole_and_all_there(store: "braid.Store", told: Told) -> None:
    there: set[str] = set()
    for entries in store.reader.entries():
        for record, _ in entries:
            there.add(record.id)
            _, place, count = record.envelope.tx
            if (
                record.kind == "experience"
                and record.index not in store.reader.control.erased
                and not is_whole(record.text, place, count)
            ):
                raise TortureError(f"{record.id} reads {record.text[:60]!r} at {place} of {count}")
    if lost := told.said("appended") - there:
        raise TortureError(f"{len(lost)} acknowledged records are lost, such as {min(lost)}")
    for key, ids in told.once.items():
        if len(ids - told.said("erasing")) > 1:
            raise TortureError(f"{key} stands for {len(ids)} records: {', '.join(sorted(ids))}")


def _gone_and_hidden(store: "braid.Store", told: Told) -> None:
    control = store.reader.control
    if control.unfinished():
        raise TortureError(f"the erasure of record {control.unfinished()[0]} was not finished by opening")
    erased = {store.reader.envelope(index).id for index in control.erased}
    if kept := told.said("erased") - erased:
        raise TortureError(f"{min(kept)} was erased and is back")
    if strange := erased - told.said("erasing"):
        raise TortureError(f"{min(strange)} was erased by nobody")
    hidden = {store.reader.envelope(index).id for index in control.hidden}
    if strange := hidden - told.said("hiding"):
        raise TortureError(f"{min(strange)} was forgotten by nobody")
    if shown := told.said("hidden") - told.said("recovering", "erasing") - hidden:
        raise TortureError(f"{min(shown)} was forgotten and is back")


def _heads_are_ours(store: "braid.Store", told: Told) -> None:
    """Every head that a reader was shown is one of this log's own: none was signed over a history that went."""
    for size, root in sorted(told.heads):
        if size > len(store) or root_at(store.reader, size) != root:
            raise TortureError(f"a head of {size} records was published that this log contradicts")


def _projection_is_a_replay(store: "braid.Store") -> None:
    """What catching up has made, over all crashes, is what a replay makes of nothing but the log."""
    store.views.catch_up()
    followed, links = store.views.status()[0].digest, _links(store)
    store.replay()
    anew = store.views.status()[0].digest
    if followed is None or followed != anew:
        raise TortureError(f"the projection's digest is {followed}, a replay's is {anew}")
    if links != _links(store):
        raise TortureError("the catalogue of links is not what a replay makes of the log")


def _links(store: "braid.Store") -> list[list[tuple[int, str, str]]]:
    return [store.views.catalog.children(index) for index in range(len(store))]
