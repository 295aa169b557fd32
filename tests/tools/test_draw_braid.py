"""A trace drawn: PROV-JSON read by `prov`, DOT by `pydot`, Mermaid and SVG by their own rules; hostile text is text."""

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as Tree

import pydot
import pytest
from prov.model import ProvDocument, ProvInvalidation

import braid
from braid.ledger.record import (
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
from braid.ledger.trace import TraceNode
from braid.tools.draw.dot import to_dot
from braid.tools.draw.graph import Edge, Graph, graph_of
from braid.tools.draw.layout import Size, lay_out, layers_of
from braid.tools.draw.mermaid import MAX_NODES as MERMAID_NODES
from braid.tools.draw.mermaid import to_mermaid
from braid.tools.draw.prov import to_prov
from braid.tools.draw.svg import MAX_NODES, fit, to_svg, wrap

HOSTILE = '</text><script>alert(1)</script>"]; end --> %% \\N\\" &amp; `x` {{y}} \x1b[31m \u202egnp'
SVG = "{http://www.w3.org/2000/svg}"
SIZE = Size(width=200, height=80, gap_x=20, gap_y=50, lane=10)
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
    svg = to_svg(whole(drawn))
    root = parse(svg)
    titles = [str(one.text) for one in root.iter(f"{SVG}title")]
    for name in ("a", "c", "view", "stance", "affect", "new", "last", "gone"):
        assert any(ids[name] in title for title in titles), name
    assert any("(erased)" in title for title in titles)
    assert any(HOSTILE[:20] in title for title in titles)
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "title desc"
    described = next(root.iter(f"{SVG}desc")).text or ""
    assert f"names occurrence {ids['a']} as parent" in described


def test_svg_runs_nothing_and_fetches_nothing(drawn: tuple[braid.Store, Ids]) -> None:
    svg = to_svg(whole(drawn))
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


def test_kinds_differ_by_shape_and_colour_and_roles_by_line(drawn: tuple[braid.Store, Ids]) -> None:
    root = parse(to_svg(whole(drawn)))
    shapes: dict[str, str] = {}
    for path in root.iter(f"{SVG}path"):
        css = (path.get("class") or "").split()
        kind = next((name for name in css if name.startswith("k-")), None)
        if kind and "H208" in (path.get("d") or "").replace("H192", "H208").replace("H198", "H208").replace(
            "H182", "H208"
        ):
            shapes[kind] = path.get("d") or ""
    assert len(set(shapes.values())) == len(shapes)
    legend = [one.text for one in root.iter(f"{SVG}text")]
    assert {"experience", "stance", "parent", "supersedes", "support"} <= set(legend)


def test_without_text_a_drawing_holds_no_word(drawn: tuple[braid.Store, Ids]) -> None:
    found = whole(drawn, text=False)
    for drawing in (to_svg(found), to_dot(found), to_mermaid(found), to_prov(found, drawn[0].origin)):
        for word in ("script", "Maya", "Lisbon", "Porto", "timeline", "capture"):
            assert word not in drawing


def test_the_forgotten_stay_silent(drawn: tuple[braid.Store, Ids]) -> None:
    found = graph(drawn)
    drawing = to_svg(found)
    assert "(forgotten)" in drawing
    assert "trains" not in drawing


def test_large_braids_are_limited_with_a_note() -> None:
    svg = to_svg(chain(MAX_NODES + 50))
    assert svg.count('class="box k-') == MAX_NODES + 1  # and one in the legend
    assert "50 links further away not drawn" in svg


@pytest.mark.filterwarnings("ignore:.*deprecated - use:DeprecationWarning")
def test_a_kind_of_a_later_release_is_drawn() -> None:
    nodes = {0: node(0, kind="dream"), 1: node(1)}
    drawing = to_svg(Graph(0, nodes, [Edge(1, 0, "parent")]))
    assert "k-other" in drawing
    parse(drawing)
    assert pydot.graph_from_dot_data(to_dot(Graph(0, nodes, [])))


# Layout


def node(index: int, *, kind: str = "experience", day: int = 1) -> TraceNode:
    return TraceNode(
        f"exp_2025-05-{day:02d}T09:00:00Z_{index:012d}",
        index,
        kind,
        f"2025-05-{day:02d}T09:00:00.000000Z",
        "k_x",
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


def test_boxes_do_not_overlap_and_no_link_crosses_a_box() -> None:
    layout = lay_out(braided(), SIZE)
    for layer in layout.layers:
        places = sorted(layout.places[index].x for index in layer)
        assert all(b - a >= SIZE.width for a, b in itertools.pairwise(places))
    for route in layout.routes:
        for point in route.points[1:-1]:
            near = [at for at in layout.places.values() if abs(at.y - point.y) <= SIZE.height / 2 + 1]
            assert all(abs(at.x - point.x) >= SIZE.width / 2 for at in near)
    assert all(0 <= at.x <= layout.width and 0 <= at.y <= layout.height for at in layout.places.values())


def test_the_same_graph_is_drawn_the_same() -> None:
    assert to_svg(braided()) == to_svg(braided())


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


def test_text_is_parted_at_a_blank() -> None:
    assert wrap("one two three four", 9) == ["one two", "three four"[:8] + "…"]
    assert wrap("short", 9) == ["short"]


def test_drawing_reads_no_store() -> None:
    """The drawings are functions of a value: they open nothing."""
    for path in (Path(__file__).parents[2] / "tools" / "draw").glob("*.py"):
        source = path.read_text(encoding="utf-8")
        assert "open(" not in source
        assert "Reader" not in source
