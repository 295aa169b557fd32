"""Claude's data export: `conversations.json`, a list of conversations, each with its `chat_messages` in order.

The text is that of the text blocks, or the member `text` where there are none. Tool calls, their results and thoughts
stay as they are in `parts`; attachments keep the text that was extracted from them. The hash is over what was said,
by whom and when.
"""

import re
from datetime import datetime

import msgspec

from braid.tools.importers import fields, times
from braid.tools.importers.content import MessageContent, join
from braid.tools.importers.errors import Refused
from braid.tools.importers.message import Attachment, BadLine, Message, Read, Role
from braid.tools.importers.source import ImportSource, SourceFile
from braid.tools.importers.split import MAX_PIECE_BYTES, SplitElement, pieces
from braid.tools.importers.strict import StrictJsonError, as_list, as_object, loads

PATTERN = "conversations*.json"
_MARK = re.compile(rb'"chat_messages"\s*:\s*\[')
_ROLES: dict[str | None, Role] = {
    "human": "user",
    "user": "user",
    "assistant": "assistant",
    "system": "system",
}
_ROOT = "00000000-0000-4000-8000-000000000000"
"""What the export writes as the parent of a first message."""


class ClaudeImporter(msgspec.Struct, frozen=True, kw_only=True):
    """Reads the export, its zip, or the unpacked folder, holding one conversation at a time."""

    max_bytes: int = MAX_PIECE_BYTES

    @property
    def name(self) -> str:
        return "claude"

    @property
    def shape(self) -> str:
        return 'Claude\'s export: conversations.json, [{"uuid", "name", "chat_messages": […]}, …], or its zip'

    def recognises(self, source: ImportSource) -> bool:
        """True if a head opens a JSON document and shows `chat_messages`."""
        return source.shows(PATTERN, _looks_right)

    def source_id(self, source: ImportSource) -> str:
        """Always `claude`: each conversation has an id of its own."""
        del source
        return "claude"

    def read(self, source: ImportSource) -> Read:
        """See `Importer.read`. The position in a `BadLine` is the conversation's in its file."""
        for part in source.parts(PATTERN):
            with part.open() as stream:
                for piece in pieces(stream, limit=self.max_bytes):
                    yield from _conversation(piece, part, source.opened_at)


def _looks_right(head: bytes) -> bool:
    return head.lstrip()[:1] in (b"[", b"{") and _MARK.search(head) is not None


def _conversation(piece: SplitElement, part: SourceFile, now: datetime) -> Read:
    try:
        found = as_object(loads(piece.raw)) if piece.raw is not None else None
        messages = as_list(found.get("chat_messages")) if found is not None else None
        if found is None or messages is None:
            raise Refused(piece.reason or 'no "chat_messages"')
        conversation = fields.text(found, "uuid")
        if conversation is None:
            raise Refused('no "uuid"')
        title = fields.text(found, "name")
    except (StrictJsonError, Refused) as error:
        yield BadLine(piece.number, str(error), part.name)
        return
    for ordinal, said in enumerate(messages):
        try:
            message = _message(said, ordinal, conversation, part.uri, now)
            extra = ({"title": title} if title else {}) | message.extra
            yield msgspec.structs.replace(message, extra=extra)
        except Refused as error:
            yield BadLine(piece.number, f"{conversation}, message {ordinal + 1}: {error}", part.name)


def _message(said: object, ordinal: int, conversation: str, origin: str, now: datetime) -> Message:
    members = as_object(said)
    if members is None:
        raise Refused("not an object")
    id, sender = fields.text(members, "uuid"), fields.text(members, "sender")
    if id is None:
        raise Refused('no "uuid"')
    if sender not in _ROLES:
        raise Refused(f"unknown sender {str(sender)[:40]!r}: human or assistant")
    content = _content(members)
    attachments = fields.objects(members.get("attachments"))
    parent = fields.text(members, "parent_message_uuid")
    extra: dict[str, object] = {"parts": list(content.parts)} if content.parts else {}
    extra |= {"attachments": attachments} if attachments else {}
    return Message(
        role=_ROLES[sender],
        text=content.text,
        ordinal=ordinal,
        source_uri=f"{origin}#{conversation}/{id}",
        source_hash=fields.hash_of(
            fields.only(members, "uuid", "sender", "text", "content", "attachments", "files", "created_at")
        ),
        occurred_at=times.rfc3339(members.get("created_at"), now, '"created_at"'),
        session=conversation,
        conversation=conversation,
        external_id=id,
        parent=None if parent == _ROOT else parent,
        media=content.media + tuple(_file(each) for each in fields.objects(members.get("files"))),
        extra=extra,
    )


def _content(members: dict[str, object]) -> MessageContent:
    blocks = as_list(members.get("content"))
    content = join([block for block in blocks or () if block is not None])
    if content.text:
        return content
    return content._replace(text=fields.text(members, "text") or "")


def _file(members: dict[str, object]) -> Attachment:
    return Attachment(
        kind=fields.text(members, "file_kind") or "file", name=fields.text(members, "file_name")
    )
