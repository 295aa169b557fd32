"""`braid replay` and `braid sql`: projections rebuilt from the log, and questions to them."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from braid.tools.cli.access import reading
from braid.tools.cli.options import FormatOption, StoreOption
from braid.tools.cli.output import Format, many, put_bytes, put_rows, say
from braid.tools.cli.progress import progress

PANEL = "Ask"
SqlForm = Literal["table", "json", "jsonl", "csv", "parquet"]


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(replay)
    app.command(rich_help_panel=PANEL)(sql)


def replay(
    view: Annotated[
        str | None, typer.Option("--view", help="Only this projection.", show_default="all")
    ] = None,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Rebuild the projections from the log.

    Into fresh files that are then swapped in; needs no model, network or clock.

    \b
    Examples:
      braid replay
      braid replay --view duck -o json
    """
    with reading(store) as opened, progress("replaying") as bar:
        done = opened.views.replay(view, progress=bar.reach)
        size = len(opened)
    rows = [{"projection": one.name, "position": one.position, "behind": size - one.position} for one in done]
    put_rows(("projection", "position", "behind"), rows, output)


def flatten(members: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested members under dotted names."""
    flat: dict[str, Any] = {}
    for name, value in members.items():
        if isinstance(value, dict):
            flat |= flatten(cast("dict[str, Any]", value), f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def sql(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="One SELECT; `-` reads stdin.", show_default=False)
    ],
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="Where the answer goes.", show_default="stdout"),
    ] = None,
    output: Annotated[SqlForm, typer.Option("--output", "-o", help="How to show it.")] = "table",
    store: StoreOption = None,
) -> None:
    """Ask a question in SQL.

    The DuckDB projection is caught up with the log first; position and lag are told on stderr.

    The query can't write, read files, reach the network, or exceed memory, time and rows.
    docs/schema.md lists the tables.

    \b
    Examples:
      braid sql "SELECT type, count(*) AS n FROM experiences GROUP BY type"
      braid sql "SELECT * FROM experiences" -o parquet --file experiences.parquet
      echo "SHOW TABLES" | braid sql -
    """
    if output == "parquet" and file is None and sys.stdout.isatty():
        raise ValueError("parquet is binary: name a file (--file answer.parquet) or pipe it on")
    text = sys.stdin.read() if query == "-" else query
    with reading(store) as opened:
        answer = opened.views.sql(text)
        table: Any = answer.table  # a pyarrow Table; pyarrow ships no types
        if file is None:
            _put(table, output)
        else:
            _write(table, output, file)
        lag = (
            f", {many(answer.behind_by, 'record')} behind the log"
            if answer.behind_by
            else ", level with the log"
        )
        rows = table.num_rows
    say(f"{many(rows, 'row')}; the projection stands at record {answer.position}{lag}")


def _put(table: Any, form: SqlForm) -> None:
    if form == "parquet":
        import io

        import pyarrow.parquet as _pq

        pq: Any = _pq
        buffer = io.BytesIO()
        pq.write_table(table, buffer)
        put_bytes(buffer.getvalue())
        return
    rows: list[dict[str, Any]] = table.to_pylist()
    put_rows(table.column_names, rows, form)


def _write(table: Any, form: SqlForm, file: Path) -> None:
    """Write the answer to a file; its suffix chooses the format where none was given."""
    import contextlib

    suffix = file.suffix.lstrip(".")
    if form == "table" and suffix in ("json", "jsonl", "csv", "parquet"):
        form = suffix  # type: ignore[assignment]
    if form == "parquet":
        import pyarrow.parquet as _pq

        pq: Any = _pq
        pq.write_table(table, file)
        return
    plain: Format = form
    with file.open("w", encoding="utf-8") as stream, contextlib.redirect_stdout(stream):
        put_rows(table.column_names, table.to_pylist(), plain)
