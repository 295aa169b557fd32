"""Ranges of the log, against sets of numbers."""

from hypothesis import given
from hypothesis import strategies as st

from braid.work.spans import Spans, covers, indexes, minus, spans_of, union

PARTS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8)


def held(spans: list[tuple[int, int]] | Spans) -> set[int]:
    return {at for start, stop in spans for at in range(start, stop)}


@given(PARTS, PARTS)
def test_they_are_sets_of_indexes(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    both, less = union(one, other), minus(one, other)
    assert held(both) == held(one) | held(other)
    assert held(less) == held(one) - held(other)
    assert covers(one, other) == (held(other) <= held(one))
    for spans in (both, less):
        assert all(start < stop for start, stop in spans)
        assert all(spans[at][1] < spans[at + 1][0] for at in range(len(spans) - 1))
        assert list(indexes(spans)) == sorted(held(spans))
    assert spans_of(held(one)) == union(one)
