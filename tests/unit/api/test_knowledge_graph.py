"""The graph of what is known: what is in it, what isn't, and that others read it back."""

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import networkx
import pytest
import rustworkx

import braid
from braid.caller import GRANTS, Caller, asked_by
from braid.errors import AccessDeniedError
from braid.knowledge.graph_operations import GraphEdge, KnowledgeGraph
from braid.ledger.record.record import Claim, Confidence, Content, Draft, ExperienceBody, Provenance, Scope
from braid.store import Store
from braid.wire import to_builtins

NOW = datetime(2025, 6, 1, tzinfo=UTC)
HOSTILE = "]]></data><key id='x'/>&amp; <!--\"'\x1b[31m\x00\r\n\ufffe 🌊 \x85"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    ticks = iter(range(10**6))
    braid.init(tmp_path / "store", guard_dir=tmp_path / "guard", durability="none", clock=lambda: NOW)
    with braid.open(
        tmp_path / "store",
        guard_dir=tmp_path / "guard",
        clock=lambda: NOW + timedelta(seconds=next(ticks)),
    ) as opened:
        opened.followers.clear()  # nothing is read here but what a test says
        yield opened


def say(store: Store, text: str, user: str = "maya", **more: Any) -> str:
    return store.append(text, user_id=user, actor="user", session_id="s", **more)


def read(store: Store, turn: str, *claims: Claim, user: str = "maya") -> str:
    """Append what a reader found in a turn; return its id."""
    body = ExperienceBody(
        content=Content(text="it"),
        provenance=Provenance(actor="agent", method="read:tester@1"),
        symbolic=list(claims),
        scope=Scope(user_id=user, session_id="s"),
        confidence=Confidence(p=0.6, method="test"),
    )
    draft = Draft(kind="experience", type="inference", body=body, links=[("parent", turn)])
    return store.session.append_drafts([draft])[0].id


def claim(rel: str, object: str, subject: str = "Maya", **more: Any) -> Claim:
    return Claim(subject=subject, rel=rel, object=object, **more)


def said(graph: KnowledgeGraph) -> list[str]:
    return [edge.says for edge in graph.edges]


def named(graph: KnowledgeGraph) -> dict[str, tuple[str, str]]:
    return {node.name: (node.kind, node.type) for node in graph.nodes}


@pytest.fixture
def known(store: Store) -> tuple[Store, str, str]:
    """A store with claims of four sorts; the turn and the reading."""
    text = "I live in Porto and I like red wine. I don't know Bob. I can sail, says Nadia."
    turn = say(store, text)
    reading = read(
        store,
        turn,
        claim("lives_in", "Porto", type="relation", quote="live in Porto", at=2, valid_from=NOW),
        claim("likes", "red wine", type="preference", details={"privacy": "L2"}),
        claim("knows", "Bob", type="relation", polarity=False, valid_to=NOW + timedelta(days=9)),
        claim("can", "sail", type="skill", said_by="Nadia", hedge="I think", source_type="inferred"),
    )
    return store, turn, reading


def test_each_claim_is_an_edge_that_names_what_it_stands_on(known: tuple[Store, str, str]) -> None:
    store, turn, reading = known
    graph = store.knowledge_graph()
    assert named(graph) == {
        "Maya": ("entity", "person"),
        "Porto": ("entity", "place"),
        "red wine": ("value", "value"),
        "Bob": ("entity", "person"),
        "sail": ("value", "value"),
    }
    lives, likes, knows, can = graph.edges
    assert {(edge.record, edge.turn, edge.method) for edge in graph.edges} == {
        (reading, turn, "read:tester@1")
    }
    assert [edge.place for edge in graph.edges] == [0, 1, 2, 3]
    assert store.get(turn).text[lives.starts : lives.ends] == lives.quote == "live in Porto"
    assert (lives.since, lives.until, likes.starts) == (NOW, None, None)
    assert (knows.polarity, knows.until, likes.privacy) == (False, NOW + timedelta(days=9), "L2")
    assert (can.said_by, can.hedge, can.source_type, can.type) == ("Nadia", "I think", "inferred", "skill")
    assert 0 < can.p < likes.p == 0.6
    assert {edge.source_class for edge in graph.edges} == {"owner"}
    ids = {node.name: node.id for node in graph.nodes}
    assert ids["Maya"] == store.entity("Maya").id
    assert {(edge.source, edge.target) for edge in graph.edges} == {
        (ids["Maya"], ids[name]) for name in ("Porto", "red wine", "Bob", "sail")
    }
    assert (graph.graph.log, graph.graph.records) == (store.reader.origin, len(store))


def test_what_is_gone_is_not_in_it_and_the_past_has_what_was_known_then(store: Store) -> None:
    turns = [say(store, f"I visited {name}.") for name in ("Porto", "Ghent", "Leeds")]
    for turn, name in zip(turns, ("Porto", "Ghent", "Leeds"), strict=True):
        read(store, turn, claim("visited", name))
    size = len(store)
    store.forget(turns[0])
    store.correct(turns[1], "I did not.")
    assert said(store.knowledge_graph()) == ["Maya visited Leeds"]
    assert said(store.knowledge_graph(as_of=size - 1)) == ["Maya visited Ghent", "Maya visited Leeds"]
    store.erase(turns[2])
    assert (store.knowledge_graph().edges, store.knowledge_graph().nodes) == ((), ())
    assert "Leeds" not in store.knowledge_graphml(as_of=size - 1)
    store.recover(turns[0])
    assert said(store.knowledge_graph()) == ["Maya visited Porto"]


def test_each_memory_is_its_own(store: Store) -> None:
    read(store, say(store, "Porto!"), claim("visited", "Porto"))
    read(store, say(store, "Porto!", "noor"), claim("visited", "Porto", "Maya"), user="noor")
    both = store.knowledge_graph()
    assert (len(both.nodes), len(both.edges)) == (4, 2)
    (edge,) = store.knowledge_graph(user_id="noor").edges
    assert {node.owner for node in store.knowledge_graph(user_id="noor").nodes} == {"user_id:noor"}
    noor = Caller(name="noor's", kind="person", allowed=GRANTS["person"], user_id="noor")
    with asked_by(noor):
        assert store.knowledge_graph().edges == (edge,)
        assert store.knowledge_graphml().count("<edge ") == 1
        assert [one.name for one in store.centrality()] == ["Maya", "Porto"]
        with pytest.raises(AccessDeniedError):
            store.knowledge_graph(user_id="maya")
    with asked_by(Caller(name="writer", allowed=frozenset(("write",)))), pytest.raises(AccessDeniedError):
        store.knowledge_graph()


def test_outsiders_claims_are_in_it_where_they_are_asked_for_and_say_so(store: Store) -> None:
    read(store, say(store, "I live in Porto."), claim("lives_in", "Porto"))
    mail = say(store, "She lives in Hull.", tags=["words:outsider"])
    read(store, mail, claim("lives_in", "Hull", quote="lives in Hull"), claim("called", "Porto"))
    assert said(store.knowledge_graph()) == ["Maya lives in Porto"]
    assert said(store.knowledge_graph(trust="owner")) == ["Maya lives in Porto"]
    graph = store.knowledge_graph(trust="outsider")
    assert [edge.source_class for edge in graph.edges] == ["owner", "outsider", "outsider"]
    assert named(graph) == {
        "Maya": ("entity", "person"),
        "Porto": ("entity", "place"),
        "Hull": ("value", "value"),
    }  # nobody is joined on an outsider's word, but whom it speaks of shows
    assert len(store.knowledge_graph(trust="outsider", about="Maya").edges) == 3


def test_of_one_entity_there_is_what_is_claimed_of_it(known: tuple[Store, str, str]) -> None:
    store = known[0]
    read(store, say(store, "Bob has a dog."), claim("owns", "dog", "Bob"))
    assert said(store.knowledge_graph(about="Bob")) == ["Maya does not know Bob", "Bob owns dog"]
    assert named(store.knowledge_graph(about="Porto")).keys() == {"Maya", "Porto"}
    with pytest.raises(ValueError, match="no entity is called"):
        store.knowledge_graph(about="Zoe")


# -- read back --------------------------------------------------------------------------------------


def attributes(edge: GraphEdge) -> dict[str, Any]:
    own = {"source", "target", "key"}
    return {
        name: value
        for name, value in to_builtins(edge).items()
        if name not in own and value is not None and value != ""
    }


def test_node_link_json_is_what_networkx_reads(known: tuple[Store, str, str]) -> None:
    graph = known[0].knowledge_graph()
    read_back = networkx.node_link_graph(json.loads(json.dumps(to_builtins(graph))), edges="edges")
    assert isinstance(read_back, networkx.MultiDiGraph)
    assert (len(read_back), read_back.number_of_edges()) == (5, 4)
    edge = graph.edges[0]
    assert read_back.edges[edge.source, edge.target, edge.key]["quote"] == "live in Porto"
    assert read_back.nodes[edge.source]["names"] == ["Maya"]


def test_graphml_is_what_networkx_and_rustworkx_read(known: tuple[Store, str, str], tmp_path: Path) -> None:
    store, turn, _ = known
    read(store, turn, claim("likes", "red wine"))  # a second edge between the same two
    graph, text = store.knowledge_graph(), store.knowledge_graphml()
    read_back = networkx.read_graphml(BytesIO(text.encode()))
    for edge in graph.edges:
        assert read_back.edges[edge.source, edge.target, edge.key].items() >= attributes(edge).items()
    for node in graph.nodes:
        told = read_back.nodes[node.id]
        assert (told["name"], json.loads(told["names"])) == (node.name, list(node.names))
        assert told["mentions"] == node.mentions
    (tmp_path / "known.graphml").write_text(text)
    (also,) = rustworkx.read_graphml(str(tmp_path / "known.graphml"))
    assert (also.num_nodes(), also.num_edges()) == (5, 5)
    assert {edge["quote"] for edge in also.edges()} >= {"live in Porto"}


def test_hostile_words_stay_words(store: Store, tmp_path: Path) -> None:
    text = HOSTILE.replace("\x00", "")
    read(store, say(store, text), claim("likes", text, quote=text))
    told = store.knowledge_graphml()
    assert "\x1b" not in told
    read_back = networkx.read_graphml(BytesIO(told.encode()))
    ((*_, edge),) = read_back.edges(data=True)
    assert edge["quote"] == text.replace("\x1b", "\ufffd").replace("\ufffe", "\ufffd")
    (tmp_path / "known.graphml").write_bytes(told.encode())
    (also,) = rustworkx.read_graphml(str(tmp_path / "known.graphml"))
    assert [one["quote"] for one in also.edges()] == [edge["quote"]]


# -- centrality -------------------------------------------------------------------------------------


def test_the_middle_of_a_star_is_central_and_what_is_denied_is_no_tie(store: Store) -> None:
    turn = say(store, "Many.")
    friends = ("Ana", "Bea", "Cleo")
    read(store, turn, *(claim("friend", name) for name in friends), claim("friend", "Ana"))
    read(store, turn, claim("friend", "Dora", polarity=False), claim("likes", "red wine"))
    first, second, *rest = store.centrality()
    assert (first.name, first.degree, first.betweenness) == ("Maya", 3, 1.0)
    assert (second.name, second.degree, second.betweenness) == ("Ana", 1, 0.0)
    assert [one.name for one in rest] == ["Bea", "Cleo"]
    assert first.pagerank > second.pagerank > rest[0].pagerank == rest[1].pagerank
    assert sum(one.pagerank for one in store.centrality()) == pytest.approx(1, abs=1e-5)
    assert [one.name for one in store.centrality(limit=1)] == ["Maya"]


def test_of_many_entities_betweenness_is_not_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    read(store, say(store, "Two."), claim("friend", "Ana"))
    monkeypatch.setattr("braid.knowledge.centrality.MOST_BETWEEN", 1)
    assert [one.betweenness for one in store.centrality()] == [None, None]


def test_without_relations_nothing_is_central_and_without_the_library_it_says_what_to_install(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store.centrality() == ()
    monkeypatch.setitem(sys.modules, "rustworkx", None)
    with pytest.raises(ValueError, match=r"braid-store\[graph\]"):
        store.centrality()
    assert store.knowledge_graph().edges == ()
