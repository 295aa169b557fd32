"""Pieces of large JSON: wherever chunks are cut, they are those that a decoder of the whole finds."""

import io
import itertools
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from braid.tools.importers import split
from braid.tools.importers.split import SplitElement, pieces
from braid.tools.importers.strict import MAX_DEPTH

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


class Dribble(io.RawIOBase):
    """A stream that gives so many bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self._inner = io.BytesIO(data)
        self._size = size

    def read(self, size: int = -1) -> bytes:
        del size
        return self._inner.read(self._size)


def found(data: bytes, within: str = "", size: int = 2**18, limit: int = 2**20) -> list[SplitElement]:
    return list(pieces(Dribble(data, size), within, limit))  # type: ignore[arg-type]


@given(
    values=st.lists(VALUES, max_size=6),
    indent=st.sampled_from([None, 1]),
    size=st.integers(1, 40),
    ascii=st.booleans(),
)
def test_the_elements_of_an_array(values: list[object], indent: int | None, size: int, ascii: bool) -> None:
    data = json.dumps(values, indent=indent, ensure_ascii=ascii).encode("utf-8", "surrogatepass")
    shown = found(data, size=size)
    assert [piece.reason for piece in shown] == [""] * len(values)
    assert [json.loads((piece.raw or b"").decode("utf-8", "surrogatepass")) for piece in shown] == values
    assert [piece.number for piece in shown] == list(range(1, len(values) + 1))


@given(
    members=st.dictionaries(st.text(max_size=5), VALUES, max_size=5),
    inner=st.lists(VALUES, max_size=4),
    size=st.integers(1, 40),
)
def test_the_members_of_an_object_and_the_elements_of_one(
    members: dict[str, object], inner: list[object], size: int
) -> None:
    data = json.dumps({**members, "within": inner}).encode()
    shown = found(data, "within", size=size)
    assert {piece.name: json.loads(piece.raw or b"") for piece in shown if not piece.is_element} == {
        name: value for name, value in members.items() if name != "within"
    }
    assert [json.loads(piece.raw or b"") for piece in shown if piece.is_element] == inner


@example(data=b"\xef\xbb\xbf", size=1)
@example(data=b"\xef\xbb\xbf[1]", size=1)
@given(
    data=st.binary(max_size=60) | st.text('[]{}",:\\ 1a', max_size=60).map(str.encode), size=st.integers(1, 9)
)
def test_anything_ends_without_raising(data: bytes, size: int) -> None:
    assert found(data, size=size) == found(data)
    assert found(data, "a", size=size) == found(data, "a")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"12", "neither a JSON array nor an object"),
        (b"[1,", "cut off"),
        (b"[1", "cut off"),
        (b'["a', "cut off"),
        (b'["a\\', "cut off"),
        (b"[{", "cut off"),
        (b"[1 2]", "not JSON: ',' or ']' was expected"),
        (b"[,]", "not JSON: a value was expected"),
        (b"[] x", "something follows the end"),
        (b"[][]", "something follows the end"),
    ],
)
def test_a_broken_document_ends_with_the_reason(data: bytes, reason: str) -> None:
    last = found(data)[-1]
    assert last.raw is None
    assert last.reason.startswith(reason), last.reason


@pytest.mark.parametrize("size", [1, 7, 2**18])
def test_an_element_beyond_the_limit_or_too_deep_is_left_out_and_the_next_is_read(size: int) -> None:
    long = b'"' + b"x" * 200 + b'"'
    deep = b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1)
    shown = found(b"[1," + long + b',"ok",' + deep + b',{"a":"]"}]', size=size, limit=300)
    assert [piece.raw for piece in shown] == [b"1", long, b'"ok"', None, b'{"a":"]"}']
    assert shown[3].reason.startswith("longer than 300" if len(deep) > 300 else "nested too deeply")
    assert found(b"[" + long + b",2]", size=size, limit=100)[0].reason == "longer than 100 bytes"
    assert found(b"[" + deep + b",2]", size=size)[0].reason.startswith("nested too deeply")


def test_a_giant_string_is_not_held() -> None:
    import tracemalloc

    class Giant(io.RawIOBase):
        chunks = itertools.chain([b'["'], itertools.repeat(b"x" * 2**18, 400), [b'",7]'])

        def read(self, size: int = -1) -> bytes:
            del size
            return next(self.chunks, b"")

    tracemalloc.start()
    try:
        shown = list(pieces(Giant(), limit=2**20))  # type: ignore[arg-type]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [piece.raw for piece in shown] == [None, b"7"]
    assert peak < 8 * 2**20


def test_backslashes_without_end_take_no_longer_than_their_length() -> None:
    data = b'["' + b"\\" * 2_000_001 + b'x"]'
    assert len(found(data, size=split._CHUNK, limit=2**22)) == 1
