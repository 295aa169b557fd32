"""Plain text: each paragraph (lines between blank ones) is a record, known by its place and what it says.

The last to be asked: it takes what nothing else recognises, if it reads like text at all.
"""

import hashlib
import re
from collections.abc import Iterator

import msgspec

from braid.tools.importers.errors import Refused
from braid.tools.importers.jsonl import first_line_id
from braid.tools.importers.lines import lines
from braid.tools.importers.message import HEAD_BYTES, BadLine, Message, Read
from braid.tools.importers.source import ImportSource, SourceFile

MAX_PARAGRAPH_BYTES = 2**20
_NOT_PROSE = re.compile(r"\A\s*[{\[<%\\]|[\x00-\x08\x0e-\x1f\x7f\ufffe\uffff]")
_WORDS = re.compile(r"\w[^\w\n]*\s+[^\w\n]*\w")
_CUT = 4
"""How many bytes of a character the end of the head may cut."""


class TextImporter(msgspec.Struct, frozen=True, kw_only=True):
    """Reads text, holding one paragraph at a time."""

    max_paragraph_bytes: int = MAX_PARAGRAPH_BYTES

    @property
    def name(self) -> str:
        return "text"

    @property
    def shape(self) -> str:
        return "plain text in UTF-8, paragraphs between blank lines"

    def recognises(self, source: ImportSource) -> bool:
        """True if the head is UTF-8 with words in it, has no control characters, and opens like no markup."""
        if source.is_tree:
            return False
        head = source.head
        try:
            text = head.decode("utf-8")
        except UnicodeDecodeError as error:
            if len(head) < HEAD_BYTES - _CUT or error.start < len(head) - _CUT:
                return False
            text = head[: error.start].decode("utf-8")
        return _NOT_PROSE.search(text) is None and _WORDS.search(text) is not None

    def source_id(self, source: ImportSource) -> str:
        """From the first line that is not blank: stable under move and growth."""
        return f"text:{first_line_id(source)}"

    def read(self, source: ImportSource) -> Read:
        """See `Importer.read`. The position in a `BadLine` is the paragraph's first line."""
        session = f"text-{first_line_id(source)[:16]}"
        for part in source.parts():
            for ordinal, (line, raw) in enumerate(_paragraphs(part, self.max_paragraph_bytes)):
                try:
                    text = _decoded(raw, self.max_paragraph_bytes)
                except Refused as error:
                    yield BadLine(line, str(error), part.name)
                    continue
                yield Message(
                    role="user",
                    text=text,
                    ordinal=ordinal,
                    source_uri=f"{part.uri}#L{line}",
                    source_hash=f"sha256:{hashlib.sha256(text.encode()).hexdigest()}",
                    session=session,
                )


def _paragraphs(part: SourceFile, limit: int) -> Iterator[tuple[int, bytes | None]]:
    """First line and bytes of each paragraph; None for one that is too long."""
    first, size, held = 0, 0, list[bytes]()
    with part.open() as stream:
        for number, line in lines(stream, limit):
            if line is not None and not line.strip():
                if first:
                    yield first, b"\n".join(held) if size <= limit else None
                first, size, held = 0, 0, []
                continue
            first = first or number
            size += len(line) + 1 if line is not None else limit + 1
            if size <= limit and line is not None:
                held.append(line)
            else:
                held = []
        if first:
            yield first, b"\n".join(held) if size <= limit else None


def _decoded(raw: bytes | None, limit: int) -> str:
    if raw is None:
        raise Refused(f"a paragraph longer than {limit} bytes")
    if b"\0" in raw:
        raise Refused("a NUL byte is not text")
    try:
        return raw.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise Refused(f"not valid UTF-8 (byte {error.start})") from error
