"""`knowledge about`, `why-known`, `why-not-known`, `staging` and `learn --retire` as a person types them."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import networkx
import pytest

import braid
from braid.ledger.record.record import Claim, Content, Draft, ExperienceBody, Provenance, Scope

if TYPE_CHECKING:
    from tests.system.cli.conftest import Session

METHOD = "read:elder@1"


@pytest.fixture
def known(session: Session) -> tuple[Session, str]:
    """A session whose store has a turn, a claim that was read from it, and one that waits; the reading's id."""
    with braid.open(session.folder / "memory", guard_dir=session.folder / "guard") as store:
        turn = store.append("I live in Leeds.", user_id="ann", actor="user", name="Ann")
        waits = {"subject": "Ann", "rel": "likes", "object": "Leeds", "why": "confidence"}
        body = ExperienceBody(
            content=Content(structured={"staged": [waits]}),
            provenance=Provenance(actor="agent", method=METHOD),
            symbolic=[Claim(subject="Ann", rel="lives_in", object="Leeds", quote="I live in Leeds", at=0)],
            scope=Scope(user_id="ann"),
        )
        draft = Draft(kind="experience", type="inference", body=body, links=[("parent", turn)])
        id = store.session.append_drafts([draft])[0].id
    return session, id


def test_what_is_known_is_shown_with_its_words_and_its_gates(known: tuple[Session, str]) -> None:
    session, id = known
    shown = session.well("knowledge", "about", "Ann").out
    assert "Ann lives in Leeds" in shown
    (told,) = json.loads(session.well("knowledge", "about", "Leeds", "--user-id", "ann", "-o", "json").out)
    assert (told["id"], told["quote"], told["at"]) == (id, "I live in Leeds", 0)
    assert "evidence: the words stand there" in session.well("why-known", id).out
    assert json.loads(session.well("why-known", id, "-o", "json").out)[0]["ends"] == 15
    assert "nothing is known about Zoe" in session.well("knowledge", "about", "Zoe").err


def test_what_waits_is_accepted_once(known: tuple[Session, str]) -> None:
    session, id = known
    assert "Ann likes Leeds" in session.well("staging", "list").out
    first = json.loads(session.well("staging", "accept", id, "-o", "json").out)
    again = json.loads(session.well("staging", "accept", id, "0", "-o", "json").out)
    assert (first["id"], first["is_new"], again["is_new"]) == (again["id"], True, False)
    assert "nothing waits" in session.well("staging", "list").err
    assert "accepted" in session.well("staging", "list", "--state", "all").out
    assert "forget that first" in session.refused("staging", "reject", id)


def test_a_retired_reader_is_named_as_the_reason(known: tuple[Session, str]) -> None:
    session, id = known
    session.well("staging", "reject", id, "--reason", "a joke")
    assert session.well("why-not-known", "Ann lives in Leeds").err.endswith("it is known\n")
    event = json.loads(session.well("learn", "--retire", METHOD, "-o", "json").out)
    assert (event["readings"], event["new"]) == (1, True)
    told = json.loads(session.well("why-not-known", "Ann lives in Leeds", "-o", "json").out)
    assert told["conclusion"] == "the reader that read it was retired"
    assert {one["step"]: one["ids"] for one in told["steps"]}["retired"] == [event["id"]]
    session.well("forget", event["id"])
    assert "Ann lives in Leeds" in session.well("knowledge", "about", "Ann").out
    session.refused("learn", "--retire", "plain")


def test_changes_are_told_as_a_table_and_for_machines(known: tuple[Session, str]) -> None:
    session, _ = known
    assert session.well("changes").err == "braid: nothing changed\n"
    with braid.open(session.folder / "memory", guard_dir=session.folder / "guard") as store:
        turn = store.append("I live in Hull.", user_id="ann", actor="user", name="Ann")
        body = ExperienceBody(
            provenance=Provenance(actor="agent", method=METHOD),
            symbolic=[Claim(subject="Ann", rel="lives_in", object="Hull", quote="I live in Hull", at=0)],
            scope=Scope(user_id="ann"),
        )
        store.session.append_drafts(
            [Draft(kind="experience", type="inference", body=body, links=[("parent", turn)])]
        )
    shown = session.well("changes", "Ann")
    assert "Ann lives in Leeds" in shown.out
    assert "Ann lives in Hull" in shown.out
    assert shown.err == "braid: 1 of 1 change\n"
    (told,) = json.loads(session.well("changes", "-o", "json").out)["changes"]
    assert (told["was"]["object"], told["now"]["object"], told["now"]["said_by"]) == ("Leeds", "Hull", "Ann")
    assert "nothing changed" in session.well("changes", "Ann", "--since", "2099-01-01").err


def test_what_is_known_is_written_as_a_graph_for_its_owner_alone(known: tuple[Session, str]) -> None:
    session, id = known
    as_graphml, as_json = session.folder / "known.graphml", session.folder / "known.json"
    assert "2 nodes, 1 claim" in session.well("knowledge", "export", str(as_graphml)).err
    session.well("knowledge", "export", "--format", "json", "--about", "Ann", str(as_json))
    assert {stat.S_IMODE(file.stat().st_mode) for file in (as_graphml, as_json)} == {0o600}
    graph = networkx.read_graphml(as_graphml)
    ((source, target, edge),) = graph.edges(data=True)
    assert (graph.nodes[source]["name"], graph.nodes[target]["type"]) == ("Ann", "place")
    assert (edge["record"], edge["quote"], edge["starts"], edge["ends"]) == (id, "I live in Leeds", 0, 15)
    told = json.loads(as_json.read_text())
    assert networkx.node_link_graph(told, edges="edges").number_of_edges() == 1
    assert session.well("knowledge", "export", "--format", "json", "-").out == as_json.read_text()
    assert "exists" in session.refused("knowledge", "export", str(as_graphml))
    assert "store" in session.refused("knowledge", "export", str(session.folder / "memory" / "x"))
    empty = session.folder / "none.graphml"
    assert "0 claims" in session.well("knowledge", "export", "--user-id", "zoe", str(empty)).err
    shown = session.well("knowledge", "central", "--user-id", "ann", "-o", "json").out
    assert {one["name"] for one in json.loads(shown)} == {"Ann", "Leeds"}
    assert "no claim relates" in session.well("knowledge", "central", "--user-id", "zoe").err


def test_connections_are_asked_in_sql(known: tuple[Session, str]) -> None:
    session, id = known
    shown = session.well("sql", "SELECT kind, id, how FROM connections ORDER BY kind, how", "-o", "json").out
    rows = json.loads(shown)
    assert [(row["kind"], row["how"]) for row in rows] == [
        ("CAUSED_BY", "parent"), ("REFERENCES", "Ann"), ("REFERENCES", "Leeds"),
    ]  # fmt: skip
    assert rows[0]["id"] == id
