"""A caller's own tables: joined by name, in every shape that a frame has, and gone with the question."""

from typing import Any

import pyarrow as pa
import pytest

from braid.views.duck.sql import QueryLimits
from braid.views.errors import SqlError, SqlLimitError

VECTORS = pa.table(
    {"text": ["first", "second"], "vector": pa.array([[1.0, 0.0], [0.6, 0.8]], pa.list_(pa.float64()))}
)
NEAREST = """
    SELECT e.text, round(list_cosine_similarity(vector, $wanted), 2) AS alike
    FROM vectors JOIN experiences e USING (text) ORDER BY alike DESC
"""


@pytest.fixture
def asked(bench: Any) -> Any:
    bench.say("first", "second")
    return bench


def ask(bench: Any, statement: str, params: Any = None, **more: Any) -> Any:
    return bench.views.sql(statement, params, **more).table


def test_vectors_are_joined_and_compared(asked: Any) -> None:
    answer = ask(asked, NEAREST, {"wanted": [1.0, 0.0]}, tables={"vectors": VECTORS})
    assert answer.to_pylist() == [{"text": "first", "alike": 1.0}, {"text": "second", "alike": 0.6}]


def test_arrays_of_a_fixed_size_too(asked: Any) -> None:
    fixed = VECTORS.set_column(1, "vector", VECTORS["vector"].cast(pa.list_(pa.float64(), 2)))
    statement = "SELECT array_cosine_similarity(vector, [0.0, 1.0]::DOUBLE[2]) AS c FROM vectors ORDER BY c"
    answer = ask(asked, statement, tables={"vectors": fixed})
    assert answer["c"].to_pylist() == [0.0, pytest.approx(0.8)]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_taken_as_they_are(asked: Any, library: str) -> None:
    frames: Any = pytest.importorskip(library, reason=f"{library} is a development extra")
    frame = frames.DataFrame({"text": ["second"], "weight": [7]})
    answer = ask(
        asked, "SELECT log_index, weight FROM given JOIN experiences USING (text)", tables={"given": frame}
    )
    assert answer.to_pylist() == [{"log_index": 4, "weight": 7}]


def test_several_and_empty_ones(asked: Any) -> None:
    tables = {"a": pa.table({"x": [1, 2]}), "b": pa.table({"x": pa.array([], pa.int64())})}
    answer = ask(asked, "SELECT count(*) AS n FROM a WHERE x NOT IN (FROM b)", tables=tables)
    assert answer.to_pylist() == [{"n": 2}]


def test_they_are_gone_with_the_question(asked: Any) -> None:
    ask(asked, "FROM vectors", tables={"vectors": VECTORS})
    with pytest.raises(SqlError, match="vectors"):
        ask(asked, "FROM vectors")
    assert "vectors" not in ask(asked, "SHOW TABLES")["name"].to_pylist()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "name", ["experiences", "Experiences", "records", "checkpoints", "a b", "x; DROP", "", "1a"]
)
def test_a_name_that_is_taken_or_none_is_refused(asked: Any, name: str) -> None:
    with pytest.raises(SqlError, match="can't be named"):
        ask(asked, "SELECT 1", tables={name: VECTORS})


def test_what_is_no_table_is_refused(asked: Any) -> None:
    with pytest.raises(SqlError, match="is no table"):
        ask(asked, "SELECT 1", tables={"given": object()})


def test_they_may_not_be_larger_than_the_memory(asked: Any) -> None:
    limits = QueryLimits(memory_bytes=64 << 20)
    large = pa.table({"x": pa.nulls(5_000_000, pa.int64())})
    assert (
        ask(asked, "SELECT count(*) AS n FROM large", tables={"large": large}, limits=limits)["n"][0].as_py()
        == 5_000_000
    )
    with pytest.raises(SqlLimitError, match="larger than memory_bytes"):
        ask(asked, "SELECT 1", tables={"large": large, "again": large}, limits=limits)
    assert ask(asked, "SELECT 1 AS n")["n"].to_pylist() == [1]


def test_they_are_seen_in_a_generation_too(asked: Any) -> None:
    asked.views.catch_up(publish=True)
    from braid.views.store import Views

    reader = Views(asked.path / "views", asked.writer)
    with asked.views._owning(0.0):  # another has the working file
        answer = reader.sql(NEAREST, {"wanted": [1.0, 0.0]}, tables={"vectors": VECTORS})
    reader.close()
    assert answer.table.num_rows == 2
    assert answer.position == asked.writer.size
