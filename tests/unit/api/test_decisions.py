"""What would be done with claims that were learnt: reported, within a scope, as of then, and nothing carried out."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest

import braid
from braid import Claim
from braid.caller import GRANTS, Caller, asked_by
from braid.errors import AccessDeniedError
from braid.ledger.errors import ErasedError
from braid.ledger.record.record import ExperienceBody
from braid.store import Store

NOW = datetime(2025, 12, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    ticks = iter(range(10**6))
    with braid.open(
        tmp_path / "memory",
        guard_dir=tmp_path / "guard",
        clock=lambda: NOW + timedelta(seconds=next(ticks)),
    ) as opened:
        yield opened


def says(store: Store, rel: str, object_: str, when: str, *, by: str = "Maya", **more: Any) -> str:
    """Append a claim about Maya in somebody's words; return the record's id."""
    claim = Claim(subject="Maya", rel=rel, object=object_, **more)
    day = datetime.fromisoformat(when).replace(tzinfo=UTC)
    text = f"{rel} {object_} {more}"
    return str(store.append(text, claims=[claim], occurred_at=day, actor="user", name=by, user_id="maya"))


def test_the_report_counts_what_would_be_done_and_names_the_records(store: Store) -> None:
    porto = says(store, "lives_in", "Porto", "2025-01-03")
    lisbon = says(store, "lives_in", "Lisbon", "2025-04-02")
    tea = says(store, "drinks", "tea", "2025-01-03")
    no_tea = says(store, "drinks", "tea", "2025-05-03", polarity=False)
    says(store, "pet", "a cat", "2025-05-04")
    says(store, "pet", "a cat", "2025-05-05")
    size = len(store)
    found = store.decision_report(user_id="maya")
    assert len(store) == size
    assert found.actions == {"ADD": 3, "UPDATE": 1, "DELETE": 1, "NONE": 1}
    assert (found.claims, found.left, found.review_needed, found.discarded) == (6, 0, 0, {})
    assert (found.compared, found.agreed) == (2, 2)
    told = {one.action: (one.id, one.target_id) for one in found.examples}
    assert told["UPDATE"] == (lisbon, porto)
    assert told["DELETE"] == (no_tea, tea)
    assert store.decision_report(user_id="maya") == found


def test_it_holds_to_a_scope_a_past_and_its_bounds(store: Store) -> None:
    says(store, "lives_in", "Porto", "2025-01-03")
    says(store, "lives_in", "Lisbon", "2025-04-02")
    says(store, "lives_in", "Rome", "2025-06-02", by="Jonas")
    assert store.decision_report(user_id="jonas").claims == 0
    found = store.decision_report(user_id="maya")
    assert (found.actions["UPDATE"], found.review_needed) == (1, 1)
    then = store.decision_report(user_id="maya", as_of=len(store) - 2)
    assert (then.claims, then.actions["UPDATE"], then.review_needed) == (2, 1, 0)
    newest = store.decision_report(user_id="maya", limit=1, examples=0)
    assert (newest.claims, newest.left, newest.examples) == (1, 2, ())


def test_an_episode_changes_the_state_that_it_ends(store: Store) -> None:
    says(store, "works_at", "Orbit", "2025-01-03")
    says(store, "left_job", "Orbit", "2025-04-02")
    found = store.decision_report()
    assert (found.claims, found.actions["DELETE"], found.agreed) == (2, 1, 1)


# -- review -----------------------------------------------------------------------------------------


def disputed(store: Store) -> tuple[str, str, str]:
    """Two voices that differ; the ids of their records, and of the pair."""
    one = says(store, "lives_in", "Porto", "2025-01-03")
    other = says(store, "lives_in", "Faro", "2025-03-03", by="Jonas")
    (item,) = store.reviews(user_id="maya")
    assert ((item.one.id, item.other.id), item.state) == ((one, other), "waiting")
    assert (item.one.voices, item.other.voices) != ((), ())
    return one, other, item.id


def test_what_nothing_decides_waits_for_a_person_in_its_scope(store: Store) -> None:
    _, _, id = disputed(store)
    assert store.review(id, user_id="maya").other.says == "Maya lives in Faro"
    assert store.reviews(user_id="jonas") == ()
    with pytest.raises(ValueError, match="nothing in this scope"):
        store.review(id, user_id="jonas")


@pytest.mark.parametrize("keep", ["one", "other"])
def test_accepting_is_a_signed_correction_and_forgetting_it_asks_again(
    store: Store, keep: Literal["one", "other"]
) -> None:
    *ids, id = disputed(store)
    done = store.accept_review(id, keep=keep, reason="she told me", user_id="maya")
    kept = {"one": "Porto", "other": "Faro"}[keep]
    assert (
        store.stance("Where does Maya live?", user_id="maya", append=False).claim == f"Maya lives in {kept}"
    )
    record = store.get(done.id)
    assert isinstance(record.body, ExperienceBody)
    assert (record.body.content.structured, record.body.reason) == ({"review": id}, "she told me")
    assert {link.id for link in record.links} == set(ids)
    size = len(store)
    again = store.accept_review(id, keep=keep, reason="she told me", user_id="maya")
    assert (again.id, again.is_new, len(store)) == (done.id, False, size)
    assert store.reviews(user_id="maya") == ()
    assert [one.decided for one in store.reviews(user_id="maya", state="accepted")] == [done.id]
    with pytest.raises(ValueError, match="forget that first"):
        store.reject_review(id, reason="both", user_id="maya")
    store.forget(done.id)
    assert [one.id for one in store.reviews(user_id="maya")] == [id]


@pytest.mark.parametrize("keep", ["one", "other"])
def test_what_was_read_of_turns_is_accepted_too(store: Store, keep: Literal["one", "other"]) -> None:
    for at, name, text in (
        ("2025-03-02", "maya", "I live in Porto."),
        ("2025-05-02", "jonas", "Maya lives in Faro."),
    ):
        said = {"role": "user", "name": name, "content": text, "timestamp": f"{at}T10:00:00Z"}
        store.remember([said], user_id="maya")
    (item,) = store.reviews(user_id="maya")
    done = store.accept_review(item.id, keep=keep, reason="she told me", user_id="maya")
    assert store.get(done.id).envelope.type == "inference"
    assert store.reviews(user_id="maya") == ()
    told = store.stance("Where does Maya live?", user_id="maya", append=False).claim
    assert told is not None
    assert told.endswith({"one": "Porto", "other": "Faro"}[keep])


def test_what_was_kept_goes_with_its_words(store: Store) -> None:
    one, _, id = disputed(store)
    done = store.accept_review(id, keep="one", reason="she told me", user_id="maya")
    store.erase(one)
    assert store.stance("Where does Maya live?", user_id="maya", append=False).claim == "Maya lives in Faro"
    with pytest.raises(ErasedError):
        store.get(done.id)


def test_rejecting_leaves_both_and_asks_no_more(store: Store) -> None:
    _, _, id = disputed(store)
    done = store.reject_review(id, reason="both are right", user_id="maya")
    assert store.reviews(user_id="maya") == ()
    assert store.review(id, user_id="maya").state == "rejected"
    assert store.reject_review(id, reason="both are right", user_id="maya").is_new is False
    assert store.decision_report(user_id="maya").review_needed == 1
    with pytest.raises(ValueError, match="forget that first"):
        store.accept_review(id, keep="one", reason="no", user_id="maya")
    store.forget(done.id)
    assert [one.id for one in store.reviews(user_id="maya")] == [id]


def test_a_later_word_settles_what_waits(store: Store) -> None:
    disputed(store)
    says(store, "lives_in", "Faro", "2025-06-03")
    assert store.reviews(user_id="maya") == ()


def test_no_program_settles_it(store: Store) -> None:
    _, _, id = disputed(store)
    agent = Caller(name="desk", kind="agent", allowed=GRANTS["agent"], user_id="maya")
    with asked_by(agent), pytest.raises(AccessDeniedError, match="a person or an operator"):
        store.accept_review(id, keep="one", reason="it seems so")
    with asked_by(agent), pytest.raises(AccessDeniedError, match="a person or an operator"):
        store.reject_review(id, reason="it seems so")
    person = Caller(name="maya", kind="person", allowed=GRANTS["person"], user_id="maya")
    with asked_by(person):
        assert store.accept_review(id, keep="one", reason="I know where I live").is_new


def test_a_move_that_another_tells_of_is_settled_either_way(store: Store) -> None:
    says(store, "lives_in", "Porto", "2025-01-03")
    says(store, "moved_to", "Faro", "2025-03-03", by="Jonas")
    (item,) = store.reviews()
    done = store.accept_review(item.id, keep="one", reason="she told me")
    assert store.stance("Where does Maya live?", append=False).claim == "Maya lives in Porto"
    assert store.reviews() == ()
    store.forget(done.id)
    says(store, "lives_in", "Porto", "2025-07-01", source_type="corrected")
    assert store.reviews() == ()


def test_accepting_the_move_makes_its_place_the_home(store: Store) -> None:
    says(store, "lives_in", "Porto", "2025-01-03")
    says(store, "moved_to", "Faro", "2025-03-03", by="Jonas")
    (item,) = store.reviews()
    store.accept_review(item.id, keep="other", reason="he was there")
    assert store.stance("Where does Maya live?", append=False).claim == "Maya lives in Faro"
