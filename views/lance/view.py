"""An open set of the LanceDB projection: rows and stamp enter in one commit (SPEC §10.10)."""

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from braid.ledger.reader import Reader
from braid.views.embedder import Embedder, EmbeddingError, embedded
from braid.views.errors import DamagedViewError
from braid.views.lance.arrow import pa, schema_of, to_arrow
from braid.views.lance.cache import Cache, Wanted
from braid.views.lance.model import Model, model_of
from braid.views.lance.rows import rows_of
from braid.views.lance.schema import STAMP, TABLE
from braid.views.projection import Batch, Stamp
from braid.wal.failpoint import failpoint

COPY_ROWS: Final = 8_192
INDEX_CACHE_BYTES: Final = 1 << 30
"""Room for the vectors of a million turns: those that aren't in it are read from their file again, at some 1 ms a
megabyte, and a question goes through 50 MB and more. A smaller store takes what its vectors and words need."""
METADATA_CACHE_BYTES: Final = 128 << 20
_NO_STAMPS: Final = "log_index >= 0"


def connect(folder: Path) -> Any:
    """Open a folder with LanceDB, which is loaded here: it takes longer than all else."""
    os.environ.setdefault(
        "LANCE_LOG", "error"
    )  # its warnings of a table that is yet to be made go to our terminal
    import lancedb

    return lancedb.connect(str(folder), session=_session())


@cache
def _session() -> Any:
    """One cache for the process, within bounds: LanceDB's own would grow to 7 GB."""
    import lancedb

    return lancedb.Session(INDEX_CACHE_BYTES, METADATA_CACHE_BYTES)


@contextmanager
def told_as_damage(doing: str) -> Generator[None]:
    """Turn what LanceDB raises into DamagedViewError: its own errors are RuntimeError, ValueError and OSError."""
    try:
        yield
    except (RuntimeError, ValueError, OSError) as error:
        raise DamagedViewError(
            f"it could not be {doing} ({str(error).partition(chr(10))[0][:300]})"
        ) from error


class LanceView:
    """An open set, for writing; the lock is the caller's."""

    def __init__(
        self,
        table: Any,
        model: Model,
        stamp: Stamp | None,
        reader: Reader,
        embedder: Embedder | None,
        *,
        cache: Cache,
    ) -> None:
        """Not for callers: use `create` or `open`."""
        self.table = table
        self.model = model
        self._stamp = stamp
        self._reader = reader
        self._embedder = (
            embedder if model_of(embedder) == model and embedder and not embedder.remote else None
        )
        self._cache = cache

    @classmethod
    def create(
        cls, folder: Path, model: Model, reader: Reader, embedder: Embedder | None, cache: Cache
    ) -> Self:
        """Begin an empty set in a new folder; raise DamagedViewError."""
        folder.mkdir(mode=0o700)
        with told_as_damage("written"):
            table = connect(folder).create_table(TABLE, schema=schema_of(model.dimensions))
            index_columns(table)
        return cls(table, model, None, reader, embedder, cache=cache)

    @classmethod
    def open(
        cls, folder: Path, model: Model, reader: Reader, embedder: Embedder | None, cache: Cache
    ) -> Self:
        """Open a set; raise DamagedViewError for one that LanceDB or this release can't read."""
        with told_as_damage("read"):
            table = connect(folder).open_table(TABLE)
            if table.schema.names != schema_of(model.dimensions).names:
                raise DamagedViewError("its columns are not those of this release")
            return cls(table, model, read_stamp(table), reader, embedder, cache=cache)

    @property
    def stamp(self) -> Stamp | None:
        """What it was made from."""
        return self._stamp

    def apply(self, batch: Batch) -> None:
        """Commit the batch's rows and stamp. What no model can be asked for now is marked pending."""
        entries = [*batch.entries, *batch.again]
        rows = [row for entry in entries for row in rows_of(entry, batch.standing)]
        keys = {entry.record.envelope.index: entry.row_key for entry in entries}
        self._embed(rows, keys)
        rows.append(_stamp_row(batch.stamp))
        failpoint("views.lance.commit")
        # Dying here: the set stands at the batch before; LanceDB passes over files that no commit names.
        with told_as_damage("written"):
            if batch.again or not batch.entries:
                self.replace(rows)
            else:
                self.table.add(to_arrow(rows, self.model.dimensions), on_bad_vectors="null")
        self._stamp = batch.stamp
        failpoint("views.lance.commit.done")

    def replace(self, rows: list[dict[str, Any]]) -> None:
        """Put rows in the place of those with their log index and k, in one commit."""
        merge = self.table.merge_insert(["log_index", "k"])
        merge.when_matched_update_all().when_not_matched_insert_all().execute(
            to_arrow(rows, self.model.dimensions), on_bad_vectors="null"
        )

    def _embed(self, rows: list[dict[str, Any]], keys: dict[int, bytes | None]) -> None:
        waiting = [row for row in rows if row.get("text")]
        for row in waiting:
            row["pending"] = True
        if self._embedder is not None:
            with suppress(EmbeddingError):  # they stay pending; status says how many
                vectors = embedded(self._embedder, [row["text"] for row in waiting])
                for row, vector in zip(waiting, vectors, strict=True):
                    row |= {"vector": vector, "model": self.model.name, "pending": False}
        elif self.model.name:
            wanted = [
                Wanted(row["log_index"], key, self.model.name, row["text"])
                for row in waiting
                if (key := keys[row["log_index"]]) is not None
            ]
            found = self._cache.get(wanted, self.model.dimensions)
            for row in waiting:
                if (vector := found.get(row["log_index"])) is not None:
                    row |= {"vector": vector, "model": self.model.name, "pending": False}

    def take_over(self, source: "LanceView", gone: Sequence[int]) -> None:
        """Copy what another set of the same model holds but the rows of these records; raise DamagedViewError."""
        import pyarrow.compute

        compute: Any = pyarrow.compute
        missing = pa.array(sorted(gone), pa.int64())
        schema = schema_of(self.model.dimensions)

        def left() -> Iterator[Any]:
            for batch in batches_of(source.table, _NO_STAMPS):
                table = pa.Table.from_batches([batch]).select(schema.names)
                for column in ("log_index", "target"):
                    table = table.filter(compute.invert(compute.is_in(table[column], value_set=missing)))
                yield from table.cast(schema).to_batches()

        with told_as_damage("copied"):
            self.table.add(pa.RecordBatchReader.from_batches(schema, left()), on_bad_vectors="null")
            self.set_stamp(source.stamp)

    def set_stamp(self, stamp: Stamp | None) -> None:
        """Say what copied rows were made from."""
        if stamp is not None:
            self.replace([_stamp_row(stamp)])
        self._stamp = stamp

    def finish(self) -> None:
        """Nothing is under way: `apply` commits."""

    def close(self) -> None:
        """LanceDB keeps nothing open that must be closed."""


def batches_of(table: Any, where: str, columns: Sequence[str] | None = None) -> Iterable[Any]:
    """Yield the rows that satisfy `where` as Arrow batches, some thousands in memory at a time."""
    query = table.search().where(where)
    if columns is not None:
        query = query.select(list(columns))
    return query.to_batches(COPY_ROWS)  # type: ignore[no-any-return]


def asked(table: Any) -> Any:
    """Return a new query of LanceDB's asynchronous kind, for `run`.

    The synchronous kind becomes one of these in the end; the way there takes 1 to 3 ms of a query's 4 to 12 (measured).
    Of the table it is given the handle, since one of its own could stand at another version, and nothing else: it would
    fetch the schema each time, to look for blobs, and there are none (measured: 0.4 to 1 ms a query).
    """
    from lancedb.query import AsyncQuery

    return AsyncQuery(table._table._inner.query())


def taken(table: Any, addresses: Sequence[int], columns: Sequence[str]) -> Any:
    """Return the rows at these addresses, each address as `_rowid`, as an Arrow table; where none lies, none comes."""
    from lancedb.query import AsyncTakeQuery

    with told_as_damage("read"):
        taking = AsyncTakeQuery(table._table._inner.take_row_ids(list(addresses)))
        return run(taking.select(list(columns)).with_row_id())


def run(query: Any) -> Any:
    """Return what a query finds as an Arrow table; LanceDB's own thread waits for it."""
    from lancedb.background_loop import LOOP

    loop: Any = LOOP
    return loop.run(query.to_arrow())


def index_columns(table: Any) -> None:
    """Index words, and the columns that narrow a search, of a table that is still empty: it costs nothing yet."""
    from lancedb.index import FTS, Bitmap, BTree

    table.create_index("text", config=FTS())
    for column in ("kind", "pending"):
        table.create_index(column, config=Bitmap())
    for column in ("log_index", "target", "user_id", "agent_id", "run_id", "session_id", "happened_us"):
        table.create_index(column, config=BTree())


def _stamp_row(stamp: Stamp) -> dict[str, Any]:
    return {
        "log_index": -1 - stamp.position,
        "k": 0,
        "kind": STAMP,
        "pending": False,
        "label": msgspec.json.encode(stamp).decode(),
    }


def read_stamp(table: Any) -> Stamp | None:
    """Return the newest of a table's stamps; raise DamagedViewError for one that can't be read."""
    rows = table.search().where("log_index < 0").select(["log_index", "label"]).to_arrow().to_pylist()
    if not rows:
        return None
    try:
        return msgspec.json.decode(min(rows, key=lambda row: row["log_index"])["label"], type=Stamp)
    except (msgspec.MsgspecError, TypeError) as error:
        raise DamagedViewError(f"its stamp can't be read ({error})") from error
