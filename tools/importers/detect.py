"""Finds the importers that are installed, and chooses one by what a source contains, never by its file extension."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import BinaryIO, NamedTuple

from braid.tools.importers.archive import MAGIC, of_archive
from braid.tools.importers.errors import SourceError, UnknownFormatError
from braid.tools.importers.message import Importer
from braid.tools.importers.source import ImportSource, Said, of_file, of_folder, of_stream

GROUP = "braid.importers"
"""The entry-point group: name of the format → a class as `Importer` says."""
OURS = (
    "chatgpt", "claude", "claude-code", "openai", "locomo", "realtalk", "slack", "discord", "jsonl", "mbox", "parquet",
    "markdown", "csv", "text",
)  # fmt: skip
"""The formats of this package in the order in which they are asked, the most particular first."""
_OWNER = "braid.tools.importers."


class InstalledImporters(NamedTuple):
    """The importers in the order in which they are asked, and what was left out, with the reason."""

    importers: tuple[Importer, ...]
    troubles: tuple[str, ...]


@cache
def installed() -> InstalledImporters:
    """Every importer: those of other packages first, in the order of their names, then this package's."""
    found: dict[str, Importer] = {}
    troubles: list[str] = []
    for entry in sorted(entry_points(group=GROUP), key=_place):
        if entry.name in found or (entry.name in OURS and not entry.value.startswith(_OWNER)):
            if not entry.value.startswith(_OWNER):
                troubles.append(f"the importer {entry.value} is left out: {entry.name!r} is taken")
            continue
        try:
            found[entry.name] = entry.load()()
        except Exception as error:
            troubles.append(f"the importer {entry.value} is left out: {type(error).__name__}: {error}")
    return InstalledImporters(tuple(found.values()), tuple(troubles))


def _place(entry: EntryPoint) -> tuple[int, str, str]:
    ours = entry.value.startswith(_OWNER) and entry.name in OURS
    return (OURS.index(entry.name) if ours else -1, entry.name, entry.value)


def open_path(path: Path, *, columns: Said = None) -> ImportSource:
    """A file, folder or zip as a source, to be closed by the caller. SourceError, OSError."""
    if path.is_dir():
        return of_folder(path, columns=columns)
    with path.open("rb") as stream:
        magic = stream.read(len(MAGIC))
    return of_archive(path, columns=columns) if magic == MAGIC else of_file(path, columns=columns)


def open_stream(stream: BinaryIO, *, columns: Said = None) -> ImportSource:
    """A pipe as a source. SourceError for a zip, which is read from its end."""
    source = of_stream(stream, columns=columns)
    if source.head.startswith(MAGIC):
        raise SourceError("a zip is read from its end: save it to a file and give that")
    return source


def detect(source: ImportSource, shown: str = "the input") -> Importer:
    """The importer for a source. UnknownFormatError, with the known formats, if none recognises it."""
    for importer in installed().importers:
        if importer.recognises(source):
            return importer
    empty = not source.names() if source.is_tree else not source.head.strip()
    state = "is empty" if empty else "has no known format"
    known = "\n".join(f"  {importer.name}: {importer.shape}" for importer in installed().importers)
    named = "" if empty else "\nif it is one of them, name it; a table with a header: --format csv"
    raise UnknownFormatError(f"{shown} {state}; known formats:\n{known}{named}")


def by_name(name: str) -> Importer:
    """The importer of a format named by a person. UnknownFormatError if there is none of that name."""
    for importer in installed().importers:
        if importer.name == name:
            return importer
    known = ", ".join(each.name for each in installed().importers)
    raise UnknownFormatError(f"unknown format {name!r}; known: {known}")
