"""What would be done with the claims that were learnt: a report of decisions that nobody has carried out."""

from typing import Annotated

from msgspec import Meta

from braid.ledger.errors import IntegrityError
from braid.ledger.record.ids import RecordId
from braid.log import drafts
from braid.operation import Response, ScopedAsOf, operation
from braid.session import Session
from braid.stance.decide import Action


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


class DecisionReport(Response, frozen=True, kw_only=True):
    """What would be done: claims looked at and left out, counts by action, how many a person should see.

    `compared`: proposals that supersede something or give way; `agreed`: of these, what the store holds so as well.
    `discarded`: decisions that could not be used, by warning.
    """

    claims: int
    left: int
    actions: dict[str, int]
    review_needed: int
    compared: int
    agreed: int
    discarded: dict[str, int]
    examples: tuple[DecisionExample, ...]


@operation(
    ReportDecisions,
    DecisionReport,
    access="read",
    cost="log",
    example=ReportDecisions(user_id="maya"),
    errors=(ValueError, IntegrityError),
)
def decision_report(session: Session, asked: ReportDecisions) -> DecisionReport:
    """Return what the rules would do with each living claim, given those before it: add, update, delete, or nothing.

    It reads only, and nothing of it is carried out. The same log, scope and limit give the same report.
    """
    from braid.claims.decisions import report

    session.refresh()
    scope = drafts.scope_of(asked)
    return report(session, scope, asked.past, limit=asked.limit, examples=asked.examples)
