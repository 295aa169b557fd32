"""What is marked for review: pairs of living claims between which nothing decides, and what a person said of them."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Final, NamedTuple

import msgspec

from braid.caller import require_person
from braid.claims.decisions import walk
from braid.claims.protection import REVIEW, REVIEW_REJECTED
from braid.errors import NotInScopeError, listed_by
from braid.ledger.errors import ForgottenError
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import Draft, EventBody
from braid.ledger.record.source import RANK
from braid.log import drafts
from braid.memories.review_operations import (
    AcceptReview,
    Disputed,
    RejectReview,
    ReviewDecision,
    ReviewItem,
    ReviewState,
)
from braid.operation import Scoped
from braid.session import Session
from braid.stance.claims import ALWAYS, RecordedClaim
from braid.stance.words import words_of

_KEY: Final = "review/"
_LOOKED_AT: Final = 10_000
"""Among the newest so many claims of a scope pairs are looked for."""


class _Pair(NamedTuple):
    one: RecordedClaim
    other: RecordedClaim
    why: str
    state: ReviewState
    decided: RecordId | None
    stands: bool
    """Whether both claims still have a say."""

    @property
    def id(self) -> str:
        """Its name: the two places in the log, and no word of theirs."""
        places = sorted(f"{said.id}/{said.k}" for said in (self.one, self.other))
        return f"rev_{sha256(' '.join(places).encode()).hexdigest()[:12]}"


def listed(session: Session, scope: Scoped, state: ReviewState | None) -> Iterator[ReviewItem]:
    """See `memories.review_operations.reviews`."""
    for pair in _pairs(session, scope):
        if state in (None, pair.state) and (pair.state != "waiting" or pair.stands):
            yield _item(pair)


def found(session: Session, scope: Scoped, id: str) -> ReviewItem:
    """See `memories.review_operations.review`."""
    return _item(_pair(session, scope, id))


def accept(session: Session, asked: AcceptReview) -> ReviewDecision:
    """See `memories.review_operations.accept_review`."""
    require_person("accepting")
    with session.writer.turn():
        session.refresh()
        pair = _pair(session, asked, asked.id)
        _refuse(pair, "rejected")
        kept, lost = (pair.one, pair.other) if asked.keep == "one" else (pair.other, pair.one)
        if RANK[kept.source] < RANK[lost.source]:
            raise ValueError(f"{kept.id} is no word of the owner's and corrects none: append yours")
        since = None if kept.since == ALWAYS else kept.since
        claim = msgspec.structs.replace(
            kept.claim, source_type="corrected", valid_from=since, quote=None, at=None
        )
        draft = drafts.experience(
            words_of(claim),
            type=session.reader.envelope(kept.index).type
            or "occurrence",  # what was read of a turn is an inference
            method=REVIEW,
            actor="user",
            parents=[kept.id],
            claims=[claim],
            within=session.reader.at(kept.index).body.scope,
            structured={"review": pair.id},
            once=f"{_KEY}{pair.id}",
        )
        body = msgspec.structs.replace(draft.body, reason=asked.reason)
        draft = msgspec.structs.replace(draft, body=body, links=[*draft.links, ("target", lost.id)])
        return _decided(session, draft, pair.id, "accepted")


def reject(session: Session, asked: RejectReview) -> ReviewDecision:
    """See `memories.review_operations.reject_review`."""
    require_person("rejecting")
    with session.writer.turn():
        session.refresh()
        pair = _pair(session, asked, asked.id)
        _refuse(pair, "accepted")
        draft = Draft(
            kind="event",
            body=EventBody(
                name=REVIEW_REJECTED,
                data={"review": pair.id},
                reason=asked.reason,
                scope=session.reader.at(pair.other.index).body.scope,
                once=f"{_KEY}{pair.id}/rejected",
            ),
            links=[("evidence", id) for id in dict.fromkeys((pair.one.id, pair.other.id))],
        )
        return _decided(session, draft, pair.id, "rejected")


def _pairs(session: Session, scope: Scoped) -> Iterator[_Pair]:
    within = drafts.scope_of(scope)
    walked = walk(session, within, None, _LOOKED_AT)
    for made in walked.made:
        if not made.proposal.review_needed or made.target is None:
            continue
        one, other = made.target, made.said
        stands = all(walked.folded.stands(said.node) for said in (one, made.candidate))
        pair = _Pair(one, other, made.proposal.reason, "waiting", None, stands)
        yield _as_decided(session, pair)


def _as_decided(session: Session, pair: _Pair) -> _Pair:
    """Return a pair with what somebody has said of it and that is not forgotten."""
    keys: dict[str, ReviewState] = {
        f"{_KEY}{pair.id}": "accepted", f"{_KEY}{pair.id}/rejected": "rejected"
    }  # fmt: skip
    for key, index in session.reader.key_index.find(list(keys)).items():
        control = session.reader.control
        if index not in control.hidden and index not in control.erased:
            return pair._replace(state=keys[key], decided=RecordId(session.reader.envelope(index).id))
    return pair


def _pair(session: Session, scope: Scoped, id: str) -> _Pair:
    for pair in _pairs(session, scope):
        if pair.id == id:
            return pair
    raise listed_by(NotInScopeError(f"nothing in this scope is marked as {id}"), "reviews")


def _refuse(pair: _Pair, state: ReviewState) -> None:
    """Raise ValueError where the opposite was decided, and stands."""
    if pair.state == state:
        raise ValueError(f"it was {state} by {pair.decided}: forget that first")


def _decided(session: Session, draft: Draft, id: str, state: ReviewState) -> ReviewDecision:
    placed = session.append_drafts([draft])[0]
    if placed.index in session.reader.control.hidden:
        raise ForgottenError(f"{placed.id} is forgotten; `recover` brings it back")
    return ReviewDecision(id=placed.id, review=id, state=state, is_new=not placed.known)


def _item(pair: _Pair) -> ReviewItem:
    return ReviewItem(
        id=pair.id,
        one=_disputed(pair.one),
        other=_disputed(pair.other),
        why=pair.why,
        state=pair.state,
        decided=pair.decided,
    )


def _disputed(said: RecordedClaim) -> Disputed:
    return Disputed(
        id=RecordId(said.id),
        says=said.text,
        voices=tuple(sorted(said.voices)),
        said=said.said,
        confidence=round(said.worth, 6),
    )
