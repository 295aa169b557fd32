"""Parquet: a message a row, read in batches; columns as for CSV. Needs a file: it is read from its end."""

import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

from braid.tools.importers.errors import Refused, SourceError
from braid.tools.importers.message import BadLine, Message, Read
from braid.tools.importers.source import ImportSource, SourceFile
from braid.tools.importers.table import Columns

_MAGIC = b"PAR1"
_BATCH_ROWS = 500
_BUFFER_BYTES = 2**20
_MAX_FOOTER_BYTES = 16 * 2**20
_MAX_FOOTER_ITEMS = 1_000_000


class ParquetImporter(msgspec.Struct, frozen=True, kw_only=True):
    """Reads Parquet, holding a batch of rows at a time."""

    @property
    def name(self) -> str:
        return "parquet"

    @property
    def shape(self) -> str:
        return "Parquet; --map content=COLUMN,… where columns are not called content, role, timestamp, …"

    def recognises(self, source: ImportSource) -> bool:
        """True if the file begins as Parquet does."""
        return not source.is_tree and source.head.startswith(_MAGIC)

    def source_id(self, source: ImportSource) -> str:
        """From the head: stable under a move. Parquet doesn't grow, it is written again."""
        return f"parquet:{hashlib.sha256(source.head).hexdigest()[:32]}"

    def read(self, source: ImportSource) -> Read:
        """See `Importer.read`. The position in a `BadLine` is the row's. SourceError for a pipe or a zip."""
        for part in source.parts():
            yield from _rows(part, source)


def _rows(part: SourceFile, source: ImportSource) -> Read:
    import pyarrow

    arrow: Any = pyarrow  # ships no types
    ordinal = 0
    try:
        with _opened(part) as file:
            columns = Columns(source.columns, list(file.schema_arrow.names))
            for batch in file.iter_batches(batch_size=_BATCH_ROWS):
                for row in _plain_rows(arrow, batch):
                    yield _message(columns, row, ordinal, part, source)
                    ordinal += 1
    except Refused as error:
        yield BadLine(ordinal + 1, str(error), part.name)
    except SourceError:
        raise
    except (arrow.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        if (
            isinstance(error, OSError) and error.errno is not None
        ):  # the environment's; Arrow's own have no number
            raise
        shown = " ".join(str(error).split())[:120]
        yield BadLine(ordinal + 1, f"not readable as Parquet: {shown}", part.name)


def _opened(part: SourceFile) -> Any:
    """The file, its columns read piece by piece. Refused for a footer beyond the limit."""
    from pyarrow import parquet

    if part.path is None:
        raise SourceError("Parquet is read from its end: save it to a file and give that")
    with part.path.open("rb") as stream:
        stream.seek(0, 2)
        size = stream.tell()
        stream.seek(max(0, size - 8))
        tail = stream.read(8)
    footer = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or footer > size - 12:
        raise Refused("cut off: it does not end as Parquet does")
    if footer > _MAX_FOOTER_BYTES:
        raise Refused(f"a footer longer than {_MAX_FOOTER_BYTES} bytes")
    opened: Any = parquet.ParquetFile
    return opened(
        part.path,
        buffer_size=_BUFFER_BYTES,
        pre_buffer=False,
        thrift_string_size_limit=_MAX_FOOTER_BYTES,
        thrift_container_size_limit=_MAX_FOOTER_ITEMS,
    )


def _plain_rows(arrow: Any, batch: Any) -> Iterator[dict[str, Any]]:
    """Rows as Python values; nanoseconds are cut to microseconds, for which Python has a type."""
    arrays: list[list[Any]] = []
    for column in batch.columns:
        kind = column.type
        is_finer = arrow.types.is_timestamp(kind) and kind.unit == "ns"
        arrays.append(
            (column.cast(arrow.timestamp("us", kind.tz), safe=False) if is_finer else column).to_pylist()
        )
    for values in zip(*arrays, strict=True):
        yield dict(zip(batch.schema.names, values, strict=True))


def _message(
    columns: Columns, row: dict[str, Any], ordinal: int, part: SourceFile, source: ImportSource
) -> Message | BadLine:
    try:
        uri = f"{part.uri}#row{ordinal + 1}"
        return columns.message(row, ordinal=ordinal, source_uri=uri, source=source)
    except Refused as error:
        return BadLine(ordinal + 1, str(error), part.name)
