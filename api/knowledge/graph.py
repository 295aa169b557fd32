"""The graph of what is known: entities and values are nodes, living claims are edges, each with what it stands on."""

from collections import defaultdict
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from braid.claims.question import utc
from braid.claims.topics import turn_index
from braid.knowledge.entities import EntityReader, entity_ids, found
from braid.knowledge.graph_operations import GraphEdge, GraphNode, GraphOrigin, KnowledgeGraph
from braid.learn.resolve.resolution import Entity
from braid.ledger.record.record import Claim, ExperienceBody
from braid.ledger.record.scope import owner_of
from braid.ledger.record.source import BELIEVED, SourceClass, is_least
from braid.log import drafts
from braid.operation import ScopedAsOf
from braid.session import Session
from braid.stance.claims import ALWAYS, FOREVER, RecordedClaim
from braid.stance.mentions import RULES, MentionRole
from braid.text.words import normal

ENTITY: Final = "entity"
VALUE: Final = "value"


def graph_of(
    session: Session, asked: ScopedAsOf, trust: SourceClass, topic: str | None = None
) -> KnowledgeGraph:
    """Return the graph of a scope; with a `topic`, what is claimed of that entity alone."""
    session.reader.need_vault()
    scope = drafts.scope_of(asked)
    size = session.size_at(asked.as_of, asked.as_of_time)
    reader = EntityReader(session, scope, size, trust=trust)
    known = reader.resolution()
    ids = entity_ids(known)
    entities = {one.id: _entity(one) for one in known.entities}
    named = _by_name(known.entities)
    about = found(known, topic).id if topic else None
    nodes = dict[str, GraphNode]()
    edges: list[GraphEdge] = []
    for said in reader.claims():
        record = reader.living(said.index)
        body = record.body
        assert isinstance(body, ExperienceBody)  # noqa: S101 - nothing else claims anything
        owner = owner_of(body.scope)
        names = named if not is_least(said.source, BELIEVED) else {}
        source, target = (
            entities.get(ids.get((said.index, said.k, role), "") or names.get((owner, normal(name)), ""))
            or _value(owner, name)
            for role, name in _ends(said.claim)
        )
        if about in (None, source.id, target.id):
            nodes |= {source.id: source, target.id: target}
            edges.append(_edge(session, said, body.provenance.method, source.id, target.id))
    origin = GraphOrigin(log=session.reader.origin, records=size or session.reader.size, rules=RULES)
    return KnowledgeGraph(graph=origin, nodes=tuple(nodes.values()), edges=tuple(edges))


def _ends(claim: Claim) -> tuple[tuple[MentionRole, str], tuple[MentionRole, str]]:
    return ("subject", claim.subject), ("object", claim.object)


def _by_name(entities: Iterable[Entity]) -> dict[tuple[str, str], str]:
    """Return the ids of entities by owner and name, of names that one alone has: who is who isn't for a claim to say
    that nobody believes, but whom it speaks of shows.
    """
    found = defaultdict[tuple[str, str], set[str]](set)
    for one in entities:
        for name in one.names:
            found[one.owner, normal(name)].add(one.id)
    return {name: id for name, (id, *others) in found.items() if not others}


def _entity(one: Entity) -> GraphNode:
    return GraphNode(
        id=one.id, kind=ENTITY, name=one.name, type=one.type, names=one.names, owner=one.owner,
        mentions=len(one.mentions),
    )  # fmt: skip


def _value(owner: str, text: str) -> GraphNode:
    id = "val_" + sha256(f"{owner}\x1f{normal(text)}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return GraphNode(id=id, kind=VALUE, name=text, type=VALUE, names=(text,), owner=owner, mentions=0)


def _edge(session: Session, said: RecordedClaim, method: str, source: str, target: str) -> GraphEdge:
    claim = said.claim
    turn = session.reader.envelope(turn_index(session, said.index)).id
    return GraphEdge(
        source=source,
        target=target,
        key=f"{said.id}/{said.k}",
        type=claim.type,
        rel=claim.rel,
        says=said.text,
        polarity=claim.polarity,
        p=round(said.worth, 4),
        hedge=claim.hedge,
        said_by=claim.said_by,
        source_class=said.source,
        source_type=claim.source_type,
        since=None if said.since == ALWAYS else utc(said.since),
        until=None if said.until == FOREVER else utc(said.until),
        said=utc(said.said),
        privacy=claim.details.get("privacy"),
        method=method,
        record=said.id,
        place=said.k,
        turn=turn,
        quote=claim.quote,
        starts=claim.at,
        ends=None if claim.at is None or claim.quote is None else claim.at + len(claim.quote),
    )
