"""What falls with a forgotten record is hidden with it, everywhere, and comes back with it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import braid
from braid import Store
from braid.caller import Caller, asked_by
from braid.ledger.errors import ForgottenError, InvalidRecordError
from braid.ledger.record.record import Content, Draft, ExperienceBody, Provenance

HOME = "I live in Quokkaville."
ASKED = "Where do I live?"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with braid.open(tmp_path / "memory") as opened:
        yield opened


def shown(store: Store, word: str) -> list[str]:
    """Name the ways on which a word is shown."""
    ways = {
        "recall": str(store.recall(ASKED, filters={"method": {"ne": "nothing"}})),
        "context": store.context(ASKED),
        "log": str([record.raw for record in store.read()]),
        "sql": str(store.sql("SELECT text FROM experiences").to_pylist()),
        "stances": str(store.sql("SELECT question, decision FROM stances").to_pylist()),
        "candidates": str(store.sql("SELECT claim FROM candidates").to_pylist()),
        "stance": str(store.stance(ASKED, append=False)),
    }
    return [way for way, text in ways.items() if word in text]


def said(store: Store, text: str) -> str:
    return next(record.id for record in store.read() if record.text == text and not record.targets("parent"))


def test_an_answer_that_quotes_what_is_forgotten_goes_with_it_and_comes_back(store: Store) -> None:
    store.remember(HOME, user_id="m")
    store.learn()
    answer = store.ask(ASKED, user_id="m")
    assert "Quokkaville" in answer.text
    falls = store.plan_forget(said(store, HOME))
    assert {answer.answer_id, answer.stance} < set(falls)
    id = said(store, HOME)
    store.forget(id)
    assert shown(store, "Quokkaville") == []
    assert answer.answer_id is not None
    with pytest.raises(ForgottenError):
        store.get(answer.answer_id)
    assert store.plan_recover(id) == falls
    store.recover(id)
    assert set(shown(store, "Quokkaville")) >= {"recall", "context", "log", "sql", "stances", "stance"}


def test_what_quotes_two_comes_back_with_the_last_of_them(store: Store) -> None:
    one, two = store.append("The door code is 4711."), store.append("The gate code is 1174.")
    both = store.append("Door 4711, gate 1174.", type="inference", parents=[one, two])
    cites = store.append("4711 and 1174.", actor="agent", method="answer", evidence=[one, two])
    assert store.plan_forget(one) == (cites,)  # the inference still has a parent
    store.forget(one)
    assert store.plan_forget(two) == (both,)
    store.forget(two)
    store.recover(one)
    hidden = store.reader.control.hidden
    assert {store.reader.envelope(at).id for at in hidden} == {two, cites}, (
        "it quotes one that is hidden still"
    )
    assert store.get(both).id == both
    store.recover(two)
    assert not store.reader.control.hidden


def test_what_was_forgotten_on_its_own_stays_so(store: Store) -> None:
    one = store.append("The door code is 4711.")
    drawn = store.append("There is a door.", type="inference", parents=[one])
    further = store.append("There is a house.", type="inference", parents=[drawn])
    store.forget(drawn)
    store.forget(one)
    assert store.plan_recover(one) == ()
    store.recover(one)
    assert {store.reader.envelope(at).id for at in store.reader.control.hidden} == {drawn, further}
    store.recover(drawn)
    assert not store.reader.control.hidden


def test_what_comes_back_is_told_by_a_lens(store: Store) -> None:
    first = store.append("You must ask first.")
    second = store.correct(first, "You must ask last.")
    view = store.apply_lens("policy")
    assert set(view.weights) == {second}
    store.forget(second, only=True)
    (standing,) = store.lens_standings()
    assert standing.stale == (
        f"{first} is there again",
        f"{second} is forgotten",
    )
    assert set(store.refresh_lenses()[0].weights) == {first}


def test_the_third_text_replaces_the_first_whatever_becomes_of_the_second(store: Store) -> None:
    nuts = store.append("Maya is allergic to nuts.")
    cats = store.correct(nuts, "Maya is allergic to cats.")
    dogs = store.correct(cats, "Maya is allergic to dogs.")

    def told() -> list[str]:
        found = store.recall("What is Maya allergic to?").results
        assert store.context("What is Maya allergic to?").count("<memory") == len(found)
        return [hit.id for hit in found]

    assert told() == [dogs]
    store.forget(cats, only=True)
    assert told() == [dogs]
    store.forget(dogs, only=True)
    assert told() == [nuts]
    store.recover(cats)
    assert told() == [cats]
    store.erase(cats)
    assert told() == [nuts]
    store.recover(dogs)
    assert told() == [dogs]
    marked = store.recall("What is Maya allergic to?", superseded="marked").results
    assert [(hit.id, hit.superseded_by) for hit in marked] == [(dogs, None), (nuts, dogs)]
    assert f'superseded_by="{dogs}"' in store.context("What is Maya allergic to?", superseded="marked")


def test_an_erasure_takes_every_answer_and_stance_that_quotes_it(store: Store) -> None:
    one, two = store.append("The door code is 4711."), store.append("The gate code is 1174.")
    cites = store.append("4711 and 1174.", actor="agent", method="answer", evidence=[one, two])
    notes = store.append("There are two codes.", type="inference", evidence=[one, two])
    assert [each.id for each in store.plan_erase(one).derived] == [cites]
    store.erase(one)
    assert store.get(notes).id == notes
    assert "4711" not in str([record.raw for record in store.read(include_forgotten=True)])


def test_a_view_that_quotes_what_was_forgotten_meanwhile_is_refused(store: Store) -> None:
    id = store.append("The door code is 4711.")
    store.forget(id)
    body = ExperienceBody(content=Content(text="4711"), provenance=Provenance(actor="agent", method="answer"))
    draft = Draft(kind="experience", type="occurrence", body=body, links=[("evidence", id)])
    with pytest.raises(ForgottenError, match="was forgotten meanwhile"):
        store.session.append_drafts([draft])


def test_a_record_comes_back_though_what_fell_with_it_is_past_its_window(tmp_path: Path) -> None:
    days = [datetime(2026, 1, 1, tzinfo=UTC)]
    with braid.open(tmp_path / "memory", clock=lambda: days[0]) as store:
        x, a = store.append("One."), store.append("Two.")
        both = store.append("One, two.", actor="agent", method="answer", evidence=[x, a])
        for day, step in ((1, x), (25, a)):
            days[0] = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day)
            store.forget(step)
        days[0] += timedelta(days=1)
        store.recover(x)
        days[0] += timedelta(days=6)
        store.recover(a)
        assert {store.reader.envelope(at).id for at in store.reader.control.hidden} == {both}


def test_what_would_still_have_fallen_is_not_recovered_alone(store: Store) -> None:
    one = store.append("The door code is 4711.")
    drawn = store.append("There is a door.", type="inference", parents=[one])
    store.forget(one)
    with pytest.raises(InvalidRecordError, match=f"rests on {one}, which is forgotten: recover that too"):
        store.recover(drawn)
    store.recover(drawn, one)
    assert not store.reader.control.hidden


def test_marked_shows_nothing_of_another_scope_nor_of_later(store: Store) -> None:
    hers = store.append(
        "The meeting is in Riga.", user_id="alice", occurred_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    store.append("The meeting is in Oslo.", user_id="bob", supersedes=[hers])
    for marked in (None, "marked"):
        assert store.recall("Where is the meeting?", user_id="alice", superseded=marked).results == ()
    mine = store.append("The cat is Tom.", user_id="carl", occurred_at=datetime(2026, 1, 1, tzinfo=UTC))
    store.append(
        "The cat is Max.", user_id="carl", supersedes=[mine], occurred_at=datetime(2026, 3, 1, tzinfo=UTC)
    )
    then = datetime(2026, 2, 1, tzinfo=UTC)
    asked = store.recall("What is the cat?", user_id="carl", superseded="marked", now=then).results
    assert "Max" not in str(asked)
    (only,) = store.recall("What is the cat?", superseded="marked", filters={"id": mine}).results
    assert (only.id, only.superseded_by is not None) == (mine, True)


def test_a_memory_that_was_forgotten_as_a_whole_comes_back_as_a_whole(store: Store) -> None:
    old = store.append("I live in Quokkaville.", user_id="m")
    new = store.correct(old, "I live in Wombat Creek.", reason="moved")
    shown_first = store.preview_forget("Where do I live?", user_id="m")
    assert shown_first.token is not None
    store.forget_previewed(shown_first.token, reason="asked to", user_id="m", confirm=1)
    assert store.recall(ASKED, user_id="m").results == ()
    assert store.plan_recover(old) == (new,)
    store.recover(old)
    assert [hit.text for hit in store.recall(ASKED, user_id="m").results] == ["I live in Wombat Creek."]


def test_another_scopes_part_of_a_memory_is_not_hidden_by_a_caller(store: Store) -> None:
    hers = store.append("The meeting is in Riga.", user_id="alice")
    his = store.append("The meeting is in Oslo.", user_id="bob", supersedes=[hers])
    with asked_by(Caller(name="alice", kind="person", user_id="alice")):
        assert store.plan_forget(hers) == ()
        store.forget(hers)
    control = store.reader.control
    assert [store.reader.index_of(id) in control.hidden for id in (hers, his)] == [True, False]


def test_a_correction_that_was_forgotten_by_itself_stays_forgotten(store: Store) -> None:
    old = store.append("I live in Quokkaville.", user_id="m")
    new = store.correct(old, "I live in Wombat Creek.", reason="moved")
    store.forget(new, reason="it was wrong", only=True)
    store.forget(old, reason="asked to")
    assert store.plan_recover(old) == ()
    store.recover(old)
    assert [hit.text for hit in store.recall(ASKED, user_id="m").results] == ["I live in Quokkaville."]


def test_of_a_memory_that_was_forgotten_in_part_only_that_comes_back_which_is_named(store: Store) -> None:
    old = store.append("I live in Quokkaville.", user_id="m")
    middle = store.correct(old, "I live in Dingo Bay.", reason="moved")
    new = store.correct(middle, "I live in Wombat Creek.", reason="moved")
    store.forget(new, middle, reason="asked to", only=True)
    assert [hit.text for hit in store.recall(ASKED, user_id="m").results] == ["I live in Quokkaville."]
    assert store.plan_recover(middle) == ()
    store.recover(middle)
    assert [hit.text for hit in store.recall(ASKED, user_id="m").results] == ["I live in Dingo Bay."]
