"""Rows of the LanceDB projection → Arrow: how they enter the table in bulk. pyarrow is loaded with this module."""

from functools import cache
from typing import Any, Final

import numpy as np
import pyarrow

from braid.views.lance.card import card_of
from braid.views.lance.schema import EXPERIENCE

pa: Final[Any] = pyarrow
"""pyarrow ships no types: it is used through this name."""


@cache
def schema_of(dimensions: int) -> Any:
    """Return the table's Arrow schema for meanings of so many dimensions."""
    text, whole = pa.string(), pa.int64()
    return pa.schema(
        [
            ("log_index", whole),
            ("k", pa.int32()),
            ("id", text),
            ("kind", text),
            ("pending", pa.bool_()),
            ("role", text),
            ("model", text),
            ("vector", pa.list_(pa.float32(), dimensions)),
            ("text", text),
            ("speaker", text),
            ("name", text),
            ("user_id", text),
            ("agent_id", text),
            ("run_id", text),
            ("project_id", text),
            ("session_id", text),
            ("turn", whole),
            ("happened_us", whole),
            ("target", whole),
            ("salience", pa.float32()),
            ("label", text),
            ("card", pa.binary()),
        ]
    )


def to_arrow(rows: list[dict[str, Any]], dimensions: int) -> Any:
    """Return rows, by column name, as an Arrow table; what a row doesn't name is NULL in it, but for its card."""
    schema = schema_of(dimensions)
    for row in rows:
        row["card"] = card_of(row) if row.get("kind") == EXPERIENCE else None
    columns = [
        _vectors([row.get(field.name) for row in rows], field.type)
        if pa.types.is_fixed_size_list(field.type)
        else pa.array([row.get(field.name) for row in rows], field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def numbers(column: Any) -> Any:
    """Return a column of whole numbers as int64[n], NULL as -1. Arrow's own `to_numpy` imports pandas, where that is
    installed, for a quarter of a second.
    """
    whole = column.fill_null(-1) if column.null_count else column
    found = [np.from_dlpack(chunk).astype(np.int64, copy=False) for chunk in whole.chunks]
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def _vectors(values: list[Any], type_: Any) -> Any:
    """Return numpy vectors, some of them None, as an Arrow array without a Python float for each number."""
    here = np.array([value is not None for value in values])
    if not here.any():
        return pa.nulls(len(values), type_)
    dense = np.zeros((len(values), type_.list_size), dtype=np.float32)
    for row, value in zip(dense, values, strict=True):
        if value is not None:
            row[:] = value
    # By its buffers: both `take` and a mask have Arrow import pyarrow.compute, for .05 s.
    bits = pa.py_buffer(np.packbits(here, bitorder="little"))
    return pa.Array.from_buffers(type_, len(values), [bits], children=[pa.array(dense.reshape(-1))])
