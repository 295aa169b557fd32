"""The catalogue's share of a snapshot: its table as Parquet; sessions stay keyed hashes."""

import sqlite3
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow
import pyarrow.parquet

from braid.views.catalog.file import CatalogFile, CatalogHome, read_stamp
from braid.views.errors import DamagedViewError
from braid.views.snapshot.manifest import ProjectionShare, describe

pa: Any = pyarrow
parquet: Any = pyarrow.parquet
_ROWS: Final = 65_536
SCHEMAS: Final[dict[str, Any]] = {
    "turns": pa.schema([("log_index", pa.int64()), ("session", pa.int64())]),
}
"""Every table of the file but its stamp, which the manifest has."""


def dump(home: CatalogHome, folder: Path) -> ProjectionShare:
    """Write what the file holds below `folder`; its lock is the caller's. Raises DamagedViewError."""
    (folder / "catalog").mkdir(mode=0o700)
    con = sqlite3.connect(f"{home.path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        stamp = read_stamp(con)
        if stamp is None:
            raise DamagedViewError("it was never finished")
        rows = sum(_write(con, name, _file(folder, name)) for name in SCHEMAS)
    except (sqlite3.DatabaseError, msgspec.MsgspecError) as error:
        raise DamagedViewError(f"the file can't be read ({error})") from error
    finally:
        con.close()
    return ProjectionShare("catalog", stamp, describe(folder, "catalog"), rows=rows)


def _write(con: sqlite3.Connection, name: str, path: Path) -> int:
    schema, count = SCHEMAS[name], 0
    cursor = con.execute(f"SELECT {', '.join(schema.names)} FROM {name}")  # noqa: S608 - our own names
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while rows := cursor.fetchmany(_ROWS):
            columns = [
                pa.array(column, field.type)
                for column, field in zip(zip(*rows, strict=True), schema, strict=True)
            ]
            writer.write_batch(pa.record_batch(columns, schema=schema))
            count += len(rows)
    path.chmod(0o600)
    return count


def load(home: CatalogHome, folder: Path, part: ProjectionShare) -> CatalogFile:
    """Begin a fresh file that holds what the Parquet files hold; raise DamagedViewError."""
    file = home.fresh()
    try:
        for name in SCHEMAS:
            for batch in parquet.ParquetFile(_file(folder, name)).iter_batches(_ROWS):
                file.take_in(name, zip(*(column.to_pylist() for column in batch.columns), strict=True))
        file.stand_at(part.stamp)
    except pa.ArrowException as error:
        file.close()
        raise DamagedViewError(f"a Parquet file can't be read ({error})") from error
    except BaseException:
        file.close()
        raise
    return file


def _file(folder: Path, table: str) -> Path:
    return folder / "catalog" / f"{table}.parquet"
