"""Which record is quoted, what is said to a yes-or-no question, and who tells of what is asked."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid
from braid.agent.answer.assertion.verdict import is_about, verdict
from braid.agent.answer.choice.attribution import SIGNALS, voices
from braid.agent.answer.choice.chooser import choose, weights
from braid.agent.answer.choice.confidence import signals
from braid.agent.answer.ladder import told
from braid.agent.answer.turn.turn import named_speakers
from braid.recall.decompose import decompose
from braid.search.question import Question
from braid.search.retrieval import find
from braid.store import Store

NOW = datetime(2025, 9, 1, 12, tzinfo=UTC)
SAID = (
    ("user", "Petra", 10, "The pottery class starts on Monday, I'm in."),
    ("agent", None, 10, "Shall I book the pottery class for you?"),
    ("user", "Petra", 90, "I've dropped out of the pottery class. My evenings are full."),
    ("user", "Petra", 120, "My bike is at the menders in Ghyll Lane."),
    ("agent", None, 121, "And the bill for the bike?"),
    ("user", "Petra", 121, "£48, paid in cash. I'd rather have walked."),
    ("agent", None, 130, "Your library card runs out on 4 November."),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    home = tmp_path_factory.mktemp("choice")
    with braid.open(home / "memory", guard_dir=home / "guard") as opened:
        for actor, name, day, text in SAID:
            when = NOW - timedelta(days=200 - day)
            opened.append(text, actor=actor, name=name, user_id="u", occurred_at=when)
        opened.views.search.index(wait_s=60.0)
        yield opened


def quoted(store: Store, question: str) -> str:
    hits = find(store.session, Question(query=question, user_id="u", now=NOW)).results
    return choose(decompose(question, NOW), hits, weights()).ranked[0].text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Am I in the pottery class?", SAID[2][3]),  # what holds now is what was said last
        ("How much was the bill for the bike?", SAID[5][3]),  # a reply answers what was asked before it
    ],
)
def test_what_is_quoted_is_what_answers_now(store: Store, question: str, text: str) -> None:
    assert quoted(store, question) == text


def test_a_check_is_answered_by_the_newest_word(store: Store) -> None:
    answer = store.ask("Am I in the pottery class?", user_id="u", now=NOW, write=False)
    assert answer.short == "no"
    assert "I've dropped out of the pottery class. My evenings are full" in answer.plain


def test_what_was_and_what_became_of_it_are_shown(store: Store) -> None:
    answer = store.ask("Did I join the pottery class on Monday?", user_id="u", now=NOW, write=False)
    assert {SAID[0][3], SAID[2][3]} <= {one.text for one in answer.citations}


def test_what_an_agent_tells_whoever_asks_is_about_them(store: Store) -> None:
    question = decompose("When does my library card run out?", NOW)
    hits = find(store.session, Question(query=question.text, user_id="u", now=NOW)).results
    assert named_speakers(question, hits) == set()
    assert signals(question, hits)["one_named"] == 0.0
    assert "4 November" in store.ask(question.text, user_id="u", now=NOW, write=False).plain


@pytest.mark.parametrize(
    ("question", "said", "short"),
    [
        ("Am I still learning the oboe?", "I've given up the oboe, my neighbours are glad", "no"),
        ("Does Kwame owe me forty euros?", "Kwame paid me back on Sunday", "no"),
        ("Is the attic insulated?", "The attic isn't insulated yet", "no"),
        ("Am I a vegetarian?", "I'm a vegetarian. I don't like leeks.", None),
        ("Am I a vegetarian?", "My vegetarian friends visit. I'm not a vegetarian.", "no"),
        ("Am I taking the course?", "I was to be taking the course. I'm not doing it.", "no"),
        ("Was the attic insulated?", "The attic was insulated. I never liked the colour.", None),
        ("Do I paddle a kayak?", "I paddle a kayak, a green one", "yes"),
        ("Do I own a kayak?", "I'd own a kayak if we lived at the lake", None),
        ("Do I own a kayak?", "Milan says that I own a kayak", None),
        ("Do I own a kayak?", "I own a canoe", None),
        ("Do I own a kayak?", "The weather was foul", None),
        ("Did I ever smoke?", "I used to smoke, but I quit", "yes"),
        ("Did I ever smoke cigars?", "I don't smoke cigars", None),
        ("Did I ever smoke cigars?", "I never smoke cigars", "no"),
        ("Have I ever eaten eel?", "I haven't eaten eel in my life", "no"),
        ("Did I smoke?", "I used to smoke, but I quit", None),
        ("Did I learn the oboe?", "I've given up the oboe", None),
        ("Was the attic insulated?", "The attic isn't insulated yet", None),
        ("Was the attic insulated?", "The attic wasn't insulated then", "no"),
        ("Did the fair take place?", "The fair was called off", "no"),
        ("Has the shop closed down?", "The shop has closed down", "yes"),
        ("Was the picnic cancelled?", "The picnic was cancelled", "yes"),
        ("Do I smoke?", "I used to smoke, but I quit", "no"),
        ("Don't I own a kayak?", "I own a kayak, a green one", None),
        ("What do I own?", "I own a kayak, a green one", None),
    ],
)
def test_yes_and_no_are_said_where_a_sentence_says_so(question: str, said: str, short: str | None) -> None:
    assert verdict(decompose(question, NOW), said) == short


def test_a_denial_must_be_of_what_is_asked() -> None:
    question = decompose("Was it Ravi's left ankle that he broke?", NOW)
    assert is_about(question, "broken left ankle")
    assert not is_about(question, "seasick on ferries")
    assert not is_about(question, "")


def test_voices_tell_whose_life_is_spoken_of() -> None:
    question = decompose("What boat did Ilse build?", NOW)
    names = frozenset(("ils", "ott"))
    hers = voices(question, ["I did build a boat of oak."], ["I only build kites."], names)
    his = voices(question, ["Did you build a boat?"], ["I did build a boat of oak."], names)
    assert tuple(hers) == SIGNALS
    assert hers["self_lead"] > 0 > his["self_lead"]
    assert hers["own_asks"] == 0 < his["own_asks"]
    strange = decompose("What did the harbourmaster say?", NOW)
    assert voices(strange, ["I built a boat."], ["The harbourmaster waved."], names)["unheard_own"] == 1.0
    assert voices(strange, ["The harbourmaster waved."], [], names)["unheard_own"] == 0.0


def test_nothing_that_was_found_is_no_choice(tmp_path: Path) -> None:
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as opened:
        opened.append("And you? Who?", user_id="u")
        assert opened.ask("Am I in?", user_id="u", write=False).rung == "silent"


def test_what_was_said_earlier_is_one_sentence(tmp_path: Path) -> None:
    question = decompose("What is my allotment rent?", NOW)
    with braid.open(tmp_path / "memory", guard_dir=tmp_path / "guard") as opened:
        opened.append("The allotment rent is £38.", user_id="u", occurred_at=NOW - timedelta(days=9))
        opened.append("The allotment rent is £45.", user_id="u", occurred_at=NOW - timedelta(days=2))
        found = find(opened.session, Question(query=question.text, user_id="u", now=NOW)).results
    turns = sorted(found, key=lambda hit: hit.index)
    text = told(question, turns[-1], turns, 0.5).text
    assert text.startswith("Earlier, you said on 23 August 2025: ")
    assert "]. You said on 30 August 2025: " in text
