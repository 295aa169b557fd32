"""A segment: one file of frames, and beside it the `.idx` that says where each record lies (SPEC §2.1, §2.4)."""

import os
import struct
from collections.abc import Iterator
from operator import add, le, lt
from pathlib import Path
from threading import Lock

from blake3 import blake3

from braid.wal.durable import create_file, replace_file
from braid.wal.errors import CorruptLogError, LogFormatError
from braid.wal.frame import HEADER_BYTES, MAGIC, Extent, Frame, FrameError, parse_header
from braid.wal.regular import GROWING_BYTES, open_regular, read_regular

SEGMENT_LIMIT = 64 << 20
"""A segment this long takes no further frame."""
SEGMENT_HEADER_BYTES = 64
ENTRY = struct.Struct("<QQII")
_HEADER = struct.Struct("<8sHHIQ16s8x16s")
_READ_AHEAD = 4 << 20
_BEYOND = 1 << 62


def encode_segment_header(first: int, store_id: str) -> bytes:
    """Return the 64 header bytes of a segment whose first record is `first`."""
    start = _HEADER.pack(b"BRAIDSEG", 1, 0, 0, first, store_id.encode(), b"")[:48]
    return start + blake3(start).digest(length=16)


def check_segment_header(data: bytes, name: str, store_id: str) -> int:
    """Return the first log index that `data`, a segment's first bytes, states.

    Raises CorruptLogError or LogFormatError for a header that is not this store's.
    """
    if len(data) < SEGMENT_HEADER_BYTES or blake3(data[:48]).digest(length=16) != data[48:64]:
        raise CorruptLogError(name, 0, "the segment's header is not whole")
    magic, version, zero, zero_too, first, store, _ = _HEADER.unpack(data[:64])
    if magic != b"BRAIDSEG" or zero or zero_too or data[40:48] != bytes(8):
        raise CorruptLogError(name, 0, "this is not a segment")
    if version != 1:
        raise LogFormatError(f"{name} has format {version}; this release reads format 1: upgrade braid-store")
    if store != store_id.encode():
        raise CorruptLogError(name, 0, "the segment belongs to another store")
    return int(first)


def segment_path(folder: Path, first: int) -> Path:
    """Return the path of the segment whose first record is `first`."""
    return folder / f"{first:012d}.seg"


def unborn(path: Path) -> bool:
    """Whether a crash left this file while it was being created: too short for a frame, and without a whole header."""
    try:
        if path.stat().st_size > SEGMENT_HEADER_BYTES:
            return False
        data = read_regular(path)
    except FileNotFoundError:  # a writer has just dropped it
        return True
    return len(data) < SEGMENT_HEADER_BYTES or not any(data)


class Segment:
    """An open segment file and its index of extents."""

    def __init__(self, path: Path, store_id: str) -> None:
        """Open for reading; raise CorruptLogError when header and file name don't agree."""
        self.path = path
        self.store_id = store_id
        self.name = f"{path.parent.name}/{path.name}"
        self._fd = -1
        self._idx_fd: int | None = None
        self._idx_turn = Lock()
        self._entries = b""
        self._fd = open_regular(path)
        try:
            self.first = check_segment_header(
                os.pread(self._fd, SEGMENT_HEADER_BYTES, 0), self.name, store_id
            )
            if path.name != f"{self.first:012d}.seg":
                raise CorruptLogError(self.name, 0, f"the header says its first record is {self.first}")
        except BaseException:
            self.close()
            raise

    def __del__(self) -> None:
        """Let go of a file that was compacted once no thread reads it any more: till then it takes room."""
        self.close()

    @classmethod
    def create(cls, folder: Path, first: int, store_id: str) -> "Segment":
        """Create an empty segment and its empty index; durable once the folder is synced."""
        path = segment_path(folder, first)
        create_file(path.with_suffix(".idx"), b"", "wal.idx.create")
        create_file(path, encode_segment_header(first, store_id), "wal.segment.create")
        return cls(path, store_id)

    def close(self) -> None:
        """Close the descriptors; harmless when they are."""
        fd, idx_fd = self._fd, self._idx_fd
        self._fd, self._idx_fd = -1, None
        for one in (fd, -1 if idx_fd is None else idx_fd):
            if one >= 0:
                os.close(one)

    @property
    def size(self) -> int:
        """Bytes in the file now."""
        return os.fstat(self._fd).st_size

    def replaced(self) -> bool:
        """Whether another file now has this segment's name (compaction swaps files)."""
        try:
            return self.path.stat().st_ino != os.fstat(self._fd).st_ino
        except FileNotFoundError:
            return True

    def is_file_of(self, fd: int) -> bool:
        """Whether a descriptor is of the very file that this segment reads."""
        return os.path.sameopenfile(self._fd, fd)

    def read(self, offset: int, length: int) -> bytes:
        """Return `length` bytes, or fewer at the end of the file; none for a place that no file reaches."""
        if offset >= _BEYOND:
            return b""
        if length > _READ_AHEAD:
            length = min(length, max(self.size - offset, 0))
        return os.pread(self._fd, length, offset)

    def entry(self, index: int) -> Extent | None:
        """Return where record `index` lies, or None when the index file does not reach it."""
        at = (index - self.first) * ENTRY.size
        if at < 0:
            return None
        if self._entries:
            data = self._entries[at : at + ENTRY.size]
        else:
            fd = self._idx_fd
            if fd is None:
                try:
                    fd = self._opened_index()
                except FileNotFoundError:
                    return None
            data = os.pread(fd, ENTRY.size, at)
        return Extent(*ENTRY.unpack(data)) if len(data) == ENTRY.size else None

    def _opened_index(self) -> int:
        """Return the index's descriptor. Of two threads that need it at once the second takes the first one's."""
        with self._idx_turn:
            if self._idx_fd is None:
                self._idx_fd = open_regular(self.path.with_suffix(".idx"))
            return self._idx_fd

    @property
    def indexed(self) -> int:
        """How many records the index reaches."""
        if self._entries:
            return len(self._entries) // ENTRY.size
        try:
            return self.path.with_suffix(".idx").stat().st_size // ENTRY.size
        except FileNotFoundError:
            return 0

    def entries(self, count: int) -> bytes | None:
        """Return the first `count` index entries, packed as `ENTRY`, or None when the file has fewer."""
        try:
            data = self._entries or read_regular(self.path.with_suffix(".idx"), GROWING_BYTES)
        except FileNotFoundError:
            return None
        return data[: count * ENTRY.size] if len(data) >= count * ENTRY.size else None

    def index_holds(self, count: int) -> bool:
        """Whether the first `count` entries have the shape that frames give them; no proof, a filter for
        torn index pages. Without numpy, whose import costs more than it saves on the 64 MB of a segment.
        """
        data = self.entries(count)
        if not data:
            return data is not None
        starts, bodies, lengths, body_lengths = zip(*ENTRY.iter_unpack(data), strict=True)
        return (
            all(map(le, map(add, starts, lengths), starts[1:]))
            and all(map(le, map(add, bodies, body_lengths), bodies[1:]))
            and all(lengths)
            and all(map(lt, starts, bodies))
            and bodies[-1] + body_lengths[-1] <= self.size
        )

    def last_frame(self, count: int) -> int:
        """Return the first record of the last frame of `count` records: in a frame, bodies follow each other."""
        at = count - 1
        body = self.entry(self.first + at)
        while at > 0 and body is not None:
            before = self.entry(self.first + at - 1)
            if before is None or before.body_at + before.body_len != body.body_at:
                break
            at, body = at - 1, before
        return self.first + at

    def frame_start(self, index: int, count: int) -> int | None:
        """Return the offset of the frame that begins with record `index`, or the end of the last of `count` records.

        A record begins a frame exactly when the record before it ends one: where a body's end is followed by a frame.
        """
        if index == self.first:
            return SEGMENT_HEADER_BYTES
        before = self.entry(index - 1)
        if before is None or index - self.first > count:
            return None
        return before.body_at + before.body_len

    def frames(self, offset: int, *, bodies: bool = True, end: int | None = None) -> Iterator[Frame]:
        """Yield whole frames from `offset` to the file's end (or `end`); raise CorruptLogError at the
        first that is not.
        """
        limit = self.size if end is None else end
        window, window_at = b"", offset
        while offset < limit:
            at = offset - window_at
            if len(window) - at < HEADER_BYTES:
                window, window_at, at = self.read(offset, _READ_AHEAD), offset, 0
            try:
                header = parse_header(window[at : at + HEADER_BYTES])
                if offset + header.length > limit:
                    raise FrameError("the frame is incomplete")
                if len(window) - at < header.length:
                    window, window_at, at = self.read(offset, max(header.length, _READ_AHEAD)), offset, 0
                head_end = at + HEADER_BYTES + header.head_len
                section = window[at + HEADER_BYTES : head_end]
                frame = Frame(
                    header, offset, section, window[head_end : at + header.length] if bodies else b""
                )
            except FrameError as error:
                raise CorruptLogError(self.name, offset, str(error)) from error
            yield frame
            offset = frame.end_offset

    def frames_below(self, offset: int, stop: int) -> Iterator[Frame]:
        """Yield the frames from `offset` that begin with a record below `stop`, without bodies; what a head does not
        cover, and room (SPEC §2.6), is not looked at.
        """
        for frame in self.frames(offset, bodies=False):
            if frame.first >= stop:
                return
            yield frame
            if frame.end >= stop:
                return

    def later_group(self, offset: int) -> int | None:
        """Return the offset of a well-formed frame that was written by a later write than what stands at `offset`."""
        window_at = offset + 1
        while window := self.read(window_at, _READ_AHEAD):
            at = window.find(MAGIC)
            while at != -1:
                try:
                    if parse_header(self.read(window_at + at, HEADER_BYTES)).group > offset:
                        return window_at + at
                except FrameError:
                    pass
                at = window.find(MAGIC, at + 1)
            if len(window) < _READ_AHEAD:
                return None
            window_at += len(window) - len(MAGIC) + 1
        return None

    def rebuild_index(self, end: int, *, write: bool) -> None:
        """Derive the index again from the frames before offset `end`; on disk when `write`, else in memory."""
        rows = bytearray()
        for frame in self.frames(SEGMENT_HEADER_BYTES, bodies=False, end=end):
            rows += pack_entries(frame.extents())
        # Another thread may be reading the index that there was. Its descriptor is never closed under it: by then the
        # number could be another file's. It goes on to the new file in one step, or stays.
        if write:
            path = self.path.with_suffix(".idx")
            replace_file(path, bytes(rows), "wal.idx.rebuild")
            with self._idx_turn:  # who is just opening the old one has it by now, and is moved on
                if self._idx_fd is not None:
                    fresh = open_regular(path)
                    try:
                        os.dup2(fresh, self._idx_fd, inheritable=False)
                    finally:
                        os.close(fresh)
            self._entries = b""
        else:
            self._entries = bytes(rows)


def pack_entries(extents: list[Extent]) -> bytes:
    """Return the index entries of the extents, back to back."""
    return b"".join([ENTRY.pack(*extent) for extent in extents])
