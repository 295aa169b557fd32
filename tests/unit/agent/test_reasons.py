"""A reason is one without "because", too, where the cross-encoder reads the turn as an answer beyond doubt."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = ("I don't work Mondays, uni all day", "these days I do four shifts a week", "Giulia does the rota")


@pytest.mark.parametrize(
    ("question", "rung"), [("why can't I work on mondays", "said"), ("why does Giulia do the rota", "near")]
)
def test_a_reason_that_reads_as_one_is_told(tmp_path: Path, question: str, rung: str) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        for days, text in enumerate(SAID):
            store.append(text, actor="user", user_id="u", occurred_at=NOW + timedelta(days=days))
        found = store.ask(question, user_id="u", write=False, now=NOW + timedelta(days=60))
    assert found.rung == rung
