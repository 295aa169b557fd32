"""How an audit cuts the log into stretches: at frames that the index names and the frames confirm (SPEC §11.1)."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np

from braid.ledger.audit.facts import Chunk
from braid.ledger.audit.findings import Finding
from braid.ledger.audit.scan import SEGMENT_HEADER_BYTES, Broken, Window, walk, whole_end
from braid.wal.errors import CorruptLogError, LogFormatError
from braid.wal.frame import HEADER_BYTES, FrameError, parse_header
from braid.wal.preallocation import is_room
from braid.wal.regular import GROWING_BYTES, open_regular, read_regular
from braid.wal.segment import check_segment_header

_ROW = np.dtype([("envelope_at", "<u8"), ("body_at", "<u8"), ("envelope_len", "<u4"), ("body_len", "<u4")])
MAX_CHUNK = 1 << 20
MIN_CHUNK = 256 << 10
RecordKeys = Callable[[int, int], bytes]
"""`(first, count)` to 64 bytes a record for a deep audit."""


class SegmentFile(msgspec.Struct, frozen=True):
    """A segment as an audit found it: `end` is where the log ends in it."""

    path: Path
    name: str
    first: int
    end: int


class SegmentLayout(msgspec.Struct, frozen=True):
    """The segments in order, the bytes of a torn tail behind them, and what was wrong."""

    segments: list[SegmentFile]
    torn: int
    findings: list[Finding]

    @property
    def bytes(self) -> int:
        """Bytes of the log."""
        return sum(segment.end for segment in self.segments)


def lay_out(store: Path, store_id: str, floor: int) -> SegmentLayout:
    """Find the segments and the log's end; `floor` is how many records signed heads cover. OSError passes through."""
    findings: list[Finding] = []
    segments: list[SegmentFile] = []
    torn = 0
    paths = sorted((store / "log").glob("*.seg"))
    for place, path in enumerate(paths):
        name, size = f"log/{path.name}", path.stat().st_size
        last = place == len(paths) - 1
        if last and place and size < SEGMENT_HEADER_BYTES:
            torn += size  # died creating it: no frame can be in it
            break
        first = _first_of(path, name, store_id, findings)
        if first is None:
            continue
        segments.append(SegmentFile(path, name, first, size))
    if not segments:
        findings.append(Finding("segment", "the log has no segment that can be read", file="log"))
        return SegmentLayout([], torn, findings)
    if segments[0].first != 0:
        findings.append(Finding("segment", "the log's first segment is missing", 0, file=segments[0].name))
    end, behind = _end_of(segments[-1], floor)
    torn += behind
    segments[-1] = msgspec.structs.replace(segments[-1], end=end)
    return SegmentLayout(segments, torn, findings)


def _first_of(path: Path, name: str, store_id: str, findings: list[Finding]) -> int | None:
    """Return the segment's first index: its header's, or its name's where the header is damaged."""
    named = int(path.stem) if path.stem.isdigit() and len(path.stem) == 12 else None
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            first = check_segment_header(file.read(SEGMENT_HEADER_BYTES), name, store_id)
    except (CorruptLogError, LogFormatError) as error:
        reason = error.reason if isinstance(error, CorruptLogError) else str(error)
        findings.append(Finding("segment", reason, file=name, offset=0))
        return named
    if first != named:
        message = f"the header says that its first record is {first}"
        findings.append(Finding("segment", message, file=name, offset=0))
    return first if named is None else named


def _end_of(segment: SegmentFile, floor: int) -> tuple[int, int]:
    """Return where the log ends in its last segment, and how many bytes of an unfinished transaction are behind."""
    start, first = SEGMENT_HEADER_BYTES, segment.first
    fd = open_regular(segment.path)
    try:
        place = locate(segment, floor, fd)
        if place is not None:
            start, first = place, floor
        window = Window(fd, segment.end)
        end = whole_end(window, start, first, floor)
        return end, 0 if is_room(window.read, end) else window.end - end
    finally:
        os.close(fd)


def locate(segment: SegmentFile, index: int, fd: int) -> int | None:
    """Return the offset of the frame that begins with record `index`, as the index says and the frame confirms."""
    if index == segment.first:
        return SEGMENT_HEADER_BYTES
    rows = _rows(segment)
    if rows is None or not 0 < index - segment.first <= len(rows):
        return None
    row = rows[index - segment.first - 1]
    offset = int(row["body_at"]) + int(row["body_len"])
    if offset == segment.end:
        return offset
    return offset if _begins(fd, offset, index) else None


def _begins(fd: int, offset: int, index: int) -> bool:
    if not 0 <= offset < 1 << 62:
        return False
    try:
        return parse_header(os.pread(fd, HEADER_BYTES, offset)).first == index
    except FrameError:
        return False


def _rows(segment: SegmentFile) -> "np.ndarray[tuple[int], np.dtype[np.void]] | None":
    try:
        data = read_regular(segment.path.with_suffix(".idx"), GROWING_BYTES)
    except FileNotFoundError:
        return None
    return np.frombuffer(data, dtype=_ROW, count=len(data) // _ROW.itemsize)


def cut(
    segment: SegmentFile, start: int, first: int, size: int, keys: RecordKeys | None, *, trust_index: bool
) -> Iterator[Chunk]:
    """Yield stretches of about `size` bytes from the frame at `start`, whose first record is `first`."""
    cuts = _cuts_by_index(segment, start, size) if trust_index else None
    if cuts is None:
        cuts = _cuts_by_frames(segment, start, size)
    bounds = [(start, first), *cuts]
    for place, (at, index) in enumerate(bounds):
        stop = bounds[place + 1][0] if place + 1 < len(bounds) else segment.end
        sealed = b""
        if keys:
            after = bounds[place + 1][1] if place + 1 < len(bounds) else _last(segment)
            sealed = keys(index, max(after - index, 0))
        yield Chunk(str(segment.path), segment.name, at, stop, segment.end, segment.first, index, sealed)


def _last(segment: SegmentFile) -> int:
    """Return the index after the segment's last record, by its frames."""
    last = segment.first
    for _, first, count in _frames(segment, SEGMENT_HEADER_BYTES):
        last = max(last, first + count) if first + count < segment.first + segment.end else last
    return last


def _cuts_by_index(segment: SegmentFile, start: int, size: int) -> list[tuple[int, int]] | None:
    rows = _rows(segment)
    if rows is None or len(rows) < 2:
        return None
    ends = rows["body_at"][:-1] + rows["body_len"][:-1]
    breaks = np.nonzero(ends != rows["body_at"][1:])[0]
    offsets = ends[breaks].astype(np.int64)
    if len(offsets) and not bool((offsets[1:] > offsets[:-1]).all()):
        return None
    wanted = np.arange(start + size, segment.end - size // 2, size)
    places = np.unique(np.searchsorted(offsets, wanted))
    fd = open_regular(segment.path)
    try:
        cuts: list[tuple[int, int]] = []
        for place in places[places < len(offsets)].tolist():
            offset, index = int(offsets[place]), segment.first + int(breaks[place]) + 1
            if not _begins(fd, offset, index):
                return None
            if start < offset < segment.end:
                cuts.append((offset, index))
        return cuts
    finally:
        os.close(fd)


def _cuts_by_frames(segment: SegmentFile, start: int, size: int) -> list[tuple[int, int]]:
    cuts: list[tuple[int, int]] = []
    last = start
    for offset, first, _ in _frames(segment, start):
        if offset - last >= size:
            cuts.append((offset, first))
            last = offset
    return cuts


def _frames(segment: SegmentFile, start: int) -> Iterator[tuple[int, int, int]]:
    """Yield (offset, first record, count) of the frames that can be told."""
    fd = open_regular(segment.path)
    try:
        for seen in walk(Window(fd, segment.end), start, segment.end):
            if not isinstance(seen, Broken):
                yield seen.offset, seen.header.first, seen.header.count
    finally:
        os.close(fd)
