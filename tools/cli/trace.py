"""`braid trace`: the braid of a record as a tree, as JSON, as W3C PROV, or drawn."""

import json
from typing import Annotated, Literal

import typer

from braid.tools.cli.access import reading
from braid.tools.cli.options import StoreOption
from braid.tools.cli.output import line, many, put, say, to_json

PANEL = "Read"


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command(rich_help_panel=PANEL)(trace)


def trace(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="Where the braid is picked up.", show_default=False)
    ],
    *,
    up: Annotated[bool, typer.Option("--up", help="Only what it descends from.")] = False,
    down: Annotated[bool, typer.Option("--down", help="Only what descends from it.")] = False,
    depth: Annotated[
        int | None, typer.Option(min=1, help="How far to go.", show_default="to the ends")
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Say who said what, too; needs the vault.")] = False,
    prov: Annotated[bool, typer.Option("--prov", help="As W3C PROV-JSON.")] = False,
    dot: Annotated[bool, typer.Option("--dot", help="As a graph for Graphviz.")] = False,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="As a Mermaid flow chart.")] = False,
    svg: Annotated[bool, typer.Option("--svg", help="Drawn, as an SVG page.")] = False,
    output: Annotated[
        Literal["table", "json"], typer.Option("--output", "-o", help="Tree or JSON.")
    ] = "table",
    store: StoreOption = None,
) -> None:
    """Show what a record derives from and what derives from it.

    All of it comes from envelopes, so that an auditor's copy shows the same; words are shown only with --text.

    \b
    Examples:
      braid trace exp_2025-05-17T09:00:00Z_0000000300ab
      braid trace stance_2025-06-01T12:00:00Z_0000000a01cd --up --depth 2 -o json
      braid trace exp_2025-05-17T09:00:00Z_0000000300ab --svg --text > braid.svg
      braid trace exp_2025-05-17T09:00:00Z_0000000300ab --prov > braid.provn.json
    """
    form = _form(prov=prov, dot=dot, mermaid=mermaid, svg=svg, json=output == "json")
    both = up == down
    with reading(store) as opened:
        node = opened.trace(id, up=up or both, down=down or both, depth=depth, text=text)
        origin = opened.origin
    if form == "json":
        put(to_json(json.loads(node.to_json())))
        return
    if form == "table":
        for drawn in node.lines():
            put(line(drawn))
        return
    from braid.tools.draw.graph import graph_of

    graph = graph_of(node)
    if form == "prov":
        from braid.tools.draw.prov import to_prov

        put(to_prov(graph, origin))
    elif form == "dot":
        from braid.tools.draw.dot import to_dot

        put(to_dot(graph))
    elif form == "mermaid":
        from braid.tools.draw.mermaid import to_mermaid

        put(to_mermaid(graph))
    else:
        from braid.tools.draw.svg import to_svg

        put(to_svg(graph))
    if graph.left_out:
        say(
            f"{many(graph.left_out, 'link')} not followed: too deep, or too many", "ask for less with --depth"
        )


def _form(**asked: bool) -> str:
    """Return the one form that was asked for; `table` where none was."""
    chosen = [name for name, wanted in asked.items() if wanted]
    if len(chosen) > 1:
        raise ValueError(f"one form at a time: {' or '.join(chosen)}")
    return chosen[0] if chosen else "table"
