"""A Slack export, as a zip or unpacked: `users.json`, `channels.json` (`groups`, `dms`, `mpims`), and a file a day.

`<channel>/YYYY-MM-DD.json` holds that day's messages. One is known by its channel and `ts`; an answer's `parent` is the
`ts` that its thread began with; one that was edited replaces what an older export said. Bots are tools; joins, topics
and the like are of the system. What changes without being said (reactions, counts of replies) is not in the hash.
Files are told of by name and address, without the token that the address carries. Where a message has no text of its
own, as those of bots may, it is that of its blocks and attachments.
"""

import re
from collections.abc import Iterator
from datetime import datetime

import msgspec

from braid.tools.importers import fields, times
from braid.tools.importers.errors import Refused
from braid.tools.importers.message import Attachment, BadLine, Message, Read, Role
from braid.tools.importers.source import ImportSource, SourceFile
from braid.tools.importers.split import MAX_PIECE_BYTES, SplitElement, pieces
from braid.tools.importers.strict import StrictJsonError, as_object, loads

_DAY = re.compile(r"(?:.*/)?(?P<channel>[^/]+)/\d{4}-\d\d-\d\d\.json")
_LISTS = ("channels.json", "groups.json", "dms.json", "mpims.json")
_SAID = ("type", "subtype", "ts", "thread_ts", "user", "bot_id", "text", "attachments", "blocks")
_BY_A_PERSON = frozenset(
    {None, "thread_broadcast", "me_message", "file_share", "file_comment", "reply_broadcast"}
)
_BY_A_BOT = frozenset({"bot_message"})
_KEPT = ("subtype", "attachments")
_ESCAPED = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
"""All that Slack escapes in a text."""
_MENTION = re.compile(r"<@([A-Z0-9]{1,40})(?:\|[^>]*)?>")
_SHOWN = ("title", "pretext", "author_name", "text", "value", "fields", "elements", "blocks", "footer")
"""Members of blocks and attachments that hold words, or what holds words, in the order in which they are shown."""
_MAX_DEPTH = 20


class SlackImporter(msgspec.Struct, frozen=True, kw_only=True):
    """Reads a whole export, holding the lists of people and channels, and one message at a time."""

    max_bytes: int = MAX_PIECE_BYTES

    @property
    def name(self) -> str:
        return "slack"

    @property
    def shape(self) -> str:
        return "a Slack export: a zip or folder with users.json and <channel>/YYYY-MM-DD.json"

    def recognises(self, source: ImportSource) -> bool:
        """True for a tree with a list of people or channels, and a channel's day."""
        names = source.names()
        has_lists = any(name.rpartition("/")[2] in ("users.json", *_LISTS) for name in names)
        return has_lists and any(_DAY.fullmatch(name) for name in names)

    def source_id(self, source: ImportSource) -> str:
        """Always `slack`: a channel's id and a time stamp to the microsecond are enough."""
        del source
        return "slack"

    def read(self, source: ImportSource) -> Read:
        """See `Importer.read`. The position in a `BadLine` is the message's in its day."""
        people: dict[str, str] = {}
        channels: dict[str, str] = {}
        for part in source.parts("*.json"):
            last = part.name.rpartition("/")[2]
            if last == "users.json" or last in _LISTS:
                yield from _names(part, people if last == "users.json" else channels, self.max_bytes)
        for part in source.parts("*.json"):
            match = _DAY.fullmatch(part.name)
            if match is None:
                continue
            where = _Where(part, match["channel"], channels.get(match["channel"]), people, source.opened_at)
            with part.open() as stream:
                for piece in pieces(stream, limit=self.max_bytes):
                    yield where.message(piece)


def _names(part: SourceFile, found: dict[str, str], limit: int) -> Iterator[BadLine]:
    """Fill in who is who (id → name), or which channel is which (name → id)."""
    of_people = part.name.endswith("users.json")
    with part.open() as stream:
        for piece in pieces(stream, limit=limit):
            try:
                members = as_object(loads(piece.raw)) if piece.raw is not None else None
                if members is None:
                    raise Refused(piece.reason or "not an object")
                id, name = fields.text(members, "id"), fields.text(members, "name")
                if of_people and id:
                    found[id] = _person(members) or name or id
                elif id:
                    found[name or id] = id
            except (StrictJsonError, Refused) as error:
                yield BadLine(piece.number, str(error), part.name)


def _person(members: dict[str, object]) -> str | None:
    return _name_in(as_object(members.get("profile")) or {}) or fields.text(members, "real_name")


def _name_in(profile: dict[str, object]) -> str | None:
    return fields.text(profile, "display_name") or fields.text(profile, "real_name")


def _words(value: object, depth: int = 0) -> list[str]:
    """The lines that blocks or attachments show; the pieces of a line of rich text stay one."""
    found: list[str] = []
    for block in fields.objects(value if depth < _MAX_DEPTH else None):
        if fields.word(block, "type") in ("rich_text_section", "rich_text_preformatted", "rich_text_quote"):
            found.append("".join(map(_piece, fields.objects(block.get("elements")))))
            continue
        lines = [line for name in _SHOWN for line in _lines_of(block.get(name), depth)]
        fallback = fields.word(block, "fallback")
        found += lines or ([fallback] if fallback else [])
    return [line for line in found if line.strip()]


def _lines_of(value: object, depth: int) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = as_object(value)
    return _words([inner] if inner is not None else value, depth + 1)


def _piece(element: dict[str, object]) -> str:
    """What a piece of rich text shows."""
    user = fields.word(element, "user_id")
    if user is not None:
        return f"<@{user}>"
    emoji = fields.word(element, "name") if element.get("type") == "emoji" else None
    return fields.word(element, "text") or fields.word(element, "url") or (emoji and f":{emoji}:") or ""


class _Where:
    """One day of one channel."""

    def __init__(
        self, part: SourceFile, channel: str, id: str | None, people: dict[str, str], now: datetime
    ) -> None:
        self._part = part
        self._channel = channel
        self._id = id or channel
        self._people = people
        self._now = now

    def message(self, piece: SplitElement) -> Message | BadLine:
        """The message of a piece."""
        try:
            members = as_object(loads(piece.raw)) if piece.raw is not None else None
            if members is None:
                raise Refused(piece.reason or "not an object")
            return self._message(members, piece.number)
        except (StrictJsonError, Refused) as error:
            return BadLine(piece.number, str(error), self._part.name)

    def _message(self, members: dict[str, object], number: int) -> Message:
        ts, thread = fields.text(members, "ts"), fields.text(members, "thread_ts")
        if ts is None:
            raise Refused('no "ts"')
        files = fields.objects(members.get("files"))
        edited = as_object(members.get("edited")) or {}
        return Message(
            role=_role(members),
            text=self._text(members),
            ordinal=number - 1,
            source_uri=f"{self._part.uri}#{ts}",
            source_hash=fields.hash_of(
                fields.only(members, *_SAID) | {"files": [fields.only(each, "id") for each in files]}
            ),
            occurred_at=times.epoch(ts, self._now, '"ts"'),
            name=self._speaker(members),
            session=self._id,
            conversation=self._id,
            external_id=ts,
            parent=thread if thread != ts else None,
            revised=members.get("edited") is not None,
            says_edits=True,
            edited_at=times.epoch(edited.get("ts"), self._now, '"edited"'),
            media=tuple(_file(each) for each in files),
            extra={"channel": self._channel} | fields.only(members, *_KEPT, "user"),
        )

    def _text(self, members: dict[str, object]) -> str:
        """The text, or that of blocks and attachments, with people's names where it mentions them."""
        said = members.get("text")
        if said is not None and not isinstance(said, str):
            raise Refused('"text" is not text')
        shown = said or "\n".join(_words(members.get("blocks")) or _words(members.get("attachments")))
        named = _MENTION.sub(lambda match: f"@{self._people.get(match[1], match[1])}", shown)
        return re.sub("&(?:lt|gt|amp);", lambda match: _ESCAPED[match[0]], named)

    def _speaker(self, members: dict[str, object]) -> str | None:
        user = fields.text(members, "user")
        if user is not None:
            profile = as_object(members.get("user_profile")) or {}  # of who is in no list: a guest
            return self._people.get(user) or _name_in(profile) or user
        return fields.text(members, "username") or fields.text(members, "bot_id")


def _role(members: dict[str, object]) -> Role:
    subtype = fields.word(members, "subtype")
    if subtype in _BY_A_BOT or (subtype is None and members.get("bot_id") is not None):
        return "tool"
    return "user" if subtype in _BY_A_PERSON else "system"


def _file(members: dict[str, object]) -> Attachment:
    uri = fields.text(members, "permalink") or fields.text(members, "url_private")
    return Attachment(
        kind=fields.text(members, "mimetype") or "file",
        uri=uri.partition("?")[0] if uri else None,
        name=fields.text(members, "name") or fields.text(members, "title"),
    )
