"""What the other names ask and answer: the shapes of that API (`aliases` has the routes)."""

from datetime import datetime
from typing import Annotated, Literal

import msgspec

from braid.operation import IdempotencyKey, Instant, Response, ScopeId
from braid.operation import Request as Asked

_Scope = ScopeId | None


class RememberAlias(Asked, frozen=True, kw_only=True):
    """What is remembered; `raw` reads nothing out of it. Without a `mode` it is as the setting `remember_mode` says."""

    content: Annotated[str, msgspec.Meta(min_length=1)]
    mode: Literal["sync", "async", "auto"] | None = None
    raw: bool = False
    tags: tuple[str, ...] = ()
    idempotency_key: IdempotencyKey | None = None
    pipeline_timeout_ms: Annotated[int, msgspec.Meta(ge=1)] | None = None
    user_id: _Scope = None
    agent_id: _Scope = None
    run_id: _Scope = None
    project_id: _Scope = None
    session_id: _Scope = None


class ReasonAlias(Asked, frozen=True, kw_only=True):
    """Why; kept with the record."""

    reason: str | None = None


class DeleteAlias(ReasonAlias, frozen=True, kw_only=True):
    """Why; `force` forgets a pinned memory, too, which only an operator may."""

    force: bool = False


class PatchAlias(Asked, frozen=True, kw_only=True):
    """What changes in a memory; what isn't given stays as it is."""

    content: str | None = None
    tags: tuple[str, ...] | None = None
    importance: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    pinned: bool | None = None
    reason: str | None = None
    if_version: Annotated[int, msgspec.Meta(ge=1)] | None = None


class PatchOfAlias(PatchAlias, frozen=True, kw_only=True):
    """What changes in which memory."""

    id: str


class ModifyAlias(Asked, frozen=True, kw_only=True):
    """Changes of several memories."""

    patches: Annotated[tuple[PatchOfAlias, ...], msgspec.Meta(min_length=1, max_length=100)]


class ForgetAlias(Asked, frozen=True, kw_only=True):
    """What is forgotten: a preview finds candidates by `query` and the filters, and `execute` forgets.

    `who`: whose words, by name or actor. `source_type`: by which method they came. `since`, `until`: when they were
    written down. `execute` takes the `confirm_token` of a preview, and of its candidates all, or those in `ids`; or a
    few `ids` alone. `confirm`: how many are forgotten, where the preview asks for that.
    """

    query: str | None = None
    ids: tuple[str, ...] = ()
    type: str | None = None
    tags: tuple[str, ...] = ()
    who: str | None = None
    source_type: str | None = None
    since: Instant | None = None
    until: Instant | None = None
    mode: Literal["preview", "execute"] = "preview"
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 10
    reason: str | None = None
    confirm_token: str | None = None
    confirm: Annotated[int, msgspec.Meta(ge=1)] | None = None
    user_id: _Scope = None
    agent_id: _Scope = None
    run_id: _Scope = None
    project_id: _Scope = None
    session_id: _Scope = None


class RememberedAlias(Response, frozen=True, kw_only=True, omit_defaults=True):
    """What became of the text; `job_id` where it is read later."""

    memory_id: str | None
    status: str
    warnings: tuple[str, ...]
    job_id: str | None = None


class JobAlias(Response, frozen=True, kw_only=True):
    """How a job stands; `last_error` is a class, `next_retry` is when it is tried again."""

    id: str
    status: str
    attempts: int | None
    last_error: str | None
    next_retry: datetime | None


class EventAlias(Response, frozen=True, kw_only=True):
    """One change of a memory, and who made it."""

    event: str
    id: str
    version: int
    created_at: datetime
    actor_type: str | None
    actor_id: str | None
    old_content: str | None
    new_content: str | None
    method: str | None
    model: str | None
    reason: str | None
    session_id: str | None


class HistoryAlias(Response, frozen=True, kw_only=True):
    """Every change of a memory, in order."""

    memory_id: str
    version: int
    events: tuple[EventAlias, ...]


class ChangedAlias(Response, frozen=True, kw_only=True, omit_defaults=True):
    """A memory that was changed; `event_id` is the record that says so."""

    memory_id: str
    status: Literal["modified", "recovered", "forgotten"]
    event_id: str
    version: int | None = None


class ResultAlias(Response, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one change: the record that says so, or the class of what refused it and its message."""

    id: str
    success: bool
    event_id: str | None = None
    version: int | None = None
    error: str | None = None
    reason: str | None = None


class ResultsAlias(Response, frozen=True, kw_only=True):
    """What became of each change."""

    results: tuple[ResultAlias, ...]


class CandidateAlias(Response, frozen=True, kw_only=True):
    """A memory that could be forgotten, what it says, and how well it fits the query."""

    id: str
    text: str
    score: float


class ForgottenAlias(Response, frozen=True, kw_only=True, omit_defaults=True):
    """`candidates` of a preview; of an execution what was `forgotten`, and the record that says so.

    `confirm_token` forgets the candidates until `expires_at`; `confirm`: how many must be said with it. `skipped`: what
    has changed since, or is pinned.
    """

    candidates: tuple[CandidateAlias, ...] | None = None
    confirm_token: str | None = None
    confirm: int | None = None
    expires_at: datetime | None = None
    forgotten: tuple[str, ...] | None = None
    skipped: tuple[str, ...] | None = None
    event_id: str | None = None
