"""A stance as it enters the log. Pure.

Its links: a `candidate` for each candidate of the body, in that order; `support`; `evidence`, whatever else was
weighed; `supersedes`, the stance that stood before on the same question. `known` says of how many records of the log it
was made: all that these claim of what is asked was weighed, so that it can be made again.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

import msgspec

from braid.ledger.record.record import (
    Asks,
    Candidate,
    Confidence,
    Content,
    Decision,
    Draft,
    ExperienceBody,
    Justification,
    LinkDiff,
    Provenance,
    Reweighted,
    Scope,
    StanceBody,
    Target,
)
from braid.stance.claims import OWN_METHOD
from braid.stance.reconcile import METHOD, VERSION, Reconciliation
from braid.text.words import normal

_DIGITS: Final = 6


def draft_of(
    outcome: Reconciliation,
    *,
    scope: Scope | None = None,
    supersedes: str | None = None,
    known: int | None = None,
    in_full: bool = True,
) -> Draft:
    """Return the record of an outcome. `known`: of how many records of the log it was made; `in_full`: with what would
    bring another answer, which takes as long to work out."""
    links: list[tuple[str, Target]] = list(_links(outcome, supersedes))
    first = {id: place for place, (_, id) in reversed(list(enumerate(links)))}
    ids = {one.said.index: one.said.id for one in outcome.candidates}
    ids |= {source.index: source.id for source in outcome.others}
    body = StanceBody(
        question=outcome.question,
        candidates=[Candidate(claim=one.said.text, p=round(one.p, _DIGITS)) for one in outcome.candidates],
        method=METHOD,
        version=VERSION,
        asks=outcome.asks,
        known=known,
        justifications=[
            Justification(
                candidate=k,
                held=one.held,
                inn=[k],
                out=[first[ids[index]] for index in one.taken_by],
                why=one.why,
                status=one.status,
            )
            for k, one in enumerate(outcome.candidates)
        ],
        decision=outcome.decision,
        would_change=list(outcome.would_change) if in_full else [],
        scope=scope,
    )
    return Draft(kind="stance", body=msgspec.structs.replace(body, once=_once(body, links)), links=links)


def _links(outcome: Reconciliation, supersedes: str | None) -> Iterator[tuple[str, str]]:
    for one in outcome.candidates:
        yield "candidate", one.said.id
    for id in dict.fromkeys(said.id for said in outcome.support):
        yield "support", id
    for source in outcome.others:
        yield "evidence", source.id
    if supersedes is not None:
        yield "supersedes", supersedes


def gist(body: StanceBody, links: Iterable[tuple[str, Target]]) -> tuple[object, ...]:
    """Return what makes a stance another one: what was weighed, what became of it, what was decided; not how surely."""
    named = sorted((role, str(id)) for role, id in links if role != "supersedes")
    weighed = [one.claim for one in body.candidates], [one.status for one in body.justifications]
    decision = body.decision or Decision(residual_uncertainty=1.0)
    return named, weighed, decision.claim, decision.undecided


def question_key(question: str, asks: Asks | None) -> tuple[object, ...]:
    """Return what two askings of one question share: its words, and the instant where one was asked for."""
    return normal(question), asks.at if asks is not None and asks.dated else None


def _once(body: StanceBody, links: list[tuple[str, Target]]) -> str:
    before = [id for role, id in links if role == "supersedes"]
    said = (question_key(body.question, body.asks), body.scope, gist(body, links), before, body.known)
    return f"stance:{sha256(msgspec.json.encode(said)).hexdigest()[:32]}"


def reconciliation_of(
    outcome: Reconciliation, stance: Target, scope: Scope | None = None, once: str | None = None
) -> Draft:
    """Return the experience that a decision is: above the records that support it, with the stance for evidence."""
    parents = dict.fromkeys(said.id for said in outcome.support)
    p = round(1 - outcome.decision.residual_uncertainty, _DIGITS)
    body = ExperienceBody(
        content=Content(text=outcome.decision.claim),
        provenance=Provenance(actor="agent", method=OWN_METHOD),
        confidence=Confidence(p=p, method="pooled"),
        scope=scope,
        diffs=_diffs(outcome, p),
        once=once,
    )
    links: list[tuple[str, Target]] = [*(("parent", id) for id in parents), ("evidence", stance)]
    return Draft(kind="experience", type="reconciliation", body=body, links=links)


def reconciliation_key(once: str | None) -> str:
    """Return the idempotency key of the reconciliation of a stance that has this one."""
    return f"{once}/reconciliation"


def is_reconciliation(body: object) -> bool:
    """Whether a body says that it is the reconciliation of a stance of this method."""
    return isinstance(body, ExperienceBody) and body.provenance.method == OWN_METHOD


def _diffs(outcome: Reconciliation, pooled: float) -> list[LinkDiff]:
    """Return how much each record that supports a decision weighs alone (1 where it says nothing of that), and in the
    decision; no words of any.
    """
    alone = {said.id: 1.0 if said.p is None else round(said.p, _DIGITS) for said in outcome.support}
    return [
        LinkDiff(link=k, reweighted=[Reweighted(link=k, w_old=p, w_new=pooled)])
        for k, p in enumerate(alone.values())
    ]


def is_own(body: StanceBody) -> bool:
    """Whether a stance was made by this method in this version, so that it can be made again."""
    return body.asks is not None and (body.method, body.version) == (METHOD, VERSION)


def is_older(one: StanceBody, other: StanceBody) -> bool:
    """Whether a stance is of this method, in an older version than another: a number, or none at all."""
    return METHOD == one.method == other.method and _number(one.version) < _number(other.version)


def _number(version: str) -> int:
    return int(version) if version.isascii() and version.isdigit() and len(version) < _DIGITS else 0
