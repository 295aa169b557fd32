"""A braid drawn for a person: one SVG without scripts or outside parts, by Graphviz where `dot` is on the path.

Elsewhere in plain layers: time goes down, a record stands below all that it names, links run behind the boxes.
"""

from html import escape
from typing import Final

from braid.ledger.read.trace import TraceNode
from braid.tools.cli.output import many
from braid.tools.draw.dot import by_graphviz
from braid.tools.draw.graph import (
    Edge,
    Graph,
    describe,
    fit,
    kind_of,
    marks_of,
    printable,
    short,
    time_of,
    title_of,
)  # fmt: skip

MAX_NODES: Final = 300
MAX_EDGES: Final = 1_200
MAX_ACROSS: Final = 5
"""Boxes side by side in a layer."""
_WIDTH, _HEIGHT, _ACROSS, _DOWN, _HEAD = 208, 70, 230, 130, 68
_TOLD: Final = 500
"""Characters of a record's words that its tooltip shows."""
_NAMED_LINKS: Final = 60
"""Above this many, a link's role is in its tooltip alone."""
_COLOURS: Final = {
    "experience": "#3b82f6",
    "view": "#8b5cf6",
    "stance": "#22a355",
    "affect": "#db4f96",
    "embedding": "#0891b2",
    "tombstone": "#6b7280",
    "key": "#b08905",
    "event": "#ea580c",
    "genesis": "#475569",
    "other": "#9ca3af",
}
_STYLE: Final = (
    ".paper{fill:#fff}text{font:11.5px system-ui,sans-serif;fill:#1f2328}.name{font-weight:600}.dim{opacity:.7}"
    ".box{stroke-width:1.5;fill-opacity:.14}.root{stroke-width:4}.gone{stroke-dasharray:5 4}"
    ".link{fill:none;stroke:#8b949e;stroke-width:1.5}.supersedes{stroke-width:3}.evidence{stroke-dasharray:6 4}"
    ".target,.kept{stroke-dasharray:1 4}"
    + "".join(f".k-{kind}{{fill:{colour};stroke:{colour}}}" for kind, colour in _COLOURS.items())
    + "@media (prefers-color-scheme:dark){.paper{fill:#0d1117}text{fill:#e6edf3}}"
)
_ARROW: Final = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" '
    'markerUnits="userSpaceOnUse" orient="auto"><path fill="#8b949e" d="M0 0 8 4 0 8Z"/></marker></defs>'
)
Places = dict[int, tuple[float, float]]
"""The centre of each record's box, in pixels."""


def to_svg(graph: Graph) -> str:
    """Return the part of the graph nearest to its root as an SVG document."""
    shown = graph.nearest(MAX_NODES, MAX_EDGES)
    return by_graphviz(shown) or in_layers(shown)


def in_layers(graph: Graph) -> str:
    """Return the graph drawn without Graphviz. The same graph gives the same drawing."""
    rows = layers_of(graph)
    places = places_of(graph, rows)
    width, height = max(map(len, rows)) * _ACROSS + 40, _HEAD + len(rows) * _DOWN
    root = graph.nodes[graph.root]
    left = f"; {many(graph.left_out, 'link')} further away not drawn" if graph.left_out else ""
    counted = f"{many(len(graph.nodes), 'record')}, {many(len(graph.edges), 'link')}; time goes down"
    named = len(graph.edges) <= _NAMED_LINKS
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img"><title>The braid of {_text(root.id)}</title><desc>{escape(describe(graph))}</desc>',
        f'<style>{_STYLE}</style>{_ARROW}<rect class="paper" width="{width}" height="{height}"/>',
        f'<text class="name" x="20" y="26">{_text(root.id)}</text>',
        f'<text class="dim" x="20" y="44">{counted}, an arrow leads to what was made of a record{left}</text>',
        *(_link(edge, places, named=named) for edge in graph.edges),
        *(_box(node, places[index], is_root=index == graph.root) for index, node in graph.nodes.items()),
        "</svg>",
    ])  # fmt: skip


def layers_of(graph: Graph) -> list[list[int]]:
    """Return the records in layers, oldest first: of one day, without links among a layer's own."""
    layers: list[list[int]] = []
    named = {index: {edge.target for edge in graph.edges if edge.source == index} for index in graph.nodes}
    for index in sorted(graph.nodes):
        here = layers[-1] if layers else []
        same = bool(here) and graph.nodes[here[0]].created_at[:10] == graph.nodes[index].created_at[:10]
        if same and len(here) < MAX_ACROSS and named[index].isdisjoint(here):
            here.append(index)
        else:
            layers.append([index])
    return layers


def places_of(graph: Graph, rows: list[list[int]]) -> Places:
    """Return where the boxes stand: each row in the middle, ordered by the mean place of what its records name."""
    middle, places = (max(map(len, rows)) * _ACROSS + 40) / 2, Places()
    for down, row in enumerate(rows):
        above = {index: [places[e.target][0] for e in graph.edges if e.source == index] for index in row}
        row.sort(key=lambda index: sum(above[index]) / len(above[index]) if above[index] else middle)
        for k, index in enumerate(row):
            x = middle + (k - (len(row) - 1) / 2) * _ACROSS
            places[index] = (x, _HEAD + down * _DOWN + _HEIGHT / 2)
    return places


def _text(text: str) -> str:
    return escape(printable(text))


def _link(edge: Edge, places: Places, *, named: bool) -> str:
    (x, y), (to_x, to_y) = places[edge.target], places[edge.source]
    y, to_y = y + _HEIGHT / 2, to_y - _HEIGHT / 2
    mid, role = (y + to_y) / 2, _text(edge.role)
    path = f"M{x:.0f} {y:.0f}C{x:.0f} {mid:.0f} {to_x:.0f} {mid:.0f} {to_x:.0f} {to_y:.0f}"
    name = f'<text class="dim" x="{(x + to_x) / 2 + 4:.0f}" y="{mid:.0f}">{role}</text>' if named else ""
    drawn = f'<path class="link {role}" d="{path}" marker-end="url(#arrow)"><title>{role}</title></path>'
    return drawn + name


def _box(node: TraceNode, at: tuple[float, float], *, is_root: bool) -> str:
    marks = marks_of(node)
    css = f"box k-{kind_of(node)}" + " root" * is_root + " gone" * (node.erased or node.forgotten)
    head = title_of(node) + (f" ({', '.join(marks)})" if marks else "")
    words = node.said.text if node.said else ""
    lines = [
        ("name", fit(head, 28)),
        ("said", fit(words or "", 32)),
        ("dim", f"record {node.index}, {time_of(node)}"),
    ]
    told = "\n".join([head, node.id, time_of(node), *([short(words, _TOLD)] if words else [])])
    texts = "".join(
        f'<text class="{css_}" x="{at[0]:.0f}" y="{at[1] + 20 * k - 14:.0f}" text-anchor="middle">{_text(said)}</text>'
        for k, (css_, said) in enumerate(lines)
    )
    x, y = at[0] - _WIDTH / 2, at[1] - _HEIGHT / 2
    rect = f'<rect class="{css}" x="{x:.0f}" y="{y:.0f}" width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>'
    return f"<g><title>{_text(told)}</title>{rect}{texts}</g>"
