"""Frames as an audit reads them: whatever can still be read, and a value for whatever can't (SPEC §2.2, §11.1).

Nothing here raises for bad bytes. After a broken frame the scan goes on at the next header whose check holds.
"""

import errno
import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

from blake3 import blake3

from braid.ledger.record.envelope import decode_payload, digest_text, unwrap
from braid.wal.frame import HEADER_BYTES, MAGIC, FrameError, FrameHeader, cut_envelopes, parse_header

SEGMENT_HEADER_BYTES = 64
_READ_AHEAD = 4 << 20


class Window:
    """A file read forward, up to `end`; ahead of what is asked for only up to `stop`."""

    def __init__(self, fd: int, end: int, stop: int | None = None) -> None:
        self._fd = fd
        self.end = end
        self._stop = end if stop is None else stop
        self._data = b""
        self._at = 0

    def read(self, offset: int, length: int) -> bytes:
        """Return `length` bytes, or fewer where `end` comes first."""
        start = offset - self._at
        if start >= 0 and start + length <= len(self._data):
            return self._data[start : start + length]
        length = max(min(length, self.end - offset), 0)
        if length > _READ_AHEAD // 2:
            return _pread(self._fd, offset, length)
        self._data = _pread(self._fd, offset, min(_READ_AHEAD, max(self._stop - offset, length)))
        self._at = offset
        return self._data[:length]

    def data_from(self, offset: int) -> int:
        """Return where bytes are stored again, from `offset` on: what a file was never given reads as zeros, and may be
        a terabyte."""
        try:
            return min(os.lseek(self._fd, offset, os.SEEK_DATA), self.end)
        except OSError as error:
            return self.end if error.errno == errno.ENXIO else offset


def _pread(fd: int, offset: int, length: int) -> bytes:
    data = os.pread(fd, length, offset)
    while 0 < len(data) < length and (more := os.pread(fd, length - len(data), offset + len(data))):
        data += more  # one call gives at most 2 GiB
    return data


class SeenFrame(NamedTuple):
    """A frame whose header's check holds and whose table adds up; `whole` when the content's check holds too."""

    header: FrameHeader
    offset: int
    section: bytes
    lengths: tuple[int, ...]
    whole: bool

    @property
    def bodies_at(self) -> int:
        """Offset of the first body."""
        return self.offset + HEADER_BYTES + self.header.head_len

    def envelopes(self) -> list[bytes]:
        """Return the envelopes in order."""
        return cut_envelopes(self.section, self.lengths)


class Broken(NamedTuple):
    """Bytes that are no frame, up to `resume`."""

    offset: int
    resume: int
    reason: str


def walk(window: Window, start: int, stop: int) -> Iterator[SeenFrame | Broken]:
    """Yield what stands from `start` up to `stop`; the last frame may reach beyond `stop`, never beyond the window."""
    offset = start
    while offset < stop:
        seen = look(window, offset)
        yield seen
        offset = seen.resume if isinstance(seen, Broken) else offset + seen.header.length


def look(window: Window, offset: int) -> SeenFrame | Broken:
    """Return the frame at `offset`, or what is wrong there and where to go on."""
    try:
        header = parse_header(window.read(offset, HEADER_BYTES))
        if offset + header.length > window.end:
            raise FrameError("the frame is longer than the file")
    except FrameError as error:
        return Broken(offset, next_header(window, offset + 1), str(error))
    section = window.read(offset + HEADER_BYTES, header.head_len)
    lengths = struct.unpack_from(f"<{3 * header.count}I", section)
    heads = 12 * header.count + sum(lengths[0::3]) + sum(lengths[1::3])
    if heads != header.head_len or sum(lengths[2::3]) != header.body_len:
        return Broken(offset, offset + header.length, "the frame's table does not add up")
    whole = blake3(header.raw[:64]).update(section).digest() == header.content
    return SeenFrame(header, offset, section, lengths, whole)


def next_header(window: Window, offset: int) -> int:
    """Return the offset of the next header whose check holds, or the window's end."""
    while offset < window.end:
        data = window.read(offset, min(1 << 20, window.end - offset))
        at = data.find(MAGIC)
        while at != -1:
            if _is_header(window.read(offset + at, HEADER_BYTES)):
                return offset + at
            at = data.find(MAGIC, at + 1)
        if len(data) < len(MAGIC):
            break
        offset += len(data) - len(MAGIC) + 1
        if not data.strip(b"\0"):
            offset = window.data_from(offset)
    return window.end


def _is_header(data: bytes) -> bool:
    try:
        parse_header(data)
    except FrameError:
        return False
    return True


def whole_end(window: Window, start: int, first: int, floor: int) -> int:
    """Return where the log ends in its last segment: before a torn tail (SPEC §2.3), else at the window's end.

    A torn tail is a last write that is not whole, behind everything that a signed head covers (`floor` records).
    The frame at `start` begins with record `first`.
    """
    torn: int | None = None
    for seen in walk(window, start, window.end):
        broken = isinstance(seen, Broken)
        if torn is not None:
            if not isinstance(seen, Broken) and seen.header.group > torn:
                return window.end  # a later write stands behind it: this is damage, not a torn tail
        elif first >= floor and (broken or not _is_sound(window, seen)):
            torn = seen.offset
        elif isinstance(seen, Broken):
            return window.end
        else:
            first = seen.header.first + seen.header.count
    return window.end if torn is None else torn


def _is_sound(window: Window, seen: SeenFrame | Broken) -> bool:
    return not isinstance(seen, Broken) and seen.whole and _bodies_hold(window, seen)


def _bodies_hold(window: Window, seen: SeenFrame) -> bool:
    """Whether every body has its digest; a tail holds no erased records."""
    at, body_at = 12 * seen.header.count, seen.bodies_at
    for k in range(0, len(seen.lengths), 3):
        length, listed, body = seen.lengths[k : k + 3]
        try:
            envelope = decode_payload(unwrap(seen.section[at : at + length]).payload)
        except ValueError:  # EnvelopeError, or text that is no UTF-8
            return False
        if digest_text(window.read(body_at, body)) != envelope.body[0]:
            return False
        at += length + listed
        body_at += body
    return True
