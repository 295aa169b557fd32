"""An open set of the LanceDB projection: rows and stamp enter in one commit (SPEC §10.10)."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from braid.ledger.read.reader import Reader
from braid.ledger.record.scope import SCOPES
from braid.views.embedder import Embedder, EmbeddingError, embedded
from braid.views.errors import DamagedViewError, spoilt
from braid.views.lance.arrow import pa, schema_of, to_arrow
from braid.views.lance.cache import Cache, CacheKey
from braid.views.lance.model import VectorModel, model_of
from braid.views.lance.rows import rows_of
from braid.views.lance.schema import STAMP, TABLE
from braid.views.lance.table import FTS, Bitmap, BTree, Table
from braid.views.projection import Batch, Stamp
from braid.wal.failpoint import failpoint

COPY_ROWS: Final = 8_192
_NO_STAMPS: Final = "log_index >= 0"


@contextmanager
def told_as_damage(doing: str) -> Generator[None]:
    """Turn what LanceDB raises, RuntimeError, ValueError and OSError, into DamagedViewError; OSError if it is full."""
    try:
        yield
    except (RuntimeError, ValueError, OSError) as error:
        raise spoilt(f"it could not be {doing} ({str(error).partition(chr(10))[0][:300]})", error) from error


class LanceView:
    """An open set, for writing; the lock is the caller's."""

    def __init__(
        self,
        table: Table,
        model: VectorModel,
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
        cls, folder: Path, model: VectorModel, reader: Reader, embedder: Embedder | None, cache: Cache
    ) -> Self:
        """Begin an empty set in a new folder; raise DamagedViewError."""
        folder.mkdir(mode=0o700)
        with told_as_damage("written"):
            table = Table.create(folder, TABLE, schema_of(model.dimensions))
            index_columns(table)
        return cls(table, model, None, reader, embedder, cache=cache)

    @classmethod
    def open(
        cls, folder: Path, model: VectorModel, reader: Reader, embedder: Embedder | None, cache: Cache
    ) -> Self:
        """Open a set; raise DamagedViewError for one that LanceDB or this release can't read."""
        with told_as_damage("read"):
            table = Table.open(folder, TABLE)
            if table.names != schema_of(model.dimensions).names:
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
                self.table.add(to_arrow(rows, self.model.dimensions))
        self._stamp = batch.stamp
        failpoint("views.lance.commit.done")

    def replace(self, rows: list[dict[str, Any]]) -> None:
        """Put rows in the place of those with their log index and k, in one commit."""
        self.table.replace(to_arrow(rows, self.model.dimensions), ["log_index", "k"])

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
                CacheKey(row["log_index"], key, self.model.name, row["text"])
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
            for batch in source.table.batches(_NO_STAMPS, None, COPY_ROWS):
                table = pa.Table.from_batches([batch]).select(schema.names)
                for column in ("log_index", "target"):
                    table = table.filter(compute.invert(compute.is_in(table[column], value_set=missing)))
                yield from table.cast(schema).to_batches()

        with told_as_damage("copied"):
            self.table.add(pa.RecordBatchReader.from_batches(schema, left()))
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


def index_columns(table: Table) -> None:
    """Index words, and the columns that narrow a search, of a table that is still empty: it costs nothing yet."""
    table.create_index("text", FTS())
    for column in ("kind", "pending"):
        table.create_index(column, Bitmap())
    for column in ("log_index", "target", *SCOPES, "happened_us"):
        table.create_index(column, BTree())


def _stamp_row(stamp: Stamp) -> dict[str, Any]:
    return {
        "log_index": -1 - stamp.position,
        "k": 0,
        "kind": STAMP,
        "pending": False,
        "label": msgspec.json.encode(stamp).decode(),
    }


def read_stamp(table: Table) -> Stamp | None:
    """Return the newest of a table's stamps; raise DamagedViewError for one that can't be read."""
    rows = table.rows("log_index < 0", ["log_index", "label"]).to_pylist()
    if not rows:
        return None
    try:
        return msgspec.json.decode(min(rows, key=lambda row: row["log_index"])["label"], type=Stamp)
    except (msgspec.MsgspecError, TypeError) as error:
        raise DamagedViewError(f"its stamp can't be read ({error})") from error
