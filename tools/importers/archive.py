"""A zip as a source: members are read where they lie, nothing is unpacked, and what plays tricks is refused whole."""

import stat
import struct
import zlib
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import IO, BinaryIO, cast
from urllib.parse import quote
from zipfile import BadZipFile, ZipFile, ZipInfo

from braid.tools.importers.errors import ArchiveError
from braid.tools.importers.source import MAX_PARTS, ImportSource, Meter, SourceFile

MAGIC = b"PK\x03\x04"
MAX_DIRECTORY_BYTES = 32 * 2**20
MAX_TOTAL_BYTES = 64 * 2**30
MAX_RATIO = 200
_RATIO_MATTERS_BYTES = 2**20
"""A smaller member does no harm, however well it is packed; many of them do."""
_RATIO_MATTERS_TOGETHER = 64 * 2**20
_LOCAL_HEADER_BYTES = 30
_END = struct.Struct("<4s4H2LH")
_END_MAGIC = b"PK\x05\x06"
_MAX_COMMENT = 65_535
_UNREADABLE = (BadZipFile, NotImplementedError, RuntimeError, ValueError, OverflowError, struct.error)


def of_archive(
    path: Path, *, columns: Mapping[str, str] | None = None, opened_at: datetime | None = None
) -> ImportSource:
    """A zip as a source. ArchiveError for one that is damaged or refused; OSError is left alone."""
    _check_directory(path)
    uri = path.resolve().as_uri()
    try:
        archive = ZipFile(path)
    except _UNREADABLE as error:
        raise ArchiveError(f"{path}: a damaged zip: {error}") from error
    try:
        members = archive.infolist()
        if len(members) > MAX_PARTS:
            raise ArchiveError(f"{path}: a zip with {len(members)} members: {MAX_PARTS} are the limit")
        for member in members:
            _check(member, path)
        _check_together(members, path)
        if len({member.filename for member in members}) != len(members):
            raise ArchiveError(f"{path}: a zip with two members of the same name")
    except BaseException:
        archive.close()
        raise
    shown = [each for each in members if not each.is_dir() and not _is_hidden(each.filename)]
    meter = Meter(sum(each.file_size for each in shown))
    parts = [_part(archive, each, uri, meter) for each in sorted(shown, key=lambda each: each.filename)]
    return ImportSource(
        parts, uri, is_tree=True, columns=columns, opened_at=opened_at, meter=meter, close=archive.close
    )


def _check_directory(path: Path) -> None:
    """Refuse a list of members that would not fit: `ZipFile` holds it whole."""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - _MAX_COMMENT - _END.size))
        tail = stream.read()
    at = tail.rfind(_END_MAGIC)
    if at < 0 or len(tail) - at < _END.size:
        raise ArchiveError(f"{path}: a damaged zip: it has no end")
    directory = int(_END.unpack_from(tail, at)[5])
    if directory == 0xFFFFFFFF:
        at = tail.rfind(b"PK\x06\x06", 0, at)
        directory = int.from_bytes(tail[at + 40 : at + 48], "little") if at >= 0 else MAX_DIRECTORY_BYTES + 1
    if directory > MAX_DIRECTORY_BYTES:
        raise ArchiveError(f"{path}: a zip whose list of members is longer than {MAX_DIRECTORY_BYTES} bytes")


def _check(member: ZipInfo, path: Path) -> None:
    """Refuse a name that leads out of the archive, a link, and a bomb."""
    name = member.orig_filename
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or "\0" in name or (parts[0].endswith(":")):
        raise ArchiveError(f"{path}: a zip with a path that leads out of it: {name[:80]!r}")
    if member.header_offset < 0:
        raise ArchiveError(f"{path}: a damaged zip: {name[:80]!r} lies before its beginning")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise ArchiveError(f"{path}: a zip with a link in it: {name[:80]!r}")
    if member.file_size > max(_RATIO_MATTERS_BYTES, MAX_RATIO * member.compress_size):
        raise ArchiveError(
            f"{path}: {name[:80]!r} would unpack to more than {MAX_RATIO} times its size: refused as a zip bomb"
        )


def _check_together(members: list[ZipInfo], path: Path) -> None:
    """Refuse members that are too much together, or share their bytes: Python sees the latter from 3.11.8 on only."""
    total, size = sum(member.file_size for member in members), path.stat().st_size
    if total > MAX_TOTAL_BYTES:
        raise ArchiveError(f"{path}: a zip of more than {MAX_TOTAL_BYTES} bytes unpacked")
    if total > max(_RATIO_MATTERS_TOGETHER, MAX_RATIO * size):
        raise ArchiveError(
            f"{path}: its members together would unpack to more than {MAX_RATIO} times its size: refused as a zip bomb"
        )
    end = 0
    for member in sorted(members, key=lambda each: each.header_offset):
        if member.header_offset < end:
            raise ArchiveError(f"{path}: a zip in which {member.filename[:80]!r} lies over another member")
        # The least that it takes: the name and what else its header holds come on top.
        end = member.header_offset + _LOCAL_HEADER_BYTES + member.compress_size


def _is_hidden(name: str) -> bool:
    """Hidden files, and the ones that macOS puts beside each file of a zip."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def _part(archive: ZipFile, member: ZipInfo, uri: str, meter: Meter) -> SourceFile:
    def opener() -> BinaryIO:
        try:
            return cast("BinaryIO", _Member(archive.open(member), member.filename, meter))
        except _UNREADABLE as error:
            raise ArchiveError(f"{member.filename}: a damaged member of a zip: {error}") from error

    return SourceFile(member.filename, f"{uri}!/{quote(member.filename)}", opener)


class _Member:
    """A member as it is read; damage that shows only then is an ArchiveError."""

    def __init__(self, stream: IO[bytes], name: str, meter: Meter) -> None:
        self._stream = stream
        self._name = name
        self._meter = meter

    def __enter__(self) -> "_Member":
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def read(self, size: int = -1) -> bytes:
        return self._counted(self._stream.read, size)

    def readline(self, size: int = -1) -> bytes:
        return self._counted(self._stream.readline, size)

    def _counted(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            data = read(size)
        except (*_UNREADABLE, zlib.error, EOFError) as error:
            raise ArchiveError(f"{self._name}: a damaged member of a zip: {error}") from error
        self._meter.done += len(data)
        return data
