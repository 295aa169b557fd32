"""All projections of a store, treated alike: caught up, replayed, purged, dropped, asked (SPEC §10).

LanceDB's place is here, when recall comes: a third projection, its files in `views/lance/`.
"""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any

import msgspec

from braid.ledger.audit.findings import Finding
from braid.ledger.reader import Reader
from braid.views.catalog import Catalog
from braid.views.digest import Digest
from braid.views.errors import DamagedViewError, ViewBusyError, ViewError
from braid.views.generations import DuckHome
from braid.views.replay import Caught, Progress, catch_up, replay
from braid.views.sql import Limits, Params, Sandbox
from braid.wal.durable import make_folder
from braid.wal.errors import LogLockedError
from braid.wal.lock import FileLock

PURGE_WAIT_S = 120.0
_GENERATION_TRIES = 5


class ViewStatus(msgspec.Struct, frozen=True):
    """How a projection stands. `digest` is None where it has none, `unknown` counts records of unknown kinds."""

    name: str
    position: int
    behind_by: int
    bytes: int
    digest: Digest | None = None
    unknown: int = 0
    unreadable: int = 0
    note: str = ""


class SqlResult(msgspec.Struct, frozen=True):
    """A pyarrow Table, the position of the log that it speaks of, and how many records came after."""

    table: Any
    position: int
    behind_by: int


class Views:
    """The projections of one store, in its folder `views`. Safe to share between threads, which take turns."""

    def __init__(self, folder: Path, reader: Reader) -> None:
        self._folder = folder
        self._reader = reader
        self._turn = RLock()
        self._duck = DuckHome(folder / "duck", reader.path / "checkpoints")
        self._lock = FileLock(folder / "duck" / "lock")
        self._sandbox = Sandbox()
        self._known: tuple[int, int, tuple[int, int, int] | None] = (-1, -1, None)
        self.catalog = Catalog(folder, reader)

    @contextmanager
    def _owning(self, wait_s: float) -> Generator[None]:
        """Own the working file: its lock is held whenever it is open."""
        with self._turn:
            if self._lock.held:
                yield
                return
            make_folder(self._duck.folder)
            try:
                self._lock.acquire(wait_s)
            except LogLockedError:
                raise ViewBusyError(
                    f"{self._duck.folder}: another process is at work on the view; try again shortly"
                ) from None
            try:
                yield
            finally:
                self._lock.release()

    def catch_up(
        self, *, publish: bool = False, wait_s: float = 10.0, progress: Progress | None = None
    ) -> list[Caught]:
        """Bring every projection to the log's end; `publish` makes a generation even when none is due."""
        with self._owning(wait_s):
            caught = self._catch_up_duck(progress=progress)
            if publish:
                self._publish_duck(caught.position, always=True)
            return [caught, self.catalog.catch_up()]

    def _catch_up_duck(self, progress: Progress | None = None) -> Caught:
        self._drop_what_shows_erased()
        caught = catch_up(self._reader, self._duck, progress=progress)
        self._publish_duck(caught.position, always=caught.rebuilt is not None or caught.again > 0)
        return caught

    def _publish_duck(self, position: int, *, always: bool) -> None:
        newest = self._duck.current()
        if (newest is None or newest[1] != position or always) and (always or self._duck.is_due(position)):
            self._duck.publish(position)

    def _drop_what_shows_erased(self) -> list[str]:
        """A generation from before the newest erasure must not be read again, whatever became of its purge."""
        return self._duck.drop_generations(older_than=max(self._reader.control.erasures, default=-1))

    def replay(
        self, name: str | None = None, *, wait_s: float = 10.0, progress: Progress | None = None
    ) -> list[Caught]:
        """Rebuild the named projection, or all, from the log alone; raise ValueError for an unknown name."""
        if name not in (None, "duck", "catalog"):
            raise ValueError(f"there is no projection {name!r}; there are duck and catalog")
        done: list[Caught] = []
        with self._owning(wait_s):
            if name != "catalog":
                done.append(replay(self._reader, self._duck, progress=progress))
                self._publish_duck(done[-1].position, always=True)
            if name != "duck":
                done.append(self.catalog.replay())
        return done

    def purge(self) -> list[str]:
        """After an erasure: rebuild everything, so that no file here holds a byte of it; return the files concerned.

        Paths are relative to the store. Where there is no room to rebuild, everything is removed instead.
        """
        with self._owning(PURGE_WAIT_S):
            self._sandbox.close()
            held = self._duck.files()
            files = {f"duck/{name}" for name in self._duck.drop_generations()}
            try:
                if held:  # what was never made need not be rebuilt
                    done = replay(self._reader, self._duck, "records were erased")
                    published = self._duck.publish(done.position)
                    files |= {"duck/work.duckdb", f"duck/{published.name}"}
                    files |= {f"duck/{name}" for name in self._duck.drop_strays(self._duck.work, published)}
            except (OSError, ViewError):
                files |= {f"duck/{name}" for name in self._duck.drop_all()}
            files |= set(self.catalog.purge())
        return sorted(f"{self._folder.name}/{name}" for name in files)

    def drop(self) -> list[str]:
        """Remove every file of every projection; return their paths relative to the store. They can be rebuilt."""
        with self._owning(PURGE_WAIT_S):
            self._sandbox.close()
            files = [f"duck/{name}" for name in self._duck.drop_all()] + self.catalog.drop()
        return sorted(f"{self._folder.name}/{name}" for name in files)

    def sql(
        self, statement: str, params: Params = None, *, limits: Limits | None = None, wait_s: float = 0.0
    ) -> SqlResult:
        """Answer a statement from the newest state: caught up when nobody else is at work, else a generation.

        Raises SqlError, SqlTimeoutError, SqlLimitError; ViewBusyError when there is no generation to read.
        """
        limits = limits or Limits()
        try:
            with self._owning(wait_s):
                position = self._current_position()
                table = self._sandbox.run(self._duck.work, statement, params, limits)
        except (ViewBusyError, OSError) as error:
            table, position = self._from_generation(statement, params, limits, error)
        return SqlResult(table, position, self._reader.size - position)

    def _current_position(self) -> int:
        """Bring the working file to the log's end unless it is known to stand there; return its position."""
        size, erasure = self._reader.size, max(self._reader.control.erasures, default=-1)
        if self._known != (size, erasure, self._duck.signature()):
            position = self._catch_up_duck().position
            self._known = (position, erasure, self._duck.signature())
        return self._known[0]

    def _from_generation(
        self, statement: str, params: Params, limits: Limits, why: Exception
    ) -> tuple[Any, int]:
        for _ in range(_GENERATION_TRIES):
            newest = self._duck.current()
            if newest is None:
                continue
            if newest[1] <= max(self._reader.control.erasures, default=-1):
                raise ViewBusyError(
                    f"{self._duck.folder}: records are being erased; try again shortly"
                ) from None
            with suppress(FileNotFoundError):  # the owner has just published another
                return self._sandbox.run(newest[0], statement, params, limits), newest[1]
        raise why

    def check(self) -> list[Finding]:
        """Compare what the working file holds with its own digests, and these with the log; findings are values."""
        from braid.views.check import check_content

        with self._owning(PURGE_WAIT_S):
            return check_content(self._reader, self._duck.work)

    def status(self) -> list[ViewStatus]:
        """Return how each projection stands; nothing is caught up for it."""
        size = self._reader.size
        position = self.catalog.position()
        return [
            self._duck_status(size),
            ViewStatus("catalog", position, size - position, self.catalog.size_bytes()),
        ]

    def _duck_status(self, size: int) -> ViewStatus:
        held = sum(path.stat().st_size for path in self._duck.files())
        try:
            with self._owning(0.0):
                view = self._duck.open()
                meta = view.meta
                view.close()
        except DamagedViewError as error:
            return ViewStatus("duck", 0, size, held, note=str(error))
        except (ViewBusyError, OSError):
            newest = self._duck.current()
            position = newest[1] if newest else 0
            return ViewStatus(
                "duck", position, size - position, held, note="another process is at work on it"
            )
        if meta is None:
            return ViewStatus("duck", 0, size, held, note="it was never finished")
        at = meta.stamp.position
        return ViewStatus("duck", at, size - at, held, meta.content, meta.unknown, meta.unreadable)

    def close(self) -> None:
        """Let the catalogue follow what was appended here, and close everything."""
        with self._turn:
            self._sandbox.close()
            self.catalog.close()
