"""A batch as the DuckDB projection takes it in: Arrow tables, and the hash of each record's rows (SPEC §10.2). Pure."""

from collections import defaultdict
from typing import Any, NamedTuple

from braid.views.duck.arrow import to_arrow
from braid.views.duck.digest import hash_rows
from braid.views.duck.rows import make_rows
from braid.views.duck.schema import TABLES
from braid.views.projection import Batch, Stamp
from braid.views.values import Row


class MadeBatch(NamedTuple):
    """A batch as rows: an Arrow table by table number, the hashes of the records that have rows, and what to remove
    first.
    """

    tables: dict[int, Any]
    hashes: list[tuple[int, bytes]]
    remade: list[int]
    unknown: int
    unreadable: int
    stamp: Stamp


def make(batch: Batch) -> MadeBatch:
    """Make the rows of a batch."""
    tables: defaultdict[int, list[Row]] = defaultdict(list)
    hashes: list[tuple[int, bytes]] = []
    unknown = unreadable = 0
    new = len(batch.entries)
    for k, entry in enumerate([*batch.entries, *batch.again]):
        made = make_rows(entry, batch.standing)
        for number, row in made.rows:
            tables[number].append(row)
        if made.rows:
            hashes.append((entry.record.envelope.index, hash_rows(made.rows, entry.row_key)))
        if k < new:  # what is made again was counted when it was new
            unknown += made.unknown
            unreadable += made.unreadable
    remade = [entry.record.envelope.index for entry in batch.again]
    arrow = {number: to_arrow(TABLES[number], rows) for number, rows in tables.items()}
    return MadeBatch(arrow, hashes, remade, unknown, unreadable, batch.stamp)
