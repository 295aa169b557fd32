"""What "make that 14" puts right, what only sounds like a change, and whose yes or no something is."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
CHAIRS = "How many chairs do we need?"


def asked(home: Path, said: list[tuple[int, str, str]], question: str = CHAIRS) -> tuple[str, str]:
    """Return the shortest answer and the whole, where these were said: minutes on, by whom, what."""
    with braid.open(home / "memory", guard_dir=home / "guard") as store:
        for minutes, who, text in said:
            actor = "agent" if who == "Bot" else "user"
            when = NOW + timedelta(minutes=minutes)
            store.append(text, actor=actor, name=who, user_id="u", occurred_at=when)
        found = store.ask(question, user_id="u", write=False, now=NOW + timedelta(days=60))
    return found.short or "", found.plain


@pytest.mark.parametrize(
    "said",
    [
        [(0, "Ann", "We need 12 chairs."), (1, "Ann", "Actually make that 14.")],
        [(0, "Ann", "We need 12 chairs."), (1, "Bot", "Sure, noted."), (2, "Ann", "Actually make that 14.")],
    ],
)
def test_what_was_said_right_before_is_mended(tmp_path: Path, said: list[tuple[int, str, str]]) -> None:
    short, whole = asked(tmp_path, said)
    assert short == "14"
    assert "12 chairs" in whole


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "mend",
    ["Make that fourteen.", "Actually 14", "No wait, fourteen!", "sorry, I meant 14", "Oops, it's 14."],
)
def test_a_mend_may_be_put_in_other_words(tmp_path: Path, mend: str) -> None:
    short, whole = asked(tmp_path, [(0, "Ann", "We need 12 chairs."), (1, "Ann", mend)])
    assert short in ("14", "fourteen")
    assert "12 chairs" in whole


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "between",
    [
        [(1, "Bob", "How old is your son now, 13?"), (2, "Ann", "No, 14.")],
        [(1, "Bob", "Is the meeting at three?"), (2, "Ann", "No, four.")],
        [(1, "Bob", "How many people said yes?"), (2, "Ann", "Actually 14.")],
        [(1, "Bob", "How old is your son now?"), (2, "Ann", "It's 14.")],
        [(1, "Ann", "Wait, one.")],
    ],
)
def test_a_short_reply_to_somebody_else_mends_nothing(
    tmp_path: Path, between: list[tuple[int, str, str]]
) -> None:
    short, _ = asked(tmp_path, [(0, "Ann", "We need 12 chairs."), *between])
    assert "12" in short


@pytest.mark.parametrize(
    ("said", "mend"),
    [("We need 12 chairs by 5 May.", "Sorry, 6."), ("We need 12 chairs and 3 tables.", "No, 4.")],
)
def test_of_two_numbers_none_is_mended_by_a_bare_one(tmp_path: Path, said: str, mend: str) -> None:
    short, _ = asked(tmp_path, [(0, "Ann", said), (1, "Ann", mend)])
    assert "12" in short


@pytest.mark.parametrize("other", ["Bob", "Ann"])
def test_what_lies_between_in_the_log_is_not_said_between(tmp_path: Path, other: str) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        for minutes, text in ((0, "We need 12 chairs."), (1, "Actually make that 14.")):
            when = NOW + timedelta(minutes=minutes)
            store.append(text, actor="user", name="Ann", user_id="u", session_id="a", occurred_at=when)
            for each in range(8):
                elsewhere = f"Please book boat {each}."
                store.append(
                    elsewhere, actor="user", name=other, user_id="u", session_id="b", occurred_at=when
                )
        assert store.ask(CHAIRS, user_id="u", write=False, now=NOW + timedelta(days=60)).short == "14"


@pytest.mark.parametrize(
    "said",
    [
        [
            (0, "Ann", "We need 12 chairs."),
            (1, "Ann", "We need 5 tables."),
            (2, "Ann", "Actually, make that 6."),
        ],
        [(0, "Ann", "We need 12 chairs."), (60 * 24 * 39, "Ann", "Make that 5.")],
        [(60 * 24, "Ann", "Make that 5."), (0, "Ann", "We need 12 chairs.")],
        [(0, "Ann", "We need 12 chairs."), (1, "Tom", "Make that 5.")],
    ],
)
def test_nothing_else_is_mended(tmp_path: Path, said: list[tuple[int, str, str]]) -> None:
    short, _ = asked(tmp_path, said)
    assert "12" in short


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        (
            "The password for the router is hunter9.",
            "I stopped the router.",
            "What is the password for the router?",
        ),
        ("I use Notion for notes.", "I left Notion open all night.", "What do I use for notes?"),
    ],
)
def test_what_may_only_sound_like_a_change_is_never_the_answer_alone(
    tmp_path: Path, older: str, newer: str, question: str
) -> None:
    short, whole = asked(tmp_path, [(0, "Ann", older), (10_000, "Ann", newer)], question)
    value = older.rstrip(".").split()[-1] if "Notion" not in older else "Notion"
    assert value in whole
    assert not short or value in short


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("said", "question", "rung"),
    [
        ("Dad takes metformin.", "Do I take metformin?", "near"),
        ("Otto is allergic to nuts.", "Am I allergic to nuts?", "near"),
        ("My wife eats meat.", "Do I eat meat?", "near"),
        ("I take metformin.", "Do I take metformin?", "said"),
        ("Standup is at 9.", "Do I have a standup?", "said"),
    ],
)
def test_what_is_said_of_another_says_neither_yes_nor_no_of_me(
    tmp_path: Path, said: str, question: str, rung: str
) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        store.append(said, actor="user", name="Ann", user_id="u", occurred_at=NOW)
        assert store.ask(question, user_id="u", write=False).rung == rung
