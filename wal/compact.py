"""Giving back the space of blanked bodies: a segment is rewritten without them (SPEC §9.5)."""

import os
from collections.abc import Callable
from pathlib import Path

from braid.wal.durable import is_full, sync_folder, write_all
from braid.wal.errors import NoRoomError
from braid.wal.failpoint import failpoint
from braid.wal.frame import Stored, encode_frame
from braid.wal.regular import open_regular
from braid.wal.segment import SEGMENT_HEADER_BYTES, Segment


def rewrite_segment(segment: Segment, blanked: Callable[[int], bool], needed: int) -> None:
    """Replace a closed segment's file by one without the blanked bodies, of `needed` bytes.

    Readers with the old file open keep it. Dying before the rename leaves the old segment without its `.idx`, dying
    after it the new one without: an index that is missing is derived again. Raises NoRoomError, with nothing changed,
    where the new file has no room beside the old one.
    """
    fresh = segment.path.with_name(f".{segment.path.name}.new")
    folder = segment.path.parent
    try:
        _write_without(segment, blanked, fresh)
    except BaseException as error:
        fresh.unlink(missing_ok=True)
        if isinstance(error, OSError) and is_full(error):
            raise NoRoomError(segment.path, needed, error) from error
        raise
    segment.path.with_suffix(".idx").unlink(missing_ok=True)
    sync_folder(folder)
    failpoint("compact.unindexed")
    fresh.replace(segment.path)
    sync_folder(folder)
    failpoint("compact.renamed")


def _write_without(segment: Segment, blanked: Callable[[int], bool], fresh: Path) -> None:
    fd = open_regular(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        write_all(fd, segment.read(0, SEGMENT_HEADER_BYTES), "compact.write")
        offset = SEGMENT_HEADER_BYTES
        for frame in segment.frames(SEGMENT_HEADER_BYTES):
            records = [
                Stored(record.envelope, record.links, b"") if blanked(index) else record
                for index, record in enumerate(frame.records(), frame.first)
            ]
            pieces = encode_frame(frame.first, frame.header.tx, offset, records)
            write_all(fd, b"".join(pieces), "compact.write")
            offset += sum(map(len, pieces))
        os.fsync(fd)
    finally:
        os.close(fd)


def index_again(segment: Segment) -> None:
    """Write the index of a segment that was rewritten; without room, it is derived where it is needed."""
    try:
        segment.rebuild_index(segment.size, write=True)
    except OSError as error:
        if not is_full(error):
            raise
        segment.rebuild_index(segment.size, write=False)
