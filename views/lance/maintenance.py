"""Indexes over the rows, brought up to date apart from reading and writing: until then, new rows are scanned."""

import re
from datetime import timedelta
from typing import Final

from braid.views.lance.table import IvfFlat, Table
from braid.views.lance.view import told_as_damage

VECTOR_INDEX_ROWS: Final = 20_000
"""A table of fewer is searched exactly."""
_ROWS_PER_PARTITION: Final = 1_000
_NAME: Final = re.compile(r"vector_(\d{1,9})")
"""An index's name says how many partitions it was made with: rows that are folded in later add none."""
_SAMPLED: Final = 32_000
_SAMPLE_RATES: Final = (64, 256)
"""Vectors a partition that k-means learns from, whose cost grows with partitions times vectors: at 256, LanceDB's
default, a million rows would take minutes (measured at 10⁵: 64 finds .933 of the nearest hundred, 256 finds .941)."""
_ROUNDS: Final = 20


def index_vectors(table: Table) -> None:
    """Index the vectors of a large table, or again once it has doubled. Appends and deletions go on meanwhile.

    IVF_FLAT: vectors stay whole, so that only the choice of partitions costs recall (measured: .995 at 10⁵).
    """
    with told_as_damage("indexed"):
        rows = table.count("vector IS NOT NULL")
        wanted = max(1, rows // _ROWS_PER_PARTITION)
        made = _vector_indexes(table)
        if rows < VECTOR_INDEX_ROWS or wanted < 2 * max(made.values(), default=0):
            return
        least, most = _SAMPLE_RATES
        rate = max(least, min(most, _SAMPLED // wanted))
        config = IvfFlat(wanted, sample_rate=rate, max_iterations=_ROUNDS, distance_type="dot")
        table.create_index("vector", config, f"vector_{wanted}")
        # Dying here: two indexes serve; the next one that is made takes the place of both.
        for name in made:
            table.drop_index(name)


def partitions(table: Table) -> int:
    """Return into how many partitions the vectors are indexed; 0 where they are not."""
    return max(_vector_indexes(table).values(), default=0)


def _vector_indexes(table: Table) -> dict[str, int]:
    """Return the indexes of `vector` by name, each with its partitions."""
    found = [name for name, columns in table.indexes().items() if columns == ["vector"]]
    return {name: int(match[1]) if (match := _NAME.fullmatch(name)) else 0 for name in found}


def compact(table: Table) -> None:
    """Fold new rows into the indexes, small fragments into large ones, and drop old stamps and old versions."""
    with told_as_damage("compacted"):
        stamps = table.rows("log_index < 0", ["log_index"])["log_index"].to_pylist()
        if len(stamps) > 1:
            table.delete(f"log_index < 0 AND log_index > {min(stamps)}")
        table.optimize(timedelta(minutes=10))
