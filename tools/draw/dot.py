"""A trace in Graphviz's language: `braid trace ID --dot | dot -Tpdf -o braid.pdf`; and as Graphviz draws it."""

import shutil
import subprocess
from html import escape
from typing import Final

from braid.tools.cli.output import line, many
from braid.tools.draw.graph import Graph, describe, kind_of, label_lines, printable

GRAPHVIZ_S: Final = 20.0
"""How long Graphviz may take; a braid of many crossings is drawn in layers after that."""

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
    """Return text for between double quotes: no control character, no escape of DOT's, no entity of HTML's."""
    return printable(line(text)).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


def by_graphviz(graph: Graph) -> str | None:
    """Return the graph as Graphviz draws it; None where it is not installed, fails, or takes too long."""
    program = shutil.which("dot")
    if program is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 - found on the user's own path; the graph is on its input
            [program, "-Tsvg"],
            input=to_dot(graph).encode(),
            capture_output=True,
            timeout=GRAPHVIZ_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    _, tag, rest = done.stdout.decode("utf-8", "replace").partition("<svg")
    attributes, end, body = rest.partition(">")
    return f'{tag} role="img"{attributes}{end}\n<desc>{escape(describe(graph))}</desc>{body}' if tag else None
