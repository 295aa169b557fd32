"""Whoever can write the projections but not read the vault: each row flipped, removed or put in is noticed, or healed,
and nothing false is told or signed (SPEC §10.12). Edits are generated, and seeded.
"""

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest

import braid
from braid import entry as api
from braid.ledger.audit.findings import Finding
from braid.ledger.read import spans
from braid.ledger.read.idempotency import SUFFIX, KeyIndex
from braid.ledger.read.lineage import Lineage
from braid.ledger.read.scopechain import chain_of
from braid.store import Store
from braid.views.catalog.check import check_catalog
from braid.views.duck.check import check_content
from braid.views.duck.schema import CHECKPOINTS, TABLES
from tests.unit.views.conftest import experience, one_of_each, whole_table

START = datetime(2025, 1, 1, 12, tzinfo=UTC)
STATE = ("view_state.row_digests", "view_state.bucket_roots", "view_state.meta")
COPIES = 4
"""More records of a kind make fewer rounds of edits."""
SIZE = 3 + 8 * COPIES + 10
"""So many records the world has before anything is derived or asked."""
KEYS = [f"key-{number}" for number in range(6)]
ASKED = "What is Maya allergic to?"
TRUE = {
    "maya": {"I live in Porto.", "I am allergic to cats.", "I have a sister called Iris."},
    "bob": {"I am allergic to penicillin.", "My door code is 4711."},
}
"""What recall may give of whom; that it lacks one is no lie."""
WHEN = {"now": None, "then": START + timedelta(hours=1)}


class World(NamedTuple):
    """A store that is not written to any more, its fork guard, and where copies may lie."""

    store: Path
    guard: Path

    def copy(self, to: Path) -> "World":
        shutil.copytree(self.store, to / "store")
        shutil.copytree(self.guard, to / "guard")
        return World(to / "store", to / "guard")

    def open(self) -> Store:
        ticks = iter(range(10**6))
        clock: Callable[[], datetime] = lambda: START + timedelta(days=1, seconds=next(ticks))  # noqa: E731
        return braid.open(self.store, guard_dir=self.guard, clock=clock)


@pytest.fixture(scope="module", autouse=True)
def short_spans() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spans, "SPAN_BITS", 4)
        yield


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, short_spans: None) -> World:
    """A record of each kind, twice; two people; corrections, keys, something forgotten and something erased."""
    folder = tmp_path_factory.mktemp("edited")
    made = World(folder / "store", folder / "guard")
    times = iter(range(10**6))
    api.init(made.store, guard_dir=made.guard, clock=lambda: START, scope_chains=True)
    with braid.open(
        made.store, guard_dir=made.guard, clock=lambda: START + timedelta(seconds=next(times))
    ) as store:

        class Filled:
            writer = store.writer

            def say(self, *texts: str) -> Any:
                return self.writer.append([experience(text) for text in texts])

        store.set_learning(health=True)
        for _ in range(COPIES):
            one_of_each(Filled())  # type: ignore[arg-type]
        maya: dict[str, Any] = {"actor": "user", "name": "Maya", "user_id": "maya", "session_id": "one"}
        bob: dict[str, Any] = {"actor": "user", "name": "Bob", "user_id": "bob", "session_id": "two"}
        store.append("I live in Porto.", idempotency_key=KEYS[0], **maya)
        nuts = store.append("I am allergic to nuts.", idempotency_key=KEYS[1], **maya)
        store.append("I am allergic to penicillin.", idempotency_key=KEYS[2], **bob)
        store.append("My door code is 4711.", idempotency_key=KEYS[3], **bob)
        gone = store.append("I am allergic to the sun.", idempotency_key=KEYS[4], **maya)
        burnt = store.append("I am allergic to dogs.", **maya)
        store.append("I have a sister called Iris.", idempotency_key=KEYS[5], **maya)
        store.learn()
        store.correct(nuts, "I am allergic to cats.")
        store.learn()
        store.forget(gone)
        store.erase(burnt)
        store.checkpoint()
        store.stance(ASKED, user_id="maya")
        store.recall("allergic", user_id="maya")
        store.views.catch_up(publish=True)
        assert store.verify(deep=True).findings == []
    return made


def told(store: Store) -> dict[str, Any]:
    """What the store tells and signs; each question whose answer hung on a row of a projection."""
    reader = store.reader
    nuts = next(
        one for one in store.read() if one.kind == "experience" and one.text == "I am allergic to nuts."
    )
    size = SIZE
    said: dict[str, Any] = {}
    said["stance"] = store.stance(ASKED, user_id="maya").claim
    said["ask"] = store.ask(ASKED, user_id="maya").text
    for name, at in WHEN.items():
        for who in ("maya", "bob"):
            hits = store.recall("allergic code sister", user_id=who, valid_at=at).results
            assert {hit.scope and hit.scope.user_id for hit in hits} <= {who}
            said[f"false {who} {name}"] = {hit.text for hit in hits} - TRUE[who]
    said["trace"] = sorted((node.index, node.role) for node in store.trace(nuts.id).down if node.index < size)
    before = reader.size
    said["keys"] = [
        store.append(
            text, idempotency_key=key, actor="user", name=name, user_id=name.lower(), session_id=session
        )
        for text, key, name, session in (
            ("I live in Porto.", KEYS[0], "Maya", "one"),
            ("I am allergic to nuts.", KEYS[1], "Maya", "one"),
            ("I am allergic to penicillin.", KEYS[2], "Bob", "two"),
            ("My door code is 4711.", KEYS[3], "Bob", "two"),
        )
    ]
    said["appended"] = reader.size - before
    more = store.append("I like tea.", actor="user", name="Maya", user_id="maya", session_id="one")
    said["chains"] = {(scope, count) for scope, count, _ in chain_of(store.get(more).raw)}
    asked = "SELECT log_index, text FROM experiences WHERE log_index < $size ORDER BY log_index"
    said["sql"] = store.sql(asked, {"size": size}).to_pylist()
    porto = next(one for one in store.read() if one.kind == "experience" and one.text == "I live in Porto.")
    store.forget(porto.id)
    said["forgotten"] = sorted(index for index in reader.control.hidden if index < size)
    left = "SELECT object FROM claims WHERE log_index < $size ORDER BY object"
    said["left"] = store.sql(left, {"size": size}).to_pylist()
    return said


@pytest.fixture(scope="module")
def truth(world: World, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the store tells where nobody has edited anything."""
    with world.copy(tmp_path_factory.mktemp("truth")).open() as store:
        answers = told(store)
    assert answers["stance"] == "Maya is allergic to cats"
    assert answers["appended"] == 0
    assert not any(false for name, false in answers.items() if name.startswith("false"))
    return answers


class Edit(NamedTuple):
    """An edit of one row: the record that the row is of, and the statement."""

    record: int | None
    statement: str


def rounds(edits: Sequence[Edit]) -> Iterator[list[Edit]]:
    """Yield the edits in as few rounds as there can be without two of one record: each must be noticed by itself."""
    waiting = list(edits)
    while waiting:
        taken: dict[int | None, Edit] = {}
        for edit in waiting:
            taken.setdefault(edit.record, edit)
        waiting = [edit for edit in waiting if taken[edit.record] is not edit]
        yield list(taken.values())


def another(type_: str, column: str, chance: random.Random) -> str:
    """An expression that gives another value of a column's type."""
    number = chance.randrange(1, 9)
    return {
        "VARCHAR": f"coalesce({column}, '') || 'x{number}'",
        "TEXT": f"coalesce({column}, '') || 'x{number}'",
        "JSON": f"""'{{"forged":{number}}}'""",
        "BIGINT": f"coalesce({column}, 0) + {number}",
        "INTEGER": f"coalesce({column}, 0) + {number}",
        "DOUBLE": f"coalesce({column}, 0) + 0.{number}",
        "BOOLEAN": f"NOT coalesce({column}, false)",
        "TIMESTAMP": f"coalesce({column}, TIMESTAMP '2020-01-01') + INTERVAL {number} HOUR",
        "VARCHAR[]": f"['forged {number}']",
        "BLOB": f"'\\x0{number}'::BLOB",
    }[type_]


# -- DuckDB ------------------------------------------------------------------------------------------


def duck_edits(con: duckdb.DuckDBPyConnection, table: str, chance: random.Random) -> list[Edit]:
    """One flip a column, three rows removed, three put in."""
    columns = con.execute(f"DESCRIBE {table}").fetchall()
    names = [column[0] for column in columns]
    key = "log_index" if "log_index" in names else "NULL"
    rows = con.execute(f"SELECT rowid, {key} FROM {table}").fetchall()
    chance.shuffle(rows)
    assert rows, f"{table} is empty: nothing of it is tested"
    edits: list[Edit] = []
    for place, (name, type_, *_) in enumerate(columns):
        row, record = rows[place % len(rows)]
        edits.append(
            Edit(record, f"UPDATE {table} SET {name} = {another(type_, name, chance)} WHERE rowid = {row}")
        )
    edits += [Edit(record, f"DELETE FROM {table} WHERE rowid = {row}") for row, record in rows[:3]]
    put = [name for name in names if name != "log_index"]
    for row, record in rows[:3]:
        forged = f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(names)} FROM {table} WHERE rowid = {row}"
        edits.append(Edit(record, forged))
    assert put
    return edits


@pytest.fixture(scope="module")
def live(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A copy that stays open while its DuckDB files are edited."""
    with world.copy(tmp_path_factory.mktemp("live")).open() as store:
        yield store


@pytest.mark.sample(20)
@pytest.mark.parametrize("table", [*(table.name for table in TABLES), CHECKPOINTS.name, *STATE])
def test_each_edit_of_a_duckdb_table_is_noticed_and_none_is_told(
    live: Store, truth: dict[str, Any], table: str
) -> None:
    chance = random.Random(table)
    work = live.path / "views/duck/work.duckdb"
    live.views.catch_up()
    asked = (
        f"SELECT * FROM {table} WHERE log_index < {SIZE} ORDER BY ALL" if table not in STATE else "SELECT 1"
    )
    before = live.sql(asked).to_pylist()
    pristine, times = work.read_bytes(), work.stat()
    with duckdb.connect(work, read_only=True) as con:
        edits = duck_edits(con, table, chance)
    assert len(edits) >= 8 if table not in STATE else 4
    for some in rounds(edits):
        work.write_bytes(pristine)
        with duckdb.connect(work) as con:
            for edit in some:
                con.execute(edit.statement)
        findings = check_content(live.reader, work)
        for edit in some:
            # How much couldn't be read is counted as it was when it was read: no audit can tell, the seal does.
            counted = table == "view_state.meta" and any(
                word in edit.statement for word in ("unknown =", "unreadable =")
            )
            assert counted or named(findings, table, edit.record), (edit, findings)
    os.utime(work, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert not live.views._seals.holds(work)
    answer = live.views.sql(asked)
    assert answer.table.to_pylist() == before
    assert "bears no seal" in str(answer.rebuilt)
    edit_in_place(work, edits)
    stance = live.stance(ASKED, user_id="maya")
    assert (stance.claim, stance.is_new) == (truth["stance"], False)
    assert check_content(live.reader, work) == []


def edit_in_place(work: Path, edits: Sequence[Edit]) -> None:
    with duckdb.connect(work) as con:
        for edit in next(rounds(edits)):
            con.execute(edit.statement)


def named(findings: Sequence[Finding], table: str, record: int | None) -> bool:
    """Whether a finding names the table and the record; of the whole file's own words there is no record."""
    if table in ("checkpoints", "view_state.bucket_roots", "view_state.meta") or record is None:
        return bool(findings)
    return any(table in one.message and one.index == record for one in findings)


# -- the catalogue -----------------------------------------------------------------------------------


def catalog_tables(world: World) -> list[str]:
    with closing(sqlite3.connect(world.store / "views/catalog.sqlite")) as con:
        return [
            name
            for (name,) in con.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if con.execute(f"SELECT 1 FROM {name}").fetchone()
        ]


def catalog_edits(con: sqlite3.Connection, table: str, chance: random.Random) -> dict[str, list[Edit]]:
    """For each column, each row flipped; each row removed; as many put in."""
    columns = [(name, type_) for _, name, type_, *_ in con.execute(f"PRAGMA table_info({table})")]
    names = [name for name, _ in columns]
    of = next((name for name in ("log_index", "child") if name in names), None)
    rows = con.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()
    chance.shuffle(rows)
    edits: dict[str, list[Edit]] = {"removed": [], "put in": []}
    for row in rows:
        held = dict(zip(names, row, strict=True))
        record = held.get(of) if of else None
        where = " AND ".join(f"{name} IS {literal(value)}" for name, value in held.items())
        edits["removed"].append(Edit(record, f"DELETE FROM {table} WHERE {where}"))
        for name, value in held.items():
            forged = literal(other(value, chance))
            edits.setdefault(f"{name} flipped", []).append(
                Edit(record, f"UPDATE OR REPLACE {table} SET {name} = {forged} WHERE {where}")
            )
        values = ", ".join(
            literal(other(value, chance) if name != of else value) for name, value in held.items()
        )
        edits["put in"].append(Edit(record, f"INSERT OR REPLACE INTO {table} VALUES ({values})"))
    return edits


def other(value: Any, chance: random.Random) -> Any:
    if isinstance(value, bytes):
        return bytes(chance.randrange(256) for _ in value)
    return value + chance.randrange(1, 5) if isinstance(value, int) else f"{value}x"


def literal(value: Any) -> str:
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return (
        "NULL"
        if value is None
        else str(value)
        if isinstance(value, int)
        else "'" + str(value).replace("'", "''") + "'"
    )


def test_each_edit_of_the_catalogue_is_noticed(world: World, tmp_path: Path) -> None:
    copy = world.copy(tmp_path)
    path = copy.store / "views/catalog.sqlite"
    pristine, count = path.read_bytes(), 0
    with copy.open() as store:
        for table in catalog_tables(world):
            with closing(sqlite3.connect(path, isolation_level=None)) as con:
                every = {
                    name: edits[:12]
                    for name, edits in catalog_edits(con, table, random.Random(table)).items()
                }
            for edits in every.values():
                for some in rounds(edits):
                    path.write_bytes(pristine)
                    with closing(sqlite3.connect(path)) as con:
                        for edit in some:
                            con.execute(edit.statement)
                        con.commit()
                    findings = check_catalog(store.reader, path)
                    for edit in some:
                        assert table == "meta" or any(
                            one.message.startswith(table) and one.index == edit.record for one in findings
                        ), (edit, findings)
                    assert findings, some
                    count += len(some)
        report = store.verify(deep=True)
        assert report.exit_code == 1
        assert {one.kind for one in report.findings} == {"projection"}
        assert "braid replay" in report.verdict
        store.replay("catalog")
        assert store.verify(deep=True).findings == []
    assert count >= 40


@pytest.mark.sample(3)
@pytest.mark.parametrize("how", ["flipped", "removed", "put in"])
def test_nothing_false_is_told_of_an_edited_catalogue(
    world: World, truth: dict[str, Any], tmp_path: Path, how: str
) -> None:
    copy = world.copy(tmp_path)
    path = copy.store / "views/catalog.sqlite"
    with closing(sqlite3.connect(path)) as con:
        for table in set(catalog_tables(world)) - {"meta"}:
            for name, edits in catalog_edits(con, table, random.Random(table + how)).items():
                if name.endswith(how):
                    for edit in edits:
                        con.execute(edit.statement)
        con.commit()
    with copy.open() as store:
        assert told(store) == truth


# -- LanceDB -----------------------------------------------------------------------------------------


def lance_flips(chance: random.Random) -> dict[str, str]:
    """Column → SQL of another value, of LanceDB's own kind."""
    text = {
        name: f"'forged {chance.randrange(9)}'"
        for name in (
            "id",
            "role",
            "model",
            "speaker",
            "name",
            "agent_id",
            "run_id",
            "project_id",
            "session_id",
            "label",
        )
    }
    return text | {
        "text": "'I am allergic to moonlight.'",
        "user_id": "'bob'",
        "turn": "41",
        "happened_us": "1",
        "target": "2",
        "salience": "0.99",
        "pending": "NOT pending",
        "kind": "'hidden'",
        "card": "X'90'",
        "log_index": "log_index + 500",
        "k": "k + 3",
    }


def edited_set(store: Path) -> Any:
    return whole_table(store)


@pytest.mark.soak
def test_nothing_false_is_told_of_an_edited_lance_table(world: World, tmp_path: Path) -> None:
    chance = random.Random("lance")
    copy = world.copy(tmp_path)
    (folder,) = (copy.store / "views/lance").glob("set-*")
    pristine = tmp_path / "pristine"
    shutil.copytree(folder, pristine)
    current = copy.store / "views/lance/current"
    named_current = current.read_bytes()
    columns = ["log_index", "k", "user_id"]
    held = edited_set(copy.store).search().where("log_index >= 0").select(columns).to_arrow().to_pylist()
    at = [row["log_index"] for row in held if row["k"] == 0]
    hers = [row["log_index"] for row in held if row["user_id"] == "maya"]
    edits: list[tuple[str, list[int], Callable[[Any, int], object]]] = []
    for column, value in lance_flips(chance).items():

        def flip(table: Any, index: int, column: str = column, value: str = value) -> None:
            table.update(where=f"log_index = {index} AND k = 0", values_sql={column: value})

        edits.append((column, chance.sample(hers if column == "user_id" else at, 3), flip))
    edits.append(("removed", at[::2], lambda table, index: table.delete(f"log_index = {index}")))

    def put(table: Any, index: int) -> None:
        row = table.search().where(f"log_index = {index} AND k = 0").to_arrow()
        table.add(row.select(table.schema.names))

    edits.append(("put in", at[1::3], put))
    unnoticed: list[str] = []
    with copy.open() as store:
        for name, indexes, edit in edits:
            for left in (copy.store / "views/lance").glob("set-*"):  # a set that can't be read is made anew
                shutil.rmtree(left)
            shutil.copytree(pristine, folder)
            current.write_bytes(named_current)
            store.views.search._opened = None
            for index in indexes:
                edit(edited_set(copy.store), index)
            noticed = (
                {one.index for one in store.views.search.check()} if name != "log_index" else set(indexes)
            )
            unnoticed += [f"{name} of {index}" for index in indexes if index not in noticed]
            store.views.search._opened = None
            for who in ("maya", "bob"):
                for key, then in WHEN.items():
                    hits = store.recall("allergic code sister moonlight", user_id=who, valid_at=then).results
                    assert {hit.text for hit in hits} <= TRUE[who], (name, key)
                    assert {hit.scope and hit.scope.user_id for hit in hits} <= {who}
    assert not unnoticed
    assert sum(len(indexes) for _, indexes, _ in edits) >= 65


# -- lineage -----------------------------------------------------------------------------------------


def test_an_edited_lineage_file_is_not_believed(world: World, truth: dict[str, Any], tmp_path: Path) -> None:
    chance = random.Random("lineage")
    copy = world.copy(tmp_path)
    files = sorted((copy.store / "views/lineage").iterdir())
    assert len({path.suffix for path in files}) == 2
    assert len(files) >= 4
    pristine = {path: path.read_bytes() for path in files}
    edits = 0
    with copy.open() as store:
        for path, data in pristine.items():
            others = [held for other, held in pristine.items() if other != path]
            forged = [bytes(data[:place]) + bytes([data[place] ^ chance.randrange(1, 256)]) + data[place + 1 :]
                      for place in (chance.randrange(len(data)) for _ in range(20))]  # fmt: skip
            for harm in (*forged, data[:-1], data + b"\0", b"", *others[:1]):
                path.write_bytes(harm)
                kept = (
                    KeyIndex(store.reader)._spans if path.suffix == SUFFIX else Lineage(store.reader)._spans
                )
                assert kept.read(int(path.stem)) is None
                edits += 1
    assert edits >= 96
    with copy.open() as store:  # each file is another's, or empty, now
        assert told(store) == truth
