"""CSV: a header, then a message a row; `--map role=speaker,content=body` says which column is which.

Comma, semicolon, tab or bar, whichever the header has most of. Fields in quotes may hold line ends. All cells are
text; an empty one counts as absent. Columns that are no field go to `extra`.
"""

import csv
from collections.abc import Iterator

import msgspec

from braid.tools.importers.errors import Refused
from braid.tools.importers.jsonl import first_line_id
from braid.tools.importers.lines import lines
from braid.tools.importers.message import BadLine, Message, Read
from braid.tools.importers.source import ImportSource, SourceFile
from braid.tools.importers.table import Columns

MAX_LINE_BYTES = 4 * 2**20
MAX_ROW_CHARS = 4 * 2**20
_DELIMITERS = ",;\t|"


class CsvImporter(msgspec.Struct, frozen=True, kw_only=True):
    """Reads CSV, holding one row at a time."""

    max_line_bytes: int = MAX_LINE_BYTES

    @property
    def name(self) -> str:
        return "csv"

    @property
    def shape(self) -> str:
        return "CSV with a header; --map content=COLUMN,… where columns are not called content, role, timestamp, …"

    def recognises(self, source: ImportSource) -> bool:
        """True if the head's first two lines have the same number of columns, and the first one names them."""
        if source.is_tree or b"\0" in source.head:
            return False
        try:
            first, second = source.head.decode("utf-8", "replace").splitlines()[:2]
            names = next(csv.reader([first], delimiter=_delimiter(first), strict=True), list[str]())
            cells = next(csv.reader([second], delimiter=_delimiter(first)), list[str]())
        except (ValueError, csv.Error):
            return False
        if len(names) < 2 or len(set(names)) != len(names):
            return False
        if not all(
            name and name == name.strip() and len(name) <= 64 and name[0] not in "{[<" for name in names
        ):
            return False
        return second.count('"') % 2 == 1 or len(cells) == len(names)

    def source_id(self, source: ImportSource) -> str:
        """From the first two lines: a header alone is shared by many files."""
        return f"csv:{first_line_id(source, 2)}"

    def read(self, source: ImportSource) -> Read:
        """See `Importer.read`. The position in a `BadLine` is the line that the row ends in."""
        csv.field_size_limit(2 * MAX_ROW_CHARS)  # a row is refused before, with its line
        for part in source.parts():
            yield from _Table(part, source, self.max_line_bytes).rows()


def _delimiter(header: str) -> str:
    return max(_DELIMITERS, key=header.count)


class _Table:
    """One file; a row that can't be read does not end it."""

    def __init__(self, part: SourceFile, source: ImportSource, limit: int) -> None:
        self._part = part
        self._source = source
        self._limit = limit
        self._line = 0
        self._row_chars = 0
        header = source.head.partition(b"\n")[0].decode("utf-8", "replace")
        self._delimiter = _delimiter(header)

    def rows(self) -> Read:
        """A message, or a `BadLine`, for each row."""
        columns: Columns | None = None
        names: list[str] = []
        ordinal = 0
        with self._part.open() as stream:
            feed = self._text(lines(stream, self._limit))
            for row in self._records(feed):
                if isinstance(row, BadLine):
                    yield row
                    if columns is None:
                        return
                elif columns is None:
                    try:
                        names, columns = row, Columns(self._source.columns, row)
                    except Refused as error:
                        yield BadLine(self._line, str(error), self._part.name)
                        return
                elif row:
                    yield self._message(columns, names, row, ordinal)
                    ordinal += 1

    def _message(self, columns: Columns, names: list[str], row: list[str], ordinal: int) -> Message | BadLine:
        try:
            if len(row) != len(names):
                raise Refused(f"{len(row)} columns; the header has {len(names)}")
            uri = f"{self._part.uri}#L{self._line}"
            return columns.message(
                dict(zip(names, row, strict=True)), ordinal=ordinal, source_uri=uri, source=self._source
            )
        except Refused as error:
            return BadLine(self._line, str(error), self._part.name)

    def _records(self, feed: Iterator[str]) -> Iterator[list[str] | BadLine]:
        while True:
            try:
                for row in csv.reader(feed, delimiter=self._delimiter, strict=True):
                    self._row_chars = 0
                    yield row
            except (csv.Error, Refused) as error:
                yield BadLine(self._line, str(error), self._part.name)
                self._row_chars = 0
            else:
                return

    def _text(self, found: Iterator[tuple[int, bytes | None]]) -> "_Feed":
        return _Feed(self, found)

    def passed(self, number: int, size: int) -> None:
        """Note the line that was read. Refused when a row has grown too long: a quote that is never closed."""
        self._line = number
        self._row_chars += size
        if self._row_chars > MAX_ROW_CHARS:
            raise Refused(f"a row longer than {MAX_ROW_CHARS} characters: is a quote left open?")


class _Feed:
    """Lines as text for `csv.reader`; goes on behind one that was refused, where a generator would have ended."""

    def __init__(self, table: _Table, found: Iterator[tuple[int, bytes | None]]) -> None:
        self._table = table
        self._found = found

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        number, line = next(self._found)
        self._table.passed(number, len(line or b""))
        if line is None:
            raise Refused("a line that is too long")
        if b"\0" in line:
            raise Refused("a NUL byte is not text")
        try:
            return line.decode("utf-8") + "\n"
        except UnicodeDecodeError as error:
            raise Refused(f"not valid UTF-8 (byte {error.start})") from error
