"""What is the same whoever speaks of it may be told otherwise by somebody else; what is one's own may not."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import braid
from braid.agent.answer.ladder import told
from braid.recall.decompose import decompose
from braid.search.question import Question
from braid.search.retrieval import find

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def asked(home: Path, question: str, *said: tuple[str, str]) -> str:
    """Return the shortest answer, where these were said, by whom, on every other day."""
    with braid.open(home / "memory", guard_dir=home / "guard") as store:
        for days, (who, text) in enumerate(said):
            when = NOW + timedelta(days=2 * days)
            actor = "agent" if who == "Bot" else "user"
            store.append(text, actor=actor, name=who, user_id="u", occurred_at=when)
        return store.ask(question, user_id="u", write=False, now=NOW + timedelta(days=60)).short or ""


def test_another_tells_of_the_change(tmp_path: Path) -> None:
    short = asked(
        tmp_path,
        "what time does Ilse's train get in",
        ("Olaf", "Grandma Ilse is coming on the 20th. Her train gets in at 14.52"),
        ("Katrin", "Ilse's train changed, it gets in at 16.10 now. Olaf, can you fetch her?"),
    )
    assert "16.10" in short


def test_another_s_own_is_no_change(tmp_path: Path) -> None:
    short = asked(
        tmp_path,
        "who's Stu's boss",
        ("Stu", "my boss is Hannah"),
        ("Ravi", "my boss is Ines now"),
    )
    assert "Ines" not in short


def test_what_an_agent_says_changes_nothing(tmp_path: Path) -> None:
    short = asked(
        tmp_path,
        "what time does Ilse's train get in",
        ("Olaf", "Ilse's train gets in at 14.52"),
        ("Bot", "Ilse's train may have changed, it gets in at 16.10 now"),
    )
    assert short == "14.52"


def test_what_came_of_it_is_asked_of_the_past(tmp_path: Path) -> None:
    said = (
        ("Olek", "Postgres upgrade to 16 planned for the weekend"),
        ("Olek", "Postgres: we go to 15, not 16, the geo extension is not ready"),
    )
    assert "15" in asked(tmp_path, "which postgres version did we upgrade to", *said)
    assert "15" not in asked(tmp_path, "which postgres version did we want to upgrade to before", *said)


def test_what_is_told_as_it_stands_is_not_put_as_another_day(tmp_path: Path) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        store.append("The party is next week.", actor="user", name="Paul", user_id="u", occurred_at=NOW)
        (hit,) = find(store.session, Question(query="When is the party?", user_id="u", now=NOW)).results
    question = decompose("When is the party?", NOW + timedelta(days=60))
    assert "That is" in told(question, hit, [hit], 0.5).text
    assert "That is" not in told(question, hit, [hit], 0.5, "next week; the week after").text
