"""What has changed: the log of each fact, from what it was to what it is, with whose words changed it."""

from typing import Annotated

import msgspec

from braid.claims.changed import KnowledgeChange
from braid.ledger.errors import IntegrityError
from braid.log import drafts
from braid.operation import Instant, Response, ScopedAsOf, operation
from braid.session import Session


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
    scope = drafts.scope(asked.user_id, asked.agent_id, asked.run_id, asked.session_id)
    found = changes_of(session, asked.topic, scope, as_of=asked.past)
    if asked.since is not None:
        found = [change for change in found if change.when >= asked.since]
    return ChangeLog(changes=tuple(found[-asked.limit :]), count=len(found))
