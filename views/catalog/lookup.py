"""The catalogue as one question asks it: at the log's end where that can be had in time, else as its file stands.

A question has a time limit and reads only: it waits for nobody who rebuilds the catalogue, and tells what it could not
look at.
"""

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from braid.views.catalog.file import AFTER, BEFORE, beside
from braid.views.errors import ViewError, told

if TYPE_CHECKING:
    from braid.views.catalog.projection import Catalog


class Glance:
    """Neighbours for one question. Safe to share between the threads that answer it."""

    def __init__(self, catalog: "Catalog", wait_s: float, why: str | None = None) -> None:
        """`wait_s`: how long an answer may wait for another thread. `why` it is not at the log's end, where it is not:
        then its file is read as it stands, through a connection of this question's own.
        """
        self._catalog = catalog
        self._wait_s = wait_s
        self.trouble: list[str] = []
        """What could not be looked at, and why; nothing where all could."""
        self._con: sqlite3.Connection | None = None
        if why is not None:
            self._con, missing = catalog.as_it_stands(wait_s)
            self._tell(why, missing)

    def before(self, indexes: Sequence[int]) -> dict[int, int]:
        """Return the chains before records, as `Catalog.before` does."""
        return beside(self._ask, indexes, BEFORE)

    def after(self, indexes: Sequence[int]) -> dict[int, int]:
        """Return the chains after records, as `Catalog.after` does."""
        return beside(self._ask, indexes, AFTER)

    def close(self) -> None:
        """Close the connection that is this question's own."""
        own, self._con = self._con, None
        if own is not None:
            own.close()

    def _ask(self, statement: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
        own = self._con
        if own is None and self.trouble:
            return []  # it was waited for once, and the time is the question's
        try:
            if own is None:
                return self._catalog.rows(statement, params, self._wait_s)
            return own.execute(statement, params).fetchall()
        except (ViewError, sqlite3.DatabaseError) as error:
            if own is self._con:  # else another thread met it first
                self._tell(told(error), None)
                self.close()
            return []

    def _tell(self, why: str, missing: int | None) -> None:
        """Say what the question went without; `missing`: how many of the newest records, None for all."""
        of = {None: "any record", 1: "the newest record"}.get(missing) or f"the newest {missing:,} records"
        if missing != 0:
            self.trouble = [f"catalogue: {why}; neighbours of {of} were not looked at"]
