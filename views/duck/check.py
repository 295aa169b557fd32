"""Does a working file hold what it says, and what the log says? (SPEC §10.4; `braid verify --deep`)

It has by name what a new file has, and nothing else: a view in a table's name would answer falsely.
Every row is read back and compared with those that are made again from the log, and hashed as it was when it was made:
an edited cell, a missing or an added row shows, also to who has redone the hashes.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb

from braid.ledger.audit.findings import Finding
from braid.ledger.read.reader import LogEntry, Reader
from braid.views.duck.arrow import from_arrow, selection
from braid.views.duck.checkpoints import read_history
from braid.views.duck.digest import BUCKET, bucket_root, content_digest, hash_rows
from braid.views.duck.projection import PROJECTION, Meta, connect, read_meta
from braid.views.duck.rows import make_rows
from braid.views.duck.schema import CHECKPOINTS, TABLES, VERSION
from braid.views.duck.shape import strange
from braid.views.duck.sources import RowSources
from braid.views.duck.standing import Fates
from braid.views.errors import DamagedViewError
from braid.views.projection import HeadFacts
from braid.views.replay import refusal, standing_then, take_standing
from braid.views.values import Numbered

_CHUNK = 32 * BUCKET


def _found(message: str, index: int | None = None) -> Finding:
    return Finding("projection", message, index, file="views/duck/work.duckdb")


def check_content(reader: Reader, path: Path, standing: HeadFacts | None = None) -> list[Finding]:
    """Return what is wrong with the working file at `path`, in log order; its lock is the caller's.

    `standing` is that of the prefix that the file was made from, where it is not the log's head. A file that stands
    before the head is compared with the log as it was then.
    """
    if not path.exists():
        return []
    try:
        con = connect(path, read_only=True)
    except duckdb.Error as error:
        return [_found(f"the file can't be read: {str(error).partition(chr(10))[0]}")]
    try:
        return list(_findings(reader, con, standing or take_standing(reader)))
    except (duckdb.Error, DamagedViewError, UnicodeDecodeError) as error:
        return [_found(f"the file can't be read: {str(error).partition(chr(10))[0]}")]
    finally:
        con.close()


def _findings(reader: Reader, con: duckdb.DuckDBPyConnection, standing: HeadFacts) -> Iterator[Finding]:
    meta = read_meta(con)
    if why := refusal(meta.stamp, VERSION, reader, standing):
        yield _found(f"it has to be rebuilt: {why}")
        return
    yield from _against_release(con)
    # A crash between two batches leaves rows that were made with the head's standing, behind which the file is.
    standings = [Fates(reader, standing).all()]
    if meta.stamp.position < standing.size:
        standings.append(Fates(reader, standing_then(reader, meta.stamp.position)).all())
    sources = RowSources(reader)
    roots: list[bytes] = []
    for start in range(0, meta.stamp.position, _CHUNK):
        stop = min(start + _CHUNK, meta.stamp.position)
        stored = _stored(con, start, stop)
        yield from _compared(reader.entries(start, stop), standings, sources, _held(con, start, stop), stored)
        for at in range(start, stop, BUCKET):
            present = [stored[index] for index in range(at, min(at + BUCKET, stop)) if index in stored]
            roots.append(bucket_root(present))
    yield from _whole(con, meta, roots)
    yield from _against_history(reader, con, meta)


def _against_release(con: duckdb.DuckDBPyConnection) -> Iterator[Finding]:
    """A view in a table's name would be asked in its place, a macro in a function's (ADR 82)."""
    con.execute("USE memory")
    found = list(strange(con, PROJECTION))
    con.execute(f"USE {PROJECTION}")
    for what in found:
        yield _found(what)


def _stored(con: duckdb.DuckDBPyConnection, start: int, stop: int) -> dict[int, bytes]:
    rows = con.execute(
        "SELECT log_index, hash FROM view_state.row_digests WHERE log_index >= ? AND log_index < ?",
        [start, stop],
    ).fetchall()
    return dict(rows)


def _held(con: duckdb.DuckDBPyConnection, start: int, stop: int) -> dict[int, list[Numbered]]:
    """Return the rows that the file holds, by record, as they were when they were made."""
    held: defaultdict[int, list[Numbered]] = defaultdict(list)
    for number, table in enumerate(TABLES):
        order = "log_index, k" if any(column.name == "k" for column in table.columns) else "log_index"
        relation: Any = con.sql(
            f"SELECT {selection(table.columns)} FROM {table.name}"  # noqa: S608 - our own names
            f" WHERE log_index >= {start} AND log_index < {stop} ORDER BY {order}"
        )
        for row in from_arrow(relation.to_arrow_table()):
            held[row[0]].append((number, row))
    return held


def _compared(
    log: Iterable[list[LogEntry]],
    standings: Sequence[HeadFacts],
    sources: RowSources,
    held: dict[int, list[Numbered]],
    stored: dict[int, bytes],
) -> Iterator[Finding]:
    """Compare rows and their hashes with what is made of the log by one of these standings."""
    for entries in log:
        told = [sources.told(standing, entries) for standing in standings]
        for entry in entries:
            index = entry.record.envelope.index
            rows = held.get(index, [])
            made = [make_rows(entry, standing).rows for standing in told]
            hashes = [hash_rows(each, entry.row_key) if each else None for each in made]
            if (hash_rows(rows, entry.row_key) if rows else None) not in hashes:
                yield _found(_difference(rows, made[0]), index)
            if stored.get(index) not in hashes:
                yield _found(
                    "view_state.row_digests: its stored hash is not that of the record's rows", index
                )


def _difference(held: list[Numbered], made: list[Numbered]) -> str:
    """Return which tables differ, and how."""
    # By what is hashed of a row, and counted: it may be there twice.
    ours, theirs = (Counter((row[0], hash_rows([row], None)) for row in rows) for rows in (made, held))
    missing, more = ours - theirs, theirs - ours
    names = ", ".join(TABLES[number].name for number in sorted({number for number, _ in [*missing, *more]}))
    how = (
        "its rows are not those that were made from the record"
        if missing and more
        else "rows were removed"
        if missing
        else "rows were added"
    )
    return f"{names}: {how}"


def _against_history(reader: Reader, con: duckdb.DuckDBPyConnection, meta: Meta) -> Iterator[Finding]:
    """Compare the table of signed heads with the store's history, as far as it was taken in: no digest covers it."""
    history = reader.path / "checkpoints"
    rows, end = read_history(history, 0, meta.history)
    relation: Any = con.sql(f"SELECT {selection(CHECKPOINTS.columns)} FROM checkpoints")  # noqa: S608 - our own names
    held = sorted(from_arrow(relation.to_arrow_table()), key=str)
    if held != sorted(rows, key=str) or end != meta.history:
        yield _found("checkpoints: its rows are not those of the store's history of signed heads")


def _whole(con: duckdb.DuckDBPyConnection, meta: Meta, roots: list[bytes]) -> Iterator[Finding]:
    position = meta.stamp.position
    if content_digest(roots) != meta.digest:
        yield _found("the content digest is not that of the stored hashes")
    kept = con.execute("SELECT bucket, root FROM view_state.bucket_roots ORDER BY bucket").fetchall()
    if kept != list(enumerate(roots)):
        yield _found("the roots of the buckets are not those of the stored hashes")
    twice = con.execute(
        "SELECT log_index FROM view_state.row_digests GROUP BY log_index HAVING count(*) > 1 ORDER BY log_index"
    ).fetchall()
    for (index,) in twice:
        yield _found("view_state.row_digests: its stored hash is there twice", index)
    for name in (*(table.name for table in TABLES), "view_state.row_digests"):
        ((beyond,),) = con.execute(
            f"SELECT count(*) FROM {name} WHERE log_index IS NULL OR log_index < 0 OR log_index >= {position}"  # noqa: S608
        ).fetchall()
        if beyond:
            yield _found(f"{name} holds {beyond} rows of no record of this log")
