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
    AFTER,
    BEFORE,
    VERSION,
    CatalogHome,
    beside,
    children,
    connected,
    key_hash,
    marked,
    once_of,
    read_stamp,
    referring,
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
"""How long whoever can't do without the catalogue waits for another process that is at work on it."""
GLIMPSE_S: Final = 0.5
"""How long whoever can do without it waits."""


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

    @property
    def reader(self) -> Reader:
        """The log."""
        return self._reader

    @contextmanager
    def _my_turn(self, wait_s: float) -> Generator[None]:
        """Be the one thread that is at work here; raise ViewBusyError when another goes on for longer than `wait_s`."""
        if not self._turn.acquire(timeout=max(wait_s, 0.0)):
            raise ViewBusyError("another thread is at work on it", self._home.path)
        try:
            yield
        finally:
            self._turn.release()

    @contextmanager
    def _locked(self, wait_s: float = LOCK_WAIT_S) -> Generator[None]:
        with self._turn:
            make_folder(self._home.folder)
            try:
                self._lock.acquire(wait_s)
            except LogLockedError:
                raise ViewBusyError("another process is at work on it", self._home.path) from None
            try:
                yield
            finally:
                self._lock.release()

    def catch_up(self, *, wait_s: float = LOCK_WAIT_S) -> Caught:
        """Bring the file to the log's end; where nothing can be written, go on with it as it stands.

        Raises ViewBusyError when another process goes on with it for longer than `wait_s`.
        """
        try:
            with self._locked(wait_s):
                return self._follow(catch_up(self._reader, self._home, begin=self._begin))
        except OSError as error:
            if not is_unwritable(error):
                raise
            return self._take_as_it_stands(error)

    def follow(self, *, wait_s: float = LOCK_WAIT_S) -> None:
        """Bring the file to the log's end, unless it is there."""
        with self._turn:
            if not self._is_there():
                self.catch_up(wait_s=wait_s)

    def follow_within(self, turn_s: float, wait_s: float) -> None:
        """As `follow`; raise ViewBusyError when another thread goes on for longer than `turn_s`, or another process for
        longer than `wait_s`.
        """
        with self._my_turn(turn_s):
            self.follow(wait_s=wait_s)

    @property
    def is_followed(self) -> bool:
        """Whether the file stands at the log's end; False, too, while another thread is at work on it."""
        if not self._turn.acquire(blocking=False):
            return False
        try:
            return self._is_there()
        finally:
            self._turn.release()

    def _is_there(self) -> bool:
        return not self._is_stale() and self._stands_at >= self._reader.size

    def replay(
        self, why: str = "asked for", *, begin: Begin = begin_empty, wait_s: float = LOCK_WAIT_S
    ) -> Caught:
        """Rebuild the file, from the log unless `begin` has more."""
        with self._locked(wait_s):
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
            con, position = self._opened(standing)
        except DamagedViewError as damage:
            raise OSError(
                error.errno,
                f"{error.strerror}, and the catalogue has to be made there first ({damage}): "
                "ask once with write access, or ask a copy of the store",
                error.filename,
            ) from error
        con.close()
        caught = self._follow(Caught(self._home.name, position, position, None))
        self.lag = standing.size - position
        return caught

    def as_it_stands(self, busy_s: float) -> tuple[sqlite3.Connection | None, int | None]:
        """Return a connection of the caller's own to the file, and how many records it lacks; (None, None) where there
        is no file that may be read. It waits for nobody but SQLite, that for `busy_s`.
        """
        standing = take_standing(self._reader)
        try:
            con, position = self._opened(standing, busy_s)
        except DamagedViewError:
            return None, None
        return con, standing.size - position

    def _opened(self, standing: Standing, busy_s: float = 5.0) -> tuple[sqlite3.Connection, int]:
        """Open the file for reading as it is, and return how far it goes; DamagedViewError where it may not be read."""
        uri = f"{self._home.path.absolute().as_uri()}?mode=ro"
        con = connected(uri, "opened", timeout=busy_s)
        try:
            stamp = read_stamp(con)
            why = refusal(stamp, VERSION, self._reader, standing)
        except (sqlite3.DatabaseError, msgspec.MsgspecError):
            stamp, why = None, "there is none"
        if stamp is None or why is not None:
            con.close()
            raise DamagedViewError(why or "there is none")
        return con, stamp.position

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
            rows = self._ask(*children(index, self._reader.size))
        return [(child, self._reader.envelope(child).id, role) for child, role in rows]

    def referring(self, index: int, role: str, most: int, below: int) -> list[int]:
        """Return the newest records below a log index that link to this one in a role, at most so many, newest first;
        forgotten and erased ones too. What stands behind the file is not among them: catch up first."""
        with self._turn:
            if self._is_stale():
                self.catch_up()
            rows = self._ask(*referring(index, role, most, below))
        return [child for (child,) in rows]

    def before(self, indexes: Sequence[int]) -> dict[int, int]:
        """Return the turn before each of these in its session, whatever lies between them in the log."""
        return self._beside(indexes, BEFORE)

    def after(self, indexes: Sequence[int]) -> dict[int, int]:
        """Return the turn after each of these in its session."""
        return self._beside(indexes, AFTER)

    def _beside(self, indexes: Sequence[int], side: tuple[str, str]) -> dict[int, int]:
        with self._turn:
            self.follow()
            return beside(self._ask, indexes, side)

    def rows(self, statement: str, params: Sequence[Any], wait_s: float) -> list[tuple[Any, ...]]:
        """Ask the file, which the caller has followed the log with; raise ViewBusyError after `wait_s`."""
        with self._my_turn(wait_s):
            return self._ask(statement, params, wait_s)

    def find(self, keys: Sequence[str]) -> dict[str, int]:
        """Return the index of each key that a record in the log has, up to its present end; an erased one has none."""
        lookup_key = self._reader.need_vault().lookup_key
        with self._turn:
            self._cover()
            hashes = {key_hash(lookup_key, key): key for key in keys}
            found = {hashes[hash_]: self._recent[hash_] for hash_ in hashes if hash_ in self._recent}
            for some, marks in marked(list(hashes)):
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

    def _ask(
        self, statement: str, params: Sequence[Any], wait_s: float = LOCK_WAIT_S
    ) -> list[tuple[Any, ...]]:
        """Ask the file; one that turns out to be damaged is rebuilt and asked again."""
        for attempt in range(2):
            if self._con is None:
                self.catch_up(wait_s=wait_s)
            assert self._con is not None  # noqa: S101 - catching up opened it
            try:
                return self._con.execute(statement, params).fetchall()
            except sqlite3.DatabaseError as error:
                if attempt:
                    raise DamagedViewError(f"it could not be read ({error})") from error
                self.replay("it could not be read", wait_s=wait_s)
        raise AssertionError  # the loop returns or raises

    def position(self) -> int:
        """Return how far the file goes, 0 where there is none that can be used; it waits for nobody at work on it."""
        try:
            file = self._home.open(GLIMPSE_S)
        except DamagedViewError as error:
            code: int = getattr(error.__cause__, "sqlite_errorcode", 0)
            return self._stands_at if code & 0xFF == sqlite3.SQLITE_BUSY else 0
        with closing(file):
            return file.stamp.position if file.stamp else 0

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
                        self.catch_up(wait_s=GLIMPSE_S)
            finally:
                self._forget()
