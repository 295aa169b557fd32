"""Stances: decided, appended with the experience that a decision is, looked up, explained; and contradictions.

A stance and its reconciliation enter the log in one transaction. Where nothing that was weighed has changed since the
stance that stands, that one is returned and nothing is written; else the new one supersedes it.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Protocol

import msgspec

from braid.claim_reader import within
from braid.gathering import Holder, Known
from braid.holding import held_again, size_of, utc, weigh
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record import Asks, Decision, Draft, EventBody, ExperienceBody, Record, Scope, StanceBody
from braid.ledger.sequence import Placed
from braid.stance.entry import draft_of, gist, is_own, question_key, reconciliation_key, reconciliation_of
from braid.stance.fold import Folded, fold
from braid.stance.precedence import backdated
from braid.stance.reconcile import Outcome
from braid.stance.review import REVIEW, Contradiction, Earlier, Stands, contradictions, which_stands
from braid.stance.why import Reason, explain, lines

MOVED: Final = 0.1
"""A stance is made anew when its uncertainty has moved by so much, though nothing else has: age does that."""


class Decider(Holder, Protocol):
    """What deciding needs of a store."""

    def append_all(self, batch: Sequence[Draft]) -> list[Placed]:
        """Append drafts as one transaction."""
        ...


class Choice(msgspec.Struct, frozen=True):
    """A claim that was weighed: the record that makes it, how probable its answer is, what became of it, and why.

    `status`: `held`; `outvoted`, more speaks for another answer; `undecided`, nothing is held; `silent`, it has no say:
    it was corrected, said otherwise later by the same voice, or was only inferred. Empty in stances before version 3.
    """

    id: str
    claim: str
    p: float
    held: bool
    why: str
    status: str = ""


class Stance(msgspec.Struct, frozen=True, kw_only=True):
    """What is held of a question at an instant. `id` is None for one that isn't in the log.

    `claim` is None while it is undecided, and `undecided` says why. Uncertainty in [0, 1]; `support` is record ids.
    """

    question: str
    at: datetime
    claim: str | None
    undecided: str | None
    residual_uncertainty: float
    candidates: list[Choice]
    support: list[str]
    would_change: list[str]
    id: str | None = None
    decided_at: datetime | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    is_new: bool = False
    """Whether it was appended now."""

    def wire(self) -> dict[str, Any]:
        """Return the stance as it is sent."""
        sent: dict[str, Any] = msgspec.to_builtins(self)
        return sent


def decide(
    store: Decider,
    question: str,
    scope: Scope | None,
    *,
    at: datetime | None = None,
    as_of: int | datetime | None = None,
    append: bool = True,
) -> Stance:
    """Return what is held of a question; see `Store.stance`."""
    found = resolve(store, question, scope, at=at, as_of=as_of)
    if not append or not found.batch:
        return found.stance
    placed = store.append_all(found.batch)[0]
    return msgspec.structs.replace(_stated(store.reader.at(placed.index), store), is_new=not placed.known)


class Resolved(msgspec.Struct, frozen=True):
    """What a question comes to, and what would have to be appended for it: nothing where a stance already says so."""

    outcome: Outcome
    stance: Stance
    batch: Sequence[Draft] = ()
    """The stance and its reconciliation, to stand at the front of a transaction."""


def resolve(
    store: Holder,
    question: str,
    scope: Scope | None,
    *,
    at: datetime | None = None,
    as_of: int | datetime | None = None,
    now: datetime | None = None,
) -> Resolved:
    """Return what is held of a question without appending it; `now`: the present, where it is not the store's."""
    outcome, size = weigh(store, question, scope, at=at, as_of=as_of, now=now)
    if not outcome.candidates and not outcome.others:
        return Resolved(outcome, _shown(outcome))
    before = next(_alike(store, question, outcome.asks, scope, size), None)
    draft = draft_of(outcome, scope=scope, supersedes=before.id if before else None, known=size)
    if before is not None and _still_holds(before, draft):
        return Resolved(outcome, _stated(before, store))
    batch = [draft]
    if outcome.support:
        batch.append(reconciliation_of(outcome, Earlier(0), scope, reconciliation_key(draft.body.once)))
    return Resolved(outcome, _shown(outcome), batch)


def _still_holds(before: Record, draft: Draft) -> bool:
    """Whether a stance says what its question comes to now."""
    then, now = _body(before), draft.body
    if not isinstance(now, StanceBody) or then.decision is None or now.decision is None or not is_own(then):
        return False
    moved = abs(then.decision.residual_uncertainty - now.decision.residual_uncertainty)
    named = [(link.role, link.id) for link in before.links]
    return gist(then, named) == gist(now, draft.links) and moved < MOVED


def _shown(outcome: Outcome) -> Stance:
    return Stance(
        question=outcome.question,
        at=outcome.asks.at or datetime.max.replace(tzinfo=UTC),
        claim=outcome.decision.claim or None,
        undecided=outcome.decision.undecided or None,
        residual_uncertainty=outcome.decision.residual_uncertainty,
        candidates=[
            Choice(one.said.id, one.said.text, round(one.p, 6), one.held, one.why, one.status)
            for one in outcome.candidates
        ],
        support=list(dict.fromkeys(said.id for said in outcome.support)),
        would_change=list(outcome.would_change),
    )


def _stated(record: Record, store: Holder) -> Stance:
    """Return a stance of the log as it says itself."""
    body = _body(record)
    decision = body.decision or Decision(residual_uncertainty=1.0)
    standing = {one.candidate: one for one in body.justifications}
    later = store.reader.standings().of(record.index)
    return Stance(
        id=record.id,
        question=body.question,
        at=(body.asks.at if body.asks else None) or record.created_at,
        claim=decision.claim or None,
        undecided=decision.undecided or None,
        residual_uncertainty=decision.residual_uncertainty,
        candidates=[
            Choice(
                link.id,
                one.claim,
                one.p,
                standing[k].held if k in standing else one.claim == decision.claim,
                standing[k].why if k in standing else "",
                standing[k].status if k in standing else "",
            )
            for k, (link, one) in enumerate(zip(record.targets("candidate"), body.candidates, strict=False))
        ],
        support=[link.id for link in record.targets("support")],
        would_change=body.would_change,
        decided_at=record.created_at,
        supersedes=next((link.id for link in record.targets("supersedes")), None),
        superseded_by=_id_at(store, later.by) if later.state == "replaced" else None,
    )


def _id_at(store: Holder, index: int | None) -> str | None:
    return None if index is None else store.reader.envelope(index).id


def _body(record: Record) -> StanceBody:
    body = record.body
    if not isinstance(body, StanceBody):
        raise ValueError(f"{record.id} is a {record.kind}, not a stance")
    return body


def _alike(
    store: Holder, question: str, asks: Asks | None, scope: Scope | None, size: int
) -> Iterator[Record]:
    """Yield the stances on a question at the same asked time, newest first; of the present log, or of one past."""
    wanted = question_key(question, asks)
    past = None if size == store.reader.size else size
    for record in _on_question(store, question, scope):
        body = _body(record)
        if question_key(body.question, body.asks) == wanted and _past(record) == past and body.scope == scope:
            yield record


def _past(record: Record) -> int | None:
    """Return the size of the past log that a stance was asked of; None where it was all there was."""
    known = _body(record).known
    return None if known is None or known >= record.index - record.envelope.tx[1] else known


def _on_question(store: Holder, question: str | None, scope: Scope | None) -> Iterator[Record]:
    """Yield the stances on a question (on any, without one) that can be read, newest first."""
    known = Known(store, scope, None)
    wanted = None if question is None else question_key(question, None)[0]
    for index, asked in known.stances():
        if wanted is not None and question_key(asked, None)[0] != wanted:
            continue
        try:
            record = store.reader.at(index)
        except (ErasedError, ForgottenError):
            continue
        if within(record, scope):
            yield record


def history(store: Holder, question: str | None, scope: Scope | None) -> list[Stance]:
    """Return the stances on a question, or on every one, oldest first; see `Store.stances`."""
    return [_stated(record, store) for record in _on_question(store, question, scope)][::-1]


class Explained(msgspec.Struct, frozen=True):
    """Why a stance holds what it holds, or why the claims of a record stand or don't."""

    id: str
    kind: str
    says: str
    reasons: list[Reason]
    would_change: list[str] = []

    def wire(self) -> dict[str, Any]:
        """Return the explanation as it is sent."""
        sent: dict[str, Any] = msgspec.to_builtins(self)
        return sent

    def lines(self) -> Iterator[str]:
        """Yield it as an indented tree."""
        yield self.says
        for reason in self.reasons:
            yield from lines(reason, "  ")
        for change in self.would_change:
            yield f"what would change it: {change}"


def why(store: Holder, id: str) -> Explained:
    """Return the reasons behind a stance, or behind what a record claims; see `Store.why`."""
    store.reader.need_vault()
    record = store.reader.get(id)
    if record.kind == "stance":
        return _why_stance(store, record)
    body = record.body
    if not isinstance(body, ExperienceBody):
        raise ValueError(
            f"{id} is a {record.kind}: ask of a stance, or of an experience that claims something"
        )
    stance = next((link for link in record.targets("evidence") if link.id.startswith("stance_")), None)
    if stance is not None:
        return _why_stance(store, store.reader.get(stance.id))
    return _why_claims(store, record)


def _why_stance(store: Holder, record: Record) -> Explained:
    outcome = weighed_again(store, record)
    reasons = [
        _explained(store, outcome.folded, one.said.node, outcome.asks.at) for one in outcome.candidates
    ]
    reasons.sort(key=lambda reason: ("in", "undecided", "out").index(reason.label))
    decision = outcome.decision
    says = decision.claim or f"undecided: {decision.undecided}"
    return Explained(
        record.id,
        "stance",
        f"{outcome.question} {says} (uncertainty {decision.residual_uncertainty:.2f})",
        reasons,
        list(outcome.would_change),
    )


def weighed_again(store: Holder, record: Record) -> Outcome:
    """Return what a stance of the log came to, made again of what was known to it. Raises ValueError where that can't
    be: another method or version, or what it names is gone.
    """
    body = _body(record)
    if body.asks is None or body.known is None or not is_own(body):
        raise ValueError(
            f"{record.id} can't be explained: it was not made by this version; see `braid trace`"
        )
    try:
        for link in record.links:
            store.reader.at(link.index)
    except (ErasedError, ForgottenError) as error:
        raise ValueError(f"{record.id} can't be explained: {error}") from None
    return held_again(body.question, body.asks, Known(store, body.scope, body.known))


def _explained(store: Holder, folded: Folded, node: str, at: datetime | None) -> Reason:
    ids = {index: store.reader.envelope(index).id for index in folded.sources}
    return explain(folded, node, ids, at)


def _why_claims(store: Holder, record: Record) -> Explained:
    """Explain the claims of a record, or, where it makes none, those of what was drawn from it."""
    own_scope = record.body.scope
    known = Known(store, Scope(user_id=own_scope.user_id) if own_scope else None, None)
    drawn = [child for child, _, role in store.views.catalog.children(record.index) if role == "parent"]
    own = known.claims([record.index]) or known.claims(drawn)
    if not own:
        raise ValueError(_without_claims(store, record))
    now = store.now().astimezone(UTC)
    subjects = list(dict.fromkeys(said.claim.subject for said in own))
    claims = backdated(known.claims(known.named(Asks(subjects=subjects, rels=[]))))
    folded = fold(claims, known.sources({said.index for said in claims}), now)
    reasons = [_explained(store, folded, said.node, now) for said in own]
    return Explained(record.id, record.kind, record.text or record.id, reasons)


def _without_claims(store: Holder, record: Record) -> str:
    standing = store.reader.standings().of(record.index)
    if standing.state in ("replaced", "fallen"):
        how = "was replaced by" if standing.state == "replaced" else "has fallen with"
        return f"{record.id} {how} {_id_at(store, standing.by)}: it claims nothing any more"
    return f"{record.id} claims nothing, and nothing that was drawn from it does; `braid learn` reads claims"


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """Two claims that exclude each other, `other` the next after `one`. `stands`: which of the two has more for it; or
    neither.
    """

    subject: str
    rel: str
    how: str
    one: str
    one_id: str
    one_since: datetime
    other: str
    other_id: str
    other_since: datetime
    stands: str
    review: str | None = None
    """The event that was written since both came in one batch and nothing tells them apart."""


def find_contradictions(
    store: Holder, scope: Scope | None, *, at: datetime | None = None, as_of: int | datetime | None = None
) -> list[Conflict]:
    """Return the contradictions among what is claimed; see `Store.contradictions`."""
    when = utc(at if at is not None else store.now())
    store.reader.need_vault()
    known = Known(store, scope, size_of(store, as_of))
    claims = backdated(known.claims(known.named(None)))
    pairs = [pair for pair in contradictions(claims) if at is None or _both_hold(pair, when)]
    if not pairs:
        return []
    involved = {said.index for pair in pairs for said in (pair.one, pair.other)}
    bearing = [said for said in claims if said.index in involved]
    folded = fold(bearing, known.sources(involved), when)
    reviews = _reviews(store, involved)
    stand = which_stands(pairs, folded, when)
    return [_conflict(pair, stands, reviews) for pair, stands in zip(pairs, stand, strict=True)]


def _both_hold(pair: Contradiction, at: datetime) -> bool:
    return all(said.since <= at < said.until for said in (pair.one, pair.other))


def _conflict(pair: Contradiction, stands: Stands, reviews: dict[frozenset[int], str]) -> Conflict:
    one, other = pair.one, pair.other
    return Conflict(
        subject=one.claim.subject,
        rel=one.relation.name,
        how=pair.how,
        one=one.text,
        one_id=one.id,
        one_since=one.since,
        other=other.text,
        other_id=other.id,
        other_since=other.since,
        stands=stands,
        review=reviews.get(frozenset((one.index, other.index))),
    )


def _reviews(store: Holder, indexes: set[int]) -> dict[frozenset[int], str]:
    """Return the events `review` by the records that they name."""
    found: dict[frozenset[int], str] = {}
    for index in indexes:
        for child, id, role in store.views.catalog.children(index):
            if role != "evidence" or not id.startswith("evt_"):
                continue
            try:
                record = store.reader.at(child)
            except (ErasedError, ForgottenError):
                continue
            if isinstance(record.body, EventBody) and record.body.name == REVIEW:
                found[frozenset(link.index for link in record.targets("evidence"))] = id
    return found
