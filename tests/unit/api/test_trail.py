"""The audit trail: what happened to what is known, each with what set it going, and nothing of what is forgotten."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.caller import GRANTS, Caller, asked_by
from braid.ledger.errors import UnknownRecordError
from braid.ledger.record.record import Claim
from braid.log.operations import Append
from braid.store import Store
from tests.unit.api.test_operations import NOW


def lives_in(place: str) -> list[Claim]:
    return [Claim(subject="Maya", rel="lives_in", object=place)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    ticks = iter(range(10**6))
    clock = lambda: NOW + timedelta(seconds=next(ticks))  # noqa: E731
    braid.init(tmp_path / "store", guard_dir=tmp_path / "guard", durability="none", clock=clock)
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=clock) as opened:
        yield opened


def rows(store: Store, where: str = "true") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = store.sql(
        f"FROM audit_trail WHERE {where} ORDER BY log_index, event_type"
    ).to_pylist()
    return found


def events(store: Store, id: str) -> list[str]:
    return [one.event for one in store.why_changed(id)]


def test_a_claim_is_created_reinforced_and_contradicted(store: Store) -> None:
    one = store.append("I live in Porto.", user_id="maya", claims=lives_in("Porto"))
    two = store.append("I do live in Porto.", user_id="maya", claims=lives_in("Porto"))
    three = store.append("I live in Faro.", user_id="maya", claims=lives_in("Faro"))
    assert events(store, one)[0] == "edge_created"
    assert "edge_reinforced" in events(store, two)
    told = [one for one in store.why_changed(three) if one.event == "edge_contradicted"]
    assert {one.target for one in told} == {one, two}
    assert told[0].old == {"subject": "Maya", "rel": "lives_in", "object": "Porto"}
    assert told[0].new == {"subject": "Maya", "rel": "lives_in", "object": "Faro"}
    (again,) = rows(store, "event_type = 'edge_reinforced'")
    assert (again["operation"], again["edge_id"]) == ("REINFORCE", f"{two}/0")
    assert again["confidence_before"] == again["confidence_after"]
    other = store.append("I live in Porto.", user_id="tom", claims=lives_in("Porto"))
    assert events(store, other) == ["edge_created", "entity_created", "entity_created"]


def test_a_correction_says_what_was_and_why(store: Store) -> None:
    old = store.append("I live in Porto.", user_id="maya", claims=lives_in("Porto"))
    new = store.correct(old, "I live in Faro.", reason="a typo")
    for id in (old, new):
        (told,) = [one for one in store.why_changed(id) if one.event == "fact_corrected"]
        assert (told.old, told.new) == ({"text": "I live in Porto."}, {"text": "I live in Faro."})
        assert (told.reason, told.id, told.target, told.mechanism) == ("a typo", new, old, "user_correction")


def test_the_claims_of_a_corrected_turn_end_with_it(store: Store) -> None:
    (turn,) = store.remember("I live in Porto.", user_id="maya").ids
    (read,) = [one.id for one in store.why_changed(turn) if one.event == "edge_created"]
    assert not [one for one in store.why_changed(turn) if one.event == "edge_ended"]
    new = store.correct(turn, "I live in Faro.", reason="a typo")
    newest = store.correct(turn, "I live in Braga.")
    told = [one for one in store.why_changed(turn) if one.event == "edge_ended" and one.target == read]
    assert [(one.id, one.edge, one.reason, one.new) for one in told] == [(new, f"{read}/0", "a typo", None)]
    assert told[0].old == {"subject": "user", "rel": "lives_in", "object": "Porto", "polarity": True}
    store.forget(newest)
    assert "Porto" not in str(rows(store))


def test_a_turn_that_claims_something_itself_ends_its_claims(store: Store) -> None:
    old = store.append("I live in Porto.", user_id="maya", claims=lives_in("Porto"))
    new = store.correct(old, "I live in Faro.", reason="a typo")
    (told,) = [one for one in store.why_changed(old) if one.event == "edge_ended"]
    assert (told.id, told.target, told.operation, told.reason) == (new, old, "REVISE", "a typo")


def test_what_is_forgotten_is_named_and_no_word_of_it_is_left(store: Store) -> None:
    id = store.append("I live in Porto.", user_id="maya", claims=lives_in("Porto"))
    store.forget(id, reason="private")
    (gone,) = store.why_changed(id)
    assert (gone.event, gone.operation, gone.reason) == ("record_deleted_by_user", "DELETE", "private")
    assert "Porto" not in str(rows(store))
    store.recover(id)
    assert [one for one in events(store, id) if "user" in one] == [
        "record_deleted_by_user",
        "record_recovered_by_user",
    ]
    assert "edge_created" in events(store, id)
    store.erase(id)
    assert [one.operation for one in store.why_changed(id)] == ["DELETE", "RECOVER", "ERASE"]
    assert "Porto" not in str(rows(store))


def test_a_record_is_counted_once_with_its_kind_and_its_user_as_long_as_that_is_known(store: Store) -> None:
    id = store.append(
        "I live in Porto.", user_id="maya", claims=[*lives_in("Porto"), *lives_in("Portugal")], session_id="s"
    )
    asked = (
        "SELECT user_id, session_id, event_type, metadata FROM audit_trail WHERE event_type LIKE 'record_%'"
    )

    def told(**how: Any) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in store.sql(f"{asked} ORDER BY log_index", **how).to_pylist()]

    store.forget(id)
    deleted = ("record_deleted_by_user", '{"kind":"experience"}')
    recovered = ("record_recovered_by_user", '{"kind":"experience"}')
    assert told() == [(None, None, *deleted)]
    assert told(include_forgotten=True) == [("maya", "s", *deleted)]
    store.recover(id)
    assert told() == [("maya", "s", *deleted), ("maya", "s", *recovered)]
    store.erase(id)
    erased = ("record_erased_by_user", '{"kind":"experience"}')
    for how in ({}, {"include_forgotten": True}):
        assert [row for row in told(**how) if "experience" in row[3]] == [
            (None, None, *each) for each in (deleted, recovered, erased)
        ]


def test_what_one_call_set_going_has_one_correlation_id(store: Store) -> None:
    first, second = store.remember(
        [
            {"role": "user", "content": "I live in Porto."},
            {"role": "user", "content": "My sister Ana lives in Leeds."},
        ],
        user_id="maya",
    ).ids
    later = store.remember("I live in Porto.", user_id="maya").ids[0]
    found = {row["correlation_id"] for row in rows(store, "event_type = 'edge_created'")}
    assert found == {first}
    assert {one.correlation_id for one in store.why_changed(second)} == {first}
    assert {one.correlation_id for one in store.why_changed(later)} == {later}


def test_a_memory_that_is_set_and_one_that_is_there_already(store: Store) -> None:
    (id,) = store.remember("The door code is on the shelf.", user_id="maya", learn=False).ids
    assert store.remember("The door code is on the shelf.", user_id="maya", learn=False).ids == (id,)
    store.modify(id, pinned=True, reason="needed often")
    assert events(store, id) == ["duplicate_skipped", "memory_set"]
    assert store.why_changed(id)[1].details == {"pinned": True}


def test_the_trail_is_the_same_after_a_rebuild(store: Store) -> None:
    old = store.append("I live in Porto.", user_id="maya", claims=lives_in("Porto"))
    store.correct(old, "I live in Faro.", reason="a typo")
    before = rows(store)
    store.replay("duck")
    assert rows(store) == before


def test_nothing_of_another_scope_is_in_it(store: Store) -> None:
    desk = Caller(name="desk", kind="person", allowed=GRANTS["person"], user_id="maya", session_id="desk")
    phone = store.append("I live in Porto.", user_id="maya", session_id="phone", claims=lives_in("Porto"))
    own = store.append("I live in Faro.", user_id="maya", session_id="desk", claims=lives_in("Faro"))
    assert "edge_contradicted" in events(store, own)
    with asked_by(desk):
        assert "Porto" not in str(store.why_changed(own))
        assert events(store, own)[0] == "edge_created"
        with pytest.raises(UnknownRecordError):
            store.why_changed(phone)


def test_what_is_said_elsewhere_is_not_given_away(store: Store) -> None:
    """Neither by a claim that is known already, nor by a name, nor by a call that brought others' turns, too."""
    desk = Caller(name="desk", kind="person", allowed=GRANTS["person"], user_id="maya", session_id="desk")
    store.append("I live in Porto.", user_id="maya", session_id="phone", claims=lives_in("Porto"))
    same = store.append("I live in Porto.", user_id="maya", session_id="desk", claims=lives_in("Porto"))
    both = store.append_all(
        [
            Append(
                text="I live in Oslo.", user_id="maya", session_id="phone", claims=tuple(lives_in("Oslo"))
            ),
            Append(text="I live in Rome.", user_id="maya", session_id="desk", claims=tuple(lives_in("Rome"))),
        ]
    )
    assert "edge_reinforced" in events(store, same)
    with asked_by(desk):
        assert [(one.event, one.confidence_before) for one in store.why_changed(same)][:1] == [
            ("edge_created", None)
        ]
        assert "reinforced" not in str(store.why_changed(same))
        assert "phone" not in str(store.why_changed(both.records[1].id))
        assert {one.correlation_id for one in store.why_changed(both.records[1].id)} == {both.records[1].id}


def test_projects_of_one_person_contradict_nothing_of_each_other(store: Store) -> None:
    one = store.append("It runs in Porto.", user_id="maya", project_id="atlas", claims=lives_in("Porto"))
    other = store.append("It runs in Faro.", user_id="maya", project_id="borealis", claims=lives_in("Faro"))
    assert rows(store, "event_type = 'edge_contradicted'") == []
    assert "edge_created" in events(store, one)
    assert "edge_created" in events(store, other)


def test_a_record_that_is_not_there(store: Store) -> None:
    with pytest.raises(UnknownRecordError):
        store.why_changed("exp_2025-05-17T09:00:00Z_0000000300ab")
