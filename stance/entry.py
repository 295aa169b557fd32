"""A stance as it enters the log, and the same stance made again from the records that it names. Pure.

Its links: a `candidate` for each candidate of the body, in that order; `support`; `evidence`, whatever else was
weighed; `supersedes`, the stance that stood before on the same question. Everything that the decision depends on is
among them or in the body, but for what those records were drawn from, which their own links name.
"""

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Final

import msgspec

from braid.ledger.errors import NotRederivableError
from braid.ledger.record import (
    Asks,
    Candidate,
    Confidence,
    Content,
    Draft,
    ExperienceBody,
    Justification,
    Provenance,
    Record,
    Scope,
    StanceBody,
    Target,
)
from braid.stance.claims import OWN_METHOD, Said, claims_of
from braid.stance.fold import Source, source_of
from braid.stance.pool import occurrences
from braid.stance.reconcile import METHOD, VERSION, Outcome, reconcile
from braid.stance.values import normal

Read = Callable[[int], Record]
_DIGITS: Final = 6


def draft_of(
    outcome: Outcome, *, scope: Scope | None = None, supersedes: str | None = None, known: int | None = None
) -> Draft:
    """Return the record of an outcome. `known`: the size of the log that it was asked of, where that was a past one."""
    links = list(_links(outcome, supersedes))
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
                out=[first[ids[index]] for index in one.defeaters],
                why=one.why,
            )
            for k, one in enumerate(outcome.candidates)
        ],
        decision=outcome.decision,
        would_change=list(outcome.would_change),
        scope=scope,
        once=_once(outcome, scope, supersedes, known),
    )
    return Draft(kind="stance", body=body, links=links)


def _links(outcome: Outcome, supersedes: str | None) -> Iterator[tuple[str, str]]:
    for one in outcome.candidates:
        yield "candidate", one.said.id
    for id in dict.fromkeys(said.id for said in outcome.support):
        yield "support", id
    for source in outcome.others:
        yield "evidence", source.id
    if supersedes is not None:
        yield "supersedes", supersedes


def gist(outcome: Outcome) -> tuple[object, ...]:
    """Return what makes an outcome another one: what was weighed, how it stood, what was decided; not how surely."""
    weighed = [(one.said.id, one.said.k, one.said.text, one.held) for one in outcome.candidates]
    others = [source.id for source in outcome.others]
    return weighed, others, outcome.decision.claim, outcome.decision.undecided


def question_key(question: str, asks: Asks | None) -> tuple[object, ...]:
    """Return what two askings of one question share: its words, and the instant where one was asked for."""
    return normal(question), asks.at if asks is not None and asks.dated else None


def _once(outcome: Outcome, scope: Scope | None, supersedes: str | None, known: int | None) -> str:
    said = (question_key(outcome.question, outcome.asks), scope, gist(outcome), supersedes, known)
    return f"stance:{sha256(msgspec.json.encode(said)).hexdigest()[:32]}"


def reconciliation_of(
    outcome: Outcome, stance: Target, scope: Scope | None = None, once: str | None = None
) -> Draft:
    """Return the experience that a decision is: above the records that support it, with the stance for evidence."""
    parents = dict.fromkeys(said.id for said in outcome.support)
    body = ExperienceBody(
        content=Content(text=outcome.decision.claim),
        provenance=Provenance(actor="agent", method=OWN_METHOD),
        confidence=Confidence(p=round(1 - outcome.decision.residual_uncertainty, _DIGITS), method="pooled"),
        scope=scope,
        once=once,
    )
    links: list[tuple[str, Target]] = [*(("parent", id) for id in parents), ("evidence", stance)]
    return Draft(kind="experience", type="reconciliation", body=body, links=links)


def again(record: Record, read: Read) -> Outcome:
    """Return the outcome that the records which a stance names give; raise NotRederivableError for another's method."""
    body = record.body
    if (
        not isinstance(body, StanceBody)
        or body.asks is None
        or (body.method, body.version) != (METHOD, VERSION)
    ):
        raise NotRederivableError(f"it was not made by {METHOD} {VERSION}")
    named = dict.fromkeys(
        link.index for link in record.links if link.role in ("candidate", "support", "evidence")
    )
    sources: dict[int, Source] = {}
    claims: list[Said] = []
    for index in named:
        claims += said_by(read(index), lambda at: _source(at, read, sources).parents)
    return reconcile(body.question, body.asks, claims, sources.values())


def said_by(record: Record, parents: Callable[[int], tuple[int, ...]]) -> list[Said]:
    """Return what a record claims, with the occurrences that it descends from; `parents` is asked all the way up."""
    return list(claims_of(record, occurrences(record.index, parents)))


def _source(index: int, read: Read, sources: dict[int, Source]) -> Source:
    if index not in sources:
        record = read(index)
        sources[index] = source_of(index, record.id, record.links)
    return sources[index]


def rederive(record: Record, read: Read) -> Draft:
    """Return the stance that its named inputs give, to be compared with what stands in the log."""
    outcome = again(record, read)
    before = next((link.id for link in record.links if link.role == "supersedes"), None)
    body = record.body
    known = body.known if isinstance(body, StanceBody) else None
    return draft_of(outcome, scope=body.scope, supersedes=before, known=known)
