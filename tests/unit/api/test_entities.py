"""Entities of a store: what is joined, merged, split, and what forgetting, erasing and the past make of it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from braid.caller import Caller, asked_by
from braid.entry import open as open_store
from braid.errors import AccessDeniedError
from braid.knowledge.entity_operations import EntityView
from braid.ledger.errors import UnknownRecordError
from braid.ledger.record.record import Claim
from braid.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "memory", guard_dir=tmp_path / "guard") as opened:
        yield opened


def say(store: Store, text: str, *claims: tuple[str, str, str], user_id: str = "maya", **more: Any) -> str:
    """Append what was said, and what is claimed of it; return the id of what was said."""
    turn = store.append(text, user_id=user_id, actor="user", name="Maya", **more)
    made = [
        Claim(subject=subject, rel=rel, object=object_, quote=text if rel else None)
        for subject, rel, object_ in claims
    ]
    store.append(f"claims of {turn}", type="inference", user_id=user_id, parents=[turn], claims=made, **more)
    return turn


def names(store: Store, **how: Any) -> list[set[str]]:
    """The names of each entity, Maya's."""
    return [set(one.names) for one in store.entities(**({"user_id": "maya"} | how)).entities]


def one(store: Store, name: str, **how: Any) -> EntityView:
    return store.entity(name, **({"user_id": "maya"} | how))


@pytest.fixture
def people(store: Store) -> dict[str, str]:
    """Bob, and Robert Kinsella: one man, as Maya knows, but nothing says so. The ids of the turns."""
    return {
        "bob": say(store, "Bob fixed the gate.", ("Bob", "fixed", "the gate")),
        "robert": say(store, "Robert Kinsella lives in Leeds.", ("Robert Kinsella", "lives_in", "Leeds")),
    }


def test_what_is_said_is_resolved(store: Store) -> None:
    say(store, "I use QuickBooks.", ("user", "uses", "QuickBooks"))
    say(store, "QBO is slow.", ("QBO", "is", "slow"))
    assert {"QuickBooks", "QBO"} in names(store)
    found = one(store, "qbo")
    assert found.type == "product"
    assert [each.how for each in found.joined] == ["alias"]
    assert [each.quote for each in found.mentions] == ["I use QuickBooks.", "QBO is slow."]
    assert [(each.subject, each.rel, each.other is not None) for each in found.relations] == [
        ("user", "uses", True)
    ]
    assert [each.object for each in found.facts] == ["slow"]
    assert one(store, found.id) == found


def test_a_merge_is_a_record_that_a_split_takes_back(store: Store, people: dict[str, str]) -> None:
    before = [one(store, "Bob"), one(store, "Robert Kinsella")]
    assert before[0].id != before[1].id
    done = store.merge_entities("Bob", "Robert Kinsella", user_id="maya", by="maya", reason="she said so")
    assert done.id is not None
    assert done.id.startswith("evt_")
    assert store.get(done.id).body.reason == "she said so"
    joined = one(store, "Bob")
    assert joined == one(store, "Robert Kinsella")
    assert joined.decisions == (done.id,)
    assert len(joined.mentions) == 2
    assert [(each.how, each.why) for each in joined.joined] == [("decided", done.id)]
    assert store.merge_entities("Bob", "Robert Kinsella", user_id="maya").id is None  # they are one already
    parted = store.split_entity("Bob", user_id="maya")
    assert parted.id is not None
    assert [one(store, "Bob"), one(store, "Robert Kinsella")] == before
    store.forget(parted.id)  # the split is forgotten: the merge holds again
    assert one(store, "Bob") == joined
    store.recover(parted.id)
    assert [one(store, "Bob"), one(store, "Robert Kinsella")] == before
    assert store.verify(deep=True).findings == []


def test_what_is_known_of_two_names_follows_their_merge(store: Store) -> None:
    for day, name, where in (("2026-10-01", "user's mum", "Cork"), ("2026-11-02", "Wilhelmina", "Galway")):
        at = datetime.fromisoformat(day).replace(tzinfo=UTC)
        say(store, f"{name} lives in {where}.", (name, "lives_in", where), occurred_at=at)

    def known(topic: str) -> list[tuple[str, list[str]]]:
        return [(one.says, [was.says for was in one.replaced]) for one in store.about(topic, user_id="maya")]

    def disputed(**how: Any) -> list[tuple[str, str]]:
        found = store.contradictions(user_id="maya", **how)
        return [(one.one, one.other) for one in found]

    cork, galway = "user's mum lives in Cork", "Wilhelmina lives in Galway"
    assert (known("Mum"), known("Wilhelmina"), disputed()) == ([(cork, [])], [(galway, [])], [])
    size = len(store)
    done = store.merge_entities("user's mum", "Wilhelmina", user_id="maya")
    assert done.id is not None
    assert known("Mum") == known("Wilhelmina") == [(galway, [cork])]
    assert disputed() == [(cork, galway)]
    assert disputed(as_of=size - 1) == []
    told = store.ask("What do you know about Wilhelmina?", user_id="maya").text
    assert "Cork" not in told
    store.split_entity("Wilhelmina", user_id="maya")
    assert (known("Mum"), known("Wilhelmina"), disputed()) == ([(cork, [])], [(galway, [])], [])


def joined_in_sql(store: Store) -> list[set[str]]:
    return [
        set(row["names"]) for row in store.sql("FROM entities WHERE list_contains(names, 'Bob')").to_pylist()
    ]


@pytest.fixture
def likely(store: Store) -> Store:
    """Bob, and Robert Kinsella, whom a rule takes for one, since both speak of one thing."""
    say(store, "Bob likes sailing.", ("Bob", "likes", "sailing"))
    say(store, "Robert Kinsella likes sailing.", ("Robert Kinsella", "likes", "sailing"))
    assert [each.how for each in one(store, "Bob").joined] == ["close"]
    assert joined_in_sql(store) == [{"Bob"}]
    return store


def test_what_a_rule_joins_is_decided_all_the_same(likely: Store) -> None:
    done = likely.merge_entities("Bob", "Robert Kinsella", user_id="maya")
    assert done.id is not None
    assert [len(each.names) for each in done.entities] == [2]
    assert joined_in_sql(likely) == [{"Bob", "Robert Kinsella"}]
    assert likely.merge_entities("Robert Kinsella", "bob", user_id="maya").id is None
    assert likely.alias_entity("Bob", ["Robert Kinsella"], user_id="maya").id is None
    assert likely.merge_entities("Bob", "bob", user_id="maya").id is None
    likely.split_entity("Bob", user_id="maya")
    assert joined_in_sql(likely) == [{"Bob"}]


def test_an_alias_that_a_rule_finds_is_decided_all_the_same(likely: Store) -> None:
    for name, alias in (("Robert Kinsella", "Bob"), ("Bob", "Robert Kinsella")):
        done = likely.alias_entity(name, [alias], user_id="maya")
        assert done.id is not None
        assert joined_in_sql(likely) == [{"Bob", "Robert Kinsella"}]
        assert likely.alias_entity(name, [alias], user_id="maya").id is None
        assert likely.merge_entities("Bob", "Robert Kinsella", user_id="maya").id is None
        likely.forget(done.id)


def test_a_merge_that_is_forgotten_comes_back_with_its_recovery_and_never_when_it_is_erased(
    store: Store, people: dict[str, str]
) -> None:
    done = store.merge_entities("Bob", "Robert Kinsella", user_id="maya")
    assert done.id is not None
    store.forget(done.id)
    assert one(store, "Bob").names == ("Bob",)
    store.recover(done.id)
    assert set(one(store, "Bob").names) == {"Bob", "Robert Kinsella"}
    store.erase(done.id)
    assert one(store, "Bob").names == ("Bob",)


def test_erasing_the_turns_takes_the_mentions_and_what_was_decided_of_them(
    store: Store, people: dict[str, str]
) -> None:
    done = store.merge_entities("Bob", "Robert Kinsella", user_id="maya")
    assert done.id is not None
    names_ = [link.id for link in store.get(done.id).links if link.role == "parent"]
    store.erase(people["bob"])
    assert not any("Bob" in each for each in names(store))
    assert one(store, "Robert Kinsella").names == ("Robert Kinsella",)
    gone = set(store.reader.control.erased)
    assert store.reader.index_of(names_[0]) in gone  # the record that held the name went with its only turn
    assert store.reader.index_of(names_[1]) not in gone
    assert (
        b"bob" not in b"".join(record.raw or b"" for record in store.read() if record.kind == "event").lower()
    )


def test_forgetting_the_turns_hides_the_mentions(store: Store, people: dict[str, str]) -> None:
    store.merge_entities("Bob", "Robert Kinsella", user_id="maya")
    store.forget(people["bob"])
    assert one(store, "Robert Kinsella").names == ("Robert Kinsella",)
    store.recover(people["bob"])
    assert set(one(store, "Robert Kinsella").names) == {"Bob", "Robert Kinsella"}


def test_the_past_has_the_entities_of_then(store: Store, people: dict[str, str]) -> None:
    at = len(store) - 1
    store.merge_entities("Bob", "Robert Kinsella", user_id="maya")
    assert one(store, "Bob", as_of=at).names == ("Bob",)
    assert set(one(store, "Bob").names) == {"Bob", "Robert Kinsella"}
    with pytest.raises(ValueError, match="no entity"):
        one(store, "Robert Kinsella", as_of=store.reader.index_of(people["robert"]) - 1)


def test_a_split_by_turns_makes_two_of_one_name(store: Store) -> None:
    at_work = say(store, "Alex sent the report.", ("Alex", "sent", "the report"))
    say(store, "Alex came to dinner.", ("Alex", "came_to", "dinner"))
    assert len(one(store, "Alex").mentions) == 2
    done = store.split_entity("Alex", turns=[at_work], user_id="maya")
    assert [len(each.names) for each in done.entities] == [1, 1]
    with pytest.raises(ValueError, match="the name of several") as refused:
        one(store, "Alex")
    assert str(refused.value).count("mentions: 1)") == 2
    assert "dinner" not in str(refused.value)
    ids = sorted(each.id for each in done.entities)
    assert sorted(each.turn == at_work for id in ids for each in one(store, id).mentions) == [False, True]
    again = store.merge_entities(*ids, user_id="maya")
    assert again.id is not None
    assert len(one(store, "Alex").mentions) == 2
    store.split_entity("Alex", user_id="maya")
    with pytest.raises(ValueError, match="the name of several"):
        one(store, "Alex")


def test_a_turn_is_named_by_its_whole_id(store: Store) -> None:
    turn = say(store, "Alex sent the report.", ("Alex", "sent", "the report"))
    say(store, "Alex came to dinner.", ("Alex", "came_to", "dinner"))
    size = len(store)
    with pytest.raises(UnknownRecordError, match="no such record"):
        store.split_entity("Alex", turns=[turn[:-1] + ("a" if turn[-1] != "a" else "b")], user_id="maya")
    assert len(store) == size


@pytest.mark.parametrize("empty", [" ", "?", "\u200b", "\u202e"], ids=repr)
def test_a_name_of_nothing_is_no_name(store: Store, empty: str) -> None:
    say(store, "Alex sent the report.", ("Alex", "sent", "the report"))
    size = len(store)
    for entity, alias in (("Alex", empty), (empty, "Alex"), ("Bertha", empty)):
        with pytest.raises(ValueError, match="another sign that shows"):
            store.alias_entity(entity, [alias], user_id="maya")
    assert len(store) == size
    assert store.alias_entity("Alex", ["🎈"], user_id="maya").id is not None


def test_names_that_the_dictionary_joins_can_be_parted(store: Store) -> None:
    say(store, "QB threw for 300 yards.", ("QB", "threw", "300 yards"))
    say(store, "I use QuickBooks.", ("user", "uses", "QuickBooks"))
    assert set(one(store, "QB").names) == {"QB", "QuickBooks"}
    with pytest.raises(ValueError, match="nobody has decided"):
        store.split_entity("QB", user_id="maya")
    parted = store.split_entity("QuickBooks", names=["QB"], user_id="maya")
    assert one(store, "QB").names == ("QB",)
    assert one(store, "QuickBooks").names == ("QuickBooks",)
    joined = store.merge_entities("QB", "QuickBooks", user_id="maya")  # overrules the split
    assert joined.id is not None
    assert set(one(store, "QB").names) == {"QB", "QuickBooks"}
    assert parted.id in {link.id for link in store.get(joined.id).links if link.role == "supersedes"}


def test_an_alias_names_what_comes_later_too(store: Store) -> None:
    say(store, "The big red one needs diesel.", ("Bertha", "needs", "diesel"))
    done = store.alias_entity("Bertha", ["Big Red"], user_id="maya")
    assert set(one(store, "Big Red").names) == {"Bertha", "Big Red"}
    assert store.alias_entity("Bertha", ["Big Red"], user_id="maya").id is None
    say(store, "Big Red is in the shed.", ("Big Red", "located_in", "Leeds"))
    assert len(one(store, "Bertha").mentions) == 2
    assert done.id is not None
    store.forget(done.id)
    assert len(one(store, "Bertha").mentions) == 1


def test_an_alias_of_what_nobody_has_mentioned_waits_for_it(store: Store) -> None:
    done = store.alias_entity("Northwind Traders", ["NWT"], user_id="maya")
    assert done.id is not None
    assert store.alias_entity("Northwind Traders", ["NWT"], user_id="maya").id is None
    say(store, "NWT called.", ("NWT", "called_on", "Monday"))
    say(store, "Northwind Traders pays late.", ("Northwind Traders", "pays", "late"))
    assert set(one(store, "NWT").names) == {"Northwind Traders", "NWT"}


def test_what_is_known_of_one_person_is_not_known_in_anothers(store: Store, people: dict[str, str]) -> None:
    say(store, "Bob has a boat.", ("Bob", "owns", "a boat"), user_id="ines")
    say(store, "Robert Kinsella has a cat.", ("Robert Kinsella", "owns", "a cat"), user_id="ines")
    store.merge_entities("Bob", "Robert Kinsella", user_id="maya")
    assert set(one(store, "Bob").names) == {"Bob", "Robert Kinsella"}
    assert one(store, "Bob", user_id="ines").names == ("Bob",)
    assert not any("Leeds" in each for each in names(store, user_id="ines"))
    everybody = store.entities()
    bobs = [each for each in everybody.entities if "Bob" in each.names]
    assert {each.owner for each in bobs} == {"user_id:maya", "user_id:ines"}
    for place in range(5):
        say(store, "Bob has a boat.", ("Bob", "owns", "a boat"), user_id=f"u{place}")
    with pytest.raises(ValueError, match=r"of user_id:ines.*and 1 more") as refused:
        store.entity("Bob")
    assert "of user_id:maya" in str(refused.value)
    with pytest.raises(ValueError, match="two memories"):
        store.merge_entities(bobs[0].id, bobs[1].id)


def test_what_is_open_is_proposed_and_never_joined(store: Store) -> None:
    say(store, "Sarah Chen is in payroll.", ("Sarah Chen", "works_in", "payroll"))
    say(store, "Sarah bakes.", ("Sarah", "does", "baking"))
    found = store.entities(user_id="maya")
    (proposal,) = found.proposals
    assert set(proposal.names) == {"Sarah", "Sarah Chen"}
    store.merge_entities(proposal.one, proposal.other, user_id="maya", by="a model")
    assert store.entities(user_id="maya").proposals == ()


def test_a_list_is_filtered_and_bounded(store: Store, people: dict[str, str]) -> None:
    assert [set(one.names) for one in store.entities(type="place", user_id="maya").entities] == [{"Leeds"}]
    assert names(store, named="kinsella") == [{"Robert Kinsella"}]
    found = store.entities(user_id="maya", limit=1)
    assert len(found.entities) == 1
    assert found.count > 1


def test_entities_are_made_again_of_the_log_alone(store: Store, people: dict[str, str]) -> None:
    store.merge_entities("Bob", "Robert Kinsella", user_id="maya")
    before = store.entities(user_id="maya")
    store.views.replay(None, from_scratch=True)
    assert store.entities(user_id="maya") == before


def test_a_correction_of_a_claim_corrects_the_mentions(store: Store) -> None:
    id = store.append(
        "I live in Leeds.", user_id="maya", claims=[Claim(subject="user", rel="lives_in", object="Leeds")]
    )
    assert {"Leeds"} in names(store)
    store.correct(id, "I live in York.")
    assert {"Leeds"} not in names(store)


def of_tables(store: Store, where: str = "owner = 'user_id:maya'") -> list[set[str]]:
    rows = store.sql(f"SELECT names FROM entities WHERE {where} ORDER BY entity_id").to_pylist()
    return [set(row["names"]) for row in rows]


def test_the_tables_know_what_is_exact_and_what_was_decided(store: Store, people: dict[str, str]) -> None:
    say(store, "I use QuickBooks, I mean QBO.", ("user", "uses", "QuickBooks"), ("user", "uses", "QBO"))
    say(store, "Call me Maya.", ("user", "name_is", "Maya"))
    assert {"QuickBooks", "QBO"} in of_tables(store)
    assert {"user", "Maya"} in of_tables(store)
    assert {"Bob"} in of_tables(store)
    done = store.merge_entities("Bob", "Robert Kinsella", user_id="maya")
    assert {"Bob", "Robert Kinsella"} in of_tables(store)
    listed = {each.id: set(each.names) for each in store.entities(user_id="maya").entities}
    rows = store.sql("SELECT entity_id, names FROM entities").to_pylist()
    assert {row["entity_id"]: set(row["names"]) for row in rows} == listed
    at = store.reader.index_of(done.id or "")
    assert store.sql("SELECT count(*) AS n FROM entities", as_of=at - 3).to_pylist()[0]["n"] == len(rows) + 1
    store.split_entity("Bob", user_id="maya")
    assert {"Bob"} in of_tables(store)
    store.split_entity("QuickBooks", names=["QBO"], user_id="maya")
    assert {"QBO"} in of_tables(store)
    assert {"QuickBooks"} in of_tables(store)
    store.erase(people["bob"])
    assert not any("Bob" in each for each in of_tables(store, "true"))
    assert store.sql("SELECT count(*) AS n FROM mentions WHERE name = 'Bob'").to_pylist() == [{"n": 0}]
    assert store.verify(deep=True).findings == []


def test_the_tables_know_a_split_by_turns_and_an_alias(store: Store) -> None:
    at_work = say(store, "Alex sent the report.", ("Alex", "sent", "the report"))
    say(store, "Alex came to dinner.", ("Alex", "came_to", "dinner"))
    store.alias_entity("Alex", ["Lexi"], user_id="maya")
    say(store, "Lexi is in Leeds.", ("Lexi", "located_in", "Leeds"))
    assert {"Alex", "Lexi"} in of_tables(store)
    store.split_entity("Alex", turns=[at_work], user_id="maya")
    found = [one for one in of_tables(store) if "Alex" in one]
    assert sorted(map(sorted, found)) == [["Alex"], ["Alex", "Lexi"]]
    ids = {each.id for each in store.entities(user_id="maya").entities}
    assert {row["entity_id"] for row in store.sql("SELECT entity_id FROM entities").to_pylist()} == ids


def test_names_of_two_types_are_two_in_the_tables(store: Store) -> None:
    say(store, "My brother Jordan.", ("user", "sibling", "Jordan"))
    say(store, "I went to Jordan.", ("user", "visited", "Jordan"))
    rows = store.sql("SELECT type FROM entities WHERE name = 'Jordan' ORDER BY type").to_pylist()
    assert rows == [{"type": "person"}, {"type": "place"}]


MAY = frozenset[Any](("read", "write", "modify", "forget", "recover"))
ATLAS = Caller(name="atlas", kind="person", allowed=MAY, user_id="maya", project_id="atlas")
ZEUS = Caller(name="zeus", kind="person", allowed=MAY, user_id="maya", project_id="zeus")
WHOLE = Caller(name="maya", kind="person", allowed=MAY, user_id="maya")


@pytest.fixture
def projects(store: Store) -> Store:
    """Two names in each of two projects of one person."""
    for project in ("atlas", "zeus"):
        for name in ("Quill", "Marlow"):
            say(store, f"{name} likes {project}.", (name, "likes", project), project_id=project)
    return store


def called(store: Store, caller: Caller) -> list[set[str]]:
    with asked_by(caller):
        return [told for told in names(store) if told & {"Quill", "Marlow"}]


def test_what_is_decided_in_a_project_holds_there_alone(projects: Store) -> None:
    apart, together = [{"Quill"}, {"Marlow"}], [{"Quill", "Marlow"}]
    with asked_by(ATLAS):
        decided = projects.merge_entities("Quill", "Marlow", reason="a pen name")
        assert decided.id is not None
        assert projects.merge_entities("Quill", "Marlow").id is None
        assert one(projects, "Quill").decisions == (decided.id,)
    body = projects.get(decided.id).body
    assert body.scope is not None
    assert (body.scope.user_id, body.scope.project_id) == ("maya", "atlas")
    assert called(projects, ATLAS) == together
    assert called(projects, ZEUS) == called(projects, WHOLE) == apart
    assert names(projects, user_id="maya", project_id="atlas")[0] == {"Quill", "Marlow"}
    assert of_tables(projects).count({"Quill", "Marlow"}) == 0
    with asked_by(ZEUS), pytest.raises(ValueError, match="nobody has decided"):
        projects.split_entity("Quill")
    with asked_by(ATLAS):
        projects.split_entity("Quill", reason="they are two")
    assert called(projects, ATLAS) == apart


def test_what_is_decided_for_the_whole_memory_holds_in_its_projects_and_is_not_theirs(
    projects: Store,
) -> None:
    with asked_by(WHOLE):
        projects.merge_entities("Quill", "Marlow")
        projects.alias_entity("Quill", ["Secret Nickname"])
    assert called(projects, WHOLE) == [{"Quill", "Marlow", "Secret Nickname"}]
    assert called(projects, ATLAS) == called(projects, ZEUS) == [{"Quill", "Marlow"}]
    with asked_by(ATLAS):
        shown = one(projects, "Quill")
        assert (shown.decisions, {each.why for each in shown.joined if each.how == "decided"}) == ((), {""})
        with pytest.raises(ValueError, match="no entity is called"):
            projects.entity("Secret Nickname")
        with pytest.raises(AccessDeniedError, match="more than you are held to"):
            projects.split_entity("Quill")
        with pytest.raises(AccessDeniedError, match="more than you are held to"):
            projects.split_entity("Quill", names=["Marlow"])
        mine = projects.alias_entity("Quill", ["Q"])
        assert one(projects, "Quill").decisions == (mine.id,)
        projects.split_entity("Quill")  # what is theirs they take back
        assert one(projects, "Quill").decisions == ()
    assert called(projects, ATLAS) == [{"Quill", "Marlow"}]
    assert called(projects, WHOLE) == [{"Quill", "Marlow", "Secret Nickname"}]


def test_what_the_whole_memory_holds_apart_no_project_joins(projects: Store) -> None:
    with asked_by(WHOLE):
        projects.merge_entities("Quill", "Marlow")
        projects.split_entity("Quill", names=["Marlow"])
    with asked_by(ATLAS), pytest.raises(AccessDeniedError, match="more than you are held to"):
        projects.merge_entities("Quill", "Marlow")


def test_who_is_held_to_a_session_names_what_nobody_has_mentioned_there(projects: Store) -> None:
    held = Caller(name="s1", kind="agent", allowed=MAY, user_id="maya", session_id="s1")
    with asked_by(held):
        assert projects.alias_entity("Aster", ["The Owl"]).id is not None
        say(projects, "Aster likes mice.", ("Aster", "likes", "mice"), session_id="s1")
        assert one(projects, "The Owl").name == "Aster"
    with pytest.raises(ValueError, match="no entity is called"):
        projects.entity("The Owl", user_id="maya")
