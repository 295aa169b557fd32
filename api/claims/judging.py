"""A person says of a change that the rules propose whether it is right."""

from hashlib import sha256
from typing import Final

from braid.caller import require_person
from braid.claims.decision_operations import JudgedChange, JudgeDecision
from braid.claims.decisions import Made, walk
from braid.claims.judgements import EVENT, figures
from braid.errors import NotInScopeError, listed_by
from braid.ledger.record.record import Draft, EventBody, Scope
from braid.log import drafts
from braid.session import Session
from braid.stance.decide import RULES
from braid.stance.proposal import CHANGES

_LOOKED_AT: Final = 10_000
"""Among the newest so many claims of a scope the change is looked for."""


def judge(session: Session, asked: JudgeDecision) -> JudgedChange:
    """See `claims.decision_operations.judge_decision`."""
    require_person("judging")
    scope = drafts.scope_of(asked)
    session.refresh()
    one = _proposed(session, scope, asked)
    assert one.target is not None  # noqa: S101 - a change has one
    with session.writer.turn():  # which nobody holds while claims are weighed
        session.refresh()
        lives = session.reader.standings().lives
        if not (lives(one.said.index) and lives(one.target.index)):
            raise _none_proposed(asked)
        places = f"{one.candidate.id}/{one.candidate.node.partition('/')[2]} {one.target.id}/{one.target.k}"
        change = sha256(places.encode()).hexdigest()[:32]
        draft = Draft(
            kind="event",
            body=EventBody(
                name=EVENT,
                data={"change": change, "action": one.proposal.action, "verdict": asked.verdict, "by": RULES},
                reason=asked.reason,
                scope=session.reader.at(one.said.index).body.scope,
            ),
            links=[("target", session.reader.envelope(0).id), ("parent", one.said.id)],
            public={"name": EVENT},
        )
        placed = session.append_drafts([draft])[0]
        session.refresh()
        return JudgedChange(
            id=placed.id,
            action=one.proposal.action,
            says=one.said.text,
            target=one.target.text,
            verdict=asked.verdict,
            figures=figures(session, scope),
        )


def _proposed(session: Session, scope: Scope | None, asked: JudgeDecision) -> Made:
    found = [
        one
        for one in walk(session, scope, None, _LOOKED_AT).made
        if one.said.id == asked.id and one.proposal.action in CHANGES and one.target is not None
    ]
    if asked.place is not None:
        found = [one for one in found if one.said.k == asked.place]
    if not found:
        raise _none_proposed(asked)
    if len(found) > 1:
        raise ValueError(f"{asked.id} brings {len(found)} changes: name the place of the claim that is meant")
    return found[0]


def _none_proposed(asked: JudgeDecision) -> NotInScopeError:
    return listed_by(NotInScopeError(f"the rules propose no change by {asked.id} here"), "decision_report")
