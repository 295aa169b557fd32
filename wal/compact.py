"""Giving back the space of blanked bodies: a segment is rewritten without them (SPEC §9.5)."""

import os
from collections.abc import Callable

from braid.wal.durable import sync_folder, write_all
from braid.wal.failpoint import failpoint
from braid.wal.frame import Stored, encode_frame
from braid.wal.segment import SEGMENT_HEADER_BYTES, Segment


def rewrite_segment(segment: Segment, end: int, blanked: Callable[[int], bool]) -> bool:
    """Replace a closed segment's file by one without the blanked bodies; False when it holds none.

    Readers with the old file open keep it. Dying before the rename leaves the old segment without its `.idx`, dying
    after it the new one without: an index that is missing is derived again.
    """
    extents = (segment.entry(index) for index in range(segment.first, end) if blanked(index))
    if not any(extent is None or extent.body_len for extent in extents):
        return False
    fresh = segment.path.with_name(f".{segment.path.name}.new")
    folder = segment.path.parent
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
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
    segment.path.with_suffix(".idx").unlink(missing_ok=True)
    sync_folder(folder)
    failpoint("compact.unindexed")
    fresh.replace(segment.path)
    sync_folder(folder)
    failpoint("compact.renamed")
    renewed = Segment(segment.path, segment.store_id)
    try:
        renewed.rebuild_index(renewed.size, write=True)
    finally:
        renewed.close()
    return True
