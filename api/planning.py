"""How a program comes to its plan: one that is given, a default that is named or fits, or one that a model writes."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, Final

import msgspec

from braid.acting import Means
from braid.agent.chat import ChatModel
from braid.agent.errors import PlanError
from braid.agent.parts import Composer
from braid.agent.plan import MAX_SAMPLES, Plan, read_plan
from braid.agent.planner import write_plan
from braid.agent.plans import PLANS, chosen
from braid.agent.tool import ALLOWED, PERMISSIONS, Tool, Toolbox, installed
from braid.agent.toolkit import TOOLS
from braid.exemplars import exemplars
from braid.ledger import asof
from braid.ledger.record import Scope
from braid.running import Begin, Program, begin, resume
from braid.session import Session

MAX_QUESTION_CHARS: Final = 8_000


def toolbox(tools: Iterable[Tool] = ()) -> Toolbox:
    """Return the tools that come with Braid, those that other packages bring, and these."""
    return Toolbox([*TOOLS, *installed(), *tools])


def plan_for(question: str, plan: "Plan | str | None" = None, *, samples: int = 1) -> tuple[Plan, str]:
    """Return the plan for a question and whose it is: given as a Plan or its JSON, named, or the one that fits."""
    if isinstance(plan, Plan):
        return plan, "given"
    if plan is not None and plan.lstrip().startswith("{"):
        return read_plan(plan), "given"
    name = plan or chosen(question)
    make = PLANS.get(name)
    if make is None:
        raise PlanError(
            f"there is no plan {name[:40]!r}; there are: {', '.join(PLANS)}, and JSON of your own"
        )
    if not 1 <= samples <= MAX_SAMPLES:
        raise PlanError(f"samples is 1 to {MAX_SAMPLES}, not {samples}")
    return make(question, samples=samples), name


def start(
    store: Session,
    question: str,
    scope: Scope | None,
    *,
    plan: "Plan | str | None" = None,
    planner: ChatModel | None = None,
    composer: Composer | None = None,
    tools: Iterable[Tool] = (),
    allow: Collection[str] = ALLOWED,
    samples: int = 1,
    now: datetime | None = None,
    affect: bool = True,
    key: str | None = None,
) -> Program:
    """Begin a program for a question; see `Store.program`."""
    _refuse(question, allow, now)
    means = Means(store, scope, composer, toolbox(tools), affect=affect)
    if planner is not None and plan is not None:
        raise ValueError("a plan is given, or a model writes it (`planner`); not both")
    made, origin = plan_for(question, plan, samples=samples)
    given = Begin(question=question, plan=made, origin=origin, now=now, allowed=allow, key=key)
    if planner is not None:
        given = _written(store, given, means, planner)
    return begin(store, means, given)


def _written(store: Session, given: Begin, means: Means, planner: ChatModel) -> Begin:
    """Return what a program is begun with where a model writes its plan: the default where that is refused."""
    like = exemplars(store, given.question, means.scope)
    planned = write_plan(planner, given.question, means.tools, given.allowed, like)
    given = msgspec.structs.replace(given, planned=planned, evidence=[one.id for one in like])
    if planned.plan is None:
        return given
    return msgspec.structs.replace(given, plan=planned.plan, origin="model")


def go_on(
    store: Session,
    id: str,
    *,
    composer: Composer | None = None,
    tools: Iterable[Tool] = (),
    affect: bool = True,
    **how: Any,
) -> Program:
    """Go on with a program; see `Store.resume`."""
    scope = store.reader.get(id).body.scope
    return resume(store, Means(store, scope, composer, toolbox(tools), affect=affect), id, **how)


def _refuse(question: object, allow: Collection[str], now: datetime | None) -> None:
    if not isinstance(question, str):
        raise TypeError(f"a question is text, not {type(question).__name__}")
    if not question.strip() or len(question) > MAX_QUESTION_CHARS:
        raise ValueError(f"a question is text that isn't empty, of at most {MAX_QUESTION_CHARS:,} characters")
    if unknown := sorted(set(allow) - set(PERMISSIONS)):
        raise ValueError(f"there is no permission {unknown[0]!r}; there are: {', '.join(PERMISSIONS)}")
    if now is not None:
        asof.zoned(now)
