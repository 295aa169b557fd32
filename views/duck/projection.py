"""The DuckDB projection: rows, digests and stamp in one transaction each (SPEC §10.2, §10.5).

Rows are made in the caller's thread and inserted in another, one batch behind: DuckDB leaves Python's lock alone.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

import duckdb
import msgspec

from braid.views.duck.arrow import to_arrow
from braid.views.duck.batch import MadeBatch, make
from braid.views.duck.checkpoints import read_history
from braid.views.duck.digest import BUCKET, Digest, bucket_root, content_digest
from braid.views.duck.generations import require_whole
from braid.views.duck.schema import CHECKPOINTS, TABLES, Column, Table, quoted
from braid.views.duck.shape import definitions
from braid.views.errors import DamagedViewError, spoilt
from braid.views.projection import Batch, Stamp
from braid.wal.failpoint import failpoint

CONFIG: Final[dict[str, str | bool | int | float | list[str]]] = {
    "temp_directory": "",  # nothing is spilled: a temporary file would be one more place to erase
    "memory_limit": "1GB",
    "threads": "1",  # the other core is making rows
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_LOADED: Final = f"SET threads = {CONFIG['threads']}; SET force_compression = 'auto'"
_USUAL: Final = f"{_LOADED}; RESET max_vacuum_tasks"
"""What loading, and filling a new file, set otherwise for a while."""
_LOADING_THREADS: Final = 4
ROW_GROUP: Final = 2_048
"""The least that DuckDB allows. It holds a table's last row group in memory and writes it again with each checkpoint:
with its own 122,880 that was two thirds of all work at a million records, and more memory than there is at 10,000
records of 100 kB (ADR 34).
"""
_OURS: Final = f"ROW_GROUP_SIZE {ROW_GROUP}"
_EMPTY: Final[list[bytes]] = []
"""The bytes of a file that has every definition and no row yet, once this process has made one."""
_DIGESTS: Final = Table("digests", "", (Column("log_index", "BIGINT", ""), Column("hash", "BLOB", "")))
_INDEXES: Final = Table("indexes", "", _DIGESTS.columns[:1])


PROJECTION: Final = "projection"
"""The name under which a file is attached."""
_IDLE: Final[list[duckdb.DuckDBPyConnection]] = []
"""An instance of DuckDB with nothing attached, kept for the next file that is followed: to make one takes 10 ms, longer
than to take in what an append brings. Appending and popping are one step each, so no lock is needed."""
_FORKED: Final[list[duckdb.DuckDBPyConnection]] = []
"""What a fork takes along and must not use, nor end."""


def _forked() -> None:
    _FORKED.extend(_IDLE)
    _IDLE.clear()


os.register_at_fork(after_in_child=_forked)


def connect(path: Path, *, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """Open a file of the projection within our limits; duckdb.Error where it can't be."""
    return _attached(_instance(), path, "READ_ONLY" if read_only else _OURS)


@contextmanager
def reading(path: Path) -> Generator[duckdb.DuckDBPyConnection]:
    """Open a file of the projection for reading, with an instance that was kept; duckdb.Error where it can't be."""
    con = _attached(_kept(), path, "READ_ONLY")
    try:
        yield con
    finally:
        _keep(con)


def _reconnect(path: Path) -> duckdb.DuckDBPyConnection:
    """As `connect`, for writing, with an instance that was kept; to be closed by `_let_go`."""
    return _attached(_kept(), path, _OURS)


def _let_go(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Close a connection's file, which folds its write-ahead file in, and keep the instance where all went well."""
    _keep(con, lambda: require_whole(path))


def _kept() -> duckdb.DuckDBPyConnection:
    try:
        return _IDLE.pop()
    except IndexError:
        return _instance()


def _keep(con: duckdb.DuckDBPyConnection, checked: Callable[[], None] = lambda: None) -> None:
    """Close a connection's file, and keep its instance where that and what is `checked` went well.

    BEGIN is refused within a transaction that was not ended. DETACH was too, until DuckDB 2.0.1 took it: the next file
    would have been followed inside the failed transaction of this one.
    """
    try:
        con.execute(f"BEGIN; ROLLBACK; USE memory; DETACH projection; {_USUAL}")
        checked()
    except (duckdb.Error, OSError):  # a transaction that was not ended, say, or a full disk
        con.close()
        return
    if _IDLE:
        con.close()
    else:
        _IDLE.append(con)


def _instance() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(":memory:", config={**CONFIG})
    with suppress(
        duckdb.Error
    ):  # in a notebook without its widgets there is no bar to put out, and it says so
        con.execute("SET enable_progress_bar = false")  # it would be drawn on our standard output
    return con


def _attached(con: duckdb.DuckDBPyConnection, path: Path, how: str) -> duckdb.DuckDBPyConnection:
    try:
        _attach(con, path, how)
    except BaseException:
        con.close()
        raise
    return con


def _attach(con: duckdb.DuckDBPyConnection, path: Path, how: str) -> None:
    con.execute(f"ATTACH {quoted(str(path))} AS {PROJECTION} ({how}); USE {PROJECTION}")


def _begin(path: Path) -> duckdb.DuckDBPyConnection:
    """Open a new file with all definitions and no row; duckdb.Error or OSError where it can't be.

    Definitions and comments take as long as some hundred records, and a process that erases or asks the past begins
    many files: the first is kept as it is before there is a row in it, and copied.
    """
    if _EMPTY:
        path.touch(0o600, exist_ok=False)
        path.write_bytes(_EMPTY[0])
        return _reconnect(path)
    con = _reconnect(path)
    try:
        path.chmod(0o600)
        con.execute(";".join(["BEGIN", *definitions(), "COMMIT"]))
        con.execute("USE memory; DETACH projection")
        require_whole(path)
        _EMPTY.append(path.read_bytes())
        _attach(con, path, _OURS)
    except BaseException:
        con.close()
        raise
    return con


class Meta(msgspec.Struct, frozen=True):
    """The one row of `view_state.meta`: written with every batch."""

    stamp: Stamp
    digest: str
    unknown: int
    """Records of kinds that this release doesn't know."""
    unreadable: int
    """Records whose body is not that of their kind."""
    history: int
    """Bytes of the file `checkpoints` that were taken in."""

    @property
    def content(self) -> Digest:
        """The content digest with the head that it belongs to."""
        return Digest(self.digest, self.stamp.origin, self.stamp.position, self.stamp.root)


class DuckView:
    """An open working file of the DuckDB projection."""

    meta: Meta | None

    def __init__(self, con: duckdb.DuckDBPyConnection, history: Path, meta: Meta | None) -> None:
        """Not for callers: use `create` or `open`."""
        self._con = con
        self._let_go = con.close
        self._history = history
        self._roots: list[bytes] = []
        self._worker = ThreadPoolExecutor(1, "braid-duck")
        self._under_way: Future[None] | None = None
        self.meta = meta
        self.when_closed: Callable[[int], None] | None = None
        """Told, once the file is closed, the position that it stands at."""

    @classmethod
    def create(cls, path: Path, history: Path) -> Self:
        """Begin an empty file; `history` is the store's file of published checkpoints. Raises DamagedViewError."""
        try:
            con = _begin(path)
            # Batches end in row groups that are not full. To merge them would write again what was just written; a
            # file that is followed does merge, or what is made again would pile up.
            con.execute("SET max_vacuum_tasks = 0")
        except duckdb.Error as error:  # a full disk, as a rule
            raise spoilt(f"{path} can't be written ({first_line(error)})", error) from error
        view = cls(con, history, None)
        view._let_go = partial(_let_go, con, path)
        return view

    def take_over(self, source: Path, gone: Sequence[int]) -> None:
        """Copy all that a closed working file holds but the rows of these records; raise DamagedViewError."""
        con = self._con
        con.register("gone", to_arrow(_INDEXES, [(index,) for index in gone]))
        try:
            con.execute(f"ATTACH {quoted(str(source))} AS old (READ_ONLY)")
            for name in (*(table.name for table in TABLES), "view_state.row_digests"):
                left = f"FROM old.{name} WHERE log_index NOT IN (FROM gone)"
                con.execute(f"INSERT INTO {name} {left}")
            for name in ("checkpoints", "view_state.bucket_roots", "view_state.meta"):
                con.execute(f"INSERT INTO {name} FROM old.{name}")
            con.execute("DETACH old")
            self.meta = read_meta(con)
            self._roots = _read_roots(con)
        except BaseException as error:
            self._let_go = con.close  # `old` may be attached still, and hold what was erased
            if isinstance(error, duckdb.Error):
                raise spoilt(f"it could not be copied ({first_line(error)})", error) from error
            raise
        finally:
            con.unregister("gone")

    def take_in(self, files: Mapping[str, Path], meta: Meta) -> None:
        """Take in the tables of a snapshot, a Parquet file each; raise DamagedViewError, also for another content."""
        con = self._con
        try:
            # Nothing else is at work yet, so that every core may decode; a file that is not finished is thrown away.
            # Choosing a compression for each column costs more than all else; text is what there is most of.
            con.execute(f"SET threads = {max(1, min(_LOADING_THREADS, os.cpu_count() or 1))}")
            con.execute("SET force_compression = 'zstd'")
            for name, path in files.items():
                con.execute(f"INSERT INTO {name} FROM read_parquet({quoted(str(path))})")
            con.execute(_LOADED)
            self.meta, self._roots = meta, _read_roots(con)
            self._commit(MadeBatch({}, [], [], 0, 0, meta.stamp))
        except duckdb.Error as error:
            raise spoilt(f"it could not be taken in ({first_line(error)})", error) from error
        if self.meta.digest != meta.digest:
            raise DamagedViewError(f"its rows have the digest {self.meta.digest}, not {meta.digest}")

    @classmethod
    def open(cls, path: Path, history: Path) -> Self:
        """Open a working file; raise DamagedViewError for one that DuckDB or this release can't read."""
        if not path.exists():
            raise DamagedViewError("there is none yet")
        con: duckdb.DuckDBPyConnection | None = None
        try:
            con = _reconnect(path)
            view = cls(con, history, read_meta(con))
            view._let_go = partial(_let_go, con, path)
            view._roots = _read_roots(con)
        except (duckdb.Error, UnicodeDecodeError) as error:
            if con is not None:
                con.close()
            raise DamagedViewError(f"the file can't be read ({first_line(error)})") from error
        except BaseException:
            if con is not None:
                con.close()
            raise
        return view

    @property
    def stamp(self) -> Stamp | None:
        """What it was made from."""
        return self.meta.stamp if self.meta else None

    def apply(self, batch: Batch) -> None:
        """Make the batch's rows, wait for the batch before it, and let the insertion run behind."""
        self.take(make(batch))

    def take(self, made: MadeBatch) -> None:
        """Apply a batch whose rows were made elsewhere."""
        self.finish()
        self._under_way = self._worker.submit(self._commit, made)

    def finish(self) -> None:
        """Return once every batch is committed; raise DamagedViewError when the file turns out to be broken."""
        if self._under_way is None:
            return
        under_way, self._under_way = self._under_way, None
        try:
            under_way.result()
        except duckdb.Error as error:
            raise spoilt(f"it could not be written ({first_line(error)})", error) from error

    def _commit(self, made: MadeBatch) -> None:
        """Rows, digests and stamp, all or nothing."""
        con = self._con
        con.execute("BEGIN")
        if made.remade:
            self._remove(made.remade)
        for number, rows in sorted(made.tables.items()):
            self._insert(TABLES[number].name, rows)
        if made.hashes:
            self._insert("view_state.row_digests", to_arrow(_DIGESTS, made.hashes))
        old = self.meta
        roots = self._touch_buckets(made, old.stamp.position if old else 0)
        seen = old.history if old else 0
        history, seen = read_history(self._history, seen)
        if history:
            self._insert("checkpoints", to_arrow(CHECKPOINTS, history))
        meta = Meta(
            made.stamp,
            content_digest(roots),
            made.unknown + (old.unknown if old else 0),
            made.unreadable + (old.unreadable if old else 0),
            seen,
        )
        self._set_meta(meta)
        failpoint("views.commit")
        # Dying here: the file stands at the batch before; catching up does this one again.
        con.execute("COMMIT")
        self.meta, self._roots = meta, roots
        failpoint("views.commit.done")
        # Dying here: rows and position stand together at this batch.

    def _set_meta(self, meta: Meta) -> None:
        con = self._con
        con.execute("DELETE FROM view_state.meta")
        con.execute(
            "INSERT INTO view_state.meta VALUES (?, ?, ?, ?, ?)",
            [
                msgspec.json.encode(meta.stamp).decode(),
                meta.digest,
                meta.unknown,
                meta.unreadable,
                meta.history,
            ],
        )

    def _remove(self, indexes: list[int]) -> None:
        self._con.register("remade", to_arrow(_INDEXES, [(index,) for index in indexes]))
        for name in (*(table.name for table in TABLES), "view_state.row_digests"):
            self._con.execute(f"DELETE FROM {name} WHERE log_index IN (SELECT log_index FROM remade)")  # noqa: S608 - our own names
        self._con.unregister("remade")

    def _insert(self, name: str, rows: Any) -> None:
        self._con.register("incoming", rows)
        self._con.execute(f"INSERT INTO {name} SELECT * FROM incoming")  # noqa: S608 - our own names
        self._con.unregister("incoming")

    def _touch_buckets(self, made: MadeBatch, before: int) -> list[bytes]:
        """Return all bucket roots after this batch, rewriting those it touched; its hashes are stored already."""
        first, last = before // BUCKET, (made.stamp.position + BUCKET - 1) // BUCKET
        old = {index // BUCKET for index in made.remade}
        if before % BUCKET:
            old.add(first)
        dirty = sorted(old | set(range(first, last)))
        if not dirty:
            return self._roots
        present: defaultdict[int, list[bytes]] = defaultdict(list)
        for index, hash_ in made.hashes:
            present[index // BUCKET].append(hash_)
        for bucket in old:  # partly, or wholly, of earlier records
            present[bucket] = [hash_ for (hash_,) in self._con.execute(
                "SELECT hash FROM view_state.row_digests WHERE log_index >= ? AND log_index < ? ORDER BY log_index",
                [bucket * BUCKET, (bucket + 1) * BUCKET],
            ).fetchall()]  # fmt: skip
        roots = [*self._roots, *[b""] * (last - len(self._roots))]
        for bucket in dirty:
            roots[bucket] = bucket_root(present[bucket])
        self._con.register("dirty", to_arrow(_INDEXES, [(bucket,) for bucket in dirty]))
        self._con.execute("DELETE FROM view_state.bucket_roots WHERE bucket IN (SELECT log_index FROM dirty)")
        self._con.unregister("dirty")
        self._insert(
            "view_state.bucket_roots", to_arrow(_DIGESTS, [(bucket, roots[bucket]) for bucket in dirty])
        )
        return roots

    def close(self) -> None:
        """Close the file; DuckDB folds its write-ahead file in. A batch under way is waited for, its error dropped.

        Raises DamagedViewError when that fails.
        """
        self._worker.shutdown()
        try:
            self._let_go()
        except duckdb.Error as error:
            raise spoilt(f"it could not be closed ({first_line(error)})", error) from error
        if self.when_closed is not None and self.meta is not None:
            self.when_closed(self.meta.stamp.position)


def _read_roots(con: duckdb.DuckDBPyConnection) -> list[bytes]:
    return [
        root for (root,) in con.execute("SELECT root FROM view_state.bucket_roots ORDER BY bucket").fetchall()
    ]


def read_meta(con: duckdb.DuckDBPyConnection) -> Meta:
    """Return what a file of the projection says of itself; raise DamagedViewError where it says nothing."""
    rows = con.execute("SELECT stamp, digest, unknown, unreadable, history FROM view_state.meta").fetchall()
    if len(rows) != 1:
        raise DamagedViewError("it was never finished")
    try:
        stamp = msgspec.json.decode(rows[0][0], type=Stamp)
    except msgspec.MsgspecError as error:
        raise DamagedViewError(f"its stamp can't be read ({error})") from error
    return Meta(stamp, *rows[0][1:])


def first_line(error: Exception) -> str:
    """Return what DuckDB says is wrong, in a line."""
    first = str(error).partition("\n")[0]
    if "to allocate" in first or "not allocate" in first:
        return f"the records are too long for the {CONFIG['memory_limit']} of memory that it may use: {first}"
    return first
