"""Affect at the front door: readings, snapshots in the log, and that they go with what they are of."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid
from braid.async_store import AsyncStore
from braid.entry import open
from braid.errors import InvalidRequestError
from braid.ledger.errors import InvalidRecordError
from braid.ledger.record.record import AffectBody, Draft
from braid.store import Store
from braid.tone.snapshots import own

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=lambda: NOW) as opened:
        yield opened


def test_a_text_is_read_and_nothing_written(store: Store) -> None:
    before = len(store)
    assert store.sense("I love it, thank you!").emotion == "joy"
    assert len(store) == before
    with pytest.raises(InvalidRequestError, match="not a whole number"):
        store.sense(7)  # type: ignore[arg-type]


def test_snapshots_are_records_below_their_experience(store: Store) -> None:
    glad = store.append("I love it, thank you!", user_id="maya")
    said = store.append("Sadly it failed.", actor="agent", user_id="maya")
    first, second = store.feel(glad, said, stage="input")
    body = store.get(first).body
    assert isinstance(body, AffectBody)
    assert (body.actor, body.stage, body.primary_emotion) == ("user", "input", "joy")
    assert body.scope is not None
    assert body.scope.user_id == "maya"
    assert store.get(second).body.actor == "agent"  # type: ignore[attr-defined]
    assert [link.id for link in store.get(first).targets("experience")] == [glad]
    rows = store.sql("SELECT actor, stage, valence FROM affect ORDER BY log_index").to_pylist()
    assert [(row["actor"], row["stage"]) for row in rows] == [("user", "input"), ("agent", "input")]
    assert rows[0]["valence"] == body.valence


def test_repeating_adds_nothing_another_stage_does(store: Store) -> None:
    id = store.append("I love it!")
    once = store.feel(id)
    size = len(store)
    assert store.feel(id) == once
    assert len(store) == size
    assert store.feel(id, stage="augmented") != once
    assert store.feel() == ()


def test_a_snapshot_goes_with_what_it_is_of(store: Store) -> None:
    id = store.append("I love it!")
    (snapshot,) = store.feel(id)
    store.erase(id, reason="asked for")
    with pytest.raises(LookupError):
        store.get(snapshot)
    assert store.sql("SELECT count(*) AS n FROM affect WHERE valence IS NOT NULL").to_pylist() == [{"n": 0}]


def test_what_has_no_words_is_refused_and_nothing_is_written(store: Store) -> None:
    id, empty = store.append("I love it!"), store.append("", structured={"steps": 4000})
    size = len(store)
    with pytest.raises(InvalidRecordError, match="has no words"):
        store.feel(id, empty)
    with pytest.raises(ValueError, match="stage"):
        store.feel(id, stage="later")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="actor"):
        store.feel(id, actor="cat")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert len(store) == size


def test_without_a_model_words_and_marks_speak(tmp_path: Path) -> None:
    with open(tmp_path / "store", guard_dir=tmp_path / "guard") as blind:
        found = blind.sense("I love it, thank you!")
    assert found.vad.v > 0.2


def test_the_agents_own_tone_is_that_of_its_newest_snapshots(store: Store) -> None:
    assert own(store, NOW) is None
    for text, actor in (("I love this, it went so well!", "agent"), ("I hate it, it is awful.", "user")):
        store.feel(store.append(text, actor=actor, user_id="maya"), stage="augmented")
    found = own(store, NOW)
    assert found is not None
    assert found.vad.v > 0.2
    later = own(store, NOW + timedelta(hours=2))
    assert later is not None
    assert later.confidence < found.confidence
    assert own(store, NOW + timedelta(days=2)) is None
    hidden = next(r.id for r in store.read() if r.kind == "affect" and r.body.actor == "agent")  # type: ignore[attr-defined]
    store.forget(hidden)
    assert own(store, NOW) is None


def test_the_async_twin(store: Store) -> None:
    async def both() -> tuple[str, int]:
        twin = AsyncStore(store)
        id = await twin.append("I love it!")
        return (await twin.sense("I love it!")).emotion, len(await twin.feel(id))

    assert asyncio.run(both()) == ("joy", 1)


def test_a_draft_of_ones_own_still_goes_in(store: Store) -> None:
    id = store.append("Fine.")
    body = AffectBody(actor="user", stage="input", valence=0.1, arousal=0.5, dominance=0.0)
    snapshot = store.session.append_drafts([Draft(kind="affect", body=body, links=[("experience", id)])])[
        0
    ].id
    assert store.get(snapshot).kind == "affect"
