"""Who asks how something was at the start is told the earliest value, or none, and never the latest."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
RUNS = ("the DHL import takes 47 minutes", "the DHL import takes 8 minutes now, I added an index")
DOSE = ("I take 50 mg sertraline in the morning", "to begin with I had 25, that was in August")
SQUATS = (
    "The physio has me doing 10 squats in the morning and 10 at night.",
    "Squats: 20 now, morning and night.",
)
VAN = (
    "I've been leaving the van at the train station",
    "found a spot on Mill Lane, free, van stands there since sunday",
)
PILL = (
    "pepper has the pill once a day with breakfast",
    "vet rang, pepper gets the pill twice a day from now on",
)
PLACE = ("the wedding is at Gut Holzhof", "at the very start we wanted the town hall for the wedding")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("question", "said", "wrong"),
    [
        ("how long did the DHL import take at the very start", RUNS, "8"),
        ("how long did the DHL import take to begin with", RUNS, "8"),
        ("how much sertraline did I take to begin with", DOSE, "50"),
        ("where did we want the wedding at the very start?", PLACE, "Holzhof"),
        ("How many squats did I do at first?", SQUATS, "20"),
        ("How many squats was it before 20?", SQUATS, "20"),
        ("where was the van before mill lane?", VAN, "Mill"),
        ("how often did pepper take his pill before the vet changed it?", PILL, "twice"),
    ],
)
def test_the_latest_is_not_told(tmp_path: Path, question: str, said: tuple[str, ...], wrong: str) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        for days, text in enumerate(said):
            store.append(text, actor="user", user_id="u", occurred_at=NOW + timedelta(days=days))
        found = store.ask(question, user_id="u", write=False, now=NOW + timedelta(days=60))
    assert wrong not in (found.short or "").split()
