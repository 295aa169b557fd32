"""Views and macros: what they answer, in whose hands they are, and that nobody else can make one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest

import braid
from braid.ledger.record.envelope import DERIVATION_ROLES
from braid.views.duck.definition import Macro
from braid.views.duck.macros import MACROS, VIEWS, creation, inlined
from braid.views.errors import SqlError

if TYPE_CHECKING:
    from braid.ledger.read.trace import TraceNode
    from braid.store import Store


@pytest.fixture(scope="module")
def asked(study: Path) -> Iterator[Store]:
    with braid.open(study, read_only=True) as store:
        yield store


def rows(store: Store, statement: str, params: Any = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = store.sql(statement, params).to_pylist()
    return found


def call(macro: Macro) -> str:
    return f"{macro.name}({', '.join(f'NULL::{one.type}' for one in macro.parameters)})"


@pytest.mark.sample(16)
@pytest.mark.parametrize("each", [*VIEWS, *MACROS], ids=lambda each: each.name)
def test_columns_and_types_are_those_that_are_documented(asked: Store, each: Any) -> None:
    of = call(each) if isinstance(each, Macro) else each.name
    found = [(row["column_name"], row["column_type"]) for row in rows(asked, f"DESCRIBE FROM {of}")]
    assert found == [(column.name, column.type) for column in each.columns]


def test_each_has_its_comment_and_typed_parameters(asked: Store) -> None:
    views = rows(asked, "SELECT view_name AS name, comment FROM duckdb_views() WHERE NOT internal")
    assert {row["name"]: row["comment"] for row in views} == {view.name: view.comment for view in VIEWS}
    macros = rows(
        asked,
        "SELECT function_name AS name, any_value(comment) AS comment, any_value(parameters) AS names,"
        " list(parameter_types) AS types FROM duckdb_functions() WHERE NOT internal GROUP BY name",
    )
    assert {row["name"] for row in macros} == {macro.name for macro in MACROS}
    for macro in MACROS:
        (row,) = (row for row in macros if row["name"] == macro.name)
        assert row["comment"] == macro.comment
        assert row["names"] == [one.name for one in macro.parameters]
        assert [one.type for one in macro.parameters] in row["types"]


def test_of_our_own_queries_views_are_written_out_with_what_they_read(asked: Store) -> None:
    with asked.views.tables() as tables:
        for view in VIEWS:
            if view.name not in ("embeddings", "similar_to", "connections"):  # which ask variables of `sql`
                (told,) = rows(asked, f"SELECT count(*) AS n FROM {view.name}")
                assert tables.rows(f"SELECT count(*) FROM {view.name}") == [(told["n"],)], view.name
    assert inlined("SELECT 1 FROM claims") == "SELECT 1 FROM claims"


@pytest.mark.parametrize("name", ["RECORDS", '"records"', "main.records", "(FROM Records)"])
def test_a_view_is_found_however_its_name_is_written(asked: Store, name: str) -> None:
    assert rows(asked, f"SELECT count(*) > 0 AS some FROM {name}") == [{"some": True}]


def test_what_names_a_view_in_no_plain_way_finds_it(asked: Store) -> None:
    assert rows(asked, "SELECT count(*) > 0 AS some FROM query('FROM rec' || 'ords')") == [{"some": True}]
    with pytest.raises(SqlError, match="contradictions"):
        rows(asked, "FROM contradiction")
    with pytest.raises(SqlError, match="timeline"):
        rows(asked, "FROM timelin()")


def test_a_table_of_ones_own_may_not_have_the_name_of_a_view(asked: Store) -> None:
    with pytest.raises((SqlError, ValueError), match="facts"):
        asked.sql("FROM facts", tables={"facts": pa.table({"subject": ["Eve"]})})


def reached(node: TraceNode, direction: str) -> set[str]:
    """The ids that a trace shows in one direction, by links of derivation."""
    found: set[str] = set()
    stack = list(getattr(node, direction))
    while stack:
        each = stack.pop()
        if each.role in DERIVATION_ROLES:
            found.add(each.id)
            stack += getattr(each, direction)
    return found


@pytest.mark.soak
def test_ascends_and_descends_say_what_a_trace_of_the_log_says(asked: Store) -> None:
    ids = [
        row["id"] for row in rows(asked, "SELECT DISTINCT id FROM links UNION SELECT target_id FROM strands")
    ]
    assert len(ids) > 20
    erased = {
        row["id"] for row in rows(asked, "SELECT target_id AS id FROM tombstones WHERE role = 'target'")
    }
    for id in ids[::9]:  # each costs two walks of the whole store
        up = {row["id"] for row in rows(asked, "FROM ascends($id)", {"id": id})}
        down = {row["id"] for row in rows(asked, "FROM descends($id)", {"id": id})}
        trace = asked.trace(id)
        assert up == reached(trace, "up"), id
        assert down == reached(trace, "down") - erased, id  # a trace names what was erased, a table does not


def test_depth_is_the_longest_way_down(asked: Store) -> None:
    links = rows(asked, "SELECT log_index AS at, target_index AS target FROM strands")
    shown = {row["log_index"] for row in rows(asked, "SELECT log_index FROM records")}
    below: dict[int, list[int]] = {at: [] for at in shown}
    for link in links:
        if link["target"] in shown:
            below[link["at"]].append(link["target"])
    depth: dict[int, int] = {}
    for at in sorted(shown):  # a link leads to an earlier record
        depth[at] = max((depth[target] + 1 for target in below[at]), default=0)
    assert {row["log_index"]: row["depth"] for row in rows(asked, "FROM depths")} == depth
    assert max(depth.values()) == 3


def test_records_has_every_record_once(asked: Store) -> None:
    found = rows(asked, "SELECT log_index, kind FROM records ORDER BY log_index")
    indexes = [row["log_index"] for row in found]
    assert len(set(indexes)) == len(indexes)
    control = asked.reader.control
    hidden = set(control.hidden) | set(control.erased)
    told = {record.index: record.kind for record in asked.read()}
    revoked = {
        row["at"] for row in rows(asked, "SELECT revoked_index AS at FROM keys WHERE revoked_index > 0")
    }
    assert {row["log_index"]: row["kind"] for row in found} == {
        index: kind for index, kind in told.items() if index not in hidden | revoked
    }


@pytest.mark.parametrize(
    "instant",
    ["'2025-05-16T23:59:59'", "TIMESTAMP '2025-05-16 23:59:59'", "TIMESTAMPTZ '2025-05-17 01:59:59+02'"],
)
def test_an_instant_may_be_text_or_a_time_with_or_without_a_zone(asked: Store, instant: str) -> None:
    where = f"SELECT object FROM claims_at({instant}) WHERE rel = 'lives in'"
    assert rows(asked, where) == [{"object": "Leeds"}]


def test_a_claim_holds_from_its_first_instant_and_not_at_its_last(asked: Store) -> None:
    at = "SELECT object FROM claims_at($at) WHERE rel = 'works for'"
    end = datetime(2025, 6, 7, tzinfo=UTC)
    assert rows(asked, at, {"at": end - timedelta(microseconds=1)}) == [{"object": "Craig"}]
    assert rows(asked, at, {"at": end}) == []
    assert rows(asked, at, {"at": datetime(2025, 6, 16, tzinfo=UTC)}) == [{"object": "Annelise"}]
    assert rows(asked, "FROM claims_at('1990-01-01')") == []


def test_what_was_corrected_no_longer_holds_and_stays_in_the_history(asked: Store) -> None:
    held = rows(asked, "SELECT object FROM claims_at('2025-04-01') WHERE rel = 'has invoice'")
    assert held == [{"object": "INV-2034"}]
    told = rows(asked, "SELECT object, corrected_by FROM history('Harbour Lane Café')")
    new = rows(asked, "SELECT id FROM corrections")
    assert told == [
        {"object": "INV-2043", "corrected_by": new[0]["id"]},
        {"object": "INV-2034", "corrected_by": None},
    ]
    assert rows(asked, "FROM history('Harbour Lane Café', 'owes')") == []


def test_a_time_line_is_in_order_and_of_one_actor_or_all(asked: Store) -> None:
    everybody = rows(asked, "SELECT happened_at, who FROM timeline()")
    assert [row["happened_at"] for row in everybody] == sorted(row["happened_at"] for row in everybody)
    assert len(everybody) == rows(asked, "SELECT count(*) AS n FROM experiences")[0]["n"]
    assert {row["who"] for row in rows(asked, "FROM timeline('Jonas Adeyemi')")} == {"Jonas Adeyemi"}
    assert {row["who"] for row in rows(asked, "FROM timeline('system')")} == {"system"}
    assert rows(asked, "FROM timeline($who)", {"who": "'; DROP TABLE experiences; --"}) == []


def test_a_zone_of_a_parameter_is_heeded(asked: Store) -> None:
    summer = timezone(timedelta(hours=1))
    at = "SELECT external_id FROM experiences WHERE type = 'occurrence' AND happened_at = $at"
    for when in (datetime(2025, 5, 18, 17, 5, tzinfo=summer), datetime(2025, 5, 18, 16, 5)):  # noqa: DTZ001
        assert rows(asked, at, {"at": when}) == [{"external_id": "asst-127"}]


BLINDING = """
CREATE MACRO duckdb_views() AS TABLE
  SELECT 'x' AS view_name, 'main' AS schema_name, 'x' AS sql, true AS internal, 'x' AS database_name;
CREATE MACRO duckdb_functions() AS TABLE
  SELECT 'x' AS function_name, ['x'] AS parameter_types, 'x' AS macro_definition, true AS internal;
CREATE MACRO duckdb_tables() AS TABLE SELECT 'x' AS table_name WHERE false;
ALTER TABLE experiences RENAME TO exps;
CREATE VIEW experiences AS
  SELECT * REPLACE (if(current_query() LIKE 'SELECT%epoch_us(%', text, 'EVIL') AS text) FROM exps
"""
"""Another answer for whoever asks than for the check, behind names of DuckDB's own that say that nothing is there."""


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    ("edit", "name"),
    [
        ("CREATE MACRO timeline(actor := NULL) AS TABLE SELECT 'nothing' AS text", "timeline"),
        ("CREATE VIEW corrections AS SELECT 1 AS log_index", "corrections"),
        ("CREATE MACRO more(x) AS x", "more"),
        ("CREATE MACRO upper(x) AS 'nothing'", "upper"),
        (BLINDING, "experiences"),
        ("CREATE TABLE sessions AS SELECT 'nothing' AS session_id", "sessions"),
        ("CREATE TABLE extra (a INTEGER)", "extra"),
        ("CREATE INDEX fast ON experiences(id)", "fast"),
        ("CREATE SEQUENCE counter", "counter"),
        ("CREATE SCHEMA temp2", "temp2"),
        ("CREATE TYPE mood AS ENUM ('good')", "mood"),
        ("COMMENT ON COLUMN experiences.text IS 'ignore all of it'", "experiences.text"),
        ("COMMENT ON TABLE experiences IS 'ignore all of it'", "experiences"),
        ("ALTER TABLE experiences ADD COLUMN more INTEGER", "experiences"),
    ],
)
def test_a_definition_in_the_file_is_found(bench: Any, edit: str, name: str) -> None:
    bench.say("one")
    bench.views.catch_up()
    assert bench.views.check() == []
    with duckdb.connect(bench.work) as con:
        con.execute(edit)
    found = bench.views.check()
    assert found
    assert any(name in finding.message for finding in found)
    bench.views.replay("duck")
    assert bench.views.check() == []


ASKED_ELSEWHERE = """
import sys, duckdb
with duckdb.connect(sys.argv[1], read_only=True) as con:
    con.execute(sys.stdin.read())
    print(con.sql("FROM timeline('user')").fetchall()[0][-2])
    print(con.sql("SELECT count(*) FROM records").fetchall()[0][0])
    try:
        con.sql("DROP TABLE experiences")
    except duckdb.Error:
        print("refused")
"""


def test_another_program_reads_a_generation_while_the_owner_writes(bench: Any) -> None:
    bench.say("seen from outside", *(f"turn {n}" for n in range(36)))
    bench.views.catch_up(publish=True)
    generation = bench.duck / (bench.duck / "current").read_text("utf-8").strip()
    with duckdb.connect(generation, read_only=True) as held:  # open all the while, as a client has it
        bench.say("later")
        assert len(bench.rows("FROM timeline()")) == 38
        done = subprocess.run(
            [sys.executable, "-c", ASKED_ELSEWHERE, str(generation)],
            input=";".join(creation()),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        assert held.sql("SELECT count(*) FROM experiences").fetchall() == [(37,)]
    assert done.stdout.split("\n")[:3] == ["seen from outside", "40", "refused"]
    bench.say(*(f"more {n}" for n in range(20)))
    bench.rows("SELECT 1")
    newer = bench.duck / (bench.duck / "current").read_text("utf-8").strip()
    assert newer != generation
    assert not generation.exists()


@pytest.mark.sample(2)
@pytest.mark.parametrize("asked_for", ["(DESCRIBE)", "(DESCRIBE TABLES)", "(SHOW TABLES)"])
def test_what_lists_all_lists_views(asked: Store, asked_for: str) -> None:
    names = {row["name"] for row in rows(asked, f"SELECT name FROM {asked_for}")}
    assert {"experiences", "sessions", "contradictions"} <= names
