"""A program under way: what happened so far, folded into how it stands, and what is to be done next. Pure.

Its records in the log are the events; a state is their fold. Live or resumed, on whatever day and in whatever process,
the same fold leads to the same next step: nothing of a program is held anywhere else (SPEC §23).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from braid.agent.errors import BrokenProgramError
from braid.agent.program.events import Begun, Called, Did, Ended, Lease, Paused, Recorded, Taken
from braid.agent.program.plan import QUESTION, TODAY, AnswerStep, Branch, Plan, Step

Standing = Literal["running", "paused", "answered", "stopped"]


class Value(msgspec.Struct, frozen=True):
    """What a step gave. `records`: ids, best first; of a note those that it was read from, of a stance its own.

    `scores` and `signals` are those of recall's hits, `p` is a probability.
    """

    records: Sequence[str] = ()
    scores: Sequence[float] = ()
    signals: Sequence[Mapping[str, float]] = ()
    text: str = ""
    p: float | None = None
    data: Any = None
    trouble: Sequence[str] = ()

    @property
    def found(self) -> bool:
        """Whether there is anything."""
        return bool(self.text or self.scores)

    def is_found(self, least: float) -> bool:
        """Whether there is anything, with a probability of `least` or more: for a branch."""
        return self.found and (self.p is None or self.p >= least)


class Spent(msgspec.Struct, frozen=True):
    """What a program has taken so far."""

    steps: int = 0
    ms: float = 0.0
    tokens: int = 0


class State(msgspec.Struct, frozen=True, kw_only=True):
    """How a program stands."""

    id: str
    begun: Begun
    at: int = 0
    """The place in the plan of the step that is next."""
    n: int = 1
    """The number of the event that is next."""
    values: Mapping[str, Value] = {}
    spent: Spent = Spent()
    holder: Lease | None = None
    called: Called | None = None
    paused: Paused | None = None
    again: bool = False
    standing: Standing = "running"
    why: str = ""
    answer: str | None = None
    votes: Mapping[str, int] = {}

    @property
    def plan(self) -> Plan:
        """The plan that the program was begun with."""
        return self.begun.plan

    @property
    def step(self) -> Step:
        """The step that is next."""
        return self.plan.steps[self.at]

    @property
    def texts(self) -> dict[str, str]:
        """What the braces of a plan may refer to, so far."""
        given = {name: value.text for name, value in self.values.items()}
        return given | {QUESTION: self.begun.question, TODAY: self.begun.now.date().isoformat()}

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be done."""
        return self.standing in ("answered", "stopped")


def fold(history: Iterable[Recorded]) -> State:
    """Return how a program stands after all that happened; raise BrokenProgramError where that isn't lawful."""
    state: State | None = None
    for recorded in history:
        state = apply(state, recorded)
    if state is None:
        raise BrokenProgramError("no record tells how this program began")
    return state


def apply(state: State | None, recorded: Recorded) -> State:
    """Return how a program stands after one more event; raise BrokenProgramError for one that can't follow."""
    event = recorded.event
    if state is None:
        if not isinstance(event, Begun) or event.n != 0:
            raise BrokenProgramError(f"{recorded.id} is not how a program begins")
        return State(id=recorded.id, begun=event, holder=event.holder, spent=Spent(tokens=event.tokens))
    _check_lawful(state, recorded)
    after = msgspec.structs.replace(state, n=state.n + 1)
    if isinstance(event, Taken):
        return msgspec.structs.replace(
            after, holder=event.holder, standing="running", paused=None, again=event.again
        )
    if isinstance(event, Called):
        return msgspec.structs.replace(after, called=event, again=False)
    if isinstance(event, Paused):
        return msgspec.structs.replace(after, paused=event, holder=None, standing="paused")
    if isinstance(event, Ended):
        return _ended(after, event, recorded.evidence)
    assert isinstance(event, Did)  # noqa: S101 - the one that is left, see _check_lawful
    return _did(after, event, recorded.evidence)


def _check_lawful(state: State, recorded: Recorded) -> None:
    event = recorded.event
    problem = None
    if event.n != state.n:
        problem = f"is number {event.n}, and {state.n} is next: a record between is erased or forgotten"
    elif isinstance(event, Begun):
        problem = "begins it again"
    elif state.is_over:
        problem = "comes after its end"
    elif state.standing == "paused" and not isinstance(event, Taken):
        problem = "comes while it waits, and nobody has taken it up"
    elif isinstance(event, Did) and isinstance(state.step, AnswerStep):
        problem = "gives a step that only ends it"
    elif (name := getattr(event, "step", "")) and name != state.step.name:
        problem = f"is of the step {name!r}, and {state.step.name!r} is next"
    if problem is not None:
        raise BrokenProgramError(f"the program {state.id} can't be read any further: {recorded.id} {problem}")


def _did(state: State, event: Did, evidence: Sequence[str]) -> State:
    value = Value(
        tuple(evidence), event.scores, event.signals, event.text, event.p, event.data, tuple(event.trouble)
    )
    values = {**state.values, event.step: value}
    spent = Spent(
        state.spent.steps + 1, round(state.spent.ms + event.ms, 3), state.spent.tokens + event.tokens
    )
    return msgspec.structs.replace(
        state, values=values, spent=spent, at=_next(state, values), called=None, paused=None, again=False
    )


def _ended(state: State, event: Ended, evidence: Sequence[str]) -> State:
    spent = Spent(
        state.spent.steps + bool(event.step),
        round(state.spent.ms + event.ms, 3),
        state.spent.tokens + event.tokens,
    )
    return msgspec.structs.replace(
        state,
        standing=event.how,
        why=event.why,
        answer=evidence[0] if event.how == "answered" and evidence else None,
        votes=event.votes,
        spent=spent,
        holder=None,
        called=None,
        paused=None,
    )


def _next(state: State, values: Mapping[str, Value]) -> int:
    step = state.step
    if isinstance(step, Branch):
        goes = step.then if values.get(step.found, Value()).is_found(step.least) else step.otherwise
        if goes is not None:
            return state.plan.place(goes)
    return state.at + 1  # there is one: the last step answers, and that ends it


def value(state: State, name: str) -> Value:
    """Return what a step gave; nothing of one that a branch has passed by."""
    return state.values.get(name, Value())


def exhausted(state: State) -> str | None:
    """Return which limit a program has come to, None where it may go on."""
    limits, spent = state.plan.limits, state.spent
    if spent.steps >= limits.steps:
        return f"it has run {spent.steps} steps, its limit"
    if spent.ms >= 1000 * limits.seconds:
        return f"it has worked {spent.ms / 1000:.1f} s of {limits.seconds:g}, its limit"
    if spent.tokens > limits.tokens:
        return f"it has used {spent.tokens:,} tokens of {limits.tokens:,}, its limit"
    return None


class Do(msgspec.Struct, frozen=True):
    """A step is to be carried out."""

    step: Step


class Confirm(msgspec.Struct, frozen=True):
    """A call was begun and never told of: whether it may be made again is to be decided."""

    called: Called


class Stop(msgspec.Struct, frozen=True):
    """It is to be ended."""

    why: str


Effect = Do | Confirm | Stop


def following(state: State) -> Effect | None:
    """Return what is to be done next; None where it waits, or is over."""
    if state.is_over or state.standing == "paused":
        return None
    if state.called is not None:
        return Confirm(state.called)
    if (why := exhausted(state)) is not None:
        return Stop(why)
    return Do(state.step)
