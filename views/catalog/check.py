"""Does the catalogue hold what the log says? (SPEC §10.8; `braid verify --deep`)

Another is made from the same prefix of the log, in a temporary folder, and both are compared row for row.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec

from braid.ledger.audit.findings import Finding
from braid.ledger.read.reader import Reader
from braid.views.catalog.file import VERSION, CatalogHome
from braid.views.errors import DamagedViewError
from braid.views.projection import HeadFacts, Stamp
from braid.views.replay import feed, refusal, standing_then, take_standing

_NAMED: Final = 20
"""So many rows of a table are named one by one; of more, only how many."""
_RECORD: Final = ("log_index", "child")
"""Which column of a table says the record that a row was made from."""
_DAMAGED: Final = 10


def check_catalog(reader: Reader, path: Path, standing: HeadFacts | None = None) -> list[Finding]:
    """Return what is wrong with the catalogue at `path`; others may be at work on it meanwhile.

    `standing` is that of the log's head. A file that stands before it is compared with the log as it was then.
    """
    if not path.exists():
        return []
    try:
        with TemporaryDirectory(prefix="braid-") as scratch:
            return list(_findings(reader, path, CatalogHome(Path(scratch), reader), standing))
    except (sqlite3.DatabaseError, msgspec.MsgspecError, DamagedViewError, UnicodeDecodeError) as error:
        return [_found(f"the file can't be read: {error}")]


def _found(message: str, index: int | None = None) -> Finding:
    return Finding("projection", message, index, file="views/catalog.sqlite")


def _findings(reader: Reader, path: Path, made: CatalogHome, standing: HeadFacts | None) -> Iterator[Finding]:
    with closing(_opened(path)) as con:
        stamp = _stamp(con)
    if why := refusal(stamp, VERSION, reader, standing or take_standing(reader)):
        yield _found(f"it has to be rebuilt: {why}")
        return
    assert stamp is not None  # noqa: S101 - refused above
    file = made.fresh()
    try:
        feed(file, reader, standing_then(reader, stamp.position), VERSION)
    finally:
        file.close()
    made.swap()
    with closing(_opened(path)) as con:
        con.execute("ATTACH ? AS made", [f"{made.path.absolute().as_uri()}?mode=ro"])
        con.execute("BEGIN")
        if _stamp(con) != stamp:
            yield from _findings(reader, path, made, None)  # somebody has gone on with it meanwhile
            return
        yield from _compared(con)


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)


def _stamp(con: sqlite3.Connection) -> Stamp | None:
    stamps = con.execute("SELECT stamp FROM main.meta").fetchall()
    return msgspec.json.decode(stamps[0][0], type=Stamp) if len(stamps) == 1 else None


def _compared(con: sqlite3.Connection) -> Iterator[Finding]:
    """Compare definitions and rows, and the indexes with their tables: an edited page may differ in one alone."""
    for (said,) in con.execute(f"PRAGMA main.integrity_check({_DAMAGED})").fetchall():
        if said != "ok":
            yield _found(f"SQLite finds it damaged: {said}")
    ours, held = (dict(con.execute(f"SELECT name, sql FROM {one}.sqlite_master")) for one in ("made", "main"))  # noqa: S608 - our own names
    for name in sorted(ours.keys() | held.keys()):
        if ours.get(name) != held.get(name):
            yield _found(f"{name} is not what this release defines by that name")
    tables = [name for (name,) in con.execute("SELECT name FROM made.sqlite_master WHERE type = 'table'")]
    for table in sorted(set(tables) & held.keys() - {"meta"}):
        yield from _beyond(con, table, "main", "made", "follows from no record")
        yield from _beyond(con, table, "made", "main", "is missing")


def _beyond(con: sqlite3.Connection, table: str, one: str, other: str, what: str) -> Iterator[Finding]:
    """Yield which rows of a table are in one file alone."""
    found = f"(SELECT * FROM {one}.{table} EXCEPT SELECT * FROM {other}.{table})"  # noqa: S608 - our own names
    rows = con.execute(f"SELECT * FROM {found} LIMIT {_NAMED}")  # noqa: S608 - our own names
    columns = [column for column, *_ in rows.description]
    at = next((columns.index(column) for column in _RECORD if column in columns), None)
    named = rows.fetchall()
    for row in named:
        index: Any = row[at] if at is not None else None
        yield _found(f"{table}: a row {what}", index if isinstance(index, int) else None)
    if len(named) == _NAMED:
        (count,) = con.execute(f"SELECT count(*) FROM {found}").fetchone()  # noqa: S608 - our own names
        if count > _NAMED:
            yield _found(f"{table}: the same of {count - _NAMED:,} more rows")
