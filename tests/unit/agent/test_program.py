"""The machine of programs: a state is the fold of what happened, however it is come by; the unlawful is refused."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from braid.agent.errors import BrokenProgramError
from braid.agent.program.events import Begun, Called, Did, Ended, Event, Lease, Paused, Recorded, Taken
from braid.agent.program.plan import (
    AnswerStep,
    Branch,
    NoteStep,
    Plan,
    ProgramLimits,
    Reconcile,
    Retrieve,
    Step,
    ToolStep,
)
from braid.agent.program.plans import PLANS
from braid.agent.program.state import Confirm, Do, State, Stop, apply, fold, following

WHEN = datetime(2025, 7, 1, tzinfo=UTC)
HOLDER = Lease("here", 1, "run", WHEN)
USUAL = ProgramLimits()
STEPS: Sequence[Step] = (
    Retrieve(name="look"),
    NoteStep(name="note", of=["look"]),
    Branch(name="fork", found="note", otherwise="held"),
    ToolStep(name="word", tool="person", args={"question": "{note}"}),
    Reconcile(name="held"),
    AnswerStep(name="end", of=["look"], held="held"),
)


def begun(limits: ProgramLimits = USUAL) -> Recorded:
    event = Begun(
        n=0, question="Why?", plan=Plan(steps=STEPS, limits=limits), origin="given", now=WHEN, holder=HOLDER
    )
    return Recorded(event, "evt_0", WHEN)


def recorded(event: Event, *evidence: str) -> Recorded:
    return Recorded(event, f"evt_{event.n}", WHEN, evidence)


@st.composite
def histories(draw: st.DrawFn) -> list[Recorded]:
    """What may happen to a program: found or not, calls that are cut off, pauses, other runs that go on."""
    history = [begun()]
    state = fold(history)
    while (effect := following(state)) is not None or state.standing == "paused":
        taken = Taken(n=state.n, holder=HOLDER, again=state.standing == "paused" and state.called is not None)
        event: Event
        if state.standing == "paused" or (draw(st.integers(0, 5)) == 0 and not isinstance(effect, Stop)):
            event = taken
        elif isinstance(effect, Stop):
            event = Ended(n=state.n, how="stopped", why=effect.why)
        elif isinstance(effect, Confirm):
            asks = Paused(
                n=state.n, step=state.step.name, tool="person", digest="d", asks="a word", unsure=True
            )
            event = Did(n=state.n, step=state.step.name, text="done") if state.again else asks
        else:
            event = draw(st.sampled_from(what_next(state)))
        history.append(recorded(event, *draw(st.sampled_from([(), ("exp_1",)]))))
        state = apply(state, history[-1])
        if len(history) > 40:
            break
    return history


def what_next(state: State) -> list[Event]:
    n, name = state.n, state.step.name
    if isinstance(state.step, AnswerStep):
        return [Ended(n=n, how="answered", step=name)]
    found: list[Event] = [Did(n=n, step=name), Did(n=n, step=name, text="x", scores=[1.0], ms=3.0, tokens=2)]
    if isinstance(state.step, ToolStep):
        found += [
            Called(n=n, step=name, tool="t", digest="d", key="k"),
            Paused(n=n, step=name, tool="person", digest="d", asks="person"),
        ]
    return found


@given(histories())
def test_a_state_is_the_fold_of_what_happened_at_every_point(history: list[Recorded]) -> None:
    state: State | None = None
    for at, one in enumerate(history):
        state = apply(state, one)
        assert state == fold(history[: at + 1])
        assert state.n == at + 1
        assert 0 <= state.at < len(STEPS)
        assert (following(state) is None) == (state.is_over or state.standing == "paused")
        assert (state.standing == "paused") == (state.paused is not None)
    assert state is not None
    did = [one.event for one in history if isinstance(one.event, Did)]
    assert state.spent.tokens == sum(each.tokens for each in did)
    assert len({each.step for each in did}) == len(did)  # no step is done twice


@given(histories(), st.data())
def test_a_history_with_a_gap_is_refused(history: list[Recorded], data: st.DataObject) -> None:
    lost = data.draw(st.integers(0, len(history) - 2)) if len(history) > 1 else 0
    with pytest.raises(
        BrokenProgramError, match=r"is not how a program begins|is erased or forgotten|no record tells"
    ):
        fold([*history[:lost], *history[lost + 1 :]])


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (Did(n=2, step="look"), "number 2, and 1 is next"),
        (Did(n=1, step="note"), "is of the step 'note', and 'look' is next"),
        (Called(n=1, step="word", tool="t", digest="", key=""), "'look' is next"),
        (
            Begun(n=1, question="", plan=Plan(steps=STEPS), origin="", now=WHEN, holder=HOLDER),
            "begins it again",
        ),
    ],
)
def test_what_is_not_lawful_is_refused(event: Event, why: str) -> None:
    with pytest.raises(BrokenProgramError, match="can't be read any further") as caught:
        fold([begun(), recorded(event)])
    assert why in str(caught.value)


def test_what_waits_is_taken_up_first_and_an_answer_only_ends() -> None:
    short = Plan(
        steps=[
            ToolStep(name="word", tool="person", args={"question": "?"}),
            AnswerStep(name="end", of=["word"]),
        ]
    )
    first = Begun(n=0, question="Why?", plan=short, origin="given", now=WHEN, holder=HOLDER)
    waits = [recorded(first), recorded(Paused(n=1, step="word", tool="person", digest="d", asks="person"))]
    with pytest.raises(BrokenProgramError, match="nobody has taken it up"):
        fold([*waits, recorded(Did(n=2, step="word", text="yes"))])
    taken = [*waits, recorded(Taken(n=2, holder=HOLDER)), recorded(Did(n=3, step="word", text="yes"))]
    assert fold(taken).step.name == "end"
    with pytest.raises(BrokenProgramError, match="gives a step that only ends it"):
        fold([*taken, recorded(Did(n=4, step="end"))])


def test_nothing_comes_after_the_end() -> None:
    over = [begun(), recorded(Ended(n=1, how="stopped", why="x"))]
    assert following(fold(over)) is None
    with pytest.raises(BrokenProgramError, match="comes after its end"):
        fold([*over, recorded(Did(n=2, step="look"))])


@pytest.mark.parametrize(
    ("limits", "did", "stops"),
    [
        (ProgramLimits(steps=1), Did(n=1, step="look"), True),
        (ProgramLimits(steps=2), Did(n=1, step="look"), False),
        (ProgramLimits(seconds=1), Did(n=1, step="look", ms=1000.0), True),
        (ProgramLimits(seconds=1), Did(n=1, step="look", ms=999.0), False),
        (ProgramLimits(tokens=10), Did(n=1, step="look", tokens=11), True),
        (ProgramLimits(tokens=10), Did(n=1, step="look", tokens=10), False),
    ],
)
def test_limits_are_held_before_each_step(limits: ProgramLimits, did: Did, stops: bool) -> None:
    effect = following(fold([begun(limits), recorded(did)]))
    assert isinstance(effect, Stop if stops else Do)


def test_a_branch_goes_by_what_was_found() -> None:
    def after(note: str) -> str:
        look, noted = Did(n=1, step="look"), Did(n=2, step="note", text=note)
        return fold([begun(), *map(recorded, (look, noted, Did(n=3, step="fork")))]).step.name

    assert (after("Duarte"), after("")) == ("word", "held")


@pytest.mark.parametrize(("result", "p", "said"), [("134 euros", 0.9, "comes_to"), ("134 euros", 0.2, "perhaps"),
                                                 ("", 0.9, "apart")])  # fmt: skip
def test_an_unsure_sum_is_told_as_one_and_only_none_is_no_sum(result: str, p: float, said: str) -> None:
    plan = PLANS["reckoning"]("How much did the shoes and the coat cost together?")
    started = Begun(n=0, question="Why?", plan=plan, origin="given", now=WHEN, holder=HOLDER)
    state = fold([Recorded(started, "evt_0", WHEN)])
    while not isinstance(state.step, AnswerStep):
        text, sure = (result, p) if isinstance(state.step, ToolStep) else ("x", 0.9)
        state = apply(state, recorded(Did(n=state.n, step=state.step.name, text=text, p=sure)))
    assert state.step.name == said
    assert ("I can't reckon" in (state.step.says or "")) == (said == "apart")
    assert ("if these are all the parts" in (state.step.says or "")) == (said == "perhaps")
