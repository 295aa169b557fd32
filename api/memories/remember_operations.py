"""What is remembered: words that are durable first, and then read, by the caller or by a job."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

import msgspec
from msgspec import Meta

from braid.caller import as_said_by, asking
from braid.event_log import note
from braid.ledger.errors import (
    IdempotencyConflictError,
    InvalidRecordError,
    KeyRefusedError,
    ReadOnlyError,
)
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import Draft, ExperienceBody
from braid.log import drafts
from braid.operation import IdempotencyKey, Json, Name, Response, Scoped, operation
from braid.providers.budget import Budgets
from braid.session import Session
from braid.settings import Mode, settings
from braid.wal.errors import OutcomeUnknownError
from braid.wal.failpoint import failpoint

if TYPE_CHECKING:
    from braid.ledger.write.sequence import Placed

MOST_MS: Final = 60_000
Status = Literal["processed", "queued", "raw_saved"]


class Remember(Scoped, frozen=True, kw_only=True):
    """Chat messages `{role, content, timestamp?, name?, id?, metadata?}`, or plain text that the user said. `content`:
    text, or parts `{type: "text", text}`, which are joined by line feeds.

    `mode`: `auto` reads what they state for up to 2 s, `sync` for up to 30 s, `async` leaves it to a job; else as
    `remember_mode` is set. `pipeline_timeout_ms` is another limit. `raw`: the words are kept, and nothing is ever read
    of them. `learn` false: nothing is read of them now. `tags` are those of each message.
    """

    messages: str | dict[str, Json] | tuple[str | dict[str, Json], ...]
    metadata: dict[str, Json] | None = None
    tags: tuple[Name, ...] = ()
    idempotency_key: IdempotencyKey | None = None
    learn: bool = True
    mode: Mode | None = None
    pipeline_timeout_ms: Annotated[int, Meta(ge=1, le=MOST_MS)] | None = None
    raw: bool = False


class Remembered(Response, frozen=True, kw_only=True):
    """The ids of the messages, in order; it is also a sequence of them. `memory_id`: the first of them.

    `status`: `processed`, all of it was read; `queued`, the job `job_id` reads it; `raw_saved`, the words are kept and
    were not read. `warnings`: why not, and what else you may not expect, in plain words.
    """

    ids: tuple[RecordId, ...]
    memory_id: RecordId | None = None
    status: Status = "processed"
    job_id: str | None = None
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[RecordId]:
        return iter(self.ids)

    def __getitem__(self, place: int) -> RecordId:
        return self.ids[place]


@operation(
    Remember,
    Remembered,
    access="write",
    cost="index",
    positional=("messages",),
    example=Remember(messages=({"role": "user", "content": "I moved to Porto."},), user_id="maya"),
    errors=(
        InvalidRecordError,
        KeyRefusedError,
        ReadOnlyError,
        OutcomeUnknownError,
        IdempotencyConflictError,
    ),
)
def remember(session: Session, asked: Remember) -> Remembered:
    """Append chat messages as one transaction; what they state is then read, outside every lock, or queued.

    One message outside a session is a memory: where a living one of the same scope says the same, that is answered, and
    its history has a `NONE`. Turns of a session stay apart. An unknown member of a message, and a user's message that
    says nothing, are refused (InvalidRecordError): then none is appended. With an `idempotency_key`, repeating the call
    adds nothing; with other messages it raises IdempotencyConflictError.
    """
    from braid.memories.duplicate import append_once
    from braid.memories.pipeline import read_or_queue

    batch = _drafts(asked)
    if not batch:
        return Remembered(ids=())
    try:
        if len(batch) == 1 and not (batch[0].body.scope and batch[0].body.scope.session_id):
            placed = [append_once(session, batch[0])]
        else:
            placed = session.append_drafts(batch, held=len(batch))
    except IdempotencyConflictError as error:  # by the key that was given, not by that of a message
        raise IdempotencyConflictError(asked.idempotency_key or error.key, error.id, error.unlike) from None
    ids, behind = tuple(one.id for one in placed), max(one.index for one in placed) + 1
    failpoint("remember.saved")
    warned = (
        *_whose_words(batch),
        *_warnings(session, placed, asked.tags),
        *Budgets(session).warnings(session.now()),
    )
    if asked.raw or not asked.learn:
        return Remembered(ids=ids, memory_id=ids[0], status="raw_saved", warnings=warned)
    mode = asked.mode or settings(session).remember_mode
    read = read_or_queue(session, mode, asked.pipeline_timeout_ms, behind)
    note("remembered", memory_id=ids[0], job_id=read.job_id, stage="remember", outcome=read.status)
    return Remembered(
        ids=ids, memory_id=ids[0], status=read.status, job_id=read.job_id, warnings=(*warned, *read.warnings)
    )


def _whose_words(batch: "Sequence[Draft]") -> tuple[str, ...]:
    """Return a warning where a user's words are kept as an agent's, since whoever asks speaks for no owner."""
    caller = asking()
    lowered = any(one is not said for one, said in zip(as_said_by(caller, batch), batch, strict=True))
    if caller is None or not lowered:
        return ()
    return (
        f"what the role user says is kept as an agent's words: {caller.name} is of kind {caller.kind}, which speaks "
        "for no person; give what brings a person's turns a token of kind person",
    )


def _warnings(session: Session, placed: "Sequence[Placed]", tags: tuple[str, ...]) -> tuple[str, ...]:
    if any(one.index in session.reader.control.hidden for one in placed):
        return (_FORGOTTEN,)
    if tags and len(placed) == 1 and placed[0].known:
        body = session.reader.at(placed[0].index).body
        if isinstance(body, ExperienceBody) and set(tags) - set(body.tags):
            return (_OTHER_TAGS,)
    return ()


_OTHER_TAGS: Final = "a memory that says the same is there, with other tags: `modify` gives it these"
_FORGOTTEN: Final = "what this key names is forgotten: recover it, or use another key to say it anew"


def _drafts(asked: Remember) -> list[Draft]:
    """Return the drafts of the messages. Raises InvalidRecordError, which names the message."""
    several = asked.messages if isinstance(asked.messages, tuple) else (asked.messages,)
    within = drafts.scope_of(asked)
    batch: list[Draft] = []
    for place, said in enumerate(several):
        key = None if asked.idempotency_key is None else f"{asked.idempotency_key}#{place}"
        try:
            one = drafts.message(said, within, asked.metadata or {}, key)
        except InvalidRecordError as error:
            if isinstance(asked.messages, tuple):
                raise InvalidRecordError(f"message {place + 1}: {error}") from None
            raise
        body = cast("ExperienceBody", one.body)
        body = msgspec.structs.replace(body, raw=True if asked.raw else body.raw, tags=list(asked.tags))
        batch.append(msgspec.structs.replace(one, body=body))
    return batch
