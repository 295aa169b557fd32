"""Lists, courses and changes: told only where they are asked for, of the topic alone, and bounded as is said."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

import braid
from braid.agent.answer.lists.request import list_request
from braid.agent.answer.lists.values import ValueKind, values
from braid.store import Store

GARAGE: Final = (
    ("2026-01-12", "The garage says the clutch is £900."),
    ("2026-01-13", "Call the garage on 0176 5550123 about the clutch."),
    ("2026-01-16", "The garage wants £1,140 now, with the flywheel."),
    ("2026-01-20", "We paid £85 for the concert."),
    ("2026-01-23", "The garage took £1,085 in the end."),
    ("2026-02-01", "Ida got a parcel from Bergen."),
    ("2026-02-03", "Ida got another parcel, the one with the skis."),
    ("2026-02-04", "Tom got a letter."),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    place: Path = tmp_path_factory.mktemp("lists")
    with braid.open(place / "store", guard_dir=place / "guard") as opened:
        for day, text in GARAGE:
            opened.append(text, user_id="maya", occurred_at=datetime.fromisoformat(f"{day}T09:00:00+00:00"))
        yield opened


def _ask(store: Store, question: str, *, whole: bool = False) -> str:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    return store.ask(question, user_id="maya", now=now, write=False, affect=False, all=whole).plain


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("how did the garage's price go, from first to last", "timeline"),
        ("What happened with the claim?", "timeline"),
        ("what changed with the rota?", "changes"),
        ("How has my dose changed?", "changes"),
        ("What do you know of Sam?", "known"),
        ("which two doctors have I been dealing with?", "list"),
        ("can you list the three oven quotes we had", "list"),
        ("Which parcels did Ida get?", "list"),
        ("what did we decide and reverse?", "changes"),
    ],
)
def test_a_question_that_asks_for_a_list_is_one(question: str, kind: str) -> None:
    found = list_request(question)
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize(
    "question",
    [
        "Where does Jonas live?",
        "How much was the deposit?",
        "which of the boys has the nut allergy",
        "name of the vet",
        "what days did we have the flat in the mountains",
        "how many parcels did Ida get?",
        "Why did the price go up?",
        "how did that go again?",
        "",
    ],
)
def test_a_question_for_one_thing_is_none(question: str) -> None:
    assert list_request(question) is None


def test_a_course_is_of_its_topic_and_of_values_alone(store: Store) -> None:
    told = _ask(store, "How did the garage's price go over time?")
    assert [told.index(each) for each in ("£900", "£1,140", "£1,085")] == sorted(
        told.index(each) for each in ("£900", "£1,140", "£1,085")
    )
    assert "0176" not in told
    assert "concert" not in told


def test_a_list_has_every_turn_that_is_wholly_of_it(store: Store) -> None:
    told = _ask(store, "Which parcels did Ida get?")
    assert "Bergen" in told
    assert "skis" in told
    assert "letter" not in told


def test_what_nobody_speaks_of_is_no_list(store: Store) -> None:
    told = _ask(store, "Which parcels did Oskar get from the palace?")
    assert "Bergen" not in told


def test_a_list_says_how_much_of_it_is_told(store: Store, tmp_path: Path) -> None:
    del store
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard") as opened:
        for day in range(1, 16):
            at = datetime(2026, 1, day, tzinfo=UTC)
            opened.append(f"The claim got letter number {day}.", user_id="maya", occurred_at=at)
        short = _ask(opened, "What happened with the claim?")
        whole = _ask(opened, "What happened with the claim?", whole=True)
    assert "the last 12 of 15" in short
    assert "number 15" in short
    assert "number 1." not in short
    assert "the last" not in whole
    assert "number 1" in whole


@pytest.mark.parametrize(
    ("sort", "text", "found"),
    [
        ("sum", "ring 0176 5550123, it is £40", ["£40"]),
        ("sum", "the man comes at 11, it was 420", ["420"]),
        ("sum", "on the 21st it is 35 a head", ["35 a head"]),
        ("day", "moved from March 20 to the 22nd", ["March 20", "22nd"]),
        ("weekday", "tuesdays and thurs", ["tuesdays", "thurs"]),
        ("number", "14 tests pass since 2026-05-11", ["14 tests"]),
    ],
)
def test_a_number_is_of_what_stands_beside_it(sort: str, text: str, found: list[str]) -> None:
    assert [each.strip() for each in values(ValueKind(sort), text)] == found  # type: ignore[arg-type]
