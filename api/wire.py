"""Answers as JSON: `msgspec.to_builtins`, and what stands for the values that JSON has no type for."""

from pathlib import PurePath
from typing import Any

import msgspec

from braid.ledger.record.record import Record
from braid.ledger.record.schemas import components
from braid.operation import ArrowTable, Json, Vector


def to_builtins(response: object) -> Json:
    """Return an answer as JSON values: times as RFC 3339 text, bytes as base64, a record in the schema's shape."""
    return msgspec.to_builtins(response, enc_hook=plain)


def to_json(response: object) -> bytes:
    """Return an answer as JSON, its members in the order of their declaration."""
    return msgspec.json.encode(response, enc_hook=plain)


def plain(value: Any) -> Json:
    """Return what stands for a value: of a record its shape (SPEC §4.7), of a table its rows, of a vector its numbers.

    Raises NotImplementedError for what no answer may hold.
    """
    if isinstance(value, Record):
        from braid.ledger.record.shape import shape_whole

        return shape_whole(value)
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "column_names"):  # a table of Arrow, which isn't imported for the sake of the question
        from braid.views.duck.arrow import named_rows

        return {"columns": value.column_names, "rows": [list(row.values()) for row in named_rows(value)]}
    if hasattr(value, "tolist"):
        return value.tolist()
    raise NotImplementedError(f"an answer may not hold {type(value).__name__}")


def schema_of(type_: type) -> tuple[Json, dict[str, Json]]:
    """Return the JSON Schema (2020-12) of a request or an answer, and those of what it names."""
    (schema,), named = components([type_], schema_hook=_described, ref_template="#/$defs/{name}")
    return schema, named


def _described(type_: type) -> Json:
    """Return the schema of a type that `plain` writes."""
    if type_ is Vector:
        return {"type": "array", "items": {"type": "number"}}
    if type_ is ArrowTable:
        columns = {"type": "array", "items": {"type": "string"}}
        rows = {"type": "array", "items": {"type": "array"}}
        return {
            "type": "object",
            "properties": {"columns": columns, "rows": rows},
            "required": ["columns", "rows"],
        }
    return {"type": "string"} if issubclass(type_, PurePath) else {"type": "object"}
