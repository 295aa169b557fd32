"""LoCoMo (Maharana et al., ACL 2024): one conversation object, or a list of them, as a JSON document.

Each turn is a message: role `user`, `name` the speaker, session `<sample_id>/session_<N>`, external id
`<sample_id>/<dia_id>`. All turns of a session carry the session's one time, read as UTC (the source names no
zone); `ordinal` keeps their order. Image captions become media. `query` (an image search that leaks content)
and all that lies outside `conversation` are ignored.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from braid.text.calendar import MONTHS
from braid.tools.importers.fields import hash_of
from braid.tools.importers.message import Attachment, BadLine, Message, Read
from braid.tools.importers.source import ImportSource
from braid.tools.importers.split import MAX_PIECE_BYTES, SplitElement, pieces
from braid.tools.importers.strict import StrictJsonError, as_list, as_object, loads

_MARKS = (
    re.compile(rb'"conversation"\s*:\s*\{'),
    re.compile(rb'"qa"\s*:\s*\[\s*\{\s*"question"'),
    re.compile(rb'"session_\d+"\s*:\s*\['),
)
_OF_REALTALK = re.compile(rb'"(?:clean_text|speaker_1)"\s*:')
_SESSION = re.compile(r"session_([0-9]{1,6})")
_WHEN = re.compile(r"(\d{1,2}):(\d\d) ([ap])m on (\d{1,2}) ([a-z]+), (\d{4})", flags=re.IGNORECASE | re.ASCII)
_NOON = 12


class LocomoImporter(msgspec.Struct, frozen=True, kw_only=True):
    """Reads a LoCoMo document, holding one conversation at a time: up to `max_bytes` each."""

    max_bytes: int = MAX_PIECE_BYTES

    @property
    def name(self) -> str:
        return "locomo"

    @property
    def shape(self) -> str:
        return 'a JSON document {"sample_id", "conversation": {"session_1": […], …}}, or a list of such'

    def recognises(self, source: ImportSource) -> bool:
        """True if the head opens a JSON document and shows a member that only LoCoMo has."""
        head = source.head.lstrip()
        return (
            head[:1] in (b"{", b"[")
            and any(mark.search(head) for mark in _MARKS)
            and _OF_REALTALK.search(head) is None
        )

    def source_id(self, source: ImportSource) -> str:
        """Always `locomo`: each message carries its own conversation id, which stands for the source."""
        del source
        return "locomo"

    def read(self, source: ImportSource) -> Read:
        """See `Importer.read`. The position in a `BadLine` is the turn's in the document, from 1."""
        for part in source.parts():
            line = 1
            with part.open() as stream:
                for piece in pieces(stream, limit=self.max_bytes):
                    for found in _sample(piece, part.uri, line):
                        yield found
                        line += 1


def _sample(piece: SplitElement, origin: str, line: int) -> Read:
    try:
        members = as_object(loads(piece.raw)) if piece.raw is not None else None
    except StrictJsonError as error:
        yield BadLine(line, str(error))
        return
    conversation = as_object(members.get("conversation")) if members is not None else None
    if members is None or conversation is None:
        yield BadLine(line, piece.reason or 'no "conversation" object')
        return
    reader = _Reader(sample_id=_sample_id(members, conversation), origin=origin)
    yield from reader.turns(conversation, line)


def _sample_id(members: dict[str, object], conversation: dict[str, object]) -> str:
    given = members.get("sample_id")
    if isinstance(given, str) and given:
        return given
    return f"locomo-{hash_of(conversation).removeprefix('sha256:')[:16]}"


class _Reader(msgspec.Struct, frozen=True, kw_only=True):
    """Reads one conversation."""

    sample_id: str
    origin: str

    def turns(self, conversation: dict[str, object], line: int) -> Read:
        """One item for each turn, or for a bad session, in order; `line` is the position of the first."""
        ordinal = 0
        for number, found in _sessions(conversation):
            turns = as_list(found)
            when = _when(conversation.get(f"session_{number}_date_time"))
            if turns is None or isinstance(when, str):
                why = when if isinstance(when, str) else "not a list of turns"
                yield BadLine(line, f"session_{number}: {why}")
                line += 1
                ordinal += len(turns or ())
                continue
            for turn in turns:
                message = self._turn(turn, ordinal, number, when)
                yield BadLine(line, message) if isinstance(message, str) else message
                line += 1
                ordinal += 1

    def _turn(self, turn: object, ordinal: int, number: int, when: datetime | None) -> Message | str:
        """The message of a turn, or why there is none."""
        where = f"session_{number}, turn {ordinal + 1}"
        members = as_object(turn)
        if members is None:
            return f"{where}: not an object"
        speaker, text, dia_id = members.get("speaker"), members.get("text"), members.get("dia_id")
        if not (isinstance(speaker, str) and isinstance(text, str) and isinstance(dia_id, str) and dia_id):
            return f'{where}: "speaker", "text" and "dia_id" must be text'
        return Message(
            role="user",
            text=text,
            ordinal=ordinal,
            source_uri=f"{self.origin}#{self.sample_id}/{dia_id}",
            source_hash=hash_of(members),
            occurred_at=when,
            name=speaker or None,
            session=f"{self.sample_id}/session_{number}",
            conversation=self.sample_id,
            external_id=f"{self.sample_id}/{dia_id}",
            media=_media(members),
            extra={"dia_id": dia_id},
        )


def _sessions(conversation: dict[str, object]) -> Iterator[tuple[int, object]]:
    """The sessions by number; a date without a session is passed over."""
    names = ((_SESSION.fullmatch(name), value) for name, value in conversation.items())
    yield from sorted(((int(match[1]), value) for match, value in names if match), key=lambda pair: pair[0])


def _when(value: object) -> datetime | str | None:
    """`1:56 pm on 8 May, 2023` as a time in UTC; None if absent; otherwise why it cannot be read."""
    if value is None:
        return None
    if not isinstance(value, str):
        return "its date is not text, its turns are left out"
    match = _WHEN.fullmatch(value.strip())
    name = match[5].lower() if match is not None else ""
    month = MONTHS.index(name) + 1 if name in MONTHS else None
    if match is None or month is None or not 1 <= int(match[1]) <= _NOON:
        return f"its date is not understood, its turns are left out: {value[:40]!r}"
    hour = int(match[1]) % _NOON + (_NOON if match[3].lower() == "p" else 0)
    try:
        return datetime(int(match[6]), month, int(match[4]), hour, int(match[2]), tzinfo=UTC)
    except ValueError as error:
        return f"its date names no time, its turns are left out: {error}"


def _media(members: dict[str, object]) -> tuple[Attachment, ...]:
    """One image for each address; the caption describes the first."""
    caption = members.get("blip_caption")
    found = members.get("img_url")
    uris = [uri for uri in (as_list(found) or [found]) if isinstance(uri, str)]
    if isinstance(caption, str):
        first = Attachment(kind="image", uri=uris[0] if uris else None, caption=caption)
        return (first, *(Attachment(kind="image", uri=uri) for uri in uris[1:]))
    return tuple(Attachment(kind="image", uri=uri) for uri in uris)
