"""The DuckDB projection's share of a snapshot: a Parquet file a table, its digests among them."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import duckdb

from braid.views.duck.generations import DuckHome
from braid.views.duck.projection import ROW_GROUP, DuckView, Meta, connect, first_line, read_meta
from braid.views.duck.schema import TABLES, quoted
from braid.views.errors import DamagedViewError
from braid.views.snapshot.manifest import ProjectionShare, describe

_STATE: Final = ("view_state.row_digests", "view_state.bucket_roots")


def dump(home: DuckHome, folder: Path) -> ProjectionShare:
    """Write what the closed working file holds below `folder`; its lock is the caller's. Raises DamagedViewError.

    Signed heads are left out: they come from the store's own history, and are in no digest.
    """
    (folder / "duck").mkdir(mode=0o700)
    try:
        # A COPY that an interruption ends in the middle may wait for its own writers for ever (DuckDB 2.0). An
        # interruption reaches the main thread alone: the COPY that is under way in another ends first.
        with (
            home.reading() as work,
            connect(work, read_only=True) as con,
            ThreadPoolExecutor(1, "braid-copy") as worker,
        ):
            meta = read_meta(con)
            for name in (*(table.name for table in TABLES), *_STATE):
                path = _file(folder, name)
                # As they stand: a sort would hold the whole table, and nothing is spilled.
                how = f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP})"
                worker.submit(con.execute, f"COPY (FROM {name}) TO {quoted(str(path))} {how}").result()
                path.chmod(0o600)
            rows = con.execute("SELECT count(*) FROM view_state.row_digests").fetchone()
    except duckdb.Error as error:
        raise DamagedViewError(f"it could not be copied ({first_line(error)})") from error
    return ProjectionShare(
        "duck",
        meta.stamp,
        describe(folder, "duck"),
        rows=rows[0] if rows else 0,
        digest=meta.digest,
        unknown=meta.unknown,
        unreadable=meta.unreadable,
    )


def load(home: DuckHome, folder: Path, part: ProjectionShare) -> DuckView:
    """Begin a fresh file that holds what the Parquet files hold; raise DamagedViewError."""
    view = home.fresh()
    try:
        files = {name: _file(folder, name) for name in (*(table.name for table in TABLES), *_STATE)}
        # No byte of the store's history of heads is taken in yet: the next commit reads it from the start.
        view.take_in(files, Meta(part.stamp, part.digest, part.unknown, part.unreadable, history=0))
    except BaseException:
        view.close()
        raise
    return view


def _file(folder: Path, table: str) -> Path:
    return folder / "duck" / f"{table.rpartition('.')[2]}.parquet"
