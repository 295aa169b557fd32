"""What a command shows: data on stdout as table, JSON, JSON lines or CSV; talk on stderr as `braid: …`.

Text that came from outside (records, file names, messages of errors) never reaches the terminal as it is: control
characters, and those that reorder text, are shown as escapes, and nothing of it is taken for markup.
"""

import csv
import json
import re
import sys
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any, Literal

Format = Literal["table", "json", "jsonl", "csv"]
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_UNSAFE_IN_JSON = re.compile(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_SHORT = {"\r": "\\r", "\b": "\\b", "\x1b": "\\e"}
_CELL_CHARS = 200


def clean(text: str) -> str:
    """Return text that can't steer a terminal; line feeds and tabs stay."""
    return _UNSAFE.sub(_escape, text)


def line(text: str) -> str:
    """Return text as one line that can't steer a terminal."""
    return clean(text).replace("\n", "\\n").replace("\t", "\\t")


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    return _SHORT.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def say(message: str, hint: str | None = None) -> None:
    """Tell the person something, and what may be done next, on stderr."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError:  # full: the command tells of it when it ends
        pass
    sys.stderr.write(f"braid: {clean(message)}\n")
    if hint:
        sys.stderr.write(f"  hint: {clean(hint)}\n")
    sys.stderr.flush()


def many(count: int, noun: str) -> str:
    """Return a count with its noun, in the singular or plural."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def put(text: str) -> None:
    """Write a line of data to stdout."""
    sys.stdout.write(f"{text}\n")


def put_bytes(data: bytes) -> None:
    """Write bytes to stdout as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _plain(value: object) -> object:
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return b64encode(value).decode()
    return str(value)


def to_json(value: object, *, indent: int | None = None) -> str:
    """Return JSON that a terminal shows as it is; what JSON has no type for becomes text."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=_plain)
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def put_json(value: object) -> None:
    """Write a JSON document, indented."""
    put(to_json(value, indent=2))


def _is_nested(value: object) -> bool:
    return isinstance(value, (dict, list))


def cell(value: object) -> str:
    """Return a value as one line of a table."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = to_json(value) if _is_nested(value) else line(str(_plain(value)))
    return text if len(text) <= _CELL_CHARS else text[: _CELL_CHARS - 1] + "…"


def put_rows(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], form: Format = "table") -> None:
    """Write rows of named values. JSON lines and CSV stream; a table and a JSON document are made whole."""
    if form == "json":
        put_json([dict(row) for row in rows])
    elif form == "jsonl":
        for row in rows:
            put(to_json(dict(row)))
    elif form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        shown = _shown if sys.stdout.isatty() else _csv_cell  # files and pipes keep the data
        writer.writerow(map(shown, columns))
        writer.writerows([shown(row.get(name)) for name in columns] for row in rows)
    else:
        put_table(columns, [[cell(row.get(name)) for name in columns] for row in rows])


def _csv_cell(value: object) -> object:
    if value is None or isinstance(value, (str, int, float)):
        return value
    return to_json(value) if _is_nested(value) else _plain(value)


def _shown(value: object) -> object:
    told = _csv_cell(value)
    return clean(told) if isinstance(told, str) else told


def put_table(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    """Write a table: drawn on a terminal, aligned columns elsewhere. A column's name may be anybody's text, too."""
    columns = [line(name) for name in columns]
    if not sys.stdout.isatty():
        widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
        for row in (columns, *cells):
            put("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(Text(name), overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    Console().print(table)


def put_fields(fields: Mapping[str, Any], form: Format = "table") -> None:
    """Write named values: one a line, or one JSON object."""
    if form == "table":
        width = max(map(len, fields), default=0)
        for name, value in fields.items():
            put(f"{name.ljust(width)}  {cell(value)}".rstrip())
    elif form == "csv":
        put_rows(("name", "value"), [{"name": name, "value": value} for name, value in fields.items()], form)
    elif form == "jsonl":
        put(to_json(dict(fields)))
    else:
        put_json(dict(fields))
