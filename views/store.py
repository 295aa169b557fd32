"""All projections of a store, treated alike: caught up, replayed, purged, dropped, asked (SPEC §10).

The LanceDB projection is made when it is first asked: a store that is never searched pays nothing for it.
"""

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import msgspec

from braid.ledger.asof import root_at
from braid.ledger.audit.findings import Finding
from braid.ledger.errors import LedgerError
from braid.ledger.offices import operator
from braid.ledger.reader import Reader
from braid.views.catalog import Catalog
from braid.views.digest import Digest
from braid.views.embedder import Embedder
from braid.views.errors import DamagedViewError, ViewBusyError, ViewError
from braid.views.generations import DuckHome
from braid.views.lance.search import Search
from braid.views.past import Past, Pasts
from braid.views.replay import Begin, Caught, Progress, begin_empty, catch_up, replay, take_standing
from braid.views.schema import TABLES
from braid.views.snapshot.folder import KEPT, Snapshot, Snapshots, module_of
from braid.views.sql import Limits, Params, Sandbox, Tables
from braid.wal.durable import is_full, is_unwritable, make_folder
from braid.wal.errors import LogLockedError, ObstructedError
from braid.wal.lock import FileLock

if TYPE_CHECKING:
    from braid.views.tables import OpenTables

PURGE_WAIT_S = 120.0
BUSY_WAIT_S = 10.0
_GENERATION_TRIES = 5


class ViewStatus(msgspec.Struct, frozen=True):
    """How a projection stands. `digest` is None where it has none, `unknown` counts records of unknown kinds,
    `pending` those whose meaning waits for `model`.
    """

    name: str
    position: int
    behind_by: int
    bytes: int
    digest: Digest | None = None
    unknown: int = 0
    unreadable: int = 0
    note: str = ""
    model: str = ""
    pending: int = 0


class SqlResult(msgspec.Struct, frozen=True):
    """A pyarrow Table, the position of the log that it speaks of, and how many records came after."""

    table: Any
    position: int
    behind_by: int


class Views:
    """The projections of one store, in its folder `views`. Safe to share between threads, which take turns."""

    def __init__(
        self, folder: Path, reader: Reader, embedder: Callable[[], Embedder | None] | None = None
    ) -> None:
        """`embedder` is called when a model is first needed; without one, the LanceDB projection holds words only."""
        self._folder = folder
        self._reader = reader
        self._turn = RLock()
        self._duck = DuckHome(folder / "duck", reader.path / "checkpoints")
        self._pasts = Pasts(reader, self._duck)
        self._lock = FileLock(folder / "duck" / "lock")
        self._sandbox = Sandbox()
        self._known: tuple[int, int, tuple[int, int, int] | None] = (-1, -1, None)
        self.snapshots = Snapshots(folder / "snapshots", reader)
        self.catalog = Catalog(folder, reader, self.snapshots.begin)
        self.search = Search(folder / "lance", reader, embedder or _no_embedder, self.snapshots.begin)

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
            done = [caught, self.catalog.catch_up()]
        return [*done, self.search.catch_up(wait_s=wait_s)] if self.search.exists else done

    def _catch_up_duck(self, progress: Progress | None = None) -> Caught:
        self._drop_what_shows_erased()
        caught = catch_up(self._reader, self._duck, begin=self.snapshots.begin, progress=progress)
        self._publish_duck(caught.position, always=caught.rebuilt is not None or caught.again > 0)
        return caught

    def _publish_duck(self, position: int, *, always: bool) -> None:
        newest = self._duck.current()
        if (newest is None or newest[1] != position or always) and (always or self._duck.is_due(position)):
            try:
                self._duck.publish(position)
            except OSError as error:  # a generation is a convenience: a full disk must not keep answers back
                if not is_full(error):
                    raise
                if always:
                    self._duck.drop_generations()  # they show what is forgotten by now

    def _drop_what_shows_erased(self) -> list[str]:
        """A generation from before the newest erasure must not be read again, whatever became of its purge."""
        return self._duck.drop_generations(older_than=max(self._reader.control.erasures, default=-1))

    def replay(
        self,
        name: str | None = None,
        *,
        from_scratch: bool = False,
        wait_s: float = 10.0,
        progress: Progress | None = None,
    ) -> list[Caught]:
        """Rebuild the named projection, or all: from the newest snapshot that fits and what came after it, else, or
        `from_scratch`, from the log alone. Raises ValueError for an unknown name.
        """
        begin: Begin = begin_empty if from_scratch else self.snapshots.begin
        if name not in (None, "duck", "catalog", "lance"):
            raise ValueError(f"there is no projection {name!r}; there are duck, catalog and lance")
        done: list[Caught] = []
        with self._owning(wait_s) if name != "lance" else nullcontext():
            if name in (None, "duck"):
                done.append(replay(self._reader, self._duck, begin=begin, progress=progress))
                self._publish_duck(done[-1].position, always=True)
            if name in (None, "catalog"):
                done.append(self.catalog.replay(begin=begin))
        if name == "lance" or (name is None and self.search.exists):
            done.append(self.search.replay(wait_s=wait_s, begin=begin, progress=progress))
        return done

    def snapshot(self, *, keep: int = KEPT, wait_s: float = 10.0) -> Snapshot:
        """Make a snapshot of every projection at the log's present end, and keep the `keep` newest.

        Raises KeyRefusedError without an operator's key, ViewBusyError, DamagedViewError, ValueError.
        """
        if keep < 1:
            raise ValueError(f"keep={keep}: at least the one that is made stays")
        signer = operator(self._reader, "a snapshot")
        with ExitStack() as held:
            held.enter_context(self._owning(wait_s))
            self._reader.refresh()  # others may have brought a projection further than this handle has followed
            standing = take_standing(self._reader)
            self._drop_what_shows_erased()
            catch_up(self._reader, self._duck, begin=self.snapshots.begin, standing=standing)
            dumps = [partial(module_of("duck").dump, self._duck)]
            dumps.append(
                partial(module_of("catalog").dump, held.enter_context(self.catalog.standing_at(standing)))
            )
            if self.search.exists:
                lance = held.enter_context(self.search.standing_at(standing, wait_s=wait_s))
                dumps.append(partial(module_of("lance").dump, lance))
            root = root_at(self._reader, standing.size)
            return self.snapshots.make(dumps, standing, root, signer, keep=keep)

    def purge(self) -> list[str]:
        """After an erasure: rebuild everything, so that no file here holds a byte of it; return the files concerned.

        Paths are relative to the store. Where there is no room to rebuild, everything is removed instead. Snapshots
        that hold the erased go first, and one is made anew in their place: so the next replay stays short.
        """
        dropped = self.snapshots.purge()
        files = set(dropped) | self._purge_projections()
        if dropped:
            with suppress(OSError, ViewError, LedgerError):  # a convenience: the erasure is not held up
                files.add(f"{self.snapshots.folder.name}/{self.snapshot(wait_s=PURGE_WAIT_S).name}")
        return sorted(f"{self._folder.name}/{name}" for name in files)

    def _purge_projections(self) -> set[str]:
        with self._owning(PURGE_WAIT_S):
            self._sandbox.close()
            held = self._duck.files()
            files = {f"duck/{name}" for name in self._duck.drop_generations()}
            try:
                if held:  # what was never made need not be rebuilt
                    done = catch_up(self._reader, self._duck)
                    published = self._duck.publish(done.position)
                    files |= {"duck/work.duckdb", f"duck/{published.name}"}
                    files |= {f"duck/{name}" for name in self._duck.drop_strays(self._duck.work, published)}
            except (OSError, ViewError):
                files |= {f"duck/{name}" for name in self._duck.drop_all()}
            files |= set(self.catalog.purge())
        return files | {f"lance/{name}" for name in self.search.purge()}

    def drop(self) -> list[str]:
        """Remove every file of every projection; return their paths relative to the store. They can be rebuilt."""
        with self._owning(PURGE_WAIT_S):
            self._sandbox.close()
            files = [f"duck/{name}" for name in self._duck.drop_all()] + self.catalog.drop()
        files += [f"lance/{name}" for name in self.search.drop()]
        files += [f"{self.snapshots.folder.name}/{name}" for name in self.snapshots.drop()]
        return sorted(f"{self._folder.name}/{name}" for name in files)

    def sql(
        self,
        statement: str,
        params: Params = None,
        *,
        tables: Tables = None,
        past: Past | None = None,
        limits: Limits | None = None,
        wait_s: float = 0.0,
    ) -> SqlResult:
        """Answer a statement from the newest state: caught up when nobody else is at work, else a generation.

        `tables` are the caller's own, which the statement may join by their names. With `past`, from that past.

        Raises SqlError, SqlTimeoutError, SqlLimitError; ViewBusyError when there is no generation to read.
        """
        ask = partial(
            self._sandbox.run, statement=statement, params=params, limits=limits or Limits(), tables=tables
        )
        if past is not None:
            return SqlResult(self._from_past(ask, past), past.size, self._reader.size - past.size)
        try:
            with self._owning(wait_s):
                position = self._current_position()
                table = ask(self._duck.work)
        except ViewBusyError as error:
            try:
                table, position = self._from_generation(ask, error)
            except ViewBusyError:
                with self._owning(max(wait_s, BUSY_WAIT_S)):
                    position = self._current_position()
                    table = ask(self._duck.work)
        except OSError as error:
            table, position = self._from_generation(ask, error)
        return SqlResult(table, position, self._reader.size - position)

    def _from_past(self, ask: Callable[[Path], Any], past: Past) -> Any:
        for _ in range(_GENERATION_TRIES):
            with suppress(FileNotFoundError):  # another process needed its space meanwhile
                return ask(self.past(past))
        raise ViewBusyError(
            f"{self._duck.folder}: the past of {past.size} records is removed again and again"
        )

    def past(self, past: Past, *, wait_s: float = 10.0, progress: Progress | None = None) -> Path:
        """Return a file of the projection as it was, made where it is not there; nobody writes to it.

        Raises ViewBusyError while another process is at work on the view, ValueError for a size the log never had.
        """
        if not 0 < past.size <= self._reader.size:
            raise ValueError(
                f"the log holds {self._reader.size} records; it never was at {past.size} of them"
            )
        path = self._pasts.path(past)
        try:
            with self._owning(wait_s):
                return self._pasts.make(past, progress)
        except (ViewBusyError, OSError) as error:
            if path.exists():
                return path
            _refuse_read_only(error, self._duck.folder)
            raise

    @property
    def lag(self) -> int:
        """How many records were not looked at, because what finds them can't be written here."""
        return max(self.catalog.lag, self.search.lag)

    def count(self, past: Past) -> dict[str, int]:
        """Return how many rows each table of a past has."""
        counts = " UNION ALL ".join(
            f"SELECT {n} AS n, '{table.name}' AS name, count(*) AS rows FROM {table.name}"  # noqa: S608 - our own names
            for n, table in enumerate(TABLES)
        )
        rows = self.sql(f"{counts} ORDER BY n", past=past).table.to_pylist()
        return {row["name"]: row["rows"] for row in rows}

    def _current_position(self) -> int:
        """Bring the working file to the log's end unless it is known to stand there; return its position."""
        size, erasure = self._reader.size, max(self._reader.control.erasures, default=-1)
        if self._known != (size, erasure, self._duck.signature()):
            position = self._catch_up_duck().position
            self._known = (position, erasure, self._duck.signature())
        return self._known[0]

    def _least(self) -> int:
        """Return the newest tombstone that hides what an older generation still shows, -1 for none."""
        control = self._reader.control
        return max([*control.erasures, *(by for by, _ in control.hidden.values())], default=-1)

    def _from_generation(self, ask: Callable[[Path], Any], why: Exception) -> tuple[Any, int]:
        for _ in range(_GENERATION_TRIES):
            newest = self._duck.current()
            if newest is None:
                continue
            if newest[1] <= self._least():
                if isinstance(why, ObstructedError):
                    raise why
                raise ViewBusyError(
                    f"{self._duck.folder}: another process is at work, and what it has published still shows "
                    "what was forgotten or erased since; try again shortly"
                ) from None
            with suppress(FileNotFoundError):  # the owner has just published another
                return ask(newest[0]), newest[1]
        _refuse_read_only(why, self._duck.folder)
        raise why

    @contextmanager
    def tables(self, *, wait_s: float = 10.0) -> Generator["OpenTables"]:
        """Open the tables, caught up, for reading of our own; they stay as they are meanwhile. Raises ViewBusyError."""
        from braid.views.tables import open_tables

        with self._owning(wait_s):
            self._current_position()
            with open_tables(self._duck.work) as opened:
                yield opened

    def check(self) -> list[Finding]:
        """Compare what the projections hold with the log, the working file with its own digests too; findings are
        values.
        """
        from braid.views.check import check_content

        with self._owning(PURGE_WAIT_S):
            findings = check_content(self._reader, self._duck.work)
        return [*findings, *self.search.check()]

    def newest_snapshot(self) -> dict[str, Any] | None:
        """Return name, size, lag and time of the newest snapshot, and what is wrong with it; None without any."""
        from braid.views.snapshot.condition import newest

        return newest(self._reader, self.snapshots)

    def check_snapshots(self, name: str | None = None) -> dict[str, list[Finding]]:
        """Return what is wrong with each snapshot, or the named one: how it differs from the fold of the log's prefix.

        One whose records are erased meanwhile is passed over: the erasure waits for this to remove it. Raises
        SnapshotError for an unknown name.
        """
        from braid.views.snapshot.check import check_snapshot

        found: dict[str, list[Finding]] = {}
        with self.snapshots.held(PURGE_WAIT_S):
            for one in [name] if name else [path.name for path in self.snapshots.folders()]:
                self._reader.refresh()
                erasures = len(self._reader.control.erasures)
                findings = check_snapshot(self._reader, self.snapshots, one, self.search.home.embedding)
                self._reader.refresh()
                if not findings or len(self._reader.control.erasures) == erasures:
                    found[one] = findings
        return found

    def status(self) -> list[ViewStatus]:
        """Return how each projection stands; nothing is caught up for it."""
        size = self._reader.size
        position = self.catalog.position()
        return [
            self._duck_status(size),
            ViewStatus("catalog", position, size - position, self.catalog.size_bytes()),
            *self._lance_status(size),
        ]

    def _lance_status(self, size: int) -> list[ViewStatus]:
        if not self.search.exists:
            return []
        at = self.search.status()
        return [
            ViewStatus(
                "lance",
                at.position,
                size - at.position,
                at.bytes,
                note=at.note,
                model=at.model,
                pending=at.pending,
            )
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
        self.search.close()
        with self._turn:
            self._sandbox.close()
            self.catalog.close()


def _no_embedder() -> None:
    return None


def _refuse_read_only(error: Exception, folder: Path) -> None:
    """Raise ViewError for an error that says that nothing can be written."""
    if isinstance(error, OSError) and is_unwritable(error):
        raise ViewError(
            f"{folder} can't be written ({error.strerror}), and the projection has to be made there first: "
            "ask a copy of the store that can be written"
        ) from error
