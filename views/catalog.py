"""The catalogue: who refers to a record, which turns stand next to it, and which record has a key that makes repeating
harmless (SPEC §10.8).

The first and the last are needed in the writer's path and by an erasure's cascade, so they live apart from DuckDB, in
SQLite. What this process appends it remembers; the file follows in bulk, through the same catch-up as every projection,
so a lost memory costs a second look at the log's tail.
"""

import sqlite3
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, Final

import msgspec

from braid.ledger.reader import Reader
from braid.ledger.scopechain import Last, ScopeKey, chain_of
from braid.views.catalog_file import (
    VERSION,
    CatalogHome,
    connected,
    key_hash,
    once_of,
    read_stamp,
    scope_hash,
)
from braid.views.errors import DamagedViewError, ViewBusyError, ViewError
from braid.views.projection import Standing
from braid.views.replay import Begin, Caught, begin_empty, catch_up, refusal, replay, take_standing
from braid.wal.durable import is_unwritable, make_folder
from braid.wal.errors import LogLockedError
from braid.wal.lock import FileLock

FLUSH_RECORDS: Final = 5_000
"""How many records may lie between the file and the log's end before the file follows."""
LOCK_WAIT_S: Final = 30.0
_ASK: Final = 500


class Catalog:
    """Reverse links and known keys of one store, up to the log's end. Implements the writer's `KnownKeys`."""

    def __init__(self, folder: Path, reader: Reader, begin: Begin = begin_empty) -> None:
        """`folder` is the store's `views`; `begin` begins a rebuild."""
        self._home = CatalogHome(folder, reader)
        self._begin = begin
        self._reader = reader
        self._lock = FileLock(folder / "catalog.lock")
        self._turn = RLock()
        self._con: sqlite3.Connection | None = None
        self._inode = 0
        self._covered = 0
        """The file and `_recent` together know the log up to here."""
        self._stands_at = 0
        """The file alone knows it up to here."""
        self.lag = 0
        """How many records the file lacks because it can't be written here."""
        self._recent: dict[bytes, int] = {}
        self._recent_scopes: dict[bytes, list[Last]] = {}
        self._erasure = -1

    @contextmanager
    def _locked(self) -> Generator[None]:
        with self._turn:
            make_folder(self._home.folder)
            try:
                self._lock.acquire(LOCK_WAIT_S)
            except LogLockedError:
                raise ViewBusyError(
                    f"{self._home.path}: another process is rebuilding it; try again shortly"
                ) from None
            try:
                yield
            finally:
                self._lock.release()

    def catch_up(self) -> Caught:
        """Bring the file to the log's end; where nothing can be written, go on with it as it stands."""
        try:
            with self._locked():
                return self._follow(catch_up(self._reader, self._home, begin=self._begin))
        except OSError as error:
            if not is_unwritable(error):
                raise
            return self._take_as_it_stands(error)

    def follow(self) -> None:
        """Bring the file to the log's end, unless it is there."""
        with self._turn:
            if self._is_stale() or self._stands_at < self._reader.size:
                self.catch_up()

    def replay(self, why: str = "asked for", *, begin: Begin = begin_empty) -> Caught:
        """Rebuild the file, from the log unless `begin` has more."""
        with self._locked():
            return self._follow(replay(self._reader, self._home, why, begin=begin))

    @contextmanager
    def standing_at(self, standing: Standing) -> Generator[CatalogHome]:
        """Bring the file to a head, and let nobody write to it meanwhile."""
        with self._locked():
            self._follow(catch_up(self._reader, self._home, begin=self._begin, standing=standing))
            yield self._home

    def _take_as_it_stands(self, error: OSError) -> Caught:
        """Read from a file that can't follow the log here; raise OSError for one that may not be read any more."""
        standing = take_standing(self._reader)
        try:
            with closing(connected(f"{self._home.path.absolute().as_uri()}?mode=ro", "opened")) as con:
                stamp = read_stamp(con)
            why = refusal(stamp, VERSION, self._reader, standing)
        except (DamagedViewError, sqlite3.DatabaseError, msgspec.MsgspecError):
            stamp, why = None, "there is none"
        if stamp is None or why is not None:
            raise OSError(
                error.errno,
                f"{error.strerror}, and the catalogue has to be made there first ({why}): "
                "ask once with write access, or ask a copy of the store",
                error.filename,
            ) from error
        caught = self._follow(Caught(self._home.name, stamp.position, stamp.position, None))
        self.lag = standing.size - stamp.position
        return caught

    def _follow(self, caught: Caught) -> Caught:
        """Read from the file as it is now."""
        self._forget()
        self._con = connected(f"{self._home.path.absolute().as_uri()}?mode=ro", "opened")
        self._inode = self._home.path.stat().st_ino
        self._covered = self._stands_at = caught.position
        self._erasure = self._newest_erasure()
        self.lag = 0
        return caught

    def _forget(self) -> None:
        if self._con is not None:
            self._con.close()
        self._con, self._covered, self._stands_at = None, 0, 0
        self._recent.clear()
        self._recent_scopes.clear()

    def _newest_erasure(self) -> int:
        return max(self._reader.control.erasures, default=-1)

    def _is_stale(self) -> bool:
        if self._con is None or self._erasure != self._newest_erasure() or self._covered > self._reader.size:
            return True
        try:
            return self._home.path.stat().st_ino != self._inode
        except FileNotFoundError:
            return True

    def children(self, index: int) -> list[tuple[int, str, str]]:
        """Return (index, id, role) of every link to the record, forgotten and erased referrers too, by log index."""
        with self._turn:
            self.follow()
            # Another process may have brought the file further than this reader has looked.
            rows = self._ask(
                "SELECT child, role FROM links WHERE parent = ? AND child < ? ORDER BY child, k",
                [index, self._reader.size],
            )
        return [(child, self._reader.envelope(child).id, role) for child, role in rows]

    def referring(self, index: int, role: str, most: int, below: int) -> list[int]:
        """Return the newest records below a log index that link to this one in a role, at most so many, newest first;
        forgotten and erased ones too. What stands behind the file is not among them: catch up first."""
        with self._turn:
            if self._is_stale():
                self.catch_up()
            rows = self._ask(
                "SELECT DISTINCT child FROM links WHERE parent = ? AND role = ? AND child < ?"
                " ORDER BY child DESC LIMIT ?",
                [index, role, below, most],
            )
        return [child for (child,) in rows]

    def before(self, indexes: Sequence[int]) -> dict[int, int]:
        """Return the turn before each of these in its session, whatever lies between them in the log."""
        return self._beside(indexes, "max", "<")

    def after(self, indexes: Sequence[int]) -> dict[int, int]:
        """Return the turn after each of these in its session."""
        return self._beside(indexes, "min", ">")

    def _beside(self, indexes: Sequence[int], nearest: str, side: str) -> dict[int, int]:
        found: dict[int, int] = {}
        with self._turn:
            self.follow()
            for at in range(0, len(indexes), _ASK):
                some = list(indexes[at : at + _ASK])
                marks = ",".join("?" * len(some))
                rows = self._ask(
                    f"SELECT here.log_index, (SELECT {nearest}(log_index) FROM turns WHERE session = here.session"  # noqa: S608 - words of this module and marks only
                    f" AND log_index {side} here.log_index) FROM turns AS here WHERE here.log_index IN ({marks})",
                    some,
                )
                found |= {index: other for index, other in rows if other is not None}
        return found

    def find(self, keys: Sequence[str]) -> dict[str, int]:
        """Return the index of each key that a record in the log has, up to its present end; an erased one has none."""
        lookup_key = self._reader.need_vault().lookup_key
        with self._turn:
            self._cover()
            hashes = {key_hash(lookup_key, key): key for key in keys}
            found = {hashes[hash_]: self._recent[hash_] for hash_ in hashes if hash_ in self._recent}
            wanted = list(hashes)
            for at in range(0, len(wanted), _ASK):
                some = wanted[at : at + _ASK]
                marks = ",".join("?" * len(some))
                rows = self._ask(f"SELECT hash, log_index FROM keys WHERE hash IN ({marks})", some)  # noqa: S608 - marks only
                found |= {hashes[hash_]: index for hash_, index in rows}
            return {key: index for key, index in found.items() if index not in self._reader.control.erased}

    def add(self, keys: dict[str, int]) -> None:
        """Remember the keys of records that were just appended here."""
        if not keys or self._reader.vault is None:
            return
        lookup_key = self._reader.vault.lookup_key
        with self._turn:
            for key, index in keys.items():
                self._recent.setdefault(key_hash(lookup_key, key), index)
            indexes = sorted(keys.values())
            if indexes[0] == self._covered and indexes[-1] - indexes[0] == len(indexes) - 1:
                self._covered = indexes[-1] + 1

    def last_of(self, scopes: Collection[ScopeKey]) -> dict[ScopeKey, Last]:
        """Return the newest living record of each scope, up to the log's present end (SPEC §4.8)."""
        lookup_key = self._reader.need_vault().lookup_key
        erased = self._reader.control.erased
        found: dict[ScopeKey, Last] = {}
        with self._turn:
            self._cover()
            for scope in scopes:
                hash_ = scope_hash(lookup_key, scope)
                recent = [one for one in self._recent_scopes.get(hash_, ()) if one.at not in erased]
                if not recent:
                    rows = self._ask(
                        "SELECT count, log_index FROM scopes WHERE hash = ? ORDER BY log_index DESC LIMIT 1",
                        [hash_],
                    )
                    recent = [Last(*row) for row in rows]
                if recent:
                    found[scope] = recent[-1]
        return found

    def note(
        self, first: int, count: int, keys: dict[str, int], scopes: Mapping[ScopeKey, Sequence[Last]]
    ) -> None:
        """Remember the keys and scopes of records that were just appended here, so that none is read again."""
        lookup_key = self._reader.need_vault().lookup_key
        with self._turn:
            for key, index in keys.items():
                self._recent.setdefault(key_hash(lookup_key, key), index)
            for scope, several in scopes.items():
                self._recent_scopes[scope_hash(lookup_key, scope)] = [several[-1]]
            if first == self._covered:
                self._covered = first + count

    def _cover(self) -> None:
        """Know the log up to its end: read what is missing, and let the file follow when it is far behind."""
        size = self._reader.size
        if self._is_stale() or len(self._recent) >= FLUSH_RECORDS or size - self._covered > FLUSH_RECORDS:
            self.catch_up()
        elif self._covered < size:
            lookup_key = self._reader.need_vault().lookup_key
            for entries in self._reader.entries(self._covered, size):
                for entry in entries:
                    index = entry.record.envelope.index
                    if (text := once_of(entry)) is not None:
                        self._recent.setdefault(key_hash(lookup_key, text), index)
                    for key, count, _ in chain_of(entry.record.raw):
                        self._recent_scopes.setdefault(scope_hash(lookup_key, key), []).append(
                            Last(count, index)
                        )
            self._covered = size

    def _ask(self, statement: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Ask the file; one that turns out to be damaged is rebuilt and asked again."""
        for attempt in range(2):
            if self._con is None:
                self.catch_up()
            assert self._con is not None  # noqa: S101 - catching up opened it
            try:
                return self._con.execute(statement, params).fetchall()
            except sqlite3.DatabaseError as error:
                if attempt:
                    raise DamagedViewError(f"it could not be read ({error})") from error
                self.replay("it could not be read")
        raise AssertionError  # the loop returns or raises

    def position(self) -> int:
        """Return how far the file goes; 0 where there is none that can be used."""
        with self._turn, suppress(DamagedViewError):
            file = self._home.open()
            try:
                return file.stamp.position if file.stamp else 0
            finally:
                file.close()
        return 0

    def size_bytes(self) -> int:
        """Return the size of the file."""
        return self._home.path.stat().st_size if self._home.path.exists() else 0

    def drop(self) -> list[str]:
        """Remove the file; return the names of what was removed. It is rebuilt when it is next needed."""
        with self._locked():
            self._forget()
            return self._home.drop()

    def purge(self) -> list[str]:
        """After an erasure: rebuild the file if there is one, else remove it; return the names concerned."""
        if not self._home.files():
            return []
        try:
            self.catch_up()
        except (OSError, ViewError):
            return self.drop()
        return [self._home.path.name]

    def close(self) -> None:
        """Let the file follow what was appended here, and close it."""
        with self._turn:
            try:
                if self._recent or self._recent_scopes:
                    with suppress(
                        OSError, ViewError
                    ):  # what it lacks is in the log, and read when it is needed
                        self.catch_up()
            finally:
                self._forget()
