"""What retrieval learns from answers: records that anybody can fold again, bounded, and gone with what they rest on."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import braid
from braid.agent.answer.reflection import Reflection, lesson, reflect
from braid.agent.composer import Composed
from braid.ledger.record.record import EventBody, Record
from braid.recall.salience import MOST, NAME, RATE, WEIGHT, folded, step_for
from braid.search.question import Question
from braid.search.retrieval import NOT_OWN, find
from braid.store import Store

NOW = datetime(2025, 7, 1, tzinfo=UTC)
SAID = (
    "The van cost £214 in the end, and Hamish drove.",
    "The van is white, and Hamish likes vans.",
    "My cat is called Biscuit.",
    "Hamish sold the van to a baker in May.",
)
VAN = "How much did the van cost?"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with braid.open(tmp_path / "store", guard_dir=tmp_path / "guard") as it:
        turns: list[dict[str, Any]] = [
            {
                "role": "user",
                "content": text,
                "name": "Ann",
                "timestamp": (NOW - timedelta(days=9 - at)).isoformat(),
            }
            for at, text in enumerate(SAID)
        ]
        it.remember(turns, user_id="ann")
        it.views.search.index(wait_s=60.0)
        yield it


def salience(store: Store, question: str = VAN, **asked: Any) -> dict[str, float]:
    """Return the salience of what is recalled, by its text."""
    found = find(
        store.session, Question(query=question, user_id="ann", now=NOW, filters=NOT_OWN, **asked)
    ).results
    return {hit.text: hit.signals.get(NAME, 0.0) for hit in found if hit.text in SAID}


def from_scratch(store: Store, text: str) -> float:
    """Fold the log itself, without any projection."""
    control = store.reader.control
    gone = {*control.erased, *control.hidden}
    living = [one for one in store.read() if not any(link.index in gone for link in one.targets("parent"))]
    steps = [step_for(one, index_of(store, text)) for one in living if one.kind == "event"]
    return folded([step for step in steps if step is not None][-MOST:])


def index_of(store: Store, text: str) -> int:
    return next(one.index for one in store.read() if one.kind == "experience" and one.text == text)


def lessons(store: Store) -> list[Record]:
    return [one for one in store.read() if isinstance(one.body, EventBody) and one.body.name == NAME]


def test_an_answer_teaches_what_helped_and_a_later_search_shows_it(store: Store) -> None:
    assert not any(salience(store).values())
    found = store.ask(VAN, user_id="ann", now=NOW)
    after = next(
        hit
        for hit in find(store.session, Question(query=VAN, user_id="ann", now=NOW)).results
        if hit.text == SAID[0]
    )
    gain = 1 - 2 * found.residual_uncertainty
    assert after.signals[NAME] == pytest.approx(RATE * gain, abs=1e-4)
    assert after.parts[NAME] == pytest.approx(WEIGHT * after.signals[NAME])
    results = store.recall(VAN, user_id="ann", now=NOW, explain=True).results
    sent = next(one for one in results if one.text == SAID[0])
    assert NAME in sent.signals
    assert NAME in (sent.parts or {})


def test_however_often_it_helps_its_effect_is_bounded_and_makes_no_answer_surer(store: Store) -> None:
    first, *_, last = [store.ask(VAN, user_id="ann", now=NOW) for _ in range(6)]
    assert 0 < salience(store)[SAID[0]] < 1
    assert (last.plain, last.residual_uncertainty) == (first.plain, first.residual_uncertainty)
    assert [one.id for one in last.citations] == [one.id for one in first.citations]


def test_replayed_it_is_what_it_was_live_and_what_the_log_alone_gives(store: Store) -> None:
    for question in (VAN, "What is my cat called?", "What colour is the van?", VAN):
        store.ask(question, user_id="ann", now=NOW)
    live = salience(store)
    assert any(live.values())
    assert live == {text: pytest.approx(from_scratch(store, text)) for text in live}
    store.replay("catalog")
    store.replay("lance")
    assert salience(store) == live
    assert store.verify(deep=True).findings == []


def test_nothing_is_learned_where_nothing_is_written_or_nothing_was_known(store: Store) -> None:
    store.ask(VAN, user_id="ann", now=NOW, write=False)
    store.ask("What is the capital of Peru?", user_id="ann", now=NOW)
    assert lessons(store) == []
    assert not any(salience(store).values())


def test_the_past_has_learned_nothing_of_what_came_later(store: Store) -> None:
    then = len(store) - 1
    store.ask(VAN, user_id="ann", now=NOW)
    assert any(salience(store).values())
    assert not any(salience(store, as_of=then).values())


@pytest.mark.sample(2)
@pytest.mark.parametrize("what", ["lesson", "reflection"])
def test_a_forgotten_lesson_counts_no_more_and_comes_back_with_it(store: Store, what: str) -> None:
    found = store.ask(VAN, user_id="ann", now=NOW)
    live = salience(store)
    id = str(found.reflection) if what == "reflection" else lessons(store)[0].id
    store.forget(id)
    assert not any(salience(store).values())
    store.recover(id)
    assert salience(store) == live


def test_an_erased_answer_takes_its_lesson_with_it(store: Store) -> None:
    found = store.ask(VAN, user_id="ann", now=NOW)
    taught = lessons(store)[0]
    assert taught.id in [one.id for one in store.plan_erase(str(found.answer_id)).derived]
    store.erase(str(found.answer_id), reason="said in error")
    assert lessons(store) == []
    assert not any(salience(store).values())
    assert store.verify(deep=True).findings == []


def test_what_was_learned_is_no_cause(store: Store) -> None:
    """A lesson targets several records: none may come up because another of them did."""
    store.ask(VAN, user_id="ann", now=NOW)
    indexes = {one.index for one in lessons(store)}
    for child, _, role in store.views.catalog.children(index_of(store, SAID[0])):
        assert (child in indexes) == (role == "target")


def test_a_lesson_by_hand_that_lies_about_its_links_does_nothing(store: Store) -> None:
    id = next(one.id for one in store.read() if one.kind == "experience")
    body = EventBody(name=NAME, data={"steps": [[0, 1e9], [5, 1.0], [0, 2.0]]})
    store.session.append_drafts([braid.Draft(kind="event", body=body, links=[("target", id)])])
    assert salience(store)[SAID[0]] == pytest.approx(RATE)  # clamped to one step, the first that it names
    junk = EventBody(name=NAME, data={"steps": {"a": "b"}})
    store.session.append_drafts([braid.Draft(kind="event", body=junk, links=[("target", id)])])
    assert salience(store)[SAID[0]] == pytest.approx(RATE)


IDS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


def _reflected(hits: list[str], cited: list[str], *, abstained: bool) -> Reflection:
    return reflect(
        hits=hits, citations=cited, abstained=abstained, reason=None, degraded=[], fallback=None, stance=None
    )


@given(IDS, IDS, st.floats(0, 1), st.booleans())
def test_steps_are_bounded_and_only_answers_that_were_given_teach(
    hits: list[str], cited: list[str], p: float, abstained: bool
) -> None:
    reflection = _reflected(hits, cited, abstained=abstained)
    steps = lesson(reflection, Composed(text="", citations=cited, p=p, abstained=abstained))
    assert all(-1 <= step <= 1 for step in steps.values())
    if abstained or p <= 0.5:
        assert steps == {}
    elif p > 0.51:  # below, a step is too small for its four places
        assert {id for id, step in steps.items() if step > 0} == set(cited)
        assert {id for id, step in steps.items() if step < 0} == set(reflection.passed_over)
