"""From the log into projections: replay and catch-up are one path, begun at different places (SPEC §10.2).

`catch_up` goes on from where the working file stands. It rebuilds instead, into a fresh file that takes the old
one's place, when the file can't be used, or when the past itself changed: an erasure (nothing of the erased may
stay in free pages), a key reported compromised, a vault that came or went.
"""

import gc
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from braid.ledger.errors import ErasedError
from braid.ledger.keys.control import ControlState
from braid.ledger.read.prefix import control_at, root_at
from braid.ledger.read.reader import LogEntry, Reader
from braid.ledger.read.retirement import method_retired
from braid.ledger.record.record import Record
from braid.ledger.record.standing import SUPERSEDES
from braid.views.duck.standing import Fates
from braid.views.errors import DamagedViewError
from braid.views.projection import AuthorKeyFacts, Batch, HeadFacts, Home, Projection, Stamp, TakesMade
from braid.views.status import Caught

if TYPE_CHECKING:
    from braid.views.duck.sources import RowSources

BATCH_RECORDS = 8_192
LEAST_BATCH_RECORDS = 2_048
"""A short log is cut in three, or DuckDB would wait for all of its rows, and then be waited for."""
BATCH_BYTES = 32 << 20
AGAIN_RECORDS = 4_096
ERASED = "records were erased"
_SETTLE_S = 5.0
Progress = Callable[[int, int], None]
"""Called with (records applied, records in all) after each batch."""


class SnapshotStart(NamedTuple):
    """A fresh file begun from a snapshot: None where none fits, with those that were refused."""

    projection: Projection | None
    snapshot: str = ""
    refused: tuple[str, ...] = ()


Begin = Callable[[Home, HeadFacts], SnapshotStart]
"""Begins a projection's fresh file from the newest snapshot that fits what stands."""


def begin_empty(_home: Home, _standing: HeadFacts) -> SnapshotStart:
    """Begin with nothing: from the log alone."""
    return SnapshotStart(None)


def take_standing(reader: Reader) -> HeadFacts:
    """Return the facts of the log's head as they are now.

    A writer in this process may be between a record's append and its effect on the control state; that is waited for.
    """
    deadline = time.monotonic() + _SETTLE_S
    while True:
        size = reader.size
        last = reader.envelope(size - 1)
        control = reader.control
        if control.newest == (last.index if last.is_control else last.control) or time.monotonic() > deadline:
            break
        time.sleep(0.001)
    return standing_of(reader, size, control, facts_of(control), frozenset(control.hidden))


def standing_of(
    reader: Reader, size: int, now: ControlState, keys: Mapping[str, AuthorKeyFacts], hidden: frozenset[int]
) -> HeadFacts:
    """Return how the first `size` records stand with these keys and these forgotten; erased is what is by now."""
    return HeadFacts(
        reader.origin,
        size,
        reader.vault is not None,
        hidden,
        frozenset(now.erased),
        frozenset(now.weakened),
        max(now.erasures, default=-1),
        {id: key.compromised_since for id, key in keys.items() if key.compromised_since is not None},
        keys,
    )


def standing_then(
    reader: Reader, size: int, *, include_forgotten: bool = False, since: bool = False
) -> HeadFacts:
    """Return how the first `size` records stood: erased is what is erased by now, forgotten what was then or, with
    `since`, has been since.
    """
    now, then = reader.control, control_at(reader, size)
    hidden = frozenset(then.hidden) | frozenset(now.hidden if since else ())
    return standing_of(reader, size, now, facts_of(then), frozenset() if include_forgotten else hidden)


def facts_of(control: ControlState) -> dict[str, AuthorKeyFacts]:
    """Return what the control state knows of each key."""
    return {
        id: AuthorKeyFacts(life.role, life.public, life.admitted, life.revoked, life.compromised_since)
        for id, life in list(control.keys.items())
    }


def refusal(stamp: Stamp | None, version: int, reader: Reader, standing: HeadFacts) -> str | None:
    """Return why a working file with this stamp must be rebuilt, or None when it can go on."""
    if stamp is None:
        return "it was never finished"
    return (
        (stamp.version != version and f"it is of version {stamp.version}, this release makes {version}")
        or (stamp.origin != standing.origin and f"it belongs to {stamp.origin}")
        or (
            stamp.position > standing.size and f"it is ahead of the log ({stamp.position} of {standing.size})"
        )
        or (stamp.root != root_at(reader, stamp.position) and "it was made from another log")
        or (stamp.sealed != standing.sealed and "the vault came or went")
        or (stamp.disputed != dict(standing.disputed) and "a key was reported compromised")
        or (standing.last_erasure >= stamp.position and ERASED)
        or None
    )


def catch_up(
    reader: Reader,
    home: Home,
    *,
    begin: Begin = begin_empty,
    standing: HeadFacts | None = None,
    progress: Progress | None = None,
) -> Caught:
    """Bring a projection to the log's end, rebuilding it where it must be; the caller holds the view's lock.

    `standing` is the head to go to, where it was taken before.
    """
    standing = standing or take_standing(reader)
    try:
        projection = home.open()
    except DamagedViewError as error:
        return replay(reader, home, str(error), begin=begin, standing=standing, progress=progress)
    again = 0
    try:
        stamp = projection.stamp
        before = stamp.position if stamp else 0
        why = refusal(stamp, home.version, reader, standing)
        if why is None:
            try:
                again = feed(projection, reader, standing, home.version, progress)
            except DamagedViewError as error:
                why = str(error)
    finally:
        projection.close()
    if why == ERASED and stamp is not None:
        try:
            return _shed(reader, home, standing, stamp, progress)
        except DamagedViewError as error:
            why = str(error)
    if why is not None:
        return replay(reader, home, why, begin=begin, standing=standing, progress=progress)
    return Caught(home.name, before, standing.size, None, again)


def _shed(reader: Reader, home: Home, standing: HeadFacts, stamp: Stamp, progress: Progress | None) -> Caught:
    """Rebuild a projection without what was erased since its stamp: the rest of its rows are as they were.

    Into a fresh file, as every rebuild: pages of the old one may hold what is gone.
    """
    control, position = reader.control, stamp.position
    gone = [index for index, by in control.erased.items() if by >= position > index]
    weakened = [index for index, by in control.weakened.items() if by >= position > index]
    projection = home.fresh_without(gone)
    try:
        fates = fates_of(projection, reader, standing)
        touched = fates.touched(gone, position) if fates else ()
        again = load(reader, sorted({*gone, *weakened, *touched}), erased=True)
        sources = sources_of(projection, reader)
        then = fates.of([], again) if fates else standing
        then = sources.told(then, again) if sources else then
        projection.apply(Batch([], again, then, stamp))
        made = feed(projection, reader, standing, home.version, progress)
    finally:
        projection.close()
    home.swap()
    return Caught(home.name, position, standing.size, ERASED, len(again) + made)


def replay(
    reader: Reader,
    home: Home,
    why: str = "asked for",
    *,
    begin: Begin = begin_empty,
    standing: HeadFacts | None = None,
    progress: Progress | None = None,
) -> Caught:
    """Rebuild a projection into a fresh file and put it in place: from a snapshot and what came after it where `begin`
    has one, else from the log alone. The lock is the caller's.
    """
    standing = standing or take_standing(reader)
    begun = begin(home, standing)
    projection = begun.projection or home.fresh()
    # Dying from here on: a fresh file lies about that the next rebuild removes; the old one is as it was.
    try:
        again = feed(projection, reader, standing, home.version, progress, workers=True)
    finally:
        projection.close()
    home.swap()
    return Caught(home.name, 0, standing.size, why, again, begun.snapshot, begun.refused)


def feed(
    projection: Projection,
    reader: Reader,
    standing: HeadFacts,
    version: int,
    progress: Progress | None = None,
    *,
    workers: bool = False,
) -> int:
    """Apply what lies between the projection's position and the standing's size; return how many were made again.

    With `workers`, other processes may make the rows of a projection that holds nothing yet.
    """
    again = 0
    start = projection.stamp.position if projection.stamp else 0
    fates, sources = fates_of(projection, reader, standing), sources_of(projection, reader)
    if fates and start == 0:
        standing, fates = fates.all(), None
    with _no_collections():
        if workers and start == 0 and isinstance(projection, TakesMade):
            from braid.views.duck import workers as crew  # with pyarrow, which this projection stands on

            for made in crew.made_by_workers(reader, standing, version):
                projection.take(made)
                start = made.stamp.position
                if progress:
                    progress(start, standing.size)
        for batch in batches(reader, start, standing, version, fates, sources=sources):
            projection.apply(batch)
            again += len(batch.again)
            if progress:
                progress(batch.stamp.position, standing.size)
        projection.finish()
    return again


def fates_of(projection: Projection, reader: Reader, standing: HeadFacts) -> Fates | None:
    """Return what judges the records of a projection whose rows tell how they stand; None for any other."""
    return Fates(reader, standing) if isinstance(projection, TakesMade) else None


def sources_of(projection: Projection, reader: Reader) -> "RowSources | None":
    """Return what says whose words records are, for a projection whose rows tell it."""
    if not isinstance(projection, TakesMade):
        return None
    from braid.views.duck.sources import RowSources  # its rules of words take a while to load

    return RowSources(reader)


@contextmanager
def _no_collections() -> Generator[None]:
    """Pause the cycle collector: it would walk a batch's hundred thousand values again and again, and find none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def batches(
    reader: Reader,
    start: int,
    standing: HeadFacts,
    version: int,
    fates: Fates | None = None,
    *,
    sources: "RowSources | None" = None,
) -> Iterator[Batch]:
    """Yield the log from `start` in whole transactions, some thousands of records at a time.

    `fates` judges what is made, where the standing does not hold all fates already and rows tell them; `sources` says
    whose words it is.
    """
    entries: list[LogEntry] = []
    weight = 0
    most = min(max((standing.size - start) // 3, LEAST_BATCH_RECORDS), BATCH_RECORDS)

    def stamp(position: int) -> Stamp:
        root = root_at(reader, position)
        return Stamp(version, standing.origin, position, root, standing.sealed, dict(standing.disputed))

    def batch(new: list[LogEntry], earlier: list[int], position: int) -> Batch:
        again = load(reader, earlier)
        then = fates.of(new, again) if fates else standing
        return Batch(new, again, sources.told(then, new, again) if sources else then, stamp(position))

    def cut() -> Iterator[Batch]:
        # Records from `start` on are made with this very standing: only earlier ones can have changed since.
        changed = sorted(_changed(entries, start, standing, fates))
        first = entries[0].record.envelope.index
        while len(changed) > AGAIN_RECORDS:
            # Ahead of their tombstone, so that a crash in between repeats them.
            some, changed = changed[:AGAIN_RECORDS], changed[AGAIN_RECORDS:]
            yield batch([], some, first)
        yield batch(entries, changed, entries[-1].record.envelope.index + 1)

    for transaction in reader.entries(start, standing.size):
        entries += transaction
        weight += sum(entry.record.envelope.body[1] for entry in transaction)
        if len(entries) >= most or weight >= BATCH_BYTES:
            yield from cut()
            entries, weight = [], 0
    if entries:
        yield from cut()


def _changed(entries: list[LogEntry], start: int, standing: HeadFacts, fates: Fates | None) -> set[int]:
    """Return the records before `start` whose rows change with `entries`: by control records and, where rows tell how
    records stand, by corrections and by the retirement of a reader.
    """
    changed: set[int] = set()
    reached: set[int] = set()
    for entry in entries:
        envelope = entry.record.envelope
        reached.update(link.index for link in entry.record.links if link.role == SUPERSEDES)
        if not envelope.public:
            continue
        if method_retired(envelope):
            reached.add(envelope.index)
        op = envelope.public.get("op")
        if envelope.kind == "tombstone" and op in ("forget", "recover"):
            changed.update(link.index for link in entry.record.links if link.role == "target")
        elif envelope.kind == "key" and op == "revoke":
            changed.add(standing.keys[str(envelope.public["id"])].admitted)
    if fates:
        changed |= fates.touched(reached | changed, start)
    return {index for index in changed if index < start}


def load(reader: Reader, indexes: list[int], *, erased: bool = False) -> list[LogEntry]:
    """Return earlier records, forgotten ones too. Without `erased`, an erased one is left to the rebuild that its
    erasure brings; with it, what is left of it is returned.
    """
    entries: list[LogEntry] = []
    for index in indexes:
        try:
            record = reader.at(index, include_forgotten=True)
        except ErasedError:
            if erased:
                left = Record(
                    reader.envelope(index), reader.links(index), None, reader.stored_envelope(index)
                )
                entries.append(LogEntry(left, None))
            continue
        entries.append(LogEntry(record, reader.vault.key(index).row if reader.vault else None))
    return entries
