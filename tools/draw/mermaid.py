"""A trace as a Mermaid flow chart, which Markdown pages show. Pure."""

from typing import Final

from braid.tools.cli.output import many
from braid.tools.draw.graph import Graph, kind_of, label_lines

MAX_NODES: Final = 200
MAX_EDGES: Final = 480
"""Mermaid draws at most 500 links unless it is told otherwise."""
_SHAPES: Final = {
    "experience": ("(", ")"),
    "view": ("[/", "/]"),
    "stance": ("{{", "}}"),
    "affect": ("([", "])"),
    "embedding": ("[(", ")]"),
    "tombstone": ("[/", "\\]"),
    "key": ("[[", "]]"),
    "event": (">", "]"),
    "genesis": ("[[", "]]"),
    "other": ("[", "]"),
}
_FILLS: Final = {
    "experience": "#dbeafe",
    "view": "#ede9fe",
    "stance": "#dcfce7",
    "affect": "#fce7f3",
    "embedding": "#e0f2fe",
    "tombstone": "#e5e7eb",
    "key": "#fef9c3",
    "event": "#ffedd5",
    "genesis": "#f3f4f6",
    "other": "#ffffff",
}
_ARROWS: Final = {"supersedes": "==>", "evidence": "-.->", "target": "-.->", "kept": "-.->"}
_PLAIN: Final = frozenset(" .,_-")


def to_mermaid(graph: Graph) -> str:
    """Return the part of the graph nearest to its root; an arrow leads from what was there to what was made of it."""
    shown = graph.nearest(MAX_NODES, MAX_EDGES)
    lines = ["flowchart TB"]
    for index, node in shown.nodes.items():
        left, right = _SHAPES[kind_of(node)]
        label = "<br/>".join(map(quote, label_lines(node)))
        lines.append(f'  r{index}{left}"{label}"{right}:::{kind_of(node)}')
    for edge in shown.edges:
        arrow = _ARROWS.get(edge.role, "-->")
        lines.append(f'  r{edge.target} {arrow}|"{quote(edge.role)}"| r{edge.source}')
    if shown.left_out:
        lines.append(f'  note["{many(shown.left_out, "link")} not shown"]:::other')
    kinds = sorted({kind_of(node) for node in shown.nodes.values()} | {"other"})
    lines += [f"  classDef {kind} fill:{_FILLS[kind]},stroke:#57606a,color:#1f2328" for kind in kinds]
    lines.append(f"  style r{shown.root} stroke-width:3px")
    return "\n".join(lines)


def quote(text: str) -> str:
    """Return text for between double quotes: all but letters, digits and plain signs as Mermaid's `#code;`."""
    return "".join(char if char.isalnum() or char in _PLAIN else f"#{ord(char)};" for char in text)
