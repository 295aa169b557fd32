"""`braid replay` and `braid sql`: projections rebuilt from the log, and questions to them."""

import sys
from collections.abc import Iterable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from braid.tools.cli import destination
from braid.tools.cli.access import reading
from braid.tools.cli.answers import AnswerForm, OutputTarget
from braid.tools.cli.instants import AsOf, IncludeForgotten, ValidAt, index_or_instant, instant
from braid.tools.cli.options import FormatOption, StoreOption
from braid.tools.cli.output import put_rows, say
from braid.tools.cli.progress import progress
from braid.tools.cli.sql_session import SqlSession
from braid.tools.cli.statements import Statement, parameters, statements

PANEL = "Ask"


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(replay)
    app.command(rich_help_panel=PANEL)(sql)


def replay(
    view: Annotated[
        str | None, typer.Option("--view", help="Only this projection.", show_default="all")
    ] = None,
    *,
    from_scratch: Annotated[
        bool, typer.Option("--from-scratch", help="From the log alone, whatever snapshots there are.")
    ] = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Rebuild the projections from the log.

    Into fresh files that are then swapped in; needs no model, network or clock. Begins from the newest snapshot that
    fits (`braid snapshot`) and applies what came after it; one that does not fit is named.

    \b
    Examples:
      braid replay
      braid replay --view duck -o json
      braid replay --from-scratch
    """
    with reading(store) as opened, progress("replaying") as bar:
        done = opened.views.replay(view, from_scratch=from_scratch, progress=bar.reach)
        size = len(opened)
    for path in done[0].cleared if done else ():
        say(f"removed {Path('views') / path}: it was no file or folder of ours")
    for refused in dict.fromkeys(line for one in done for line in one.refused):
        say(f"the snapshot {refused}; it was not used")
    for name in dict.fromkeys(one.snapshot for one in done if one.snapshot):
        say(f"begun from the snapshot {name}")
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
        str | None,
        typer.Argument(
            metavar="[QUERY]",
            help="One SELECT, or .tables, .schema, .definitions, .help; `-`, or nothing, reads stdin.",
            show_default=False,
        ),
    ] = None,
    *,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="A file of statements to answer.", show_default=False),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            metavar="NAME=VALUE",
            help="What $NAME stands for; again for others.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-O", metavar="FILE", help="Where the answer goes.", show_default="stdout"),
    ] = None,
    partition_by: Annotated[
        str | None,
        typer.Option(
            "--partition-by",
            metavar="COLUMN,…",
            help="With --out FOLDER: Parquet, a folder a value.",
            show_default=False,
        ),
    ] = None,
    as_of: AsOf = None,
    valid_at: ValidAt = None,
    include_forgotten: IncludeForgotten = False,
    output: Annotated[
        AnswerForm | None,
        typer.Option("--output", "-o", help="How to show it.", show_default="table, or FILE's suffix"),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Ask questions in SQL.

    The DuckDB projection is caught up with the log first; position and lag are told on stderr.

    On a terminal, without a query, a prompt opens. Statements in a file or on stdin end with `;` and are answered in
    order, until one fails. $NAME in a statement is what --param says, passed as a value and never pasted: a number,
    true or false, a time (RFC 3339, UTC where it has no zone), else text; in quotes, '…', always text.

    A statement can't write, read files, reach the network, or exceed memory, time and rows.
    docs/schema.md lists the tables, docs/sql.md shows what to ask.

    \b
    Examples:
      braid sql "SELECT type, count(*) AS n FROM experiences GROUP BY type"
      braid sql "FROM timeline($who)" --param who=agent -o csv
      braid sql --file questions.sql --param since=2025-05-01
      braid sql "SELECT object FROM claims WHERE rel = 'lives in'" --valid-at 2025-05-01
      braid sql "FROM experiences" --out shared --partition-by user_id
      braid sql .schema
    """
    if query not in (None, "-") and file is not None:
        raise ValueError("give a query or --file FILE, not both")
    target = OutputTarget(output, out, partition_by.split(",") if partition_by else ())
    destination.outside(out, store)
    params = parameters(param or [])
    when = None if as_of is None else index_or_instant(as_of)
    held = None if valid_at is None else instant(valid_at)
    with reading(store) as opened:
        past = partial(opened.past, when, held, include_forgotten=include_forgotten)
        asker = SqlSession(opened, target, params, past)
        if query is None and file is None and sys.stdin.isatty():
            from braid.tools.cli.shell import talk

            talk(asker)
        elif query is None or query == "-":
            with nullcontext(sys.stdin) if file is None else file.open(encoding="utf-8") as lines:
                _answer_all(asker, lines)
        else:
            asker.answer(Statement(query.strip(), 1))
    if unused := asker.unused():
        say(f"no statement names {', '.join(f'${name}' for name in unused)}")


def _answer_all(asker: SqlSession, lines: Iterable[str]) -> None:
    """Answer the statements of a text in order, each as soon as it has ended; stop at one that fails."""
    count = 0
    for count, statement in enumerate(statements(lines), 1):
        if count > 1 and asker.target.out is not None:
            raise ValueError("--out takes one answer: give one statement")
        try:
            asker.answer(statement)
        except (ValueError, LookupError):
            if count > 1 or statement.line > 1:
                say(f"the statement at line {statement.line} failed, those before it were answered")
            raise
    if not count:
        raise ValueError("there is no statement to answer")
