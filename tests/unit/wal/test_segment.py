"""Segments: whose they are, where their frames lie, and an index that is only ever derived (SPEC §2.1, §2.4)."""

import os
from pathlib import Path
from threading import Event, Thread

import pytest
from blake3 import blake3

from braid.wal.errors import CorruptLogError, LogFormatError
from braid.wal.frame import Stored, encode_frame
from braid.wal.regular import open_regular
from braid.wal.segment import (
    ENTRY,
    SEGMENT_HEADER_BYTES,
    Segment,
    check_segment_header,
    encode_segment_header,
    pack_entries,
)

STORE = "abcdefghijklmnop"


def records(first: int, count: int) -> list[Stored]:
    """Return records that say their own index."""
    return [
        Stored(b"envelope %d" % index, b"list" * (index % 2), b"body %d" % index * (index % 3))
        for index in range(first, first + count)
    ]


@pytest.fixture
def segment(tmp_path: Path) -> Segment:
    """Return a segment of three transactions (2, 3 and 1 records), each a write of its own, with its index."""
    folder = tmp_path / "log"
    folder.mkdir()
    made = Segment.create(folder, 0, STORE)
    with made.path.open("ab") as file:
        first = 0
        for tx, count in enumerate((2, 3, 1)):
            file.write(b"".join(encode_frame(first, tx, file.tell(), records(first, count))))
            first += count
    made.rebuild_index(made.size, write=True)
    return made


def test_a_header_names_its_first_record_and_its_store() -> None:
    data = encode_segment_header(1234, STORE)
    assert len(data) == SEGMENT_HEADER_BYTES
    assert check_segment_header(data, "log/x.seg", STORE) == 1234
    with pytest.raises(CorruptLogError, match="another store"):
        check_segment_header(data, "log/x.seg", "ponmlkjihgfedcba")


def test_no_bit_of_a_header_can_change_unseen() -> None:
    data = encode_segment_header(1234, STORE)
    for bit in range(8 * len(data)):
        harmed = bytearray(data)
        harmed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CorruptLogError, match=r"log/x\.seg, offset 0"):
            check_segment_header(bytes(harmed), "log/x.seg", STORE)


def test_a_newer_format_is_named_as_such() -> None:
    start = bytearray(encode_segment_header(0, STORE)[:48])
    start[8] = 2
    with pytest.raises(LogFormatError, match=r"format 2.*upgrade"):
        check_segment_header(bytes(start) + blake3(start).digest(length=16), "log/x.seg", STORE)


def test_a_segment_under_another_name_is_refused(segment: Segment) -> None:
    renamed = segment.path.rename(segment.path.with_name("000000000007.seg"))
    with pytest.raises(CorruptLogError, match="its first record is 0"):
        Segment(renamed, STORE)


def test_frames_lie_back_to_back_and_the_index_names_each_record(segment: Segment) -> None:
    frames = list(segment.frames(SEGMENT_HEADER_BYTES))
    assert [frame.first for frame in frames] == [0, 2, 5]
    assert [record for frame in frames for record in frame.records()] == records(0, 6)
    assert [frame.first for frame in segment.frames(frames[1].offset, end=frames[2].offset)] == [2]
    for index, record in enumerate(records(0, 6)):
        extent = segment.entry(index)
        assert extent
        assert segment.read(extent.envelope_at, extent.envelope_len) == record.envelope
        assert segment.read(extent.body_at, extent.body_len) == record.body
    assert segment.entry(6) is None
    assert segment.index_holds(6)
    assert not segment.index_holds(7)


def test_reading_without_bodies_gives_empty_ones(segment: Segment) -> None:
    for frame in segment.frames(SEGMENT_HEADER_BYTES, bodies=False):
        assert not any(record.body for record in frame.records())


def test_frames_longer_than_the_window_are_read_whole(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    made = Segment.create(folder, 0, STORE)
    big = [Stored(b"envelope", b"", bytes(9 << 20))]
    with made.path.open("ab") as file:
        for tx, transaction in enumerate((records(0, 1), big, records(2, 1))):
            file.write(b"".join(encode_frame(tx, tx, file.tell(), transaction)))
    assert [next(frame.records()) for frame in made.frames(SEGMENT_HEADER_BYTES)] == [
        *records(0, 1),
        *big,
        *records(2, 1),
    ]


def test_a_bad_frame_is_named_by_segment_and_offset(segment: Segment) -> None:
    second = list(segment.frames(SEGMENT_HEADER_BYTES))[1]
    with segment.path.open("r+b") as file:
        file.seek(second.offset + 100)
        file.write(b"\xff\xff")
    with pytest.raises(CorruptLogError, match=f"log/000000000000.seg, offset {second.offset}") as caught:
        list(segment.frames(SEGMENT_HEADER_BYTES))
    assert (caught.value.file, caught.value.offset) == ("log/000000000000.seg", second.offset)
    assert "verify" not in str(caught.value)  # what to do is for each face to say


def test_a_later_write_is_told_from_the_same_one(segment: Segment) -> None:
    frames = list(segment.frames(SEGMENT_HEADER_BYTES))
    assert segment.later_group(frames[0].offset) == frames[1].offset
    assert segment.later_group(frames[1].offset + 5) == frames[2].offset
    assert segment.later_group(frames[2].offset) is None
    with segment.path.open("ab") as file:  # two frames of one write: the second is no later one
        start = file.tell()
        one = b"".join(encode_frame(6, 3, start, records(6, 1)))
        file.write(one + b"".join(encode_frame(7, 4, start, records(7, 1))))
    assert segment.later_group(start) is None
    assert segment.later_group(frames[2].offset) == start


def test_an_index_that_is_missing_or_short_is_derived_in_memory(segment: Segment) -> None:
    whole = segment.path.with_suffix(".idx").read_bytes()
    for harmed in (None, b"", whole[:-1], whole[: ENTRY.size]):
        if harmed is None:
            segment.path.with_suffix(".idx").unlink()
        else:
            segment.path.with_suffix(".idx").write_bytes(harmed)
        fresh = Segment(segment.path, STORE)
        assert fresh.entry(5) is None
        fresh.rebuild_index(fresh.size, write=False)
        assert pack_entries([extent for index in range(6) if (extent := fresh.entry(index))]) == whole
        fresh.close()


@pytest.mark.parametrize("write", [False, True])
def test_an_index_that_another_thread_derives_meanwhile_is_read_all_the_same(
    segment: Segment, monkeypatch: pytest.MonkeyPatch, write: bool
) -> None:
    wanted = [segment.entry(index) for index in range(6)]
    read = os.pread
    left = [1]

    def pread(fd: int, length: int, at: int) -> bytes:
        if length == ENTRY.size and left:
            left.pop()
            segment.rebuild_index(segment.size, write=write)
        return read(fd, length, at)

    monkeypatch.setattr(os, "pread", pread)
    assert segment.entry(3) == wanted[3]
    assert not left
    monkeypatch.undo()
    assert [segment.entry(index) for index in range(6)] == wanted
    files = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        segment.rebuild_index(segment.size, write=write)
    assert len(list(Path("/proc/self/fd").iterdir())) == files


def test_two_threads_that_open_an_index_at_once_hold_one_descriptor(
    segment: Segment, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = segment.entry(3)
    fresh = Segment(segment.path, STORE)
    files = len(list(Path("/proc/self/fd").iterdir()))
    came, found = Event(), list[object]()
    other = Thread(target=lambda: found.append(fresh.entry(3)))

    def opening(path: Path) -> int:
        if path.suffix == ".idx":
            if other.ident is None:
                other.start()
                came.wait(0.2)  # where it may come in, it does; else it waits for this one
            else:
                came.set()
        return open_regular(path)

    monkeypatch.setattr("braid.wal.segment.open_regular", opening)
    found.append(fresh.entry(3))
    other.join()
    assert found == [wanted, wanted]
    assert len(list(Path("/proc/self/fd").iterdir())) == files + 1
    fresh.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == files - 1


def test_an_index_of_impossible_shape_does_not_hold(segment: Segment) -> None:
    path = segment.path.with_suffix(".idx")
    whole = path.read_bytes()
    rows = [whole[at : at + ENTRY.size] for at in range(0, len(whole), ENTRY.size)]
    for harmed in (
        bytes(len(whole)),
        b"\xff" * len(whole),
        b"".join([rows[1], rows[0], *rows[2:]]),
        b"".join([*rows[:5], ENTRY.pack(1 << 63, (1 << 63) + 200, 10, 0)]),
        b"".join([*rows[:5], ENTRY.pack(segment.size - 8, segment.size - 4, 4, 5)]),
    ):
        path.write_bytes(harmed)
        assert not Segment(segment.path, STORE).index_holds(6)
