"""Untrusted SQL: what is answered, and that nothing else happens."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import pyarrow as pa
import pytest

from braid.views.duck import sandbox
from braid.views.duck import sandboxes as sandboxes_module
from braid.views.duck.past import Past
from braid.views.duck.sql import QueryLimits, Sandbox
from braid.views.errors import SqlError, SqlLimitError, SqlStoppedError, SqlTimeoutError, ViewBusyError
from tests import sandboxes

QUESTIONS = [
    "SELECT 1",
    "  select 1 -- and a comment",
    "SELECT 1;",
    "VALUES (1)",
    "WITH a AS (SELECT 1) FROM a",
    "FROM experiences",
    "FROM records",
    "FROM timeline('user')",
    "FROM claims_at(now())",
    "TABLE transactions",
    "DESCRIBE experiences",
    "SHOW TABLES",
    "SUMMARIZE transactions",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE SELECT count(*) FROM links",
    "PIVOT transactions ON tx IN (0, 1) USING sum(records)",
    "SELECT comment FROM duckdb_columns() WHERE table_name = 'claims'",
    "SELECT structured->>'$.a' FROM experiences",
    "SELECT date_trunc('day', created_at) AS d, count(*) FROM experiences GROUP BY d",
]

HOSTILE = [
    "CREATE TABLE x (a INT)",
    "CREATE TEMP TABLE x AS SELECT 1",
    "CREATE MACRO f() AS 1",
    "CREATE TEMP MACRO f() AS 1",
    "CREATE OR REPLACE MACRO timeline(actor) AS TABLE SELECT 1",
    "CREATE OR REPLACE VIEW records AS SELECT 1",
    "COMMENT ON VIEW records IS 'x'",
    "DROP MACRO TABLE descends",
    "DROP VIEW records",
    "FROM timeline(); DROP VIEW records",
    "FROM descends((SELECT content FROM read_text('/etc/passwd')))",
    "FROM claims_at('x')",
    "INSERT INTO experiences (text) VALUES ('x')",
    "UPDATE experiences SET text = 'x'",
    "DELETE FROM experiences",
    "DROP TABLE experiences",
    "ALTER TABLE experiences ADD COLUMN x INT",
    "TRUNCATE experiences",
    "VACUUM",
    "CHECKPOINT",
    "BEGIN",
    "COPY experiences TO '{out}'",
    "COPY (SELECT 1) TO '{out}' (FORMAT parquet)",
    "COPY experiences FROM '/etc/passwd'",
    "EXPORT DATABASE '{out}'",
    "IMPORT DATABASE '{out}'",
    "ATTACH '{out}' AS x",
    "ATTACH ':memory:' AS x",
    "DETACH work",
    "USE memory",
    "SET memory_limit = '100GB'",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "RESET threads",
    "PRAGMA enable_profiling",
    "PRAGMA database_list",
    "CALL pragma_version()",
    "INSTALL httpfs",
    "LOAD httpfs",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE experiences",
    "EXPLAIN CREATE TEMP TABLE x AS SELECT 1",
    "EXPLAIN ANALYZE INSERT INTO experiences (text) VALUES ('x')",
    "/* */ EXPLAIN ANALYZE CREATE TEMP TABLE x AS SELECT 1",
    "EXPLAIN (FORMAT json) DELETE FROM experiences",
    "EXPLAIN SELECT 1; DROP TABLE experiences",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('{vault}')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_json('/etc/passwd')",
    "SELECT * FROM read_parquet('{out}')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM '{vault}'",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM parquet_metadata('/etc/passwd')",
    "SELECT * FROM read_csv('http://127.0.0.1:9/x')",
    "SELECT * FROM 'https://127.0.0.1:9/x.parquet'",
    "SELECT * FROM query('DROP TABLE experiences')",
    "SELECT * FROM query_table('/etc/passwd')",
    "SELECT getenv('HOME')",
    "CREATE SECRET s (TYPE http)",
    "SELECT * FROM secret_table",
    "",
    "-- nothing",
    "SELEC 1",
    "SELECT * FROM nowhere",
]


@pytest.fixture
def asked(bench: Any, one_of_each: Any) -> Any:
    """A store with a record of every kind, caught up."""
    one_of_each(bench)
    bench.views.catch_up()
    return bench


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_questions_are_answered(asked: Any) -> None:
    for statement in QUESTIONS:
        table = asked.views.sql(statement).table
        assert isinstance(table, pa.Table)
        assert table.num_columns > 0


def test_hostile_statements_are_refused_and_change_nothing(asked: Any, tmp_path: Path) -> None:
    asked.views.sql("SELECT 1")
    asked.writer.checkpoint()  # or the next head, published in the background, would be among the changes
    before = snapshot(asked.path)
    outside = tmp_path / "outside"
    secret_table = pa.table({"a": [1]})  # a name in the caller's frame is no table
    assert secret_table.num_rows == 1
    for statement in HOSTILE:
        text = statement.replace("{out}", str(outside)).replace("{vault}", str(asked.path / "vault"))
        with pytest.raises(SqlError):
            asked.views.sql(text)
        assert not outside.exists(), statement
    assert snapshot(asked.path) == before
    assert asked.rows("SELECT count(*) AS n FROM experiences") == [{"n": 3}]


GREEDY = [
    ("SELECT length(repeat('x', 4000000000))", SqlLimitError),
    ("SELECT repeat(repeat('x', 100000), 40000) FROM range(100)", SqlError),
    ("SELECT list(range) FROM range(100000000)", SqlLimitError),
    ("SELECT string_agg(repeat('x', 1000000), '') FROM range(3000)", SqlLimitError),
    ("SELECT * FROM range(1000000000) a, range(1000) b ORDER BY b.range, a.range", SqlLimitError),
    ("SELECT count(*) FROM range(10000000000000)", SqlTimeoutError),
    (
        "WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r) SELECT count(*) FROM r",
        SqlTimeoutError,
    ),
    ("SELECT sum(hash(a.range, b.range)) FROM range(1000000) a, range(1000000) b", SqlTimeoutError),
    ("SELECT list_reduce(range(10000000), lambda x, y: x + y)", SqlError),
    ("SELECT pg_sleep(60)", SqlTimeoutError),
    ("SELECT range FROM range(2000)", SqlLimitError),
    ("SELECT repeat('x', 100000) FROM range(900)", SqlLimitError),
]


@pytest.mark.soak
@pytest.mark.sample(4)
@pytest.mark.parametrize(("statement", "error"), GREEDY)
def test_limits_hold(asked: Any, statement: str, error: type[SqlError]) -> None:
    limits = QueryLimits(seconds=0.8, rows=1000, memory_bytes=64 << 20, result_bytes=4 << 20)
    begun = time.monotonic()
    with (
        pytest.raises(error)
        if error is not SqlLimitError
        else pytest.raises((SqlLimitError, SqlTimeoutError)) as raised
    ):
        asked.views.sql(statement, limits=limits)
    assert time.monotonic() - begun < 10
    assert raised.value.reason
    assert asked.rows("SELECT 1 AS n") == [{"n": 1}]


def test_parameters(asked: Any) -> None:
    when = datetime(2024, 5, 6)  # noqa: DTZ001 - the columns are UTC without a zone
    row = asked.rows(
        "SELECT ? AS a, ? AS b, ? AS c, ?::BLOB AS d", ["x'; DROP TABLE experiences", 2.5, None, b"\x00"]
    )
    assert row == [{"a": "x'; DROP TABLE experiences", "b": 2.5, "c": None, "d": b"\x00"}]
    assert asked.rows("SELECT text FROM experiences WHERE occurred_at > $since", {"since": when}) == [
        {"text": "full ✓ 'quoted'"}
    ]
    with pytest.raises(SqlError):
        asked.views.sql("SELECT ?", [object()])
    with pytest.raises(SqlError):
        asked.views.sql("SELECT ?", [])


def test_errors_say_what_would_help(asked: Any) -> None:
    for statement, hint in [
        ("SELECT * FROM nowhere", "SHOW TABLES"),
        ("SELECT nothing FROM experiences", "DESCRIBE"),
        ("SELECT * FROM read_text('/etc/passwd')", "out of reach"),
        ("DROP TABLE experiences", "SELECT"),
        ("SELECT 1; SELECT 2", "one by one"),
    ]:
        with pytest.raises(SqlError) as raised:
            asked.views.sql(statement)
        assert hint in raised.value.hint


def test_the_answer_says_position_and_lag(asked: Any) -> None:
    answer = asked.views.sql("SELECT max(log_index) + 1 AS size FROM transactions")
    assert (answer.position, answer.behind_by) == (asked.writer.size, 0)
    asked.say("another")
    answer = asked.views.sql("SELECT text FROM experiences ORDER BY log_index DESC LIMIT 1")
    assert answer.table.to_pylist() == [{"text": "another"}]
    assert (answer.position, answer.behind_by) == (asked.writer.size, 0)


def held(asked: Any) -> int:
    """Return the bytes of the child that RLIMIT_DATA counts, used or not."""
    said = Path(f"/proc/{asked.views._sandboxes.kept._child.pid}/status").read_text().splitlines()
    return int(next(line for line in said if line.startswith("VmData")).split()[1]) << 10


@pytest.mark.soak
def test_a_child_holds_no_more_after_many_statements(asked: Any) -> None:
    for _ in range(5):
        asked.views.sql("SELECT 1")
    before = held(asked)
    assert before < sandbox._STACK_AND_LIBRARIES, "libraries reserve what is the statement's"
    for _ in range(40):
        asked.views.sql("SELECT 1")
    assert held(asked) - before < 32 << 20  # a thread's stack is 8 MiB


def test_no_child_is_left_behind(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sandbox, "close", sandboxes.CLOSE)
    asked.views.sql("SELECT 1")
    child = asked.views._sandboxes.kept._child
    assert child is not None
    asked.views.close()
    assert child.returncode is not None
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


ENDLESS: Final = "SELECT count(*) FROM range(10000000000000)"


@contextmanager
def running(asked: Any, count: int = 1, seconds: float = 60.0) -> Iterator[Event]:
    """Let statements run that don't end by themselves, each in a place of its own; yield what stops them."""
    stop, errors = Event(), list[Exception]()

    def ask() -> None:
        try:
            asked.views.sql(ENDLESS, limits=QueryLimits(seconds=seconds), stop=stop.is_set)
        except Exception as error:
            errors.append(error)

    threads = [Thread(target=ask) for _ in range(count)]
    for one in threads:
        one.start()
    try:
        until = time.monotonic() + 30
        while asked.views._sandboxes._places > sandboxes_module.TOGETHER - count:
            assert time.monotonic() < until
            time.sleep(0.01)
        yield stop
    finally:
        stop.set()
        for one in threads:
            one.join()
    assert [type(error) for error in errors] == [SqlStoppedError] * count


def test_a_long_statement_holds_up_nobody(asked: Any) -> None:
    with running(asked):
        begun = time.monotonic()
        asked.say("another")
        answer = asked.views.sql("SELECT text FROM experiences ORDER BY log_index DESC LIMIT 1")
        assert answer.table.to_pylist() == [{"text": "another"}]
        asked.views.catch_up(wait_s=0.0)
        assert time.monotonic() - begun < 20
        (copy,) = asked.duck.glob("ask-*")
        left = copy.with_name("ask-0.duckdb")
        left.touch()  # by a process that died
        asked.views._duck.private_copy(asked.work).close()
        assert list(asked.duck.glob("ask-*")) == [copy]
    assert not list(asked.duck.glob("ask-*"))


def test_a_long_statement_is_answered_of_a_copy(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandboxes_module, "QUICK_S", 1e-3)
    answer = asked.views.sql("SELECT count(*) AS n FROM experiences, range(20000000)")
    assert answer.table.to_pylist() == [{"n": 3 * 20_000_000}]
    assert (answer.position, answer.behind_by) == (asked.writer.size, 0)
    past = asked.views.sql("SELECT count(*) AS n FROM experiences, range(20000000)", past=Past(4))
    assert past.position == 4


@pytest.mark.soak
def test_no_more_than_some_long_statements_run_at_once(asked: Any) -> None:
    with running(asked, sandboxes_module.TOGETHER):
        assert asked.rows("SELECT 1 AS n") == [{"n": 1}]
        with pytest.raises(ViewBusyError, match="long statements"):
            asked.views.sql(ENDLESS, limits=QueryLimits(seconds=0.7))


def test_an_erasure_waits_for_no_statement_which_then_shows_nothing_of_it(
    asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (needle,) = asked.say("needle")
    told: list[Any] = []
    long = (
        "SELECT max(e.text) AS text FROM experiences e, range(3000000000) r"
        " WHERE e.text = 'needle' AND r.range % 7 < 9"
    )

    def ask() -> None:
        with suppress(SqlTimeoutError):
            told.append(asked.views.sql(long, limits=QueryLimits(seconds=60.0)).table.to_pylist())

    monkeypatch.setattr(sandboxes_module, "QUICK_S", 0.2)
    thread = Thread(target=ask)
    thread.start()
    while asked.views._sandboxes._places == sandboxes_module.TOGETHER:
        time.sleep(0.01)
    begun = time.monotonic()
    asked.tombstone("erase", needle.id)
    asked.views.purge()
    assert time.monotonic() - begun < 15
    thread.join()
    assert told == [[{"text": None}]]
