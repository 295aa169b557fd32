"""Indexes over the rows, brought up to date apart from reading and writing: until then, new rows are scanned."""

from datetime import timedelta
from typing import Any, Final

from braid.views.lance.view import told_as_damage

VECTOR_INDEX_ROWS: Final = 20_000
"""A table of fewer is searched exactly."""
_VECTOR_INDEX: Final = "vector_idx"
_ROWS_PER_PARTITION: Final = 1_000


def index_vectors(table: Any) -> None:
    """Index the vectors of a large table, or anew once it has doubled. Appends and deletions go on meanwhile.

    IVF_FLAT: vectors stay whole, so that only the choice of partitions costs recall (measured: .995 at 10⁵).
    """
    from lancedb.index import IvfFlat

    with told_as_damage("indexed"):
        rows = table.count_rows("vector IS NOT NULL")
        stats = table.index_stats(_VECTOR_INDEX)
        if rows < VECTOR_INDEX_ROWS or (stats is not None and 2 * stats.num_indexed_rows >= rows):
            return
        config = IvfFlat(distance_type="dot", num_partitions=max(1, rows // _ROWS_PER_PARTITION))
        table.create_index("vector", config=config, name=_VECTOR_INDEX, replace=True)


def compact(table: Any) -> None:
    """Fold new rows into the indexes, small fragments into large ones, and drop old stamps and old versions."""
    with told_as_damage("compacted"):
        stamps = (
            table.search().where("log_index < 0").select(["log_index"]).to_arrow()["log_index"].to_pylist()
        )
        if len(stamps) > 1:
            table.delete(f"log_index < 0 AND log_index > {min(stamps)}")
        table.optimize(cleanup_older_than=timedelta(minutes=10))
