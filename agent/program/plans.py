"""The plans that a program has where nobody gives it one: a look and an answer, two looks, two times, a sum. Pure."""

from collections.abc import Callable, Mapping
from typing import Final

from braid.agent.answer.question.hop import Hop, hop
from braid.agent.bands import CAREFUL
from braid.agent.program.arithmetic import reckoning
from braid.agent.program.comparison import TimeComparison, turn
from braid.agent.program.plan import (
    MAX_STEPS,
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

PLAIN: Final = "question"
"""The plan of one look, as `ask` takes it."""


def plain(question: str, *, samples: int = 1) -> Plan:
    """Return the plan for a question that one look answers."""
    del question
    return Plan(about="one look", steps=[*_look(), _last(samples)])


def two_looks(question: str, *, samples: int = 1) -> Plan:
    """Return the plan for a question of which something must be found first: retrieve, note, retrieve with that.

    Where no rule tells what, the names that the first look brings and the question lacks are looked for.
    """
    found = hop(question)
    first: list[Step] = (
        [
            Retrieve(name="first", query=found.first, k=8),
            Reconcile(name="about", question=found.first),
            NoteStep(name="bridge", of=["first", "about"], question=found.first, what="name"),
        ]
        if found is not None
        else [Retrieve(name="first", k=8), NoteStep(name="bridge", of=["first"], what="names")]
    )
    asked = found or Hop("{question}", "{question}")
    query = asked.then if found is not None else "{question} {bridge}"
    return Plan(
        about="two looks: what the first finds is looked for by the second",
        steps=[
            *first,
            Branch(name="known", found="bridge", least=CAREFUL, otherwise="whole"),
            Retrieve(name="second", query=query),
            Reconcile(name="held", question=asked.then),
            AnswerStep(name="reached", of=["second"], held="held", question=asked.then, samples=samples),
            *_look(),
            _last(samples),
        ],
    )


def reckoned(question: str, *, samples: int = 1) -> Plan:
    """Return the plan for a question whose answer is reckoned: each part is looked for apart, and given to a tool."""
    found = reckoning(question)
    if found is None:
        return plain(question, samples=samples)
    parts = [f"part{number}" for number in range(1, len(found.of) + 1)]
    steps: list[Step] = []
    for at, (name, asked) in enumerate(zip(parts, found.of, strict=True)):
        apart = parts[:at] if found.what == "amount" else []
        steps += [
            Retrieve(name=f"found_{name}", query=asked, k=8),
            Reconcile(name=f"held_{name}", question=asked),
            NoteStep(
                name=name, of=[f"found_{name}", f"held_{name}"], question=asked, what=found.what, apart=apart
            ),
            Branch(name=f"has_{name}", found=name, otherwise="whole"),
        ]
    result = "result"
    steps += [ToolStep(name=result, tool=found.tool, args=found.args)]
    if found.per:
        result = f"{found.per}s"
        steps += [
            ToolStep(name=result, tool="calculator", args={"expression": f"{{result}} / 1 {found.per} * 1"})
        ]
    comes_to = f"{{{result}}}{f' {found.per}s' if found.per else ''}"
    steps += [
        Branch(name="reckoned", found=result, otherwise="apart"),
        Branch(name="surely", found=result, least=CAREFUL, otherwise="perhaps"),
        AnswerStep(name="comes_to", says=f"It comes to {comes_to}."),
        AnswerStep(
            name="perhaps",
            says=f"It comes to {comes_to}, if these are {'all the parts' if found.what == 'amount' else 'the days'}.",
        ),
        # One part passes for no sum: where a tool refuses them, they are told apart.
        AnswerStep(
            name="apart", says=f"I can't reckon with these: {'; '.join(f'{{{name}}}' for name in parts)}."
        ),
        *_look(),
        _last(samples),
    ]
    return Plan(
        about="a sum: each part of it is looked for apart", steps=steps, limits=ProgramLimits(steps=MAX_STEPS)
    )


def two_times(question: str, *, samples: int = 1) -> Plan:
    """Return the plan for a question that compares two times: what was held at each, and what was said of it."""
    found = turn(question)
    if found is None:
        return plain(question, samples=samples)
    return Plan(
        about="two times: what was held at each",
        steps=[
            *_time("before", found.before),
            *_time("after", found.after),
            Branch(name="known", found="before", otherwise="whole"),
            Branch(name="both", found="after", otherwise="whole"),
            AnswerStep(name="compared", says=found.says),
            *_look(),
            _last(samples),
        ],
    )


def _time(name: str, asked: str) -> list[Step]:
    return [
        Retrieve(name=f"found_{name}", query=asked, k=8),
        Reconcile(name=f"held_{name}", question=asked),
        NoteStep(name=name, of=[f"found_{name}", f"held_{name}"], question=asked),
    ]


def _look() -> list[Step]:
    return [Retrieve(name="whole"), Reconcile(name="whole_held")]


def _last(samples: int) -> Step:
    return AnswerStep(name="answer", of=["whole"], held="whole_held", samples=samples)


PLANS: Final[Mapping[str, Callable[..., Plan]]] = {
    PLAIN: plain, "multihop": two_looks, "comparison": two_times, "reckoning": reckoned,
}  # fmt: skip
"""The default plans, by the name under which they are asked for."""


def chosen(question: str) -> str:
    """Return the name of the plan that a question asks for."""
    found: TimeComparison | None = turn(question)
    if found is not None:
        return "comparison"
    if reckoning(question) is not None:
        return "reckoning"
    return "multihop" if hop(question) is not None else PLAIN
