"""Whether a plan may run: names, references, bounds, lenses, tools and what these may do; before anything is run."""

from collections.abc import Callable, Collection, Iterator
from datetime import datetime

from braid.agent.errors import PlanError, ToolRefusedError
from braid.agent.program.plan import (
    GIVEN,
    KINDS,
    MAX_NOTE_TOKENS,
    MAX_RECORDS,
    MAX_SAMPLES,
    MAX_SECONDS,
    MAX_STEPS,
    MAX_TEXT_CHARS,
    MAX_TOKENS,
    AnswerStep,
    Branch,
    Kind,
    LensStep,
    NoteStep,
    Plan,
    ProgramLimits,
    Reconcile,
    Retrieve,
    Step,
    ToolStep,
    inputs,
    is_name,
    references,
    texts,
)
from braid.agent.program.tool import Toolbox, refuse_args
from braid.lenses.errors import UnknownLensError
from braid.lenses.registry import by_name

_GIVES_TEXT = ("note", "stance", "result")


def check(plan: Plan, tools: Toolbox, allowed: Collection[str], lenses: Collection[str] = ()) -> Plan:
    """Return the plan; raise PlanError, naming the step, for one that must not run. `lenses`: those defined."""
    _check_limits(plan.limits)
    if not plan.steps:
        raise PlanError("a plan has at least one step, which answers")
    if len(plan.steps) > MAX_STEPS:
        raise PlanError(f"a plan has at most {MAX_STEPS} steps, this has {len(plan.steps)}")
    if not isinstance(plan.steps[-1], AnswerStep):
        raise PlanError("the last step of a plan is `answer`: else it would end without one")
    known: dict[str, Kind] = {}
    for at, step in enumerate(plan.steps):
        _refuse(step, _name_problem(step, known))
        _refuse(step, _reference_problem(step, at, plan, known))
        for problem in _CHECKS[type(step)](step, plan, tools, allowed, lenses):
            _refuse(step, problem)
        known[step.name] = KINDS[type(step)]
    return plan


def _refuse(step: Step, problem: str | None) -> None:
    if problem is not None:
        raise PlanError(f"the step {step.name[:40]!r}: {problem}")


def _check_limits(limits: ProgramLimits) -> None:
    for name, value, most in (
        ("steps", limits.steps, MAX_STEPS),
        ("seconds", limits.seconds, MAX_SECONDS),
        ("tokens", limits.tokens, MAX_TOKENS),
    ):
        least = 0 if name == "tokens" else 1
        if not least <= value <= most:  # NaN fails too
            raise PlanError(f"the limit of {name} is {least} to {most:g}, not {value:g}")


def _name_problem(step: Step, known: dict[str, Kind]) -> str | None:
    if not is_name(step.name):
        taken = " or ".join(map(repr, GIVEN))
        return f"a step is called by a small letter and up to 31 of a-z, 0-9 and _, and not {taken}"
    return "another step is called so" if step.name in known else None


def _reference_problem(step: Step, at: int, plan: Plan, known: dict[str, Kind]) -> str | None:
    """Return what a step refers to that is not there yet, or gives nothing of the kind."""
    later = {one.name for one in plan.steps[at:]}
    for text in texts(step):
        if len(text) > MAX_TEXT_CHARS:
            return f"a text of it has {len(text):,} characters; it may have {MAX_TEXT_CHARS:,}"
        for name in references(text):
            if name not in GIVEN and (problem := _lacks(name, known, later)):
                return problem
            if name not in GIVEN and known[name] not in _GIVES_TEXT:
                return f"{{{name}}} gives {known[name]}, not text"
    for name in inputs(step):
        if problem := _lacks(name, known, later):
            return problem
    return None


def _lacks(name: str, known: dict[str, Kind], later: set[str]) -> str | None:
    if name in known:
        return None
    if name in later:
        return f"it refers to {name!r}, which comes later or is itself: a step refers to what came before"
    return f"it refers to {name!r}, and no step is called so"


# -- step by step -------------------------------------------------------------------------------------

_Problems = Iterator[str | None]


def _retrieve(step: Retrieve, *_: object) -> _Problems:
    yield None if 1 <= step.k <= MAX_RECORDS else f"k is 1 to {MAX_RECORDS}, not {step.k}"
    yield None if step.query.strip() else "its query is empty"
    yield _instant(step.at)


def _reconcile(step: Reconcile, *_: object) -> _Problems:
    yield None if step.question.strip() else "its question is empty"
    yield _instant(step.at)


def _lens(
    step: LensStep, plan: Plan, _tools: Toolbox, _allowed: Collection[str], lenses: Collection[str]
) -> _Problems:
    yield _of_kind([step.of], plan, ("records",))
    if step.lens not in lenses:
        try:
            by_name(step.lens)
        except UnknownLensError as error:
            yield str(error)


def _tool(step: ToolStep, plan: Plan, tools: Toolbox, allowed: Collection[str], *_: object) -> _Problems:
    try:
        tool = tools.get(step.tool)
    except ToolRefusedError as error:
        yield str(error)
        return
    if tool.permission not in allowed:
        granted = ", ".join(sorted(allowed)) or "nothing"
        yield f"the tool {tool.name} needs the permission {tool.permission!r}; allowed: {granted}"
    problem = refuse_args(tool, step.args)
    yield None if problem is None else f"the tool {tool.name}: {problem}"


def _note(step: NoteStep, plan: Plan, *_: object) -> _Problems:
    yield None if step.of else "it says of nothing what to note (`of`)"
    yield _of_kind(step.of, plan, ("records", "stance", "result"))
    if not 1 <= step.tokens <= MAX_NOTE_TOKENS:
        yield f"a draft is 1 to {MAX_NOTE_TOKENS} tokens, not {step.tokens}"
    if step.what == "names":
        yield _of_kind(step.of, plan, ("records",))
    if step.apart and step.what != "amount":
        yield "`apart` is of notes of amounts"
    yield _of_kind(step.apart, plan, ("note",))


def _branch(step: Branch, plan: Plan, *_: object) -> _Problems:
    if step.then is None and step.otherwise is None:
        yield "it leads nowhere: name `then`, or `otherwise`"
    if not 0.0 <= step.least <= 1.0:  # NaN fails too
        yield f"least is 0 to 1, not {step.least:g}"
    here = plan.place(step.name)
    for name in (step.then, step.otherwise):
        if name is None:
            continue
        try:
            leads = plan.place(name)
        except KeyError:
            yield f"it leads to {name!r}, and no step is called so"
            continue
        if leads <= here:
            yield f"it leads back to {name!r}: a plan runs forward, it can't loop"


def _answer(step: AnswerStep, plan: Plan, *_: object) -> _Problems:
    yield _of_kind(step.of, plan, ("records", "result"))
    yield None if step.held is None else _of_kind([step.held], plan, ("stance",))
    if not step.of and step.held is None and step.says is None:
        yield "it answers from nothing: name `of`, `held` or `says`"
    if not 1 <= step.samples <= MAX_SAMPLES:
        yield f"samples is 1 to {MAX_SAMPLES}, not {step.samples}"
    if step.says is not None and not any(name not in GIVEN for name in references(step.says)):
        yield "what it says refers to no step: a plan has no words of its own to answer with"


_CHECKS: dict[type, Callable[..., _Problems]] = {
    Retrieve: _retrieve, Reconcile: _reconcile, LensStep: _lens, ToolStep: _tool, NoteStep: _note,
    Branch: _branch, AnswerStep: _answer,
}  # fmt: skip


def _of_kind(names: Collection[str], plan: Plan, kinds: tuple[str, ...]) -> str | None:
    for name in names:
        kind = KINDS[type(plan.steps[plan.place(name)])]
        if kind not in kinds:
            return f"{name!r} gives {kind}; {' or '.join(kinds)} is needed"
    return None


def _instant(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return f"{text[:40]!r} is no RFC 3339 time"
    return None if moment.tzinfo is not None else f"{text[:40]!r} has no time zone: add one, such as Z"
