"""Which entities stand in the middle of what is known, by rustworkx (the extra `graph`): imported here alone."""

from collections import Counter
from typing import Final

from braid.knowledge.graph import ENTITY, graph_of
from braid.knowledge.graph_operations import AskCentrality, CentralEntity, Centrality
from braid.session import Session

MOST_BETWEEN: Final = 5_000
"""Of more entities betweenness is left out: its work grows with their number times that of their relations."""


def central(session: Session, asked: AskCentrality) -> Centrality:
    """Return the most central entities of a scope; ValueError where rustworkx isn't installed."""
    try:
        import rustworkx
    except ModuleNotFoundError as error:
        raise ValueError('rustworkx is not installed: pip install "braid-store[graph]"') from error

    known = graph_of(session, asked, asked.trust)
    entities = {one.id: one for one in known.nodes if one.kind == ENTITY}
    pairs = Counter(
        (min(edge.source, edge.target), max(edge.source, edge.target))
        for edge in known.edges
        if edge.polarity and edge.source != edge.target and {edge.source, edge.target} <= entities.keys()
    )
    ids = list(dict.fromkeys(id for pair in pairs for id in pair))
    places = {id: place for place, id in enumerate(ids)}
    ties = [(places[one], places[other], float(count)) for (one, other), count in pairs.items()]
    both, one_way = rustworkx.PyDiGraph[str, float](), rustworkx.PyGraph[str, float]()
    both.add_nodes_from(ids)
    one_way.add_nodes_from(ids)
    one_way.add_edges_from(ties)
    both.add_edges_from([*ties, *((other, one, count) for one, other, count in ties)])
    ranks = rustworkx.pagerank(both, weight_fn=float)
    between = rustworkx.betweenness_centrality(one_way) if len(ids) <= MOST_BETWEEN else None
    found = [
        CentralEntity(
            id=id,
            name=entities[id].name,
            type=entities[id].type,
            mentions=entities[id].mentions,
            degree=one_way.degree(place),
            pagerank=round(ranks[place], 6),
            betweenness=None if between is None else round(between[place], 6),
        )
        for id, place in places.items()
    ]
    found.sort(key=lambda one: (-one.pagerank, one.name, one.id))
    return Centrality(entities=tuple(found[: asked.limit]), count=len(found))
