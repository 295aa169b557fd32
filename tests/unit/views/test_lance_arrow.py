"""Rows of the LanceDB projection as Arrow."""

import numpy as np
import pyarrow as pa
import pytest

from braid.views.lance.arrow import schema_of, to_arrow


@pytest.mark.parametrize("given", ["", "0", "1", "101", "000000001", "0000000011"])
def test_a_vector_that_is_missing_is_null_and_the_others_are_what_they_were(given: str) -> None:
    vectors = [np.full(3, at + 0.5, dtype=np.float32) if one == "1" else None for at, one in enumerate(given)]
    table = to_arrow([{"log_index": at, "vector": vector} for at, vector in enumerate(vectors)], 3)
    table.validate(full=True)
    assert table.schema == schema_of(3)
    column = table["vector"].combine_chunks()
    assert isinstance(column, pa.FixedSizeListArray)
    assert column.null_count == given.count("0")
    assert column.to_pylist() == [None if vector is None else vector.tolist() for vector in vectors]
