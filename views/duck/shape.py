"""What a file of the projection has by name, compared with what a new one has: SPEC §10.3 lets it have nothing else.

A view or a macro in it would be asked in a table's name, or in a function's. So its catalogue is asked from outside of
it, where none of its names is in force.
"""

from collections.abc import Iterator
from typing import Any, Final

from braid.views.duck.schema import CHECKPOINTS, TABLES, creation

STATE: Final = (
    "CREATE SCHEMA view_state",
    "CREATE TABLE view_state.meta (stamp VARCHAR, digest VARCHAR, unknown BIGINT, unreadable BIGINT, history BIGINT)",
    "CREATE TABLE view_state.row_digests (log_index BIGINT, hash BLOB)",
    "CREATE TABLE view_state.bucket_roots (bucket BIGINT, root BLOB)",
)
"""Where a file keeps what it was made from."""
_NAMED: Final = {
    "schema": "SELECT schema_name, '', comment, tags::VARCHAR FROM duckdb_schemas() WHERE {within} AND NOT internal",
    "table": "SELECT schema_name, table_name, comment, tags::VARCHAR, sql FROM duckdb_tables()"
    " WHERE {within} AND NOT internal",
    "column": "SELECT schema_name, table_name || '.' || column_name, comment, tags::VARCHAR FROM duckdb_columns()"
    " WHERE {within} AND NOT internal AND (schema_name, table_name) IN"
    " (SELECT (schema_name, table_name) FROM duckdb_tables() WHERE {within})",
    "view": "SELECT schema_name, view_name, sql FROM duckdb_views() WHERE {within} AND NOT internal",
    "macro": "SELECT schema_name, function_name, parameters, macro_definition FROM duckdb_functions()"
    " WHERE {within} AND NOT internal",
    "index": "SELECT schema_name, index_name, sql FROM duckdb_indexes() WHERE {within}",
    "sequence": "SELECT schema_name, sequence_name, sql FROM duckdb_sequences() WHERE {within}",
    "type": "SELECT schema_name, type_name, logical_type FROM duckdb_types() WHERE {within} AND NOT internal",
    "trigger": "SELECT schema_name, trigger_name, sql FROM duckdb_triggers() WHERE {within}",
}

_EXPECTED: Final[list[dict[tuple[str, str, str], list[str]]]] = []
"""What a new file has, once this process has made one to look: that takes longer than to look at a small file."""


def definitions() -> list[str]:
    """Return the statements that make the tables of a new file, with their comments."""
    return [*(statement for table in (*TABLES, CHECKPOINTS) for statement in creation(table)), *STATE]


def strange(con: Any, database: str) -> Iterator[str]:
    """Yield what a file, attached under a name, has that a new one hasn't, or defines otherwise, or lacks; sorted.

    The connection's own schema must be another's: what the file names would be in force.
    """
    if not _EXPECTED:
        _EXPECTED.append(_of_new(con))
    held, expected = _names(con, database), _EXPECTED[0]
    for kind, schema, name in sorted(held.keys() | expected.keys()):
        shown = name if schema == "main" else f"{schema}.{name}".rstrip(".")
        if (kind, schema, name) not in expected:
            yield f"{shown} is a {kind} that no file has"
        elif (kind, schema, name) not in held:
            yield f"the {kind} {shown} is missing"
        elif held[kind, schema, name] != expected[kind, schema, name]:
            yield f"the {kind} {shown} is not defined as a new file has it"


def _of_new(con: Any) -> dict[tuple[str, str, str], list[str]]:
    con.execute("ATTACH ':memory:' AS expected; USE expected")
    try:
        con.execute(";".join(definitions()))
        con.execute("USE memory")
        return _names(con, "expected")
    finally:
        con.execute("USE memory; DETACH expected")


def _names(con: Any, database: str) -> dict[tuple[str, str, str], list[str]]:
    found: dict[tuple[str, str, str], list[str]] = {}
    for kind, query in _NAMED.items():
        asked = query.format(within=f"database_name = '{database}'")
        for schema, name, *rest in con.execute(asked).fetchall():
            found.setdefault((kind, str(schema), str(name)), []).append(
                repr(rest).replace(f"{database}.", "")
            )
    return {key: sorted(rows) for key, rows in found.items()}
