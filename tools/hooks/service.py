"""What is behind a hook: lines of a transcript become captured turns, and context is asked for. One way for all doors.

A server runs it for a hook; a hook without a server, and the tool of the plugin, run it themselves.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import msgspec

from braid.errors import InvalidRequestError
from braid.exchange.capture_operations import Capture, Captured, PathDecision, RuntimePath, capture
from braid.knowledge.briefing_operations import Briefing, briefing
from braid.ledger.errors import InvalidRecordError, UnknownRecordError
from braid.ledger.record.record import Source
from braid.ledger.record.scope import SCOPES
from braid.log.drafts import checked_key
from braid.log.operations import Append
from braid.refusal import refusal
from braid.search.operations import Context, context
from braid.text_budget import MODEL_BYTES, most_tokens
from braid.tools.cli.sources import speaker_of, structured_of
from braid.tools.importers.claude_code import Transcript
from braid.tools.importers.message import BadLine, Message

if TYPE_CHECKING:
    from braid.door import Door

_SOURCE: Final = "claude-code"
_CALLS: Final = 64
"""How many tool calls whose results are still to come are handed on to the next reading."""
_REFUSED: Final = 5
"""How many lines that could not be recorded are named; the rest is counted."""
_RECORD: Final = re.compile(r"[a-z]+_\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ_[0-9a-v]{12}", re.ASCII)
_OURS: Final = re.compile(r"<experience_context\b.*?</experience_context>\s*", re.DOTALL)
"""Context that a hook gave comes back in the transcript: it is no turn of anybody's."""


class HookHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What stands in front of the lines. `line`: the number of the first in its file, from 0."""

    harness: str
    session: str
    runtime_path: RuntimePath
    request: str
    number: int = 0
    reason: str | None = None
    ids: dict[str, str] = {}
    transcript: str = ""
    line: int = 0
    calls: dict[str, str] = {}
    want: str = ""
    prompt: str = ""
    budget: Annotated[int, msgspec.Meta(le=most_tokens(MODEL_BYTES))] = 800


class HookReply(msgspec.Struct, frozen=True, kw_only=True):
    """What was done: turns that are new in the log, and that were there; lines that are no records; the context."""

    taken: int
    known: int
    refused: tuple[str, ...]
    calls: Mapping[str, str]
    runtime_path: str
    context: str


def parsed(body: bytes) -> tuple[HookHeader, bytes]:
    """Return a request's header and lines. Raises InvalidRequestError for what no hook sends."""
    first, _, lines = body.partition(b"\n")
    try:
        return msgspec.json.decode(first, type=HookHeader), lines
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidRequestError(f"hook: {refusal(str(error), HookHeader)}") from None


def answered(door: "Door", header: HookHeader, lines: bytes) -> HookReply:
    """Capture the turns in some lines and return what was done, with the context that was asked for."""
    reader = Transcript(
        Path(header.transcript).absolute().as_uri() if header.transcript else "transcript:",
        Path(header.transcript).name,
        datetime.now(UTC),
        header.calls,
    )
    turns, refused = _read(reader, header, lines)
    taken = known = 0
    path: str = header.runtime_path
    if turns or header.reason is not None:
        done = _captured(door, header, [turn for _, turn in turns])
        taken, known, path = done.taken, done.known, done.runtime_path
        refused += [f"{_place(header, turns[one.place][0])}: {one.reason}" for one in done.refused]
    try:
        told = _context(door, header)
    except Exception as error:  # what was captured is in the log all the same
        told = ""
        refused.append(f"no context was given: {type(error).__name__}: {error}")
    return HookReply(
        taken=taken,
        known=known,
        refused=_shortened(refused),
        calls=dict(list(reader.calls.items())[-_CALLS:]),
        runtime_path=path,
        context=told,
    )


def _read(reader: Transcript, header: HookHeader, lines: bytes) -> tuple[list[tuple[int, Append]], list[str]]:
    turns: list[tuple[int, Append]] = []
    refused: list[str] = []
    for number, line in enumerate(lines.split(b"\n"), header.line + 1):
        found = reader.turn(number, line) if line.strip() else None
        if isinstance(found, BadLine):
            refused.append(f"{_place(header, number)}: {found.reason}")
        elif found is not None and (turn := _turn(found)) is not None:
            turns.append((number, turn))
    return turns, refused


def _turn(message: Message) -> Append | None:
    """Return a turn as it is recorded; None where all of it is context that Braid itself gave."""
    actor, name = speaker_of(message)
    structured = structured_of(message)
    text = message.text
    is_input = actor in ("user", "system") or message.extra.get("isSidechain") is True
    if is_input and "<experience_context" in text:
        text = _OURS.sub("", text)
        structured.pop("parts", None)
        if not text.strip():
            return None
    return Append(
        text=text,
        actor=actor,
        name=name,
        sources=(Source(uri=message.source_uri, hash=message.source_hash),),
        structured=structured,
        external_id=message.external_id,
        occurred_at=message.occurred_at,
        idempotency_key=_key(message),
    )


def _key(message: Message) -> str:
    """Return by what a turn is known: a digest, where its own ids make no key that a caller may give."""
    key = message.key(_SOURCE)
    try:
        return checked_key(key)
    except InvalidRecordError:
        return f"{_SOURCE}:{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _request(header: HookHeader, turns: list[Append]) -> Capture:
    decision = None
    if header.reason is not None:
        decision = PathDecision(number=header.number, reason=header.reason)
    return Capture(
        harness=header.harness,
        session=header.session,
        runtime_path=header.runtime_path,
        request=header.request,
        number=header.number,
        decision=decision,
        turns=tuple(turns),
        **_scope(header),
    )


def _captured(door: "Door", header: HookHeader, turns: list[Append]) -> Captured:
    try:
        return door.call(capture, _request(header, turns))
    except UnknownRecordError:
        # A tool was given, or gave, the id of a record that isn't the caller's. The words are kept, the parts are not.
        return door.call(capture, _request(header, [_without_parts(turn) for turn in turns]))


def _without_parts(turn: Append) -> Append:
    structured = turn.structured or {}
    if _RECORD.search(json.dumps(structured)) is None:
        return turn
    kept = {
        name: value for name, value in structured.items() if name in ("parent", "model", "cwd", "version")
    }
    return msgspec.structs.replace(turn, structured=kept)


def _scope(header: HookHeader) -> dict[str, Any]:
    return {name: value for name, value in header.ids.items() if name in SCOPES}


def _context(door: "Door", header: HookHeader) -> str:
    if header.want == "briefing":
        asked = Briefing(budget=header.budget, besides=header.session, **_scope(header))
        return door.call(briefing, asked).text
    if header.want == "context" and header.prompt.strip():
        text = door.call(context, Context(query=header.prompt, budget=header.budget, **_scope(header))).text
        return text if "<memory " in text else ""
    return ""


def _place(header: HookHeader, number: int) -> str:
    return f"{Path(header.transcript).name}:{number}"


def _shortened(refused: list[str]) -> tuple[str, ...]:
    if len(refused) <= _REFUSED:
        return tuple(refused)
    return (*refused[:_REFUSED], f"and {len(refused) - _REFUSED} more lines")


def ask_door(door: "Door", header: dict[str, Any], lines: bytes) -> dict[str, Any]:
    """Answer a hook in this process: as `Lifecycle` asks, as a server answers."""
    reply = answered(door, *parsed(json.dumps(header).encode() + b"\n" + lines))
    return cast("dict[str, Any]", msgspec.to_builtins(reply))
