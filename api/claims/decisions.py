"""What the rules would do with claims that were learnt, and whether the store holds it so by itself."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from braid.claims.applied import is_undone
from braid.claims.decision_operations import DecisionExample, DecisionReport, ModelReport
from braid.claims.finder import ClaimFinder
from braid.claims.judgements import figures
from braid.claims.question import size_of
from braid.claims.topics import moment
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import Scope
from braid.session import Session
from braid.stance.claims import RecordedClaim
from braid.stance.decide import Decided, decide_one, gives_way, said_order, strongest
from braid.stance.fold import Folded, fold
from braid.stance.precedence import backdated
from braid.stance.proposal import ACTIONS, CHANGES, Proposal
from braid.stance.rivals import alikes, in_order

if TYPE_CHECKING:
    from braid.learn.model.decider import ModelDecider

PROPOSING: Final = ("shadow", "add_only")
"""The phases in which what the rules propose is told and not carried out."""
_WITHIN: Final = 50
"""A claim is shown some of the latest so many that may exclude it."""
_NEAR: Final = 100
"""About one memory, so many records on each side of it are looked at that may exclude what it claims."""


class Made(NamedTuple):
    """A decision about a claim: what is proposed, about which other claim, if any.

    `candidate`: the claim itself, or the state drawn from it that the proposal is for.
    """

    said: RecordedClaim
    proposal: Proposal
    candidate: RecordedClaim
    target: RecordedClaim | None


class Steps(NamedTuple):
    """What was decided of claims, in the order of the log: of each claim and each state drawn from one; and what is
    proposed for each claim.
    """

    steps: Sequence[tuple[RecordedClaim, Decided]]
    made: Sequence[Made]


@dataclass(frozen=True)
class Walk:
    """What was decided of the claims of a scope. `left`: how many claims were left out, the oldest."""

    steps: Sequence[tuple[RecordedClaim, Decided]]
    made: Sequence[Made]
    discarded: Counter[str]
    left: int
    fold: Callable[[], Folded]

    @cached_property
    def folded(self) -> Folded:
        """What the store holds of them."""
        return self.fold()


def walk(session: Session, scope: Scope | None, as_of: int | datetime | None, limit: int) -> Walk:
    """Return what the rules decide of the newest claims of a scope, each given the living ones before it."""
    session.reader.need_vault()
    size = size_of(session, as_of)
    finder = ClaimFinder(session, scope, size)
    every = in_order(backdated(finder.claims(finder.named(None))))
    own = [said for said in every if not said.derived][-limit:]
    kept = {(said.index, said.k) for said in own}
    claims = [said for said in every if (said.index, said.k) in kept]

    def folded() -> Folded:
        return fold(claims, finder.sources({said.index for said in claims}), moment(session, None, size))

    found, discarded = _gone_through(session, claims)
    return Walk(*found, discarded, sum(not said.derived for said in every) - len(own), folded)


def walk_about(session: Session, records: Collection[int], scope: Scope | None, as_of: int | None) -> Steps:
    """Return what the rules decide of claims of some records, or of others about them, as `walk` does.

    Of those that may exclude them just the nearest are read. Raises ViewError and OSError where no projection can be
    asked: it says which they are.
    """
    finder = ClaimFinder(session, scope, as_of)
    own = finder.claims(sorted(records))
    near = finder.alike(own, _NEAR) if own else ()
    found, _ = _gone_through(session, in_order(backdated(finder.claims(near))))

    def is_about(said: RecordedClaim, target: RecordedClaim | None) -> bool:
        return said.index in records or (target is not None and target.index in records)

    return Steps(
        [(said, one) for said, one in found.steps if is_about(said, one.target)],
        [one for one in found.made if is_about(one.said, one.target)],
    )


def owner_of(scope: Scope | None) -> Scope:
    """Return whose something is: a scope without its session."""
    return msgspec.structs.replace(scope or Scope(), session_id=None)


def _gone_through(session: Session, claims: Sequence[RecordedClaim]) -> tuple[Steps, Counter[str]]:
    """Return what is decided of each claim and state and proposed for each claim, and the warnings of the latter."""
    steps = list(_decided(claims, partial(is_undone, session.reader)))
    found: dict[tuple[int, int], list[Decided]] = {}
    for one, decided in steps:
        found.setdefault((one.index, one.k), []).insert(0 if not one.derived else 1, decided)
    made: list[Made] = []
    discarded = Counter[str]()
    for said in claims:
        if said.derived:
            continue
        best = strongest(found[said.index, said.k])
        discarded.update(best.warnings)
        if best.proposal is not None:
            made.append(Made(said, best.proposal, best.candidate, best.target))
    return Steps(steps, made), discarded


def _decided(
    claims: Sequence[RecordedClaim], undone: Callable[[RecordedClaim, RecordedClaim], bool]
) -> Iterable[tuple[RecordedClaim, Decided]]:
    """Yield what is decided of each claim; what it would supersede is shown to none behind it, unless it was undone."""
    for group in alikes(claims):
        by_user = defaultdict[str | None, deque[RecordedClaim]](lambda: deque(maxlen=_WITHIN))
        for said in sorted(group, key=said_order):
            living = by_user[said.user_id]
            found = decide_one(said, living)
            made, target = found.proposal, found.target
            changes = made is not None and made.action in CHANGES
            if changes and target is not None and not undone(said, target):
                living.remove(target)
            if not gives_way(made, said, target):
                living.append(said)
            yield said, found


def report(
    session: Session,
    scope: Scope | None,
    as_of: int | datetime | None,
    *,
    limit: int,
    examples: int,
    model: "ModelDecider | None" = None,
) -> DecisionReport:
    """See `claims.decision_operations.decision_report`."""
    found = walk(session, scope, as_of, limit)
    shown = Counter[str]()
    told: list[DecisionExample] = []
    agreements: list[bool] = []
    for one in reversed(found.made):
        agrees = _agrees(one, found.folded)
        agreements += [] if agrees is None else [agrees]
        kind = "review" if one.proposal.review_needed else one.proposal.action
        shown[kind] += 1
        if shown[kind] <= examples:
            told.append(_example(one, agrees))
    actions = Counter(one.proposal.action for one in found.made)
    return DecisionReport(
        claims=len(found.made),
        left=found.left,
        actions={action: actions[action] for action in ACTIONS},
        review_needed=sum(one.proposal.review_needed for one in found.made),
        compared=len(agreements),
        agreed=sum(agreements),
        discarded=dict(sorted(found.discarded.items())),
        examples=tuple(told),
        judged=figures(session, scope),
        model=None if model is None else _by_model(model, found, examples),
    )


def _agrees(one: Made, folded: Folded) -> bool | None:
    """Whether what would be superseded, or gives way, has no say in the store either; None where nothing does."""
    if one.target is None or one.proposal.review_needed:
        return None
    if one.proposal.action in CHANGES:
        return not folded.stands(one.target.node)
    if not gives_way(one.proposal, one.candidate, one.target):
        return None
    return not folded.stands(one.candidate.node)


def _example(one: Made, agrees: bool | None) -> DecisionExample:
    made, target = one.proposal, one.target
    return DecisionExample(
        action=made.action,
        says=one.said.text,
        id=RecordId(one.said.id),
        target=None if target is None else target.text,
        target_id=None if target is None else RecordId(target.id),
        reason=made.reason,
        confidence=round(made.confidence, 6),
        review_needed=made.review_needed,
        agrees=agrees,
    )


def _by_model(model: "ModelDecider", found: Walk, examples: int) -> ModelReport:
    from braid.claims.model_decisions import Living, RulesDecision, compared

    decisions = [RulesDecision(one.said, one.proposal, one.target) for one in reversed(found.made)]
    return compared(model, decisions, Living(found.steps), examples)
