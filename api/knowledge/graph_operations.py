"""The graph of what is known: entities and values, the claims between them, and which entities stand in its middle."""

from datetime import datetime
from typing import Annotated

import msgspec

from braid.knowledge.entity_operations import EntityRef
from braid.ledger.errors import IntegrityError
from braid.ledger.record.source import BELIEVED, SourceClass
from braid.operation import Response, ScopedAsOf, operation
from braid.session import Session


class AskGraph(ScopedAsOf, frozen=True, kw_only=True):
    """Which part of the graph. `about`: what is claimed of an entity alone. `trust`: the lowest source class taken."""

    about: EntityRef | None = None
    trust: SourceClass = BELIEVED


class GraphNode(msgspec.Struct, frozen=True, kw_only=True):
    """An entity, or a value: what no entity is called.

    `type`: person, organisation, product, place or thing; of a value `value`. `owner`: whose memory it is of.
    `mentions`: how often claims speak of the entity.
    """

    id: str
    kind: str
    name: str
    type: str
    names: tuple[str, ...]
    owner: str
    mentions: int


class GraphEdge(msgspec.Struct, frozen=True, kw_only=True):
    """A living claim, from its subject to its object; `key` tells it from others between the same two.

    `p`: what it was worth when it was made. `privacy`: its level, L0 to L4, None where no gate gave one. It stands in
    `record` at `place`; `method` read it from the characters `starts` up to before `ends` of the text of `turn`.
    """

    source: str
    target: str
    key: str
    type: str
    rel: str
    says: str
    polarity: bool
    p: float
    hedge: str | None
    said_by: str | None
    source_class: SourceClass
    source_type: str
    since: datetime | None
    until: datetime | None
    said: datetime
    privacy: str | None
    method: str
    record: str
    place: int
    turn: str
    quote: str | None
    starts: int | None
    ends: int | None


class GraphOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """Which log a graph was made of, of how many records, by which version of the rules of mentions."""

    log: str
    records: int
    rules: str


class KnowledgeGraph(Response, frozen=True, kw_only=True):
    """The graph in node-link form, as NetworkX reads it: nodes in the order of the log, edges too."""

    directed: bool = True
    multigraph: bool = True
    graph: GraphOrigin
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


_ASKED = AskGraph(user_id="maya", about="Maya")
_ERRORS = (ValueError, IntegrityError)


@operation(AskGraph, KnowledgeGraph, access="read", cost="log", example=_ASKED, errors=_ERRORS)
def knowledge_graph(session: Session, asked: AskGraph) -> KnowledgeGraph:
    """Return what is known as a graph: who and what is spoken of, what is claimed, and the words each claim stands on.

    Claims of living records, contradicting ones too, each with its record, turn and quote. What is forgotten, erased or
    of a lower source class is not in it. Raises ValueError for `about` what no entity, or several, are called.
    """
    from braid.knowledge.graph import graph_of

    session.refresh()
    return graph_of(session, asked, asked.trust, asked.about)


class GraphMl(Response, frozen=True, kw_only=True):
    """A graph as a document of GraphML."""

    graphml: str


@operation(
    AskGraph, GraphMl, access="read", cost="log", returns="graphml", example=_ASKED, errors=_ERRORS
)  # fmt: skip
def knowledge_graphml(session: Session, asked: AskGraph) -> GraphMl:
    """Return what `knowledge_graph` does as GraphML. What XML can't say in a text is replaced by U+FFFD."""
    from braid.knowledge.graph import graph_of
    from braid.knowledge.graphml import written

    session.refresh()
    return GraphMl(graphml=written(graph_of(session, asked, asked.trust, asked.about)))


class AskCentrality(ScopedAsOf, frozen=True, kw_only=True):
    """Of whose entities, and how many at most, the most central first. `trust`: the lowest source class that counts."""

    trust: SourceClass = BELIEVED
    limit: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 20


class CentralEntity(msgspec.Struct, frozen=True, kw_only=True):
    """An entity, and where it stands among those that claims relate it to.

    `degree`: to how many others. `pagerank`: its share of a random walk over the claims. `betweenness`: the share of
    shortest ways that go through it, None in a large graph.
    """

    id: str
    name: str
    type: str
    mentions: int
    degree: int
    pagerank: float
    betweenness: float | None


class Centrality(Response, frozen=True, kw_only=True):
    """Entities, the most central first, of `count` that claims relate to others."""

    entities: tuple[CentralEntity, ...]
    count: int


@operation(
    AskCentrality,
    Centrality,
    access="read",
    cost="log",
    pages="entities",
    page_key=("id",),
    returns="entities",
    example=AskCentrality(user_id="maya"),
    errors=_ERRORS,
)
def centrality(session: Session, asked: AskCentrality) -> Centrality:
    """Return which entities stand in the middle of what is known: by PageRank, with degree and betweenness.

    Of the claims that relate two entities and don't deny it. Raises ValueError where rustworkx isn't installed.
    """
    from braid.knowledge.centrality import central

    session.refresh()
    return central(session, asked)
