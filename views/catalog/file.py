"""The catalogue's file: SQLite, turns with their sessions as keyed hashes (SPEC §10.8)."""

import errno
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from blake3 import blake3

from braid.ledger.read.reader import LogEntry, Reader
from braid.ledger.record.record import Scope, is_turn
from braid.ledger.record.scope import ids_of
from braid.views.errors import DamagedViewError
from braid.views.projection import Batch, Stamp
from braid.wal.durable import make_folder, sync_folder
from braid.wal.failpoint import failpoint

VERSION: Final = 6
BUSY_S: Final = 30.0
_SESSION_BYTES: Final = 8
_TABLES: Final = """
CREATE TABLE meta (stamp TEXT NOT NULL);
CREATE TABLE turns (log_index INTEGER PRIMARY KEY, session INTEGER NOT NULL);
"""
_INDEX: Final = "CREATE INDEX IF NOT EXISTS turns_of ON turns (session, log_index)"
"""Made once the rows are there: row by row, in the order of hashes, it would cost as much as all else of a load."""


class _Source(msgspec.Struct, frozen=True):
    method: str = ""


class _Said(msgspec.Struct, frozen=True):
    scope: Scope | None = None
    provenance: _Source = _Source()


_decode_said = msgspec.json.Decoder(_Said).decode


def session_of(lookup_key: bytes, entry: LogEntry) -> int | None:
    """Return what stands for the session of a turn; None for a record that is no turn, or that can't be read."""
    envelope, raw = entry.record.envelope, entry.record.raw
    if envelope.kind != "experience" or raw is None:
        return None
    try:
        said = _decode_said(raw)
    except msgspec.MsgspecError:
        return None
    if not is_turn(envelope.type, said.provenance.method):
        return None
    names = msgspec.json.encode(ids_of(said.scope))
    hashed = blake3(b"\0session\0" + names, key=lookup_key).digest(_SESSION_BYTES)
    return int.from_bytes(hashed, "big", signed=True)


def _unwritten(error: sqlite3.DatabaseError, what: str) -> OSError | DamagedViewError:
    """Return what to raise for a file that could not be written: a full disk is the environment's, not the file's."""
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return DamagedViewError(f"it could not be {what} ({error})")


AskRows = Callable[[str, list[Any]], list[tuple[Any, ...]]]
BEFORE: Final = ("max", "<")
AFTER: Final = ("min", ">")
_MOST_MARKS: Final = 500


def marked(values: Sequence[Any]) -> Iterator[tuple[list[Any], str]]:
    """Yield values in such numbers as one statement may have, each with its marks."""
    for at in range(0, len(values), _MOST_MARKS):
        some = list(values[at : at + _MOST_MARKS])
        yield some, ",".join("?" * len(some))


def beside(ask: AskRows, indexes: Sequence[int], side: tuple[str, str]) -> dict[int, int]:
    """Return the turn `BEFORE` or `AFTER` each of these in its session."""
    nearest, than = side
    found: dict[int, int] = {}
    for some, marks in marked(indexes):
        rows = ask(
            f"SELECT here.log_index, (SELECT {nearest}(log_index) FROM turns WHERE session = here.session"  # noqa: S608 - words of this module and marks only
            f" AND log_index {than} here.log_index) FROM turns AS here WHERE here.log_index IN ({marks})",
            some,
        )
        found |= {index: other for index, other in rows if other is not None}
    return found


def connected(where: str | Path, what: str, *, timeout: float = 5.0) -> sqlite3.Connection:
    """Open a file of the catalogue, or say that it could not be `what`: SQLite reads it when it connects, or never."""
    try:
        return sqlite3.connect(
            where,
            uri=isinstance(where, str),
            isolation_level=None,
            check_same_thread=False,
            timeout=timeout,
        )
    except sqlite3.DatabaseError as error:
        raise _unwritten(error, what) from error


class CatalogFile:
    """The catalogue's file, open for writing; its lock is the caller's."""

    def __init__(
        self,
        con: sqlite3.Connection,
        lookup_key: bytes | None,
        stamp: Stamp | None,
        seen: Callable[[Sequence[LogEntry]], None],
    ) -> None:
        """`seen` is shown every record that is read for this file, so that nobody else need read it."""
        self._con = con
        self._lookup_key = lookup_key
        self._stamp = stamp
        self._seen = seen

    @property
    def stamp(self) -> Stamp | None:
        """What it was made from."""
        return self._stamp

    def apply(self, batch: Batch) -> None:
        """Insert turns and stamp in one transaction. Forgetting removes turns, recovering puts them back."""
        turns, gone = self._turns(batch)
        self._seen(batch.entries)
        try:
            self._con.execute("BEGIN IMMEDIATE")
            self._con.executemany("DELETE FROM turns WHERE log_index = ?", gone)
            self._con.executemany("INSERT OR REPLACE INTO turns VALUES (?, ?)", turns)
            self._con.execute("DELETE FROM meta")
            self._con.execute("INSERT INTO meta VALUES (?)", [msgspec.json.encode(batch.stamp).decode()])
            failpoint("views.catalog.commit")
            # Dying here: the file stands at the batch before, after SQLite has rolled its journal back.
            self._con.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise _unwritten(error, "written") from error
        self._stamp = batch.stamp
        failpoint("views.catalog.commit.done")

    def _turns(self, batch: Batch) -> tuple[list[tuple[int, int]], list[tuple[int]]]:
        """Return the turns of the batch with their sessions, and those that are forgotten or erased by now."""
        if self._lookup_key is None:
            return [], []
        turns: list[tuple[int, int]] = []
        gone: list[tuple[int]] = []
        for entry in (*batch.entries, *batch.again):
            index = entry.record.envelope.index
            if index in batch.standing.hidden or index in batch.standing.erased:
                gone.append((index,))
            elif (session := session_of(self._lookup_key, entry)) is not None:
                turns.append((index, session))
        return turns, gone

    def take_over(self, source: Path, gone: Sequence[int]) -> None:
        """Copy all that a closed file holds but the turns of these records; raise DamagedViewError."""
        con = self._con
        try:
            con.execute("ATTACH ? AS old", [f"{source.absolute().as_uri()}?mode=ro"])
            con.execute("BEGIN")
            con.execute("CREATE TEMP TABLE gone (log_index INTEGER PRIMARY KEY)")
            con.executemany("INSERT INTO gone VALUES (?)", [(index,) for index in gone])
            con.execute(
                "INSERT INTO turns SELECT * FROM old.turns WHERE log_index NOT IN (SELECT log_index FROM gone)"
            )
            con.execute("INSERT INTO meta SELECT * FROM old.meta")
            con.execute("COMMIT")
            con.execute("DETACH old")
            self._stamp = read_stamp(con)
        except sqlite3.DatabaseError as error:
            raise _unwritten(error, "copied") from error

    def take_in(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Insert rows of a snapshot into one of the tables; raise DamagedViewError."""
        marks = ", ".join("?" * len(self._con.execute(f"PRAGMA table_info({table})").fetchall()))
        try:
            self._con.execute("BEGIN")
            self._con.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608 - our own names
            self._con.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            raise _unwritten(error, "copied") from error

    def stand_at(self, stamp: Stamp) -> None:
        """Say what rows that were taken in were made from."""
        self._con.execute("INSERT INTO meta VALUES (?)", [msgspec.json.encode(stamp).decode()])
        self._stamp = stamp

    def finish(self) -> None:
        """Make the index that a fresh file lacks yet. Nothing else is under way: `apply` commits."""
        try:
            self._con.execute(_INDEX)
        except sqlite3.DatabaseError as error:
            raise _unwritten(error, "written") from error

    def close(self) -> None:
        """Close the file, rolling back what was not committed."""
        self._con.close()


class CatalogHome:
    """Where the catalogue's file lies, and how a rebuilt one takes its place."""

    name = "catalog"
    version = VERSION

    def __init__(self, folder: Path, reader: Reader) -> None:
        self.folder = folder
        self.path = folder / "catalog.sqlite"
        self._fresh = folder / "fresh.sqlite"
        self._reader = reader

    def open(self, busy_s: float = BUSY_S) -> CatalogFile:
        """Open the file; DamagedViewError where there is none that can be used, or SQLite keeps it for `busy_s`."""
        if not self.path.exists():
            raise DamagedViewError("there is none yet")
        con = connected(self.path, "opened", timeout=busy_s)
        try:
            con.executescript(
                "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON"
            )
            return CatalogFile(con, self._lookup_key(), read_stamp(con), self._show)
        except (sqlite3.DatabaseError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            con.close()
            raise DamagedViewError(f"the file can't be read ({error})") from error
        except BaseException:
            con.close()
            raise

    def fresh(self) -> CatalogFile:
        """Begin an empty file beside the live one; until it is swapped in, nothing of it need survive a crash."""
        make_folder(self.folder)
        _remove(self._fresh)
        con = connected(self._fresh.absolute().as_uri(), "begun")
        self._fresh.chmod(0o600)
        try:
            con.executescript(f"PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; {_TABLES}")
        except sqlite3.DatabaseError as error:
            con.close()
            raise _unwritten(error, "begun") from error
        return CatalogFile(con, self._lookup_key(), None, self._show)

    def fresh_without(self, gone: Sequence[int]) -> CatalogFile:
        """Begin a file with the turns of the live one but for these records; raise DamagedViewError."""
        file = self.fresh()
        try:
            file.take_over(self.path, gone)
        except BaseException:
            file.close()
            raise
        return file

    def swap(self) -> None:
        """Put the closed fresh file in the live one's place, durably."""
        failpoint("views.catalog.sync")
        fd = os.open(self._fresh, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
        if _journal(self.path).exists():  # left by a crash: SQLite would roll it back into the new file
            _remove(self.path)
        # Dying here: the old file or none; either is rebuilt.
        failpoint("views.catalog.swap")
        self._fresh.replace(self.path)
        sync_folder(self.folder)
        failpoint("views.catalog.swap.done")

    def files(self) -> list[Path]:
        """Return the files that hold rows."""
        return [path for path in (self.path, self._fresh, _journal(self.path)) if path.exists()]

    def drop(self) -> list[str]:
        """Remove the files; return their names."""
        names = [path.name for path in self.files()]
        _remove(self.path)
        _remove(self._fresh)
        return names

    def _show(self, entries: Sequence[LogEntry]) -> None:
        if self._reader.vault is not None:
            self._reader.key_index.take(entries)

    def _lookup_key(self) -> bytes | None:
        return self._reader.vault.lookup_key if self._reader.vault else None


def read_stamp(con: sqlite3.Connection) -> Stamp | None:
    """Return what the file says it was made from."""
    row = con.execute("SELECT stamp FROM meta").fetchone()
    return None if row is None else msgspec.json.decode(row[0], type=Stamp)


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-journal")


def _remove(path: Path) -> None:
    # The database goes first: one without the journal that it needs must not be found.
    path.unlink(missing_ok=True)
    _journal(path).unlink(missing_ok=True)
