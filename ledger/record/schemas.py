"""JSON Schemas of types, the same by any version of msgspec. Pure."""

from collections.abc import Sequence
from textwrap import dedent
from typing import Any, cast

import msgspec

Json = dict[str, Any]


def components(types: Sequence[Any], **options: Any) -> tuple[tuple[Json, ...], dict[str, Json]]:
    """Return what `msgspec.json.schema_components` does, its descriptions without the indentation that releases before
    0.23 kept: a digest or a file of a schema is the same by either.
    """
    schemas, named = msgspec.json.schema_components(types, **options)
    return tuple(map(_tidied, schemas)), {name: _tidied(schema) for name, schema in named.items()}


def _tidied(schema: Any) -> Any:
    if isinstance(schema, dict):
        members = cast("Json", schema)
        return {
            name: _dedented(value) if name == "description" and isinstance(value, str) else _tidied(value)
            for name, value in members.items()
        }
    if isinstance(schema, list):
        return [_tidied(one) for one in cast("Sequence[object]", schema)]
    return schema


def _dedented(text: str) -> str:
    head, mark, rest = text.strip().partition("\n")
    return f"{head}{mark}{dedent(rest)}"
