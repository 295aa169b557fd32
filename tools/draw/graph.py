"""A trace as nodes and links, each once: what every drawing is made from. Pure."""

import re
import unicodedata
from collections import deque
from typing import Final, NamedTuple

import msgspec

from braid.ledger.read.trace import TraceNode
from braid.tools.cli.output import line

SHAPED_KINDS: Final = (
    "experience", "view", "stance", "affect", "embedding", "tombstone", "key", "event", "genesis",
)  # fmt: skip
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Edge(NamedTuple):
    """A link: the record at `source` names the earlier one at `target`, in a role."""

    source: int
    target: int
    role: str


class Graph(msgspec.Struct, frozen=True):
    """The records of a trace by log index, the nearest to its root first, and the links between them."""

    root: int
    nodes: dict[int, TraceNode]
    edges: list[Edge]
    left_out: int = 0
    """Links that are not drawn: too deep, or too many."""

    def nearest(self, nodes: int, edges: int | None = None) -> "Graph":
        """Return the part nearest to the root, of at most so many records and links."""
        kept = dict(list(self.nodes.items())[:nodes])
        among = [edge for edge in self.edges if edge.source in kept and edge.target in kept][:edges]
        return Graph(self.root, kept, among, self.left_out + len(self.edges) - len(among))


def graph_of(trace: TraceNode) -> Graph:
    """Return a trace as a graph: a record that hangs on several paths stands in it once."""
    nodes: dict[int, TraceNode] = {}
    edges: dict[Edge, None] = {}
    left_out = 0
    queue = deque([trace])
    while queue:
        node = queue.popleft()
        if not node.seen_above:
            nodes.setdefault(node.index, node)
        left_out += node.more
        for above in node.up:
            edges[Edge(node.index, above.index, above.role)] = None
        for below in node.down:
            edges[Edge(below.index, node.index, below.role)] = None
        queue += [*node.up, *node.down]
    return Graph(trace.index, nodes, list(edges), left_out)


def kind_of(node: TraceNode) -> str:
    """Return what is drawn as the record's kind; one that this release doesn't know is `other`."""
    return node.kind if node.kind in SHAPED_KINDS else "other"


def title_of(node: TraceNode) -> str:
    """Return the record's kind and type in words."""
    return node.type or node.kind


def marks_of(node: TraceNode) -> list[str]:
    """Return what else holds of the record, in words."""
    held = (("erased", node.erased), ("forgotten", node.forgotten), ("disputed", node.disputed))
    return [word for word, holds in held if holds]


def time_of(node: TraceNode) -> str:
    """Return when the record was made, to the second."""
    return node.created_at[:19].replace("T", " ") + "Z"


def short(text: str, cells: int) -> str:
    """Return untrusted text as one line of at most so many characters, with nothing that steers or reorders."""
    cleaned = line(text)
    return cleaned if len(cleaned) <= cells else cleaned[: cells - 1] + "…"


def label_lines(node: TraceNode, cells: int = 48) -> list[str]:
    """Return the lines that describe a record: type and marks, time, id, and its first words where they are known."""
    head = title_of(node)
    if marks := marks_of(node):
        head += f" ({', '.join(marks)})"
    lines = [head, time_of(node), node.id]
    if node.said and node.said.text:
        lines.append(short(node.said.text, cells))
    return lines


def printable(text: str) -> str:
    """Return untrusted text without the characters that XML can't hold."""
    return _NOT_XML.sub("\ufffd", text)


def fit(text: str, cells: int) -> str:
    """Return one line that takes at most so many cells; characters of East Asia take two."""
    cleaned, used = short(text, 4 * cells), 0
    for place, char in enumerate(cleaned):
        used += 2 if unicodedata.east_asian_width(char) in "WF" else 0 if unicodedata.combining(char) else 1
        if used > cells:
            return cleaned[: max(place - 1, 0)] + "…"
    return cleaned


def describe(graph: Graph) -> str:
    """Return the drawing in words, for who can't see it: what is there, and the first links."""
    said = [
        f"{title_of(graph.nodes[edge.source])} {graph.nodes[edge.source].id} names "
        f"{title_of(graph.nodes[edge.target])} {graph.nodes[edge.target].id} as {edge.role}."
        for edge in sorted(graph.edges)[:50]
    ]
    rest = f" And {len(graph.edges) - 50} more links." if len(graph.edges) > 50 else ""
    return printable(f"{len(graph.nodes)} records and {len(graph.edges)} links. {' '.join(said)}{rest}")
