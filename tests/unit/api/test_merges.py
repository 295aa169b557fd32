"""What was decided of names stands in the history of each memory that says them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from braid.caller import GRANTS, Caller, asked_by
from braid.entry import open as open_store
from braid.ledger.record.record import Claim
from braid.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "memory", guard_dir=tmp_path / "guard") as opened:
        yield opened


def say(store: Store, text: str, *claim: str, user_id: str = "maya", **more: Any) -> str:
    """Append what was said and what was read of it; return the id of what was said."""
    turn = store.append(text, user_id=user_id, actor="user", name="Maya", **more)
    subject, rel, object_ = claim
    made = Claim(subject=subject, rel=rel, object=object_, quote=text)
    store.append(f"read of {turn}", type="inference", user_id=user_id, parents=[turn], claims=[made], **more)
    return turn


@pytest.fixture
def people(store: Store) -> tuple[str, str]:
    return (
        say(store, "Bob fixed the gate.", "Bob", "fixed", "the gate"),
        say(store, "Robert Kinsella lives in Leeds.", "Robert Kinsella", "lives_in", "Leeds"),
    )


def rows(store: Store, id: str, **how: Any) -> list[tuple[str | None, str | None, str | None]]:
    """What the rows `MERGE` of a memory say: what was decided, and which names meant one before, and since."""
    found = store.history(id, **how).changes
    assert [one.index for one in found] == sorted(one.index for one in found)
    return [(one.decided, one.old, one.new) for one in found if one.change == "MERGE"]


def test_a_merge_and_its_end_stand_in_the_history_of_both_memories(
    store: Store, people: tuple[str, str]
) -> None:
    bob, robert = people
    third = say(store, "It rained in Hull.", "it", "rained_in", "Hull")
    done = store.merge_entities("Bob", "Robert Kinsella", user_id="maya", by="maya", reason="she said so")
    assert rows(store, bob) == [("merge", "bob", "bob, robert kinsella")]
    assert rows(store, robert) == [("merge", "robert kinsella", "bob, robert kinsella")]
    assert rows(store, third) == []
    row = store.history(bob).changes[-1]
    assert (row.id, row.record, row.reason, row.name, row.version) == (done.id, bob, "she said so", "maya", 1)
    assert store.history(bob).version == 1  # the memory itself has not changed
    before = len(store) - 1
    store.split_entity("Bob", user_id="maya", reason="two people")
    assert rows(store, robert)[1:] == [("retract", "bob, robert kinsella", "robert kinsella")]
    assert store.history(robert).changes[-1].reason == "two people"
    assert rows(store, robert, as_of=before) == [("merge", "robert kinsella", "bob, robert kinsella")]
    later = say(store, "Bob painted it.", "Bob", "painted", "the gate")
    assert rows(store, later) == []  # all of that was before it was said


def test_names_that_are_parted_and_turns_that_mean_another(store: Store) -> None:
    here = say(store, "Alex is my boss.", "Alex", "is", "my boss")
    there = say(store, "Alex is four.", "Alex", "is", "four")
    store.alias_entity("Alex", ["Lex"], user_id="maya")
    assert rows(store, here) == rows(store, there) == [("alias", "alex", "alex, Lex")]
    store.split_entity("Alex", turns=[here], user_id="maya")
    assert rows(store, here)[1:] == [("split", "alex", "another alex")]
    assert rows(store, there)[1:] == [("split", "alex", "alex apart from another alex")]
    uses = say(store, "I use QuickBooks.", "user", "uses", "QuickBooks")
    short = say(store, "QB is slow.", "QB", "is", "slow")
    store.merge_entities("QB", "QuickBooks", user_id="maya")
    store.split_entity("QuickBooks", names=["QB"], user_id="maya")
    assert rows(store, short)[-1][::2] == ("apart", "qb")
    assert rows(store, uses)[-1][::2] == ("apart", "quickbooks")


def test_a_decision_that_is_forgotten_keeps_its_row_without_its_names(
    store: Store, people: tuple[str, str]
) -> None:
    bob, robert = people
    done = store.merge_entities("Bob", "Robert Kinsella", user_id="maya").id
    assert done is not None
    store.forget(done, reason="a mistake")
    assert rows(store, bob) == [("merge", None, None), ("forget", None, None)]
    store.recover(done)
    assert rows(store, bob)[0] == ("merge", "bob", "bob, robert kinsella")
    store.erase(robert)
    assert rows(store, bob)[0] == (
        "merge",
        "bob",
        "bob, a name that is gone",
    )  # whose name it was is gone with the turn that said it
    store.erase(done)
    assert rows(store, bob) == []  # what it was is gone with its key


def test_a_name_goes_with_the_turns_that_say_it_and_comes_back_with_them(
    store: Store, people: tuple[str, str]
) -> None:
    bob, robert = people
    store.merge_entities("Bob", "Robert Kinsella", user_id="maya")
    store.forget(bob, reason="not to be told")
    assert rows(store, bob) == [("merge", None, None)]
    assert rows(store, robert) == [("merge", "robert kinsella", "robert kinsella, a name that is gone")]
    store.recover(bob)
    assert rows(store, bob) == [("merge", "bob", "bob, robert kinsella")]
    mended = store.correct(bob, "Bob mended the gate.")
    say(store, "Bob has a ladder.", "Bob", "has", "a ladder")
    store.forget(mended, only=True, reason="a mistake")
    assert rows(store, bob) == [("merge", "bob", "bob, robert kinsella")]  # it says so still
    store.forget(bob, reason="not to be told")
    assert rows(store, bob) == [("merge", None, None)]


def test_other_names_go_with_the_turns_that_say_the_name(store: Store) -> None:
    alex = say(store, "Alex is my boss.", "Alex", "is", "my boss")
    other = say(store, "Alex is four.", "Alex", "is", "four")
    store.alias_entity("Alex", ["Lex"], user_id="maya")
    store.split_entity("Alex", turns=[alex], user_id="maya")
    store.forget(alex, reason="not to be told")
    assert rows(store, alex) == [("alias", None, None), ("split", None, None)]
    assert rows(store, other) == [
        ("alias", "alex", "alex, Lex"),
        ("split", "alex", "alex apart from another alex"),
    ]


def test_who_is_held_to_a_scope_is_shown_what_was_decided_there(store: Store) -> None:
    bob = say(store, "Bob fixed the gate.", "Bob", "fixed", "the gate", session_id="s1")
    say(store, "Robert Kinsella lives in Leeds.", "Robert Kinsella", "lives_in", "Leeds", session_id="s2")
    store.merge_entities("Bob", "Robert Kinsella", user_id="maya")
    held = Caller(name="m", kind="person", allowed=GRANTS["person"], user_id="maya", session_id="s1")
    with asked_by(held):
        assert rows(store, bob) == []
    with asked_by(Caller(name="m", kind="person", allowed=GRANTS["person"], user_id="maya")):
        assert rows(store, bob) == [("merge", "bob", "bob, robert kinsella")]


def test_the_audit_trail_calls_it_a_merge(store: Store, people: tuple[str, str]) -> None:
    store.merge_entities("Bob", "Robert Kinsella", user_id="maya")
    store.split_entity("Bob", user_id="maya")
    trail = store.sql(
        "SELECT operation, event_type FROM audit_trail WHERE starts_with(event_type, 'entity_') "
        "AND operation IN ('MERGE', 'REVISE') ORDER BY log_index"
    )
    assert trail.to_pydict() == {
        "operation": ["MERGE", "REVISE"],
        "event_type": ["entity_merge", "entity_retract"],
    }


def test_no_row_says_that_a_name_became_itself(store: Store) -> None:
    both = say(store, "Thomas met Tomas.", "Thomas", "met", "Tomas")
    here = say(store, "Thomas is my boss.", "Thomas", "is", "my boss")
    store.merge_entities("Thomas", "Tomas", user_id="maya")
    store.split_entity("Thomas", names=["Tomas"], user_id="maya")
    store.split_entity("Thomas", turns=[here], user_id="maya")
    parted = [one.id for one in store.entities(user_id="maya").entities if one.name == "Thomas"]
    store.merge_entities(*parted, user_id="maya")
    assert rows(store, both) == [
        ("merge", "thomas apart from tomas", "thomas, tomas"),
        ("apart", "tomas, thomas", "tomas apart from thomas"),
        ("split", "thomas", "thomas apart from another thomas"),
        ("merge", "thomas", "thomas, another thomas"),
    ]
    assert rows(store, here)[-1] == ("merge", "thomas", "another thomas, thomas")
