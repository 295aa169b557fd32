"""Sessions of Claude Code: JSONL of typed lines, `{"type", "uuid", "parentUuid", "sessionId", "message", …}`.

Lines of type user, assistant and system are turns; summaries, snapshots, progress and queue lines say nothing that
was said, and are passed over like blank lines. A user line that holds tool results alone is the tool's turn. One that
the model wrote (a subagent's prompt, the summary of a compacted session) is the assistant's, one that the program wrote
(`isMeta`) the system's. Thoughts, tool calls and results stay as they are in `parts`. A folder of sessions
(`~/.claude/projects/…`) is read whole.
"""

import hashlib
import re
from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime

import msgspec

from braid.tools.importers import fields, times
from braid.tools.importers.content import MessageContent, join
from braid.tools.importers.errors import Refused
from braid.tools.importers.lines import MAX_LINE_BYTES, lines
from braid.tools.importers.message import BadLine, Message, Read, Role
from braid.tools.importers.source import ImportSource
from braid.tools.importers.strict import StrictJsonError, as_list, as_object, loads

PATTERN = "*.jsonl"
_MARK = re.compile(rb'"(?:sessionId|leafUuid)"\s*:\s*"')
_TYPE = re.compile(rb'"type"\s*:\s*"')
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_WRITTEN_BY: dict[str, Role] = {
    "isMeta": "system",
    "isSidechain": "assistant",
    "isCompactSummary": "assistant",
}
"""Who wrote a line of type user that bears such a mark: no person did."""
_KEPT = (
    "cwd",
    "gitBranch",
    "version",
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "agentId",
    "subtype",
    "requestId",
)
_CALLS = 10_000
"""How many tool calls are remembered, to name the tool of a result."""


class ClaudeCodeImporter(msgspec.Struct, frozen=True, kw_only=True):
    """Reads a session or a folder of them, one line in memory at a time."""

    max_line_bytes: int = MAX_LINE_BYTES

    @property
    def name(self) -> str:
        return "claude-code"

    @property
    def shape(self) -> str:
        return 'one JSON object a line with "type", "uuid", "sessionId" and "message", or a folder of such .jsonl'

    def recognises(self, source: ImportSource) -> bool:
        """True if a line of a head opens an object with a type and a session."""
        return source.shows(PATTERN, _looks_right)

    def source_id(self, source: ImportSource) -> str:
        """Always `claude-code`: each line names its session."""
        del source
        return "claude-code"

    def read(self, source: ImportSource) -> Read:
        for part in source.parts(PATTERN):
            session = Transcript(part.uri, part.name, source.opened_at)
            with part.open() as stream:
                for number, line in lines(stream, self.max_line_bytes):
                    if line is None:
                        yield BadLine(number, f"longer than {self.max_line_bytes} bytes", part.name)
                    elif line.strip() and (found := session.turn(number, line)) is not None:
                        yield found


def _looks_right(head: bytes) -> bool:
    return any(
        line.startswith(b"{") and _MARK.search(line) is not None and _TYPE.search(line) is not None
        for line in head.split(b"\n")
    )


class Transcript:
    """One session's lines, and the tools that it has called so far."""

    def __init__(self, uri: str, name: str, now: datetime, calls: Mapping[str, str] | None = None) -> None:
        """`name`: of the file in its folder. `calls`: tools that were called in lines read earlier, by their ids."""
        self._uri = uri
        self._name = name
        self._now = now
        self._tools: OrderedDict[str, str] = OrderedDict(calls or {})

    @property
    def calls(self) -> dict[str, str]:
        """The tools that were called, by the ids of the calls; the newest last."""
        return dict(self._tools)

    def turn(self, number: int, line: bytes) -> Message | BadLine | None:
        """What a line says; None for one that is no turn."""
        try:
            members = as_object(loads(line))
            if members is None:
                raise Refused("not a JSON object")
            role = _ROLES.get(fields.word(members, "type") or "")
            return self._message(number, line, members, role) if role else None
        except (StrictJsonError, Refused) as error:
            return BadLine(number, str(error), self._name)

    def _message(self, number: int, line: bytes, members: dict[str, object], role: Role) -> Message:
        id, session = fields.text(members, "uuid"), fields.text(members, "sessionId")
        if id is None or session is None:
            raise Refused('no "uuid" or no "sessionId"')
        inner = as_object(members.get("message")) or members
        content = _content(inner)
        name = None
        if role == "user" and not content.text and (results := _results(content)):
            role, name = "tool", self._tool_of(results)
            content = content._replace(text=_told(results))
        elif role == "user":
            role = _writer(members)
        self._note_calls(content)
        extra = fields.only(members, *_KEPT) | fields.only(inner, "model")
        extra = {name: value for name, value in extra.items() if value is not False}
        return Message(
            role=role,
            text=content.text,
            ordinal=number - 1,
            source_uri=f"{self._uri}#L{number}",
            source_hash=f"sha256:{hashlib.sha256(line).hexdigest()}",
            occurred_at=times.rfc3339(members.get("timestamp"), self._now),
            name=name,
            session=session,
            conversation=session,
            external_id=id,
            parent=fields.text(members, "parentUuid"),
            media=content.media,
            extra=extra | ({"parts": list(content.parts)} if content.parts else {}),
        )

    def _tool_of(self, results: list[dict[str, object]]) -> str | None:
        called = (self._tools.get(fields.word(each, "tool_use_id") or "") for each in results)
        return next(filter(None, called), None)

    def _note_calls(self, content: MessageContent) -> None:
        for each in fields.objects(list(content.parts)):
            id, name = fields.word(each, "id"), fields.word(each, "name")
            if each.get("type") == "tool_use" and id and name:
                self._tools[id] = name
                if len(self._tools) > _CALLS:
                    self._tools.popitem(last=False)


def _writer(members: dict[str, object]) -> Role:
    """Who wrote a line of type user."""
    for mark, by in _WRITTEN_BY.items():
        if members.get(mark) is True:
            return by
    return "user"


def _content(inner: dict[str, object]) -> MessageContent:
    content = inner.get("content")
    if content is None or isinstance(content, str):
        return MessageContent(content or "")
    parts = as_list(content)
    if parts is None:
        raise Refused('"content" is neither text nor a list of blocks')
    return join(parts)


def _results(content: MessageContent) -> list[dict[str, object]]:
    return [each for each in fields.objects(list(content.parts)) if each.get("type") == "tool_result"]


def _told(results: list[dict[str, object]]) -> str:
    """The text of tool results, which stay in `parts` as they are, too."""
    texts: list[str] = []
    for each in results:
        told = each.get("content")
        blocks = [told] if isinstance(told, str) else as_list(told) or []
        texts += [join([block]).text for block in blocks if isinstance(block, str) or as_object(block)]
    return "\n".join(text for text in texts if text)
