"""What was said anew is told with both days, what was so before as past; the day of saying answers no when."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

import braid
from braid.agent.answer.change import former_state as predecessor
from braid.store import Store

NOW = datetime(2026, 1, 7, 12, tzinfo=UTC)
OLD, NEW = datetime(2025, 5, 3, 9, tzinfo=UTC), datetime(2025, 11, 8, 9, tzinfo=UTC)


@contextmanager
def told(folder: Path, *turns: tuple[datetime, str, str]) -> Iterator[Store]:
    with braid.open(folder / "memory", guard_dir=folder / "guard", clock=lambda: NOW) as store:
        for when, name, text in turns:
            store.append(text, name=name, user_id="u", occurred_at=when)
        yield store


def short(store: Store, question: str, **how: datetime) -> str:
    return store.ask(question, user_id="u", write=False, **how).short  # type: ignore[arg-type]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        ("My rent is £800.", "My rent is now £950.", "How much is my rent?"),
        ("My desk is on the third floor.", "So my desk is on the fifth floor.", "On which floor is my desk?"),
        ("My phone number is 555-0142.", "My new phone number is 555-0179.", "What is my phone number?"),
    ],
)
def test_what_was_said_anew_is_told_with_both_days(tmp_path: Path, old: str, new: str, question: str) -> None:
    with told(tmp_path, (OLD, "Ann", old), (NEW, "Ann", new)) as store:
        found = store.ask(question, user_id="u", write=False)
        assert "3 May 2025" in found.plain
        assert found.plain.index("3 May 2025") < found.plain.index("8 November 2025")
        assert len(found.citations) == 2
        assert found.residual_uncertainty >= 0.5


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("one", "other", "question", "answer"),
    [
        (("Ann", "My rent is £800."), ("Tom", "My rent is £950."), "How much is Tom's rent?", "£950"),
        (("Ann", "My lock code is 4711."), ("Ann", "My locker number is 8293."), "What is my lock code?", "4711"),
        (("Ann", "I met Ines on Monday."), ("Ann", "I met Pavel on Monday."), "Did I meet Ines on Monday?", "Ines"),
        (("Ann", "My code is 4711."), ("Ann", "Again, my code is 4711!"), "What is my code?", "4711"),
    ],
)  # fmt: skip
def test_two_things_are_not_one_that_changed(
    tmp_path: Path, one: tuple[str, str], other: tuple[str, str], question: str, answer: str
) -> None:
    with told(tmp_path, (OLD, *one), (NEW, *other)) as store:
        found = store.ask(question, user_id="u", write=False)
        assert answer.lower() in found.plain.lower()
        assert len(found.citations) == 1


def test_a_time_that_is_named_takes_what_was_said_by_then(tmp_path: Path) -> None:
    said = ("My cat weighs 4 kilos.", OLD), ("My cat weighs 6 kilos.", NEW), ("It rained.", NEW)
    with told(tmp_path, *((when, "Ann", text) for text, when in said)) as store:
        found = store.ask("How much did my cat weigh in June 2025?", user_id="u", write=False)
        assert found.short == "4 kilos"
        assert "back then" in found.plain.lower()


@pytest.mark.parametrize(
    ("question", "which", "text", "what"),
    [
        ("Where did I live before?", "before", "Where did I live?", ""),
        ("Where did I live before Lisbon?", "before", "Where did I live?", "Lisbon"),
        ("Who was my doctor previously?", "before", "Who was my doctor?", ""),
        ("Where did I live at first?", "first", "Where did I live?", ""),
    ],
)
def test_a_question_about_what_was_before_is_read(question: str, which: str, text: str, what: str) -> None:
    assert predecessor.wanted(question) == predecessor.FormerState(which, text, what)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?",
        "Where did I live before September?",
        "What did I eat before the run?",
        "Who came first?",
    ],
)
def test_other_questions_are_not(question: str) -> None:
    assert predecessor.wanted(question) is None


def test_what_was_replaced_is_told_only_as_past(tmp_path: Path) -> None:
    with told(tmp_path, (OLD, "Ann", "My tutor is called Ames.")) as store:
        first = store.sql("SELECT id FROM experiences").to_pylist()[0]["id"]
        second = store.correct(first, "My tutor is called Boyd.")
        store.correct(second, "My tutor is called Cole.")
        assert "Boyd" in store.ask("What was my tutor called before?", user_id="u", write=False).plain
        at_first = store.ask("What was my tutor called at first?", user_id="u", write=False)
        assert at_first.plain.startswith(
            "At first this was remembered: Ann said on 3 May 2025: “My tutor is called Ames”"
        )
        now = store.ask("What is my tutor called?", user_id="u", write=False).plain
        assert "Cole" in now
        assert "Ames" not in now


def test_nothing_earlier_falls_back_to_what_is_known(tmp_path: Path) -> None:
    with told(tmp_path, (OLD, "Ann", "My tutor is called Ames.")) as store:
        found = store.ask("What was my tutor called before?", user_id="u", write=False)
        assert "this was so" not in found.plain


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        ("The plumber comes on Thursday.", "When does the plumber come?", ""),
        ("Ines is planning a party.", "When is the party of Ines?", ""),
        ("The standup is at 9:30.", "When is the standup?", "9:30"),
        ("I broke the blue vase today.", "When did I break the blue vase?", "3 May 2025"),
        ("I adopted a kitten!", "When did I adopt a kitten?", ""),
    ],
)
def test_the_day_of_saying_is_no_answer_to_when(
    tmp_path: Path, text: str, question: str, answer: str
) -> None:
    with told(tmp_path, (OLD, "Ann", text), (NEW, "Ann", "The weather was fine.")) as store:
        assert short(store, question) == answer


def test_a_question_put_at_a_time_quotes_nothing_later(tmp_path: Path) -> None:
    with told(tmp_path, (OLD, "Ann", "The boiler works."), (NEW, "Ann", "The boiler is leaking.")) as store:
        then = store.ask(
            "Is the boiler leaking?", user_id="u", now=datetime(2025, 10, 14, tzinfo=UTC), write=False
        )
        assert "is leaking" not in then.plain
        assert "leaking" in store.ask("Is the boiler leaking?", user_id="u", write=False).plain


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("said", "yes", "no_yes"),
    [
        ("My grade was B+.", "Was my grade B+?", "Was my grade B?"),
        ("My blood type is O-.", "Is my blood type O-?", "Is my blood type A+?"),
        ("The code is written in C++.", "Is the code written in C++?", "Is the code written in C#?"),
        ("The rent is £950.", "Is the rent £950?", "Is the rent $950?"),
        ("Our standup is at 8:30.", "Is our standup at 8:30?", "Is our standup at 8?"),
    ],
)
def test_signs_tell_values_apart(tmp_path: Path, said: str, yes: str, no_yes: str) -> None:
    with told(tmp_path, (OLD, "Ann", said)) as store:
        assert store.ask(yes, user_id="u", write=False).plain.startswith("Yes")
        assert not store.ask(no_yes, user_id="u", write=False).plain.startswith("Yes")


def test_what_is_now_is_no_answer_to_what_was_before(tmp_path: Path) -> None:
    flour = "My flour comes from Molens Dewaele, 25 kilo sacks, 31 euros each."
    with told(
        tmp_path, (OLD, "Ann", flour), (NEW, "Ann", "Dewaele put the price up, a sack is 34 now.")
    ) as store:
        before = store.ask("What did a sack cost before?", user_id="u", write=False)
        assert before.rung == "near" or before.short == "31 euros"
        first = store.ask("How much did a sack cost originally?", user_id="u", write=False)
        assert (first.short, len(first.citations)) == ("31 euros", 2)


@pytest.mark.parametrize(
    ("question", "said", "short"),
    [
        (
            "Why don't I make walnut bread?",
            "I'm allergic to walnuts, so no walnut bread",
            "I'm allergic to walnuts",
        ),
        ("Why was it cold?", "It was so cold because the window was open", "because the window was open"),
    ],
)
def test_a_reason_stands_in_front_of_what_comes_of_it(
    tmp_path: Path, question: str, said: str, short: str
) -> None:
    with told(tmp_path, (OLD, "Ann", said)) as store:
        assert store.ask(question, user_id="u", write=False).short == short
