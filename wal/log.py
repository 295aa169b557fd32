"""The log: segments in order, their tail followed by readers, appended to by one writer (SPEC §2)."""

import os
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from braid.wal.compact import rewrite_segment
from braid.wal.durable import sync_data, sync_folder, write_all
from braid.wal.errors import CorruptLogError, OutcomeUnknownError, WriterPoisonedError
from braid.wal.failpoint import failpoint
from braid.wal.frame import HEADER_BYTES, Extent, Frame, FrameError, Stored, encode_frame
from braid.wal.segment import ENTRY, SEGMENT_HEADER_BYTES, SEGMENT_LIMIT, Segment, pack_entries, unborn

_FRESH = 1 << 14
CheckFrame = Callable[[Frame], None]
"""Raises FrameError when a frame's records are not what their envelopes say (digests, signatures)."""


class TornTail(NamedTuple):
    """What a crash left behind the last whole transaction, and was cut."""

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
        self._retired: list[Segment] = []
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
        for segment in self.segments + self._retired:
            segment.close()
        self.segments, self._retired = [], []

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
        rows = segment.entries(count)
        if rows is None:
            return False
        ends = rows["body_at"] + rows["body_len"]
        same_frame = ends[:-1] == rows["body_at"][1:]
        start = count - 1
        while start > 0 and same_frame[start - 1]:
            start -= 1
        offset = segment.frame_start(segment.first + start, count)
        try:
            frame = next(segment.frames(offset or SEGMENT_HEADER_BYTES, bodies=False), None)
        except CorruptLogError:
            return False
        if frame is None or frame.end != index or frame.first != segment.first + start:
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
        self._retired.append(old)  # another thread may be reading its frames
        end = self._firsts[place + 1] if place + 1 < len(self._firsts) else self.next_index
        self._fresh = {at: extent for at, extent in self._fresh.items() if not old.first <= at < end}
        if place == self._active:
            self.rescan(self.next_index)

    def frames(self, start: int = 0, *, bodies: bool = True) -> Iterator[Frame]:
        """Yield the frames from the one that holds record `start` to the present end."""
        while True:
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
        place = max(bisect_right(self._firsts, start) - 1, 0)
        while place <= self._active:
            segment = self.segments[place]
            end = self._end if place == self._active else None
            for frame in segment.frames(self._frame_offset(segment, start), bodies=bodies, end=end):
                if frame.end > start:
                    yield frame
            place += 1

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
        """Bytes of all segments."""
        return sum(segment.size for segment in self.segments)


def _overwrite(fd: int, offset: int, length: int) -> None:
    while length:
        done = os.pwrite(fd, bytes(min(length, 1 << 20)), offset)
        offset, length = offset + done, length - done


class LogWriter(LogReader):
    """The one handle that appends; its owner holds the lock."""

    def __init__(self, folder: Path, store_id: str) -> None:
        """Open for appending. Nothing may be appended before `follow` and `cut_tail` have set the end."""
        super().__init__(folder, store_id)
        self._fd: int | None = None
        self._idx_fd: int | None = None
        self._poison: str | None = None
        self.synced = 0
        """Records known to be on disk."""

    @staticmethod
    def create(folder: Path, store_id: str) -> None:
        """Create an empty log: one segment without frames, durable."""
        Segment.create(folder, 0, store_id).close()
        sync_folder(folder)

    def cut_tail(self) -> TornTail | None:
        """Cut what stands behind the last whole transaction; repair the index; open for appending.
        Writer's lock held.
        """
        self._drop_unborn_segment()
        segment = self.segments[self._active]
        length = segment.size - self._end
        torn = TornTail(segment.name, self._end, length, "an unfinished transaction") if length else None
        if self._active + 1 < len(self.segments):  # a segment was begun, its first transaction never finished
            self._remove_empty(self.segments.pop())
            self._firsts.pop()
        self._open_active()
        if torn:
            os.ftruncate(self._descriptor(), self._end)
            sync_data(self._descriptor(), "wal.cut")
        self._repair_index()
        return torn

    def stand_ready(self) -> TornTail | None:
        """Make ready to append behind what another writer left; `cut_tail` where anything is not as
        expected. Lock held.
        """
        segment = self.segments[self._active]
        index = segment.path.with_suffix(".idx")
        try:
            found = index.stat()
        except FileNotFoundError:
            return self.cut_tail()
        mine = self._idx_fd is not None and os.fstat(self._idx_fd).st_ino == found.st_ino
        same = self._fd is not None and os.fstat(self._fd).st_ino == segment.path.stat().st_ino
        if not (mine and same) or self.size_behind() or segment is not self.segments[-1]:
            return self.cut_tail()
        return None

    def _drop_unborn_segment(self) -> None:
        for path in sorted(self.folder.glob("*.seg"))[len(self.segments) :]:
            path.unlink()
            path.with_suffix(".idx").unlink(missing_ok=True)

    @staticmethod
    def _remove_empty(segment: Segment) -> None:
        segment.close()
        segment.path.unlink()
        segment.path.with_suffix(".idx").unlink(missing_ok=True)

    def _repair_index(self) -> None:
        for place, segment in enumerate(self.segments):
            following = self._firsts[place + 1] if place + 1 < len(self.segments) else self.next_index
            count = following - segment.first
            path = segment.path.with_suffix(".idx")
            size = path.stat().st_size if path.exists() else -1
            last = place == self._active
            if size != count * ENTRY.size or (last and not segment.index_holds(count)):
                segment.rebuild_index(self._end if last else segment.size, write=True)
        self._fresh.clear()
        self._reopen_index()

    def _open_active(self) -> None:
        self._close_active()
        path = self.segments[self._active].path
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def _reopen_index(self) -> None:
        if self._idx_fd is not None:
            os.close(self._idx_fd)
        path = self.segments[self._active].path.with_suffix(".idx")
        self._idx_fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def _close_active(self) -> None:
        for fd in (self._fd, self._idx_fd):
            if fd is not None:
                os.close(fd)
        self._fd = self._idx_fd = None

    def _descriptor(self) -> int:
        if self._poison:
            raise WriterPoisonedError(f"this handle stopped writing: {self._poison}; reopen the store")
        if self._fd is None:
            raise ValueError("the log is not open for appending")
        return self._fd

    @property
    def poisoned(self) -> bool:
        """Whether an earlier failure has ended this handle's writing."""
        return self._poison is not None

    def poison(self, reason: str) -> None:
        """End this handle's writing: what the disk holds is no longer known here."""
        self._poison = reason

    def append(self, transactions: Sequence[Sequence[Stored]], *, sync: bool) -> None:
        """Write the transactions as frames by one write; with `sync`, one fdatasync makes them durable.

        An OSError before the bytes are complete leaves the log as it was. A failure after that raises
        OutcomeUnknownError and poisons this handle: the bytes may or may not survive.
        """
        fd = self._descriptor()
        if self._end >= SEGMENT_LIMIT:
            fd = self._roll()
        start, index, tx = self._end, self.next_index, self.next_tx
        pieces: list[bytes] = []
        ends: list[tuple[int, int]] = []
        offset = start
        for records in transactions:
            frame = encode_frame(index, tx, start, records)
            pieces += frame
            offset += sum(map(len, frame))
            index, tx = index + len(records), tx + 1
            ends.append((len(records), offset))
        try:
            write_all(fd, b"".join(pieces), "wal.write")
        except BaseException as error:
            self._take_back(fd, start, error)
            raise
        try:
            if sync:
                self._sync_now(fd)
            self._admit(transactions, start)
            self._end, self.next_index, self.next_tx = offset, index, tx
            if sync:
                self.synced = index
        except BaseException as error:  # Ctrl-C: the next frame must not be numbered like this one
            if not self._poison:
                self.poison(f"an append was interrupted behind its write ({error!r})")
            raise

    def _take_back(self, fd: int, start: int, error: BaseException) -> None:
        try:
            os.ftruncate(fd, start)
        except OSError as second:
            self.poison(f"a write failed ({error}) and could not be taken back ({second})")
            raise OutcomeUnknownError(
                f"{self.segments[self._active].name}: a write failed ({error}) and could not be taken back ({second}); "
                "whether it is on disk is not known: reopen the store and retry with the same idempotency key"
            ) from error

    def _admit(self, transactions: Sequence[Sequence[Stored]], offset: int) -> None:
        """Remember where the records lie until `flush_index` writes it down: the index is derived, and
        never synced for.
        """
        rows: list[Extent] = []
        for records in transactions:
            at = offset + HEADER_BYTES + 12 * len(records)
            body_at = at + sum([len(record.envelope) + len(record.links) for record in records])
            for envelope, links, body in records:
                rows.append(Extent(at, body_at, len(envelope), len(body)))
                at += len(envelope) + len(links)
                body_at += len(body)
            offset = body_at
        self._fresh.update(enumerate(rows, self.next_index))

    def flush_index(self) -> None:
        """Write the index entries that the file lacks. A failure loses nothing: they stay in memory, and
        can be derived.
        """
        segment = self.segments[self._active]
        if self._idx_fd is None:
            return
        try:
            size = os.fstat(self._idx_fd).st_size
            if size % ENTRY.size:  # an earlier flush met a full disk
                os.ftruncate(self._idx_fd, size - size % ENTRY.size)
            have = segment.first + size // ENTRY.size
            missing = range(have, self.next_index)
            if all(index in self._fresh for index in missing):
                write_all(self._idx_fd, pack_entries([self._fresh[index] for index in missing]), "wal.idx")
            else:
                segment.rebuild_index(self._end, write=True)
                self._reopen_index()
        except OSError:
            return
        self._fresh.clear()

    def sync(self) -> None:
        """Make everything appended durable. A failure poisons this handle and raises OutcomeUnknownError."""
        fd = self._descriptor()
        if self.synced < self.next_index:
            self._sync_now(fd)
            self.synced = self.next_index

    def _sync_now(self, fd: int) -> None:
        try:
            sync_data(fd, "wal.sync")
        except BaseException as error:
            # fsyncgate: the kernel marks the pages clean after a failed sync, so that a retry would lie.
            self.poison(f"a sync failed ({error})")
            raise OutcomeUnknownError(
                f"{self.segments[self._active].name}: the sync failed ({error}); whether the last append is on disk is "
                "not known: reopen the store and retry with the same idempotency key"
            ) from error

    def _roll(self) -> int:
        """Close the full segment for good and begin the next; dying in between leaves an unborn segment
        that is dropped.
        """
        self.sync()
        self.flush_index()
        if self._idx_fd is not None:
            os.fsync(self._idx_fd)
        segment = Segment.create(self.folder, self.next_index, self.store_id)
        sync_folder(self.folder)
        self.segments.append(segment)
        self._firsts.append(segment.first)
        self._active += 1
        self._end = SEGMENT_HEADER_BYTES
        self._open_active()
        self._reopen_index()
        return self._descriptor()

    def blank(self, indexes: Sequence[int]) -> list[str]:
        """Overwrite the bodies of these records with zeros, durably; return the names of the segments touched."""
        places: dict[Path, list[Extent]] = {}
        for index in indexes:
            segment, extent = self.locate(index)
            places.setdefault(segment.path, []).append(extent)
        for path, extents in places.items():
            fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
            try:
                failpoint("wal.blank")
                for extent in extents:
                    _overwrite(fd, extent.body_at, extent.body_len)
                sync_data(fd, "wal.blank.sync")
            finally:
                os.close(fd)
        return [f"{path.parent.name}/{path.name}" for path in places]

    def compact(self, blanked: Callable[[int], bool]) -> int:
        """Rewrite the segments without the bodies for which `blanked` holds; return the bytes given back."""
        self._descriptor()
        if any(blanked(index) for index in range(self.segments[self._active].first, self.next_index)):
            self._roll()
        before = self.bytes_on_disk
        for place, segment in enumerate(self.segments[: self._active]):
            if rewrite_segment(segment, self._firsts[place + 1], blanked):
                self._renew(place)
        return before - self.bytes_on_disk

    def close(self) -> None:
        """Close every descriptor; syncing is the owner's business."""
        if self._idx_fd is not None and not self._poison:
            self.flush_index()
        self._close_active()
        super().close()
