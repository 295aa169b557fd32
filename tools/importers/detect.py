"""Chooses an importer by what a source contains, never by its file extension."""

from pathlib import Path

from braid.tools.importers.jsonl import JsonlImporter
from braid.tools.importers.locomo import LocomoImporter
from braid.tools.importers.message import HEAD_BYTES, Importer

FORMATS: tuple[Importer, ...] = (JsonlImporter(), LocomoImporter())
"""Every known format, in the order in which they are asked."""


class UnknownFormatError(ValueError):
    """No importer recognises the source. The message lists the known formats."""


def detect(head: bytes, path: Path | None = None) -> Importer:
    """The importer for a source that begins with `head` (`HEAD_BYTES`). UnknownFormatError if none fits."""
    for importer in FORMATS:
        if importer.recognises(head, path):
            return importer
    raise UnknownFormatError(_unknown(head, path))


def read_head(path: Path) -> bytes:
    """The first `HEAD_BYTES` of a file. OSError is left alone."""
    with path.open("rb") as stream:
        return stream.read(HEAD_BYTES)


def detect_file(path: Path) -> tuple[Importer, str]:
    """The importer for a file, and its source id for `Message.key`. UnknownFormatError if none fits."""
    head = read_head(path)
    importer = detect(head, path)
    return importer, importer.source_id(head)


def by_name(name: str) -> Importer:
    """The importer of a format named by a person. UnknownFormatError if there is none of that name."""
    for importer in FORMATS:
        if importer.name == name:
            return importer
    raise UnknownFormatError(f"unknown format {name!r}; known: {', '.join(each.name for each in FORMATS)}")


def _unknown(head: bytes, path: Path | None) -> str:
    what = "the input" if path is None else str(path)
    state = "has no known format" if head.strip() else "is empty"
    known = "\n".join(f"  {importer.name}: {importer.shape}" for importer in FORMATS)
    return f"{what} {state}; known formats:\n{known}"
