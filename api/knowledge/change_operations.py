"""What has changed: the log of each fact, from what it was to what it is, with whose words changed it."""

from typing import Annotated

import msgspec

from braid.claims.changed import KnowledgeChange
from braid.ledger.errors import IntegrityError, UnknownRecordError
from braid.ledger.record.ids import RecordId
from braid.log import drafts
from braid.operation import Id, Instant, Json, Request, Response, ScopedAsOf, operation
from braid.session import Session
from braid.views.errors import ViewError


class Changes(ScopedAsOf, frozen=True, kw_only=True):
    """Of what: a subject or object of claims, or what belongs to it; None: of all. `since`: changed no earlier."""

    topic: Annotated[str, msgspec.Meta(min_length=1, description="A subject or object of claims.")] | None = (
        None
    )
    since: Instant | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=100_000, description="How many at most, the latest.")] = 100


class ChangeLog(Response, frozen=True, kw_only=True):
    """The latest changes in the order in which they were said, of `count` that fit."""

    changes: tuple[KnowledgeChange, ...]
    count: int


@operation(
    Changes,
    ChangeLog,
    access="read",
    cost="index",
    pages="changes",
    page_key=("subject", "rel", "was", "now"),
    positional=("topic",),
    example=Changes(topic="Maya", user_id="maya"),
    errors=(ValueError, IntegrityError),
)
def changes(session: Session, asked: Changes) -> ChangeLog:
    """Return how what is known has changed: each claim that lost its say, the next that took it, and whose words did.

    A later word of the same voice, a correction and what outranks a guess change what is known (SPEC §19); two people
    who differ change nothing: see `contradictions`. What was forgotten or erased is in no change.
    """
    from braid.claims.changes import changes_of

    session.refresh()
    scope = drafts.scope_of(asked)
    found = changes_of(session, asked.topic, scope, as_of=asked.past)
    if asked.since is not None:
        found = [change for change in found if change.when >= asked.since]
    return ChangeLog(changes=tuple(found[-asked.limit :]), count=len(found))


class WhyChanged(Request, frozen=True, kw_only=True):
    """Which record: a memory, by any id of its chain, or what was read of one."""

    id: Id


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened to what is known: a row of the table `audit_trail` (docs/schema.md).

    `id`: the record that says so; `target`: what it was done to; `edge`: the claim, as record and place. `old` and
    `new` are None where nothing was, or where it is forgotten. `correlation_id`: the first record of what set it going.
    """

    at: Instant
    event: str
    component: str
    operation: str | None
    id: RecordId
    target: str | None
    edge: str | None
    entity: str | None
    old: dict[str, Json] | None
    new: dict[str, Json] | None
    confidence_before: float | None
    confidence_after: float | None
    mechanism: str | None
    reason: str | None
    details: dict[str, Json] | None
    correlation_id: str


class AuditTrail(Response, frozen=True, kw_only=True):
    """What happened, in the order of the log."""

    entries: tuple[AuditEntry, ...]


@operation(
    WhyChanged,
    AuditTrail,
    access="read",
    cost="index",
    positional=("id",),
    returns="entries",
    example=WhyChanged(id="exp_2025-05-17T09:00:00Z_0000000300ab"),
    errors=(UnknownRecordError, IntegrityError, ViewError),
)
def why_changed(session: Session, asked: WhyChanged) -> AuditTrail:
    """Return what happened to a memory and what was read of it: learnt, repeated, contradicted, corrected, forgotten.

    By the table `audit_trail`, which follows from the log; `history` has every change of the memory's words. Raises
    UnknownRecordError, and ViewError where the tables can't be asked.
    """
    from braid.knowledge.trail import trail_of

    session.refresh()
    return AuditTrail(entries=trail_of(session, asked.id))
