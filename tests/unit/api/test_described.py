"""Questions that name somebody by what they are to another: answered by what is held of them, and of who they are."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import braid
from braid.ledger.record.record import Claim
from braid.store import Store
from tests.unit.api.mutation_play import Clock


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=Clock()) as opened:
        yield opened


def say(store: Store, text: str, subject: str, rel: str, object_: str, *, user_id: str = "maya") -> str:
    claim = Claim(subject=subject, rel=rel, object=object_, quote=text.rstrip("."))
    return store.append(text, actor="user", name="Maya", user_id=user_id, claims=[claim])


def ask(store: Store, question: str) -> tuple[str | None, str, list[str]]:
    found = store.ask(question, user_id="maya", write=False)
    return found.rung, found.short, [one.id for one in found.citations]


def test_what_is_held_of_whom_it_describes_is_given_with_what_says_who_that_is(store: Store) -> None:
    works = say(store, "Jonas works at Siemens.", "Jonas", "works_at", "Siemens")
    who = say(store, "My partner is called Jonas.", "Maya", "partner_is", "Jonas")
    assert ask(store, "Where does my partner work?") == ("held", "Siemens", [works, who])
    text = store.ask("Where does my partner work?", user_id="maya", write=False).plain
    assert "Jonas works at Siemens" in text
    assert "My partner is called Jonas" in text


def test_one_turn_that_says_both_is_quoted_once(store: Store) -> None:
    text = "My sister Ana lives in Lyon."
    claims = [
        Claim(subject="Maya", rel="sibling", object="Ana", quote="My sister Ana"),
        Claim(subject="Ana", rel="lives_in", object="Lyon", quote="My sister Ana lives in Lyon"),
    ]
    both = store.append(text, actor="user", name="Maya", user_id="maya", claims=claims)
    assert ask(store, "Where does my sister live?") == ("held", "Lyon", [both])
    assert ask(store, "What is my sister's name?") == ("held", "Ana", [both])
    assert ask(store, "What is my sister called?") == ("held", "Ana", [both])


@pytest.mark.parametrize("question", ["Where does my brother live?", "What is my brother's name?"])
def test_a_sister_is_no_brother(store: Store, question: str) -> None:
    say(store, "My sister is Ana.", "Maya", "sibling", "Ana")
    say(store, "Ana lives in Lyon.", "Ana", "lives_in", "Lyon")
    assert ask(store, question)[0] != "held"


def test_of_two_nobody_knows_which_is_meant(store: Store) -> None:
    say(store, "My sister is Ana.", "Maya", "sibling", "Ana")
    say(store, "My sister Ida came.", "Maya", "sibling", "Ida")
    say(store, "Ana lives in Lyon.", "Ana", "lives_in", "Lyon")
    assert ask(store, "Where does my sister live?")[0] != "held"
    assert ask(store, "What is my sister's name?")[0] != "held"


def test_a_brother_beside_a_sister_is_found_by_his_word(store: Store) -> None:
    say(store, "My sister is Ana.", "Maya", "sibling", "Ana")
    who = say(store, "My brother is Tom.", "Maya", "sibling", "Tom")
    lives = say(store, "Tom lives in Bath.", "Tom", "lives_in", "Bath")
    say(store, "Ana lives in Lyon.", "Ana", "lives_in", "Lyon")
    assert ask(store, "Where does my brother live?") == ("held", "Bath", [lives, who])


def test_who_it_was_before_is_not_meant_and_what_is_forgotten_says_nothing(store: Store) -> None:
    first = say(store, "My boss is Tom.", "Maya", "boss_is", "Tom")
    say(store, "Tom lives in Bath.", "Tom", "lives_in", "Bath")
    assert ask(store, "Where does my boss live?")[:2] == ("held", "Bath")
    lives = say(store, "Ida lives in Hull.", "Ida", "lives_in", "Hull")
    store.forget(first)
    assert ask(store, "Where does my boss live?")[0] != "held"
    now = say(store, "My boss is Ida.", "Maya", "boss_is", "Ida")
    assert ask(store, "Where does my boss live?") == ("held", "Hull", [lives, now])
    store.recover(first)
    found = ask(store, "Where does my boss live?")
    assert found[:2] == ("held", "Hull"), "the newer word counts"


def test_what_is_held_of_the_description_itself_goes_first(store: Store) -> None:
    say(store, "My boss is Tom.", "Maya", "boss_is", "Tom")
    say(store, "Tom lives in Bath.", "Tom", "lives_in", "Bath")
    own = say(store, "My boss lives in Hull.", "Maya's boss", "lives_in", "Hull")
    assert ask(store, "Where does my boss live?") == ("held", "Hull", [own])


def test_nothing_of_another_users_memory_says_who_it_is(store: Store) -> None:
    say(store, "My boss is Tom.", "Maya", "boss_is", "Tom", user_id="ana")
    say(store, "Tom lives in Bath.", "Tom", "lives_in", "Bath")
    assert ask(store, "Where does my boss live?")[0] != "held"


def test_an_answer_of_two_is_kept_with_both_and_goes_with_them(store: Store) -> None:
    works = say(store, "Jonas works at Siemens.", "Jonas", "works_at", "Siemens")
    who = say(store, "My partner is called Jonas.", "Maya", "partner_is", "Jonas")
    found = store.ask("Where does my partner work?", user_id="maya")
    assert found.answer_id is not None
    kept = store.get(found.answer_id)
    assert {link.id for link in kept.targets("evidence")} >= {works, who}
    stance = store.stances()[0]
    assert (stance.question, stance.claim) == ("Where does Jonas work?", "Jonas works at Siemens")
    store.erase(who)
    assert ask(store, "Where does my partner work?")[0] != "held"
    assert ask(store, "Where does Jonas work?")[:2] == ("held", "Siemens")


def test_a_lens_that_hides_who_it_is_hides_the_answer(store: Store) -> None:
    say(store, "Jonas works at Siemens.", "Jonas", "works_at", "Siemens")
    who = say(store, "My partner is called Jonas.", "Maya", "partner_is", "Jonas")
    found = store.ask("Where does my partner work?", user_id="maya", write=False, lens="temporal")
    assert found.rung != "held" or who in [one.id for one in found.citations]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "question", ["Who is my sister?", "What is my sister called?", "Where does my sister live?"]
)
def test_nothing_is_told_from_before_it_was_said(store: Store, question: str) -> None:
    text, when = "My sister Ana lives in Lyon.", datetime(2025, 5, 1, tzinfo=UTC)
    claims = [
        Claim(subject="Maya", rel="sibling", object="Ana", quote="My sister Ana"),
        Claim(subject="Ana", rel="lives_in", object="Lyon", quote="My sister Ana lives in Lyon"),
    ]
    store.append(text, actor="user", name="Maya", user_id="maya", claims=claims, occurred_at=when)
    before = store.ask(question, user_id="maya", write=False, now=datetime(2025, 4, 1, tzinfo=UTC))
    assert (before.rung, before.citations) == ("silent", ())
    after = store.ask(question, user_id="maya", write=False, now=datetime(2025, 5, 2, tzinfo=UTC))
    assert after.rung == "held"


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("My husband is Jonas.", "Where does my wife work?"),
        ("My husband is Jonas.", "What is my wife's name?"),
        ("My boyfriend is Jonas.", "Where does my wife work?"),
        ("My former partner was Jonas.", "Where does my partner work?"),
        ("My first partner is called Jonas.", "Where does my partner work?"),
    ],
)
def test_another_word_or_another_time_is_of_another(store: Store, said: str, question: str) -> None:
    say(store, said, "Maya", "partner_is", "Jonas")
    say(store, "Jonas works at Siemens.", "Jonas", "works_at", "Siemens")
    assert ask(store, question)[0] != "held"


def test_a_namesake_is_not_meant(store: Store) -> None:
    say(store, "My boss is Anna.", "Maya", "boss_is", "Anna")
    say(store, "Anna Maria lives in Leeds.", "Anna Maria", "lives_in", "Leeds")
    say(store, "My landlord is Hannah Stone.", "Maya", "landlord_is", "Hannah Stone")
    say(store, "Hannah lives in Hull.", "Hannah", "lives_in", "Hull")
    assert ask(store, "Where does my boss live?")[0] != "held"
    assert ask(store, "Where does my landlord live?")[0] != "held"


def test_a_manager_is_no_boss_where_there_are_both(store: Store) -> None:
    say(store, "My manager is Hannah.", "Maya", "boss_is", "Hannah")
    now = say(store, "My boss is Ravi.", "Maya", "boss_is", "Ravi")
    say(store, "Hannah lives in Leeds.", "Hannah", "lives_in", "Leeds")
    york = say(store, "Ravi lives in York.", "Ravi", "lives_in", "York")
    assert ask(store, "Where does my manager live?")[0] != "held"
    assert ask(store, "Where does my boss live?") == ("held", "York", [york, now])


def test_a_claim_without_its_words_says_who_it_is_by_its_relation(store: Store) -> None:
    text = "Maya's landlord was named on the lease: Piotr."
    claim = Claim(subject="Maya", rel="landlord_is", object="Piotr")
    store.append(text, actor="user", name="Maya", user_id="maya", claims=[claim])
    say(store, "Piotr lives in Hull.", "Piotr", "lives_in", "Hull")
    assert ask(store, "Where does my landlord live?")[:2] == ("held", "Hull")
