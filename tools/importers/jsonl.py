"""Conversations as JSONL: one object a line, `{"role", "content", "timestamp"?, "id"?, "session"?, …}`.

- `role`: user, assistant, system or tool.
- `content`: text, or a list of parts as chat APIs have them: text parts are joined by line feeds, image parts
  become media, other parts are kept in `extra["parts"]`. null is allowed only beside `tool_calls`.
- `timestamp`: RFC 3339 with an offset or Z (without one in the source's `zone`), not before 1900 and not more than
  ten years from now; or absent.
- `id`, `session`, `conversation`, `parent`: text or an integer; `name`: text. An empty one counts as absent.
- `tool_calls` and what else chat APIs put beside these (`members.CARRIED`), and the members of `metadata`, an object:
  they go to `extra`.
- any other member is refused, with the name that was probably meant.

A line may have 32 MiB; a longer one is skipped without being held in memory. Blank lines are passed over, but
counted.
"""

import hashlib
import re
from datetime import datetime, tzinfo
from typing import get_args

import msgspec

from braid.ledger.record.scope import OWNERS
from braid.log import members as names
from braid.tools.importers import fields, times
from braid.tools.importers.content import content_of
from braid.tools.importers.errors import Refused
from braid.tools.importers.lines import MAX_LINE_BYTES, lines
from braid.tools.importers.message import HEAD_BYTES, BadLine, Message, Read, Role
from braid.tools.importers.source import ImportSource
from braid.tools.importers.strict import StrictJsonError, as_object, loads

ROLES: dict[str, Role] = {role: role for role in get_args(Role)}
FIELDS = frozenset({"role", "content", "timestamp", "id", "session", "conversation", "name", "parent"})
_TAKEN = FIELDS | names.CARRIED | {names.METADATA}
_PLACES = {
    name: f"does not stand in a line: whose memory it is, is said for a whole source, --{name.replace('_', '-')} ID"
    for name in OWNERS
}
_ROLE_MEMBER = re.compile(rb'"role"\s*:')
_OF_OTHERS = re.compile(rb'"(?:messages|sessionId|parentUuid)"\s*:')


class JsonlImporter(msgspec.Struct, frozen=True, kw_only=True):
    """Reads JSONL, streaming: one line in memory at a time."""

    max_line_bytes: int = MAX_LINE_BYTES

    @property
    def name(self) -> str:
        return "jsonl"

    @property
    def shape(self) -> str:
        return 'one JSON object a line with "role" and "content" (and "timestamp", "id", "session", "name")'

    def recognises(self, source: ImportSource) -> bool:
        """True if a whole line of the head is an object with role and content, or its one cut line may be; or if all of
        many lines would be one, were they not broken."""
        head, text = source.head, source.head.lstrip()
        if b"\n" not in text.rstrip() and len(head) >= HEAD_BYTES - len(b"\xef\xbb\xbf"):
            return (
                text.startswith(b"{")
                and _ROLE_MEMBER.search(text) is not None
                and _OF_OTHERS.search(text) is None
            )
        lines = [line for line in text.split(b"\n") if line.strip()]
        return any(map(_has_role_and_content, lines)) or _is_broken(lines)

    def source_id(self, source: ImportSource) -> str:
        """From the first line that is not blank (what the head holds of it): stable under move and growth."""
        return f"jsonl:{first_line_id(source)}"

    def read(self, source: ImportSource) -> Read:
        for part in source.parts():
            with part.open() as stream:
                for number, line in lines(stream, self.max_line_bytes):
                    if line is None:
                        yield BadLine(number, f"longer than {self.max_line_bytes} bytes", part.name)
                    elif line.strip():
                        yield _parse(number, line, part.uri, source)


def first_line_id(source: ImportSource, count: int = 1) -> str:
    """What stands for a source without ids: its first line (or lines) that is not blank, hashed."""
    found = (line.strip() for line in source.head.split(b"\n"))
    first = [line for line in found if line][:count]
    return hashlib.sha256(b"\n".join(first)).hexdigest()[:32]


def _is_broken(lines: list[bytes]) -> bool:
    """Whether every line but the last, which may be cut, begins an object with a role, and none is sound: what is wrong
    with each is for the reading to say."""
    whole = lines[:-1]
    return len(whole) > 1 and all(
        line.startswith(b"{") and _ROLE_MEMBER.search(line) and not _OF_OTHERS.search(line) for line in whole
    )


def _has_role_and_content(line: bytes) -> bool:
    try:
        members = as_object(loads(line))
    except StrictJsonError:
        return False
    return members is not None and "role" in members and "content" in members


def _parse(number: int, line: bytes, origin: str, source: ImportSource) -> Message | BadLine:
    try:
        members = as_object(loads(line))
        if members is None:
            raise Refused("not a JSON object")
        if wrong := names.refusal(members, _TAKEN, places=_PLACES):
            raise Refused(wrong)
        own = as_object(members.pop(names.METADATA, None) or {})
        if own is None:
            raise Refused('"metadata" is not an object')
        return message_of(
            members,
            own=own,
            ordinal=number - 1,
            source_uri=f"{origin}#L{number}",
            source_hash=f"sha256:{hashlib.sha256(line).hexdigest()}",
            now=source.opened_at,
            zone=source.zone,
        )
    except (StrictJsonError, Refused) as error:
        return BadLine(number, str(error))


def message_of(
    members: dict[str, object],
    *,
    ordinal: int,
    source_uri: str,
    source_hash: str,
    now: datetime,
    zone: tzinfo | None,
    own: dict[str, object] | None = None,
) -> Message:
    """The message that the members say; what has no field here is extra, and so is `own`. Refused, with the reason."""
    content = content_of(members)
    extra = {name: value for name, value in members.items() if name not in FIELDS} | (own or {})
    return Message(
        role=role_of(members),
        text=content.text,
        ordinal=ordinal,
        source_uri=source_uri,
        source_hash=source_hash,
        occurred_at=times.local(members.get("timestamp"), now, zone),
        name=fields.text(members, "name"),
        session=fields.label(members, "session"),
        conversation=fields.label(members, "conversation"),
        external_id=fields.label(members, "id"),
        parent=fields.label(members, "parent"),
        media=content.media,
        extra=extra | ({"parts": list(content.parts)} if content.parts else {}),
    )


def role_of(members: dict[str, object]) -> Role:
    """The member `role`. Refused for one that is missing or unknown."""
    if "role" not in members:
        raise Refused('no "role"')
    role = members["role"]
    if not isinstance(role, str):
        raise Refused('"role" is not text')
    if role not in ROLES:
        raise Refused(f"unknown role {role[:40]!r}: one of {', '.join(ROLES)}")
    return ROLES[role]
