"""Rows of a table as messages: which column is which field, for CSV and Parquet."""

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import cast

from braid.tools.importers import fields
from braid.tools.importers.errors import Refused
from braid.tools.importers.jsonl import FIELDS, message_of
from braid.tools.importers.message import Message
from braid.tools.importers.source import ImportSource

_MAX_DEPTH = 30
_ALSO = {"content": "text"}
"""What a column may be called beside the field's own name, where nothing was said."""


class Columns:
    """Which column holds which field. A field without a column of its own is looked for under its own name."""

    def __init__(self, said: Mapping[str, str], names: Sequence[str]) -> None:
        """Refused when a column that was named is not there, or none holds the content."""
        if len(set(names)) != len(names):
            raise Refused("two columns have the same name")
        for field, column in said.items():
            if field not in FIELDS:
                raise Refused(f"unknown field {field!r}: one of {', '.join(sorted(FIELDS))}")
            if column not in names:
                raise Refused(f"no column {column!r} for {field}; there are: {', '.join(names)[:200]}")
        taken = set(said.values())
        self._of = dict(said)
        for field in sorted(FIELDS - set(said)):
            called = [
                name for name in (field, _ALSO.get(field, field)) if name in names and name not in taken
            ]
            if called:
                self._of[field] = called[0]
        if "content" not in self._of:
            raise Refused(
                f"say which column holds the content: --map content=COLUMN; there are: {', '.join(names)[:200]}"
            )

    def message(
        self, row: Mapping[str, object], *, ordinal: int, source_uri: str, source: ImportSource
    ) -> Message:
        """The message of a row. Refused, with the reason."""
        members = {field: plain(row[column]) for field, column in self._of.items()}
        members = {
            name: value for name, value in members.items() if value not in (None, "") or name == "content"
        }
        taken = set(self._of.values())
        rest = {name: plain(value) for name, value in row.items() if name not in taken}
        return message_of(
            {"role": "user"}
            | members
            | {_beside(name): value for name, value in rest.items() if value not in (None, "")},
            ordinal=ordinal,
            source_uri=source_uri,
            source_hash=fields.hash_of({name: plain(value) for name, value in row.items()}),
            now=source.opened_at,
            zone=source.zone,
        )


def _beside(column: str) -> str:
    """The name of a member for a column that is no field, though it may be called like one."""
    return f"{column} (column)" if column in FIELDS else column


def plain(value: object, depth: int = 0) -> object:
    """JSON for a cell; what JSON has no type for becomes text; bytes, and floats that are no number, nothing. Refused
    if it is nested too deeply."""
    if depth > _MAX_DEPTH:
        raise Refused("a cell is nested too deeply")
    if isinstance(value, dict):
        members = cast("dict[object, object]", value)
        return {str(name): plain(each, depth + 1) for name, each in members.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each, depth + 1) for each in cast("Sequence[object]", value)]
    if isinstance(value, bytes) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    is_json = (
        value is None
        or isinstance(value, (bool, float, str))
        or (isinstance(value, int) and abs(value) < 2**63)
    )
    return value if is_json else str(value)
