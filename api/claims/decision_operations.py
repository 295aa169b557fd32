"""What would be done with the claims that were learnt: a report of decisions that nobody has carried out."""

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from braid.ledger.errors import IntegrityError
from braid.ledger.record.ids import RecordId
from braid.log import drafts
from braid.operation import Response, ScopedAsOf, operation
from braid.session import Session
from braid.stance.proposal import Action

if TYPE_CHECKING:
    from braid.text.chat import ChatModel


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


class DecisionReport(Response, frozen=True, kw_only=True):
    """What would be done: claims looked at and left out, counts by action, how many a person should see.

    `compared`: proposals that supersede something or give way; `agreed`: of these, what the store holds so as well.
    `discarded`: decisions that could not be used, by warning. `model`: what a model would do, where one is asked.
    """

    claims: int
    left: int
    actions: dict[str, int]
    review_needed: int
    compared: int
    agreed: int
    discarded: dict[str, int]
    examples: tuple[DecisionExample, ...]
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
