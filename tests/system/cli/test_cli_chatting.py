"""`chat` as a person types it, line by line."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import braid
from braid.text.chat import ChatTimeoutError
from braid.tools.cli.chat import Conversation
from braid.tools.cli.errors import explain
from braid.views.errors import ViewBusyError
from tests.system.cli.conftest import ANY_ID

if TYPE_CHECKING:
    from pathlib import Path

    from tests.system.cli.conftest import Done, Session


def chat(session: Session, *lines: str | bytes, **env: str) -> Done:
    typed = b"\n".join(each.encode() if isinstance(each, str) else each for each in lines)
    return session.well("chat", "--user-id", "maya", "--name", "Maya", stdin=typed + b"\n", **env)


def texts(session: Session) -> list[str]:
    rows = session.well("sql", "SELECT text FROM experiences WHERE type = 'occurrence'", "-o", "json").out
    return [row["text"] for row in json.loads(rows)]


def test_it_remembers_answers_and_says_how_it_knows(session: Session) -> None:
    done = chat(session, "I live in Porto.", "Where do I live?", "How do you know that?", "/why", "/sources")
    told, answer, source, how, *rest = done.out.splitlines()
    assert told == "Noted."
    assert "Porto" in answer
    assert "[1]" in answer
    assert re.fullmatch(rf"  \[1\] \d{{4}}-\d\d-\d\d  {ANY_ID}  Maya: I live in Porto\.", source)
    assert how.startswith("Maya said on ")
    assert "“I live in Porto.”" in how
    assert any("Maya lives in Porto" in each for each in rest)
    assert rest[-1] == source
    assert texts(session)[:2] == ["I live in Porto.", "Where do I live?"]
    assert session.is_clean()


def test_it_puts_right(session: Session) -> None:
    done = chat(
        session, "I live in Porto.", "No, I meant Lisbon.", "Where do I live?", "/quit", "Never read."
    )
    assert "Put right: “I live in Lisbon.” stands in place of “I live in Porto.”" in done.out
    answer = done.out.splitlines()[2]
    assert "Lisbon" in answer
    assert "Porto" not in answer
    assert "Never read." not in texts(session)
    assert "isn't clear" in chat(session, "Hm.", "I meant so.").err
    assert "you have said nothing yet" in chat(session, "I meant so.").err


def test_it_forgets_when_it_is_told_and_only_then(session: Session) -> None:
    chat(session, "My cat is called Miso.", "I live in Porto.", "What is my cat called?")
    kept = chat(session, "Forget what I said about my cat.", "no")
    assert "My cat is called Miso." in kept.out
    assert kept.out.splitlines()[-1] == "Kept."
    assert "Kept." in chat(session, "Forget what I said about my cat.").out  # the input ends: nobody said yes
    done = chat(session, "Forget what I said about my cat.", "yes", "What is my cat called?")
    assert "Forgotten." in done.out
    assert "Miso" not in done.out.partition("Forgotten.")[2]
    left = texts(session)
    assert "I live in Porto." in left
    assert not any("Miso" in text for text in left)
    assert (
        "Nothing that is remembered speaks of zebras." in chat(session, "Forget everything about zebras.").out
    )


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("told", "asked", "about"),
    [
        ("The door code is 47112.", "Is the door code still 47112?", "the door code"),
        ("The door code is 47112.", "Is it 47112?", "the door code"),
        ("My cat is called Miso.", "Where does miso sleep?", "my cat"),
        ("I am allergic to nuts.", "Am I allergic to nuts?", "nuts"),
    ],
)
def test_a_question_that_says_again_what_is_forgotten_is_told_of_and_goes_too(
    session: Session, told: str, asked: str, about: str
) -> None:
    forget = f"Forget what I said about {about}."
    kept = chat(session, told, asked, "Where is Ghent?", forget, "no")
    shown = kept.out.partition("What you asked says it again:")[2]
    assert asked in shown
    assert "Ghent" not in shown
    assert kept.out.splitlines()[-1] == "Kept."
    done = chat(session, forget, "yes")
    assert "Forget these 2" in done.out
    left = texts(session)
    assert told not in left
    assert asked not in left
    assert "Where is Ghent?" in left


def test_what_was_asked_stays_where_only_what_was_told_is_to_go(session: Session) -> None:
    asked = "Is the door code still 47112?"
    done = chat(session, "The door code is 47112.", asked, "Forget what I said about the door code.", "only")
    assert "What you asked was kept: it says it again." in done.out
    assert asked in texts(session)
    assert "The door code is 47112." not in texts(session)
    assert "Forgotten." not in chat(session, "Forget what I said about the weather.").out


def test_what_was_put_right_does_not_come_back_by_forgetting(session: Session) -> None:
    done = chat(
        session,
        "I live in Porto.",
        "I meant Lisbon.",
        "Forget that.",
        "yes",
        "Forget that.",
        "Where do I live?",
    )
    assert "Forgotten." in done.out
    assert "you have said nothing yet" in done.err
    assert not {"Porto", "Lisbon"} & set(re.findall(r"\w+", done.out.partition("Forgotten.")[2]))


def test_to_forget_everything_names_the_command_and_is_not_remembered(session: Session) -> None:
    done = chat(session, "I live in Porto.", "Delete everything you know about me.", "Where do I live?")
    assert "erase --where user_id=maya --dry-run" in done.err
    assert "Porto" in done.out
    assert texts(session)[:2] == ["I live in Porto.", "Where do I live?"]
    session.well("erase", "--where", "user_id=maya", "--dry-run")


def test_what_is_put_right_is_of_the_same_thing(session: Session) -> None:
    done = chat(session, "My locker is 12.", "The bus leaves at 9.", "No, I meant locker 14.")
    assert "isn't clear" in done.err
    assert texts(session) == ["My locker is 12.", "The bus leaves at 9."]


def test_bad_lines_end_nothing_and_steer_no_terminal(session: Session) -> None:
    done = chat(session, "/nonsense", "/why", b"My dog \x1b[2J\xff is called Rex.", "Who is Rex?", "/help")
    assert "there is no command" in done.err
    assert "nothing has been answered yet" in done.err
    assert "\x1b" not in done.out + done.err
    assert "/sources" in done.out
    assert "Traceback" not in done.err


def test_a_model_that_does_not_answer_costs_nothing(session: Session) -> None:
    words = ("chat", "--user-id", "maya", "--name", "Maya", "--model", "openai:http://127.0.0.1:9/v1#none")
    done = session.well(*words, stdin=b"I live in Porto.\nWhere do I live?\n")
    assert "Porto" in done.out
    assert "the model's answer was not taken" in done.err
    assert "--model is" in session.refused("chat", "--model", "nonsense")


def test_another_memory_is_not_asked(session: Session) -> None:
    session.well("append", "I live in Ghent.", "--user-id", "bob")
    done = chat(session, "Where do I live?", "Forget what I said about Ghent.")
    assert "Ghent" not in done.out.replace("speaks of Ghent", "")


def test_status_tells_the_stage(session: Session) -> None:
    assert json.loads(session.well("status", "-o", "json").out)["stage"]["name"] == "empty"
    chat(session, "I live in Porto.")
    found = json.loads(session.well("status", "-o", "json").out)["stage"]
    assert (found["name"], found["next"], found["lacks"]) == (
        "learning",
        "viable",
        {"experiences": 9, "claims": 2},
    )
    assert "stage.lacks.experiences" in session.well("status", "--all").out


def test_a_projection_that_is_busy_ends_one_line_and_not_the_talk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = iter(["Where do I live?", "I keep bees."])

    def read(prompt: str) -> str:
        del prompt
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    def busy(*_: object, **__: object) -> None:
        raise ViewBusyError("another process is rebuilding it")

    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as store:
        monkeypatch.setattr(type(store), "ask", busy)
        Conversation(store, {"user_id": "maya"}, session_id=None, name=None, composer=None, read=read).go()
    shown = capsys.readouterr()
    assert "another process is rebuilding it" in shown.err
    assert shown.out == "Noted.\n"


def test_what_a_model_lacks_is_no_defect_of_ours() -> None:
    said, hint = explain(ChatTimeoutError("it gave no answer within 30 s"))
    assert said == "it gave no answer within 30 s"
    assert hint is not None
    assert "--model" in hint


TOMATOES = ("The tomatoes on the balcony are red.", "The tomatoes in the greenhouse are red.")


def living(session: Session) -> list[str]:
    shown = json.loads(session.well("memories", "--user-id", "maya", "-o", "json").out)
    return [one["text"] for one in shown["memories"]]


def test_of_several_that_are_shown_the_next_line_chooses(session: Session) -> None:
    done = chat(session, *TOMATOES, "forget the tomatoes", "yes", "the greenhouse one", "yes")
    assert "Which? A number, its words, or no:\n   1  " in done.out
    assert "Which of them?" in done.out
    assert "Forget this? yes or no" in done.out
    assert living(session) == [TOMATOES[0]]


def test_a_change_of_several_goes_on_with_the_one_that_is_chosen(session: Session) -> None:
    done = chat(session, *TOMATOES, "I keep bees.", "change red to green", "2", "yes")
    assert "Put right." in done.out
    changed = [text for text in living(session) if "green." in text]
    assert len(changed) == 1
    assert changed[0] in [text.replace("red", "green") for text in TOMATOES]


@pytest.mark.parametrize("reply", ["no", "3", "The peppers are late."])
def test_nothing_goes_where_the_next_line_chooses_none(session: Session, reply: str) -> None:
    done = chat(session, *TOMATOES, "forget the tomatoes", reply, "1")
    assert "Forget" not in done.out
    assert set(TOMATOES) <= set(living(session))


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("where do I work?", "Fernhill"),
        ("I keep bees.", "Noted."),
        ("no, thanks", None),
        ("/help", "leave (so does Ctrl-D)"),
    ],
)
def test_what_is_neither_yes_nor_no_is_taken_as_the_next_line(
    session: Session, reply: str, expected: str | None
) -> None:
    chat(session, "I work at Fernhill Logistics.")
    done = chat(session, "My cat is called Biscuit.", "forget what I said about my cat", reply)
    assert "Kept." in done.out
    assert "My cat is called Biscuit." in living(session)
    behind = done.out.partition("Kept.")[2]
    assert (expected in behind) if expected is not None else not behind.strip()


def test_a_statement_is_remembered_where_nothing_is_to_go_for_it(session: Session) -> None:
    said = "Dad is off the ramipril since the cough."
    chat(session, "Dad takes ramipril every morning.")
    done = chat(session, said, "no")
    assert "Forget this? yes or no\nKept.\nNoted." in done.out
    assert said in living(session)


def test_what_is_said_not_to_be_is_forgotten_alone(session: Session) -> None:
    chat(
        session,
        "Mila has no piano lesson during the holidays.",
        "The piano teacher is called Mrs Abara.",
        "I play the piano.",
    )
    done = chat(session, "You can chuck what you have about no piano.", "yes")
    assert "Mila has no piano lesson" in done.out
    assert "Abara" not in done.out
    assert "I play the piano." not in done.out


@pytest.mark.parametrize(
    "line",
    ["forget my squash court booking", "forget her squash court booking", "please remove everything on Kim"],
)
def test_what_nothing_speaks_of_is_said_and_not_remembered(session: Session, line: str) -> None:
    assert "Nothing that is remembered speaks of" in chat(session, "I live in Porto.", line).out
    assert line not in texts(session)


@pytest.mark.parametrize("line", ["yes", "No, thanks.", "nope", "Never mind"])
def test_a_yes_or_no_to_nothing_is_not_remembered(session: Session, line: str) -> None:
    done = chat(session, "I live in Porto.", line)
    assert "Nothing was asked" in done.out
    assert texts(session) == ["I live in Porto."]


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        (("I live in Porto.", "No, Lisbon.", "yes"), ["I live in Lisbon."]),
        (("I live in Porto.", "Where do I live?", "nope, Lisbon", "yes"), ["I live in Lisbon."]),
        (("I live in Porto.", "No, Lisbon.", "no"), ["I live in Porto."]),
        (("I live in Porto.", "No, 14."), ["I live in Porto."]),
        (("I live in Porto.", "I keep bees.", "no, Lisbon"), ["I keep bees.", "I live in Porto."]),
        (("The retro is at 9.", "Where do I live?", "no, 10"), ["The retro is at 9."]),
        (
            ("My cousin Ines lives in Porto.", "Where does Ines live?", "no, Lisbon", "yes"),
            ["My cousin Ines lives in Lisbon."],
        ),
        (
            ("I live in Porto.", "I keep bees.", "move me to Lisbon"),
            ["I keep bees.", "I live in Porto.", "move me to Lisbon"],
        ),
    ],
)
def test_a_bare_no_and_what_is_right_is_asked_about(
    session: Session, lines: tuple[str, ...], kept: list[str]
) -> None:
    chat(session, *lines)
    assert sorted(text for text in living(session) if not text.endswith("?")) == kept


def test_a_bare_no_puts_nobody_elses_words_right(session: Session) -> None:
    session.well("append", "I live in Porto.", "--name", "Jonas", "--user-id", "maya")
    done = chat(session, "Where does Jonas live?", "No, Lisbon.")
    assert "Porto" in done.out
    assert "I live in Porto." in living(session)
