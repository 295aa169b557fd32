"""Appending to the log: one handle writes, takes back what failed, and cuts what a crash left (SPEC §2.3, §2.5)."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from braid.wal.compact import index_again, rewrite_segment
from braid.wal.durable import is_full, name_file, sync_data, sync_folder, write_all
from braid.wal.errors import CorruptLogError, NoRoomError, OutcomeUnknownError, WriterPoisonedError
from braid.wal.failpoint import failpoint
from braid.wal.frame import HEADER_BYTES, Extent, Stored, encode_frame
from braid.wal.log import LogReader, TornTail
from braid.wal.preallocation import Room, is_room
from braid.wal.regular import open_regular
from braid.wal.segment import (
    ENTRY,
    SEGMENT_HEADER_BYTES,
    SEGMENT_LIMIT,
    Segment,
    pack_entries,
    segment_path,
    unborn,
)


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
        self._room: Room | None = None
        self.keeps_room = True
        """Whether zeros may stand behind the end: not where others write between two transactions. Set before
        `cut_tail`."""
        self.synced = 0
        """Records known to be on disk."""

    @staticmethod
    def create(folder: Path, store_id: str) -> None:
        """Create an empty log: one segment without frames, durable."""
        Segment.create(folder, 0, store_id).close()
        sync_folder(folder)

    def cut_tail(self) -> TornTail | None:
        """Cut what stands behind the last whole transaction; repair the index; open for appending.

        Writer's lock held. Raises CorruptLogError for damage before the tail, WriterPoisonedError, ValueError.
        """
        self._drop_leftovers()
        self._drop_unborn_segment()
        segment = self.segments[self._active]
        length = segment.size - self._end
        if length < 0:
            raise CorruptLogError(segment.name, self._end, "the file became shorter while it was read")
        torn = None
        if not is_room(segment.read, self._end):
            torn = TornTail(segment.name, self._end, length, self._broken or "an unfinished transaction")
        if self._active + 1 < len(self.segments):  # a segment was begun, its first transaction never finished
            self._remove_empty(self.segments.pop())
            self._firsts.pop()
        self._open_active()
        if length:
            os.ftruncate(self._descriptor(), self._end)
            sync_data(self._descriptor(), "wal.cut")
        self._repair_index()
        return torn

    def stand_ready(self) -> TornTail | None:
        """Make ready to append behind what another writer left; `cut_tail` where anything is not as
        expected. Lock held.
        """
        self.refresh_segments()  # what another has compacted: places in the old file are not those of the new
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

    def _drop_leftovers(self) -> None:
        for leftover in self.folder.glob(".*.new"):  # of a compaction or an index that was interrupted
            leftover.unlink()

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
                self._derive_index(segment, self._end if last else segment.size)
        self._fresh.clear()
        self._reopen_index()

    @staticmethod
    def _derive_index(segment: Segment, end: int) -> None:
        """Derive an index again; on a full disk in memory alone, or no erasure could be had there (SPEC §9.4)."""
        try:
            segment.rebuild_index(end, write=True)
        except OSError as error:
            if not is_full(error):
                raise
            segment.rebuild_index(end, write=False)  # the next head, or the next open, writes it

    def _open_active(self) -> None:
        self._close_active()
        path = self.segments[self._active].path
        self._fd = open_regular(path, os.O_WRONLY)
        self._room = Room(self._fd, self._end) if self.keeps_room else None

    def _reopen_index(self) -> None:
        if self._idx_fd is not None:
            os.close(self._idx_fd)
        path = self.segments[self._active].path.with_suffix(".idx")
        self._idx_fd = open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def _close_active(self) -> None:
        descriptors, self._fd, self._idx_fd, self._room = (self._fd, self._idx_fd), None, None, None
        for fd in descriptors:
            if fd is not None:
                os.close(fd)

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
        Raises WriterPoisonedError after such a failure, ValueError where the log isn't open for appending.
        """
        fd = self._descriptor()
        if self._end >= SEGMENT_LIMIT:
            fd = self._roll()
        start, index, tx = self._end, self.next_index, self.next_tx
        pieces: list[bytes] = []
        for records in transactions:
            pieces += encode_frame(index, tx, start, records)
            index, tx = index + len(records), tx + 1
        data = b"".join(pieces)
        offset = start + len(data)
        self._seek(fd, start)
        try:
            write_all(fd, data, "wal.write")
        except BaseException as error:
            name_file(error, self.segments[self._active].path)
            self._take_back(fd, start, error)
            raise
        try:
            if sync:
                if self._room:
                    self._room.make(start, offset)
                self._sync_now(fd)
            self._admit(transactions, pieces, start)
            self._end, self.next_index, self.next_tx = offset, index, tx
            if sync:
                self.synced = index
        except BaseException as error:  # Ctrl-C: the next frame must not be numbered like this one
            if not self._poison:
                self.poison(f"an append was interrupted behind its write ({error!r})")
            raise

    def _seek(self, fd: int, end: int) -> None:
        """Stand at the log's end, behind which there may be room; never behind the file's: a gap would be left."""
        if os.lseek(fd, 0, os.SEEK_END) < end:
            name = self.segments[self._active].name
            self.poison(f"{name} is shorter than what was written to it: something else cut it")
            self._descriptor()
        os.lseek(fd, end, os.SEEK_SET)

    def _take_back(self, fd: int, start: int, error: BaseException) -> None:
        try:
            os.ftruncate(fd, start)
            self._room = Room(fd, start) if self.keeps_room else None
        except OSError as second:
            self.poison(f"a write failed ({error}) and could not be taken back ({second})")
            raise OutcomeUnknownError(
                f"{self.segments[self._active].name}: a write failed ({error}) and could not be taken back ({second}); "
                "whether it is on disk is not known: reopen the store and retry with the same idempotency key"
            ) from error

    def _admit(self, transactions: Sequence[Sequence[Stored]], pieces: Sequence[bytes], offset: int) -> None:
        """Remember where the records lie until `flush_index` writes it down: the index is derived, and
        never synced for.
        """
        index, fresh = self.next_index, self._fresh
        for records, section in zip(transactions, pieces[1::3], strict=True):
            at = offset + HEADER_BYTES + 12 * len(records)
            offset += HEADER_BYTES + len(section)
            for envelope, links, body in records:
                envelope_len, body_len = len(envelope), len(body)
                fresh[index] = Extent(at, offset, envelope_len, body_len)
                index += 1
                at += envelope_len + len(links)
                offset += body_len

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
        """Make everything appended durable. A failure poisons this handle and raises OutcomeUnknownError.

        Raises WriterPoisonedError after such a failure, ValueError where the log isn't open for appending.
        """
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
        fd = self._descriptor()
        if self._room and self._room.give_back(self._end):
            self._sync_now(fd)  # behind a closed segment zeros would be damage
        self.flush_index()
        if self._idx_fd is not None:
            os.fsync(self._idx_fd)
        segment = self._begin_segment()
        try:
            self.segments.append(segment)
            self._firsts.append(segment.first)
            self._active += 1
            self._end = SEGMENT_HEADER_BYTES
            self._open_active()
            self._reopen_index()
        except BaseException as error:  # Ctrl-C: place and descriptor may be of two files
            self.poison(f"going on in {segment.name} was interrupted ({error!r})")
            raise
        return self._descriptor()

    def _begin_segment(self) -> Segment:
        """Create the next segment, durably. A failure leaves nothing of it, or ends this handle's writing: what comes
        next would go into the old segment, and two can't both hold that record.
        """
        segment = None
        try:
            segment = Segment.create(self.folder, self.next_index, self.store_id)
            sync_folder(self.folder)
        except BaseException as error:
            if segment is not None:
                segment.close()
            self._take_segment_back(segment_path(self.folder, self.next_index), error)
            raise
        return segment

    def _take_segment_back(self, path: Path, error: BaseException) -> None:
        reason = f"{path.name} could not be begun ({error})"
        try:
            if not unborn(path):
                self.poison(reason)  # readers may stand in it by now: whoever opens next goes on from here
                return
            path.unlink(missing_ok=True)
            path.with_suffix(".idx").unlink(missing_ok=True)
            sync_folder(self.folder)
        except BaseException as second:
            self.poison(f"{reason} and could not be taken back ({second})")
            raise

    def blank(self, indexes: Sequence[int], is_body: Callable[[int, bytes], bool]) -> list[str]:
        """Overwrite the bodies of these records with zeros, durably; return the names of the segments touched.

        The place index is not trusted with it: `is_body` says whether bytes are a record's body, or blank already.
        Raises CorruptLogError, before anything is overwritten, where not even the frames lead to the body.
        """
        places: dict[Path, tuple[Segment, list[Extent]]] = {}
        for index in indexes:
            segment, extent = self._place_of_body(index, is_body)
            places.setdefault(segment.path, (segment, []))[1].append(extent)
        for path, (segment, extents) in places.items():
            fd = open_regular(path, os.O_WRONLY)
            try:
                if not segment.is_file_of(
                    fd
                ):  # places were looked up in a file that has another's name by now
                    raise CorruptLogError(
                        segment.name, 0, "the file was swapped while bodies were looked up in it"
                    )
                failpoint("wal.blank")
                for extent in extents:
                    _overwrite(fd, extent.body_at, extent.body_len)
                sync_data(fd, "wal.blank.sync")
            finally:
                os.close(fd)
        return [f"{path.parent.name}/{path.name}" for path in places]

    def _place_of_body(self, index: int, is_body: Callable[[int, bytes], bool]) -> tuple[Segment, Extent]:
        segment, extent = self.locate(index)
        if is_body(index, segment.read(extent.body_at, extent.body_len)):
            return segment, extent
        active = segment is self.segments[self._active]
        segment.rebuild_index(self._end if active else segment.size, write=True)
        self._fresh = {at: one for at, one in self._fresh.items() if at < segment.first}
        if active:
            self._reopen_index()
        segment, extent = self.locate(index)
        # The frames' own table is believed: no bytes there means given back by a compaction.
        if extent.body_len and not is_body(index, segment.read(extent.body_at, extent.body_len)):
            raise CorruptLogError(segment.name, extent.body_at, f"this is not the body of record {index}")
        return segment, extent

    def compact(self, blanked: Callable[[int], bool]) -> int:
        """Rewrite the segments without the bodies for which `blanked` holds; return the bytes given back.

        Those that need the least room go first: what each gives back makes room for the next.

        Raises NoRoomError where a segment has no room for its new file: those before it are done, it and the others are
        as they were. Raises OutcomeUnknownError where the disk failed, WriterPoisonedError after that, ValueError where
        the log isn't open for appending.
        """
        self._descriptor()
        self._drop_leftovers()
        given_back = 0
        for needed, place, gone in sorted(self._compactable(blanked)):
            if place == self._active:
                self._close_for(needed)
            rewrite_segment(self.segments[place], blanked, needed)
            self._renew(place)
            index_again(self.segments[place])
            given_back += gone
        return given_back

    def _compactable(self, blanked: Callable[[int], bool]) -> Iterator[tuple[int, int, int]]:
        """Yield of each segment with blanked bodies how many bytes the rest of it takes, its place, and their bytes."""
        for place, segment in enumerate(self.segments[: self._active + 1]):
            size, end = (
                (self._end, self.next_index)
                if place == self._active
                else (segment.size, self._firsts[place + 1])
            )
            gone = sum(
                self.locate(index)[1].body_len for index in range(segment.first, end) if blanked(index)
            )
            if gone:
                yield size - gone, place, gone

    def _close_for(self, needed: int) -> None:
        """Begin another segment, so that the active one can be compacted to `needed` bytes."""
        path = self.segments[self._active].path
        try:
            self._roll()
        except OSError as error:
            if is_full(error):
                raise NoRoomError(path, needed, error) from error
            raise

    def close(self) -> None:
        """Close every descriptor; syncing is the owner's business."""
        if self._idx_fd is not None and not self._poison:
            self.flush_index()
        if self._room and not self._poison:
            with suppress(OSError):  # zeros that stay are cut by whoever writes next
                self._room.give_back(self._end)
        self._close_active()
        super().close()
