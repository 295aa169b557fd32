"""One frame is one transaction: all of it or nothing (SPEC §2.2). Pure: bytes in, values out."""

import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import add
from typing import NamedTuple

import msgspec
from blake3 import blake3

MAGIC = b"BRF1"
HEADER = struct.Struct("<4sIQQQQQ16s32s")
HEADER_BYTES = HEADER.size
MAX_RECORDS = 1 << 20
_CHECKED = struct.Struct("<4sIQQQQQ")
MAX_FRAME_BYTES = 1 << 30
"""Larger transactions are refused, and a header that states more is none."""


class Stored(NamedTuple):
    """The three byte strings of a record in a frame; `links` is empty up to 256 links."""

    envelope: bytes
    links: bytes
    body: bytes


class Extent(NamedTuple):
    """Where one record lies in its segment file (the entry of the `.idx`, SPEC §2.4)."""

    envelope_at: int
    body_at: int
    envelope_len: int
    body_len: int


class FrameHeader(msgspec.Struct, frozen=True):
    """A header whose check holds; `bytes` is the whole frame's length."""

    count: int
    first: int
    tx: int
    group: int
    head_len: int
    body_len: int
    content: bytes
    raw: bytes

    @property
    def length(self) -> int:
        """Bytes of the whole frame."""
        return HEADER_BYTES + self.head_len + self.body_len


class FrameError(ValueError):
    """These bytes are not a whole, unharmed frame."""


def encode_frame(first: int, tx: int, group: int, records: Sequence[Stored]) -> list[bytes]:
    """Return the frame's bytes as three pieces, to be written back to back: header, table with envelopes, bodies."""
    count = len(records)
    if not 0 < count <= MAX_RECORDS:
        raise ValueError(f"a transaction holds 1 to {MAX_RECORDS} records, not {count}")
    lengths: list[int] = []
    head: list[bytes] = [b""]
    sealed: list[bytes] = []
    for envelope, links, body in records:
        lengths += (len(envelope), len(links), len(body))
        head += (envelope, links)
        sealed.append(body)
    head[0] = struct.pack(f"<{3 * count}I", *lengths)
    section, bodies = b"".join(head), b"".join(sealed)
    head_len, body_len = len(section), len(bodies)
    if head_len + body_len > MAX_FRAME_BYTES:
        raise ValueError(f"a transaction holds up to {MAX_FRAME_BYTES} bytes; split it")
    checked = _CHECKED.pack(MAGIC, count, first, tx, group, head_len, body_len)
    start = checked + blake3(checked).digest(16)
    return [start + blake3(start).update(section).digest(), section, bodies]


def parse_header(data: bytes | memoryview) -> FrameHeader:
    """Read a frame header whose own check holds; raise FrameError otherwise."""
    if len(data) < HEADER_BYTES:
        raise FrameError("the frame header is incomplete")
    raw = bytes(data[:HEADER_BYTES])
    magic, count, first, tx, group, head_len, body_len, check, content = HEADER.unpack(raw)
    if magic != MAGIC:
        raise FrameError("no frame begins here")
    if blake3(raw[:48]).digest(length=16) != check:
        raise FrameError("the frame header's check does not hold")
    if not (0 < count <= MAX_RECORDS and 12 * count <= head_len and head_len + body_len <= MAX_FRAME_BYTES):
        raise FrameError("the frame header states impossible sizes")
    return FrameHeader(count, first, tx, group, head_len, body_len, content, raw)


class Frame:
    """A whole frame whose envelopes and lists match their checksum; bodies are checked by their digests."""

    __slots__ = ("_bodies", "_section", "header", "lengths", "offset")

    def __init__(self, header: FrameHeader, offset: int, section: bytes, bodies: bytes) -> None:
        """Check the content; raise FrameError. `section` is table, envelopes and lists; `bodies` may be empty."""
        if len(section) != header.head_len:
            raise FrameError("the frame is incomplete")
        if blake3(header.raw[:64]).update(section).digest() != header.content:
            raise FrameError("the checksum over the frame's envelopes does not hold")
        self.header = header
        self.offset = offset
        self._section = section
        self._bodies = bodies
        self.lengths = struct.unpack_from(f"<{3 * header.count}I", section)
        table = 12 * header.count
        if table + sum(self.lengths[0::3]) + sum(self.lengths[1::3]) != header.head_len or (
            sum(self.lengths[2::3]) != header.body_len
        ):
            raise FrameError("the frame's table does not add up")

    @property
    def first(self) -> int:
        """Log index of the first record."""
        return self.header.first

    @property
    def end(self) -> int:
        """Log index after the last record."""
        return self.header.first + self.header.count

    @property
    def end_offset(self) -> int:
        """Offset in the segment after the frame's last byte."""
        return self.offset + self.header.length

    def envelopes(self) -> list[bytes]:
        """Return the envelopes in order."""
        return cut_envelopes(self._section, self.lengths)

    def records(self) -> Iterator[Stored]:
        """Yield the records in order; every body is empty when the frame was read without bodies."""
        at, body_at = 12 * self.header.count, 0
        section, bodies, lengths = self._section, self._bodies, self.lengths
        for k in range(0, len(lengths), 3):
            links_at = at + lengths[k]
            end = links_at + lengths[k + 1]
            body_end = body_at + lengths[k + 2]
            yield Stored(section[at:links_at], section[links_at:end], bodies[body_at:body_end])
            at, body_at = end, body_end

    def extents(self) -> list[Extent]:
        """Return where each record lies in the segment file."""
        return frame_extents(self.offset, self.header, self.lengths)


def cut_envelopes(section: bytes, lengths: Sequence[int]) -> list[bytes]:
    """Return the envelopes of a frame's section, whose table says `lengths`, in order."""
    sizes, lists = lengths[0::3], lengths[1::3]
    starts = accumulate(map(add, sizes, lists), initial=4 * len(lengths))
    return [section[at : at + size] for at, size in zip(starts, sizes, strict=False)]


def frame_extents(offset: int, header: FrameHeader, lengths: Sequence[int]) -> list[Extent]:
    """Return where each record of a frame at `offset` lies in its segment file."""
    at = offset + HEADER_BYTES + 12 * header.count
    body_at = offset + HEADER_BYTES + header.head_len
    places: list[Extent] = []
    for k in range(0, len(lengths), 3):
        places.append(Extent(at, body_at, lengths[k], lengths[k + 2]))
        at += lengths[k] + lengths[k + 1]
        body_at += lengths[k + 2]
    return places
