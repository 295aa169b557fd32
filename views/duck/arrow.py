"""Rows ↔ Arrow: how tuples enter DuckDB in bulk, and are read back in the same form; how a caller's tables travel."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import pyarrow

from braid.views.duck.macros import VIEWS
from braid.views.duck.schema import CHECKPOINTS, TABLES, Column, Table
from braid.views.errors import SqlError, SqlLimitError
from braid.views.values import Row

pa: Final[Any] = pyarrow
"""pyarrow ships no types: it is used through this name."""
_TYPES: Final[dict[str, Any]] = {
    "BLOB": pa.binary(),
    "BIGINT": pa.int64(),
    "INTEGER": pa.int32(),
    "VARCHAR": pa.string(),
    "JSON": pa.string(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "TIMESTAMP": pa.timestamp("us"),
    "VARCHAR[]": pa.list_(pa.string()),
}
_TAKEN: Final = frozenset((*(table.name for table in (*TABLES, CHECKPOINTS)), *(view.name for view in VIEWS)))
_LESS: Final = "send fewer columns or rows, or raise the limit"


@cache
def schema_of(table: Table) -> Any:
    """Return a table's Arrow schema."""
    return pa.schema([(column.name, _TYPES[column.type]) for column in table.columns])


def to_arrow(table: Table, rows: Sequence[Row]) -> Any:
    """Return rows as an Arrow table."""
    schema = schema_of(table)
    if not rows:
        return schema.empty_table()
    columns = zip(*rows, strict=True)
    arrays = [_array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(values: Sequence[Any], type_: Any) -> Any:
    if values[0] is None and values.count(None) == len(values):
        return pa.nulls(len(values), type_)
    return pa.array(values, type_)


def selection(columns: Iterable[Column]) -> str:
    """Return the select list that gives rows back in the form in which they are made."""
    return ", ".join(_as_made(column) for column in columns)


def _as_made(column: Column) -> str:
    if column.type == "TIMESTAMP":
        return f'epoch_us("{column.name}") AS "{column.name}"'
    if column.type == "JSON":
        return f'"{column.name}"::VARCHAR AS "{column.name}"'
    return f'"{column.name}"'


def from_arrow(batch: Any) -> list[Row]:
    """Return the rows of an Arrow table or record batch, as tuples."""
    if not batch.num_rows:
        return []
    return list(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def named_rows(table: Any) -> list[dict[str, Any]]:
    """Return the rows of an answer by name; raise SqlError for a time that Python can't hold."""
    try:
        rows: list[dict[str, Any]] = table.to_pylist()
    except OverflowError:
        raise SqlError(
            "the answer has a time outside of the years 1 to 9999", "CAST it to VARCHAR to have it as text"
        ) from None
    return rows


def to_streams(tables: Mapping[str, Any], most: int) -> list[tuple[str, Any]]:
    """Return each table's name and its Arrow stream, a buffer; together they may have `most` bytes.

    Raises SqlError for a name or a table that can't be used, SqlLimitError where they are too large.
    """
    streams: list[tuple[str, Any]] = []
    for name, given in tables.items():
        if not name.isidentifier() or name.lower() in _TAKEN:
            raise SqlError(f"a table can't be named {name!r}", "choose a plain name that no table here has")
        try:
            table = given if isinstance(given, pa.Table) else pa.table(given)
        except (TypeError, ValueError, pa.ArrowException) as error:
            raise SqlError(
                f"{name} is no table: {error}", "give a pyarrow Table, or a frame of pandas or polars"
            ) from error
        if table.nbytes > most:
            raise SqlLimitError(f"the tables given, {name} with them, are larger than memory_bytes", _LESS)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        streams.append((name, sink.getvalue()))
        most -= table.nbytes
    return streams
