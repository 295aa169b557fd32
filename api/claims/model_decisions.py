"""What a model would do with the claims that the rules have decided about, and how far the two agree.

A model is asked once all is read: nothing of the store is held meanwhile.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from braid.claims.decision_operations import ModelDisagreement, ModelReport
from braid.learn.model.decider import ModelDecider
from braid.ledger.record.ids import RecordId
from braid.stance.claims import RecordedClaim
from braid.stance.decide import Decided, Order, decide_one, gives_way, said_order
from braid.stance.proposal import ACTIONS, CHANGES, Action, Proposal
from braid.stance.values import stemmed


class RulesDecision(NamedTuple):
    """What the rules would do with a claim, and about which other one."""

    said: RecordedClaim
    proposal: Proposal
    target: RecordedClaim | None


class Living:
    """Which claims were living when another was said, if what the rules propose had been done."""

    def __init__(self, steps: Sequence[tuple[RecordedClaim, Decided]]) -> None:
        self._by_subject: dict[str, list[RecordedClaim]] = {}
        self._left: dict[str, Order] = {}
        for said, found in steps:
            made, target = found.proposal, found.target
            if made is not None and made.action in CHANGES and target is not None:
                self._left[target.node] = said_order(said)
            if not gives_way(made, said, target):
                self._by_subject.setdefault(_subject(said), []).append(said)

    def before(self, said: RecordedClaim) -> Iterator[RecordedClaim]:
        """Yield those of a like subject that were said before a claim, and not superseded by then."""
        order = said_order(said)
        for one in self._by_subject.get(_subject(said), ()):
            if said_order(one) < order and self._left.get(one.node, order) >= order:
                yield one


def _subject(said: RecordedClaim) -> str:
    return next(iter(stemmed(said.claim.subject)), "")


def compared(
    decider: ModelDecider, decisions: Sequence[RulesDecision], living: Living, examples: int
) -> ModelReport:
    """Return what a model would do with the claims that have a living one beside them, held against the rules."""
    actions, discarded = Counter[Action](), Counter[str]()
    agreed = 0
    differing: list[ModelDisagreement] = []
    for rules in decisions:
        if decider.stopped is not None:
            break
        found = decide_one(rules.said, living.before(rules.said), decider)
        if not found.shown:
            continue
        discarded.update(found.warnings)
        if found.proposal is None:
            continue
        actions[found.proposal.action] += 1
        if _is_one(found.proposal, found.target, rules):
            agreed += 1
        elif len(differing) < examples:
            differing.append(_differing(found.proposal, found.target, rules))
    return ModelReport(
        name=decider.name,
        well_formed=sum(actions.values()),
        agreed=agreed,
        actions={action: actions[action] for action in ACTIONS},
        discarded=dict(sorted(discarded.items())),
        disagreements=tuple(differing),
        **decider.account()._asdict(),
    )


def _is_one(made: Proposal, target: RecordedClaim | None, rules: RulesDecision) -> bool:
    """Whether a model would do the same: to the same claim, or to a state drawn from it, where it is no ADD."""
    if made.action != rules.proposal.action:
        return False
    return made.action == "ADD" or _place(target) == _place(rules.target)


def _place(said: RecordedClaim | None) -> tuple[int, int] | None:
    return None if said is None else (said.index, said.k)


def _differing(made: Proposal, target: RecordedClaim | None, rules: RulesDecision) -> ModelDisagreement:
    return ModelDisagreement(
        action=made.action,
        says=rules.said.text,
        id=RecordId(rules.said.id),
        target=None if target is None else target.text,
        target_id=None if target is None else RecordId(target.id),
        reason=made.reason,
        rules=rules.proposal.action,
        rules_target_id=None if rules.target is None else RecordId(rules.target.id),
    )
