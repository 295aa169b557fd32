"""An answer as pandas, polars and NumPy see it: the same memory, not a copy."""

from typing import Any

import pyarrow as pa
import pytest


@pytest.fixture
def answer(bench: Any) -> Any:
    """Numbers, times and texts, of one batch."""
    bench.say(*(f"turn {n}" for n in range(50)))
    statement = "SELECT log_index, random() AS p, happened_at, text FROM experiences ORDER BY log_index"
    return bench.views.sql(statement).table.combine_chunks()


def addresses(table: Any) -> dict[str, list[int]]:
    """Where each column's buffers of values lie."""
    return {
        name: [buffer.address for buffer in table[name].chunk(0).buffers()[1:] if buffer]
        for name in table.column_names
    }


def test_numbers_are_numpys_on_the_same_memory(answer: Any) -> None:
    for name in ("log_index", "p"):
        array = answer[name].chunk(0).to_numpy(zero_copy_only=True)  # raises where it would copy
        assert array.__array_interface__["data"][0] == addresses(answer)[name][-1]


def test_pandas_keeps_arrows_memory(answer: Any) -> None:
    pandas: Any = pytest.importorskip("pandas", reason="pandas is a development extra")
    frame = answer.to_pandas(types_mapper=pandas.ArrowDtype)
    assert frame["text"][0] == "turn 0"
    back = pa.table({name: frame[name].array.__arrow_array__() for name in frame.columns})
    assert addresses(back) == addresses(answer)


def test_polars_keeps_arrows_memory(answer: Any) -> None:
    polars: Any = pytest.importorskip("polars", reason="polars is a development extra")
    frame = polars.from_arrow(answer)
    assert frame["text"][0] == "turn 0"
    back = frame.select("log_index", "p", "happened_at").to_arrow()
    assert addresses(back) == addresses(answer.drop_columns("text"))
