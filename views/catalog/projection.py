"""The catalogue: which turns stand next to each other in their sessions (SPEC §10.8).

It proposes neighbours and decides nothing: who links to a record, and which has a key, is told by what was signed.
"""

import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, Final

import msgspec

from braid.ledger.read.reader import Reader
from braid.views.catalog.file import AFTER, BEFORE, VERSION, CatalogHome, beside, connected, read_stamp
from braid.views.errors import DamagedViewError, ViewBusyError, ViewError
from braid.views.projection import HeadFacts
from braid.views.replay import Begin, begin_empty, catch_up, refusal, replay, take_standing
from braid.views.status import Caught
from braid.wal.durable import keeps_reading, make_folder
from braid.wal.errors import LogLockedError
from braid.wal.lock import FileLock

LOCK_WAIT_S: Final = 30.0
"""How long whoever can't do without the catalogue waits for another process that is at work on it."""
GLIMPSE_S: Final = 0.5
"""How long whoever can do without it waits."""


class Catalog:
    """The order of turns in one store, up to the log's end."""

    def __init__(
        self,
        folder: Path,
        reader: Reader,
        begin: Begin = begin_empty,
        private: Callable[[], Path] | None = None,
    ) -> None:
        """`folder` is the store's `views`; `begin` begins a rebuild; `private` is where the file is made when none
        stands and none can be written.
        """
        self._home = CatalogHome(folder, reader)
        self._private = private
        self._read_from = self._home
        """Whose file is read: the store's, or one of this handle's own."""
        self._begin = begin
        self._reader = reader
        self._lock = FileLock(folder / "catalog.lock")
        self._turn = RLock()
        self._con: sqlite3.Connection | None = None
        self._inode = 0
        self._stands_at = 0
        """The file knows the log up to here."""
        self.lag = 0
        """How many records the file lacks because it can't be written here."""
        self._erasure = -1

    @property
    def reader(self) -> Reader:
        """The reader of the log that this file follows."""
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
        """Bring the file to the log's end; where nothing can be written, go on with it as it stands, or with one of
        this handle's own.

        Raises ViewBusyError when another process goes on with it for longer than `wait_s`.
        """
        try:
            with self._locked(wait_s):
                return self._follow(catch_up(self._reader, self._home, begin=self._begin))
        except OSError as error:
            if not keeps_reading(error):
                raise
            return self._take_as_it_stands(error)

    def follow(self, *, wait_s: float = LOCK_WAIT_S) -> None:
        """Bring the file to the log's end, unless it is there."""
        with self._turn:
            if not self._is_there():
                self.catch_up(wait_s=wait_s)

    def follow_within(self, turn_s: float, wait_s: float) -> None:
        """Follow the log as `follow` does, in bounded time.

        Raises ViewBusyError when another thread goes on for longer than `turn_s`, or another process for longer than
        `wait_s`, both in seconds.
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
        """Rebuild the file, from the log unless `begin` has more; raise ViewBusyError after `wait_s` seconds."""
        with self._locked(wait_s):
            return self._follow(replay(self._reader, self._home, why, begin=begin))

    @contextmanager
    def standing_at(self, standing: HeadFacts) -> Generator[CatalogHome]:
        """Bring the file to a head, and let nobody write to it meanwhile."""
        with self._locked():
            self._follow(catch_up(self._reader, self._home, begin=self._begin, standing=standing))
            yield self._home

    def _take_as_it_stands(self, error: OSError) -> Caught:
        """Read from a file that can't follow the log here; where there is none that may be read, make one of our own.

        Raises `error` where there is no place for that.
        """
        standing = take_standing(self._reader)
        try:
            con, position = self._opened(standing)
        except DamagedViewError:
            if self._private is None:
                raise error from None
            home = CatalogHome(self._private(), self._reader)
            return self._follow(catch_up(self._reader, home, begin=self._begin, standing=standing), home)
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

    def _opened(self, standing: HeadFacts, busy_s: float = 5.0) -> tuple[sqlite3.Connection, int]:
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

    def _follow(self, caught: Caught, home: CatalogHome | None = None) -> Caught:
        """Read from the file as it is now: the store's, or that of another home."""
        self._forget()
        self._read_from = home or self._home
        path = self._read_from.path
        self._con = connected(f"{path.absolute().as_uri()}?mode=ro", "opened")
        self._inode = path.stat().st_ino
        self._stands_at = caught.position
        self._erasure = self._newest_erasure()
        self.lag = 0
        return caught

    def _forget(self) -> None:
        if self._con is not None:
            self._con.close()
        self._con, self._stands_at = None, 0

    def _newest_erasure(self) -> int:
        return max(self._reader.control.erasures, default=-1)

    def _is_stale(self) -> bool:
        if (
            self._con is None
            or self._erasure != self._newest_erasure()
            or self._stands_at > self._reader.size
        ):
            return True
        try:
            return self._read_from.path.stat().st_ino != self._inode
        except FileNotFoundError:
            return True

    def children(self, index: int) -> list[tuple[int, str, str]]:
        """Return (index, id, role) of every link to the record, forgotten and erased referrers too, by log index."""
        reader = self._reader
        return [(child, reader.envelope(child).id, role) for child, role in reader.backlinks.of(index)]

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
        """Ask the file, which the caller has followed the log with; raise ViewBusyError after `wait_s`.

        Raises DamagedViewError for a file that can't be read.
        """
        with self._my_turn(wait_s):
            return self._ask(statement, params, wait_s)

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
        """Remove the file; return the names of what was removed. It is rebuilt when it is next needed.

        Raises ViewBusyError while another process is at work on it.
        """
        with self._locked():
            self._forget()
            return self._home.drop()

    def purge(self) -> list[str]:
        """After an erasure: rebuild the file if there is one, else remove it; return the names concerned."""
        with self._turn:
            self._forget()  # of a file of our own, too: it goes with the folder
        if not self._home.files():
            return []
        try:
            self.catch_up()
        except (OSError, ViewError):
            return self.drop()
        return [self._home.path.name]

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._forget()
