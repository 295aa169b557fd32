"""Does a working file hold what it says, and what the log says? (SPEC §10.4; `braid verify --deep`)

Its views and macros are compared with those of this release: an edited one would answer falsely from true rows.
Every row is read back and hashed as it was when it was made: an edited cell, a missing or an added row shows.
Then the rows are made anew from the log and compared with the stored hashes, which an editor may have redone.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from braid.ledger.audit.findings import Finding
from braid.ledger.reader import Reader
from braid.views import macros
from braid.views.arrow import from_arrow, selection
from braid.views.digest import BUCKET, bucket_root, content_digest, hash_rows
from braid.views.duck import Meta, connect, read_meta
from braid.views.errors import DamagedViewError
from braid.views.projection import Standing
from braid.views.replay import refusal, take_standing
from braid.views.rows import make_rows
from braid.views.schema import CHECKPOINTS, TABLES, VERSION, creation
from braid.views.values import Numbered

_CHUNK = 32 * BUCKET


def _found(message: str, index: int | None = None) -> Finding:
    return Finding("projection", message, index, file="views/duck/work.duckdb")


def check_content(reader: Reader, path: Path, standing: Standing | None = None) -> list[Finding]:
    """Return what is wrong with the working file at `path`, in log order; its lock is the caller's.

    `standing` is that of the prefix that the file was made from, where it is not the log's head.
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


def _findings(reader: Reader, con: duckdb.DuckDBPyConnection, standing: Standing) -> Iterator[Finding]:
    meta = read_meta(con)
    if why := refusal(meta.stamp, VERSION, reader, standing):
        yield _found(f"it has to be rebuilt: {why}")
        return
    yield from _against_release(con)
    roots: list[bytes] = []
    for start in range(0, meta.stamp.position, _CHUNK):
        stop = min(start + _CHUNK, meta.stamp.position)
        stored = _stored(con, start, stop)
        yield from _against_rows(_held(con, start, stop), stored, _row_keys(reader, standing, start, stop))
        # Rows follow from the log's head: a file that stands before it can't be compared with the log.
        if meta.stamp.position == standing.size:
            yield from _against_log(reader, standing, stored, start, stop)
        for at in range(start, stop, BUCKET):
            present = [stored[index] for index in range(at, min(at + BUCKET, stop)) if index in stored]
            roots.append(bucket_root(present))
    yield from _whole(con, meta, roots)


def _against_release(con: duckdb.DuckDBPyConnection) -> Iterator[Finding]:
    ours, held = _released(), macros.definitions(con)
    for name in sorted(ours.keys() | held.keys()):
        if ours.get(name) != held.get(name):
            yield _found(f"{name} is not what this release defines by that name")


@cache
def _released() -> dict[str, str]:
    with duckdb.connect() as made:
        made.execute(";".join(statement for table in (*TABLES, CHECKPOINTS) for statement in creation(table)))
        made.execute(";".join(macros.creation()))
        return macros.definitions(made)


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


def _row_keys(reader: Reader, standing: Standing, start: int, stop: int) -> dict[int, bytes]:
    if reader.vault is None:
        return {}
    keys = enumerate(reader.vault.keys(start, stop - start), start)
    return {index: key.row for index, key in keys if key is not None and index not in standing.erased}


def _against_rows(
    held: dict[int, list[Numbered]], stored: dict[int, bytes], row_keys: dict[int, bytes]
) -> Iterator[Finding]:
    for index in sorted(held.keys() | stored.keys()):
        if index not in stored:
            yield _found("rows were added", index)
        elif index not in held:
            yield _found("rows were removed", index)
        elif hash_rows(held[index], row_keys.get(index)) != stored[index]:
            yield _found("its rows are not those that were made from the record", index)


def _against_log(
    reader: Reader, standing: Standing, stored: dict[int, bytes], start: int, stop: int
) -> Iterator[Finding]:
    for entries in reader.entries(start, stop):
        for entry in entries:
            made = make_rows(entry, standing).rows
            index = entry.record.envelope.index
            if (hash_rows(made, entry.row_key) if made else None) != stored.get(index):
                yield _found("its stored hash is not that of the record's rows", index)


def _whole(con: duckdb.DuckDBPyConnection, meta: Meta, roots: list[bytes]) -> Iterator[Finding]:
    position = meta.stamp.position
    if content_digest(roots) != meta.digest:
        yield _found("the content digest is not that of the stored hashes")
    kept = con.execute("SELECT root FROM view_state.bucket_roots ORDER BY bucket").fetchall()
    if [root for (root,) in kept] != roots:
        yield _found("the roots of the buckets are not those of the stored hashes")
    for name in (*(table.name for table in TABLES), "view_state.row_digests"):
        beyond = con.execute(
            f"SELECT count(*) FROM {name} WHERE log_index IS NULL OR log_index < 0 OR log_index >= {position}"  # noqa: S608
        ).fetchone()
        if beyond and beyond[0]:
            yield _found(f"{name} holds {beyond[0]} rows of no record of this log")
