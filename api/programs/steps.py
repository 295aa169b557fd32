"""What the steps of a program that look and decide do with a store: retrieve, lens, reconcile, branch.

They write nothing: what came of a step is handed back, to be recorded.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from braid.agent.program.plan import Branch, LensStep, Reconcile, Retrieve, filled
from braid.agent.program.state import State, value
from braid.claims.decision import resolve
from braid.ledger.record.record import Target
from braid.ledger.record.source import BELIEVED
from braid.lens.definitions import lens_named
from braid.lenses.errors import LensError
from braid.programs.resources import SIGNAL_DIGITS, Resources, StepResult
from braid.recall.hits import Hit
from braid.recall.lens_filter import through
from braid.search.question import Question
from braid.search.retrieval import NOT_OWN, find
from braid.stance.review import Earlier


def carry_out(resources: Resources, state: State, left_s: float) -> StepResult:
    """Carry out the step that is next (no note, call of a tool, or answer) within the time that is left."""
    step = state.step
    if isinstance(step, Retrieve):
        return _retrieve(resources, step, state, left_s)
    if isinstance(step, Reconcile):
        return _reconcile(resources, step, state)
    if isinstance(step, LensStep):
        return _lens(resources, step, state)
    assert isinstance(step, Branch), step  # noqa: S101 - the others are the runner's
    return StepResult(told={"text": "found" if value(state, step.found).is_found(step.least) else ""})


def _retrieve(resources: Resources, step: Retrieve, state: State, left_s: float) -> StepResult:
    scope = msgspec.structs.asdict(resources.scope) if resources.scope else {}
    asked = Question(
        query=filled(step.query, state.texts),
        now=state.begun.now,
        top_k=step.k,
        filters=NOT_OWN,
        limit_s=left_s,
        valid_at=datetime.fromisoformat(step.at) if step.at is not None else None,
        trust=BELIEVED,
        **scope,
    )
    found = find(resources.session, asked)
    return _of_hits(found.results, found.degraded)


def _lens(resources: Resources, step: LensStep, state: State) -> StepResult:
    hits, trouble = resources.hits(state, [step.of])
    try:
        return _of_hits(through(lens_named(resources.session, step.lens))(hits), trouble)
    except LensError as error:
        return _of_hits(hits, [*trouble, f"lens: {error}"])


def _reconcile(resources: Resources, step: Reconcile, state: State) -> StepResult:
    question = filled(step.question, state.texts)
    begun = state.begun
    at = datetime.fromisoformat(step.at) if step.at is not None else None
    found = resolve(
        resources.session, question, resources.scope, at=at, now=begun.now if begun.dated else None
    )
    if found.batch:
        evidence: list[Target] = [Earlier(0)]
    else:
        evidence = [found.stance.id] if found.stance.id is not None else []
    p = 1.0 - found.outcome.decision.residual_uncertainty
    told = {"text": found.outcome.decision.claim, "p": round(p, SIGNAL_DIGITS)} if evidence else {}
    return StepResult(evidence=evidence, before=found.batch, told=told)


def _of_hits(hits: Sequence[Hit], trouble: Sequence[str]) -> StepResult:
    return StepResult(
        evidence=[hit.id for hit in hits],
        told={
            "scores": [round(hit.score, SIGNAL_DIGITS) for hit in hits],
            "signals": [
                {name: round(float(one), SIGNAL_DIGITS) for name, one in hit.signals.items()} for hit in hits
            ],
            "trouble": list(trouble),
        },
    )
