"""Memories that change: modified with a version, pinned, forgotten by what they say, and their history."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.caller import GRANTS, Caller, asked_by
from braid.errors import (
    AccessDeniedError,
    ConfirmationError,
    InvalidRequestError,
    PinnedError,
    VersionConflictError,
)
from braid.ledger.errors import ErasedError, ForgottenError, IdempotencyConflictError, InvalidRecordError
from braid.ledger.record.record import is_reading
from braid.store import Store

NOW = datetime(2025, 6, 1, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    braid.init(tmp_path / "store", guard_dir=tmp_path / "guard", durability="none", clock=clock)
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard", clock=clock) as opened:
        yield opened


def told(store: Store, id: str) -> list[tuple[str, int, str | None, str | None]]:
    return [(one.change, one.version, one.old, one.new) for one in store.history(id).changes]


# -- modify ------------------------------------------------------------------------------------------


def test_a_correction_counts_from_when_the_old_text_did_and_is_no_news(store: Store, clock: Clock) -> None:
    old = store.remember([{"role": "user", "content": "I live in Leeds."}], user_id="maya").memory_id
    assert old is not None
    clock.now += timedelta(days=5)
    store.remember([{"role": "user", "content": "I live in Oslo now."}], user_id="maya")
    clock.now += timedelta(days=5)
    new = store.correct(old, "I live in Leith.", reason="misheard")
    tagged = store.modify(old, tags=["home"], reason="sorted").id
    for id in (new, tagged):
        assert store.get(id).body.occurred_at == store.get(old).created_at
    assert "Oslo" in store.ask("Where do I live?", user_id="maya").text
    early = store.sql("SELECT object FROM claims_at('2025-06-03')")["object"].to_pylist()
    assert early == ["Leith"]


def test_a_correction_was_known_from_when_it_was_made_on_and_says_so(store: Store, clock: Clock) -> None:
    began = clock.now
    old = store.append("Maya keeps the spare key under the blue pot.", user_id="maya", actor="user")
    clock.now += timedelta(days=10)
    store.correct(old, "Maya keeps the spare key under the red pot.", reason="misheard")
    asked = "Where does Maya keep the spare key?"
    answer = store.ask(asked, user_id="maya", write=False)
    assert "red pot" in answer.text
    assert "put right on" in answer.text
    before = store.ask(asked, user_id="maya", write=False, now=began + timedelta(days=1))
    assert "red pot" not in before.text


def test_another_text_stands_in_its_place_and_any_id_of_the_chain_names_the_memory(store: Store) -> None:
    first = store.append("Maya moved to Porto.", user_id="maya", tags=["home"])
    second = store.modify(first, text="Maya moved to Lisbon.", reason="misheard")
    third = store.modify(first, text="Maya moved to Faro.", tags=["home", "south"], reason="again")
    assert (second.version, third.version) == (2, 3)
    assert store.get(third.id).body.tags == ["home", "south"]
    hits = [hit.text for hit in store.recall("Where did Maya move?", user_id="maya").results]
    assert hits == ["Maya moved to Faro."]
    for id in (first, second.id, third.id):
        held = store.history(id)
        assert (held.current, held.version) == (third.id, 3)
    assert told(store, first) == [
        ("ADD", 1, None, "Maya moved to Porto."),
        ("UPDATE", 2, "Maya moved to Porto.", "Maya moved to Lisbon."),
        ("UPDATE", 3, "Maya moved to Lisbon.", "Maya moved to Faro."),
    ]
    assert [one.reason for one in store.history(first).changes] == [None, "misheard", "again"]


def test_of_two_who_saw_the_same_version_the_second_is_refused(store: Store) -> None:
    id = store.append("The rent is 800.", user_id="maya")
    store.modify(id, text="The rent is 850.", reason="raised", if_version=1)
    size = len(store)
    with pytest.raises(VersionConflictError, match="has version 2, not 1") as refused:
        store.modify(id, text="The rent is 820.", reason="I think", if_version=1)
    assert (refused.value.asked, refused.value.actual, len(store)) == (1, 2, size)
    assert "somebody changed it since" in str(refused.value)
    with pytest.raises(VersionConflictError, match="has version 2, not 3: there is no such version yet"):
        store.modify(id, text="The rent is 820.", reason="I think", if_version=3)


def test_a_key_makes_repeating_harmless_and_another_wish_under_it_is_refused(store: Store) -> None:
    id = store.append("The rent is 800.", user_id="maya")
    one = store.modify(id, text="The rent is 850.", reason="raised", if_version=1, idempotency_key="k")
    again = store.modify(id, text="The rent is 850.", reason="raised", if_version=1, idempotency_key="k")
    assert (again.id, again.version, again.known) == (one.id, one.version, True)
    with pytest.raises(IdempotencyConflictError):
        store.modify(id, text="The rent is 900.", reason="raised", idempotency_key="k")
    other = store.append("The rent is 700.", user_id="maya")
    with pytest.raises(IdempotencyConflictError):
        store.modify(other, text="The rent is 850.", reason="raised", idempotency_key="k")


def test_a_change_of_a_key_is_known_where_the_words_before_it_are_erased(store: Store) -> None:
    id = store.append("The rent is 800.")
    new = store.modify(id, text="The rent is 850.", reason="raised").id
    store.modify(id, importance=0.9, reason="so", idempotency_key="k")
    store.erase(new)
    assert store.modify(id, importance=0.9, reason="so", idempotency_key="k").known


@pytest.mark.parametrize(
    ("first", "again", "unlike"),
    [
        ({"pinned": True}, {"pinned": True}, ()),
        ({"pinned": True}, {"importance": 0.9}, ("importance",)),
        ({"pinned": True}, {"pinned": True, "importance": 0.9}, ("importance",)),
        ({"pinned": True}, {"pinned": True, "importance": 0.5}, ()),
        ({"pinned": True}, {"pinned": True, "text": "The rent is 800."}, ()),
        ({"pinned": True}, {"pinned": True, "text": "The rent is 900."}, ("text",)),
        ({"pinned": True}, {"pinned": True, "tags": ["flat"]}, ("tags",)),
        ({"pinned": True}, {"pinned": True, "lock_days": 7}, ("lock_days",)),
        ({"lock_days": 7}, {"lock_days": 7}, ()),
        ({"lock_days": 7}, {"lock_days": 8}, ("lock_days",)),
        ({"lock_days": 7}, {"pinned": False}, ("lock_days",)),
        ({"text": "The rent is 850."}, {"text": "The rent is 850.", "importance": 0.9}, ("importance",)),
        ({"text": "The rent is 850."}, {"text": "The rent is 850.", "pinned": True}, ("pinned",)),
        ({"text": "The rent is 850.", "pinned": True}, {"text": "The rent is 850.", "pinned": True}, ()),
        ({"text": "The rent is 850.", "pinned": True}, {"text": "The rent is 850."}, ()),
        ({"tags": ["flat"]}, {"tags": ["flat"], "lock_days": 7}, ("lock_days",)),
    ],
)
def test_a_change_of_a_key_is_compared_in_all_that_it_asks(
    store: braid.Store, first: dict[str, Any], again: dict[str, Any], unlike: tuple[str, ...]
) -> None:
    id = store.append("The rent is 800.")
    done = store.modify(id, **first, reason="so", idempotency_key="k")
    store.modify(id, importance=0.1, reason="later")  # what came behind it is not compared
    if not unlike:
        assert store.modify(id, **again, reason="so", idempotency_key="k").known
        assert store.modify(
            done.id if done.id.startswith("exp") else id, **again, reason="so", idempotency_key="k"
        ).known
        return
    with pytest.raises(braid.IdempotencyConflictError) as refused:
        store.modify(id, **again, reason="so", idempotency_key="k")
    assert refused.value.unlike == unlike


def test_a_key_of_a_setting_is_held_to_what_it_set(store: Store) -> None:
    id = store.append("The rent is 800.", user_id="maya")
    store.modify(id, pinned=True, reason="keep", idempotency_key="k")
    assert store.modify(id, pinned=True, reason="keep", idempotency_key="k").known
    with pytest.raises(IdempotencyConflictError):
        store.modify(id, pinned=False, reason="keep", idempotency_key="k")


def test_nothing_to_change_no_reason_and_what_is_no_memory_are_refused(store: Store) -> None:
    id = store.append("It rained.", user_id="maya")
    with pytest.raises(InvalidRecordError, match="nothing of"):
        store.modify(id, text="It rained.", reason="?")
    with pytest.raises(InvalidRequestError):
        store.modify(id, text="It snowed.", reason="")
    with pytest.raises(InvalidRequestError):
        store.modify(id, importance=1.5, reason="very")
    with pytest.raises(InvalidRecordError, match="only experiences"):
        store.modify(store.apply_lens("temporal", user_id="maya").id, text="x", reason="?")
    store.forget(id)
    with pytest.raises(ForgottenError):
        store.modify(id, text="It snowed.", reason="?")


def test_of_several_changes_each_stands_by_itself(store: Store) -> None:
    from braid.memories.operations import Modify

    one, other = (store.append(text, user_id="maya") for text in ("It rained.", "It snowed."))
    done = store.modify_all(
        [
            Modify(id=one, text="It hailed.", reason="seen"),
            Modify(id=other, text="It thawed.", reason="seen", if_version=7),
            Modify(id=other, tags=("weather",), reason="sorted"),
        ]
    )
    assert [out.error for out in done] == [None, "VersionConflictError", None]
    assert [out.done.version for out in done if out.done] == [2, 2]


# -- how a memory is kept ----------------------------------------------------------------------------


def test_what_is_pinned_stays_also_behind_a_correction_until_it_is_unpinned(store: Store) -> None:
    id = store.append("Maya is allergic to nuts.", user_id="maya")
    store.modify(id, pinned=True, reason="safety")
    new = store.correct(id, "Maya is allergic to peanuts.")
    for each in (id, new):
        with pytest.raises(PinnedError):
            store.forget(each)
    assert store.history(new).pinned
    store.modify(new, pinned=False, reason="over")
    store.forget(new, id)


def test_a_lock_keeps_what_was_read_of_the_memory_too(store: Store) -> None:
    agent = Caller(name="bot", kind="agent", user_id="maya")
    (id,) = store.remember("I live in Porto.", user_id="maya").ids
    reading = next(record.id for record in store.read() if is_reading(record.body))
    store.modify(id, lock_days=7, reason="she put it right")
    with asked_by(agent), pytest.raises(AccessDeniedError, match="locked until"):
        store.append("Maya lives in Faro.", user_id="maya", supersedes=[reading])
    store.append("Maya lives in Faro.", user_id="maya", supersedes=[reading])


def test_what_is_locked_no_agent_changes_until_its_days_are_over(store: Store, clock: Clock) -> None:
    agent = Caller(name="bot", kind="agent", user_id="maya")
    id = store.append("Maya is allergic to nuts.", actor="agent", user_id="maya")
    store.modify(id, lock_days=7, reason="she looked at it")
    until = store.history(id).locked_until
    assert until is not None
    size = len(store)
    for change in (
        lambda: store.modify(id, text="Maya eats nuts.", reason="inferred"),
        lambda: store.modify(id, lock_days=0, reason="inferred"),
        lambda: store.correct(store.history(id).current or "", "Maya eats nuts."),
        lambda: store.append("Maya eats nuts.", user_id="maya", supersedes=[id]),
    ):
        with asked_by(agent), pytest.raises(AccessDeniedError, match="locked until"):
            change()
    assert len(store) == size
    clock.now += timedelta(days=8)
    with asked_by(agent):
        store.modify(id, text="Maya is allergic to almonds.", reason="told")
    store.modify(id, lock_days=7, reason="enough")
    until = store.history(id).locked_until
    with asked_by(Caller(name="phone", kind="person", user_id="maya")):
        new = store.modify(id, text="Maya is allergic to all nuts.", reason="she knows").id
    assert store.history(new).locked_until == until, "the lock goes on behind a correction"
    clock.now += timedelta(days=8)
    with asked_by(agent), pytest.raises(InvalidRecordError, match="an owner's"):
        store.modify(id, text="Maya eats nuts.", reason="told")


def test_only_a_person_or_an_operator_locks_and_lifts(store: Store) -> None:
    agent = Caller(name="bot", kind="agent", user_id="maya")
    id = store.append("Maya is allergic to nuts.", actor="agent", user_id="maya")
    with asked_by(agent), pytest.raises(AccessDeniedError, match="only a person"):
        store.modify(id, lock_days=1, reason="mine")
    store.modify(id, lock_days=7, reason="hers")
    store.modify(id, lock_days=0, reason="over")
    with asked_by(agent):
        store.modify(id, text="Maya is allergic to peanuts.", reason="told")


def test_only_an_operator_forces_what_is_pinned(store: Store) -> None:
    id = store.append("Maya is allergic to nuts.", user_id="maya")
    store.modify(id, pinned=True, reason="safety")
    with asked_by(Caller(name="phone", kind="person", user_id="maya")), pytest.raises(AccessDeniedError):
        store.forget(id, force=True)
    store.forget(id, force=True)
    assert told(store, id)[-1] == ("DELETE", 3, None, None)


def test_a_forgotten_setting_no_longer_holds(store: Store) -> None:
    id = store.append("Maya is allergic to nuts.", user_id="maya")
    event = store.modify(id, pinned=True, reason="safety").id
    store.forget(event)
    held = store.history(id)
    assert (held.pinned, held.version) == (False, 2)
    store.recover(event)
    assert store.history(id).pinned


def test_importance_lifts_what_fits_about_as_well_and_goes_on_behind_a_correction(store: Store) -> None:
    ids = [store.append(f"Maya's {what} is in the hall.", user_id="maya") for what in ("coat", "bike", "bag")]

    def score(id: str) -> float:
        found = store.recall("What of Maya's is in the hall?", user_id="maya", explain=True).results
        return next(
            hit.parts["salience"] if hit.parts and "salience" in hit.parts else 0.0
            for hit in found
            if hit.id == id
        )

    assert [score(id) for id in ids] == [0.0, 0.0, 0.0]
    store.modify(ids[0], importance=1.0, reason="winter")
    store.modify(ids[1], importance=0.0, reason="sold soon")
    new = store.correct(ids[0], "Maya's red coat is in the hall.")
    assert score(new) > 0.0 > score(ids[1])
    assert store.history(new).importance == 1.0


# -- forgetting by id --------------------------------------------------------------------------------


@pytest.mark.sample(3)
@pytest.mark.parametrize("which", [0, 1, 2])
def test_any_id_of_a_memory_forgets_and_recovers_all_of_it(store: Store, which: int) -> None:
    ids = [store.append("I live in Oslo.", user_id="maya")]
    for town in ("Bergen", "Tromsø"):
        ids.append(store.correct(ids[-1], f"I live in {town}."))
    assert set(ids) - {ids[which]} <= set(store.plan_forget(ids[which]))
    store.forget(ids[which], reason="asked")
    assert all(store.reader.index_of(id) in store.reader.control.hidden for id in ids)
    assert not store.recall("Where do I live?", user_id="maya").results
    store.recover(ids[which - 1])
    (found,) = store.recall("Where do I live?", user_id="maya").results
    assert found.id == ids[2]


def test_two_corrections_of_one_record_leave_one_that_stands(store: Store) -> None:
    first = store.append("I live in Oslo.", user_id="maya")
    store.correct(first, "I live in Bergen.")
    last = store.correct(first, "I live in Tromsø.")
    assert [one.text for one in store.recall("I live in", user_id="maya").results] == ["I live in Tromsø."]
    assert [(one.old, one.new) for one in store.history(first).changes] == [
        (None, "I live in Oslo."), ("I live in Oslo.", "I live in Bergen."), ("I live in Bergen.", "I live in Tromsø."),
    ]  # fmt: skip
    store.forget(last, only=True)
    assert [one.text for one in store.recall("I live in", user_id="maya").results] == ["I live in Bergen."]


def test_a_change_takes_the_place_of_all_that_stands_of_a_memory(store: Store) -> None:
    first = store.append("I live in Oslo.", user_id="maya")
    for town in ("Bergen", "Tromsø"):
        store.append(f"I live in {town}.", supersedes=[first], user_id="maya")
    assert len(store.recall("I live in", user_id="maya").results) == 2
    new = store.modify(first, text="I live in Bodø.", reason="asked again").id
    assert [one.text for one in store.recall("I live in", user_id="maya").results] == ["I live in Bodø."]
    assert [one.link for one in store.get(new).body.diffs] == [0, 1]
    store.forget(new, reason="asked")
    with pytest.raises(ForgottenError, match="recover it before"):
        store.correct(first, "I live in Vadsø.")


def test_only_takes_back_a_correction_and_what_it_corrected_stands_again(store: Store) -> None:
    old = store.append("I live in Oslo.", user_id="maya")
    new = store.correct(old, "I live in Bergen.")
    assert old not in store.plan_forget(new, only=True)
    store.forget(new, only=True)
    assert [one.id for one in store.recall("Where do I live?", user_id="maya").results] == [old]


def test_an_id_that_was_taken_back_or_erased_still_names_the_memory(store: Store) -> None:
    ids = [store.append("I live in Oslo.", user_id="maya")]
    for town in ("Bergen", "Tromsø"):
        ids.append(store.correct(ids[-1], f"I live in {town}."))
    store.forget(ids[2], only=True)
    gone = store.forget(ids[2])
    assert not store.recall("Where do I live?", user_id="maya").results
    assert gone == store.forget(ids[0])
    store.recover(*ids)
    store.erase(ids[1])
    store.forget(ids[1])
    assert not store.recall("Where do I live?", user_id="maya").results


def test_what_was_forgotten_whole_comes_back_whole_though_a_part_came_back_before(store: Store) -> None:
    ids = [store.append("I live in Oslo.", user_id="maya")]
    for town in ("Bergen", "Tromsø", "Narvik"):
        ids.append(store.correct(ids[-1], f"I live in {town}."))
    store.forget(ids[3], only=True)
    store.forget(ids[0])
    store.recover(ids[3])
    store.recover(ids[0])
    assert not store.reader.control.hidden
    store.forget(ids[3], only=True)
    (found,) = store.recall("Where do I live?", user_id="maya").results
    assert found.text == "I live in Tromsø."


def test_an_erasure_names_every_correction_that_stays(store: Store) -> None:
    first = store.append("I live in Oslo.", user_id="maya")
    second = store.correct(first, "I live in Bergen.")
    third = store.correct(second, "I live in Tromsø.")
    assert [one.id for one in store.plan_erase(first).goes_on] == [second, third]
    store.forget(first)
    assert [one.id for one in store.plan_erase(first).goes_on] == [second, third]
    assert store.plan_erase(first, second, third).goes_on == []


@pytest.mark.parametrize("which", [0, 1, 2])
def test_any_id_erases_the_memory_whole_where_that_is_asked_for(store: Store, which: int) -> None:
    ids = [store.append("I live in Oslo.", user_id="maya")]
    for town in ("Bergen", "Tromsø"):
        ids.append(store.correct(ids[-1], f"I live in {town}."))
    other = store.append("I live well.", user_id="maya")
    store.forget(ids[2], only=True)
    planned = store.plan_erase(ids[which], whole=True)
    assert [one.id for one in planned.asked] == ids
    assert (planned.again, planned.goes_on) == ([], [])
    (done,) = store.erase(ids[which], whole=True, reason="asked")
    assert (done.records, done.stands_again) == (len(planned.erased), [])
    for id in ids:
        with pytest.raises(ErasedError):
            store.get(id)
    assert store.get(other).text == "I live well."
    with pytest.raises(ErasedError):
        store.erase(ids[which], whole=True)


def test_an_erased_id_still_names_the_memory_that_is_erased_whole(store: Store) -> None:
    first = store.append("I live in Oslo.", user_id="maya")
    second = store.correct(first, "I live in Bergen.")
    third = store.correct(second, "I live in Tromsø.")
    assert store.erase(third)[0].stands_again == [second]
    assert [one.id for one in store.plan_erase(third, second, whole=True).asked] == [first, second]
    store.erase(third, whole=True)
    assert not store.recall("I live in", user_id="maya").results


def test_who_erases_whole_names_records_and_takes_nobody_elses(store: Store) -> None:
    for ask in (store.erase, store.plan_erase):
        with pytest.raises(InvalidRequestError, match="whole goes with ids"):
            ask(user_id="maya", whole=True)
    mine = store.append("I live in Oslo.", user_id="maya")
    other = store.append("I live in Bergen.", user_id="jonas", supersedes=[mine])
    caller = Caller(name="maya", user_id="maya")
    with asked_by(caller):
        store.erase(mine, whole=True)
    assert store.get(other).text == "I live in Bergen."


# -- forgetting by what memories say -----------------------------------------------------------------


@pytest.fixture
def notes(store: Store) -> list[str]:
    texts = ["Porto is warm.", "We flew to Porto in May.", "Leeds is cold.", "A port in a storm."]
    return [store.append(text, user_id="maya") for text in texts]


def test_just_what_was_shown_is_forgotten(store: Store, notes: list[str]) -> None:
    shown = store.preview_forget("porto", user_id="maya")
    assert {one.id for one in shown.memories} == set(notes[:2])
    assert (shown.confirm, shown.more) == (None, False)
    assert [hit.id for hit in store.recall("Porto", user_id="maya").results if hit.id in notes[:2]]
    done = store.forget_previewed(shown.token, reason="she asked", user_id="maya")
    assert set(done.forgotten) == set(notes[:2])
    assert done.skipped == ()
    with pytest.raises(ForgottenError):
        store.get(notes[0])
    assert store.get(notes[2]).text == "Leeds is cold."
    again = store.forget_previewed(shown.token, reason="she asked", user_id="maya")
    assert (again.tombstone, {one.why for one in again.skipped}) == (None, {"forgotten"})


def test_a_corrected_memory_is_forgotten_whole_so_its_first_text_does_not_stand_again(store: Store) -> None:
    first = store.append("Maya lives in Porto.", user_id="maya")
    new = store.modify(first, text="Maya lives in Faro.", reason="moved").id
    shown = store.preview_forget("Maya lives in Faro", user_id="maya")
    assert store.forget_previewed(shown.token, reason="asked", user_id="maya").forgotten == (new,)
    assert store.history(first).current is None
    assert [hit.text for hit in store.recall("Where does Maya live?", user_id="maya").results] == []


def test_what_is_stated_is_meant_word_for_word_and_what_comes_near_wants_its_number(store: Store) -> None:
    texts = ("I like coriander.", "I don't like coriander.", "I like coriander and I can't eat nuts.")
    likes, dislikes, _ = (store.append(text, user_id="maya") for text in texts)
    for query, id in (("I like coriander", likes), ("I do not like coriander", dislikes)):
        shown = store.preview_forget(query, user_id="maya")
        assert ([one.id for one in shown.memories], shown.near, shown.confirm) == ([id], False, None)
    assert len(store.preview_forget("coriander", user_id="maya").memories) == 3
    assert len(store.preview_forget("I like coriander", match="topic", user_id="maya").memories) == 3
    shown = store.preview_forget("Coriander I do like", user_id="maya")
    assert ([one.id for one in shown.memories], shown.near, shown.confirm) == ([likes], True, 1)
    with pytest.raises(ConfirmationError, match="word for word"):
        store.forget_previewed(shown.token, reason="x", user_id="maya")
    assert store.forget_previewed(shown.token, reason="x", ids=[likes], user_id="maya").forgotten == (likes,)


def test_what_changed_since_and_what_is_pinned_stays_and_is_named(store: Store, notes: list[str]) -> None:
    store.modify(notes[0], pinned=True, reason="keep")
    shown = store.preview_forget("porto", user_id="maya")
    assert [one.id for one in shown.memories if one.pinned] == [notes[0]]
    store.modify(notes[1], text="We flew to Porto in June.", reason="June it was")
    done = store.forget_previewed(shown.token, reason="she asked", user_id="maya")
    assert {one.id: one.why for one in done.skipped} == {notes[0]: "pinned", notes[1]: "changed"}
    assert done.forgotten == ()


def test_of_what_was_shown_some_may_be_chosen_and_nothing_else(store: Store, notes: list[str]) -> None:
    shown = store.preview_forget("porto", user_id="maya")
    with pytest.raises(ConfirmationError, match="was not shown"):
        store.forget_previewed(shown.token, reason="x", ids=[notes[2]], user_id="maya")
    done = store.forget_previewed(shown.token, reason="x", ids=[notes[1]], user_id="maya")
    assert done.forgotten == (notes[1],)


def test_a_token_is_its_callers_in_its_scope_and_for_ten_minutes(
    store: Store, notes: list[str], clock: Clock
) -> None:
    shown = store.preview_forget("porto", user_id="maya")
    del notes

    def refused(match: str, **given: Any) -> None:
        with pytest.raises(ConfirmationError, match=match):
            store.forget_previewed(**{"token": shown.token, "reason": "x", "user_id": "maya", **given})

    refused("another scope", user_id="tom")
    refused("altered", token=shown.token[:-3] + ("AAA" if not shown.token.endswith("AAA") else "BBB"))
    refused("altered", token="AAAA")
    refused("no token", token="a")
    refused("no token", token="../../etc/passwd")
    with asked_by(Caller(name="phone", kind="person", user_id="maya")):
        refused("another caller")
    clock.now += timedelta(minutes=10)
    refused("expired")


def test_more_than_ten_want_their_number_said(store: Store) -> None:
    for day in range(12):
        store.append(f"Porto diary, day {day}.", user_id="maya")
    assert store.preview_forget("porto diary", user_id="maya", limit=5).more
    shown = store.preview_forget("porto diary", user_id="maya")
    assert (len(shown.memories), shown.confirm) == (12, 12)
    size = len(store)
    for wrong in (None, 11):
        with pytest.raises(ConfirmationError, match="confirm=12"):
            store.forget_previewed(shown.token, reason="x", user_id="maya", confirm=wrong)
    assert len(store) == size
    assert len(store.forget_previewed(shown.token, reason="x", user_id="maya", confirm=12).forgotten) == 12


def test_without_a_scope_only_an_operator_forgets_by_words(store: Store, notes: list[str]) -> None:
    del notes
    assert store.preview_forget("porto").memories
    with asked_by(Caller(name="bot", kind="person")), pytest.raises(AccessDeniedError, match="scope"):
        store.preview_forget("porto")


# -- history -----------------------------------------------------------------------------------------


def test_a_history_has_what_was_forgotten_brought_back_and_erased_without_its_words(store: Store) -> None:
    first = store.append("Maya lives in Porto.", user_id="maya")
    second = store.correct(first, "Maya lives in Faro.", reason="moved")
    store.forget(second, reason="asked")
    store.recover(second)
    store.erase(first)
    assert [(one.change, one.version) for one in store.history(second).changes] == [
        ("ADD", 1), ("UPDATE", 2), ("DELETE", 3), ("RECOVER", 4), ("ERASE", 4),
    ]  # fmt: skip
    changes = store.history(first).changes
    assert [one.new for one in changes] == [None, "Maya lives in Faro.", None, "Maya lives in Faro.", None]
    assert all("Porto" not in repr(one) for one in changes)


def test_a_history_as_of_then_knows_nothing_of_later(store: Store) -> None:
    first = store.append("Maya lives in Porto.", user_id="maya")
    at = store.get(first).index
    store.correct(first, "Maya lives in Faro.")
    held = store.history(first, as_of=at)
    assert (held.current, held.version, len(held.changes)) == (first, 1, 1)


def test_who_asked_through_a_server_stands_in_the_history(store: Store) -> None:
    id = store.append("Maya lives in Porto.", user_id="maya")
    with asked_by(Caller(name="phone", kind="person", user_id="maya")):
        store.modify(id, text="Maya lives in Faro.", reason="moved")
        store.forget(store.history(id).current or "")
    assert [one.asked_by for one in store.history(id).changes] == [None, "person phone", "person phone"]


def test_a_rebuilt_projection_changes_no_history(store: Store) -> None:
    id = store.append("Maya lives in Porto.", user_id="maya")
    store.modify(id, text="Maya lives in Faro.", pinned=True, reason="moved")
    before = store.history(id)
    list(store.replay())
    assert store.history(id) == before


def test_a_forget_and_a_recovery_can_be_repeated(store: Store) -> None:
    ids = [store.append(text, user_id="maya") for text in ("It rained.", "It snowed.", "It hailed.")]
    first, second = store.forget(ids[0], reason="asked to"), store.forget(ids[1])
    size = len(store)
    maya = Caller(name="app", kind="person", user_id="maya")
    with asked_by(maya):
        assert store.forget(ids[0], reason="again") == first
    assert store.forget(*ids[:2]) == second
    assert store.forget(ids[1], only=True) == second
    with pytest.raises(ForgottenError):
        store.forget(*ids)  # not one of them is forgotten with the others gone already
    with pytest.raises(InvalidRecordError, match="is not forgotten"):
        store.recover(ids[2])
    assert len(store) == size
    back = store.recover(ids[0])
    with asked_by(maya):
        assert store.recover(ids[0]) == back
    assert len(store) == size + 1
    with pytest.raises(InvalidRecordError, match="is not forgotten"):
        store.recover(ids[0], ids[1])  # one is back, the other isn't
    again = store.forget(ids[0])
    assert again not in (first, back)
    assert store.forget(ids[0]) == again
    store.erase(ids[0])
    for step in (store.forget, store.recover):
        with pytest.raises(ErasedError):
            step(ids[0])


def test_no_forget_stands_in_a_history_without_a_reason(store: Store) -> None:
    id = store.append("I live in Porto.", user_id="maya")
    with asked_by(Caller(name="noor", kind="agent", allowed=GRANTS["operator"])):
        store.forget(id)
    store.recover(id)
    store.forget(id, reason="")
    store.recover(id, reason="a mistake")
    told = [(one.change, one.reason) for one in store.history(id).changes[1:]]
    assert told == [
        ("DELETE", "asked by noor"),
        ("RECOVER", "asked by the owner"),
        ("DELETE", "asked by the owner"),
        ("RECOVER", "a mistake"),
    ]
