"""How a program comes to its plan: one that is given, or a default that is named or fits; and the tools it may call."""

from collections.abc import Iterable

from braid.agent.errors import PlanError
from braid.agent.program.plan import MAX_SAMPLES, Plan, read_plan
from braid.agent.program.plans import PLANS, chosen
from braid.agent.program.tool import Tool, Toolbox, installed
from braid.agent.program.toolkit import TOOLS


def toolbox(tools: Iterable[Tool] = ()) -> Toolbox:
    """Return the tools that come with Braid, those that other packages bring, and these."""
    return Toolbox([*TOOLS, *installed(), *tools])


def plan_for(question: str, plan: "Plan | str | None" = None, *, samples: int = 1) -> tuple[Plan, str]:
    """Return the plan for a question and whose it is: given as a Plan or its JSON, named, or the one that fits.

    Raises PlanError for an unknown name, or samples out of bounds.
    """
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
