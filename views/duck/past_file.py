"""A file of the projection that is taken back to the past (SPEC §10.9)."""

from pathlib import Path
from typing import Final

import msgspec

from braid.views.duck.arrow import to_arrow
from braid.views.duck.batch import MadeBatch, make
from braid.views.duck.checkpoints import read_history
from braid.views.duck.digest import BUCKET, content_digest
from braid.views.duck.projection import DuckView
from braid.views.duck.schema import CHECKPOINTS, TABLES
from braid.views.projection import Batch

_DATED: Final = [
    table.name for table in TABLES if any(column.name == "happened_at" for column in table.columns)
]
_NOT_HOLDING: Final = """
    DELETE FROM claims USING experiences e WHERE e.log_index = claims.log_index
    AND (coalesce(claims.valid_from, e.happened_at) > make_timestamp(?) OR claims.valid_to <= make_timestamp(?))
"""


class PastFile(DuckView):
    """An open past."""

    def turn_back(self, batch: Batch) -> None:
        """Take back what lies behind the batch's position, and make its `again` again.

        What is then counted as unknown or unreadable is still what the later file counted.
        """
        assert self.meta is not None  # noqa: S101 - callers have looked at the stamp
        con, stamp = self._con, batch.stamp
        position = stamp.position
        con.execute("BEGIN")
        for name in (*(table.name for table in TABLES), "view_state.row_digests"):
            con.execute(f"DELETE FROM {name} WHERE log_index >= ?", [position])  # noqa: S608 - our own names
        con.execute("DELETE FROM view_state.bucket_roots WHERE bucket >= ?", [position // BUCKET])
        self._roots = self._roots[: position // BUCKET]
        self._roots = self._touch_buckets(MadeBatch({}, [], [], 0, 0, stamp), position)
        self.meta = msgspec.structs.replace(self.meta, stamp=stamp, digest=content_digest(self._roots))
        self._set_meta(self.meta)
        con.execute("COMMIT")
        self._commit(make(batch))

    def set_heads(self, history: Path, size: int) -> None:
        """Fill the table of heads with those of up to `size` records."""
        heads = [row for row in read_history(history, 0)[0] if row[2] <= size]
        self._con.execute("DELETE FROM checkpoints")
        if heads:
            self._insert("checkpoints", to_arrow(CHECKPOINTS, heads))

    def narrow(self, instant: int) -> None:
        """Keep what had happened and what held at an instant (microseconds since 1970), by what the file knows.

        Experiences that are not living go with their claims. The content digest is no longer that of the rows: it
        is emptied.
        """
        con = self._con
        con.execute("BEGIN")
        con.execute("CREATE TEMP TABLE gone AS SELECT log_index FROM experiences WHERE standing <> 'living'")
        con.execute("CREATE TEMP TABLE late (log_index BIGINT)")
        for name in _DATED:
            late = f"SELECT log_index FROM {name} WHERE happened_at > make_timestamp(?)"  # noqa: S608 - our own names
            con.execute(f"INSERT INTO late {late}", [instant])
        con.execute(_NOT_HOLDING, [instant, instant])
        for name in (*_DATED, "claims", "links", "candidates"):
            con.execute(f"DELETE FROM {name} WHERE log_index IN (FROM late)")  # noqa: S608 - our own names
        con.execute("DELETE FROM signatures WHERE experience_index IN (FROM late)")
        for name in ("claims", "experiences"):
            con.execute(f"DELETE FROM {name} WHERE log_index IN (FROM gone)")  # noqa: S608 - our own names
        con.execute("DROP TABLE gone")
        con.execute("DROP TABLE late")
        if self.meta is not None:
            self.meta = msgspec.structs.replace(self.meta, digest="")
            self._set_meta(self.meta)
        con.execute("COMMIT")
