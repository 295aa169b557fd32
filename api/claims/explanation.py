"""Why a stance holds what it holds, and why the claims of a record stand or don't: down to records."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import msgspec

from braid.claims.decision import id_at, stance_body
from braid.claims.finder import ClaimFinder
from braid.claims.operations import Explanation, Words
from braid.claims.question import held_again
from braid.ledger.errors import ErasedError, ForgottenError
from braid.ledger.record.record import Asks, ExperienceBody, Record, Scope
from braid.session import Session
from braid.stance.entry import is_own
from braid.stance.fold import Folded, fold
from braid.stance.precedence import backdated
from braid.stance.reason import Reason
from braid.stance.reconcile import Reconciliation
from braid.stance.why import explain

_UNCLAIMED: Final = {
    "retired": "claims nothing any more: the reader that read it was retired",
    "replaced": "claims nothing any more: it was replaced",
    "fallen": "claims nothing any more: what it rested on was replaced",
}
"""Why a record has no claims, by how it stands."""


def explained(session: Session, id: str) -> Explanation:
    """Return the reasons behind a stance, or behind what a record claims; see `claims.operations.why`."""
    session.reader.need_vault()
    record = session.reader.get(id)
    classes = session.reader.source_classes
    return msgspec.structs.replace(
        _explained_record(session, record),
        source_class=classes.of(record.index),
        words=tuple(words_of(session, record)),
    )


def words_of(session: Session, record: Record) -> Iterator[Words]:
    """Yield the records at first hand that a record stands on, each with its source class; gone ones are left out."""
    reader, classes, seen = session.reader, session.reader.source_classes, set[int]()
    stack = [record.index]
    while stack:
        at = stack.pop()
        if at in seen:
            continue
        seen.add(at)
        try:
            one = reader.at(at)
        except (ErasedError, ForgottenError):
            continue
        if above := classes.sources(one):
            stack += reversed(above)
            continue
        source = one.body.provenance if isinstance(one.body, ExperienceBody) else None
        yield Words(
            id=one.id,
            source_class=classes.note(one),
            actor=source.actor if source else None,
            name=source.name if source else None,
            key=one.envelope.key,
        )


def _explained_record(session: Session, record: Record) -> Explanation:
    id = record.id
    if record.kind == "stance":
        return _why_stance(session, record)
    body = record.body
    if not isinstance(body, ExperienceBody):
        raise ValueError(
            f"{id} is a {record.kind}: ask of a stance, or of an experience that claims something"
        )
    stance = next((link for link in record.targets("evidence") if link.id.startswith("stance_")), None)
    if stance is not None:
        return _why_stance(session, session.reader.get(stance.id))
    return _why_claims(session, record)


def _why_stance(session: Session, record: Record) -> Explanation:
    outcome = weighed_again(session, record)
    reasons = [
        _explained(session, outcome.folded, one.said.node, outcome.asks.at) for one in outcome.candidates
    ]
    reasons.sort(key=lambda reason: ("in", "undecided", "out").index(reason.label))
    decision = outcome.decision
    says = decision.claim or f"undecided: {decision.undecided}"
    return Explanation(
        id=record.id,
        kind="stance",
        says=f"{outcome.question} {says} (uncertainty {decision.residual_uncertainty:.2f})",
        reasons=tuple(reasons),
        would_change=tuple(outcome.would_change),
    )


def weighed_again(session: Session, record: Record) -> Reconciliation:
    """Return what a stance of the log came to, made again of what was known to it. Raises ValueError where that can't
    be: another method or version, or what it names is gone.
    """
    body = stance_body(record)
    if body.asks is None or body.known is None or not is_own(body):
        raise ValueError(
            f"{record.id} can't be explained: it was not made by this version; see `braid trace`"
        )
    try:
        for link in record.links:
            session.reader.at(link.index)
    except (ErasedError, ForgottenError) as error:
        raise ValueError(f"{record.id} can't be explained: {error}") from None
    return held_again(body.question, body.asks, ClaimFinder(session, body.scope, body.known))


def _explained(session: Session, folded: Folded, node: str, at: datetime | None) -> Reason:
    ids = {index: session.reader.envelope(index).id for index in folded.sources}
    return explain(folded, node, ids, at)


def _why_claims(session: Session, record: Record) -> Explanation:
    """Explain the claims of a record, or, where it makes none, those of what was drawn from it."""
    own_scope = record.body.scope
    known = ClaimFinder(session, Scope(user_id=own_scope.user_id) if own_scope else None, None)
    drawn = [child for child, _, role in session.views.catalog.children(record.index) if role == "parent"]
    own = known.claims([record.index]) or known.claims(drawn)
    if not own:
        return _without_claims(session, record)
    now = session.now().astimezone(UTC)
    subjects = list(dict.fromkeys(said.claim.subject for said in own))
    claims = backdated(known.claims(known.named(Asks(subjects=subjects, rels=[]))))
    folded = fold(claims, known.sources({said.index for said in claims}), now)
    reasons = [_explained(session, folded, said.node, now) for said in own]
    return Explanation(id=record.id, kind=record.kind, says=record.text or record.id, reasons=tuple(reasons))


def _without_claims(session: Session, record: Record) -> Explanation:
    standing = session.reader.standings().of(record.index)
    unclaimed = _UNCLAIMED.get(standing.state)
    return Explanation(
        id=record.id,
        kind=record.kind,
        says=record.text or record.id,
        reasons=(),
        unclaimed=unclaimed or "claims nothing, and nor does what was drawn from it; `learn` reads claims",
        by=id_at(session, standing.by) if unclaimed else None,
    )
