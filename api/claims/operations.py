"""What is held of what was said: stances, why they hold, and which claims exclude each other."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

import msgspec

import braid.claims.decision_operations  # noqa: F401  # pyright: ignore[reportUnusedImport]  # declares its own
from braid.ledger.errors import (
    ErasedError,
    ForgottenError,
    IntegrityError,
    ReadOnlyError,
    UnknownRecordError,
)
from braid.ledger.record.source import BELIEVED, SourceClass
from braid.log import drafts
from braid.operation import Id, Instant, Request, Response, Scoped, ScopedAsOf, operation
from braid.session import Session
from braid.stance.reason import Reason, lines
from braid.wal.errors import OutcomeUnknownError

Question = Annotated[str, msgspec.Meta(min_length=1, description="A question in plain words.")]


class AskStance(ScopedAsOf, frozen=True, kw_only=True):
    """What is held of a question. `at`: when it should hold; else what the question says, else now.

    `trust`: the lowest source class that is believed; with another than `tool` nothing is appended.
    """

    question: Question
    at: Instant | None = None
    append: bool = True
    trust: SourceClass = BELIEVED


class Choice(Response, frozen=True, kw_only=True):
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


class Stance(Response, frozen=True, kw_only=True):
    """What is held of a question at an instant. `id` is None for one that isn't in the log.

    `claim` is None while it is undecided, and `undecided` says why. Uncertainty in [0, 1]; `support` is record ids.
    """

    question: str
    at: datetime
    claim: str | None
    undecided: str | None
    residual_uncertainty: float
    candidates: tuple[Choice, ...]
    support: tuple[str, ...]
    would_change: tuple[str, ...]
    id: str | None = None
    decided_at: datetime | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    is_new: bool = False
    """Whether it was appended now."""


@operation(
    AskStance,
    Stance,
    access="write",
    reads=True,
    cost="index",
    repeatable=True,
    positional=("question",),
    example=AskStance(question="Where does Maya live?", user_id="maya", append=False),
    errors=(ValueError, ReadOnlyError, IntegrityError, OutcomeUnknownError),
)
def stance(session: Session, asked: AskStance) -> Stance:
    """Return what is held of a question: one claim, or undecided, with what was weighed and what would change it.

    Appends the stance and the reconciliation that it is, superseding the stance before; where nothing that was weighed
    has changed, returns that one. With `append` false nothing is written. Method: justified truth maintenance and a
    Bayesian pool over independent sources (SPEC §11). Raises ValueError for a question that says nothing.
    """
    from braid.claims.decision import decide

    session.refresh()
    if asked.append:
        _ = session.writer
    scope = drafts.scope_of(asked)
    return decide(
        session, asked.question, scope, at=asked.at, as_of=asked.past, append=asked.append, trust=asked.trust
    )


class StanceHistory(Scoped, frozen=True, kw_only=True):
    """Of which question the stances are asked for; of every one, without it."""

    question: Question | None = None


class Stances(Response, frozen=True, kw_only=True):
    """Stances, oldest first."""

    stances: tuple[Stance, ...]


@operation(
    StanceHistory,
    Stances,
    access="read",
    cost="index",
    pages="stances",
    table="stances",
    page_key=("id",),
    positional=("question",),
    returns="stances",
    example=StanceHistory(question="Where does Maya live?", user_id="maya"),
    errors=(IntegrityError,),
)
def stances(session: Session, asked: StanceHistory) -> Stances:
    """Return the stances on a question, or on every one, oldest first, each with what superseded it."""
    from braid.claims.decision import history

    session.refresh()
    scope = drafts.scope_of(asked)
    return Stances(stances=tuple(history(session, asked.question, scope)))


class Why(Request, frozen=True, kw_only=True):
    """A stance, or a record that claims something."""

    id: Id


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """Whose words a thing stands on: a record at first hand, its source class, who it is from, and whose key signed."""

    id: str
    source_class: SourceClass
    actor: str | None = None
    name: str | None = None
    key: str


class Explanation(Response, frozen=True, kw_only=True):
    """Why a stance holds what it holds, or why the claims of a record stand or don't.

    `unclaimed`: why there are no reasons, where the record claims nothing; `by`: the record that ended its claims.
    `source_class`: the lowest of the `words` that it stands on; None where these can't be read any more.
    """

    id: str
    kind: str
    says: str
    reasons: tuple[Reason, ...]
    would_change: tuple[str, ...] = ()
    source_class: SourceClass | None = None
    words: tuple[Words, ...] = ()
    unclaimed: str | None = None
    by: str | None = None

    def lines(self) -> Iterator[str]:
        """Yield it as an indented tree."""
        yield self.says
        for one in self.words:
            who = f"{one.name} ({one.actor})" if one.name else one.actor or "a record"
            yield f"in the words of {who}, class {one.source_class}, signed by {one.key}  {one.id}"
        for reason in self.reasons:
            yield from lines(reason, "  ")
        for change in self.would_change:
            yield f"what would change it: {change}"
        if self.unclaimed is not None:
            yield f"it {self.unclaimed}{f'  {self.by}' if self.by else ''}"


@operation(
    Why,
    Explanation,
    access="read",
    cost="index",
    positional=("id",),
    example=Why(id="exp_2025-05-17T09:00:00Z_0000000300ab"),
    errors=(ValueError, UnknownRecordError, ErasedError, ForgottenError, IntegrityError),
)
def why(session: Session, asked: Why) -> Explanation:
    """Return why a stance holds what it holds, or why what a record claims stands or doesn't, down to records.

    Of a record that claims nothing it says so (`unclaimed`). Raises ValueError for one that can't claim anything, such
    as a tombstone, and as `get`.
    """
    from braid.claims.explanation import explained

    session.refresh()
    return explained(session, asked.id)


class FindContradictions(ScopedAsOf, frozen=True, kw_only=True):
    """Among which claims. `at`: only those that both hold then."""

    at: Instant | None = None


class Conflict(Response, frozen=True, kw_only=True):
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


class Contradictions(Response, frozen=True, kw_only=True):
    """Pairs of claims that exclude each other, in the order of the log."""

    conflicts: tuple[Conflict, ...]


@operation(
    FindContradictions,
    Contradictions,
    access="read",
    cost="log",
    pages="conflicts",
    page_key=("subject", "rel", "one_id", "other_id"),
    returns="conflicts",
    example=FindContradictions(user_id="maya"),
    errors=(ValueError, IntegrityError),
)
def contradictions(session: Session, asked: FindContradictions) -> Contradictions:
    """Return claims that exclude another while both hold, each with the one that came next: a chain, not every pair.

    With `at`, only those that both hold at that time. Without a scope all that is known is compared, of all
    memories; the view of SQL with this name compares what is of one owner and project.
    """
    from braid.claims.conflicts import conflicts

    session.refresh()
    scope = drafts.scope_of(asked)
    return Contradictions(conflicts=tuple(conflicts(session, scope, at=asked.at, as_of=asked.past)))
