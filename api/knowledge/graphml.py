"""A graph of what is known as GraphML (graphml.graphdrawing.org), which NetworkX, rustworkx and Gephi read. Pure.

Texts are strangers' words: each stands in an element of its own, escaped; what XML has no character for is replaced.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, get_type_hints
from xml.sax.saxutils import escape, quoteattr

import msgspec

from braid.knowledge.graph_operations import GraphEdge, GraphNode, GraphOrigin, KnowledgeGraph

_HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns'
    ' http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">'
)
_TYPES: Final[dict[Any, str]] = {bool: "boolean", int: "long", float: "double"}
_KINDS: Final = (("graph", GraphOrigin), ("node", GraphNode), ("edge", GraphEdge))
_PLACED: Final = frozenset(("id", "key", "source", "target"))
"""Members that are attributes of their element."""
_NO_XML: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML has no character for, and what it advises against: control characters."""


def written(graph: KnowledgeGraph) -> str:
    """Return a graph as a document; lists are JSON in it, times ISO 8601, and what is None is left out."""
    return "\n".join(_lines(graph)) + "\n"


def _lines(graph: KnowledgeGraph) -> Iterator[str]:
    yield _HEAD
    for element, struct in _KINDS:
        for name, hint in get_type_hints(struct).items():
            if name not in _PLACED:
                type_ = next((_TYPES[one] for one in _TYPES if hint in (one, one | None)), "string")
                yield (f'<key id="{element}_{name}" for="{element}" attr.name="{name}" attr.type="{type_}"/>')
    yield '<graph id="knowledge" edgedefault="directed">'
    yield from _data("graph", graph.graph)
    for node in graph.nodes:
        yield f"<node id={_attribute(node.id)}>"
        yield from _data("node", node)
        yield "</node>"
    for edge in graph.edges:
        ends = f"source={_attribute(edge.source)} target={_attribute(edge.target)}"
        yield f"<edge id={_attribute(edge.key)} {ends}>"
        yield from _data("edge", edge)
        yield "</edge>"
    yield "</graph>\n</graphml>"


def _data(element: str, struct: msgspec.Struct) -> Iterator[str]:
    for name, value in msgspec.to_builtins(struct).items():
        if name not in _PLACED and value not in (None, ""):
            yield f'<data key="{element}_{name}">{_text(value)}</data>'


def _text(value: object) -> str:
    plain = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return escape(_NO_XML.sub("\ufffd", plain), {"\r": "&#13;"})


def _attribute(value: str) -> str:
    return quoteattr(_NO_XML.sub("\ufffd", value))
