"""`braid lens`: how the past looks through a lens, what was kept of it, and what is out of date."""

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from braid.tools.cli.access import reading, where, writing
from braid.tools.cli.group import BraidGroup, help_without_command
from braid.tools.cli.options import (
    Adopt,
    AgentId,
    FormatOption,
    ProjectId,
    RunId,
    SessionId,
    Shared,
    StoreOption,
    UserId,
)
from braid.tools.cli.output import clean, line, many, put, put_fields, put_json, put_rows, say, to_json
from braid.wire import to_builtins

if TYPE_CHECKING:
    from braid.lens.operations import Lenses, View

app = typer.Typer(cls=BraidGroup, rich_markup_mode=None)
_LENSES = ("name", "version", "folds", "model", "about")
_VIEWS = ("id", "lens", "version", "scope", "records", "stale")
_STANDINGS = ("request", "lens", "version", "scope", "view", "records", "stale")
_REFRESHED = ("id", "lens", "version", "scope", "records", "read")
Output = Annotated[Literal["table", "json"], typer.Option("--output", "-o", help="How to show it.")]
Limit = Annotated[float, typer.Option("--limit", min=0.001, help="Seconds that a lens may take.")]


def register(above: typer.Typer) -> None:
    """Add this module's commands."""
    above.add_typer(app, name="lens", rich_help_panel="Read")


@app.callback(invoke_without_command=True)
def lens(ctx: typer.Context) -> None:
    """Look at the past through a lens: a named, versioned, pure function from records to a view.

    A view is kept as a signed record: what it adds to the raw records, leaves out and weighs otherwise.

    \b
    Examples:
      braid lens list
      braid lens apply temporal --user-id maya
    """
    help_without_command(ctx)


@app.command("list")
def list_(
    views: Annotated[
        bool, typer.Option("--views", help="The views that were made, of all versions.")
    ] = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """List the lenses that are installed or defined in the store, or the views that they made.

    \b
    Examples:
      braid lens list
      braid lens list --views -o json
    """
    if views:
        with reading(store) as opened:
            listed = opened.iter_lens_views()
            put_rows(_VIEWS, (_told(to_builtins(row), output) for row in listed), output)
        return
    found = _lenses(store)
    put_rows(_LENSES, to_builtins(found.lenses), output)
    for trouble in found.troubles:
        say(trouble)


def _lenses(store: Path | None) -> "Lenses":
    """Return every lens; where there is no store, those that are installed."""
    from braid.lens.definitions import listed

    if not where(store).exists():
        return listed({})
    with reading(store) as opened:
        return opened.lenses()


@app.command()
def define(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="TOML, `-` for stdin.", show_default=False, allow_dash=True)
    ],
    *,
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Define a lens without a package: which records, which sentences or claims; docs/lenses.md shows how.

    The definition is kept as a signed record, and its id is printed. The same file again writes nothing; a change needs
    a higher version.

    \b
    Examples:
      braid lens define deploys.toml
    """
    text = sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")
    with writing(store, adopt=adopt, shared=shared) as opened:
        put(opened.define_lens(text))


@app.command()
def apply(
    name: Annotated[str, typer.Argument(metavar="LENS", help="Its name.", show_default=False)],
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID…]", help="Only these records, instead of a scope.", show_default=False),
    ] = None,
    *,
    user_id: UserId = None,
    agent_id: AgentId = None,
    run_id: RunId = None,
    project_id: ProjectId = None,
    session_id: SessionId = None,
    params: Annotated[
        str | None,
        typer.Option("--params", metavar="JSON", help="The lens's parameters.", show_default=False),
    ] = None,
    version: Annotated[
        str | None, typer.Option("--version", help="Only if it is this version.", show_default=False)
    ] = None,
    limit: Limit = 60.0,
    output: Output = "table",
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Apply a lens and keep the view; where nothing has changed since, the one that is kept is shown.

    Applied again it reads what came since. A lens that fails, or gives what is no view, writes nothing.

    \b
    Examples:
      braid lens apply temporal --user-id maya
      braid lens apply summary --session s1 --params '{"sentences": 5}'
      braid lens apply causal exp_2025-05-17T09:00:00Z_0000000300ab
    """
    with redirect_stdout(sys.stderr), writing(store, adopt=adopt, shared=shared) as opened:
        view = opened.apply_lens(
            name, user_id=user_id, agent_id=agent_id, run_id=run_id, project_id=project_id,
            session_id=session_id, ids=ids or None,
            params=_params(params), version=version, limit_s=limit,
        )  # fmt: skip
    _put(view, output)


@app.command()
def show(
    id: Annotated[str, typer.Argument(metavar="VIEW_ID", help="The view.", show_default=False)],
    *,
    delta: Annotated[
        bool, typer.Option("--delta", help="What it changes in the raw records, as it is stored.")
    ] = False,
    forgotten: Annotated[
        bool, typer.Option("--forgotten", help="Also if something that it rests on is forgotten.")
    ] = False,
    output: Output = "table",
    store: StoreOption = None,
) -> None:
    """Show a view in full, whatever views it stands on, and whether it is stale.

    \b
    Examples:
      braid lens show view_2025-05-17T09:00:00Z_0000000300ab
      braid lens show view_2025-05-17T09:00:00Z_0000000300ab --delta
    """
    with reading(store) as opened:
        view = opened.lens_view(id, include_forgotten=forgotten)
        if delta:
            from braid.ledger.record.shape import shape

            put_json(shape(opened.get(id, include_forgotten=forgotten)))
            return
    _put(view, output)


@app.command()
def diff(
    one: Annotated[str, typer.Argument(metavar="VIEW_ID", help="The earlier view.", show_default=False)],
    other: Annotated[str, typer.Argument(metavar="VIEW_ID", help="The later one.", show_default=False)],
    output: Output = "table",
    store: StoreOption = None,
) -> None:
    """Show what makes one view of another: of two times, two versions of a lens, two lenses.

    \b
    Examples:
      braid lens diff view_2025-05-17T09:00:00Z_0000000300ab view_2025-06-01T09:00:00Z_0000000900cd
    """
    with reading(store) as opened:
        found = opened.lens_difference(one, other)
    if output == "json":
        put_json(to_builtins(found))
        return
    for mark, items in (("-", found.removed), ("+", found.added)):
        for item in items:
            put(f"{mark} {line(item.text)}")
    for mark, ids in (("-", found.records_removed), ("+", found.records_added)):
        for id in ids:
            put(f"{mark} {id}")
    for weight in found.reweighted:
        put(f"~ {weight.exp}  {weight.w_old:g} → {weight.w_new:g}")


@app.command()
def stale(
    *,
    all_: Annotated[bool, typer.Option("--all", help="Those that are up to date, too.")] = False,
    output: FormatOption = "table",
    store: StoreOption = None,
) -> None:
    """Find what was asked of a lens and is out of date, and why.

    Its scope has grown; a record that it rests on was forgotten, recovered, corrected or erased; or the lens has a new
    version, in which it was not applied yet.

    \b
    Examples:
      braid lens stale
      braid lens stale --all -o json
    """
    with reading(store) as opened:
        found = (to_builtins(one) for one in opened.iter_lens_standings() if one.stale or all_)
        put_rows(_STANDINGS, (_told(row, output) for row in found), output)


@app.command()
def refresh(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID…]",
            help="These views or requests, instead of all that are stale.",
            show_default=False,
        ),
    ] = None,
    *,
    limit: Limit = 60.0,
    output: FormatOption = "table",
    adopt: Adopt = False,
    shared: Shared = False,
    store: StoreOption = None,
) -> None:
    """Make stale views again. The old ones stay, superseded; `read` is how many records it took.

    \b
    Examples:
      braid lens refresh
      braid lens refresh view_2025-05-17T09:00:00Z_0000000300ab
    """
    with redirect_stdout(sys.stderr), writing(store, adopt=adopt, shared=shared) as opened:
        made = opened.refresh_lenses(*(ids or ()), limit_s=limit)
    rows = [_told({name: getattr(view, name) for name in _REFRESHED}, output) for view in made]
    put_rows(_REFRESHED, rows, output)
    say(f"{many(len(made), 'view')} made again")


def _told(row: dict[str, Any], output: str) -> dict[str, Any]:
    """Return a row as it is; in a table with its lists and objects as words."""
    if output != "table":
        return row
    scope = " ".join(f"{name}={value}" for name, value in row["scope"].items())
    told = {**row, "scope": scope or "all"}
    return told | {"stale": "; ".join(row["stale"])} if "stale" in row else told


def _put(view: "View", output: str) -> None:
    if output == "json":
        put_json(to_builtins(view))
        return
    put_fields(
        {
            "view": view.id,
            "lens": f"{view.lens} {view.version}",
            "scope": " ".join(f"{name}={value}" for name, value in view.scope.items()) or "all",
            "records": f"{len(view.weights)} kept of {view.records}",
            "stale": "; ".join(view.stale) or "no",
        }
    )
    put(clean(view.text))
    if view.read:
        say(
            f"{many(view.read, 'record')} read; {'the view was appended' if view.appended else 'nothing has changed'}"
        )


def _params(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"--params is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"--params is an object such as {to_json({'sentences': 5})}")
    return {str(name): value for name, value in found.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
