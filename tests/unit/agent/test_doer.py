"""Who says "I'll bring the grill" is who brings it; who saw somebody is nobody's doctor."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid
from braid.agent.answer.turn.spans import best_span
from braid.recall.decompose import decompose

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = (
    ("Stu", "I can't bring the tent, sorry"),
    ("Ravi", "I'll bring the grill"),
    ("Priya", "I'm taking over the CSV export"),
    ("Devon", "I'm off next week. Priya has my pager from Monday"),
    ("Moni", "I saw Lotte's teacher on Friday"),
    ("Ann", "great"),
    ("Timo", "I have to be back by Sunday evening, exam on Monday"),
    ("Mira", "count me in. I can't have nuts though, please check the marinade"),
)


def asked(home: Path, question: str) -> str:
    """Return the shortest answer, empty where nothing is told."""
    with braid.open(home / "memory", guard_dir=home / "guard") as store:
        for days, (who, text) in enumerate(SAID):
            store.append(text, actor="user", name=who, user_id="u", occurred_at=NOW + timedelta(days=days))
        found = store.ask(question, user_id="u", write=False, now=NOW + timedelta(days=60))
    return (found.short or "said") if found.rung == "said" else ""


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("question", "who"),
    [
        ("who brings the grill", "Ravi"),
        ("who is doing the CSV export?", "Priya"),
        ("who can't eat nuts", "Mira"),
        ("who has an exam on Monday?", "Timo"),
    ],
)
def test_who_says_it_of_themselves_is_meant(tmp_path: Path, question: str, who: str) -> None:
    assert asked(tmp_path, question) == who


def test_a_known_name_that_opens_a_sentence_is_one(tmp_path: Path) -> None:
    assert "Priya" in asked(tmp_path, "who has Devon's pager")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "question", ["who is Lotte's teacher", "who brings the tent", "who can't bring the grill", "who has nuts"]
)
def test_who_denies_it_or_only_speaks_of_it_is_not(tmp_path: Path, question: str) -> None:
    assert asked(tmp_path, question) not in ("Moni", "Stu", "Ravi", "Mira")


def test_the_name_stands_in_the_piece_that_speaks_of_it() -> None:
    said = "I'm on the import job for DHL, Priya's on the login rewrite, Olek on alerts"
    found = best_span(decompose("who is on the login rewrite", NOW), said, NOW)
    assert found is not None
    assert found.short == "Priya"


def test_who_is_called_so_is_meant_before_all() -> None:
    said = "Swimming's on Fridays now because Mrs Hahn left, the new teacher is called Benno"
    found = best_span(decompose("who teaches swimming now?", NOW), said, NOW)
    assert found is not None
    assert found.short == "Benno"
