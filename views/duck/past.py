"""The DuckDB projection as it was: of a prefix of the log, less what has been erased by now (SPEC §10.9).

    views/duck/past-<records>-<last erasure + 1>-<hex>.duckdb    a file that nobody writes to

Made from the nearest file that is there (the newest generation, another past) or from nothing, by the code that
replays and catches up; kept until the newer ones fill `KEPT_BYTES`, or an erasure takes them all.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from blake3 import blake3

from braid.ledger.read.prefix import root_at
from braid.ledger.read.reader import Reader
from braid.views.duck.generations import DuckHome, copy_file, remove_file, require_whole
from braid.views.duck.schema import VERSION
from braid.views.duck.sources import RowSources
from braid.views.duck.standing import Fates
from braid.views.errors import DamagedViewError
from braid.views.projection import Batch, HeadFacts, Stamp
from braid.views.replay import Progress, feed, load, standing_then
from braid.views.values import microseconds
from braid.wal.failpoint import failpoint

if TYPE_CHECKING:  # DuckDB and Arrow are loaded when a file is opened
    from braid.views.duck.past_file import PastFile

KEPT_BYTES: Final = 2 << 30
_NAME: Final = re.compile(r"past-(\d+)-(\d+)-([0-9a-f]+)\.duckdb")
_NO_HISTORY: Final = Path(os.devnull)
"""Heads are put in at the end: the history of the store goes beyond the past."""


class Past(msgspec.Struct, frozen=True):
    """Which past: the first `size` records; of them, what had happened and held at `valid_at`."""

    size: int
    include_forgotten: bool = False
    """What was forgotten then, or has been since, is shown all the same."""
    valid_at: datetime | None = None


class _Source(NamedTuple):
    """A file that a past can be made from: its first `size` records, as they stood."""

    path: Path
    size: int
    standing: HeadFacts


class Pasts:
    """The past files of a store; whoever calls holds the view's lock."""

    def __init__(self, reader: Reader, home: DuckHome) -> None:
        self._reader = reader
        self._home = home
        self._seals = home.seals

    def path(self, past: Past) -> Path:
        """Return where the file of this past lies, or would lie."""
        control = self._reader.control
        erasures = 1 + max(control.erasures, default=-1)
        since: frozenset[int] = frozenset() if past.include_forgotten else frozenset(control.hidden)
        seen = (
            VERSION,
            sorted(control.erased),
            sorted(since),
            past.include_forgotten,
            self._reader.vault is not None,
            None if past.valid_at is None else microseconds(past.valid_at),
        )
        tag = blake3(msgspec.msgpack.encode(seen)).hexdigest(length=8)
        return self._home.folder / f"past-{past.size:012d}-{erasures:012d}-{tag}.duckdb"

    def make(self, past: Past, progress: Progress | None = None) -> Path:
        """Return the file of this past, made where it is not there yet.

        Raises DamagedViewError when it can't be written. Dying on the way leaves a file that the next one removes.
        """
        path = self.path(past)
        self._drop_older_than_erasures()
        if path.exists() and self._seals.holds(path):
            os.utime(path)  # used now: the last to go
            self._seals.closed(path, past.size, whole=False)
            return path
        new = self._home.folder / "past.new.duckdb"
        remove_file(new)
        try:
            if past.valid_at is None:
                self._build(past, new, progress)
            else:
                whole = msgspec.structs.replace(past, valid_at=None)
                with self._seals.opened(self.make(whole, progress)) as held:
                    copy_file(held, new)
                self._narrow(new, past.valid_at)
            require_whole(new)
        except BaseException:
            remove_file(new)
            raise
        failpoint("views.past")
        # Dying here: `past.new.duckdb` lies about; the next one removes it.
        remove_file(path)  # with the seal of what was there
        new.replace(path)
        # Dying here: a past without a seal, which the next one makes again.
        self._seals.closed(path, past.size, whole=False)
        with suppress(OSError):  # on a full disk: this process believes it, the next one makes it again
            self._seals.seal(path, past.size)
        self._drop_oldest(path)
        return path

    def _files(self) -> list[Path]:
        return sorted(self._home.folder.glob("past-*.duckdb"), key=lambda path: path.stat().st_mtime_ns)

    def _drop_older_than_erasures(self) -> None:
        erasures = 1 + max(self._reader.control.erasures, default=-1)
        for path in self._files():
            name = _NAME.fullmatch(path.name)
            if name is None or int(name[2]) < erasures:
                remove_file(path)

    def _drop_oldest(self, keep: Path) -> None:
        """Remove those that were used longest ago until the rest fits."""
        held = 0
        for path in reversed(self._files()):
            held += path.stat().st_size
            if held > KEPT_BYTES and path != keep:
                remove_file(path)

    # -- building ---------------------------------------------------------------------------------

    def _build(self, past: Past, new: Path, progress: Progress | None) -> None:
        """Make the whole past, without regard to what was valid when."""
        from braid.views.duck.past_file import PastFile

        target = standing_then(self._reader, past.size, include_forgotten=past.include_forgotten, since=True)
        view = self._begin(past, target, new) or PastFile.create(new, _NO_HISTORY)
        try:
            feed(view, self._reader, target, VERSION, progress)
            view.set_heads(self._reader.path / "checkpoints", past.size)
        finally:
            view.close()

    def _begin(self, past: Past, target: HeadFacts, new: Path) -> "PastFile | None":
        """Copy the nearest file and bring what it shares with the past into its state; None where none is near."""
        from braid.views.duck.past_file import PastFile

        near = min(self._sources(past, target), key=lambda one: abs(one.size - past.size), default=None)
        if near is None or abs(near.size - past.size) >= past.size:
            return None
        try:
            with self._seals.opened(near.path) as held:
                copy_file(held, new)
            view = PastFile.open(new, _NO_HISTORY)
        except DamagedViewError:
            remove_file(new)
            return None
        try:
            stamp = view.stamp
            if stamp is None or (stamp.version, stamp.root) != (VERSION, root_at(self._reader, near.size)):
                view.close()
                remove_file(new)
                return None
            shared = min(near.size, past.size)
            fates, other = Fates(self._reader, target), near.standing
            unlike = target.hidden ^ other.hidden | set(
                fates.reaching_back(shared, max(near.size, past.size))
            )
            changed = _differing(other, target, shared) | fates.touched(unlike, shared)
            again = load(self._reader, sorted(changed))
            then = RowSources(self._reader).told(fates.of([], again), again)
            view.turn_back(Batch([], again, then, self._stamp(target, shared)))
        except BaseException:
            view.close()
            raise
        return view

    def _sources(self, past: Past, target: HeadFacts) -> Iterator[_Source]:
        """Yield the files that differ from this past in some records only: a later dispute touches them all.

        What other processes have made of records that this reader has not followed yet is no use to it.
        """
        found: list[_Source] = []
        known = self._reader.size
        wanted = _NAME.fullmatch(self.path(past).name)
        for path in self._files():
            name = _NAME.fullmatch(path.name)
            if wanted and name and wanted.groups()[1:] == name.groups()[1:] and int(name[1]) <= known:
                size = int(name[1])
                standing = standing_then(
                    self._reader, size, include_forgotten=past.include_forgotten, since=True
                )
                found.append(_Source(path, size, standing))
        newest = self._home.current()
        if newest and target.last_erasure < newest[1] <= known:
            path, size = newest
            found.append(_Source(path, size, standing_then(self._reader, size)))
        return (one for one in found if one.standing.disputed == target.disputed)

    def _stamp(self, standing: HeadFacts, size: int) -> Stamp:
        root = root_at(self._reader, size)
        return Stamp(VERSION, standing.origin, size, root, standing.sealed, dict(standing.disputed))

    @staticmethod
    def _narrow(path: Path, valid_at: datetime) -> None:
        from braid.views.duck.past_file import PastFile

        view = PastFile.open(path, _NO_HISTORY)
        try:
            view.narrow(microseconds(valid_at))
        finally:
            view.close()


def _differing(one: HeadFacts, other: HeadFacts, below: int) -> set[int]:
    """Return the records under `below` whose rows differ between two standings."""
    changed = set(one.hidden ^ other.hidden) | set(one.weakened ^ other.weakened)
    for id in one.keys.keys() & other.keys.keys():
        if one.keys[id] != other.keys[id]:
            changed.add(one.keys[id].admitted)
    return {index for index in changed if index < below}
