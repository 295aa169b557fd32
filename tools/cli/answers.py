"""An answer, a pyarrow Table, on stdout or in a file, in the form that is asked for; files are their owner's alone."""

import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from datetime import timedelta
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args
from urllib.parse import quote

from braid.tools.cli.destination import is_stream, new_file, new_folder
from braid.tools.cli.output import Format, many, put_bytes, put_rows

AnswerForm = Literal["table", "json", "jsonl", "csv", "csv-raw", "parquet", "arrow"]
_BINARY = ("parquet", "arrow")
_NO_FOLDER: Final = re.compile(r"[/\\=\x00-\x1f\x7f-\x9f]|^$")
_NAME_BYTES: Final = 255
_HIVE_NULL: Final = "__HIVE_DEFAULT_PARTITION__"


class OutputTarget:
    """Where answers go, and in which form."""

    def __init__(self, form: AnswerForm | None, out: Path | None, partition_by: Sequence[str] = ()) -> None:
        """Without a form the file's suffix chooses. Raises ValueError for what doesn't go together."""
        self.form: AnswerForm = _form_of(form, out, partition_by)
        self.out = out
        self.partition_by = partition_by
        if partition_by and (out is None or self.form != "parquet"):
            raise ValueError("--partition-by makes a folder of Parquet files: name it with --out FOLDER")
        if self.form in _BINARY and out is None and sys.stdout.isatty():
            raise ValueError(f"{self.form} is binary: name a file (--out answer.{self.form}) or pipe it on")

    def put(self, table: Any) -> None:
        """Show or write an answer; raise ValueError where the form has no place for one of its types."""
        from braid.views.duck.arrow import pa

        if self.form != "arrow":
            table = _with_spans_as_text(table)
        try:
            if self.out is None:
                _put(table, self.form)
            elif self.partition_by:
                _write_partitions(table, self.out, self.partition_by)
            else:
                _write(table, self.form, self.out)
        except (pa.ArrowException, NotImplementedError, OverflowError) as error:
            raise ValueError(f"{self.form} can't hold this answer: {error}") from error


def _form_of(form: AnswerForm | None, out: Path | None, partition_by: Sequence[str]) -> AnswerForm:
    if form is not None:
        return form
    if partition_by:
        return "parquet"
    suffix = "" if out is None else out.suffix.lower().lstrip(".")
    if suffix in ("", "txt"):
        return "table"
    if suffix not in get_args(AnswerForm):
        raise ValueError(
            f"{out}: .{suffix} is no form of an answer; name one with -o {'|'.join(get_args(AnswerForm))}"
        )
    return cast("AnswerForm", suffix)


def _with_spans_as_text(table: Any) -> Any:
    """Return the table with spans of time, which only Arrow has a type for, as text: `35 days 1:09:44`."""
    from braid.views.duck.arrow import pa

    for place, column in enumerate(table.schema):
        if pa.types.is_interval(column.type):
            texts = [None if span is None else _span(*span) for span in table.column(place).to_pylist()]
            table = table.set_column(place, column.name, pa.array(texts, pa.string()))
    return table


def _span(months: int, days: int, nanoseconds: int) -> str:
    parts = [many(count, noun) for count, noun in ((months, "month"), (days, "day")) if count]
    if nanoseconds or not parts:
        sign = "-" if nanoseconds < 0 else ""
        parts.append(f"{sign}{timedelta(microseconds=abs(nanoseconds) // 1000)}")
    return " ".join(parts)


def _put(table: Any, form: AnswerForm) -> None:
    from braid.views.duck.arrow import named_rows, pa

    if form in _BINARY:
        sink = pa.BufferOutputStream()
        _encode(table, form, sink, seekable=False)
        put_bytes(sink.getvalue())
        return
    put_rows(table.column_names, named_rows(table), plain_form(form))


def plain_form(form: AnswerForm) -> Format:
    """Return a form that is text: a table in place of a binary one."""
    match form:
        case "parquet" | "arrow":
            return "table"
        case _:
            return form


def _encode(table: Any, form: AnswerForm, sink: Any, *, seekable: bool) -> None:
    """Write a table as Parquet or Arrow: a file of Arrow can be mapped into memory, a pipe takes its stream form."""
    if form == "parquet":
        import pyarrow.parquet as _pq

        pq: Any = _pq
        pq.write_table(table, sink)
        return
    from braid.views.duck.arrow import pa

    with (pa.ipc.new_file if seekable else pa.ipc.new_stream)(sink, table.schema) as writer:
        writer.write_table(table)


def _write(table: Any, form: AnswerForm, file: Path) -> None:
    from braid.views.duck.arrow import named_rows

    with new_file(file) as stream:
        if form in _BINARY:
            _encode(table, form, stream, seekable=not is_stream(file))
            return
        with (
            TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace") as text,
            redirect_stdout(text),
        ):
            put_rows(table.column_names, named_rows(table), plain_form(form))


def _write_partitions(table: Any, folder: Path, columns: Sequence[str]) -> None:
    """Write a folder for each value of the columns (`name=value`, as Hive does), Parquet files inside."""
    import pyarrow.dataset as _ds

    ds: Any = _ds
    unknown = [name for name in columns if name not in table.column_names]
    if unknown or len(columns) == len(table.column_names):
        raise ValueError(
            f"--partition-by {','.join(columns)}: the answer has the columns {', '.join(table.column_names)};"
            " name some of them, not all"
        )
    for name in columns:
        _check_names_folders(name, table.column(name))
    schema: Any = table.select(columns).schema
    with new_folder(folder) as partial:
        ds.write_dataset(
            table,
            str(partial),
            format="parquet",
            partitioning=ds.partitioning(schema, flavor="hive"),
            basename_template="part-{i}.parquet",
        )


def _check_names_folders(name: str, column: Any) -> None:
    """Raise ValueError where a column's name, which Hive leaves as it is, or a value, escaped, can't name a folder."""
    if name in (".", "..") or _NO_FOLDER.search(name):
        raise ValueError(
            f"--partition-by: the column {name!r} can't name a folder; give it another name with AS"
        )
    longest = _NAME_BYTES - len(f"{name}=".encode())
    for value in column.unique().to_pylist():
        if value == _HIVE_NULL or len(quote(str(value), safe="")) > longest:
            raise ValueError(
                f"--partition-by {name}: {str(value)[:40]!r} can't name a folder: it is too long, or stands for NULL;"
                " choose another column, or shorten it (left, md5)"
            )
