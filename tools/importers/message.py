"""What importers yield: `Message`, and `BadLine` for what cannot be read; and the `Importer` protocol."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

import msgspec

Role = Literal["user", "assistant", "system", "tool"]


class Media(msgspec.Struct, frozen=True, kw_only=True):
    """Something beside the text of a message. `caption` is text that the source itself gives for it."""

    kind: str
    """`image`, or the type that the source names."""
    uri: str | None = None
    caption: str | None = None


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of a conversation, as its source tells it; nothing here is inferred."""

    role: Role
    text: str
    ordinal: int
    """Position from 0: of the line in its file (bad ones count too), or of the turn in its conversation."""
    source_uri: str
    """Where it was read, to the line or turn (`file:///…/chat.jsonl#L12`). Provenance, never identity."""
    source_hash: str
    """`sha256:<64 hex>` of the line without its line end, or of the turn's canonical JSON."""
    occurred_at: datetime | None = None
    """When it was said; always aware, with the offset that the source wrote."""
    name: str | None = None
    """The speaker's name."""
    session: str | None = None
    conversation: str | None = None
    """The conversation's own id, when the data names it; it then stands for the source in `key`."""
    external_id: str | None = None
    """The id that the source gives the turn."""
    media: tuple[Media, ...] = ()
    extra: dict[str, object] = {}
    """Members that have no field here, as decoded JSON."""

    def key(self, source: str) -> str:
        """The text by which the same turn is known when its source is read again.

        `source` is a stable id of the source (`Importer.source_id`, or a name that the caller keeps), never a
        path, so that a moved file adds nothing. With s = conversation or `source`:

        - an id in the source: `[s, session, "id", external_id]`. The same key with another `source_hash` is a
          conflict for the caller to report, not a duplicate.
        - no id: `[s, session, "at", ordinal, source_hash]`. With the hash, two files that open alike share
          only the same lines in the same place: losing a turn is worse than keeping one twice.

        JSON, so that no choice of ids makes two keys meet.
        """
        where = [self.conversation or source, self.session]
        given = self.external_id
        what = ["at", self.ordinal, self.source_hash] if given is None else ["id", given]
        return json.dumps(where + what, ensure_ascii=False, separators=(",", ":"))


class BadLine(msgspec.Struct, frozen=True):
    """A line (or turn) that was left out: its position from 1, and why, in words for whoever imports."""

    line: int
    reason: str


Read = Iterator[Message | BadLine]


class Importer(Protocol):
    """Reads one format. One contract suite runs on every importer (tests/tools/test_importers.py)."""

    @property
    def name(self) -> str:
        """Short name of the format, as an option of a command spells it."""
        ...

    @property
    def shape(self) -> str:
        """What the format looks like, in one line for an error message."""
        ...

    def recognises(self, head: bytes, path: Path | None = None) -> bool:
        """Whether the first `HEAD_BYTES` of a source look like this format. `path` is only a hint."""
        ...

    def source_id(self, head: bytes) -> str:
        """A stable id of the source for `Message.key`, from its head: the same after a move or growth."""
        ...

    def read(self, source: Path | BinaryIO, uri: str | None = None) -> Read:
        """The messages in order, a `BadLine` in place of each that cannot be read; never raises for bad data.

        `uri` names the source in provenance: by default the file's URI, or `stream:`. OSError is left alone.
        """
        ...


HEAD_BYTES = 65_536
"""How much of a source `recognises` and `source_id` are given."""


def uri_of(source: Path | BinaryIO, uri: str | None) -> str:
    """The URI for provenance: `uri` if given, else the file's own, else `stream:`."""
    if uri is not None:
        return uri
    return source.resolve().as_uri() if isinstance(source, Path) else "stream:"
