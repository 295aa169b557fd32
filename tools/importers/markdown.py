"""Notes in Markdown: a folder (or zip) of `.md` files, or one of them; each section under a heading is a record.

A section is known by its file and the headings it stands under. One that says something else than when it was last
read replaces its former self; one that does not is passed over, so that a re-run takes only what changed. What names
the notes is where they lie (`--source` gives them a lasting name): nothing in them stays when everything may change.

Front matter (YAML between `---`, TOML between `+++`) is kept with the first section; its `date`, `created` or
`timestamp` is the time of the file's sections when it has an offset. Links and images are kept, in the text and apart.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from braid.tools.importers import fields
from braid.tools.importers.errors import Refused
from braid.tools.importers.front_matter import front_matter, time_of
from braid.tools.importers.message import Attachment, BadLine, Message, Read
from braid.tools.importers.source import BOM, ImportSource, SourceFile

MAX_NOTE_BYTES = 2**20
_NOTE = ("*.md", "*.markdown")
_HEADING = re.compile(rb"^ {0,3}#{1,6} \S", flags=re.MULTILINE)
_FRONT = re.compile(rb"\A(?:---|\+\+\+)[ \t]*\r?\n")
_IMAGE = re.compile(r"!\[([^\[\]\n]{0,500}+)\]\(([^()\s<>]{1,2000}+)")
_LINK = re.compile(
    r"(?<!!)\[[^\[\]\n]{0,500}+\]\(([^()\s<>]{1,2000}+)|<(https?://[^<>\s]{1,2000}+)>|\[\[([^\[\]\n|#]{1,500}+)"
)


class MarkdownImporter(msgspec.Struct, frozen=True, kw_only=True):
    """Reads notes, holding one file at a time."""

    max_note_bytes: int = MAX_NOTE_BYTES

    @property
    def name(self) -> str:
        return "markdown"

    @property
    def shape(self) -> str:
        return "Markdown with headings or front matter, or a folder of .md files"

    def recognises(self, source: ImportSource) -> bool:
        """True for a tree with notes, or a file that begins with front matter or shows a heading."""
        if source.is_tree:
            return next(_notes(source), None) is not None
        head = source.head
        return b"\0" not in head and (_FRONT.match(head) is not None or _HEADING.search(head) is not None)

    def source_id(self, source: ImportSource) -> str:
        """From where the notes lie: `Message.key` can lean on nothing in them."""
        return f"markdown:{hashlib.sha256(source.uri.encode()).hexdigest()[:32]}"

    def read(self, source: ImportSource) -> Read:
        """See `Importer.read`. The position in a `BadLine` is the line in its file."""
        for part in _notes(source):
            with part.open() as stream:
                data = stream.read(self.max_note_bytes + 1).removeprefix(BOM)
            try:
                if len(data) > self.max_note_bytes:
                    raise Refused(f"longer than {self.max_note_bytes} bytes")
                if b"\0" in data:
                    raise Refused("a NUL byte is not text")
                text = data.decode("utf-8").replace("\r\n", "\n")
                yield from _sections(text, part, source)
            except UnicodeDecodeError as error:
                yield BadLine(1, f"not valid UTF-8 (byte {error.start})", part.name)
            except Refused as error:
                yield BadLine(1, str(error), part.name)


def _notes(source: ImportSource) -> Iterator[SourceFile]:
    for part in source.parts():
        if not source.is_tree or part.name.lower().endswith(tuple(each[1:] for each in _NOTE)):
            yield part


def _sections(text: str, part: SourceFile, source: ImportSource) -> Read:
    front, body, skipped = front_matter(text)
    when = time_of(front, source.opened_at, source.zone)
    seen: Counter[str] = Counter()
    for ordinal, section in enumerate(_split(body) or ([_Section((), 1, "")] if front else [])):
        path = " / ".join(section.headings)
        seen[path] += 1
        id = f"{part.name}#{path}" + (f" ({seen[path]})" if seen[path] > 1 else "")
        extra: dict[str, object] = {"headings": list(section.headings)} if section.headings else {}
        extra |= {"front_matter": front} if front and not ordinal else {}
        links = [match[match.lastindex or 0] for match in _LINK.finditer(section.text)]
        media = tuple(
            Attachment(kind="image", uri=uri, caption=alt or None)
            for alt, uri in _IMAGE.findall(section.text)
        )
        yield Message(
            role="user",
            text=section.text,
            ordinal=ordinal,
            source_uri=f"{part.uri}#L{section.line + skipped}",
            source_hash=fields.hash_of([section.text, front if not ordinal else None, str(when)]),
            occurred_at=when,
            session=part.name or None,
            external_id=id,
            revised=True,
            media=media,
            extra=extra | ({"links": links} if links else {}),
        )


class _Section(NamedTuple):
    headings: tuple[str, ...]
    """Those it stands under, its own last."""
    line: int
    """From 1."""
    text: str


def _split(body: str) -> list[_Section]:
    """The sections that say something."""
    from markdown_it import MarkdownIt

    rows = body.split("\n")
    tokens = MarkdownIt("commonmark").disable("inline").parse(body)
    starts = [(0, 0, "")]
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            starts.append((token.map[0], int(token.tag[1:]), " ".join(tokens[place + 1].content.split())))
    sections: list[_Section] = []
    above: list[tuple[int, str]] = []
    for place, (row, level, title) in enumerate(starts):
        above = [each for each in above if each[0] < level] + ([(level, title[:200])] if level else [])
        end = starts[place + 1][0] if place + 1 < len(starts) else len(rows)
        text = "\n".join(rows[row:end]).strip("\n")
        if text.strip():
            sections.append(_Section(tuple(name for _, name in above), row + 1, text))
    return sections
