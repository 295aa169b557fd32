"""Conversations as JSONL: one object a line, `{"role", "content", "timestamp"?, "id"?, "session"?, …}`.

- `role`: user, assistant, system or tool.
- `content`: text, or a list of parts as chat APIs have them: text parts are joined by line feeds, image parts
  become media, other parts are kept in `extra["parts"]`. null is allowed only beside `tool_calls`.
- `timestamp`: RFC 3339 with an offset or Z, not before 1900 and not more than ten years from now; or absent.
- `id`, `session`, `conversation`: text or an integer; `name`: text. An empty one counts as absent.
- every other member goes to `extra`.

A line may have 32 MiB; a longer one is skipped without being held in memory. Blank lines are passed over, but
counted.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, get_args

import msgspec

from braid.tools.importers.message import HEAD_BYTES, BadLine, Media, Message, Read, Role, uri_of
from braid.tools.importers.strict import StrictJsonError, as_list, as_object, loads

MAX_LINE_BYTES = 32 * 2**20
EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
AHEAD = timedelta(days=3653)
"""How far after the reader's clock a timestamp may lie: ten years."""

_BOM = b"\xef\xbb\xbf"
_SKIP_BYTES = 2**16
_ROLES: dict[str, Role] = {role: role for role in get_args(Role)}
_TEXT_PARTS = frozenset({"text", "input_text", "output_text", "refusal"})
_IMAGE_PARTS = frozenset({"image", "image_url", "input_image"})
_FIELDS = frozenset({"role", "content", "timestamp", "id", "session", "conversation", "name"})
_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?P<offset>[Zz]|[+-]\d\d:\d\d)?", flags=re.ASCII
)
_ROLE_MEMBER = re.compile(rb'"role"\s*:')


def utc_now() -> datetime:
    """The reader's clock."""
    return datetime.now(UTC)


class JsonlImporter(msgspec.Struct, frozen=True, kw_only=True):
    """Reads JSONL, streaming: one line in memory at a time."""

    max_line_bytes: int = MAX_LINE_BYTES
    now: Callable[[], datetime] = utc_now

    @property
    def name(self) -> str:
        """See `Importer.name`."""
        return "jsonl"

    @property
    def shape(self) -> str:
        """See `Importer.shape`."""
        return 'one JSON object a line with "role" and "content" (and "timestamp", "id", "session", "name")'

    def recognises(self, head: bytes, path: Path | None = None) -> bool:
        """True if a whole line of the head is an object with role and content, or its one cut line may be."""
        del path  # content decides
        text = head.removeprefix(_BOM).lstrip()
        if b"\n" not in text.rstrip() and len(head) >= HEAD_BYTES:
            return text.startswith(b"{") and _ROLE_MEMBER.search(text) is not None
        return any(_has_role_and_content(line) for line in text.split(b"\n"))

    def source_id(self, head: bytes) -> str:
        """From the first line that is not blank (what the head holds of it): stable under move and growth."""
        lines = head.removeprefix(_BOM).split(b"\n")
        first = next((line.strip() for line in lines if line.strip()), b"")
        return f"jsonl:{hashlib.sha256(first).hexdigest()[:32]}"

    def read(self, source: Path | BinaryIO, uri: str | None = None) -> Read:
        """See `Importer.read`."""
        origin = uri_of(source, uri)
        latest = self.now() + AHEAD
        with source.open("rb") if isinstance(source, Path) else nullcontext(source) as stream:
            for number, line in _lines(stream, self.max_line_bytes):
                if line is None:
                    yield BadLine(number, f"longer than {self.max_line_bytes} bytes")
                elif line.strip():
                    yield _parse(number, line, origin, latest)


class _Bad(Exception):  # noqa: N818 - never leaves this module: it becomes a BadLine
    """The line is refused; the argument is the reason."""


def _lines(stream: BinaryIO, limit: int) -> Iterator[tuple[int, bytes | None]]:
    """Numbered lines without their ends; None for one over the limit, which is read away in small pieces."""
    number = 0
    while piece := stream.readline(limit + 2):  # room for CR LF after a line of just the limit
        number += 1
        ended = piece.endswith(b"\n")
        line = piece.removesuffix(b"\n").removesuffix(b"\r") if ended else piece
        if number == 1:
            line = line.removeprefix(_BOM)
        if len(line) <= limit:
            yield number, line
            continue
        while not ended and (rest := stream.readline(_SKIP_BYTES)):
            ended = rest.endswith(b"\n")
        yield number, None


def _has_role_and_content(line: bytes) -> bool:
    try:
        members = as_object(loads(line))
    except StrictJsonError:
        return False
    return members is not None and "role" in members and "content" in members


def _parse(number: int, line: bytes, origin: str, latest: datetime) -> Message | BadLine:
    try:
        members = as_object(loads(line))
        if members is None:
            raise _Bad("not a JSON object")
        text, media, parts = _content(members)
        extra = {name: value for name, value in members.items() if name not in _FIELDS}
        return Message(
            role=_role(members),
            text=text,
            ordinal=number - 1,
            source_uri=f"{origin}#L{number}",
            source_hash=f"sha256:{hashlib.sha256(line).hexdigest()}",
            occurred_at=_timestamp(members.get("timestamp"), latest),
            name=_label(members, "name"),
            session=_label(members, "session"),
            conversation=_label(members, "conversation"),
            external_id=_label(members, "id"),
            media=media,
            extra=extra | ({"parts": parts} if parts else {}),
        )
    except (StrictJsonError, _Bad) as error:
        return BadLine(number, str(error))


def _role(members: dict[str, object]) -> Role:
    if "role" not in members:
        raise _Bad('no "role"')
    role = members["role"]
    if not isinstance(role, str):
        raise _Bad('"role" is not text')
    if role not in _ROLES:
        raise _Bad(f"unknown role {role[:40]!r}: one of {', '.join(_ROLES)}")
    return _ROLES[role]


def _content(members: dict[str, object]) -> tuple[str, tuple[Media, ...], list[object]]:
    if "content" not in members:
        raise _Bad('no "content"')
    content = members["content"]
    if isinstance(content, str):
        return content, (), []
    if content is None and as_list(members.get("tool_calls")):
        return "", (), []
    parts = as_list(content)
    if parts is None:
        raise _Bad('"content" is neither text nor a list of parts')
    return _join(parts)


def _join(parts: list[object]) -> tuple[str, tuple[Media, ...], list[object]]:
    texts: list[str] = []
    media: list[Media] = []
    others: list[object] = []
    for part in parts:
        text = _text_of(part)
        image = None if text is not None else _image_of(part)
        if text is not None:
            texts.append(text)
        elif image is not None:
            media.append(image)
        elif as_object(part) is not None:
            others.append(part)
        else:
            raise _Bad('a part of "content" is neither text nor an object')
    return "\n".join(texts), tuple(media), others


def _text_of(part: object) -> str | None:
    if isinstance(part, str):
        return part
    members = as_object(part)
    if members is None or members.get("type") not in _TEXT_PARTS:
        return None
    text = members.get("text", members.get("refusal"))
    if not isinstance(text, str):
        raise _Bad('a text part of "content" has no text')
    return text


def _image_of(part: object) -> Media | None:
    members = as_object(part)
    if members is None or members.get("type") not in _IMAGE_PARTS:
        return None
    target = members.get("image_url", members.get("url"))
    inner = as_object(target)
    uri = inner.get("url") if inner is not None else target
    caption = members.get("caption", members.get("alt"))
    if not isinstance(uri, str) and not isinstance(caption, str):
        return None  # kept whole, in extra
    return Media(
        kind="image",
        uri=uri if isinstance(uri, str) else None,
        caption=caption if isinstance(caption, str) else None,
    )


def _label(members: dict[str, object], field: str) -> str | None:
    value = members.get(field)
    if isinstance(value, int) and not isinstance(value, bool) and field != "name":
        return str(value)
    if value is not None and not isinstance(value, str):
        raise _Bad(f'"{field}" is not text')
    return value or None


def _timestamp(value: object, latest: datetime) -> datetime | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise _Bad('"timestamp" is not text')
    match = _RFC3339.fullmatch(value)
    if match is None:
        raise _Bad(f'"timestamp" is not RFC 3339: {value[:40]!r}')
    if match["offset"] is None:
        raise _Bad(f'"timestamp" has no offset: {match[0]!r}')
    try:
        moment = datetime.fromisoformat(match[0].upper())
    except ValueError as error:
        raise _Bad(f'"timestamp" names no time: {match[0]!r}') from error
    if not EARLIEST <= moment <= latest:  # compared as instants, whatever their offsets
        raise _Bad(f'"timestamp" is before 1900 or more than ten years ahead: {match[0]!r}')
    return moment
