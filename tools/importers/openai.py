"""Conversations as OpenAI's chat format has them, one a line: `{"messages": [{"role", "content", …}, …], …}`.

As fine-tuning files and logged requests are written. Messages have no ids: one is known by its place and content.
Its session is its line, named after the file's first line: `<16 hex>/L<N>`. `developer` counts as system, `function`
as tool. Members beside `messages` (`tools`, `parallel_tool_calls`, …) are kept with the first message of their line.
"""

import re

import msgspec

from braid.tools.importers import fields
from braid.tools.importers.errors import Refused
from braid.tools.importers.jsonl import first_line_id, message_of
from braid.tools.importers.lines import MAX_LINE_BYTES, lines
from braid.tools.importers.message import BadLine, Message, Read
from braid.tools.importers.source import ImportSource, SourceFile
from braid.tools.importers.strict import StrictJsonError, as_list, as_object, loads

_MESSAGES = re.compile(rb'\A\s*\{.{0,2000}?"messages"\s*:\s*\[\s*(?:\]|\{)', flags=re.DOTALL)
_ROLES = {"developer": "system", "function": "tool"}
_UNSAID = frozenset({"timestamp", "id", "session", "conversation", "parent"})


class OpenaiImporter(msgspec.Struct, frozen=True, kw_only=True):
    """Reads JSONL of conversations, one line in memory at a time."""

    max_line_bytes: int = MAX_LINE_BYTES

    @property
    def name(self) -> str:
        return "openai"

    @property
    def shape(self) -> str:
        return 'one JSON object a line with "messages": [{"role", "content"}, …]'

    def recognises(self, source: ImportSource) -> bool:
        """True if the first line opens an object with a list of messages, and no export's other marks."""
        first = source.head.lstrip().partition(b"\n")[0]
        return _MESSAGES.match(first) is not None and b'"guild"' not in first and b'"mapping"' not in first

    def source_id(self, source: ImportSource) -> str:
        """From the first line that is not blank: stable under move and growth."""
        return f"openai:{first_line_id(source)}"

    def read(self, source: ImportSource) -> Read:
        """See `Importer.read`. The position in a `BadLine` is that of the line."""
        digest = first_line_id(source)[:16]
        ordinal = 0
        for part in source.parts():
            with part.open() as stream:
                for number, line in lines(stream, self.max_line_bytes):
                    if line is None:
                        yield BadLine(number, f"longer than {self.max_line_bytes} bytes", part.name)
                    elif line.strip():
                        for found in _conversation(part, number, line, f"{digest}/L{number}", source):
                            yield (
                                msgspec.structs.replace(found, ordinal=ordinal)
                                if isinstance(found, Message)
                                else found
                            )
                            ordinal += 1


def _conversation(part: SourceFile, number: int, line: bytes, session: str, source: ImportSource) -> Read:
    try:
        members = as_object(loads(line))
    except StrictJsonError as error:
        yield BadLine(number, str(error), part.name)
        return
    messages = as_list(members.get("messages")) if members is not None else None
    if members is None or messages is None:
        yield BadLine(number, 'no list of "messages"', part.name)
        return
    beside = {name: value for name, value in members.items() if name != "messages"}
    for place, said in enumerate(messages):
        try:
            message = _message(said, f"{part.uri}#L{number}/{place + 1}", session, source)
            extra = message.extra | ({"conversation_of_source": beside} if beside and place == 0 else {})
            yield msgspec.structs.replace(message, extra=extra)
        except Refused as error:
            yield BadLine(number, f"message {place + 1}: {error}", part.name)


def _message(said: object, uri: str, session: str, source: ImportSource) -> Message:
    members = as_object(said)
    if members is None:
        raise Refused("not an object")
    role = members.get("role")
    known = {name: value for name, value in members.items() if name not in _UNSAID}
    if isinstance(role, str):
        known["role"] = _ROLES.get(role, role)
    digest = fields.hash_of(members)
    message = message_of(
        known, ordinal=0, source_uri=uri, source_hash=digest, now=source.opened_at, zone=source.zone
    )
    unsaid = {name: value for name, value in members.items() if name in _UNSAID}
    if isinstance(role, str) and role in _ROLES:
        unsaid["role_of_source"] = role
    return msgspec.structs.replace(message, session=session, extra=message.extra | unsaid)
