"""A subject's records and their links as GraphML, for Gephi, yEd, Cytoscape or networkx. Pure."""

from collections.abc import Iterator
from typing import Any, Final
from xml.etree import ElementTree as Tree

from braid.ledger.subject.format import HeldRecord, Holding, OtherRecord

_NODE: Final = {
    "index": "long",
    "kind": "string",
    "type": "string",
    "created_at": "string",
    "belongs": "string",
    "shared": "boolean",
    "forgotten": "boolean",
    "erased": "boolean",
    "text": "string",
}


def to_graphml(holding: Holding) -> bytes:
    """Return the directed graph of a holding: an edge leads from a record to the earlier one that it names."""
    root = Tree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for name, type_ in _NODE.items():
        Tree.SubElement(root, "key", {"id": name, "for": "node", "attr.name": name, "attr.type": type_})
    Tree.SubElement(root, "key", {"id": "role", "for": "edge", "attr.name": "role", "attr.type": "string"})
    graph = Tree.SubElement(root, "graph", id="braid", edgedefault="directed")
    for other in holding.others:
        _node(graph, other.id, _other(other))
    for held in holding.records:
        _node(graph, held.id, _held(held))
    known = {one.id for one in holding.records} | {one.id for one in holding.others}
    for number, (source, target, role) in enumerate(_edges(holding)):
        if source in known and target in known:
            edge = Tree.SubElement(graph, "edge", id=f"e{number}", source=source, target=target)
            Tree.SubElement(edge, "data", key="role").text = role
    Tree.indent(root)
    text: bytes = Tree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _edges(holding: Holding) -> Iterator[tuple[str, str, str]]:
    held = {record.id for record in holding.records}
    for record in holding.records:
        for link in record.links:
            yield record.id, link.id, link.role
        for link in record.linked_from:
            if link.id not in held:
                yield link.id, record.id, link.role


def _node(graph: Tree.Element, id: str, values: dict[str, str | int | bool]) -> None:
    node = Tree.SubElement(graph, "node", id=id)
    for name, value in values.items():
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        Tree.SubElement(node, "data", key=name).text = "".join(map(_xml, shown))


def _held(record: HeldRecord) -> dict[str, str | int | bool]:
    content: dict[str, Any] = record.record.get("content") or {}
    return {
        "index": record.index,
        "kind": record.kind,
        "type": record.type,
        "created_at": record.created_at,
        "belongs": record.belongs,
        "shared": record.shared,
        "forgotten": record.forgotten is not None,
        "erased": False,
        "text": str(content.get("text") or ""),
    }


def _other(record: OtherRecord) -> dict[str, str | int | bool]:
    return {
        "index": record.index,
        "kind": record.kind,
        "type": record.type,
        "created_at": record.created_at,
        "belongs": "other",
        "shared": False,
        "forgotten": record.forgotten,
        "erased": record.erased is not None,
        "text": "",
    }


def _xml(char: str) -> str:
    """Return a character, or what stands for one that XML can't hold."""
    code = ord(char)
    held = code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
    return char if held else "\ufffd"
