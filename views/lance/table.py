"""The face of LanceDB: one table of one folder is made, opened, written, indexed and asked (docs/adr/0052).

Everything waits until it is done, and may be called from any thread. What fails raises as the extension does:
RuntimeError, ValueError or OSError.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self

from braid.views.lance.arrow import pa
from braid.views.lance.extension import extension, run

INDEX_CACHE_BYTES: Final = 1 << 30
"""Room for the vectors of a million turns: those that aren't in it are read from their file again, at some 1 ms a
megabyte, and a question goes through 50 MB and more. A smaller store takes what its vectors and words need."""
METADATA_CACHE_BYTES: Final = 128 << 20


# The extension tells the kinds of index apart by the names of their classes, and reads all of these attributes.
@dataclass(frozen=True)
class FTS:
    """An index of words, as LanceDB's package makes it by default."""

    with_position: bool = False
    base_tokenizer: str = "simple"
    language: str = "English"
    max_token_length: int | None = 40
    lower_case: bool = True
    stem: bool = True
    remove_stop_words: bool = True
    ascii_folding: bool = True
    ngram_min_length: int = 3
    ngram_max_length: int = 3
    prefix_only: bool = False
    block_size: int = 128
    custom_stop_words: list[str] | None = None
    memory_limit: int | None = None
    num_workers: int | None = None
    document_granularity: str = "row"


@dataclass(frozen=True)
class Bitmap:
    """An index of a column with few values."""


@dataclass(frozen=True)
class BTree:
    """An index of a column with many values."""


@dataclass(frozen=True)
class IvfFlat:
    """An index of whole vectors in partitions, of which a search looks into some."""

    num_partitions: int
    sample_rate: int = 256
    max_iterations: int = 50
    distance_type: Literal["l2", "cosine", "dot"] = "l2"
    target_partition_size: int | None = None
    accelerator: str | None = None


Kind = FTS | Bitmap | BTree | IvfFlat


class _Scannable(NamedTuple):
    """Rows as the extension takes them: it asks for a reader once, or again where it may."""

    schema: Any
    num_rows: int | None
    reader: Any
    rescannable: bool


class Table:
    """An open table at the version that was its newest; its own writes take it on. Safe to share between threads."""

    def __init__(self, inner: Any) -> None:
        """Not for callers: use `create` or `open`."""
        self._inner = inner

    @classmethod
    def create(cls, folder: Path, name: str, schema: Any) -> Self:
        """Make an empty table with an Arrow schema in a folder; raise ValueError where it is there already."""
        made = _connect(folder)
        return cls(run(lambda: made.create_empty_table(name, "create", schema)))

    @classmethod
    def open(cls, folder: Path, name: str) -> Self:
        """Open a table at its newest version; raise ValueError where there is none."""
        found = _connect(folder)
        return cls(run(lambda: found.open_table(name)))

    @property
    def path(self) -> Path:
        """Where its files are."""
        uri: str = run(self._inner.uri)
        return Path(uri)

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        names: list[str] = run(self._inner.schema).names
        return names

    # -- reading ----------------------------------------------------------------------------------

    def count(self, where: str | None = None) -> int:
        """Return how many rows satisfy `where`, of LanceDB's SQL."""
        found: int = run(lambda: self._inner.count_rows(where))
        return found

    def rows(
        self,
        where: str = "",
        columns: Sequence[str] | None = None,
        *,
        most: int | None = None,
        addressed: bool = False,
    ) -> Any:
        """Return rows as an Arrow table; `addressed`: with the address of each as `_rowid`."""
        query = self._inner.query()
        if most is not None:
            query.limit(most)
        return _table_of(query, where, columns, addressed=addressed)

    def batches(self, where: str, columns: Sequence[str] | None, most: int) -> Iterator[Any]:
        """Yield rows as Arrow record batches of at most so many rows; few of them are in memory at a time."""
        query = _narrowed(self._inner.query(), where, columns)
        stream = run(lambda: query.execute(max_batch_length=most, timeout=None))
        while (batch := run(lambda: anext(stream, None))) is not None:
            yield batch

    def at(self, addresses: Iterable[int], columns: Sequence[str]) -> Any:
        """Return the rows at these addresses, each with its own as `_rowid`; where none lies, none comes."""
        return _table_of(self._inner.take_row_ids(list(addresses)), "", columns, addressed=True)

    def nearest(
        self,
        vector: Any,
        *,
        column: str,
        probes: int,
        most: int,
        where: str,
        columns: Sequence[str],
        addressed: bool = False,
    ) -> Any:
        """Return the rows whose vectors have the greatest dot product with a float32[d], as `_distance`: 1 minus it."""
        query = self._inner.query().nearest_to(_array(vector))
        query.column(column)
        query.distance_type("dot")
        query.nprobes(probes)
        query.limit(most)
        return _table_of(query, where, columns, addressed=addressed)

    def matching(
        self,
        words: str,
        *,
        column: str,
        most: int,
        where: str,
        columns: Sequence[str],
        addressed: bool = False,
    ) -> Any:
        """Return the rows that fit any of these words best, by BM25 as `_score`."""
        query = self._inner.query().nearest_to_text({"query": words, "columns": [column]})
        query.limit(most)
        return _table_of(query, where, columns, addressed=addressed)

    # -- writing ----------------------------------------------------------------------------------

    def add(self, rows: Any) -> None:
        """Append an Arrow table, or a RecordBatchReader of the same columns, in one commit."""
        if isinstance(rows, pa.Table):
            taken = _Scannable(rows.schema, rows.num_rows, rows.to_reader, rescannable=True)
        else:
            taken = _Scannable(rows.schema, None, lambda: rows, rescannable=False)
        run(lambda: self._inner.add(taken, "append"))

    def replace(self, rows: Any, keys: Sequence[str]) -> None:
        """Put an Arrow table's rows in the place of those with the same keys, else beside them, in one commit."""
        options = {
            "on": list(keys),
            "when_matched_update_all": True,
            "when_matched_update_all_condition": None,
            "when_not_matched_insert_all": True,
            "when_not_matched_by_source_delete": False,
            "when_not_matched_by_source_condition": None,
            "when_not_matched_by_source_condition_expr": None,
            "timeout": None,
            "use_index": True,
            "use_lsm": None,
            "validate_single_shard": None,
        }
        run(lambda: self._inner.execute_merge_insert(rows.to_reader(), options))

    def delete(self, where: str) -> None:
        """Delete the rows that satisfy `where`."""
        run(lambda: self._inner.delete(where))

    def optimize(self, older_than: timedelta) -> None:
        """Fold new rows into the indexes, small files into large ones, and remove versions that are older."""
        since_ms = round(older_than.total_seconds() * 1000)
        run(lambda: self._inner.optimize(cleanup_since_ms=since_ms, delete_unverified=False))

    # -- indexes ----------------------------------------------------------------------------------

    def indexes(self) -> dict[str, list[str]]:
        """Return the columns of each index, by its name."""
        return {found.name: list(found.columns) for found in run(self._inner.list_indices)}

    def create_index(self, column: str, kind: Kind, name: str | None = None) -> None:
        """Index a column, in the place of an index of that name."""
        run(
            lambda: self._inner.create_index(
                column, index=kind, replace=True, wait_timeout=None, name=name, train=True
            )
        )

    def drop_index(self, name: str) -> None:
        """Take an index away; its files go with the versions that name them."""
        run(lambda: self._inner.drop_index(name))


@cache
def _session() -> Any:
    """One cache for the process, within bounds: LanceDB's own would grow to 7 GB."""
    return extension().Session(INDEX_CACHE_BYTES, METADATA_CACHE_BYTES)


def _connect(folder: Path) -> Any:
    """Return the folder as LanceDB knows it: no other address than a place on this machine."""
    unsaid = (None,) * 7
    return run(partial(extension().connect, str(folder.absolute()), *unsaid, _session()))


def _narrowed(query: Any, where: str, columns: Sequence[str] | None) -> Any:
    if where:
        query.where(where)
    if columns is not None:
        query.select_columns(list(columns))
    return query


def _table_of(query: Any, where: str, columns: Sequence[str] | None, *, addressed: bool) -> Any:
    """Return what a query finds as an Arrow table; its batches are gathered in one visit to the waiting thread."""
    _narrowed(query, where, columns)
    if addressed:
        query.with_row_id()

    async def gathered() -> Any:
        stream = await query.execute(max_batch_length=None, timeout=None)
        return pa.Table.from_batches([batch async for batch in stream], schema=stream.schema)

    return run(gathered)


def _array(vector: Any) -> Any:
    """Return a float32[d] as an Arrow array. `pa.array` would import pandas, where it is installed, for a quarter of a
    second.
    """
    return pa.Array.from_buffers(pa.float32(), len(vector), [None, pa.py_buffer(vector.tobytes())])
