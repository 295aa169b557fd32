"""Is a snapshot the fold of the log's prefix, less what has been erased since? (SPEC §10.11; `braid verify --snapshot`)

Its files are held against the signed manifest first. Then each part is begun from as a rebuild does, in a folder of its
own, and held against the log: the DuckDB rows and the LanceDB rows one by one as `verify --deep` does, the catalogue
against one that is made from the prefix again.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from braid.ledger.audit.findings import Finding
from braid.ledger.read.prefix import root_at
from braid.ledger.read.reader import Reader
from braid.views.catalog.file import VERSION, CatalogHome
from braid.views.duck.check import check_content
from braid.views.duck.generations import DuckHome
from braid.views.duck.seal import Seals
from braid.views.errors import DamagedViewError, SnapshotError
from braid.views.lance.check import check_rows
from braid.views.lance.folder import Embedding, LanceHome
from braid.views.projection import HeadFacts, Home, Projection
from braid.views.replay import feed, standing_then
from braid.views.snapshot import catalog
from braid.views.snapshot.folder import Snapshots, module_of
from braid.views.snapshot.manifest import NAME, ProjectionShare, differing


class _Looked(NamedTuple):
    """A part that is looked at: where it lies, where a file may be made of it, and what it must be the fold of."""

    reader: Reader
    folder: Path
    work: Path
    part: ProjectionShare
    standing: HeadFacts
    embedding: Embedding


def check_snapshot(reader: Reader, snapshots: Snapshots, name: str, embedding: Embedding) -> list[Finding]:
    """Return what is wrong with a snapshot; raise UnknownSnapshotError where there is none of that name.

    Works in a hidden folder beside the snapshots, which goes at the end.
    """
    folder = snapshots.find(name)
    where = f"views/snapshots/{name}"
    try:
        manifest = snapshots.manifest(folder)
    except SnapshotError as error:
        return [Finding("projection", str(error), file=f"{where}/{NAME}")]
    if manifest.size > reader.size or root_at(reader, manifest.size) != manifest.root:
        return [Finding("projection", "it was made from another log", file=f"{where}/{NAME}")]
    # Of what was erased since it holds nothing, the manifest was just held to that: no erasure makes it out of date.
    standing = msgspec.structs.replace(standing_then(reader, manifest.size), last_erasure=-1)
    found: list[Finding] = []
    for part in manifest.parts:
        if wrong := differing(folder, part):
            found += [
                Finding("projection", f"it {what}", file=f"{where}/{path}") for path, what in wrong.items()
            ]
            continue
        work = snapshots.folder / f".checking-{os.urandom(4).hex()}"
        work.mkdir(mode=0o700)
        try:
            said = _CHECKS[part.name](_Looked(reader, folder, work, part, standing, embedding))
            found += [
                Finding("projection", one.message, one.index, file=f"{where}/{part.name}") for one in said
            ]
        except DamagedViewError as error:
            found.append(Finding("projection", str(error), file=f"{where}/{part.name}"))
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return found


def _duck(of: _Looked) -> list[Finding]:
    home = DuckHome(of.work / "duck", Path(os.devnull), Seals(of.reader))
    _begin(home, of)
    return check_content(of.reader, home.work, of.standing)


def _lance(of: _Looked) -> list[Finding]:
    home = LanceHome(of.work / "lance", of.reader, of.embedding)
    _begin(home, of)
    return check_rows(of.reader, home, of.embedding(), of.standing)


def _catalog(of: _Looked) -> list[Finding]:
    held, made = CatalogHome(of.work / "held", of.reader), CatalogHome(of.work / "made", of.reader)
    _begin(held, of)
    file = made.fresh()
    try:
        feed(file, of.reader, of.standing, VERSION)
    finally:
        file.close()
    made.swap()
    with closing(sqlite3.connect(held.path)) as con:
        con.execute("ATTACH ? AS made", [str(made.path)])
        return [
            Finding("projection", f"{rows} rows of {name} {what}")
            for name in catalog.SCHEMAS
            for one, other, what in (
                ("main", "made", "follow from no record"),
                ("made", "main", "are missing"),
            )
            if (rows := _beyond(con, f"{one}.{name}", f"{other}.{name}"))
        ]


def _beyond(con: sqlite3.Connection, one: str, other: str) -> int:
    row = con.execute(f"SELECT count(*) FROM (SELECT * FROM {one} EXCEPT SELECT * FROM {other})").fetchone()  # noqa: S608 - our own names
    return int(row[0])


def _begin(home: Home, of: _Looked) -> None:
    """Put a file in place that holds what the part holds."""
    begun: Projection = module_of(of.part.name).load(home, of.folder, of.part)
    begun.close()
    home.swap()


_CHECKS: Final[dict[str, Callable[[_Looked], list[Finding]]]] = {
    "duck": _duck,
    "catalog": _catalog,
    "lance": _lance,
}
