"""SQLite files that may be thrown away at any time: what they hold is counted or found again.

Each act opens the file, so that one that was deleted, damaged, or left by another release is simply made again.
"""

import os
import sqlite3
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from shutil import disk_usage
from typing import Final, TypeVar
from zlib import crc32

_Found = TypeVar("_Found")
_LITTLE: Final = 1 << 20
"""So little room, in bytes, is none: SQLite needs some pages for its log, and 32 KiB to share."""


class DisposableFile:
    """One such file, for its owner alone (0600). Safe between threads and processes."""

    def __init__(
        self,
        path: Path,
        schema: Sequence[str],
        *,
        pragmas: Sequence[str] = (),
        busy_s: float = 5.0,
        on_loss: Callable[[], object] = lambda: None,
    ) -> None:
        """`schema`: the statements that make it; what has another one is no such file. `pragmas`: for each act.

        `busy_s`: how many seconds an act waits for another's. `on_loss`: called where a file that can't be used is
        thrown away.
        """
        self.path = path
        self._schema = schema
        self._mark = crc32("\0".join(schema).encode()) & 0x7FFF_FFFF
        self._pragmas = pragmas
        self._busy_s = busy_s
        self._on_loss = on_loss

    def exists(self) -> bool:
        """Whether there is one."""
        return os.path.lexists(self.path)

    def act(self, on: Callable[[sqlite3.Connection], _Found]) -> _Found:
        """Return what an act gives that is done in one transaction. Where damage ends it, it is done on a new file.

        Raises OSError and sqlite3.OperationalError: the file can't be had now.
        """
        try:
            with self.changing() as con:
                return on(con)
        except sqlite3.DatabaseError as error:
            if not self.is_damage(error):
                raise
            with self.changing() as con:  # the damaged one is gone
                return on(con)

    @contextmanager
    def changing(self) -> Generator[sqlite3.Connection]:
        """Hold the file for one transaction.

        Raises OSError and sqlite3.OperationalError as `act` does; sqlite3.DatabaseError where it is damaged: then it is
        thrown away, and the next act finds a new one.
        """
        try:
            with closing(self._open()) as con, _transaction(con):
                yield con
        except sqlite3.DatabaseError as error:
            if self.is_damage(error):
                self._lose()
            raise

    def _open(self) -> sqlite3.Connection:
        try:
            if (con := self._opened()) is not None:
                return con
        except sqlite3.DatabaseError as error:
            if not self.is_damage(error):
                raise
        self._lose()
        if (con := self._opened()) is not None:
            return con
        raise sqlite3.OperationalError(f"{self.path} is another program's, which makes it again and again")

    def _opened(self) -> sqlite3.Connection | None:
        """Return a connection; None where the file is another one."""
        self._keep_to_owner()
        con = sqlite3.connect(self.path, timeout=self._busy_s, isolation_level=None)
        try:
            for pragma in self._pragmas:
                con.execute(f"PRAGMA {pragma}")
            if self._is_ours(con):
                return con
            with _transaction(con):  # two may be at it at once: the second finds it made
                is_ours = self._is_ours(con) or self._made(con)
            if is_ours:
                return con
        except BaseException:
            con.close()
            raise
        con.close()
        return None

    def _is_ours(self, con: sqlite3.Connection) -> bool:
        """Whether this class made the file, and nobody has taken a table away."""
        (mark,) = con.execute("PRAGMA user_version").fetchone()
        (made,) = con.execute("SELECT count(*) FROM sqlite_master WHERE sql IS NOT NULL").fetchone()
        return bool(mark == self._mark and made == len(self._schema))

    def _made(self, con: sqlite3.Connection) -> bool:
        (mark,) = con.execute("PRAGMA user_version").fetchone()
        if mark or con.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return False
        for statement in self._schema:
            con.execute(statement)
        con.execute(f"PRAGMA user_version = {self._mark}")
        return True

    def _keep_to_owner(self) -> None:
        """Make the file, or see that nobody else reads it. It isn't opened here: to close it would end SQLite's locks.

        Raises OSError for what is no file of its own: a link could lead anywhere.
        """
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
            return
        mode = self.path.lstat().st_mode
        if not stat.S_ISREG(mode):
            raise OSError(
                f"{self.path} is a link or a folder, where a file of its own is expected: remove it"
            )
        if stat.S_IMODE(mode) & 0o077:
            self.path.chmod(0o600)

    def is_damage(self, error: sqlite3.Error) -> bool:
        """Whether an error says that the file is malformed or no database: those alone are of the class itself.

        Or that it may only be read, though whoever asks may write it: its header asks for a newer SQLite.
        """
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_READONLY:
            return os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
        return type(error) is sqlite3.DatabaseError

    def is_full(self, error: sqlite3.Error) -> bool:
        """Whether an error says that the disk has no room: with little left SQLite calls it an input or output error,
        where it can't make the file that its connections share.
        """
        code = error.sqlite_errorcode & 0xFF
        return code == sqlite3.SQLITE_FULL or (
            code == sqlite3.SQLITE_IOERR and disk_usage(self.path.parent).free < _LITTLE
        )

    def _lose(self) -> None:
        self.drop()
        self._on_loss()

    def drop(self) -> None:
        """Throw the file away."""
        for suffix in ("", "-wal", "-shm", "-journal"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)


@contextmanager
def _transaction(con: sqlite3.Connection) -> Generator[None]:
    con.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):  # what went wrong may have ended it already
            con.execute("ROLLBACK")
        raise
    con.execute("COMMIT")
