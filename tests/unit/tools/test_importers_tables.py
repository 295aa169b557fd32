"""CSV and Parquet: which column is which field, and rows that are none."""

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest

from braid.tools.importers.csv_rows import MAX_ROW_CHARS
from braid.tools.importers.detect import by_name, detect
from braid.tools.importers.errors import SourceError, UnknownFormatError
from braid.tools.importers.message import BadLine, Message
from braid.tools.importers.source import of_file, of_stream
from tests.unit.tools.samples import EXPORTS, NOW, messages, read_bytes, read_path, reasons, write_parquet


def csv(data: bytes, **columns: str) -> list[Message | BadLine]:
    source = of_stream(io.BytesIO(data), "test:x", columns=columns, opened_at=NOW)
    return list(by_name("csv").read(source))


def test_csv_with_a_map() -> None:
    first, second = messages(read_bytes("csv", (EXPORTS / "chat.csv").read_bytes()))
    assert (first.role, first.text, first.extra) == ("user", "I live in Porto, now.", {"mood": "calm"})
    assert (second.role, second.text, second.extra) == ("assistant", "Noted:\nPorto.", {})
    assert first.occurred_at == datetime(2025, 5, 17, 7, 30, tzinfo=UTC)
    assert second.source_uri == "test:x#L4"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_names_that_need_no_map(delimiter: str) -> None:
    rows = [("role", "text", "id", "session", "parent", "name"), ("user", "hi", "7", "s", "6", "Maya")]
    data = "\n".join(delimiter.join(row) for row in rows).encode()
    assert detect(of_stream(io.BytesIO(data))).name == "csv"
    (found,) = messages(csv(data))
    assert (found.text, found.external_id, found.session, found.parent, found.name) == (
        "hi",
        "7",
        "s",
        "6",
        "Maya",
    )


def test_csv_a_column_that_is_called_like_a_field_but_is_none() -> None:
    (found,) = messages(csv(b"id,body,key\n1,hi,k7\n", content="body", id="key"))
    assert (found.external_id, found.extra) == ("k7", {"id (column)": "1"})


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"a,b\n1,2\n", "say which column holds the content: --map content=COLUMN; there are: a, b"),
        (b"a,a\n1,2\n", "two columns have the same name"),
        (b"text,b\n1\n", "1 columns; the header has 2"),
        (b'text,b\n"open,2\n', "unexpected end of data"),
        (b'text,b\n"x"y,2\n', "expected after"),
        (b"text,b\n\xff,2\n", "not valid UTF-8"),
        (b"text,b\nx\x00,2\n", "a NUL byte is not text"),
        (b"role,text\nrobot,hi\n", "unknown role 'robot'"),
        (b"text,timestamp\nhi,2025-05-17 09:30\n", '"timestamp" is not RFC 3339'),
        (b"text,timestamp\nhi,2025-05-17T09:30:00\n", '"timestamp" has no offset'),
    ],
)
def test_csv_refusals(data: bytes, reason: str) -> None:
    assert reason in reasons(csv(data))[0]


def test_csv_rows_behind_a_bad_one_are_read() -> None:
    found = csv(b"text,b\n\xff,1\ngood,2\n" + b"x" * (5 * 2**20) + b",3\nalso good,4\n\n")
    assert [each.text for each in found if isinstance(each, Message)] == ["good", "also good"]
    assert [each.line for each in found if isinstance(each, BadLine)] == [2, 4]


def test_csv_a_quote_that_is_never_closed_does_not_hold_the_rest() -> None:
    line = b"x" * 99 + b"\n"
    found = csv(b'text,b\n"open,1\n' + line * (2 * MAX_ROW_CHARS // 100) + b"good,2\n")
    assert "is a quote left open?" in reasons(found)[0]
    assert any(isinstance(each, Message) and each.text == "good" for each in found)


@pytest.mark.parametrize("prose", ["Hello, world\nYes, fine", "one\ntwo words", "a, b\nc, d and e"])
def test_prose_with_commas_is_no_table(prose: str) -> None:
    assert detect(of_stream(io.BytesIO(prose.encode()))).name == "text"


def test_a_map_that_names_no_column_is_refused() -> None:
    assert reasons(csv(b"text,b\nhi,2\n", content="body")) == [
        "no column 'body' for content; there are: text, b"
    ]
    assert "unknown field 'mood'" in reasons(csv(b"text,b\nhi,2\n", mood="b"))[0]


# Parquet


def test_parquet_types(tmp_path: Path) -> None:
    first, second = messages(read_path("parquet", write_parquet(tmp_path / "x")))
    assert (first.text, first.occurred_at) == ("I live in Porto, now.", NOW)
    assert first.extra == {"mood": {"calm": 0.5, "raw": None}}
    assert (second.occurred_at, second.extra) == (None, {"score": 2.5})


def test_parquet_without_an_offset_is_refused(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({"text": ["a"], "timestamp": pyarrow.array([NOW], pyarrow.timestamp("us"))})
    parquet.write_table(table, tmp_path / "x")
    assert reasons(read_path_without_map(tmp_path / "x")) == [
        "\"timestamp\" has no offset: '2025-06-01T12:00:00'; --timezone says where it was written, as Europe/Berlin"
    ]


def read_path_without_map(path: Path) -> list[Message | BadLine]:
    return list(by_name("parquet").read(of_file(path, opened_at=NOW)))


@pytest.mark.parametrize("place", [4, 20, 60, -9, -5, -1])
def test_parquet_that_is_damaged_is_refused(tmp_path: Path, place: int) -> None:
    path = write_parquet(tmp_path / "x")
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)
    for found in read_path("parquet", path):
        assert isinstance(found, Message) or found.reason
    path.write_bytes(data[: len(data) // 2])
    assert "cut off" in reasons(read_path("parquet", path))[0]


def test_parquet_from_a_pipe_is_refused_with_what_to_do(tmp_path: Path) -> None:
    data = write_parquet(tmp_path / "x").read_bytes()
    with pytest.raises(SourceError, match="save it to a file"):
        read_bytes("parquet", data)


@pytest.mark.parametrize(
    "data", [b"text\nhi\x00\n", ",".join(f"c{n}" for n in range(100_000)).encode() + b"\n"]
)
def test_a_table_that_is_not_recognised_is_told_of_the_option(data: bytes) -> None:
    with pytest.raises(UnknownFormatError, match="a table with a header: --format csv"):
        detect(of_stream(io.BytesIO(data)))
    assert csv(data)  # each row, or why not: never an error


def test_one_column_is_no_table() -> None:
    assert detect(of_stream(io.BytesIO(b"text\nhi"))).name == "text"
