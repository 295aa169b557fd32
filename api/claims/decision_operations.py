"""What would be done with the claims that were learnt, what people say of that, and what was carried out."""

from typing import TYPE_CHECKING, Annotated, Final, Literal

from msgspec import Meta

from braid.ledger.errors import ErasedError, ForgottenError, IntegrityError, KeyRefusedError, ReadOnlyError
from braid.ledger.record.ids import RecordId
from braid.log import drafts
from braid.operation import Id, Request, Response, Scoped, ScopedAsOf, operation
from braid.session import Session
from braid.stance.proposal import Action
from braid.wal.errors import OutcomeUnknownError

if TYPE_CHECKING:
    from braid.text.chat import ChatModel

_ID: Final = RecordId("exp_2025-05-17T09:00:00Z_0000000300ab")
_WRITES: Final = (ReadOnlyError, KeyRefusedError, OutcomeUnknownError)


class ReportDecisions(ScopedAsOf, frozen=True, kw_only=True):
    """Of which scope. `limit`: the newest claims that are looked at; `examples`: as many of each action are shown."""

    limit: Annotated[int, Meta(ge=1, le=100_000)] = 2_000
    examples: Annotated[int, Meta(ge=0, le=1_000)] = 3


class DecisionExample(Response, frozen=True, kw_only=True):
    """What would be done with one claim, about which living one, and why; by the ids of their records.

    `agrees`: whether the store itself holds it so; None where nothing would be superseded.
    """

    action: Action
    says: str
    id: RecordId
    target: str | None = None
    target_id: RecordId | None = None
    reason: str
    confidence: float
    review_needed: bool = False
    agrees: bool | None = None


class ModelDisagreement(Response, frozen=True, kw_only=True):
    """What a model would do with a claim where the rules would do something else; by the ids of their records.

    `rules`, `rules_target_id`: what the rules would do. `reason`: the model's words.
    """

    action: Action
    says: str
    id: RecordId
    target: str | None = None
    target_id: RecordId | None = None
    reason: str
    rules: Action
    rules_target_id: RecordId | None = None


class ModelReport(Response, frozen=True, kw_only=True):
    """What a model would do with the same claims, given the same living ones.

    `asked`: claims that it was asked about, those with a living claim beside them; `answered`: of these, where it said
    something; `well_formed`: of these, what could be used, `mended` of them once its JSON was mended. `agreed`: of the
    well-formed, the same action as the rules, and the same claim where it is no ADD. `discarded`: what could not be
    used, by warning. `stopped`: why it was not asked about the rest. `ms_p50`, `ms_p95`: milliseconds of one question.
    """

    name: str
    asked: int
    answered: int
    well_formed: int
    mended: int
    agreed: int
    actions: dict[str, int]
    discarded: dict[str, int]
    stopped: str | None = None
    tokens_in: int
    tokens_out: int
    ms_p50: float
    ms_p95: float
    disagreements: tuple[ModelDisagreement, ...]


class Judged(Response, frozen=True, kw_only=True):
    """How many changes of these rules people have judged, how many are right, and Wilson's lower bound of that share.

    `lower_bound`: in [0, 1], at .95. `judged_needed`, `bound_needed`: how much of both the phase `full` needs, in the
    whole store.
    """

    judged: int
    right: int
    lower_bound: float
    judged_needed: int
    bound_needed: float


class DecisionReport(Response, frozen=True, kw_only=True):
    """What would be done: claims looked at and left out, counts by action, how many a person should see.

    `compared`: proposals that supersede something or give way; `agreed`: of these, what the store holds so as well.
    `discarded`: decisions that could not be used, by warning. `judged`: what people have said of the changes of this
    scope. `model`: what a model would do, where one is asked.
    """

    claims: int
    left: int
    actions: dict[str, int]
    review_needed: int
    compared: int
    agreed: int
    discarded: dict[str, int]
    examples: tuple[DecisionExample, ...]
    judged: Judged
    model: ModelReport | None = None


@operation(
    ReportDecisions,
    DecisionReport,
    access="read",
    cost="log",
    example=ReportDecisions(user_id="maya"),
    errors=(ValueError, IntegrityError),
)
def decision_report(
    session: Session, asked: ReportDecisions, *, model: "ChatModel | None" = None
) -> DecisionReport:
    """Return what the rules would do with each living claim, given those before it: add, update, delete, or nothing.

    It reads only, and nothing of it is carried out. The same log, scope and limit give the same report. With a `model`
    that one is asked the same of each claim that has a living one beside it, and held against the rules. Raises
    RemoteModelError for a model that the settings keep away.
    """
    from braid.claims.decisions import report

    session.refresh()
    scope = drafts.scope_of(asked)
    decider = None
    if model is not None:
        from braid.learn.model.decider import ModelDecider
        from braid.providers.gate import Gate
        from braid.providers.policy import require_allowed

        require_allowed(session, (model,))
        decider = ModelDecider(Gate(session, "decide", "decide").before(model, "small"))
    return report(session, scope, asked.past, limit=asked.limit, examples=asked.examples, model=decider)


class JudgeDecision(Scoped, frozen=True, kw_only=True):
    """Which change: by the record whose claim would take another's place; whether that is right, and why.

    `place`: of the claim in its record, where that brings several changes.
    """

    id: Id
    verdict: Literal["right", "wrong"]
    reason: Annotated[str, Meta(min_length=1, description="Why; it stays in the log.")]
    place: Annotated[int, Meta(ge=0)] | None = None


class JudgedChange(Response, frozen=True, kw_only=True):
    """The record of a judgement, the change that it is about, and the figures of the scope by now."""

    id: RecordId
    action: Action
    says: str
    target: str
    verdict: Literal["right", "wrong"]
    figures: Judged


@operation(
    JudgeDecision,
    JudgedChange,
    access="modify",
    reads=True,
    cost="log",
    positional=("id", "verdict"),
    example=JudgeDecision(id=_ID, verdict="right", reason="she moved", user_id="maya"),
    errors=(ValueError, ErasedError, ForgottenError, *_WRITES),
)
def judge_decision(session: Session, asked: JudgeDecision) -> JudgedChange:
    """Say by a signed event whether a change that the rules propose is right; the newest word on a change counts.

    The phase `full` is offered by these figures alone. Raises ValueError where nothing is proposed by this claim, or
    several changes are; AccessDeniedError where a program asks.
    """
    from braid.claims.judging import judge

    session.refresh()
    return judge(session, asked)


class AskCanary(Request, frozen=True, kw_only=True):
    """The question how the users for whom decisions are carried out fare, beside the others."""


class CanaryArm(Response, frozen=True, kw_only=True):
    """Decisions of one arm since the phase was set: `canary`, where they are carried out, or `control`, where not.

    `contradicted`: of them, those that a person has undone, or has forgotten, corrected or settled the claim that won.
    `ms_p50`, `ms_p95`: milliseconds that deciding took of a round.
    """

    arm: Literal["canary", "control"]
    decided: int
    applied: int
    contradicted: int
    ms_p50: float
    ms_p95: float


class CanaryReport(Response, frozen=True, kw_only=True):
    """Both arms. `rounds`: batches that were decided; `stale`: changes that were decided again; `kept`: changes that a
    person's word kept from it. `breach`: why decisions stop, None where nothing says so.
    """

    phase: str
    share: float
    rounds: int
    stale: int
    kept: int
    arms: tuple[CanaryArm, ...]
    breach: str | None = None


@operation(AskCanary, CanaryReport, access="read", cost="log", example=AskCanary(), errors=(IntegrityError,))
def canary_report(session: Session, asked: AskCanary) -> CanaryReport:
    """Return what was decided since the phase was set, for users whose decisions are carried out and for the others.

    It reads only: the signed outcomes of deciding, and what people did since.
    """
    from braid.claims.canary_report import canaried

    del asked
    session.refresh()
    return canaried(session)
