"""All projections of a store, treated alike: caught up, replayed, purged, dropped, asked (SPEC §10).

The LanceDB projection is made when it is first asked: a store that is never searched pays nothing for it.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from braid.ledger.audit.findings import Finding
from braid.ledger.errors import LedgerError
from braid.ledger.read.prefix import root_at
from braid.ledger.read.reader import Reader
from braid.ledger.read.signatory import operator
from braid.views.catalog.projection import Catalog
from braid.views.duck.generations import DuckHome, PrivateCopy
from braid.views.duck.past import Past, Pasts
from braid.views.duck.sandboxes import EndedError, Sandboxes, Statement
from braid.views.duck.schema import TABLES
from braid.views.duck.seal import Seals, seal_of
from braid.views.duck.sql import Params, QueryLimits, Stop, Tables
from braid.views.duck.vectors import COSINES, EARLIER, LATER, MODEL, POSITION, WAITING
from braid.views.embedder import Embedder
from braid.views.errors import DamagedViewError, SqlTimeoutError, UnsealedError, ViewBusyError, ViewError
from braid.views.lance.search import Search
from braid.views.obstruction import clear_way
from braid.views.private_copy import Aside
from braid.views.projection import HeadFacts, Home
from braid.views.replay import (
    ERASED,
    Begin,
    Progress,
    SnapshotStart,
    begin_empty,
    catch_up,
    refusal,
    replay,
    take_standing,
)
from braid.views.snapshot.folder import Snapshots, module_of
from braid.views.status import KEPT, Caught, Newest, Snapshot, ViewStatus
from braid.wal.durable import is_unwritable, keeps_reading, make_folder, may_not_grow
from braid.wal.errors import LogLockedError, ObstructedError, WalError
from braid.wal.lock import FileLock

if TYPE_CHECKING:
    from braid.views.duck.tables import OpenTables

PURGE_WAIT_S = 120.0
BUSY_WAIT_S = 10.0
MOST_FINDINGS = 200
_TRIES = 5
_OF_PAIRS = ("similar_to", "connections")
"""Views for which vectors are held against each other."""


_Found = TypeVar("_Found")


class SqlResult(msgspec.Struct, frozen=True):
    """A pyarrow Table, the position of the log that it speaks of, and how many records came after."""

    table: Any
    position: int
    behind_by: int
    rebuilt: str | None = None
    """Why the projection had to be made again before it could be asked; told once."""


class Views:
    """The projections of one store, in its folder `views`. Safe to share between threads, which take turns."""

    def __init__(
        self, folder: Path, reader: Reader, embedder: Callable[[], Embedder | None] | None = None
    ) -> None:
        """`embedder` is called when a model is first needed; without one, the LanceDB projection holds words only."""
        self._folder = folder
        self._reader = reader
        self._turn = RLock()
        self._seals = Seals(reader)
        self._duck = DuckHome(folder / "duck", reader.path / "checkpoints", self._seals)
        self._pasts = Pasts(reader, self._duck)
        self._aside = Aside(self._duck, reader.path / "checkpoints", self._seals)
        self._lock = FileLock(folder / "duck" / "lock")
        self._sandboxes = Sandboxes()
        self._known: tuple[int, int, object] = (-1, -1, None)
        self._rebuilt: str | None = None
        """Why the working file was made again, until that is told."""
        self.snapshots = Snapshots(folder / "snapshots", reader)
        self.catalog = Catalog(folder, reader, self.snapshots.begin, self._aside.folder)
        self.search = Search(
            folder / "lance", reader, embedder or _no_embedder, self.snapshots.begin, self._aside.folder
        )

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
        self,
        *,
        publish: bool = False,
        wait_s: float = 10.0,
        progress: Progress | None = None,
        meanings: bool = True,
    ) -> list[Caught]:
        """Bring every projection to the log's end; `publish` makes a generation even when none is due.

        `meanings`: LanceDB's too, where there is one.

        Raises ViewBusyError after `wait_s` seconds in which another process was at work.
        """
        with self._owning(wait_s):
            caught = self._catch_up_duck(progress=progress)
            if publish:
                self._publish_duck(caught.position, always=True)
            done = [caught, self.catalog.catch_up()]
        is_searched = meanings and self.search.exists
        return [*done, self.search.catch_up(wait_s=wait_s)] if is_searched else done

    def _catch_up_duck(self, progress: Progress | None = None) -> Caught:
        self._drop_what_shows_erased()
        known = self._duck.work.exists()
        caught = catch_up(self._reader, self._duck, begin=self._begin, progress=progress)
        if known and caught.rebuilt not in (None, ERASED):
            self._rebuilt = caught.rebuilt
        self._publish_duck(caught.position, always=caught.rebuilt is not None or caught.again > 0)
        return caught

    def _begin(self, home: Home, standing: HeadFacts) -> SnapshotStart:
        """Begin a fresh working file from the newest generation, where it may be believed and fits; else a snapshot."""
        newest = self._duck.current()
        if newest is None:
            return self.snapshots.begin(home, standing)
        try:
            view = self._duck.fresh_from(newest[0])
        except (DamagedViewError, FileNotFoundError):
            return self.snapshots.begin(home, standing)
        if refusal(view.stamp, home.version, self._reader, standing) is None:
            return SnapshotStart(view, newest[0].name)
        view.close()
        return self.snapshots.begin(home, standing)

    def _publish_duck(self, position: int, *, always: bool) -> None:
        newest = self._duck.current()
        if (newest is None or newest[1] != position or always) and (always or self._duck.is_due(position)):
            try:
                self._duck.publish(position)
            except OSError as error:  # a generation is a convenience: a full disk must not keep answers back
                if not may_not_grow(error):
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
        `from_scratch`, from the log alone. Raises ValueError for an unknown name, ViewBusyError.
        """
        begin: Begin = begin_empty if from_scratch else self.snapshots.begin
        if name not in (None, "duck", "catalog", "lance"):
            raise ValueError(f"there is no projection {name!r}; there are duck, catalog and lance")
        cleared = tuple(clear_way(self._folder))
        done: list[Caught] = []
        with self._owning(wait_s) if name != "lance" else nullcontext():
            if name in (None, "duck"):
                done.append(replay(self._reader, self._duck, begin=begin, progress=progress))
                self._publish_duck(done[-1].position, always=True)
            if name in (None, "catalog"):
                done.append(self.catalog.replay(begin=begin))
        if name == "lance" or (name is None and self.search.exists):
            done.append(self.search.replay(wait_s=wait_s, begin=begin, progress=progress))
        return [msgspec.structs.replace(one, cleared=cleared) for one in done]

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
            catch_up(self._reader, self._duck, begin=self._begin, standing=standing)
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
        that hold the erased go first, and one is made again in their place: so the next replay stays short. What stands
        where a file or folder of ours belongs goes too.
        Raises ViewBusyError while another process is at work.
        """
        failures: list[Exception] = []

        def attempted(purge: Callable[[], Iterable[str]]) -> list[str]:  # what keeps one part keeps no other
            try:
                return list(purge())
            except (OSError, ViewError, WalError) as error:
                failures.append(error)
                return []

        self.search.leave_aside()
        with self._turn:
            self._aside.close()
        files = set(attempted(partial(clear_way, self._folder)))
        dropped = attempted(self.snapshots.purge)
        files.update(dropped, attempted(self._purge_tables))
        files.update(f"lance/{name}" for name in attempted(self.search.purge))
        if failures:
            raise failures[0]
        if dropped:
            with suppress(OSError, ViewError, LedgerError):  # a convenience: the erasure is not held up
                files.add(f"{self.snapshots.folder.name}/{self.snapshot(wait_s=PURGE_WAIT_S).name}")
        return sorted(f"{self._folder.name}/{name}" for name in files)

    def _purge_tables(self) -> set[str]:
        with self._owning(PURGE_WAIT_S):
            self._sandboxes.end()
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
            if self._reader.vault is not None:
                files |= {f"lineage/{name}" for name in self._reader.key_index.purge()}
        return files

    def drop(self) -> list[str]:
        """Remove every file of every projection; return their paths relative to the store. They can be rebuilt.

        Raises ViewBusyError while another process is at work.
        """
        clear_way(self._folder)
        with self._owning(PURGE_WAIT_S):
            self._sandboxes.end()
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
        limits: QueryLimits | None = None,
        wait_s: float = 0.0,
        stop: Stop = None,
    ) -> SqlResult:
        """Answer a statement from the newest state: caught up when nobody else is at work, else a generation.

        `tables` are the caller's own, which the statement may join by their names. With `past`, from that past. A
        statement that takes long holds no lock, and begins again where an erasure comes between. `stop` ends it.

        Raises SqlError, SqlTimeoutError, SqlLimitError, SqlStoppedError; ViewBusyError when there is no generation to
        read, and when as many long statements as may run are running.
        """
        asked = Statement(statement, params, limits or QueryLimits(), tables, self._vectors(statement), stop)
        for _ in range(_TRIES):
            with suppress(EndedError):
                return self._answer(asked, past, wait_s)
        raise ViewBusyError(
            f"{self._duck.folder}: erasures stop the statement again and again; try again later"
        )

    def _answer(self, asked: Statement, past: Past | None, wait_s: float) -> SqlResult:
        if past is not None:
            return SqlResult(self._from_past(asked, past), past.size, self._reader.size - past.size)
        try:
            table, position = self._from_work(asked, wait_s)
        except ViewBusyError as error:
            try:
                table, position = self._from_generation(asked, error)
            except ViewBusyError:
                table, position = self._from_work(asked, max(wait_s, BUSY_WAIT_S))
        except OSError as error:
            newest = self._duck.current()
            if keeps_reading(error) and not (
                newest is not None and self._shows_all_erasures(newest) and self._seals.holds(newest[0])
            ):
                past = Past(self._reader.size)
                return SqlResult(self._from_past(asked, past), past.size, 0)
            table, position = self._from_generation(asked, error)
        rebuilt, self._rebuilt = self._rebuilt, None
        return SqlResult(table, position, self._reader.size - position, rebuilt)

    def _from_work(self, asked: Statement, wait_s: float) -> tuple[Any, int]:
        """Ask the working file at the log's end; of what takes long, a copy of it, when its lock is free again."""
        try:
            return self._of_work(wait_s, partial(self._sandboxes.quickly, asked))
        except SqlTimeoutError:
            if not asked.may_take_long:
                raise
        with self._sandboxes.place(asked):
            (copy, since), position = self._of_work(wait_s, self._copied)
            with copy as path:
                try:
                    table = self._sandboxes.patiently(asked, path, since=since)
                except FileNotFoundError:  # another process has erased something
                    raise EndedError from None
        self._reader.refresh()
        if max(self._reader.control.erasures, default=-1) >= position:  # by another process
            raise EndedError
        return table, position

    def _copied(self, path: Path) -> tuple[PrivateCopy, int]:
        return self._duck.private_copy(path), self._sandboxes.ended

    def _of_work(self, wait_s: float, use: Callable[[Path], _Found]) -> tuple[_Found, int]:
        """Return what is found in the working file; one that is changed meanwhile is made again, and asked again."""
        with self._owning(wait_s):
            for left in reversed(range(_TRIES)):
                position = self._current_position()
                try:
                    with self._duck.reading() as path:
                        return use(path), position
                except UnsealedError:
                    if not left:
                        raise
        raise AssertionError("unreachable")

    def _vectors(self, statement: object) -> dict[str, Any]:
        """Return what views ask of LanceDB, for a statement that names one of them: opening it takes a second.

        Nothing is caught up for it, and what can't be read there counts as pending.
        """
        asked = statement.lower() if isinstance(statement, str) else ""
        pairs = any(name in asked for name in _OF_PAIRS)
        if not (pairs or "embeddings" in asked) or not self.search.exists:
            return {}
        with suppress(DamagedViewError):
            held = self.search.held()
            told: dict[str, Any] = {POSITION: held.position, WAITING: held.waiting}
            told |= {MODEL: held.model} if held.model else {}
            return told | (
                dict(zip((LATER, EARLIER, COSINES), self.search.similar(), strict=True)) if pairs else {}
            )
        return {}

    def _from_past(self, asked: Statement, past: Past) -> Any:
        why: Exception | None = None
        for _ in range(_TRIES):
            since = self._sandboxes.ended
            try:
                with self._seals.opened(self.past(past)) as path:
                    return self._sandboxes.anyhow(asked, path, since=since)
            except (FileNotFoundError, UnsealedError) as error:  # removed for its space meanwhile, or changed
                why = error
        if isinstance(why, UnsealedError):
            raise why
        raise ViewBusyError(
            f"{self._duck.folder}: the past of {past.size} records is removed again and again"
        )

    def past(self, past: Past, *, wait_s: float = 10.0, progress: Progress | None = None) -> Path:
        """Return a file of the projection as it was, made where it is not there; nobody writes to it.

        Where nothing can be written it is made in a private folder, which goes when this is closed. Raises
        ViewBusyError while another process is at work on the view, ValueError for a size the log never had.
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
            if path.exists() and self._seals.holds(path):
                return path
            if isinstance(error, OSError) and keeps_reading(error):
                with self._turn:
                    return Pasts(self._reader, self._aside.home()).make(past, progress)
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

    def _shows_all_erasures(self, generation: tuple[Path, int] | None) -> bool:
        """Whether a generation is from behind the newest tombstone that hides something."""
        return generation is not None and generation[1] > self._least()

    def _from_generation(self, asked: Statement, why: Exception) -> tuple[Any, int]:
        for _ in range(_TRIES):
            since = self._sandboxes.ended
            newest = self._duck.current()
            if newest is None:
                continue
            if not self._shows_all_erasures(newest):
                if isinstance(why, ObstructedError):
                    raise why
                raise ViewBusyError(
                    f"{self._duck.folder}: another process is at work, and what it has published still shows "
                    "what was forgotten or erased since; try again shortly"
                ) from None
            with (
                suppress(FileNotFoundError, UnsealedError),  # the owner has just published another
                self._seals.opened(newest[0]) as path,
            ):
                return self._sandboxes.anyhow(asked, path, since=since), newest[1]
        raise why

    @contextmanager
    def tables(self, *, wait_s: float = 10.0) -> Generator["OpenTables"]:
        """Open the tables, caught up, for reading of our own; they stay as they are meanwhile. Raises ViewBusyError."""
        from braid.views.duck.tables import open_tables

        with self._owning(wait_s):
            self._current_position()
            with self._duck.reading() as path, open_tables(path) as opened:
                yield opened

    def check(self) -> list[Finding]:
        """Compare every projection with the log, row for row; findings are values, at most some hundred a projection.

        Nothing is caught up or mended for it. Of a store that can't be written the files are looked at as they are, the
        working one in a private copy. Raises ViewBusyError while another process is at work.
        """
        from braid.views.catalog.check import check_catalog
        from braid.views.duck.check import check_content

        try:
            with self._owning(PURGE_WAIT_S):
                duck = check_content(self._reader, self._duck.work)
        except OSError as error:
            if not is_unwritable(error):
                raise
            with self._turn:
                duck = check_content(self._reader, self._aside.copy_of_work())
        catalog = check_catalog(self._reader, self._folder / "catalog.sqlite")
        every = ([*duck, *self._unsealed()], catalog, self.search.check())
        return [one for found in every for one in _bounded(found)]

    def _unsealed(self) -> Iterator[Finding]:
        """Yield the newest generation, and the pasts with a seal, where no seal fits: a crash leaves none of these."""
        newest = self._duck.current()
        sealed = [path for path in self._duck.folder.glob("past-*.duckdb") if seal_of(path).exists()]
        copies = [*([newest[0]] if newest else []), *sorted(sealed)]
        for path in copies if self._reader.vault is not None else []:
            if not self._seals.holds(path):
                where = f"views/duck/{path.name}"
                yield Finding("projection", "it bears no seal that fits it: it was changed", file=where)

    def newest_snapshot(self) -> Newest | None:
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
            self._sandboxes.end()
            if self._seals.behind:
                with suppress(ViewBusyError, OSError), self._owning(0.0):
                    self._seals.settle()
            self.catalog.close()
            self._aside.close()


def _bounded(found: list[Finding]) -> list[Finding]:
    """Return the first findings, and one that counts the rest."""
    rest = found[MOST_FINDINGS:]
    if not rest:
        return found
    more = Finding("projection", f"{len(rest):,} more findings of this file", None, file=rest[0].file)
    return [*found[:MOST_FINDINGS], more]


def _no_embedder() -> None:
    return None
