"""Ranges of the log: sorted, apart from each other, each from its first index up to the one behind its last. Pure."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
Spans: TypeAlias = tuple[Span, ...]


def spans_of(indexes: Iterable[int]) -> Spans:
    """Return the ranges that hold exactly these indexes."""
    return union((at, at + 1) for at in indexes)


def union(*parts: Iterable[Span]) -> Spans:
    """Return what at least one of the parts holds; they may be in any order, and overlap."""
    merged: list[Span] = []
    for start, stop in sorted(span for part in parts for span in part):
        if start >= stop:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], stop))
        else:
            merged.append((start, stop))
    return tuple(merged)


def minus(spans: Iterable[Span], taken: Iterable[Span]) -> Spans:
    """Return what the first holds and the second doesn't."""
    left: list[Span] = []
    holes = union(taken)
    for start, stop in union(spans):
        at = start
        for first, behind in holes:
            if behind <= at or first >= stop:
                continue
            if first > at:
                left.append((at, first))
            at = max(at, behind)
        if at < stop:
            left.append((at, stop))
    return tuple(left)


def covers(spans: Iterable[Span], wanted: Iterable[Span]) -> bool:
    """Whether all that is wanted lies in some ranges."""
    return not minus(wanted, spans)


def indexes(spans: Iterable[Span]) -> Iterator[int]:
    """Yield every index in the ranges, in order."""
    for start, stop in spans:
        yield from range(start, stop)
