"""A subject's records and their links as GraphML, for Gephi, yEd, Cytoscape or networkx. Pure."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final
from xml.etree import ElementTree as Tree

from braid.ledger.subject.format import HeldRecord, OtherRecord

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


def to_graphml(records: Callable[[], Iterable[HeldRecord]], others: Iterable[OtherRecord]) -> Iterator[bytes]:
    """Yield the directed graph of a holding: an edge leads from a record to the earlier one that it names.

    `records` is gone through twice, so that none needs to stay in memory: nodes come first, then edges.
    """
    yield b'<?xml version="1.0" encoding="utf-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for name, type_ in _NODE.items():
        yield _element(
            Tree.Element("key", {"id": name, "for": "node", "attr.name": name, "attr.type": type_})
        )
    yield _element(
        Tree.Element("key", {"id": "role", "for": "edge", "attr.name": "role", "attr.type": "string"})
    )
    yield b'<graph id="braid" edgedefault="directed">\n'
    known: set[str] = set()
    for other in others:
        known.add(other.id)
        yield _node(other.id, _other(other))
    held: set[str] = set()
    for record in records():
        held.add(record.id)
        yield _node(record.id, _held(record))
    known |= held
    for number, (source, target, role) in enumerate(_edges(records(), held)):
        if source in known and target in known:
            edge = Tree.Element("edge", id=f"e{number}", source=source, target=target)
            Tree.SubElement(edge, "data", key="role").text = role
            yield _element(edge)
    yield b"</graph>\n</graphml>\n"


def _edges(records: Iterable[HeldRecord], held: set[str]) -> Iterator[tuple[str, str, str]]:
    for record in records:
        for link in record.links:
            yield record.id, link.id, link.role
        for link in record.linked_from:
            if link.id not in held:
                yield link.id, record.id, link.role


def _node(id: str, values: dict[str, str | int | bool]) -> bytes:
    node = Tree.Element("node", id=id)
    for name, value in values.items():
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        Tree.SubElement(node, "data", key=name).text = "".join(map(_xml, shown))
    return _element(node)


def _element(element: Tree.Element) -> bytes:
    Tree.indent(element, level=0)
    text: bytes = Tree.tostring(element, encoding="utf-8")
    return text + b"\n"


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
