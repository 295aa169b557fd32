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
from math import isfinite
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from rich.console import Console

Format = Literal["table", "json", "jsonl", "csv", "csv-raw"]
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_UNSAFE_IN_JSON = re.compile(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_SHORT = {"\r": "\\r", "\b": "\\b", "\x1b": "\\e"}
_CELL_CHARS = 200
_LEAST_CHARS = 20
"""What a column of text needs, to be read in a table."""
_ID = re.compile(r"[a-z]+_\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ_[0-9a-v]{12}", flags=re.ASCII)
_FORMULA = re.compile("[=+\\-@\t\n\uff1d\uff0b\uff0d\uff20]")
"""What a spreadsheet takes for a formula where a cell begins with it, or passes over before it looks."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", flags=re.ASCII)


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


def in_log(count: int) -> str:
    """Return that so many records are in the log."""
    return f"{many(count, 'record')} {'is' if count == 1 else 'are'} in the log"


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


def _finite(value: object) -> object:
    """Return a value with null for NaN and the infinities: JSON has no numbers for them."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in cast("Mapping[object, object]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in cast("Sequence[object]", value)]
    return value


def to_json(value: object, *, indent: int | None = None) -> str:
    """Return JSON that a terminal shows as it is; what JSON has no type for becomes text, no number null."""
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, default=_plain, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, indent=indent, default=_plain)
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def put_json(value: object) -> None:
    """Write a JSON document, indented."""
    put(to_json(value, indent=2))


def _is_nested(value: object) -> bool:
    return isinstance(value, (dict, list, tuple))


def cell(value: object) -> str:
    """Return a value as one line of a table."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = to_json(value) if _is_nested(value) else line(str(_plain(value)))
    return text if len(text) <= _CELL_CHARS else text[: _CELL_CHARS - 1] + "…"


def put_rows(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], form: Format = "table") -> int:
    """Write rows of named values and return how many; JSON lines and CSV stream, a table and a JSON document don't."""
    if form == "json":
        whole = [dict(row) for row in rows]
        put_json(whole)
        return len(whole)
    if form == "jsonl":
        count = 0
        for count, row in enumerate(rows, 1):  # noqa: B007 - how many is what is wanted of it
            put(to_json(dict(row)))
        return count
    if form in ("csv", "csv-raw"):
        return _put_csv(columns, rows, raw=form == "csv-raw")
    cells = [[cell(row.get(name)) for name in columns] for row in rows]
    put_table(columns, cells)
    return len(cells)


def _put_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], *, raw: bool) -> int:
    plain = _shown if sys.stdout.isatty() else _csv_cell  # raw in files and pipes: the data as it is
    shown = plain if raw else _inert
    writer = csv.writer(sys.stdout, lineterminator="\n")
    quoting = csv.writer(sys.stdout, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(map(shown, columns))
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007 - how many is what is wanted of it
        cells = [shown(row.get(name)) for name in columns]
        # A carriage return ends a line for readers, and csv quotes it only where it ends ours.
        returns = any(isinstance(each, str) and "\r" in each for each in cells)
        (quoting if returns else writer).writerow(cells)
    return count


def _csv_cell(value: object) -> object:
    if value is None or isinstance(value, (str, int, float)):
        return value
    return to_json(value) if _is_nested(value) else _plain(value)


def _shown(value: object) -> object:
    told = _csv_cell(value)
    return clean(told) if isinstance(told, str) else told


def _inert(value: object) -> object:
    """Return a cell that neither a terminal nor a spreadsheet acts on: an apostrophe before what would be a formula."""
    told = _shown(value)
    if (
        isinstance(told, str)
        and isinstance(value, str)
        and _FORMULA.match(told)
        and not _NUMBER.fullmatch(told)
    ):
        return f"'{told}"
    return told


def put_table(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    """Write a table: drawn on a terminal, aligned columns elsewhere. A column's name may be anybody's text, too."""
    columns = [line(name) for name in columns]
    cells = [[line(each) for each in row] for row in cells]
    if not sys.stdout.isatty():
        widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
        for row in (columns, *cells):
            put("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
        return
    from rich.console import Console

    console = Console()
    ids = [_are_ids(column) for column in zip(*cells, strict=True)] or [False] * len(columns)
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    least = sum(
        width if is_id else min(width, _LEAST_CHARS) for width, is_id in zip(widths, ids, strict=True)
    )
    if any(ids) and least + 2 * len(columns) > console.width:
        for row in (columns, *cells):
            _put_flowing(row, console.width)
    else:
        _draw(console, columns, cells, ids)


def _are_ids(cells: Sequence[str]) -> bool:
    told = [each for each in cells if each]
    return bool(told) and all(map(_ID.fullmatch, told))


def _draw(
    console: "Console", columns: Sequence[str], cells: Sequence[Sequence[str]], ids: Sequence[bool]
) -> None:
    """Draw a table; columns of ids stay whole: wrapped, or cut off, none can be copied."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name, is_id in zip(columns, ids, strict=True):
        table.add_column(Text(name), overflow="fold", no_wrap=is_id)
    for row in cells:
        table.add_row(*map(Text, row))
    console.print(table)


def _put_flowing(row: Sequence[str], width: int) -> None:
    """Write a row for a narrow terminal: lines are broken between cells, and within text alone."""
    lines = [""]
    for each in filter(None, row):
        if len(lines[-1]) + 2 + len(each) > width and lines[-1]:
            lines.append("")
        lines[-1] += f"{'  ' if lines[-1] or len(lines) > 1 else ''}{each}"
    for each in lines:
        put(
            "\n".join(
                wrap(
                    each,
                    width,
                    subsequent_indent="  ",
                    break_long_words=False,
                    break_on_hyphens=False,
                    drop_whitespace=False,
                )
            )
        )


def put_fields(fields: Mapping[str, Any], form: Format = "table") -> None:
    """Write named values: one a line, or one JSON object."""
    if form == "table":
        width = max(map(len, fields), default=0)
        for name, value in fields.items():
            put(f"{name.ljust(width)}  {cell(value)}".rstrip())
    elif form in ("csv", "csv-raw"):
        put_rows(("name", "value"), [{"name": name, "value": value} for name, value in fields.items()], form)
    elif form == "jsonl":
        put(to_json(dict(fields)))
    else:
        put_json(dict(fields))
