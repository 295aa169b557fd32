"""REALTALK (Lee et al., 2025): one conversation of two people over weeks, as a JSON document.

`{"name": {"speaker_1", "speaker_2"}, "session_1": [{"clean_text", "speaker", "date_time", "dia_id"}, …], …}`.
Each turn is a message: role `user`, `name` the speaker, session `<conversation>/session_<N>`, external id
`<conversation>/<dia_id>`. Times (`29.12.2023, 15:23:45`) name no zone and are read as UTC. Annotations (`events_…`,
`qa`) are ignored. The document names no id: a hash of the speakers and the first turn stands for one.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from braid.tools.importers import fields, times
from braid.tools.importers.errors import Refused
from braid.tools.importers.message import Attachment, BadLine, Message, Read
from braid.tools.importers.source import ImportSource
from braid.tools.importers.split import MAX_PIECE_BYTES, pieces
from braid.tools.importers.strict import StrictJsonError, as_list, as_object, loads

_SPEAKERS = re.compile(rb'"name"\s*:\s*\{\s*"speaker_\d"')
_TURN = re.compile(rb'"clean_text"\s*:')
_SESSION = re.compile(r"session_([0-9]{1,6})")
_WHEN = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4}), (\d{1,2}):(\d\d):(\d\d)", flags=re.ASCII)


class RealtalkImporter(msgspec.Struct, frozen=True, kw_only=True):
    """Reads a REALTALK document (or a list of them), holding one conversation at a time."""

    max_bytes: int = MAX_PIECE_BYTES

    @property
    def name(self) -> str:
        return "realtalk"

    @property
    def shape(self) -> str:
        return 'a JSON document {"name": {"speaker_1", …}, "session_1": [{"clean_text", "speaker", …}], …}'

    def recognises(self, source: ImportSource) -> bool:
        """True if the head opens a JSON document and shows members that only REALTALK has."""
        head = source.head.lstrip()
        found = _SPEAKERS.search(head) or _TURN.search(head)
        return head[:1] in (b"{", b"[") and found is not None

    def source_id(self, source: ImportSource) -> str:
        """Always `realtalk`: each message carries its own conversation id, which stands for the source."""
        del source
        return "realtalk"

    def read(self, source: ImportSource) -> Read:
        """See `Importer.read`. The position in a `BadLine` is the turn's in the document, from 1."""
        for part in source.parts():
            with part.open() as stream:
                for piece in pieces(stream, limit=self.max_bytes):
                    try:
                        document = as_object(loads(piece.raw)) if piece.raw is not None else None
                    except StrictJsonError as error:
                        yield BadLine(piece.number, str(error))
                        continue
                    if document is None:
                        yield BadLine(piece.number, piece.reason or "not a conversation")
                    else:
                        yield from _turns(document, part.uri, source.opened_at)


def _turns(document: dict[str, object], origin: str, now: datetime) -> Read:
    sessions = list(_sessions(document))
    if not sessions:
        yield BadLine(1, "no sessions")
    first = next((turn for _, turns in sessions for turn in as_list(turns) or ()), None)
    digest = fields.hash_of([document.get("name"), first]).removeprefix("sha256:")
    ordinal = 0
    for number, found in sessions:
        turns = as_list(found)
        if turns is None:
            yield BadLine(ordinal + 1, f"session_{number}: not a list of turns")
        for turn in turns or ():
            try:
                message = _message(turn, f"realtalk-{digest[:16]}", number, origin, now)
                yield msgspec.structs.replace(message, ordinal=ordinal)
            except Refused as error:
                yield BadLine(ordinal + 1, f"session_{number}: {error}")
            ordinal += 1


def _sessions(document: dict[str, object]) -> Iterator[tuple[int, object]]:
    names = ((_SESSION.fullmatch(name), value) for name, value in document.items())
    yield from sorted(((int(match[1]), value) for match, value in names if match), key=lambda pair: pair[0])


def _message(turn: object, conversation: str, session: int, origin: str, now: datetime) -> Message:
    members = as_object(turn)
    if members is None:
        raise Refused("a turn is not an object")
    text = members.get("clean_text", members.get("text"))
    speaker, dia_id = fields.text(members, "speaker"), fields.text(members, "dia_id")
    if not isinstance(text, str) or speaker is None or dia_id is None:
        raise Refused('"clean_text", "speaker" and "dia_id" must be text')
    return Message(
        role="user",
        text=text,
        ordinal=0,
        source_uri=f"{origin}#{dia_id}",
        source_hash=fields.hash_of(members),
        occurred_at=_when(members.get("date_time"), now),
        name=speaker,
        session=f"{conversation}/session_{session}",
        conversation=conversation,
        external_id=f"{conversation}/{dia_id}",
        media=tuple(_media(members)),
        extra={"dia_id": dia_id},
    )


def _when(value: object, now: datetime) -> datetime | None:
    if value is None or value == "":
        return None
    match = _WHEN.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise Refused(f'"date_time" is not understood: {str(value)[:40]!r}')
    day, month, year, hour, minute, second = map(int, match.groups())
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError as error:
        raise Refused(f'"date_time" names no time: {match[0]!r}') from error
    return times.within(moment, now, match[0], '"date_time"')


def _media(members: dict[str, object]) -> Iterator[Attachment]:
    found = members.get("img_url", members.get("img_file"))
    caption = members.get("blip_caption")
    uris = [uri for uri in (as_list(found) or [found]) if isinstance(uri, str)]
    for place, uri in enumerate(uris):
        yield Attachment(
            kind="image", uri=uri, caption=caption if isinstance(caption, str) and not place else None
        )
