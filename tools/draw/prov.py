"""A trace as W3C PROV (PROV-DM) in its JSON form (PROV-JSON, member submission of 24 April 2013). Pure.

Records are entities, named by their ids; the transaction that recorded a record, or the derivation that made it, is
the activity that generated it; keys, and actors where bodies were read, are agents. Names are stable: the same record
has the same URI in every document.
"""

import json
from typing import Any, Final
from urllib.parse import quote

from braid.ledger.read.trace import TraceNode
from braid.ledger.record.envelope import DERIVATION_ROLES
from braid.tools.draw.graph import Graph

VOCABULARY: Final = "https://braid.local/prov#"
_Members = dict[str, Any]


def to_prov(graph: Graph, origin: str) -> str:
    """Return the graph as PROV-JSON, indented. `origin` is that of the log: all names are below it."""
    return json.dumps(prov_document(graph, origin), ensure_ascii=True, indent=2)


def prov_document(graph: Graph, origin: str) -> dict[str, _Members]:
    """Return the graph as the members of a PROV-JSON document."""
    document = _Document(origin)
    made = {edge.source for edge in graph.edges if edge.role in DERIVATION_ROLES}
    for node in graph.nodes.values():
        document.record(node, derived=node.index in made)
    for number, edge in enumerate(graph.edges):
        if edge.source in graph.nodes and edge.target in graph.nodes:
            document.link(number, graph.nodes[edge.source], graph.nodes[edge.target], edge.role)
    return document.members()


class _Document:
    """The members of a PROV-JSON document, each a mapping from name to attributes."""

    def __init__(self, origin: str) -> None:
        base = f"https://{origin}/"
        self._prefix = {
            "braid": VOCABULARY,
            "record": f"{base}record/",
            "tx": f"{base}transaction/",
            "derivation": f"{base}derivation/",
            "ending": f"{base}ending/",
            "key": f"{base}key/",
            "actor": f"{base}actor/",
        }
        self._members: dict[str, _Members] = {}

    def members(self) -> dict[str, _Members]:
        return {"prefix": self._prefix, **self._members}

    def _add(self, member: str, name: str, attributes: _Members) -> None:
        self._members.setdefault(member, {})[name] = attributes

    def record(self, node: TraceNode, *, derived: bool) -> None:
        """Add a record with what generated it, who signed it, and what ended it."""
        entity, key = _record(node.id), f"key:{node.key}"
        attributes: _Members = {
            "prov:type": _name(f"braid:{node.kind}"),
            "prov:label": node.id,
            "braid:index": node.index,
        }
        if node.type:
            attributes["braid:type"] = node.type
        if node.disputed:
            attributes["braid:disputed"] = True
        if node.said and node.said.text:
            attributes["braid:text"] = node.said.text
        if node.said and node.said.occurred_at:
            attributes["braid:occurred_at"] = node.said.occurred_at
        self._add("entity", entity, attributes)
        activity = self._activity(node, derived=derived)
        self._add(
            "wasGeneratedBy",
            f"_:generation{node.index}",
            {"prov:entity": entity, "prov:activity": activity, "prov:time": node.created_at},
        )
        self._add("agent", key, {"prov:type": _name("braid:Key"), "braid:role": node.author or "unknown"})
        self._add("wasAttributedTo", f"_:signature{node.index}", {"prov:entity": entity, "prov:agent": key})
        self._add(
            "wasAssociatedWith",
            f"_:association{node.index}",
            {"prov:activity": activity, "prov:agent": key, "prov:role": "author"},
        )
        self._actor(node, entity, key)
        self._end(node, entity)

    def _activity(self, node: TraceNode, *, derived: bool) -> str:
        """Add what generated the record: a derivation where it has sources, else the transaction it came in with."""
        wal = f"wal_{node.tx:06d}"
        times = {"prov:startTime": node.created_at, "prov:endTime": node.created_at}
        if not derived:
            self._add("activity", f"tx:{wal}", {**times, "prov:type": _name("braid:Transaction")})
            return f"tx:{wal}"
        attributes: _Members = {**times, "prov:type": _name("braid:Derivation"), "braid:transaction": wal}
        if node.said and node.said.method:
            attributes["braid:method"] = node.said.method
        if node.said and node.said.lens:
            attributes["braid:lens"] = node.said.lens
        name = f"derivation:{_local(node.id)}"
        self._add("activity", name, attributes)
        return name

    def _actor(self, node: TraceNode, entity: str, key: str) -> None:
        """Where bodies were read: the words are the actor's, and the key recorded them for it."""
        if not (node.said and node.said.actor):
            return
        agent = f"actor:{_local(node.said.name or node.said.actor)}"
        self._add(
            "agent",
            agent,
            {"prov:type": _name("braid:Actor"), "prov:label": node.said.name or node.said.actor},
        )
        self._add("wasAttributedTo", f"_:words{node.index}", {"prov:entity": entity, "prov:agent": agent})
        self._add(
            "actedOnBehalfOf", f"_:recording{node.index}", {"prov:delegate": key, "prov:responsible": agent}
        )

    def _end(self, node: TraceNode, entity: str) -> None:
        if not node.gone_by:
            return
        activity = f"ending:{_local(node.gone_by)}"
        kind = "braid:Erasure" if node.erased else "braid:Forgetting"
        self._add(
            "activity",
            activity,
            {"prov:startTime": node.gone_at, "prov:endTime": node.gone_at, "prov:type": _name(kind)},
        )
        self._add(
            "wasInvalidatedBy",
            f"_:end{node.index}",
            {"prov:entity": entity, "prov:activity": activity, "prov:time": node.gone_at},
        )

    def link(self, number: int, source: TraceNode, target: TraceNode, role: str) -> None:
        """Add a link: a derivation, with what its activity used; a revision; or an influence."""
        newer, older = _record(source.id), _record(target.id)
        if role not in DERIVATION_ROLES and role != "supersedes":
            self._add(
                "wasInfluencedBy",
                f"_:influence{number}",
                {"prov:influencee": newer, "prov:influencer": older, "prov:type": _name(f"braid:{role}")},
            )
            return
        derivation: _Members = {"prov:generatedEntity": newer, "prov:usedEntity": older}
        if role == "supersedes":
            derivation["prov:type"] = _name("prov:Revision")
        else:
            activity = f"derivation:{_local(source.id)}"
            derivation |= {"prov:activity": activity, "prov:type": _name(f"braid:{role}")}
            self._add(
                "used",
                f"_:use{number}",
                {"prov:activity": activity, "prov:entity": older, "prov:role": role},
            )
        self._add("wasDerivedFrom", f"_:derivation{number}", derivation)


def _record(id: str) -> str:
    return f"record:{_local(id)}"


def _local(text: str) -> str:
    """Return text as the local part of a qualified name: PROV-N would have to escape a colon, so it is encoded."""
    return quote(text, safe="")


def _name(qualified: str) -> _Members:
    return {"$": qualified, "type": "prov:QUALIFIED_NAME"}
