"""One statement or dot command after the other, asked of a store and answered where its answers go."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from braid.tools.cli.answers import OutputTarget, plain_form
from braid.tools.cli.output import many, put, put_rows, say
from braid.tools.cli.statements import Statement, named_in

if TYPE_CHECKING:
    from braid.store import Store
    from braid.views.duck.past import Past
    from braid.views.duck.sql import QueryLimits
    from braid.views.store import SqlResult

HELP: Final = """\
.tables          the tables, views and macros
.schema [NAME]   their columns (of one), with types and what they are
.definitions     views and macros as SQL, for another DuckDB client: docs/clients.md
.help            this
SELECT …;        one question; it can't write, read files or reach the network. docs/sql.md has examples"""
ASIDES: Final = (".definitions", ".help", ".schema", ".tables")


class SqlSession:
    """Answers what it is given; it remembers what it told of position and lag, and tells them when they change."""

    def __init__(
        self,
        store: "Store",
        target: OutputTarget,
        params: Mapping[str, Any],
        past: "Callable[[], Past | None]" = lambda: None,
    ) -> None:
        """`params` are the values of the statements' parameters, by name; `past` says which past is asked."""
        self._past = past
        self._store = store
        self.target = target
        self._params = params
        self._named: set[str] = set()
        self._told: tuple[int, int] | None = None

    def answer(self, statement: Statement) -> None:
        """Answer a statement, or carry out a dot command."""
        if statement.text.startswith("."):
            _aside(statement.text, self.target)
            return
        names = named_in(statement.text)
        self._named |= names
        params = {name: value for name, value in self._params.items() if name in names}
        self._store.refresh()
        limits = _limits(self.target)
        past = self._past()
        result = self._store.views.sql(statement.text, params or None, past=past, limits=limits)
        self.target.put(result.table)
        self._tell(result, past)

    def unused(self) -> list[str]:
        """Return the parameters that no statement so far has named."""
        return sorted(self._params.keys() - self._named)

    def _tell(self, result: "SqlResult", past: "Past | None") -> None:
        place = (result.position, result.behind_by)
        stands = ""
        if past is not None and result.behind_by:
            stands = f"; as the log was with {many(past.size, 'record')}, {result.behind_by} fewer than now"
        elif place != self._told:
            lag = f"{many(result.behind_by, 'record')} behind" if result.behind_by else "level with"
            stands = f"; the projection stands at record {result.position}, {lag} the log"
        self._told = place
        if result.rebuilt is not None:
            say(f"the projection was rebuilt: {result.rebuilt}")
        say(f"{many(result.table.num_rows, 'row')}{stands}")


def _limits(target: OutputTarget) -> "QueryLimits":
    """Return how far a statement may go: further into a file, which nobody scrolls through."""
    from braid.views.duck.sql import QueryLimits

    if target.out is None:
        return QueryLimits()
    return QueryLimits(seconds=300.0, rows=10_000_000, result_bytes=512 << 20, memory_bytes=1 << 30)


def _aside(text: str, target: OutputTarget) -> None:
    """Carry out a dot command; raise ValueError for an unknown one."""
    command, *rest = text.rstrip(";").split()
    if command not in ASIDES or len(rest) > (command == ".schema"):
        raise ValueError(f"there is no command {text!r}; there are {', '.join(ASIDES)}")
    if command in (".help", ".definitions") and target.out is not None:
        raise ValueError(f"{command} is no table: write it to a file with `> FILE`, not with --out")
    if command == ".help":
        put(HELP)
        return
    if command == ".definitions":
        from braid.views.duck.macros import creation

        put("\n".join(f"{statement};" for statement in creation()))
        return
    columns, rows = schema(*rest) if command == ".schema" else tables()
    put_rows(columns, rows, plain_form(target.form))


def tables() -> tuple[tuple[str, ...], list[dict[str, str]]]:
    """Return what can be asked, with comments: columns and rows."""
    from braid.views.duck.macros import MACROS, VIEWS
    from braid.views.duck.schema import CHECKPOINTS, TABLES

    asked = [(one.name, "table", one.comment) for one in (*TABLES, CHECKPOINTS)]
    asked += [(one.name, "view", one.comment) for one in VIEWS]
    asked += [
        (f"{one.name}({', '.join(each.name for each in one.parameters)})", "macro", one.comment)
        for one in MACROS
    ]
    return _rows(("name", "what", "comment"), asked)


def schema(name: str | None = None) -> tuple[tuple[str, ...], list[dict[str, str]]]:
    """Return the columns of what is named, or of all: columns and rows; parameters stand in brackets.

    Raises ValueError for a name that there isn't.
    """
    from braid.views.duck.macros import MACROS, VIEWS
    from braid.views.duck.schema import CHECKPOINTS, TABLES

    parameters = {macro.name: macro.parameters for macro in MACROS}
    asked = {each.name: each.columns for each in (*TABLES, CHECKPOINTS, *VIEWS, *MACROS)}
    if name is not None and name.lower() not in asked:
        near = difflib.get_close_matches(name.lower(), asked, 1)
        raise ValueError(
            f"there is no table, view or macro {name}"
            + (f"; there is {near[0]}" if near else "; see .tables")
        )
    rows = [
        (of, called, column.type, column.comment)
        for of in (asked if name is None else [name.lower()])
        for called, column in (
            *((f"({one.name})", one) for one in parameters.get(of, ())),
            *((one.name, one) for one in asked[of]),
        )
    ]
    return _rows(("of", "column", "type", "comment"), rows)


def _rows(
    columns: tuple[str, ...], values: Sequence[tuple[str, ...]]
) -> tuple[tuple[str, ...], list[dict[str, str]]]:
    return columns, [dict(zip(columns, row, strict=True)) for row in values]
