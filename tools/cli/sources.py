"""Conversations as they are opened: a file or stdin, its format, and a turn of it as a draft."""

import io
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from braid import drafts
from braid.ledger.record import Draft, Scope, Source
from braid.tools.importers.detect import by_name, detect
from braid.tools.importers.message import HEAD_BYTES, Importer, Message

_ACTORS = {"user": "user", "assistant": "agent", "system": "system"}


class Opened(NamedTuple):
    """A source ready to be read."""

    name: str
    importer: Importer
    source_id: str
    stream: BinaryIO
    uri: str | None


class _Rejoined(io.RawIOBase):
    """A stream whose head was read already, from its beginning."""

    def __init__(self, head: bytes, rest: io.BufferedIOBase) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._head[: len(buffer)] or self._rest.read1(len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def open_source(name: str, form: str | None) -> Generator[Opened]:
    """Open a file (`-`: stdin) and find out its format; UnknownFormatError, OSError."""
    path = None if name == "-" else Path(name)
    if path is None:
        yield _opened(name, sys.stdin.buffer, None, form)
        return
    with path.open("rb") as stream:
        yield _opened(name, stream, path, form)


def _opened(name: str, stream: BinaryIO, path: Path | None, form: str | None) -> Opened:
    head = stream.read(HEAD_BYTES)
    importer = by_name(form) if form else detect(head, path)
    whole = io.BufferedReader(_Rejoined(head, cast("io.BufferedIOBase", stream)), 1 << 20)
    uri = path.resolve().as_uri() if path else None
    return Opened(name, importer, importer.source_id(head), cast("BinaryIO", whole), uri)


def draft_of(message: Message, within: Scope | None, once: str) -> Draft:
    """Return the draft of a turn; nothing is inferred."""
    actor = _ACTORS.get(message.role)
    structured = dict(message.extra)
    if message.media:
        media = [
            {
                name: value
                for name, value in (("kind", m.kind), ("uri", m.uri), ("caption", m.caption))
                if value is not None
            }
            for m in message.media
        ]
        structured["media" if "media" not in structured else "media_of_turn"] = media
    return drafts.experience(
        message.text,
        actor=actor or f"tool({message.name or message.extra.get('tool') or 'tool'})",
        name=message.name if actor else None,
        method="import",
        sources=[Source(uri=message.source_uri, hash=message.source_hash)],
        structured=structured,
        within=within,
        external_id=message.external_id,
        occurred_at=message.occurred_at,
        once=once,
    )
