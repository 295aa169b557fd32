"""What was said counts from when it was said, whenever it is read: all at once, long after, or by a newer reader."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid
from braid.store import Store
from tests.unit.api.mutation_play import Clock

BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)


def held(store: Store) -> str | None:
    return store.stance("Where do I live?", user_id="maya", append=False).claim


@pytest.mark.parametrize("learnt", ["at once", "long after"])
def test_the_newer_word_counts(tmp_path: Path, learnt: str) -> None:
    clock = Clock()
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=clock) as store:
        for days, home in ((0, "Leeds"), (30, "York")):
            clock.now = BEGIN + timedelta(days=days)
            store.append(f"I live in {home}.", user_id="maya", actor="user", name="Maya")
            if learnt == "at once":
                store.learn()
        clock.now = BEGIN + timedelta(days=60)
        store.learn()
        assert held(store) == "Maya lives in York"
        readings = [one for one in store.read() if one.type == "inference"]
        assert [one.body.occurred_at.date() for one in readings] == [  # type: ignore[union-attr]
            BEGIN.date(), (BEGIN + timedelta(days=30)).date(),
        ]  # fmt: skip
        assert store.verify(rederive=True).findings == []
