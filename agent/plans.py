"""The plans that a program has where nobody gives it one: a look and an answer, two looks, two times. Pure."""

from collections.abc import Callable, Mapping
from typing import Final

from braid.agent.hops import Hop, hop
from braid.agent.plan import Answer, Branch, Note, Plan, Reconcile, Retrieve, Step
from braid.agent.turns import Turn, turn


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
            Note(name="bridge", of=["first", "about"], question=found.first, what="name"),
        ]
        if found is not None
        else [Retrieve(name="first", k=8), Note(name="bridge", of=["first"], what="names")]
    )
    asked = found or Hop("{question}", "{question}")
    query = asked.then if found is not None else "{question} {bridge}"
    return Plan(
        about="two looks: what the first finds is looked for by the second",
        steps=[
            *first,
            Branch(name="known", found="bridge", otherwise="whole"),
            Retrieve(name="second", query=query),
            Reconcile(name="held", question=asked.then),
            Answer(name="reached", of=["second", "first"], held="held", question=asked.then, samples=samples),
            *_look(),
            _last(samples),
        ],
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
            Answer(name="compared", says=found.says),
            *_look(),
            _last(samples),
        ],
    )


def _time(name: str, asked: str) -> list[Step]:
    return [
        Retrieve(name=f"found_{name}", query=asked, k=8),
        Reconcile(name=f"held_{name}", question=asked),
        Note(name=name, of=[f"found_{name}", f"held_{name}"], question=asked),
    ]


def _look() -> list[Step]:
    return [Retrieve(name="whole"), Reconcile(name="whole_held")]


def _last(samples: int) -> Step:
    return Answer(name="answer", of=["whole"], held="whole_held", samples=samples)


PLANS: Final[Mapping[str, Callable[..., Plan]]] = {
    "question": plain, "multihop": two_looks, "comparison": two_times,
}  # fmt: skip
"""The default plans, by the name under which they are asked for."""


def chosen(question: str) -> str:
    """Return the name of the plan that a question asks for."""
    found: Turn | None = turn(question)
    if found is not None:
        return "comparison"
    return "multihop" if hop(question) is not None else "question"
