"""What changes a memory, what would be forgotten, and how a memory came to be what it is."""

from datetime import datetime
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

import braid.memories.list_operations  # pyright: ignore[reportUnusedImport]  # declares its own
import braid.memories.remember_operations  # pyright: ignore[reportUnusedImport]  # declares its own
import braid.memories.review_operations  # noqa: F401  # pyright: ignore[reportUnusedImport]  # declares its own
from braid.errors import ConfirmationError, VersionConflictError
from braid.ledger.errors import (
    ErasedError,
    ForgottenError,
    IdempotencyConflictError,
    IntegrityError,
    InvalidRecordError,
    KeyRefusedError,
    NoVaultError,
    ReadOnlyError,
    UnknownRecordError,
)
from braid.ledger.record.ids import RecordId
from braid.operation import Id, IdempotencyKey, Index, Json, Name, Request, Response, Scoped, operation
from braid.search.question import refuse_empty
from braid.session import Session
from braid.stance.proposal import Action
from braid.wal.errors import OutcomeUnknownError

_ID: Final = RecordId("exp_2025-05-17T09:00:00Z_0000000300ab")
_WRITES: Final = (InvalidRecordError, KeyRefusedError, ReadOnlyError, OutcomeUnknownError)
_READS: Final = (UnknownRecordError, ErasedError, ForgottenError, IntegrityError, NoVaultError)
MOST_SHOWN: Final = 100
"""How many memories one preview shows, and so how many are forgotten at once at most."""

Reason = Annotated[str, Meta(min_length=1, description="Why; it stays in the history.")]
Version = Annotated[int, Meta(ge=1, description="How often a memory had changed, and one.")]


class Modify(Request, frozen=True, kw_only=True):
    """What changes in a memory, and why; what isn't given stays as it is.

    `id`: any record of its chain of corrections. `pinned`: it is not forgotten without force. `importance` in [0, 1]
    lifts or lowers it in recall; .5 does neither. `lock_days`: for so long no agent changes or forgets it, but a person
    or an operator; 0 lifts that. `if_version`: only where it still has this version.
    """

    id: Id
    reason: Reason
    text: str | None = None
    tags: tuple[Name, ...] | None = None
    pinned: bool | None = None
    importance: Annotated[float, Meta(ge=0, le=1)] | None = None
    lock_days: Annotated[int, Meta(ge=0, le=3650)] | None = None
    if_version: Version | None = None
    idempotency_key: IdempotencyKey | None = None


class Modified(Response, frozen=True, kw_only=True):
    """The record that says so, and the memory's version with it. `known`: a key said that it was done already."""

    id: RecordId
    index: int
    version: int
    known: bool = False


@operation(
    Modify,
    Modified,
    access="modify",
    cost="index",
    repeatable=False,
    positional=("id",),
    example=Modify(id=_ID, text="Maya moved to Lisbon.", reason="misheard"),
    errors=(*_READS, *_WRITES, VersionConflictError, IdempotencyConflictError),
)
def modify(session: Session, asked: Modify) -> Modified:
    """Change a memory: another text or other tags are a record in its place, all else an event that targets it.

    Checked and appended in one turn of the writer. Raises VersionConflictError where it has changed since `if_version`,
    ForgottenError where nothing of it is living, InvalidRecordError where nothing would change.
    """
    from braid.memories.change import modify as change

    return change(session, asked)


class ModifyAll(Request, frozen=True, kw_only=True):
    """Changes of several memories, each on its own."""

    changes: Annotated[tuple[Modify, ...], Meta(min_length=1, max_length=MOST_SHOWN)]


class Outcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one change: `done`, or the class and the message of what stood against it."""

    asked: str
    done: Modified | None = None
    error: str | None = None
    message: str | None = None


class ModifiedAll(Response, frozen=True, kw_only=True):
    """What became of each change, in the order of the request."""

    outcomes: tuple[Outcome, ...]


@operation(
    ModifyAll,
    ModifiedAll,
    access="modify",
    cost="index",
    repeatable=False,
    apart=True,
    positional=("changes",),
    returns="outcomes",
    example=ModifyAll(changes=(Modify(id=_ID, pinned=True, reason="she asked to keep it"),)),
    errors=(IntegrityError, NoVaultError, ReadOnlyError, OutcomeUnknownError),
)
def modify_all(session: Session, asked: ModifyAll) -> ModifiedAll:
    """Change several memories, each wholly or not at all; one that can't be changed stops no other."""
    from braid.memories.change import modify_all as change_all

    return ModifiedAll(outcomes=tuple(change_all(session, asked.changes)))


class History(Request, frozen=True, kw_only=True):
    """Whose history is asked for: any record of a memory's chain; `as_of`: with this record as the log's newest."""

    id: Id
    as_of: Index | None = None


ChangeKind = Literal["ADD", "UPDATE", "DELETE", "RECOVER", "ERASE", "MERGE", "NONE"]


class Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change of a memory, by record `id`. `old` and `new`: its text; None where it is gone, or stayed the same.

    `version`: the memory's, with this change. `by`: whose key signed; `asked_by`: who asked for it, through a server;
    `method`, `model`: what made the new text, where that was no person. `session_id`: of the record's scope; a
    tombstone has none. `correlation_id`: the first record of the call that set it going, as in `audit_trail`; where
    that is another's, the change's own.
    """

    change: ChangeKind
    id: RecordId
    index: int
    at: datetime
    version: int
    record: RecordId
    """The record of the memory that it is about."""
    old: str | None = None
    new: str | None = None
    settings: dict[str, Json] = {}
    reason: str | None = None
    actor: str | None = None
    name: str | None = None
    by: str | None = None
    asked_by: str | None = None
    method: str | None = None
    model: str | None = None
    confidence: float | None = None
    session_id: str | None = None
    correlation_id: RecordId | None = None
    path: str | None = None
    """By which way of a harness it came (SPEC §24)."""
    decided: str | None = None
    """Of a row `MERGE`: what was decided of names, `merge`, `alias`, `apart`, `split`, `retract`; or what was done to
    such a decision, `forget`, `recover`. `old` and `new` are the names that meant one before, and since."""
    proposed: Action | None = None
    """What the rules would do where nothing is carried out, of a row that no record says: `id` is of the claim that
    they would do it for."""


class MemoryHistory(Response, frozen=True, kw_only=True):
    """How a memory came to be what it is. `current`: the record that holds now, None where none does. `locked_until`:
    what was said last of it, though it is over.
    """

    current: RecordId | None
    version: int
    pinned: bool
    importance: float
    locked_until: datetime | None = None
    changes: tuple[Change, ...]


@operation(
    History,
    MemoryHistory,
    access="read",
    cost="index",
    pages="changes",
    page_key=("id", "change"),
    positional=("id",),
    example=History(id=_ID),
    errors=(UnknownRecordError, IntegrityError, NoVaultError, InvalidRecordError),
)
def history(session: Session, asked: History) -> MemoryHistory:
    """Return every change of a memory in the order of the log: added, updated, deleted, recovered, erased.

    `MERGE` is what was decided of a name that it says; of a name that more than 200 turns had said by then, only the
    newest have the row. `NONE` is a time that nothing was added, since it says the same already. In the phases `shadow`
    and `add_only` there is a row `NONE`, too, for what the rules would do about what it claims: `proposed` says what.

    It follows from signed records alone, so it can't be incomplete. What is forgotten or erased has no text here.
    Raises InvalidRecordError for what is no memory, UnknownRecordError.
    """
    from braid.memories.history import told

    return told(session, asked)


class PreviewForget(Scoped, frozen=True, kw_only=True):
    """Which memories are meant, by what they say.

    `match`: `topic`, what has every telling word of the query; `words`, of those only what says it word for word, where
    the query states something and a memory does; `meaning`, all that recall finds, best first.
    `filters` as for `recall`. `limit`: at most so many are shown, and forgotten.
    """

    query: Annotated[str, Meta(min_length=1)]
    match: Literal["words", "topic", "meaning"] = "words"
    filters: dict[str, Json] | None = None
    limit: Annotated[int, Meta(ge=1, le=MOST_SHOWN)] = 20


class Meant(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory that would be forgotten; a pinned one is shown and stays."""

    id: RecordId
    version: int
    text: str
    score: float
    pinned: bool = False


class Preview(Response, frozen=True, kw_only=True):
    """What would be forgotten, and the token that does it until `expires_at`.

    `falls`: how many records would go with them. `confirm`: how many memories whoever forgets must say that they are;
    None where the token is enough. `more`: whether more were found than the limit. `near`: none of them says word for
    word what was stated, so it takes their ids, or their number, to forget them.
    """

    token: str
    expires_at: datetime
    memories: tuple[Meant, ...]
    falls: int
    confirm: int | None
    more: bool
    near: bool = False


@operation(
    PreviewForget,
    Preview,
    access="forget",
    reads=True,
    cost="index",
    repeatable=True,
    positional=("query",),
    example=PreviewForget(query="Porto", user_id="maya"),
    errors=(IntegrityError, NoVaultError, InvalidRecordError),
)
def preview_forget(session: Session, asked: PreviewForget) -> Preview:
    """Return which memories would be forgotten, each with its version, and a token that forgets just these.

    Nothing is changed. Only an operator may leave every scope id out. Raises AccessDeniedError, and InvalidRequestError
    for an empty query.
    """
    from braid.memories.forgetting import preview

    refuse_empty(asked.query)
    return preview(session, asked)


class ForgetPreviewed(Scoped, frozen=True, kw_only=True):
    """The token of a preview, in the scope of the preview, and why. `ids`: of those shown only these."""

    token: Annotated[str, Meta(min_length=1)]
    reason: Reason
    ids: tuple[Id, ...] | None = None
    confirm: Annotated[int, Meta(ge=1)] | None = None


SkippedWhy = Literal["changed", "pinned", "forgotten", "erased"]


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that was shown and not forgotten, and why."""

    id: RecordId
    why: SkippedWhy


class Forgotten(Response, frozen=True, kw_only=True):
    """What was forgotten. `tombstone`: the record that says so, None where nothing was left to forget."""

    tombstone: RecordId | None
    forgotten: tuple[RecordId, ...]
    skipped: tuple[Skipped, ...]


@operation(
    ForgetPreviewed,
    Forgotten,
    access="forget",
    cost="index",
    repeatable=False,
    positional=("token",),
    example=ForgetPreviewed(token="…", reason="she asked for it", user_id="maya"),  # noqa: S106 - none
    errors=(ConfirmationError, UnknownRecordError, IntegrityError, NoVaultError, *_WRITES),
)
def forget_previewed(session: Session, asked: ForgetPreviewed) -> Forgotten:
    """Forget the memories that a preview has shown and that are still what was shown; name those that are not.

    What a correction replaced is forgotten with it, so nothing of the memory stands again. Raises ConfirmationError for
    a token that is not this caller's, of another scope, expired or altered, and where more than ten, or what only
    comes near, are forgotten without saying how many.
    """
    from braid.memories.forgetting import forget_shown

    return forget_shown(session, asked)
