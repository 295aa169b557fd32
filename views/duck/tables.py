"""The projection's tables for reading of our own, whole and in batches (SPEC §10.6); what others ask goes to sql.py."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from braid.views.duck.macros import inlined
from braid.views.duck.projection import read_meta, reading
from braid.views.duck.schema import Table
from braid.views.projection import Stamp

_BATCH_ROWS = 8_192


class OpenTables:
    """Tables of one file, all as of one position."""

    def __init__(self, con: duckdb.DuckDBPyConnection, stamp: Stamp) -> None:
        """`stamp` says what the file was made from."""
        self._con = con
        self.stamp = stamp

    def batches(self, table: Table) -> Iterator[Any]:
        """Yield a table's rows as Arrow record batches, in the order of the log, with the schema's columns."""
        order = "log_index, k" if any(column.name == "k" for column in table.columns) else "log_index"
        relation: Any = self._con.sql(f"FROM {table.name} ORDER BY {order}")
        yield from relation.to_arrow_reader(_BATCH_ROWS)

    def rows(self, query: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query of our own, which may read views."""
        return self._con.execute(inlined(query), list(params)).fetchall()


@contextmanager
def open_tables(path: Path) -> Generator[OpenTables]:
    """Open a file of the projection that nobody writes meanwhile. Raises DamagedViewError, duckdb.Error."""
    with reading(path) as con:
        yield OpenTables(con, read_meta(con).stamp)
