"""The log as it is read: segments in order, their tail followed (SPEC §2)."""

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import NamedTuple
from weakref import WeakSet

from braid.wal.errors import CorruptLogError
from braid.wal.frame import Extent, Frame, FrameError
from braid.wal.segment import SEGMENT_HEADER_BYTES, Segment, unborn

_FRESH = 1 << 14
CheckFrame = Callable[[Frame], None]
"""Raises FrameError when a frame's records are not what their envelopes say (digests, signatures)."""


class TornTail(NamedTuple):
    """What stood behind the last whole transaction, and was cut: `length` bytes that are none, for a `reason`."""

    segment: str
    offset: int
    length: int
    reason: str


class LogReader:
    """The log as any process may read it: whole transactions only."""

    def __init__(self, folder: Path, store_id: str) -> None:
        """Open the segments' files; nothing is read but their headers. `resume` or `rescan` sets the position."""
        self.folder = folder
        self.store_id = store_id
        self.segments: list[Segment] = []
        self._firsts: list[int] = []
        self._fresh: dict[int, Extent] = {}
        self._fresh_limit = _FRESH
        self.next_index = 0
        self.next_tx = 0
        self._end = SEGMENT_HEADER_BYTES
        self._active: int = 0
        self._retired = WeakSet[Segment]()
        """Segments that were compacted, while another thread reads their old files: these take room till then."""
        self._broken = ""
        """Why what stands behind the end is no transaction, where something does."""
        try:
            self._discover()
            if not self.segments:
                raise CorruptLogError(str(folder), 0, "there is no segment")
            if self.segments[0].first != 0:
                raise CorruptLogError(self.segments[0].name, 0, "the log's first segment is missing")
        except BaseException:
            LogReader.close(self)
            raise

    def close(self) -> None:
        """Close every descriptor."""
        for segment in (*self.segments, *self._retired):
            segment.close()
        self.segments = []

    def _discover(self) -> None:
        paths = sorted(self.folder.glob("*.seg"))
        for path in paths[len(self.segments) :]:
            if self.segments and path == paths[-1] and unborn(path):
                return  # died (or is still busy) creating it: no frame can be in it
            segment = Segment(path, self.store_id)
            self.segments.append(segment)
            self._firsts.append(segment.first)

    # -- position ---------------------------------------------------------------------------------

    def resume(self, index: int) -> bool:
        """Stand at `index`, the end of a transaction known from a checkpoint; False when it can't be located.

        Costs one frame, not the log: the `.idx` entry of the record before gives the place, the frame there proves it.
        """
        place = max(bisect_right(self._firsts, index) - 1, 0)
        if (
            place and self._firsts[place] == index
        ):  # exactly at a boundary: stand at the end of the segment before
            place -= 1
        segment = self.segments[place]
        count = index - segment.first
        if count <= 0 or not segment.index_holds(count):
            return False
        start = segment.last_frame(count)
        offset = segment.frame_start(start, count)
        try:
            frame = next(segment.frames(offset or SEGMENT_HEADER_BYTES, bodies=False), None)
        except CorruptLogError:
            return False
        if frame is None or frame.end != index or frame.first != start:
            return False
        self._stand(place, frame)
        return True

    def rescan(self, index: int) -> None:
        """Stand at `index` by reading its segment from the start; raise CorruptLogError when no
        transaction ends there.
        """
        place = max(bisect_right(self._firsts, max(index - 1, 0)) - 1, 0)
        segment = self.segments[place]
        self._active, self._end = place, SEGMENT_HEADER_BYTES
        self.next_index = segment.first
        for frame in segment.frames(SEGMENT_HEADER_BYTES, bodies=False):
            if frame.first != self.next_index or frame.end > index:
                break
            self._stand(place, frame)
            if frame.end == index:
                return
        if self.next_index != index or index == 0 < place:
            raise CorruptLogError(
                segment.name,
                self._end,
                f"the log ends at {self.next_index} records; a signed head covers {index}",
            )

    def _stand(self, place: int, frame: Frame) -> None:
        self._active = place
        self._end = frame.end_offset
        self.next_index = frame.end
        self.next_tx = frame.header.tx + 1

    # -- following the tail -----------------------------------------------------------------------

    def follow(self, check: CheckFrame, floor: int = 0) -> Iterator[Frame]:
        """Yield the whole transactions behind the present position, standing behind each as it is yielded.

        Stops before what is not whole; raises CorruptLogError where SPEC §2.3 calls it corruption.
        """
        while True:
            segment = self.segments[self._active]
            bad = yield from self._follow_segment(segment, check)
            if bad is not None:
                self._judge(segment, bad, floor, check)
                return
            self._discover()
            if self._active + 1 >= len(self.segments):
                if self.next_index < floor:
                    raise CorruptLogError(
                        segment.name,
                        self._end,
                        f"the log ends at {self.next_index} records; a signed head covers {floor}",
                    )
                return
            following = self.segments[self._active + 1]
            if following.first != self.next_index:
                if self.size_behind() > 0:  # the writer closed this segment between our two looks
                    continue
                raise CorruptLogError(
                    following.name, 0, f"record {self.next_index} is missing before this segment"
                )
            self._active += 1
            self._end = SEGMENT_HEADER_BYTES

    def size_behind(self) -> int:
        """Return how many bytes the present segment holds behind the position."""
        return self.segments[self._active].size - self._end

    def _follow_segment(
        self, segment: Segment, check: CheckFrame
    ) -> Generator[Frame, None, CorruptLogError | None]:
        try:
            for frame in segment.frames(self._end):
                if frame.first != self.next_index or frame.header.tx != self.next_tx:
                    raise CorruptLogError(
                        segment.name, frame.offset, f"the frame is not number {self.next_index}"
                    )
                try:
                    check(frame)
                except FrameError as error:
                    raise CorruptLogError(segment.name, frame.offset, str(error)) from error
                self._accept(frame)
                yield frame
        except CorruptLogError as error:
            return error
        return None

    def _accept(self, frame: Frame) -> None:
        self._stand(self._active, frame)
        if len(self._fresh) > self._fresh_limit:
            self._fresh = {
                at: extent for at, extent in self._fresh.items() if not self._segment_of(at).entry(at)
            }
            self._fresh_limit = max(_FRESH, 2 * len(self._fresh))
        self._fresh.update(enumerate(frame.extents(), frame.first))

    def _segment_of(self, index: int) -> Segment:
        return self.segments[bisect_right(self._firsts, index) - 1]

    def _judge(self, segment: Segment, bad: CorruptLogError, floor: int, check: CheckFrame) -> None:
        """Raise `bad` unless it is a torn tail: nothing signed lies behind it, and no later write (SPEC §2.3)."""
        covered = self.next_index < floor
        last = segment is self.segments[-1]
        if not covered and last and segment.later_group(self._end) is None:
            self._broken = bad.reason
            return
        try:  # a reader may have met a frame while it was being written
            frame = next(segment.frames(self._end), None)
            if frame is not None and not covered:
                check(frame)
                return
        except (CorruptLogError, FrameError):
            pass
        raise bad

    # -- reading ----------------------------------------------------------------------------------

    def locate(self, index: int) -> tuple[Segment, Extent]:
        """Return the segment and place of a record; raise IndexError beyond the end, CorruptLogError
        without an entry.
        """
        if not 0 <= index < self.next_index:
            raise IndexError(f"the log holds records 0 to {self.next_index - 1}; there is no {index}")
        segment = self._segment_of(index)
        extent = self._fresh.get(index) or segment.entry(index)
        if extent is None:  # the derived index is missing or short: derive it here, in memory
            segment.rebuild_index(
                self._end if segment is self.segments[self._active] else segment.size, write=False
            )
            extent = segment.entry(index)
        if extent is None:
            raise CorruptLogError(segment.name, 0, f"the segment has no record {index}")
        return segment, extent

    def envelope(self, index: int) -> bytes:
        """Return the envelope's bytes, unverified."""
        segment, extent = self.locate(index)
        return segment.read(extent.envelope_at, extent.envelope_len)

    def body(self, index: int) -> bytes:
        """Return the sealed body's bytes, unverified."""
        segment, extent = self.locate(index)
        return segment.read(extent.body_at, extent.body_len)

    def links(self, index: int, length: int) -> bytes:
        """Return `length` bytes of the link list behind the envelope, unverified."""
        segment, extent = self.locate(index)
        return segment.read(extent.envelope_at + extent.envelope_len, length)

    def refresh_segments(self) -> None:
        """Reopen segments that compaction has replaced."""
        for place, segment in enumerate(self.segments):
            if segment.replaced():
                self._renew(place)

    def _renew(self, place: int) -> None:
        """Open the file that now has a segment's name; places in the old one no longer count."""
        old = self.segments[place]
        self.segments[place] = Segment(old.path, self.store_id)
        self._retired.add(old)
        end = self._firsts[place + 1] if place + 1 < len(self._firsts) else self.next_index
        self._fresh = {at: extent for at, extent in self._fresh.items() if not old.first <= at < end}
        if place == self._active:
            self.rescan(self.next_index)

    def frames(self, start: int = 0, *, bodies: bool = True) -> Iterator[Frame]:
        """Yield the frames from the one that holds record `start` to the present end."""
        # At the end no entry says where it is: it is never looked for from the front.
        while start < self.next_index:
            try:
                for frame in self._frames(start, bodies=bodies):
                    yield frame
                    start = frame.end
            except CorruptLogError:
                if not any(segment.replaced() for segment in self.segments):
                    raise
                self.refresh_segments()  # compaction swapped a file: the place index was the new one's
            else:
                return

    def _frames(self, start: int, *, bodies: bool) -> Iterator[Frame]:
        """Yield frames without a gap or a repetition: what was dropped from a closed segment is missed here."""
        place = max(bisect_right(self._firsts, start) - 1, 0)
        due, tx, end_index = start, -1, self.next_index
        while place <= self._active:
            segment = self.segments[place]
            end = self._end if place == self._active else None
            for frame in segment.frames(self._frame_offset(segment, start), bodies=bodies, end=end):
                if frame.end <= start:
                    continue
                if frame.first > due or (tx >= 0 and (frame.first, frame.header.tx) != (due, tx)):
                    raise CorruptLogError(
                        segment.name, frame.offset, f"record {due} is missing or repeated here"
                    )
                due, tx = frame.end, frame.header.tx + 1
                yield frame
            place += 1
        if due < end_index:
            raise CorruptLogError(self.segments[-1].name, self._end, f"record {due} is missing")

    def _frame_offset(self, segment: Segment, index: int) -> int:
        """Return the offset of the frame with record `index`, from neighbouring extents; the segment's
        start without them.
        """
        at = index
        while at > segment.first:
            here, before = self._extent(segment, at), self._extent(segment, at - 1)
            if here is None or before is None:
                return SEGMENT_HEADER_BYTES
            end = before.body_at + before.body_len
            if end != here.body_at and end < here.envelope_at:
                return end
            at -= 1
        return SEGMENT_HEADER_BYTES

    def _extent(self, segment: Segment, index: int) -> Extent | None:
        return self._fresh.get(index) or segment.entry(index)

    @property
    def bytes_on_disk(self) -> int:
        """Bytes of all segments, up to the log's end: what stands behind it is none of the log."""
        behind = self.segments[self._active + 1 :]
        return sum(segment.size for segment in [*self.segments[: self._active], *behind]) + self._end
