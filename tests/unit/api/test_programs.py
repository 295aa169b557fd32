"""`store.program`: what the default plans find, what is written of each step, pausing and going on."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import braid
from braid.agent.program.events import Did, Ended, Paused
from braid.agent.program.plan import AnswerStep, Plan, Retrieve, ToolStep
from braid.caller import GRANTS, Caller, asked_by
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
            ToolStep(name="word", tool="person", args={"question": question}),
            AnswerStep(name="end", of=["word"]),
        ]
    )


def test_two_looks_find_what_one_does_not(store: Store) -> None:
    question = "Where does Ann's brother live?"
    once = store.ask(question, user_id="ann", now=NOW, write=False)
    found = store.run_program(question, user_id="ann", now=NOW)
    assert found.state.begun.origin == "multihop"
    assert found.answer is not None
    assert (once.short, found.answer.short) != ("Porto", "Leeds")
    assert found.answer.short == "Porto"
    cited = {one.text for one in found.answer.citations}
    assert cited == {SAID[1][2], SAID[3][2]}  # both looks are told


def test_two_times_are_compared(store: Store) -> None:
    found = store.run_program(
        "Where did Ann live in April 2025, and where does she live now?", user_id="ann", now=NOW
    )
    assert found.state.begun.origin == "comparison"
    assert found.answer is not None
    assert found.answer.short == "Leeds; Edinburgh"
    assert [one.text for one in found.answer.citations] == [SAID[0][2], SAID[2][2]]


def test_the_plain_plan_answers_as_asking_does(store: Store) -> None:
    asked = store.ask("Where does Ann live?", user_id="ann", now=NOW, write=False)
    found = store.run_program("Where does Ann live?", user_id="ann", now=NOW)
    assert found.answer is not None
    assert (found.answer.plain, found.answer.short) == (asked.plain, asked.short)
    assert found.answer.residual_uncertainty == asked.residual_uncertainty


def test_every_step_is_a_record_that_names_what_it_came_from(store: Store) -> None:
    found = store.run_program("Where does Ann's brother live?", user_id="ann", now=NOW)
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
    found = store.run_program("What is the door code?", user_id="ann", plan=asks("{question}"))
    assert (found.standing, found.waits_for) == ("paused", "person")
    assert isinstance(store.program_trace(found.id)[-1].event, Paused)
    done = store.resume(found.id, result={"text": "It is 4711."})
    assert done.standing == "answered"
    assert done.answer is not None
    assert done.answer.plain.startswith("It is 4711 [exp_")
    said = store.get(done.answer.citations[0].id)
    assert (said.text, said.body.scope and said.body.scope.user_id) == ("It is 4711.", "ann")


def test_who_is_held_to_a_scope_finds_their_own_programs_and_answers_in_plain_words(store: Store) -> None:
    found = store.run_program("What is the door code?", user_id="ann", plan=asks("{question}"))
    other = store.run_program("What is the gate code?", user_id="bob", plan=asks("{question}"))
    assert {found.id, other.id} <= {one.id for one in store.programs()}
    ann = Caller(name="ann's", kind="agent", allowed=GRANTS["agent"], user_id="ann")
    with asked_by(ann):
        own = {one.id for one in store.programs()}
        assert found.id in own
        assert other.id not in own
        done = store.resume(found.id, result="It is 4711.")
    assert done.answer is not None
    assert done.answer.plain.startswith("It is 4711 [exp_")


PAID = (
    ("2025-03-05T09:00:00Z", "Pia", "I paid the deposit for the pottery kiln today, 220 pounds."),
    ("2025-04-08T09:00:00Z", "Pia", "And the last part for the pottery kiln: £185."),
    ("2025-04-10T09:00:00Z", "Pia", "The choir costs 15 pounds a month."),
    ("2025-04-12T09:00:00Z", "Pia", "The camera was 300 euros, the tripod 90 dollars."),
    ("2025-04-13T09:00:00Z", "Pia", "The exam is on 2 June 2025."),
    ("2025-04-14T09:00:00Z", "Pia", "The woman upstairs introduced herself: Runa, with a dog."),
    ("2025-04-20T09:00:00Z", "Pia", "Runa works at the harbour office."),
)


@pytest.fixture(scope="module")
def paid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store of somebody who counts."""
    folder = tmp_path_factory.mktemp("paid")
    with braid.open(folder / "store", guard_dir=folder / "guard") as it:
        it.remember(
            [{"timestamp": when, "role": "user", "content": text, "name": name} for when, name, text in PAID],
            user_id="pia",
        )
        it.views.search.index(wait_s=60.0)
        yield it


def test_a_sum_is_made_of_parts_that_are_looked_for_apart(paid: Store) -> None:
    question = "How much were the deposit for the kiln and the last part for the kiln together?"
    found = paid.run_program(question, user_id="pia", now=NOW)
    assert found.state.begun.origin == "reckoning"
    assert found.answer is not None
    assert found.answer.short == "405 pounds"
    values = found.state.values
    assert [values[name].text for name in ("part1", "part2")] == ["220 pounds", "£185"]
    # It rests on what the parts were read from, and is no surer than they are together.
    assert {one.text for one in found.answer.citations} == {"405 pounds", PAID[0][2], PAID[1][2]}
    assert values["part1"].p is not None
    assert values["part2"].p is not None
    p = 1.0 - found.answer.residual_uncertainty
    assert p == pytest.approx(values["part1"].p * values["part2"].p, abs=1e-5)
    assert p < 1.0
    result = paid.get(values["result"].records[0])
    assert [link.id for link in result.targets("evidence")] == list(values["result"].records[1:])


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("What does the choir cost in a year?", "180 pounds"),
        ("How long is it until the exam?", "32 days"),
    ],
)
def test_what_nobody_said_is_reckoned(paid: Store, question: str, short: str) -> None:
    asked_on = datetime(2025, 5, 1, tzinfo=UTC)
    found = paid.run_program(question, user_id="pia", now=asked_on)
    assert found.answer is not None
    assert found.answer.short == short


def test_units_that_do_not_mix_are_told_and_nothing_is_made_up(paid: Store) -> None:
    found = paid.run_program("How much did the camera and the tripod cost together?", user_id="pia", now=NOW)
    result = found.state.values["result"]
    assert "of two currencies, and nothing is converted" in result.trouble[0]
    assert found.answer is not None
    assert found.answer.short == "300 euros; 90 dollars"  # no part of it passes for the sum
    assert "I can't reckon with these: 300 euros [" in found.answer.plain
    assert any("two currencies" in each for each in found.answer.degraded)


def test_a_chain_is_no_surer_than_its_first_hop_and_an_unsure_one_is_not_built_on(paid: Store) -> None:
    found = paid.run_program("Where does the woman who lives above me work?", user_id="pia", now=NOW)
    assert found.answer is not None
    bridge = found.state.values["bridge"]
    assert bridge.text == "Runa"
    assert bridge.p is not None
    assert 0.4 <= 1.0 - found.answer.residual_uncertainty <= bridge.p
    assert PAID[6][2] in {one.text for one in found.answer.citations}
    unsure = paid.run_program("Where does the plumber who mended the roof live?", user_id="pia", now=NOW)
    assert "second" not in unsure.state.values
    assert "whole" in unsure.state.values
