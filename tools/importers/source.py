"""A source as importers see it: one file, or a tree of files (a folder, a zip), and what a person said of it.

Nothing is followed out of a folder: links are passed over. Hidden files and folders are passed over, too.
"""

import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Self, cast
from urllib.parse import quote

from braid.tools.importers.errors import SourceError
from braid.tools.importers.message import HEAD_BYTES

MAX_PARTS = 200_000
"""How many files a folder or an archive may have."""
_GLANCE = 20
"""How many files of a tree are looked into to find its format."""
_BUFFER_BYTES = 2**18
BOM = b"\xef\xbb\xbf"


class Meter:
    """How far the reading has come, in bytes, for a progress bar; `total` is 0 where it is not known."""

    def __init__(self, total: int = 0) -> None:
        self.done = 0
        self.total = total


class SourceFile:
    """One file of a source. `name` is its path in the tree, `/` between; empty when the file is the source."""

    def __init__(
        self,
        name: str,
        uri: str,
        opener: Callable[[], BinaryIO],
        *,
        path: Path | None = None,
    ) -> None:
        self.name = name
        self.uri = uri
        self.path = path
        """Where it lies, if it lies anywhere: for formats that are not read from front to back."""
        self.was_read = False
        """Whether it was opened to be read, and not for its head alone."""
        self._opener = opener

    def open(self) -> BinaryIO:
        """The file from its beginning, to be closed by the caller. OSError is left alone."""
        self.was_read = True
        return self._opener()

    @cached_property
    def head(self) -> bytes:
        """The first `HEAD_BYTES`."""
        with self._opener() as stream:
            return stream.read(HEAD_BYTES)


class ImportSource:
    """What is read: files, the columns that a person named, and the moment it was opened at."""

    def __init__(
        self,
        parts: Sequence[SourceFile],
        uri: str,
        *,
        is_tree: bool = False,
        columns: Mapping[str, str] | None = None,
        opened_at: datetime | None = None,
        meter: "Meter | None" = None,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self.uri = uri
        self.is_tree = is_tree
        self.columns = dict(columns or {})
        """For tables: field → column (docs/ingest.md)."""
        self.zone: tzinfo | None = None
        """Where clocks stood by which times without an offset were written, as a person says; None: nobody says."""
        self.opened_at = opened_at or datetime.now(UTC)
        """The reader's clock: times far ahead of it are refused."""
        self.meter = meter or Meter()
        self._parts = parts
        self._close = close

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    @property
    def head(self) -> bytes:
        """The first `HEAD_BYTES` of a file, without a byte order mark; a tree has none."""
        return b"" if self.is_tree else self._parts[0].head.removeprefix(BOM)

    def parts(self, pattern: str = "*") -> Iterator[SourceFile]:
        """The files in order of their names; of a tree those whose last name matches. A file is its own part."""
        for part in self._parts:
            if not self.is_tree or fnmatchcase(part.name.rpartition("/")[2], pattern):
                yield part

    def names(self) -> list[str]:
        """The paths of a tree's files; none for a file."""
        return [part.name for part in self._parts] if self.is_tree else []

    def unread(self) -> list[str]:
        """The paths of a tree's files that no importer has opened to read."""
        return [part.name for part in self._parts if not part.was_read] if self.is_tree else []

    def shows(self, pattern: str, looks_right: Callable[[bytes], bool]) -> bool:
        """Whether a head looks right: the file's own, or one of the first files that match."""
        for _, part in zip(range(_GLANCE), self.parts(pattern), strict=False):
            if looks_right(part.head.removeprefix(BOM)):
                return True
        return False


Said = Mapping[str, str] | None


def of_file(path: Path, *, columns: Said = None, opened_at: datetime | None = None) -> ImportSource:
    """A file as a source."""
    uri = path.resolve().as_uri()
    meter = Meter(path.stat().st_size)
    return ImportSource(
        [_lying(path, "", uri, meter)], uri, columns=columns, opened_at=opened_at, meter=meter
    )


def of_folder(folder: Path, *, columns: Said = None, opened_at: datetime | None = None) -> ImportSource:
    """A folder as a source. SourceError for one with too many files."""
    uri = folder.resolve().as_uri()
    found = sorted(_walk(folder))
    meter = Meter(sum((folder / name).stat().st_size for name in found))
    parts = [
        _lying(folder / name, _shown(name), f"{uri}/{quote(os.fsencode(name))}", meter) for name in found
    ]
    return ImportSource(parts, uri, is_tree=True, columns=columns, opened_at=opened_at, meter=meter)


def of_stream(
    stream: BinaryIO, uri: str = "stream:", *, columns: Said = None, opened_at: datetime | None = None
) -> ImportSource:
    """A stream that is read once, from where it stands: a pipe."""
    once = _Once(stream)
    part = SourceFile("", uri, once.open)
    part.head = once.head  # read ahead, and given again by `open`
    return ImportSource([part], uri, columns=columns, opened_at=opened_at)


def _lying(path: Path, name: str, uri: str, meter: Meter) -> SourceFile:
    def opener() -> BinaryIO:
        return cast("BinaryIO", io.BufferedReader(_Metered(path, meter), _BUFFER_BYTES))

    return SourceFile(name, uri, opener, path=path)


def _shown(name: str) -> str:
    """A file's name as text: bytes that are none become U+FFFD."""
    return os.fsencode(name).decode("utf-8", "replace")


def _walk(folder: Path) -> Iterator[str]:
    count = 0
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in files:
            path = Path(root, name)
            if name.startswith(".") or path.is_symlink() or not path.is_file():
                continue
            count += 1
            if count > MAX_PARTS:
                raise SourceError(f"{folder} has more than {MAX_PARTS} files: give a smaller folder")
            yield path.relative_to(folder).as_posix()


class _Metered(io.FileIO):
    """A file that notes how much of it was read."""

    def __init__(self, path: Path, meter: Meter) -> None:
        super().__init__(path, "rb")
        self._meter = meter

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        count = super().readinto(buffer) or 0
        self._meter.done += count
        return count


class _Once:
    """A stream whose head is read ahead."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.head = stream.read(HEAD_BYTES)

    def open(self) -> BinaryIO:
        whole = _Rejoined(self.head, cast("io.BufferedIOBase", self._stream))
        return cast("BinaryIO", io.BufferedReader(whole, _BUFFER_BYTES))


class _Rejoined(io.RawIOBase):
    """A stream whose head was read already, from its beginning. Closing it leaves the stream open."""

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
