"""Turns of a conversation that a harness holds, taken in while it goes on; and which of its paths brings them.

A harness may reach a store by two paths: a plugin (tools that it calls) and hooks (commands that it starts). One of
them brings a session's turns. Which one is decided by who brings them, and each decision is an event of the log, whose
key is the session's and the number of the decision: two that decide at once find that the first has it (SPEC §24).
"""

import json
from typing import Final, Literal

import msgspec

from braid.errors import InvalidRequestError
from braid.isolation import key_of_asking
from braid.ledger.errors import BodyTooLargeError, InvalidRecordError, KeyRefusedError, ReadOnlyError
from braid.ledger.record.record import Draft, EventBody, Record, Scope
from braid.ledger.record.scope import SCOPES
from braid.ledger.record.validate import check_draft
from braid.ledger.write.compose import encode_body
from braid.log import drafts
from braid.log.operations import Append, kept_draft
from braid.operation import Index, Name, Response, Scoped, ScopeId, operation
from braid.session import Session
from braid.wal.errors import OutcomeUnknownError

RUNTIME_PATH: Final = "runtime_path"
"""The member of a captured turn that names its path, and the name of the event that decides for one."""
RuntimePath = Literal["plugin", "hook"]


class PathDecision(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """That a path has a session from here on. `number`: of the session's decisions, from 0."""

    number: Index
    reason: Name


class Capture(Scoped, frozen=True, kw_only=True):
    """Turns that a harness holds, each with its key. All are of the scope beside them, and of its `session`.

    `request`: at which of the harness's callbacks they are brought. `decision`: where the path has just taken over.
    `number`: of the decision that the turns come under.
    """

    harness: Name
    session: ScopeId
    runtime_path: RuntimePath
    request: Name
    decision: PathDecision | None = None
    number: Index = 0
    turns: tuple[Append, ...] = ()


class RefusedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that can't be a record: its place among those that were brought, and why."""

    place: int
    reason: str


class Captured(Response, frozen=True, kw_only=True):
    """How many turns are new, and how many were there. `runtime_path`: which path has the session, by the log."""

    taken: int
    known: int
    refused: tuple[RefusedTurn, ...] = ()
    runtime_path: RuntimePath


@operation(
    Capture,
    Captured,
    access="write",
    cost="record",
    repeatable=True,
    example=Capture(
        harness="claude-code",
        session="5e551010-0000-4000-8000-000000000001",
        runtime_path="hook",
        request="turn_end",
        decision=PathDecision(number=0, reason="the first that came"),
        turns=(Append(text="Why does it fail on empty input?", idempotency_key="5e551010#1"),),
        user_id="maya",
    ),
    errors=(InvalidRecordError, InvalidRequestError, KeyRefusedError, ReadOnlyError, OutcomeUnknownError),
)
def capture(session: Session, asked: Capture) -> Captured:
    """Append turns that a harness holds, as one transaction; one whose key is in the log is there already.

    Each says which path brought it. A turn that can't be a record is refused by its place, and the others go in. Raises
    InvalidRequestError for a turn without a key, or with a signer or a record that it would replace.
    """
    own = drafts.scope_of(asked) or Scope()
    within = own if own.session_id else msgspec.structs.replace(own, session_id=asked.session)
    key = key_of_asking(session, arbitration_key(asked.harness, asked.session, asked.number))
    path = _decided(session, asked, within)
    sound: list[Draft] = []
    refused: list[RefusedTurn] = []
    for place, turn in enumerate(asked.turns):
        draft = kept_draft(_captured(asked, turn, within, key))
        try:
            check_draft(draft, session.now())
            encode_body(draft)
        except (InvalidRecordError, BodyTooLargeError) as error:
            refused.append(RefusedTurn(place=place, reason=str(error)))
        else:
            sound.append(draft)
    placed = session.append_drafts(sound) if sound else []
    known = sum(one.known for one in placed)
    return Captured(taken=len(placed) - known, known=known, refused=tuple(refused), runtime_path=path)


def arbitration_key(harness: str, session: str, number: int) -> str:
    """Return the key of a session's decision: what two paths that decide at once meet at."""
    return json.dumps([harness, session, RUNTIME_PATH, number], ensure_ascii=False, separators=(",", ":"))


def _captured(asked: Capture, turn: Append, within: Scope | None, key: str) -> Append:
    """Return a turn as it is recorded: of the scope of all, with how it came here; `key`: of the decision."""
    if not turn.idempotency_key:
        raise InvalidRequestError(
            "capture: a turn needs the key by which it is known when it is brought again"
        )
    if turn.signer or turn.supersedes or turn.parents:
        raise InvalidRequestError("capture: a turn is only what was said: it names no signer and no record")
    came = {
        "harness": asked.harness,
        RUNTIME_PATH: asked.runtime_path,
        "arbitration_key": key,
        "request": asked.request,
    }
    ids = {name: getattr(within, name) for name in SCOPES}
    return msgspec.structs.replace(
        turn, method="capture", structured={**(turn.structured or {}), "capture": came}, **ids
    )


def _decided(session: Session, asked: Capture, within: Scope | None) -> RuntimePath:
    """Append the decision where there is one, and return which path the log gives the session to."""
    if asked.decision is None:
        return asked.runtime_path
    data = {
        "harness": asked.harness,
        "session": asked.session,
        RUNTIME_PATH: asked.runtime_path,
        "reason": asked.decision.reason,
    }
    key = key_of_asking(session, arbitration_key(asked.harness, asked.session, asked.decision.number))
    body = EventBody(name=RUNTIME_PATH, data=data, scope=within, once=key)
    (placed,) = session.append_drafts([Draft(kind="event", body=body)])
    return _path_of(session.reader.at(placed.index)) if placed.known else asked.runtime_path


def _path_of(record: Record) -> RuntimePath:
    body = record.body
    found = body.data.get(RUNTIME_PATH) if isinstance(body, EventBody) else None
    return "plugin" if found == "plugin" else "hook"
