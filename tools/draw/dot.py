"""A trace in Graphviz's language: `braid trace ID --dot | dot -Tpdf -o braid.pdf`. Pure."""

from typing import Final

from braid.tools.cli.output import many
from braid.tools.draw.graph import Graph, kind_of, label_lines

_SHAPES: Final = {
    "experience": ("box", "rounded,filled", "#dbeafe"),
    "view": ("parallelogram", "filled", "#ede9fe"),
    "stance": ("hexagon", "filled", "#dcfce7"),
    "affect": ("ellipse", "filled", "#fce7f3"),
    "embedding": ("cylinder", "filled", "#e0f2fe"),
    "tombstone": ("house", "filled", "#e5e7eb"),
    "key": ("octagon", "filled", "#fef9c3"),
    "event": ("note", "filled", "#ffedd5"),
    "genesis": ("box3d", "filled", "#f3f4f6"),
    "other": ("box", "dashed", "#ffffff"),
}
_STYLES: Final = {"supersedes": "bold", "evidence": "dashed", "target": "dotted", "kept": "dotted"}


def to_dot(graph: Graph) -> str:
    """Return the graph in DOT; an arrow leads from what was there to what was made of it."""
    lines = [
        "digraph braid {",
        '  graph [rankdir=TB, fontname="sans-serif", tooltip="braid"];',
        '  node [fontname="sans-serif", fontsize=11];',
        '  edge [fontname="sans-serif", fontsize=9, color="#57606a"];',
    ]
    if graph.left_out:
        lines.append(f'  label="{many(graph.left_out, "link")} not shown"; labelloc=b;')
    for index, node in graph.nodes.items():
        shape, style, fill = _SHAPES[kind_of(node)]
        label = "\\n".join(map(quote, label_lines(node)))
        width = ", penwidth=3" if index == graph.root else ""
        lines.append(
            f'  "r{index}" [label="{label}", tooltip="{quote(node.id)}", shape={shape}, '
            f'style="{style}", fillcolor="{fill}", fontcolor="#1f2328"{width}];'
        )
    for edge in graph.edges:
        style = _STYLES.get(edge.role, "solid")
        lines.append(f'  "r{edge.target}" -> "r{edge.source}" [label="{quote(edge.role)}", style={style}];')
    return "\n".join([*lines, "}"])


def quote(text: str) -> str:
    """Return text for between double quotes: no backslash sequence of DOT's, no entity of HTML's."""
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
