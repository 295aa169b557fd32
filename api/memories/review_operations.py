"""Claims between which nothing decides: listed, shown, and settled by a person."""

from datetime import datetime
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from braid.ledger.errors import (
    ErasedError,
    ForgottenError,
    IntegrityError,
    KeyRefusedError,
    ReadOnlyError,
    UnknownRecordError,
)
from braid.ledger.record.ids import RecordId
from braid.operation import Response, Scoped, operation
from braid.session import Session
from braid.wal.errors import OutcomeUnknownError

_ID: Final = "rev_5b1c09fd27ae"
_WRITES: Final = (ReadOnlyError, KeyRefusedError, OutcomeUnknownError)
_READS: Final = (ValueError, UnknownRecordError, ErasedError, ForgottenError, IntegrityError)
ReviewState = Literal["waiting", "accepted", "rejected"]
Side = Literal["one", "other"]
ReviewId = Annotated[str, Meta(min_length=1, description="A pair of claims, as the list names it.")]
Reason = Annotated[str, Meta(min_length=1, description="Why; it stays in the log.")]


class ListReviews(Scoped, frozen=True, kw_only=True):
    """Of which scope; `state`: None for all."""

    state: ReviewState | None = "waiting"


class Disputed(msgspec.Struct, frozen=True, kw_only=True):
    """One of two claims: the record that makes it, what it says, who says it, and when that was."""

    id: RecordId
    says: str
    voices: tuple[str, ...]
    said: datetime
    confidence: float


class ReviewItem(Response, frozen=True, kw_only=True):
    """Two claims that exclude each other, `other` said after `one`, and why nothing decides.

    `decided`: the record that accepted one of them, or rejected the question.
    """

    id: str
    one: Disputed
    other: Disputed
    why: str
    state: ReviewState
    decided: RecordId | None = None


class Reviews(Response, frozen=True, kw_only=True):
    """What is marked, in the order in which it was said."""

    reviews: tuple[ReviewItem, ...]


@operation(
    ListReviews,
    Reviews,
    access="read",
    cost="log",
    pages="reviews",
    page_key=("id",),
    returns="reviews",
    example=ListReviews(user_id="maya"),
    errors=(ValueError, IntegrityError),
)
def reviews(session: Session, asked: ListReviews) -> Reviews:
    """Return the living claims that exclude each other where neither source, time nor all voices decide.

    What a later word, a correction or a forget has settled is not among them.
    """
    from braid.memories.review import listed

    session.refresh()
    return Reviews(reviews=tuple(listed(session, asked, asked.state)))


class AskReview(Scoped, frozen=True, kw_only=True):
    """Which pair, in which scope."""

    id: ReviewId


@operation(
    AskReview,
    ReviewItem,
    access="read",
    cost="log",
    positional=("id",),
    example=AskReview(id=_ID, user_id="maya"),
    errors=_READS,
)
def review(session: Session, asked: AskReview) -> ReviewItem:
    """Return one pair of claims, whatever became of it. Raises ValueError where the scope has none of this id."""
    from braid.memories.review import found

    session.refresh()
    return found(session, asked, asked.id)


class AcceptReview(Scoped, frozen=True, kw_only=True):
    """Which pair, which of the two claims is right, and why."""

    id: ReviewId
    keep: Side
    reason: Reason


class ReviewDecision(Response, frozen=True, kw_only=True):
    """The record that settles a pair. `is_new`: whether it was appended now."""

    id: RecordId
    review: str
    state: ReviewState
    is_new: bool


@operation(
    AcceptReview,
    ReviewDecision,
    access="modify",
    reads=True,
    cost="log",
    repeatable=True,
    positional=("id",),
    example=AcceptReview(id=_ID, keep="other", reason="she told me", user_id="maya"),
    errors=(*_READS, *_WRITES),
)
def accept_review(session: Session, asked: AcceptReview) -> ReviewDecision:
    """Say which of two claims is right: a signed correction that rests on it and takes the other's say.

    Again appends nothing; forgetting the record asks again. Raises ValueError for what was rejected, and for a claim
    that is an agent's word, which corrects nobody; AccessDeniedError where a program asks.
    """
    from braid.memories.review import accept

    session.refresh()
    return accept(session, asked)


class RejectReview(Scoped, frozen=True, kw_only=True):
    """Which pair need not be asked about again, and why."""

    id: ReviewId
    reason: Reason


@operation(
    RejectReview,
    ReviewDecision,
    access="modify",
    reads=True,
    cost="log",
    repeatable=True,
    positional=("id",),
    example=RejectReview(id=_ID, reason="both are right", user_id="maya"),
    errors=(*_READS, *_WRITES),
)
def reject_review(session: Session, asked: RejectReview) -> ReviewDecision:
    """Say that a pair is not to be asked about again, by a signed event: both claims stay as they are.

    Again appends nothing; forgetting the event asks again. Raises ValueError for what was accepted;
    AccessDeniedError where a program asks.
    """
    from braid.memories.review import reject

    session.refresh()
    return reject(session, asked)
