"""Rows ↔ Arrow: how tuples enter DuckDB in bulk, and how they are read back in the same form."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final

import pyarrow

from braid.views.schema import Column, Table
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


@cache
def schema_of(table: Table) -> Any:
    """Return a table's Arrow schema."""
    return pa.schema([(column.name, _TYPES[column.type]) for column in table.columns])


def to_arrow(table: Table, rows: Sequence[Row]) -> Any:
    """Return rows as an Arrow table."""
    schema = schema_of(table)
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
