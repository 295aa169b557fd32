"""Channels of Discord as DiscordChatExporter writes them: `{"guild", "channel", "messages": […], …}`, a file each.

A message is known by its channel and id; an answer's `parent` is the message it refers to; one that was edited
replaces what an older export said. Bots are tools; what is no talk (joins, pins, calls) is of the system. Avatars,
colours, reactions and pins are neither kept nor hashed. Files and stickers are told of by name and address, without
its query.
"""

import re
from datetime import datetime

import msgspec

from braid.tools.importers import fields, times
from braid.tools.importers.errors import Refused
from braid.tools.importers.message import Attachment, BadLine, Message, Read, Role
from braid.tools.importers.source import ImportSource, SourceFile
from braid.tools.importers.split import MAX_PIECE_BYTES, SplitElement, pieces
from braid.tools.importers.strict import StrictJsonError, as_object, loads

_MARK = re.compile(rb'\A\s*\{\s*"guild"\s*:\s*\{')
_CHANNEL = re.compile(rb'"channel"\s*:\s*\{')
_TALK = frozenset(
    {"Default", "Reply", "ThreadStarterMessage", "ApplicationCommand", "ChatInputCommand", "20", "23"}
)
_SAID = ("id", "type", "timestamp", "timestampEdited", "content", "reference")


class DiscordImporter(msgspec.Struct, frozen=True, kw_only=True):
    """Reads a channel's file, or a folder or zip of them, holding one message at a time."""

    max_bytes: int = MAX_PIECE_BYTES

    @property
    def name(self) -> str:
        return "discord"

    @property
    def shape(self) -> str:
        return 'DiscordChatExporter\'s JSON: {"guild", "channel", "messages": […]}, or a folder of such'

    def recognises(self, source: ImportSource) -> bool:
        """True if a head opens with a guild and a channel."""
        return source.shows("*.json", _looks_right)

    def source_id(self, source: ImportSource) -> str:
        """Always `discord`: each channel has an id of its own."""
        del source
        return "discord"

    def read(self, source: ImportSource) -> Read:
        """See `Importer.read`. The position in a `BadLine` is the message's in its channel."""
        for part in source.parts("*.json"):
            if source.is_tree and not _looks_right(part.head):
                continue
            about: dict[str, dict[str, object]] = {}
            with part.open() as stream:
                for piece in pieces(stream, within="messages", limit=self.max_bytes):
                    found = _piece(piece, part, about, source.opened_at)
                    if found is not None:
                        yield found


def _looks_right(head: bytes) -> bool:
    return _MARK.match(head) is not None and _CHANNEL.search(head) is not None


def _piece(
    piece: SplitElement, part: SourceFile, about: dict[str, dict[str, object]], now: datetime
) -> Message | BadLine | None:
    """A message; None for a member that stands beside them, which is noted in `about`."""
    try:
        if not piece.is_element and piece.name not in ("guild", "channel", "messages"):
            return None
        members = as_object(loads(piece.raw)) if piece.raw is not None else None
        if members is None:
            raise Refused(piece.reason or f'"{piece.name}" is not an object')
        if not piece.is_element:
            about[piece.name] = members
            return None
        return _message(members, piece.number, part, about, now)
    except (StrictJsonError, Refused) as error:
        return BadLine(piece.number, str(error), part.name)


def _message(
    members: dict[str, object],
    number: int,
    part: SourceFile,
    about: dict[str, dict[str, object]],
    now: datetime,
) -> Message:
    channel, guild = about.get("channel", {}), about.get("guild", {})
    where, id = fields.label(channel, "id"), fields.label(members, "id")
    if where is None:
        raise Refused('"channel" with its "id" must stand before "messages"')
    if id is None:
        raise Refused('no "id"')
    text = members.get("content")
    if not isinstance(text, str):
        raise Refused('"content" is not text')
    author = as_object(members.get("author")) or {}
    reference = as_object(members.get("reference")) or {}
    files = fields.objects(members.get("attachments"))
    kind = fields.label(members, "type") or "Default"
    return Message(
        role=_role(kind, author),
        text=text,
        ordinal=number - 1,
        source_uri=f"{part.uri}#{id}",
        source_hash=fields.hash_of(
            fields.only(members, *_SAID)
            | {"attachments": [fields.only(each, "id", "fileName") for each in files]}
        ),
        occurred_at=times.rfc3339(members.get("timestamp"), now),
        name=fields.text(author, "nickname") or fields.text(author, "name"),
        session=where,
        conversation=where,
        external_id=id,
        parent=fields.label(reference, "messageId"),
        revised=members.get("timestampEdited") is not None,
        says_edits=True,
        edited_at=times.rfc3339(members.get("timestampEdited"), now, '"timestampEdited"'),
        media=(*map(_file, files), *map(_sticker, fields.objects(members.get("stickers")))),
        extra={
            name: value
            for name, value in (
                ("guild", fields.text(guild, "name")),
                ("channel", fields.text(channel, "name")),
                ("user", fields.label(author, "id")),
                ("type", kind if kind != "Default" else None),
                ("embeds", members.get("embeds") or None),
            )
            if value is not None
        },
    )


def _role(kind: str, author: dict[str, object]) -> Role:
    if kind not in _TALK:
        return "system"
    return "tool" if author.get("isBot") is True else "user"


def _file(members: dict[str, object]) -> Attachment:
    uri = fields.text(members, "url")
    return Attachment(
        kind="file", uri=uri.partition("?")[0] if uri else None, name=fields.text(members, "fileName")
    )


def _sticker(members: dict[str, object]) -> Attachment:
    uri = fields.text(members, "sourceUrl")
    return Attachment(
        kind="sticker", uri=uri.partition("?")[0] if uri else None, name=fields.text(members, "name")
    )
