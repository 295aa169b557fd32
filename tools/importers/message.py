"""What importers yield: `Message`, and `BadLine` for what cannot be read; and the `Importer` protocol."""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    from braid.tools.importers.source import ImportSource

Role = Literal["user", "assistant", "system", "tool"]


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """Something beside the text of a message: told of, not taken in."""

    kind: str
    """`image`, or the type that the source names (`application/pdf`)."""
    uri: str | None = None
    caption: str | None = None
    """Text that the source itself gives for it."""
    name: str | None = None
    """The name of its file."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of a conversation, as its source tells it; nothing here is inferred."""

    role: Role
    text: str
    ordinal: int
    """Position from 0: of the line in its file (bad ones count too), or of the turn in its conversation."""
    source_uri: str
    """Where it was read, to the line or turn (`file:///…/chat.jsonl#L12`). Provenance, never identity."""
    source_hash: str
    """`sha256:<64 hex>` of the line without its line end, or of the canonical JSON of what was said."""
    occurred_at: datetime | None = None
    """When it was said; always aware, with the offset that the source wrote."""
    name: str | None = None
    """The speaker's name."""
    session: str | None = None
    conversation: str | None = None
    """The conversation's own id, when the data names it; it then stands for the source in `key`."""
    external_id: str | None = None
    """The id that the source gives the turn."""
    parent: str | None = None
    """The source's id of the turn that this one answers or follows, in the same conversation."""
    revised: bool = False
    """The source may say something else under this id than before: another text replaces the former one."""
    says_edits: bool = False
    """Whether its source says of each of its turns when it was edited, if it was."""
    edited_at: datetime | None = None
    """When the source says that it was last edited: an earlier edit takes no later one's place."""
    media: tuple[Attachment, ...] = ()
    extra: dict[str, object] = {}
    """Members that have no field here, as decoded JSON."""

    def key(self, source: str) -> str:
        """The text by which the same turn is known when its source is read again.

        `source` is a stable id of the source (`Importer.source_id`, or a name that the caller keeps), never a
        path, so that a moved file adds nothing. With s = conversation or `source`:

        - an id in the source: `[s, session, "id", external_id]`. The same key with another `source_hash` is a
          new version when the turn is `revised`, else a conflict for the caller to report, not a duplicate.
        - no id: `[s, session, "at", ordinal, source_hash]`. With the hash, two files that open alike share
          only the same lines in the same place: losing a turn is worse than keeping one twice.

        JSON, so that no choice of ids makes two keys meet.
        """
        where = [self.conversation or source, self.session]
        given = self.external_id
        what = ["at", self.ordinal, self.source_hash] if given is None else ["id", given]
        return _encode(where + what)

    def key_by_id(self) -> str:
        """The text by which a turn is known whose id alone says which it is: its file has no lasting name."""
        return _encode([None, self.session, "id", self.external_id])  # no source is named null

    def key_by_words(self) -> str:
        """The text for a turn whose id has other words elsewhere: many files count their turns from 1.

        Its hash is over what was said and not over the line, which may have got another column.
        """
        moment = self.occurred_at.astimezone(UTC).isoformat() if self.occurred_at else None
        said = _encode([self.role, self.name, moment, self.text]).encode()
        return _encode([None, self.session, "id", self.external_id, hashlib.sha256(said).hexdigest()])


class BadLine(msgspec.Struct, frozen=True):
    """A line (or turn) that was left out: its position from 1, and why, in words for whoever imports."""

    line: int
    reason: str
    part: str = ""
    """The file of a folder or archive that it stands in."""


Read = Iterator[Message | BadLine]


class Importer(Protocol):
    """Reads one format: a class that is made without arguments, keeps no state, and stores nothing.

    Found through the entry-point group `braid.importers`. One contract suite runs on every importer
    (tests/unit/contracts/test_importer_contract.py).
    """

    @property
    def name(self) -> str:
        """Short name of the format, as an option of a command spells it."""
        ...

    @property
    def shape(self) -> str:
        """What the format looks like, in one line for an error message."""
        ...

    def recognises(self, source: "ImportSource") -> bool:
        """Whether the source looks like this format: its head, or names and heads of a few of its files."""
        ...

    def source_id(self, source: "ImportSource") -> str:
        """A stable id of the source for `Message.key`: the same after a move or growth, where that can be."""
        ...

    def read(self, source: "ImportSource") -> Read:
        """The messages in order, a `BadLine` in place of each that cannot be read; never raises for bad data.

        It streams: what is held at once has a limit, whatever the source's size. SourceError where the source
        breaks off (a damaged archive); OSError is left alone.
        """
        ...


HEAD_BYTES = 65_536
"""How much of a file a `recognises` is shown."""
