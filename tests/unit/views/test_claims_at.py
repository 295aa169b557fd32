"""`claims_at` gives what held then: what its own voice had replaced or denied by then no longer does."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from braid import open as open_store
from braid.ledger.record.record import READING, Claim, Content, Draft, ExperienceBody, Provenance, Scope
from braid.store import Store

Said = tuple[str, str, bool]
LEEDS: Said = ("lives_in", "Leeds", True)
EDINBURGH: Said = ("lives_in", "Edinburgh", True)
COFFEE: Said = ("likes", "coffee", True)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "memory") as opened:
        opened.followers.clear()  # nothing is read here but what a test says
        yield opened


def tell(
    store: Store, day: str, *claimed: Said, user: str = "maya", name: str | None = None, **more: Any
) -> str:
    """Say something on a day, and read these claims from it; return the turn's id."""
    at = datetime.fromisoformat(day).replace(tzinfo=UTC)
    turn = store.append(str(claimed), user_id=user, actor="user", name=name, occurred_at=at)
    claims = [Claim(subject="user", rel=rel, object=what, polarity=yes, **more) for rel, what, yes in claimed]
    body = ExperienceBody(
        content=Content(text="it"),
        provenance=Provenance(actor="agent", method=f"{READING}tester@1"),
        symbolic=claims,
        occurred_at=at,
        scope=Scope(user_id=user),
    )
    store.session.append_drafts(
        [Draft(kind="experience", type="inference", body=body, links=[("parent", turn)])]
    )
    return turn


def held(store: Store, day: str, asked: str = "") -> list[Said]:
    found = store.sql(f"SELECT rel, object, polarity FROM claims_at('{day}'{asked})").to_pylist()
    return [(row["rel"], row["object"], row["polarity"]) for row in found]


def test_what_was_replaced_holds_before_its_change_and_not_after(store: Store) -> None:
    tell(store, "2024-01-10", LEEDS, COFFEE)
    moved = tell(store, "2024-06-10", EDINBURGH, ("likes", "coffee", False))
    assert held(store, "2024-05-01") == [COFFEE, LEEDS]
    assert held(store, "2024-12-01") == [("likes", "coffee", False), EDINBURGH]
    store.forget(moved)
    assert held(store, "2024-12-01") == [COFFEE, LEEDS]


def test_what_was_left_and_came_back_holds(store: Store) -> None:
    for day, where in (("2024-01-10", LEEDS), ("2024-03-10", EDINBURGH), ("2024-06-10", LEEDS)):
        tell(store, day, where)
    assert held(store, "2024-04-01") == [EDINBURGH]
    assert set(held(store, "2024-12-01")) == {LEEDS}


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        (LEEDS, ("moved_to", "Edinburgh", True), [("moved_to", "Edinburgh", True)]),
        (LEEDS, ("moved_from", "Leeds", True), [("moved_from", "Leeds", True)]),
        (COFFEE, ("hates", "coffee", True), [("hates", "coffee", True)]),
        (("dislikes", "coffee", True), COFFEE, [COFFEE]),
        (COFFEE, ("likes", "tea", True), [COFFEE, ("likes", "tea", True)]),
        (LEEDS, ("lives_in", "Leeds, in Meanwood", True), [LEEDS, ("lives_in", "Leeds, in Meanwood", True)]),
        (COFFEE, ("drinks", "coffee", False), [("drinks", "coffee", False), COFFEE]),
    ],
)
def test_what_excludes_another_is_what_a_stance_says(
    store: Store, before: Said, after: Said, left: list[Said]
) -> None:
    tell(store, "2024-01-10", before)
    tell(store, "2024-06-10", after)
    assert held(store, "2024-12-01") == left


def test_what_is_said_in_one_breath_holds_together(store: Store) -> None:
    both: list[Said] = [("favourite_film", "Alien", True), ("favourite_film", "Brazil", True)]
    tell(store, "2024-01-10", *both, quote="my favourite films are Alien and Brazil")
    assert held(store, "2024-12-01") == both


def test_a_later_time_of_which_was_said_earlier_and_of_another_voice_or_memory(store: Store) -> None:
    tell(store, "2024-06-10", LEEDS, name="Maya")
    tell(store, "2024-08-10", EDINBURGH, name="Noor")  # another voice: a stance weighs them
    assert held(store, "2024-12-01") == [LEEDS, EDINBURGH]
    tell(store, "2024-09-10", ("lives_in", "Ghent", True), user="ben")
    assert held(store, "2024-12-01", ", user_id := 'ben'") == [("lives_in", "Ghent", True)]
    assert len(held(store, "2024-12-01")) == 3


def test_what_began_long_ago_takes_nothing_back_that_was_said_since(store: Store) -> None:
    tell(store, "2024-01-10", LEEDS)
    long_ago = datetime(2010, 1, 1, tzinfo=UTC)
    tell(store, "2024-06-10", ("moved_to", "Porto", True), valid_from=long_ago)
    assert LEEDS in held(store, "2024-12-01")


def test_what_is_only_inferred_takes_nothing_back(store: Store) -> None:
    tell(store, "2024-01-10", LEEDS)
    tell(store, "2024-06-10", EDINBURGH, source_type="inferred")
    assert held(store, "2024-12-01") == [LEEDS]
