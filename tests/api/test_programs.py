"""`store.program`: what the default plans find, what is written of each step, pausing and going on."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import braid
from braid.agent.plan import Answer, Plan, Retrieve, Tool
from braid.agent.program import Did, Ended, Paused
from braid.store import Store

SAID = (
    ("2025-03-24T09:00:00Z", "Ann", "I live in Leeds, and my cat is called Biscuit."),
    ("2025-04-02T09:00:00Z", "Ann", "My brother is called Duarte, he builds boats."),
    ("2025-05-18T09:00:00Z", "Ann", "I live in Edinburgh now."),
    ("2025-05-19T09:00:00Z", "Ann", "Duarte lives in Porto, near the river."),
    ("2025-06-01T09:00:00Z", "Ann", "The van cost £214 in the end, and Hamish drove."),
)
NOW = datetime(2025, 7, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store that these tests share: a program only adds to it, and no answer rests on another."""
    folder = tmp_path_factory.mktemp("programs")
    with braid.open(folder / "store", guard_dir=folder / "guard") as it:
        it.remember(
            [{"timestamp": when, "role": "user", "content": text, "name": name} for when, name, text in SAID],
            user_id="ann",
        )
        it.views.search.index(wait_s=60.0)
        yield it


def asks(question: str, *more: Retrieve) -> Plan:
    """Return a plan that asks a person, and answers from what they say."""
    return Plan(
        steps=[
            *more,
            Tool(name="word", tool="person", args={"question": question}),
            Answer(name="end", of=["word"]),
        ]
    )


def test_two_looks_find_what_one_does_not(store: Store) -> None:
    question = "Where does Ann's brother live?"
    once = store.ask(question, user_id="ann", now=NOW, write=False)
    found = store.program(question, user_id="ann", now=NOW)
    assert found.state.begun.origin == "multihop"
    assert found.answer is not None
    assert (once.short, found.answer.short) != ("Porto", "Leeds")
    assert found.answer.short == "Porto"
    cited = {one.text for one in found.answer.citations}
    assert cited == {SAID[1][2], SAID[3][2]}  # both looks are told


def test_two_times_are_compared(store: Store) -> None:
    found = store.program(
        "Where did Ann live in April 2025, and where does she live now?", user_id="ann", now=NOW
    )
    assert found.state.begun.origin == "comparison"
    assert found.answer is not None
    assert found.answer.short == "Leeds; Edinburgh"
    assert [one.text for one in found.answer.citations] == [SAID[0][2], SAID[2][2]]


def test_the_plain_plan_answers_as_asking_does(store: Store) -> None:
    asked = store.ask("Where does Ann live?", user_id="ann", now=NOW, write=False)
    found = store.program("Where does Ann live?", user_id="ann", now=NOW)
    assert found.answer is not None
    assert (found.answer.plain, found.answer.short) == (asked.plain, asked.short)
    assert found.answer.residual_uncertainty == asked.residual_uncertainty


def test_every_step_is_a_record_that_names_what_it_came_from(store: Store) -> None:
    found = store.program("Where does Ann's brother live?", user_id="ann", now=NOW)
    history = store.program_trace(found.id)
    assert [one.event.n for one in history] == list(range(len(history)))
    assert isinstance(history[-1].event, Ended)
    did = {one.event.step: one for one in history if isinstance(one.event, Did)}
    note = did["bridge"]
    assert isinstance(note.event, Did)
    assert note.event.text == "Duarte"
    assert [store.get(id).text for id in note.evidence] == [SAID[1][2]]
    assert all(id.startswith("exp_") for id in did["second"].evidence)
    answered, asked = history[-1].evidence
    assert answered == found.state.answer
    assert store.get(asked).text == "Where does Ann's brother live?"
    assert store.verify(deep=True).findings == []


def test_a_program_waits_for_a_person_and_goes_on_from_the_log(store: Store) -> None:
    found = store.program("What is the door code?", user_id="ann", plan=asks("{question}"))
    assert (found.standing, found.waits_for) == ("paused", "person")
    assert isinstance(store.program_trace(found.id)[-1].event, Paused)
    done = store.resume(found.id, result={"text": "It is 4711."})
    assert done.standing == "answered"
    assert done.answer is not None
    assert done.answer.plain.startswith("It is 4711 [exp_")
    said = store.get(done.answer.citations[0].id)
    assert (said.text, said.body.scope and said.body.scope.user_id) == ("It is 4711.", "ann")
