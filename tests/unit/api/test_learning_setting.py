"""Claims of health and of money: none until a signed setting allows them; off again they have no say."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.admin.rederivation import rederive
from braid.learn.gates.outcome import EVERY_SENSITIVITY, kinds_of, suffix_of
from braid.ledger.errors import ErasedError, ReadOnlyError
from braid.ledger.record.record import READING, Claim, Content, Draft, ExperienceBody, Provenance, Scope
from braid.models.spacy_parser import shared
from braid.store import Store
from tests.unit.learn.model_double import SaysInTurn

NOW = datetime(2025, 6, 1, tzinfo=UTC)
SAID = {
    "I take metformin with breakfast.": "health",
    "The doctor said two tablets a day.": "health",
    "I have asthma.": "health",
    "My salary is 52,000 euros.": "finance",
    "I owe the bank 900 pounds.": "finance",
    "I live in Leeds.": "",
}
PRIVATE = ("metformin", "tablets", "asthma", "salary", "900 pounds")


def opened(folder: Path, **how: Any) -> Store:
    ticks = iter(range(10**6))
    return braid.open(
        folder / "memory",
        guard_dir=folder / "guard",
        clock=lambda: NOW + timedelta(seconds=next(ticks)),
        **how,
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with opened(tmp_path) as found:
        said = [{"role": "user", "name": "Ana", "content": text} for text in SAID]
        found.remember(said, user_id="ana")
        yield found


def known(store: Store, **how: Any) -> list[str]:
    """What is claimed by records that have a say."""
    rows = store.sql(
        "SELECT c.subject || ' ' || c.rel || ' ' || c.object AS says FROM claims c JOIN experiences e USING (log_index)"
        " WHERE e.standing = 'living' ORDER BY says",
        **how,
    ).to_pylist()
    return [str(row["says"]) for row in rows]


def methods(store: Store) -> set[str]:
    """The methods of all readings, without the version of the parser."""
    bodies = (record.body for record in store.read())
    found = [one.provenance.method for one in bodies if isinstance(one, ExperienceBody)]
    return {method.partition("+en_")[0] for method in found if method.startswith(READING)}


def sensitive(claims: list[str]) -> list[str]:
    return [one for one in claims if any(word in one for word in PRIVATE)]


def test_off_nothing_of_health_or_money_is_claimed_and_its_words_are_found(store: Store) -> None:
    assert known(store) == ["Ana lives_in Leeds"]
    assert methods(store) == {"read:parse@15"}
    assert store.recall("metformin", user_id="ana").results[0].text == "I take metformin with breakfast."
    assert "900 pounds" in store.recall("what do I owe the bank", user_id="ana").results[0].text
    state = store.learning_setting()
    assert (state.health, state.finance, state.record) == (False, False, None)


def test_on_each_kind_is_claimed_by_a_reader_of_its_own(store: Store) -> None:
    done = store.set_learning(health=True, reason="she asked for it")
    assert (done.health, done.finance) == (True, False)
    assert done.record is not None
    store.learn()
    claimed = known(store)
    assert "Ana takes metformin" in claimed
    assert "Ana has_condition asthma" in claimed
    assert not any("salary" in one or "900" in one for one in claimed)
    assert methods(store) == {"read:parse@15", "read:parse@15+health"}
    store.set_learning(finance=True)
    store.learn()
    assert {"read:parse@15+finance", "read:parse@15+health"} <= methods(store)
    assert any("900 pounds" in one for one in known(store))
    assert store.learn().records == 0
    assert (store.set_learning(health=True).record, len(store)) == (
        store.learning_setting().record,
        len(store),
    )


def test_off_again_one_event_takes_their_say_and_on_again_they_are_back(store: Store) -> None:
    store.set_learning(health=True)
    store.learn()
    with_health = known(store)
    then = len(store)
    size = len(store)
    store.set_learning(health=False)
    assert len(store) == size + 2  # the setting, and one retirement
    assert known(store) == ["Ana lives_in Leeds"]
    assert known(store, as_of=then) == with_health
    store.learn()
    store.remember([{"role": "user", "name": "Ana", "content": "I have diabetes."}], user_id="ana")
    assert known(store) == ["Ana lives_in Leeds"]
    store.set_learning(health=True)
    store.learn()
    assert set(with_health) < set(known(store))
    assert any("diabetes" in one for one in known(store))
    store.set_learning(health=False)
    assert known(store) == ["Ana lives_in Leeds"]


def test_a_rebuild_gives_the_same_and_every_reading_is_made_again(store: Store, tmp_path: Path) -> None:
    store.set_learning(health=True, finance=True)
    store.learn()
    store.set_learning(finance=False)
    before = known(store)
    assert sensitive(before)
    store.replay()
    assert known(store) == before
    again = rederive(store.reader, store.session.parsing)
    assert again.findings == []
    assert not again.unmade
    store.close()
    with opened(tmp_path) as other:  # nothing but the log says what is set
        assert (other.learning_setting().health, other.learning_setting().finance) == (True, False)
        assert known(other) == before
        assert other.learn().records == 0


def test_erasing_a_turn_takes_what_was_read_of_its_health(store: Store) -> None:
    store.set_learning(health=True)
    store.learn()
    (turn,) = [record for record in store.read() if record.text == "I have asthma."]
    (reading,) = [r for r in store.read() if any(link.id == turn.id for link in r.targets("parent"))]
    store.erase(turn.id)
    assert not any("asthma" in one for one in known(store))
    with pytest.raises(ErasedError):
        store.get(reading.id)


def test_what_an_event_states_is_held_to_the_setting(tmp_path: Path) -> None:
    stated = {"preference.stated": {"value": "ibuprofen 200 mg", "key": "painkiller"}}
    with opened(tmp_path) as store:
        store.followers.clear()
        store.append("Noted.", actor="user", name="Ana", user_id="ana", structured=stated)
        refused = store.extract().refused
        assert refused == {"safety:health": 1}
        store.set_learning(health=True)
        store.append("Noted again.", actor="user", name="Ana", user_id="ana", structured=stated)
        assert store.extract().claims == 1
        assert methods(store) == {"read:events@1+health"}
        assert rederive(store.reader).findings == []
        store.set_learning(health=False)
        assert known(store) == []


def test_what_a_model_finds_is_held_to_the_setting(tmp_path: Path) -> None:
    facts = [
        {"turn": 1, "quote": "I live in Porto", "relation": "lives_in", "object": "Porto", "confidence": 0.9},
        {
            "turn": 1,
            "quote": "I take metformin",
            "relation": "takes",
            "object": "metformin",
            "confidence": 0.9,
        },
    ]
    with opened(tmp_path) as store:
        store.followers.clear()

        def told(session: str) -> dict[str, int]:
            said = [{"role": "user", "name": "Ana", "content": "I live in Porto. I take metformin."}]
            store.remember(said, user_id="ana", session_id=session, learn=False)
            return store.extract(model=SaysInTurn(json.dumps({"facts": facts})), parser=shared()).refused

        assert told("s1") == {"safety:health": 1}
        assert known(store) == ["Ana lives_in Porto"]
        store.set_learning(health=True)
        assert told("s2") == {}
        assert methods(store) == {"read:model@1", "read:model@1+health"}
        assert "Ana takes metformin" in known(store)
        store.set_learning(health=False)
        assert known(store) == ["Ana lives_in Porto"] * 2


def test_only_an_operator_sets_it_and_a_reader_can_only_ask(store: Store, tmp_path: Path) -> None:
    store.close()
    with opened(tmp_path, read_only=True) as other:
        assert other.learning_setting().health is False
        with pytest.raises(ReadOnlyError):
            other.set_learning(health=True)


def test_a_notice_that_no_operator_signed_changes_nothing(store: Store) -> None:
    from braid.ledger.record.record import Draft, EventBody

    forged = Draft(
        kind="event",
        body=EventBody(name="learning", data={"health": True, "finance": True}),
        links=[("target", store.reader.envelope(0).id)],
        public={"name": "learning"},
    )
    store.session.append_drafts([forged])
    assert store.learning_setting().health is False
    store.learn()
    assert sensitive(known(store)) == []


@pytest.mark.parametrize("kinds", EVERY_SENSITIVITY)
def test_a_method_says_of_what_its_claims_are(kinds: Any) -> None:
    assert kinds_of(f"read:parse@15{suffix_of(kinds)}+en_core_web_sm-3.8.0+spacy-3.8.18") == kinds


def test_who_works_at_a_hospital_says_nothing_of_their_health(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        said = [{"role": "user", "name": "Ana", "content": "I work at the hospital."}]
        store.remember(said, user_id="ana")
        assert any("works_at" in one for one in known(store))


@pytest.mark.sample(8)
@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("kinds", EVERY_SENSITIVITY, ids=suffix_of)
def test_readings_of_the_readers_before_lose_their_say(tmp_path: Path, kinds: Any, version: int) -> None:
    with opened(tmp_path) as store:
        turn = store.append("I live in York.", user_id="ana", actor="user", name="Ana")
        old = f"read:parse@{version}{suffix_of(kinds)}+en_core_web_sm-3.8.0+spacy-3.8.18"
        body = ExperienceBody(
            content=Content(text="Ana lives_in Bath"),
            provenance=Provenance(actor="agent", method=old),
            symbolic=[Claim(subject="Ana", rel="lives_in", object="Bath")],
            scope=Scope(user_id="ana"),
        )
        draft = Draft(kind="experience", type="inference", body=body, links=[("parent", turn)])
        store.session.append_drafts([draft])
        assert known(store) == ["Ana lives_in Bath"]
        store.learn()
        assert known(store) == ["Ana lives_in York"]
