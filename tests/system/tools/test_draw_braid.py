"""A trace drawn: PROV-JSON read by `prov`, DOT by `pydot`, Mermaid and SVG by their own rules; hostile text is text."""

import itertools
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as Tree

import pydot
import pytest
from prov.model import ProvDocument, ProvInvalidation

import braid
from braid.ledger.read.trace import BodyText, TraceNode
from braid.ledger.record.record import (
    AffectBody,
    Candidate,
    Content,
    Decision,
    Draft,
    EmbeddingBody,
    Signature,
    StanceBody,
    ViewBody,
)
from braid.tools.draw import dot
from braid.tools.draw.dot import to_dot
from braid.tools.draw.graph import Edge, Graph, fit, graph_of
from braid.tools.draw.mermaid import MAX_NODES as MERMAID_NODES
from braid.tools.draw.mermaid import to_mermaid
from braid.tools.draw.prov import to_prov
from braid.tools.draw.svg import MAX_NODES, in_layers, layers_of, places_of, to_svg

HOSTILE = '</text><script>alert(1)</script>"]; end --> %% \\N\\" &amp; `x` {{y}} \x1b[31m \u202egnp'
SVG = "{http://www.w3.org/2000/svg}"
Ids = dict[str, str]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[braid.Store, Ids]]:
    """A store with every kind of record and link that a trace can meet."""
    folder = tmp_path_factory.mktemp("drawn")
    with braid.open(folder / "memory", guard_dir=folder / "guard") as store:
        ids: Ids = {}
        ids["a"] = store.append(HOSTILE, user_id="maya", name="Maya <script>")
        ids["b"] = store.append("She asked about trains.", actor="agent")
        ids["c"] = store.append("She lives there.", type="inference", parents=[ids["a"], ids["b"]])
        view = ViewBody(lens="timeline", content=Content(text="by year"))
        ids["view"] = store.session.append_drafts(
            [Draft(kind="view", body=view, links=[("applied_to", ids["c"])])]
        )[0].id
        stance = StanceBody(
            question="Where?",
            candidates=[Candidate(claim="Porto", p=0.9)],
            decision=Decision(claim="Porto", residual_uncertainty=0.1),
        )
        links = [("candidate", ids["a"]), ("support", ids["c"])]
        ids["stance"] = store.session.append_drafts([Draft(kind="stance", body=stance, links=links)])[0].id
        affect = AffectBody(actor="user", stage="after", valence=0.4, arousal=0.3, dominance=0.2)
        ids["affect"] = store.session.append_drafts(
            [Draft(kind="affect", body=affect, links=[("experience", ids["a"])])]
        )[0].id
        batch = EmbeddingBody(signatures=[Signature(role="text", model="m")])
        ids["embedding"] = store.session.append_drafts(
            [Draft(kind="embedding", body=batch, links=[("experience", ids["b"])])]
        )[0].id
        ids["new"] = store.correct(ids["a"], "She moved to Lisbon.")
        ids["last"] = store.append("Sum", type="reconciliation", parents=[ids["c"]], evidence=[ids["stance"]])
        ids["gone"] = store.append("gone", type="inference", parents=[ids["a"]])
        store.forget(ids["b"])
        store.erase(ids["gone"])
        yield store, ids


def graph(drawn: tuple[braid.Store, Ids], *, text: bool = True) -> Graph:
    store, ids = drawn
    return graph_of(store.trace(ids["c"], text=text)).nearest(1_000)


def whole(drawn: tuple[braid.Store, Ids], *, text: bool = True) -> Graph:
    store, ids = drawn
    return graph_of(store.trace(ids["a"], text=text))


def test_a_graph_holds_each_record_and_each_link_once(drawn: tuple[braid.Store, Ids]) -> None:
    store, ids = drawn
    found = whole(drawn)
    assert len(found.edges) == len(set(found.edges))
    for edge in found.edges:
        assert (edge.role, edge.target) in {
            (link.role, link.index) for link in store.reader.links(edge.source)
        }
    expected = {
        store.reader.index_of(ids[name])
        for name in ("a", "c", "view", "stance", "affect", "new", "last", "gone")
    }
    assert expected <= set(found.nodes)
    assert found.nodes[found.root].id == ids["a"]
    assert found.left_out == 0


def test_nearest_counts_what_it_leaves_out(drawn: tuple[braid.Store, Ids]) -> None:
    found = whole(drawn)
    part = found.nearest(3)
    assert list(part.nodes) == list(found.nodes)[:3]
    assert part.left_out == len(found.edges) - len(part.edges) > 0


# PROV


def prov(drawn: tuple[braid.Store, Ids], *, text: bool = True) -> ProvDocument:
    return ProvDocument.deserialize(content=to_prov(whole(drawn, text=text), drawn[0].origin), format="json")


def test_prov_is_read_and_written_by_the_library_of_others(drawn: tuple[braid.Store, Ids]) -> None:
    document = prov(drawn)
    again = ProvDocument.deserialize(content=document.serialize(format="json"), format="json")
    assert again == document
    assert document.unified() == document, "a record that stands twice would be merged"
    assert document.get_provn().count("wasGeneratedBy(") == len(whole(drawn).nodes)


def statements(document: ProvDocument, name: str) -> list[dict[str, str]]:
    """The statements of one PROV relation, as a reader of the JSON sees them."""
    return list(json.loads(str(document.serialize(format="json"))).get(name, {}).values())


def local(name: str) -> str:
    return name.partition(":")[2].replace("%3A", ":")


def test_prov_says_what_was_derived_from_what_in_which_role(drawn: tuple[braid.Store, Ids]) -> None:
    _, ids = drawn
    document = prov(drawn)
    derived = {
        (local(one["prov:generatedEntity"]), local(one["prov:usedEntity"]))
        for one in statements(document, "wasDerivedFrom")
    }
    assert (ids["c"], ids["a"]) in derived
    assert (ids["stance"], ids["c"]) in derived
    assert (ids["new"], ids["a"]) in derived
    used = {(local(one["prov:activity"]), one["prov:role"]) for one in statements(document, "used")}
    assert {(ids["stance"], "candidate"), (ids["stance"], "support"), (ids["last"], "evidence")} <= used
    revisions = [
        one for one in statements(document, "wasDerivedFrom") if "Revision" in str(one.get("prov:type"))
    ]
    assert (local(revisions[0]["prov:generatedEntity"]), local(revisions[0]["prov:usedEntity"])) == (
        ids["new"],
        ids["a"],
    )


def test_prov_names_authors_and_endings(drawn: tuple[braid.Store, Ids]) -> None:
    store, ids = drawn
    document = prov(drawn)
    (ended,) = list(document.get_records(ProvInvalidation))
    assert local(str(ended.args[0])) == ids["gone"]
    assert ended.args[2] is not None
    key = store.get(ids["a"]).envelope.key
    attributed = {
        (local(one["prov:entity"]), one["prov:agent"]) for one in statements(document, "wasAttributedTo")
    }
    assert (ids["a"], f"key:{key}") in attributed
    assert (ids["a"], "actor:Maya%20%3Cscript%3E") in attributed
    assert all(one["prov:activity"] for one in statements(document, "wasGeneratedBy"))


def test_prov_names_are_stable(drawn: tuple[braid.Store, Ids]) -> None:
    store, ids = drawn
    one = json.loads(to_prov(graph_of(store.trace(ids["c"])), store.origin))
    other = json.loads(to_prov(graph_of(store.trace(ids["a"])), store.origin))
    shared = one["entity"].keys() & other["entity"].keys()
    assert shared
    assert all(one["entity"][name] == other["entity"][name] for name in shared)
    assert one["prefix"] == other["prefix"]


# DOT


@pytest.mark.filterwarnings("ignore:.*deprecated - use:DeprecationWarning")  # pydot's own, as it loads
def test_dot_is_read_by_graphviz_own_grammar(drawn: tuple[braid.Store, Ids]) -> None:
    found = whole(drawn)
    (parsed,) = pydot.graph_from_dot_data(to_dot(found)) or []
    edges = {
        (str(edge.get_source()).strip('"'), str(edge.get_destination()).strip('"'))
        for edge in parsed.get_edges()
    }
    assert edges == {(f"r{edge.target}", f"r{edge.source}") for edge in found.edges}
    names = {node.get_name().strip('"') for node in parsed.get_nodes()} - {"graph", "node", "edge"}
    assert names == {f"r{index}" for index in found.nodes}
    (hostile,) = parsed.get_node(f'"r{found.root}"')
    label = str(hostile.get("label"))
    assert "<script>" in label, "text, not markup: a quoted string of DOT's"
    assert '\\"]; end' in label


# Mermaid

_NODE = re.compile(r'  (r\d+|note)[(\[{>/]+"(?:[\w .,-]|<br/>|#\d+;)*"[)\]}\\/]+:::[a-z]+')
_LINK = re.compile(r'  r\d+ (?:-->|==>|-\.->)\|"[a-z_]+"\| r\d+')
_REST = re.compile(r"flowchart TB|  classDef [a-z]+ [\w:#,]+|  style r\d+ stroke-width:3px")


def test_every_line_of_mermaid_is_of_its_grammar(drawn: tuple[braid.Store, Ids]) -> None:
    found = whole(drawn)
    lines = to_mermaid(found).splitlines()
    for line in lines:
        assert _NODE.fullmatch(line) or _LINK.fullmatch(line) or _REST.fullmatch(line), line
    assert sum(bool(_LINK.fullmatch(line)) for line in lines) == len(found.edges)
    assert "#60;script#62;" in "\n".join(lines)


def test_mermaid_draws_no_more_than_mermaid_takes() -> None:
    lines = to_mermaid(chain(1_000)).splitlines()
    assert sum(line.startswith("  r") and ":::" in line for line in lines) == MERMAID_NODES
    assert any("links not shown" in line for line in lines)


# SVG


def parse(svg: str) -> Tree.Element:
    return Tree.fromstring(svg)


def test_svg_shows_every_record_as_text(drawn: tuple[braid.Store, Ids]) -> None:
    _, ids = drawn
    svg = in_layers(whole(drawn))
    root = parse(svg)
    titles = [str(one.text) for one in root.iter(f"{SVG}title")]
    for name in ("a", "c", "view", "stance", "affect", "new", "last", "gone"):
        assert any(ids[name] in title for title in titles), name
    assert any("(erased)" in title for title in titles)
    assert any(HOSTILE[:20] in title for title in titles)
    assert root.get("role") == "img"
    described = next(root.iter(f"{SVG}desc")).text or ""
    assert f"names occurrence {ids['a']} as parent" in described


def test_svg_runs_nothing_and_fetches_nothing(drawn: tuple[braid.Store, Ids]) -> None:
    svg = in_layers(whole(drawn))
    root = parse(svg)
    tags = {one.tag.removeprefix(SVG) for one in root.iter()}
    allowed = {"svg", "title", "desc", "style", "defs", "marker", "path", "rect", "text", "line", "g"}
    assert tags <= allowed
    values = [value for one in root.iter() for value in one.attrib.values()]
    assert not [
        value for value in values if "://" in value or "javascript" in value or value.startswith("data:")
    ]
    assert not [name for one in root.iter() for name in one.attrib if name.startswith("on") or "href" in name]
    assert re.findall(r"url\((?!#)", svg) == []
    assert "\x1b" not in svg
    assert "\u202e" not in svg.split("<desc")[0]


def test_kinds_and_roles_are_named_and_differ(drawn: tuple[braid.Store, Ids]) -> None:
    svg = in_layers(whole(drawn))
    root = parse(svg)
    kinds = {
        name for one in root.iter(f"{SVG}rect") for name in (one.get("class") or "").split() if "k-" in name
    }
    assert {"k-experience", "k-stance", "k-affect", "k-view", "k-tombstone"} <= kinds
    colours = re.findall(r"\.k-([a-z]+){fill:(#[0-9a-f]+)", svg)
    assert kinds <= {f"k-{kind}" for kind, _ in colours}
    assert len({colour for _, colour in colours}) == len(colours)
    written = {one.text for one in root.iter(f"{SVG}text")}
    assert {"occurrence", "inference", "stance", "parent", "supersedes", "support"} <= written


def test_without_text_a_drawing_holds_no_word(drawn: tuple[braid.Store, Ids]) -> None:
    found = whole(drawn, text=False)
    for drawing in (in_layers(found), to_dot(found), to_mermaid(found), to_prov(found, drawn[0].origin)):
        for word in ("script", "Maya", "Lisbon", "Porto", "timeline", "capture"):
            assert word not in drawing


def test_the_forgotten_stay_silent(drawn: tuple[braid.Store, Ids]) -> None:
    found = graph(drawn)
    drawing = in_layers(found)
    assert "(forgotten)" in drawing
    assert "trains" not in drawing


def test_large_braids_are_limited_with_a_note() -> None:
    svg = to_svg(chain(MAX_NODES + 50))
    assert svg.count('class="box k-') == MAX_NODES
    assert "50 links further away not drawn" in svg


@pytest.mark.filterwarnings("ignore:.*deprecated - use:DeprecationWarning")
def test_a_kind_of_a_later_release_is_drawn() -> None:
    nodes = {0: node(0, kind="dream"), 1: node(1)}
    drawing = in_layers(Graph(0, nodes, [Edge(1, 0, "parent")]))
    assert "k-other" in drawing
    parse(drawing)
    assert pydot.graph_from_dot_data(to_dot(Graph(0, nodes, [])))


# Layout


def node(index: int, *, kind: str = "experience", day: int = 1, said: str = "") -> TraceNode:
    return TraceNode(
        f"exp_2025-05-{day:02d}T09:00:00Z_{index:012d}",
        index,
        kind,
        f"2025-05-{day:02d}T09:00:00.000000Z",
        "k_x",
        said=BodyText(text=said) if said else None,
    )


def chain(length: int) -> Graph:
    nodes = {index: node(index) for index in range(length)}
    return Graph(0, nodes, [Edge(index, index - 1, "parent") for index in range(1, length)])


def braided() -> Graph:
    nodes = {index: node(index, day=1 + index // 9) for index in range(60)}
    edges = [
        Edge(a, b, "parent") for a in range(60) for b in {a * 7 // 11, a * a % (a + 1), a - 3} if 0 <= b < a
    ]
    return Graph(0, nodes, sorted(set(edges)))


def test_layers_go_with_time_and_links_lead_down() -> None:
    found = braided()
    layers = layers_of(found)
    assert [index for layer in layers for index in layer] == sorted(found.nodes)
    level = {index: at for at, layer in enumerate(layers) for index in layer}
    assert all(level[edge.target] < level[edge.source] for edge in found.edges)
    assert all(len({found.nodes[index].created_at[:10] for index in layer}) == 1 for layer in layers)


def test_boxes_do_not_overlap_and_stand_in_the_drawing() -> None:
    found = braided()
    layers = layers_of(found)
    places = places_of(found, layers)
    width = float(parse(in_layers(found)).get("width") or 0)
    for layer in layers:
        across = sorted(places[index][0] for index in layer)
        assert all(b - a > 208 for a, b in itertools.pairwise(across))
        assert across[0] > 104
        assert across[-1] < width - 104
        assert len({places[index][1] for index in layer}) == 1
    assert all(places[edge.target][1] < places[edge.source][1] - 70 for edge in found.edges)


def test_the_same_graph_is_drawn_the_same() -> None:
    assert in_layers(braided()) == in_layers(braided())


@pytest.mark.parametrize(
    ("text", "cells", "shown"),
    [
        ("short", 10, "short"),
        ("much too long", 8, "much to…"),
        ("日本語のとても", 8, "日本語…"),
        ("a\nb", 5, "a\\nb"),
    ],
)
def test_text_fits(text: str, cells: int, shown: str) -> None:
    assert fit(text, cells) == shown


# Hostile text

TEXTS = [
    '"; a [label="x',
    "<b>&lt;</b>",
    "one\ntwo\ttab\r",
    "\\",
    '\\"',
    "\x00\x07\x1b[2J\ufffe",
    "]]><!--",
    "\\N\\l%s",
]


@pytest.mark.filterwarnings("ignore:.*deprecated - use:DeprecationWarning")
@pytest.mark.parametrize("text", TEXTS)
def test_untrusted_text_stays_text(text: str) -> None:
    found = Graph(0, {0: node(0, said=text), 1: node(1, said="next")}, [Edge(1, 0, "parent")])
    root = parse(in_layers(found))
    assert [one.tag for one in root.iter()] == [
        one.tag
        for one in parse(in_layers(Graph(0, {0: node(0, said="a"), 1: found.nodes[1]}, found.edges))).iter()
    ]
    source = to_dot(found)
    (parsed,) = pydot.graph_from_dot_data(source) or []
    assert len(parsed.get_nodes()) == 5, "two records and three defaults"
    assert len(parsed.get_edges()) == 1
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\ufffe]", source)
    assert len(source.splitlines()) == len(
        to_dot(Graph(0, {0: node(0, said="a"), 1: found.nodes[1]}, found.edges)).splitlines()
    )


# Graphviz

STAND_IN = """#!/bin/sh
cat > "$0.asked"
{}
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, does: str) -> Path:
    """Put a `dot` before all others on the path."""
    program = folder / "dot"
    program.write_text(STAND_IN.format(does))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder / "dot.asked"


def test_graphviz_draws_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    says = """printf '<?xml version="1.0"?>\\n<!DOCTYPE svg>\\n<svg width="1pt" xmlns="http://www.w3.org/2000/svg"><g/></svg>'"""
    asked = install(tmp_path, monkeypatch, says)
    root = parse(to_svg(chain(3)))
    assert asked.read_text() == to_dot(chain(3).nearest(3))
    assert (root.get("role"), root.get("width")) == ("img", "1pt")
    assert (root[0].text or "").startswith("3 records and 2 links.")


@pytest.mark.sample(2)
@pytest.mark.parametrize("does", ["exit 1", "sleep 5", "echo", "kill $$"])
def test_layers_are_drawn_where_graphviz_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    monkeypatch.setattr(dot, "GRAPHVIZ_S", 0.5)
    asked = install(tmp_path, monkeypatch, does)
    assert to_svg(chain(3)) == in_layers(chain(3))
    assert asked.exists()


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_itself_takes_hostile_text(drawn: tuple[braid.Store, Ids]) -> None:
    _, ids = drawn
    root = parse(dot.by_graphviz(whole(drawn)) or "")
    assert not list(root.iter(f"{SVG}script"))
    assert any(ids["a"] in (one.text or "") for one in root.iter(f"{SVG}text"))
    assert any("<script>" in (one.text or "") for one in root.iter(f"{SVG}text"))


def test_drawing_reads_no_store() -> None:
    """The drawings are functions of a value: they open nothing."""
    for path in (Path(__file__).parents[3] / "tools" / "draw").glob("*.py"):
        source = path.read_text(encoding="utf-8")
        assert "open(" not in source
        assert "Reader" not in source
