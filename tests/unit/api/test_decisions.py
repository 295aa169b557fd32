"""What would be done with claims that were learnt: reported, within a scope, as of then, and nothing carried out."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import braid
from braid import Claim
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
