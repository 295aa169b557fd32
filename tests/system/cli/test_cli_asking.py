"""`sql` and `replay`: answers in every format, and no way out for a query."""

from __future__ import annotations

import csv
import io
import json
import shutil
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session

QUERY = "SELECT log_index, text FROM experiences ORDER BY log_index"


@pytest.fixture
def filled(session: Session) -> Session:
    for n in range(3):
        session.well("append", f"turn {n}")
    return session


def test_every_format_holds_the_answer(filled: Session) -> None:
    expected = [{"log_index": n + 3, "text": f"turn {n}"} for n in range(3)]
    assert json.loads(filled.well("sql", QUERY, "-o", "json").out) == expected
    assert [
        json.loads(line) for line in filled.well("sql", QUERY, "-o", "jsonl").out.splitlines()
    ] == expected
    rows = list(csv.DictReader(io.StringIO(filled.well("sql", QUERY, "-o", "csv").out)))
    assert [row["text"] for row in rows] == [row["text"] for row in expected]
    for words in (("-o", "parquet", "--out", "answer"), ("--out", "answer.parquet")):
        filled.well("sql", QUERY, *words)
        assert pq.read_table(filled.folder / words[-1]).to_pylist() == expected
    filled.well("sql", QUERY, "--out", "answer.json")
    assert json.loads((filled.folder / "answer.json").read_text(encoding="utf-8")) == expected


def test_position_and_lag_are_told_apart_from_the_answer(filled: Session) -> None:
    done = filled.well("sql", "-", stdin="SELECT 1 AS one")
    assert done.out.split() == ["one", "1"]
    assert "stands at record 6, level with the log" in done.err


WAYS_OUT = (
    "DROP TABLE experiences",
    "INSERT INTO keys SELECT * FROM keys",
    "COPY (SELECT 1) TO 'out.csv'",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_csv('https://example.org/x.csv')",
    "ATTACH 'other.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SELECT 1; SELECT 2",
    "SELEC 1",
    "SELECT * FROM nothing",
    "",
)


def test_a_query_has_no_way_out(filled: Session) -> None:
    for query in WAYS_OUT:
        filled.refused("sql", query)
    assert sorted(path.name for path in filled.folder.iterdir()) == ["guard", "memory"]
    filled.well("verify", "--deep")


def test_projections_can_be_thrown_away(filled: Session) -> None:
    before = filled.well("sql", QUERY).out
    shutil.rmtree(filled.store / "views")
    assert filled.well("sql", QUERY).out == before
    rows = json.loads(filled.well("replay", "-o", "json").out)
    assert {row["behind"] for row in rows} == {0}
    assert filled.well("sql", QUERY).out == before
    assert "no projection" in filled.refused("replay", "--view", "nothing")


def test_a_trace_goes_both_ways(filled: Session) -> None:
    a = filled.well("append", "a").id
    b = filled.well("append", "b", "--type", "inference", "--parent", a).id
    c = filled.well("append", "c", "--type", "inference", "--parent", b).id
    assert a in filled.well("trace", b).out
    assert c in filled.well("trace", b).out
    assert c not in filled.well("trace", b, "--up").out
    assert a not in filled.well("trace", b, "--down").out
    assert c not in filled.well("trace", a, "--depth", "1").out
    node = json.loads(filled.well("trace", b, "-o", "json").out)
    assert (node["up"][0]["id"], node["down"][0]["id"]) == (a, c)


def test_log_chooses(filled: Session) -> None:
    def indexes(*words: str) -> list[int]:
        return [row["index"] for row in json.loads(filled.well("log", "-o", "json", *words).out)]

    assert indexes() == [0, 1, 2, 3, 4, 5]
    assert indexes("-n", "2") == [4, 5]
    assert indexes("-n", "2", "--reverse") == [5, 4]
    assert indexes("--since-index", "2", "-n", "2") == [2, 3]
    assert indexes("--kind", "key") == [1, 2]
    assert indexes("--kind", "dream") == []


def test_transactions_have_the_schemas_shape(filled: Session) -> None:
    id = filled.well("append", "x").id
    filled.well("erase", id, "--yes", "--reason", "gdpr_erasure")
    shown = json.loads(filled.well("log", "--wal", "-o", "json", "-n", "3").out)
    assert [entry["wal_id"] for entry in shown] == ["wal_000004", "wal_000005", "wal_000006"]
    (op,) = shown[0]["ops"]
    assert (op["op"], op["target"], op["id"]) == ("append", "exp", id)
    (op,) = shown[1]["ops"]
    assert (op["op"], op["id"], op["reason"]) == ("tombstone", id, "gdpr_erasure")
    assert json.loads(filled.well("show", "wal_000005", "-o", "json").out) == shown[1]
