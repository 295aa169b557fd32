"""Who asks where they live is shown their new flat, and not where their mother lives."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import braid

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = (
    "my new flat is on Lindenweg 14, third floor left",
    "rent is 780 warm, plus 45 for the garage",
    "got the keys on Friday from Mrs Brandt, she's the caretaker",
    "my mum still lives in Hafenstrasse 3, on the ground floor",
)


def test_the_flat_is_where_somebody_lives(tmp_path: Path) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        for minutes, text in enumerate(SAID):
            store.append(
                text, actor="user", name="Oskar", user_id="u", occurred_at=NOW + timedelta(minutes=minutes)
            )
        mine = store.ask("where do I live now", user_id="u", write=False, now=NOW + timedelta(days=7))
        mums = store.ask("where does my mum live", user_id="u", write=False, now=NOW + timedelta(days=7))
    assert "Lindenweg" in mine.citations[0].text
    assert "Hafenstrasse" in mums.short
