"""What a conversation begins with: the last day in a few sentences, each a memory that stands, within the budget."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid
from braid.recall.context import tokens
from braid.store import Store
from tests.unit.api.mutation_play import Clock

DAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = [
    "The roof of the shed leaks above the workbench.",
    "The roofer looks at the shed roof on Monday.",
    "The shed roof needs new felt and two boards.",
    "Lunch was soup.",
]


@pytest.fixture
def clock() -> Clock:
    made = Clock()
    made.now = DAY
    return made


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=clock) as opened:
        yield opened


def say(store: Store, texts: list[str], *, session_id: str = "one") -> list[str]:
    return [
        store.append(text, actor="user", name="Maya", user_id="maya", session_id=session_id) for text in texts
    ]


def busy(store: Store, clock: Clock, *, days: int) -> None:
    """Let enough be said on a later day that nothing of the days before is among the newest turns."""
    clock.now = DAY + timedelta(days=days)
    say(store, [f"Parcel number {number} arrived at the depot." for number in range(12)], session_id="two")


def part(text: str, name: str) -> list[str]:
    found = re.search(rf"<{name}>\n(.*?)</{name}>", text, re.DOTALL)
    return re.findall(r'id="([^"]+)"', found[1]) if found else []


def test_the_last_day_before_today_comes_in_a_few_sentences(store: Store, clock: Clock) -> None:
    ids = say(store, SAID)
    busy(store, clock, days=1)
    text = store.briefing(user_id="maya")
    summary = part(text, "last-day")
    assert set(summary) <= set(ids)
    assert 1 <= len(summary) <= 3
    assert summary == sorted(summary, key=ids.index), "in the order in which it was said"
    assert "soup" not in text
    assert len(part(text, "lately")) == 12
    assert tokens(text) <= 800


def test_what_is_told_in_full_is_not_summed_up(store: Store, clock: Clock) -> None:
    say(store, SAID)
    clock.now = DAY + timedelta(days=1)
    text = store.briefing(user_id="maya")
    assert part(text, "last-day") == []
    assert len(part(text, "lately")) == 4


def test_what_is_shown_is_not_summed_up_again_nor_an_older_day_instead(store: Store, clock: Clock) -> None:
    say(store, ["The attic got a new lamp.", "Ida sold the blue kayak."])
    clock.now = DAY + timedelta(days=1)
    say(store, ["The shed has a leak."] * 3, session_id="two")
    say(store, [f"Parcel number {number} arrived at the depot." for number in range(11)], session_id="two")
    clock.now = DAY + timedelta(days=2)
    text = store.briefing(user_id="maya")
    assert len(part(text, "lately")) == 12
    assert part(text, "last-day") == []
    assert text.count("The shed has a leak.") == 1


def test_today_is_no_day_before(store: Store, clock: Clock) -> None:
    say(store, SAID)
    busy(store, clock, days=0)
    assert part(store.briefing(user_id="maya"), "last-day") == []


def test_what_is_forgotten_erased_or_anothers_is_in_no_summary(store: Store, clock: Clock) -> None:
    ids = say(store, SAID)
    store.append("The shed roof of the neighbours is new.", actor="user", name="Tom", user_id="tom")
    busy(store, clock, days=1)
    first = part(store.briefing(user_id="maya"), "last-day")
    store.forget(first[0])
    store.erase(first[1])
    left = part(store.briefing(user_id="maya"), "last-day")
    assert set(left) <= set(ids) - set(first[:2])
    store.recover(first[0])
    assert first[0] in part(store.briefing(user_id="maya"), "last-day")


def test_a_session_that_goes_on_is_left_out(store: Store, clock: Clock) -> None:
    say(store, SAID, session_id="mine")
    busy(store, clock, days=1)
    assert part(store.briefing(user_id="maya", besides="mine"), "last-day") == []


def test_no_budget_is_passed(store: Store, clock: Clock) -> None:
    say(store, [f"{text} {'Felt and boards. ' * 8}" for text in SAID])
    busy(store, clock, days=1)
    for budget in (100, 200, 400):
        assert tokens(store.briefing(user_id="maya", budget=budget)) <= budget
