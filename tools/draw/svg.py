"""A braid drawn for a person: one SVG without scripts or outside parts, for light and dark, on paper, read aloud. Pure.

Time goes down, with its axis on the left. A kind has a shape and a colour, a role a line; both stand in the legend.
"""

import re
import unicodedata
from html import escape
from typing import Final

from braid.ledger.trace import TraceNode
from braid.tools.cli.output import many
from braid.tools.draw.graph import Graph, kind_of, marks_of, short, time_of, title_of
from braid.tools.draw.layout import Layout, Point, Route, Size, lay_out

MAX_NODES: Final = 300
MAX_EDGES: Final = 1_200
_SIZE: Final = Size(width=208, height=80, gap_x=22, gap_y=50, lane=10)
_AXIS: Final = 118
_MARGIN: Final = 24
_LEAST_WIDTH: Final = 640
_ITEM: Final = 156
_HEAD: Final = 68
_TOLD: Final = 500
"""Characters of a record's words that its tooltip shows."""
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINES: Final = {
    "parent": ("", 2.0),
    "evidence": ("6 4", 1.6),
    "applied_to": ("12 3", 1.8),
    "candidate": ("3 3", 1.8),
    "support": ("", 3.2),
    "experience": ("9 3 2 3", 1.8),
    "supersedes": ("14 4 3 4", 2.4),
    "target": ("1 4", 2.2),
    "kept": ("1 6", 2.2),
}
_COLOURS: Final = {
    # kind: light fill, light line, dark fill, dark line
    "experience": ("#dbeafe", "#1d4ed8", "#172554", "#60a5fa"),
    "view": ("#ede9fe", "#6d28d9", "#2e1065", "#a78bfa"),
    "stance": ("#dcfce7", "#15803d", "#052e16", "#4ade80"),
    "affect": ("#fce7f3", "#be185d", "#500724", "#f472b6"),
    "embedding": ("#cffafe", "#0e7490", "#083344", "#22d3ee"),
    "tombstone": ("#e5e7eb", "#374151", "#1f2937", "#9ca3af"),
    "key": ("#fef9c3", "#854d0e", "#422006", "#facc15"),
    "event": ("#ffedd5", "#c2410c", "#431407", "#fb923c"),
    "genesis": ("#f3f4f6", "#111827", "#111827", "#d1d5db"),
    "other": ("#ffffff", "#6b7280", "#0d1117", "#9ca3af"),
}
_ROLE_COLOURS: Final = {
    "parent": ("#1d4ed8", "#60a5fa"),
    "evidence": ("#0e7490", "#22d3ee"),
    "applied_to": ("#6d28d9", "#a78bfa"),
    "candidate": ("#15803d", "#4ade80"),
    "support": ("#15803d", "#4ade80"),
    "experience": ("#be185d", "#f472b6"),
    "supersedes": ("#c2410c", "#fb923c"),
    "target": ("#374151", "#9ca3af"),
    "kept": ("#374151", "#9ca3af"),
}


def to_svg(graph: Graph) -> str:
    """Return the part of the graph nearest to its root as an SVG document."""
    shown = graph.nearest(MAX_NODES, MAX_EDGES)
    layout = lay_out(shown, _SIZE)
    legend_width = max(layout.width, _LEAST_WIDTH - _AXIS - _MARGIN)
    legend, legend_height = _legend(shown, legend_width)
    width = _AXIS + legend_width + _MARGIN
    shift = _AXIS + (legend_width - layout.width) / 2
    height = _HEAD + layout.height + _MARGIN + legend_height + _MARGIN
    root = shown.nodes[shown.root]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-labelledby="title desc">',
        f'<title id="title">The braid of {_text(root.id)}</title>',
        f'<desc id="desc">{_text(describe(shown))}</desc>',
        f"<style>{_style()}</style>",
        _defs(),
        f'<rect class="paper" width="{width:.0f}" height="{height:.0f}"/>',
        f'<text class="head" x="{_MARGIN}" y="30">{_text(root.id)}</text>',
        f'<text class="dim" x="{_MARGIN}" y="49">{_text(_summary(shown))}</text>',
        _axis(shown, layout, width),
        f'<g transform="translate({shift:.1f} {_HEAD})">',
        *(_route(route) for route in layout.routes),
        *(_box(node, layout.places[index], index == shown.root) for index, node in shown.nodes.items()),
        "</g>",
        f'<g transform="translate({_AXIS} {_HEAD + layout.height + _MARGIN:.1f})">{legend}</g>',
        "</svg>",
    ]
    return "\n".join(parts)


def describe(graph: Graph) -> str:
    """Return the drawing in words, for who can't see it: what is there, and each link."""
    count = f"{len(graph.nodes)} records and {len(graph.edges)} links, oldest first. "
    said = [
        f"{title_of(graph.nodes[edge.source])} {graph.nodes[edge.source].id} names "
        f"{title_of(graph.nodes[edge.target])} {graph.nodes[edge.target].id} as {edge.role}."
        for edge in sorted(graph.edges)[:50]
    ]
    rest = len(graph.edges) - len(said)
    return count + " ".join(said) + (f" And {rest} more links." if rest > 0 else "")


def _summary(graph: Graph) -> str:
    counted = f"{many(len(graph.nodes), 'record')}, {many(len(graph.edges), 'link')}"
    left = f"; {many(graph.left_out, 'link')} further away not drawn" if graph.left_out else ""
    return f"{counted}; time goes down, an arrow leads to what was made of a record{left}"


def _text(text: str) -> str:
    """Return untrusted text for XML: escaped, and without the characters that XML can't hold."""
    return escape(_NOT_XML.sub("\ufffd", text))


def fit(text: str, cells: int) -> str:
    """Return one line that takes at most so many cells; characters of East Asia take two."""
    cleaned = short(text, 4 * cells)
    used = 0
    for place, char in enumerate(cleaned):
        used += 2 if unicodedata.east_asian_width(char) in "WF" else 0 if unicodedata.combining(char) else 1
        if used > cells:
            return cleaned[: max(place - 1, 0)] + "…"
    return cleaned


def wrap(text: str, cells: int) -> list[str]:
    """Return the beginning of a text as one or two lines, parted at a blank where there is one."""
    whole = fit(text, 2 * cells)
    if fit(whole, cells) == whole:
        return [whole]
    first = fit(text, cells).removesuffix("…")
    if " " in first and not whole.startswith(first + " "):
        first = first.rpartition(" ")[0]
    return [first, fit(short(text, 8 * cells)[len(first) :].lstrip(), cells)]


def _style() -> str:
    light = [
        ".paper{fill:#fff}text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2328}",
        ".head{font-size:15px;font-weight:600}.name{font-size:12.5px;font-weight:600}",
        ".dim,.time{font-size:11.5px;fill:#57606a}",
        ".said{font-size:11.5px}",
        ".tick{stroke:#d1d9e0;stroke-width:1}.box{stroke-width:1.5}.root{stroke-width:4}.gone{stroke-dasharray:5 4}",
        ".link{fill:none}",
    ]
    dark = [".paper{fill:#0d1117}text{fill:#e6edf3}.dim,.time{fill:#9198a1}.tick{stroke:#3d444d}"]
    for kind, (fill, line, dark_fill, dark_line) in _COLOURS.items():
        light.append(f".k-{kind}{{fill:{fill};stroke:{line}}}")
        dark.append(f".k-{kind}{{fill:{dark_fill};stroke:{dark_line}}}")
    for role, (line, dark_line) in _ROLE_COLOURS.items():
        dash, weight = _LINES[role]
        dashes = f";stroke-dasharray:{dash}" if dash else ""
        light.append(f".r-{role}{{stroke:{line};stroke-width:{weight}{dashes}}}.a-{role}{{fill:{line}}}")
        dark.append(f".r-{role}{{stroke:{dark_line}}}.a-{role}{{fill:{dark_line}}}")
    return "".join(light) + "@media (prefers-color-scheme:dark){" + "".join(dark) + "}"


def _defs() -> str:
    arrows = "".join(
        f'<marker id="arrow-{role}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path class="a-{role}" d="M0 0 8 4 0 8Z"/></marker>'
        for role in _LINES
    )
    return f"<defs>{arrows}</defs>"


def _axis(graph: Graph, layout: Layout, width: float) -> str:
    """Draw each layer's time: the day where it changes, and the time of day of its first record."""
    parts = ['<g aria-hidden="true">']
    day = ""
    for at, layer in enumerate(layout.layers):
        middle = _HEAD + at * (_SIZE.height + _SIZE.gap_y) + _SIZE.height / 2
        date, _, clock = time_of(graph.nodes[layer[0]]).partition(" ")
        parts.append(
            f'<line class="tick" x1="{_AXIS - 12}" x2="{width - _MARGIN / 2:.0f}" y1="{middle:.1f}" y2="{middle:.1f}"/>'
        )
        if date != day:
            parts.append(f'<text class="name" x="{_MARGIN}" y="{middle - 6:.1f}">{date}</text>')
            day = date
        parts.append(f'<text class="time" x="{_MARGIN}" y="{middle + 9:.1f}">{clock}</text>')
    return "".join([*parts, "</g>"])


def _route(route: Route) -> str:
    """Draw a link: smooth between layers, straight past one, its role beside it in the middle of its first stretch."""
    points = route.points
    path = f"M{points[0].x:.1f} {points[0].y:.1f}"
    for k in range(0, len(points) - 1, 2):
        start, end = points[k], points[k + 1]
        bend = (end.y - start.y) / 2
        path += f"C{start.x:.1f} {start.y + bend:.1f} {end.x:.1f} {end.y - bend:.1f} {end.x:.1f} {end.y:.1f}"
        if k + 2 < len(points):
            path += f"L{points[k + 2].x:.1f} {points[k + 2].y:.1f}"
    role = route.edge.role if route.edge.role in _LINES else "parent"
    return (
        f'<path class="link r-{role}" d="{path}" marker-end="url(#arrow-{role})">'
        f"<title>{_text(route.edge.role)}</title></path>"
    )


def _box(node: TraceNode, at: Point, is_root: bool) -> str:
    kind, marks = kind_of(node), marks_of(node)
    css = f"box k-{kind}" + (" root" if is_root else "") + (" gone" if node.erased or node.forgotten else "")
    x, y = at.x - _SIZE.width / 2, at.y - _SIZE.height / 2
    head = title_of(node) + (f" ({', '.join(marks)})" if marks else "")
    told = [head, node.id, time_of(node)] + (
        [short(node.said.text, _TOLD)] if node.said and node.said.text else []
    )
    words = wrap(node.said.text, 30) if node.said and node.said.text else []
    told_lines = "".join(
        f'<text class="said" x="{_SIZE.width / 2}" y="{38 + 15 * k}" text-anchor="middle">{_text(words[k])}</text>'
        for k in range(len(words))
    )
    return (
        f'<g transform="translate({x:.1f} {y:.1f})"><title>{_text(chr(10).join(told))}</title>'
        f'<path class="{css}" d="{outline(kind, _SIZE.width, _SIZE.height)}"/>'
        f'<text class="name" x="{_SIZE.width / 2}" y="21" text-anchor="middle">{_text(fit(head, 26))}</text>'
        f"{told_lines}"
        f'<text class="time" x="{_SIZE.width / 2}" y="70" text-anchor="middle">'
        f"record {node.index}, {time_of(node)[11:]}</text></g>"
    )


def outline(kind: str, w: float, h: float) -> str:
    """Return the path of a kind's shape in a box of this size."""
    if kind == "experience":
        return _rounded(w, h, 10)
    if kind == "affect":
        return _rounded(w, h, h / 2)
    return {
        "view": f"M16 0H{w}L{w - 16} {h}H0Z",
        "stance": f"M16 0H{w - 16}L{w} {h / 2}L{w - 16} {h}H16L0 {h / 2}Z",
        "embedding": f"M0 0H{w}V{h}H0ZM7 0V{h}M{w - 7} 0V{h}",
        "tombstone": f"M0 {h}V26A26 26 0 0 1 26 0H{w - 26}A26 26 0 0 1 {w} 26V{h}Z",
        "event": f"M0 0H{w - 16}L{w} 16V{h}H0ZM{w - 16} 0V16H{w}",
        "key": f"M14 0H{w - 14}L{w} 14V{h - 14}L{w - 14} {h}H14L0 {h - 14}V14Z",
        "genesis": f"M0 0H{w}V{h}H0ZM5 5H{w - 5}V{h - 5}H5Z",
    }.get(kind, f"M0 0H{w}V{h}H0Z")


def _rounded(w: float, h: float, r: float) -> str:
    return (
        f"M{r} 0H{w - r}A{r} {r} 0 0 1 {w} {r}V{h - r}A{r} {r} 0 0 1 {w - r} {h}"
        f"H{r}A{r} {r} 0 0 1 0 {h - r}V{r}A{r} {r} 0 0 1 {r} 0Z"
    )


def _legend(graph: Graph, width: float) -> tuple[str, float]:
    """Return the kinds and the roles that the drawing shows, each with its shape or line, and the height."""
    kinds = [kind for kind in _COLOURS if any(kind_of(node) == kind for node in graph.nodes.values())]
    roles = [role for role in _LINES if any(edge.role == role for edge in graph.edges)]
    items = [
        f'<g transform="scale(.3 .36)"><path class="box k-{kind}" d="{outline(kind, 104, 60)}"/></g>'
        f'<text class="said" x="42" y="15">{kind}</text>'
        for kind in kinds
    ] + [
        f'<path class="link r-{role}" d="M0 11H32" marker-end="url(#arrow-{role})"/>'
        f'<text class="said" x="42" y="15">{_text(role)}</text>'
        for role in roles
    ]
    across = max(int(width // _ITEM), 1)
    placed = [
        f'<g transform="translate({k % across * _ITEM} {26 + k // across * 30})">{item}</g>'
        for k, item in enumerate(items)
    ]
    heading = '<text class="name" x="0" y="12">Shapes and lines</text>'
    return heading + "".join(placed), 26 + -(-len(items) // across) * 30
