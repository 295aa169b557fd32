"""Stances: decided, appended with the experience that a decision is, looked up, explained; and contradictions.

A stance and its reconciliation enter the log in one transaction. Where nothing that was weighed has changed since the
stance that stands, that one is returned and nothing is written; else the new one supersedes it.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Final

import msgspec

from braid.claims.finder import ClaimFinder
from braid.claims.operations import Choice, Stance
from braid.claims.question import weigh
from braid.claims.reader import within
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import (
    Asks,
    Candidate,
    Decision,
    Draft,
    Justification,
    Record,
    Scope,
    StanceBody,
)
from braid.ledger.record.source import BELIEVED, SourceClass
from braid.recall.hits import Hit
from braid.session import Session
from braid.stance.entry import draft_of, gist, is_own, question_key, reconciliation_key, reconciliation_of
from braid.stance.reconcile import Reconciliation
from braid.stance.review import Earlier

MOVED: Final = 0.1
"""A stance is made again when its uncertainty has moved by so much, though nothing else has: age does that."""


def decide(
    session: Session,
    question: str,
    scope: Scope | None,
    *,
    at: datetime | None = None,
    as_of: int | datetime | None = None,
    append: bool = True,
    trust: SourceClass = BELIEVED,
) -> Stance:
    """Return what is held of a question; see `claims.operations.stance`."""
    found = resolve(session, question, scope, at=at, as_of=as_of, trust=trust)
    if not append or not found.batch:
        return found.stance
    placed = session.append_drafts(found.batch)[0]
    return msgspec.structs.replace(_stated(session.reader.at(placed.index), session), is_new=not placed.known)


class Resolved(msgspec.Struct, frozen=True, dict=True):
    """What a question comes to, and what would have to be appended for it: nothing where a stance already says so.

    What would bring another answer takes as long as the question itself: it is worked out where it is asked for.
    """

    outcome: Reconciliation
    stated: Stance | None = None
    """The stance of the log that says so already."""
    draft: Draft | None = None
    """The stance to be appended, but for what would change it."""

    @cached_property
    def stance(self) -> Stance:
        """The stance, whether or not it is in the log."""
        return self.stated or _shown(self.outcome)

    @cached_property
    def batch(self) -> Sequence[Draft]:
        """The stance and its reconciliation, to stand at the front of a transaction."""
        if self.draft is None or not isinstance(self.draft.body, StanceBody):
            return ()
        body = msgspec.structs.replace(self.draft.body, would_change=list(self.outcome.would_change))
        batch = [msgspec.structs.replace(self.draft, body=body)]
        if self.outcome.support:
            key = reconciliation_key(body.once)
            batch.append(reconciliation_of(self.outcome, Earlier(0), body.scope, key))
        return batch


def resolve(
    session: Session,
    question: str,
    scope: Scope | None,
    *,
    at: datetime | None = None,
    as_of: int | datetime | None = None,
    now: datetime | None = None,
    trust: SourceClass = BELIEVED,
    hits: Sequence[Hit] | None = None,
) -> Resolved:
    """Return what is held of a question without appending it; `now`: the present, where it is not the store's; `hits`:
    what recall found for it, where that is known.

    With another `trust` than `BELIEVED` there is nothing to append: a stance of the log is what is believed.
    """
    outcome, size = weigh(session, question, scope, at=at, as_of=as_of, now=now, trust=trust, hits=hits)
    if trust != BELIEVED or (not outcome.candidates and not outcome.others):
        return Resolved(outcome)
    before = next(_alike(session, question, outcome.asks, scope, size), None)
    draft = draft_of(
        outcome, scope=scope, supersedes=before.id if before else None, known=size, in_full=False
    )
    if before is not None and _still_holds(before, draft):
        return Resolved(outcome, stated=_stated(before, session))
    return Resolved(outcome, draft=draft)


def _still_holds(before: Record, draft: Draft) -> bool:
    """Whether a stance says what its question comes to now."""
    then, now = stance_body(before), draft.body
    if not isinstance(now, StanceBody) or then.decision is None or now.decision is None or not is_own(then):
        return False
    moved = abs(then.decision.residual_uncertainty - now.decision.residual_uncertainty)
    named = [(link.role, link.id) for link in before.links]
    return gist(then, named) == gist(now, draft.links) and moved < MOVED


def _shown(outcome: Reconciliation) -> Stance:
    return Stance(
        question=outcome.question,
        at=outcome.asks.at or datetime.max.replace(tzinfo=UTC),
        claim=outcome.decision.claim or None,
        undecided=outcome.decision.undecided or None,
        residual_uncertainty=outcome.decision.residual_uncertainty,
        candidates=tuple(
            Choice(
                id=one.said.id,
                claim=one.said.text,
                p=round(one.p, 6),
                held=one.held,
                why=one.why,
                status=one.status,
            )
            for one in outcome.candidates
        ),
        support=tuple(dict.fromkeys(said.id for said in outcome.support)),
        would_change=tuple(outcome.would_change),
    )


def _stated(record: Record, session: Session) -> Stance:
    """Return a stance of the log as it says itself."""
    body = stance_body(record)
    decision = body.decision or Decision(residual_uncertainty=1.0)
    standing = {one.candidate: one for one in body.justifications}
    later = session.reader.standings().of(record.index)
    return Stance(
        id=record.id,
        question=body.question,
        at=(body.asks.at if body.asks else None) or record.created_at,
        claim=decision.claim or None,
        undecided=decision.undecided or None,
        residual_uncertainty=decision.residual_uncertainty,
        candidates=tuple(
            _choice(link.id, one, standing.get(k), decision.claim)
            for k, (link, one) in enumerate(zip(record.targets("candidate"), body.candidates, strict=False))
        ),
        support=tuple(link.id for link in record.targets("support")),
        would_change=tuple(body.would_change),
        decided_at=record.created_at,
        supersedes=next((link.id for link in record.targets("supersedes")), None),
        superseded_by=id_at(session, later.by) if later.state == "replaced" else None,
    )


def _choice(id: str, one: Candidate, standing: Justification | None, claim: str) -> Choice:
    """Return a candidate of a stance with what became of it; stances before version 3 say only what is held."""
    if standing is None:
        return Choice(id=id, claim=one.claim, p=one.p, held=one.claim == claim, why="")
    return Choice(
        id=id, claim=one.claim, p=one.p, held=standing.held, why=standing.why, status=standing.status
    )


def id_at(session: Session, index: int | None) -> str | None:
    """Return the id of the record at an index, None where there is none."""
    return None if index is None else session.reader.envelope(index).id


def stance_body(record: Record) -> StanceBody:
    """Return the body of a stance; ValueError for another record."""
    body = record.body
    if not isinstance(body, StanceBody):
        raise ValueError(f"{record.id} is a {record.kind}, not a stance")
    return body


def _alike(
    session: Session, question: str, asks: Asks | None, scope: Scope | None, size: int
) -> Iterator[Record]:
    """Yield the stances on a question at the same asked time, newest first; of the present log, or of one past."""
    wanted = question_key(question, asks)
    past = None if size == session.reader.size else size
    for record in _on_question(session, question, scope):
        body = stance_body(record)
        if question_key(body.question, body.asks) == wanted and _past(record) == past and body.scope == scope:
            yield record


def _past(record: Record) -> int | None:
    """Return the size of the past log that a stance was asked of; None where it was all there was."""
    known = stance_body(record).known
    return None if known is None or known >= record.index - record.envelope.tx[1] else known


def _on_question(session: Session, question: str | None, scope: Scope | None) -> Iterator[Record]:
    """Yield the stances on a question (on any, without one) that can be read, newest first."""
    known = ClaimFinder(session, scope, None)
    wanted = None if question is None else question_key(question, None)[0]
    for index, asked in known.stances():
        if wanted is not None and question_key(asked, None)[0] != wanted:
            continue
        try:
            record = session.reader.at(index)
        except (ErasedError, ForgottenError):
            continue
        if within(record, scope):
            yield record


def history(session: Session, question: str | None, scope: Scope | None) -> list[Stance]:
    """Return the stances on a question, or on every one, oldest first; see `claims.operations.stances`."""
    return [_stated(record, session) for record in _on_question(session, question, scope)][::-1]
