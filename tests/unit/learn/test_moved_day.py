"""What is moved to a weekday with its number is on that day, and not on the next of that name."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import braid

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def test_the_number_of_the_weekday_counts(tmp_path: Path) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        store.append("The release is on Thursday 12 March", name="Ann", user_id="u", occurred_at=NOW)
        later = NOW + timedelta(days=2)
        store.append(
            "They pushed the release to Tuesday the 17th", name="Ann", user_id="u", occurred_at=later
        )
        store.learn()
        found = store.ask("when is the release", user_id="u", write=False, now=NOW + timedelta(days=30))
    assert found.short == "17 March 2026"
