"""The log as bytes: torn tails cut, corruption refused, segments rolled, failures survived (SPEC §2.3 – §2.5)."""

import errno
import os
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from braid.wal import append as logs
from braid.wal import durable, failpoint, preallocation
from braid.wal.append import LogWriter
from braid.wal.errors import CorruptLogError, NoRoomError, OutcomeUnknownError, WriterPoisonedError
from braid.wal.frame import HEADER_BYTES, Frame, FrameError, Stored
from braid.wal.log import LogReader, TornTail
from braid.wal.segment import ENTRY, SEGMENT_HEADER_BYTES, Segment

STORE = "abcdefghijklmnop"
FULL = OSError(errno.ENOSPC, "No space left on device")


def record(text: str) -> Stored:
    """Return a record whose envelope holds the digest of its body, as the real ones do."""
    body = f"body of {text}".encode()
    return Stored(sha256(body).hexdigest().encode() + text.encode(), b"", body)


def check(frame: Frame) -> None:
    """Compare the bodies with the digests in their envelopes."""
    for stored in frame.records():
        if sha256(stored.body).hexdigest().encode() != stored.envelope[:64]:
            raise FrameError("a body does not match its digest")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of an empty log."""
    path = tmp_path / "log"
    path.mkdir()
    LogWriter.create(path, STORE)
    return path


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    """Leave no failpoint armed behind."""
    yield
    failpoint.arm(None)


def opened(folder: Path, floor: int = 0, *, keeps_room: bool = True) -> tuple[LogWriter, TornTail | None]:
    """Open for appending as the ledger does, from the log's start; return what was cut."""
    log = LogWriter(folder, STORE)
    log.keeps_room = keeps_room
    try:
        log.rescan(0)
        deque(log.follow(check, floor), maxlen=0)
        return log, log.cut_tail()
    except BaseException:
        log.close()
        raise


def append(log: LogWriter, *transactions: Sequence[str]) -> None:
    """Append the transactions as one group, synced."""
    log.append([[record(text) for text in texts] for texts in transactions], sync=True)


def texts(folder: Path) -> list[str]:
    """Return what a new reader finds, bodies checked; it must not change a byte."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    log = LogReader(folder, STORE)
    try:
        log.rescan(0)
        found = [stored.envelope[64:].decode() for frame in log.follow(check) for stored in frame.records()]
        for index, text in enumerate(found):
            assert (log.envelope(index), b"", log.body(index)) == record(text)
    finally:
        log.close()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    return found


def only_segment(folder: Path) -> Path:
    """Return the one segment's file."""
    return folder / "000000000000.seg"


def three_transactions(folder: Path) -> list[int]:
    """Write three transactions, each a write of its own; return the offset of each and the end."""
    log, _ = opened(folder)
    offsets = []
    for transaction in (["a", "b"], ["c"], ["d", "e"]):
        offsets.append(only_segment(folder).stat().st_size)
        append(log, transaction)
    log.close()
    return [*offsets, only_segment(folder).stat().st_size]


def failing(name: str, error: BaseException, times: int = 1) -> None:
    """Arm a failure at a failpoint, for the first `times` passes."""
    left = [times]

    def hook(passed: str) -> None:
        if passed == name and left[0]:
            left[0] -= 1
            raise error

    failpoint.arm(hook)


# -- the tail -------------------------------------------------------------------------------------


def test_transactions_come_back_in_order_and_by_index(folder: Path) -> None:
    three_transactions(folder)
    assert texts(folder) == list("abcde")
    log, torn = opened(folder)
    assert torn is None
    assert [frame.first for frame in log.frames(0)] == [0, 2, 3]
    assert [frame.first for frame in log.frames(3)] == [3]
    assert [frame.first for frame in log.frames(4)] == [3]
    assert (log.next_index, log.next_tx) == (5, 3)
    with pytest.raises(IndexError, match="there is no 5"):
        log.envelope(5)
    log.close()


def test_a_tail_torn_at_any_byte_is_cut_and_reported_and_nothing_before_it(folder: Path) -> None:
    *_, start, end = three_transactions(folder)
    whole = only_segment(folder).read_bytes()
    index = only_segment(folder).with_suffix(".idx")
    whole_index = index.read_bytes()
    for cut in range(start, end):
        only_segment(folder).write_bytes(whole[:cut])
        index.write_bytes(whole_index)  # the index may have reached the disk before the frame
        assert texts(folder) == list("abc")
        log, torn = opened(folder)
        if cut == start:
            assert torn is None
        else:
            assert torn
            assert torn[:3] == ("log/000000000000.seg", start, cut - start)
        append(log, ["again"])
        log.close()
        assert only_segment(folder).read_bytes().startswith(whole[:start])
        assert texts(folder) == [*"abc", "again"]


def test_a_tail_of_zeros_is_cut(folder: Path) -> None:
    *_, start, end = three_transactions(folder)
    whole = only_segment(folder).read_bytes()
    for kept in (start, start + 1, start + HEADER_BYTES - 1, start + HEADER_BYTES, end - 1, end):
        for length in (end, end + 4096):
            only_segment(folder).write_bytes(whole[:kept].ljust(length, b"\0"))
            before = list("abcde") if kept == end else list("abc")
            assert texts(folder) == before
            log, torn = opened(folder)
            append(log, ["again"])
            log.close()
            assert (torn is None) == (kept in (start, end))  # only zeros: room, which nobody misses
            assert texts(folder) == [*before, "again"]


def test_any_harmed_byte_of_the_last_frame_tears_it_whole(folder: Path) -> None:
    *_, start, end = three_transactions(folder)
    whole = only_segment(folder).read_bytes()
    for at in range(start, end):
        harmed = bytearray(whole)
        harmed[at] ^= 0x10
        only_segment(folder).write_bytes(harmed)
        assert texts(folder) == list("abc")


def test_what_a_signed_head_covers_is_never_cut(folder: Path) -> None:
    *_, start, _ = three_transactions(folder)
    whole = only_segment(folder).read_bytes()
    for cut in (start, start + 1, start + HEADER_BYTES, len(whole) - 1):
        only_segment(folder).write_bytes(whole[:cut])
        with pytest.raises(CorruptLogError, match=f"log/000000000000.seg, offset {start}"):
            opened(folder, floor=5)
        assert only_segment(folder).read_bytes() == whole[:cut]


def test_a_harmed_frame_before_a_later_write_is_corruption_and_named(folder: Path) -> None:
    first, second, third, _ = three_transactions(folder)
    whole = only_segment(folder).read_bytes()
    for at in range(first, third):
        harmed = bytearray(whole)
        harmed[at] ^= 0x01
        only_segment(folder).write_bytes(harmed)
        offset = first if at < second else second
        with pytest.raises(CorruptLogError, match=f"log/000000000000.seg, offset {offset}: "):
            opened(folder)
        with pytest.raises(CorruptLogError, match=f"offset {offset}"):
            texts(folder)
        assert only_segment(folder).read_bytes() == bytes(harmed)


def test_a_group_torn_in_the_middle_loses_its_later_transactions_too(folder: Path) -> None:
    """One write of three frames may reach the disk in any order of its pages."""
    log, _ = opened(folder)
    append(log, ["a"])
    start = only_segment(folder).stat().st_size
    append(log, ["b"], ["c"], ["d", "e"])
    log.close()
    whole = only_segment(folder).read_bytes()
    log, _ = opened(folder)
    bounds = [frame.offset for frame in log.frames(1)] + [len(whole)]
    log.close()
    assert bounds[0] == start
    for place, survivors in enumerate(("a", "ab", "abc")):
        for at in range(bounds[place], bounds[place + 1], 7):
            harmed = bytearray(whole)
            harmed[at : at + 16] = bytes(min(16, len(whole) - at))
            if harmed == whole:
                continue
            only_segment(folder).write_bytes(harmed)
            log, torn = opened(folder)
            append(log, ["again"])
            log.close()
            assert torn
            assert (torn.offset, torn.length) == (bounds[place], len(whole) - bounds[place])
            assert texts(folder) == [*survivors, "again"]


def test_a_frame_that_was_moved_is_refused(folder: Path) -> None:
    first, second, third, end = three_transactions(folder)
    whole = only_segment(folder).read_bytes()
    frames = [whole[first:second], whole[second:third], whole[third:end]]
    for order in ((1, 0, 2), (0, 2, 1), (0, 0, 1, 2), (0, 2), (2, 0, 1)):
        only_segment(folder).write_bytes(whole[:first] + b"".join(frames[place] for place in order))
        with pytest.raises(CorruptLogError):
            opened(folder, floor=5)


# -- room ahead of the end (SPEC §2.6) ---------------------------------------------------------------


def busy(folder: Path, count: int = 40) -> tuple[LogWriter, list[str]]:
    """Return an open log to which so much was appended that room was made, and its texts."""
    log, torn = opened(folder)
    assert torn is None
    wanted = [f"text {n} ".ljust(400, ".") for n in range(count)]
    for text in wanted:
        append(log, [text])
    assert log.size_behind() > 0
    return log, wanted


def test_room_is_made_as_records_come_and_given_back_at_the_end(folder: Path) -> None:
    log, _ = opened(folder)
    append(log, ["a single record"])
    assert log.size_behind() == 0  # who writes little makes none
    sizes: list[int] = []
    for n in range(1200):
        before = only_segment(folder).stat().st_size
        append(log, [f"text {n} ".ljust(400, ".")])
        if (grown := only_segment(folder).stat().st_size - before) and log.size_behind():
            sizes.append(grown)
    assert len(sizes) < 25  # of 1,200 appends few change the file's size: as many bytes ahead as were written
    assert log.size_behind() <= preallocation.ROOM_BYTES
    assert log.bytes_on_disk == only_segment(folder).stat().st_size - log.size_behind()
    written = only_segment(folder).stat().st_size - log.size_behind()
    log.close()
    assert only_segment(folder).stat().st_size == written
    assert len(texts(folder)) == 1201


def test_zeros_that_a_killed_writer_left_are_no_torn_tail(folder: Path) -> None:
    log, wanted = busy(folder)
    left = only_segment(folder).read_bytes()
    log.close()
    only_segment(folder).write_bytes(left)
    assert texts(folder) == wanted  # a reader stops before them, also while the writer lives
    log, torn = opened(folder)
    assert torn is None
    assert log.size_behind() == 0
    append(log, ["again"])
    log.close()
    assert texts(folder) == [*wanted, "again"]


def test_a_frame_torn_within_the_room_is_cut_with_it_and_reported(folder: Path) -> None:
    log, wanted = busy(folder)
    start = only_segment(folder).stat().st_size - log.size_behind()
    append(log, ["lost"])
    end = only_segment(folder).stat().st_size - log.size_behind()
    left = only_segment(folder).read_bytes()
    log.close()
    assert end < len(left)
    for kept in range(start + 1, end):
        only_segment(folder).write_bytes(left[:kept].ljust(len(left), b"\0"))
        log, torn = opened(folder)
        log.close()
        assert torn
        assert torn[:3] == ("log/000000000000.seg", start, len(left) - start)
        assert torn.reason
    assert texts(folder) == wanted


def test_a_full_disk_has_no_room_but_takes_the_record(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int, data: bytes, offset: int) -> int:
        raise FULL

    monkeypatch.setattr(os, "pwrite", full)
    log, _ = opened(folder)
    for n in range(40):
        append(log, [f"text {n} ".ljust(400, ".")])
        assert log.size_behind() == 0
    log.close()
    assert len(texts(folder)) == 40


def test_a_write_that_failed_within_the_room_is_taken_back(folder: Path) -> None:
    log, wanted = busy(folder)
    failing("wal.write.done", FULL)
    with pytest.raises(OSError, match="No space"):
        append(log, ["refused"])
    append(log, ["more"])
    log.close()
    assert texts(folder) == [*wanted, "more"]


def test_a_segment_is_closed_without_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, wanted = busy(folder)
    monkeypatch.setattr(logs, "SEGMENT_LIMIT", 700)
    syncs = durable.counts["wal.sync"]
    append(log, ["in the next"])
    assert (
        durable.counts["wal.sync"] == syncs + 2
    )  # what was cut is durable before the next segment's name is
    first, second = sorted(folder.glob("*.seg"))
    assert second.stat().st_size > SEGMENT_HEADER_BYTES
    log.close()
    assert not first.read_bytes().endswith(bytes(64))
    assert texts(folder) == [*wanted, "in the next"]


def test_a_handle_that_made_no_room_cuts_nothing(folder: Path) -> None:
    """It may have followed others into a segment whose descriptor it has not: the end there is none here."""
    log, _ = opened(folder, keeps_room=False)
    append(log, *[[f"text {n}"] for n in range(20)])
    whole = only_segment(folder).read_bytes()
    log._end = SEGMENT_HEADER_BYTES + 1
    log.close()
    assert only_segment(folder).read_bytes() == whole


def test_large_writes_have_no_room(folder: Path) -> None:
    log, _ = opened(folder)
    for n in range(4):
        append(log, [f"text {n} {k} ".ljust(400, ".") for k in range(100)])
        assert log.size_behind() == 0
    append(log, ["a small one"])
    assert log.size_behind() > 0
    log.close()


def test_a_disk_with_little_space_has_no_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preallocation, "LEAST_FREE_BYTES", 1 << 62)
    log, _ = opened(folder)
    for n in range(40):
        append(log, [f"text {n} ".ljust(400, ".")])
    assert log.size_behind() == 0
    log.close()


def test_where_others_write_in_turns_there_is_no_room(folder: Path) -> None:
    log, _ = opened(folder, keeps_room=False)
    for n in range(40):
        append(log, [f"text {n} ".ljust(400, ".")])
    assert log.size_behind() == 0
    log.close()


# -- segments -------------------------------------------------------------------------------------


def rolled(folder: Path, monkeypatch: pytest.MonkeyPatch, count: int = 9) -> list[str]:
    """Write `count` transactions into segments of about three each; return the texts."""
    monkeypatch.setattr(logs, "SEGMENT_LIMIT", 700)
    log, _ = opened(folder)
    wanted = [f"text {n}" for n in range(count)]
    for text in wanted:
        append(log, [text])
    assert log.synced == count
    log.close()
    assert len(list(folder.glob("*.seg"))) > 2
    return wanted


def test_a_full_segment_takes_no_further_frame(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = rolled(folder, monkeypatch)
    assert texts(folder) == wanted
    log, torn = opened(folder)
    assert torn is None
    append(log, ["more"])
    log.close()
    assert texts(folder) == [*wanted, "more"]
    sizes = [path.stat().st_size for path in sorted(folder.glob("*.seg"))]
    assert all(size >= 700 for size in sizes[:-1])


def test_an_open_reader_follows_into_the_next_segments(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = LogReader(folder, STORE)
    reader.rescan(0)
    wanted = rolled(folder, monkeypatch)
    found = [stored.envelope[64:].decode() for frame in reader.follow(check) for stored in frame.records()]
    assert found == wanted
    assert [reader.body(index) for index in range(9)] == [record(text).body for text in wanted]
    reader.close()


@pytest.mark.parametrize(
    "point", ["wal.idx.create", "wal.idx.create.done", "wal.segment.create", "wal.segment.create.done"]
)
def test_dying_while_a_segment_is_begun_loses_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    monkeypatch.setattr(logs, "SEGMENT_LIMIT", 300)
    log, _ = opened(folder)
    append(log, ["a"], ["b"])
    failing(point, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        append(log, ["c"])
    log.close()  # as if the process had died: nothing more is written
    failpoint.arm(None)
    assert texts(folder) == ["a", "b"]
    log, torn = opened(folder)
    assert torn is None
    append(log, ["c"])
    log.close()
    assert texts(folder) == ["a", "b", "c"]


@pytest.mark.parametrize("point", ["wal.idx.create", "wal.idx.create.done", "wal.segment.create"])
def test_a_segment_that_could_not_be_begun_leaves_the_log_as_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """Its name must not stay: the next record goes into the old segment, and two can't both hold it."""
    monkeypatch.setattr(logs, "SEGMENT_LIMIT", 300)
    log, _ = opened(folder)
    append(log, ["a"], ["b"])
    failing(point, FULL)
    with pytest.raises(OSError, match="No space"):
        append(log, ["refused"])
    assert [path.name for path in folder.glob("*.seg")] == ["000000000000.seg"]
    monkeypatch.setattr(logs, "SEGMENT_LIMIT", 1 << 20)
    append(log, ["c"])
    monkeypatch.setattr(logs, "SEGMENT_LIMIT", 300)
    append(log, ["d"])
    log.close()
    assert len(list(folder.glob("*.seg"))) == 2
    assert texts(folder) == list("abcd")


def test_a_segment_that_readers_may_have_entered_is_not_taken_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "SEGMENT_LIMIT", 300)
    log, _ = opened(folder)
    append(log, ["a"], ["b"])
    failing("wal.segment.create.done", FULL)
    with pytest.raises(OSError, match="No space"):
        append(log, ["refused"])
    reader = LogReader(folder, STORE)
    reader.rescan(0)
    assert len(list(reader.follow(check))) == 2
    with pytest.raises(WriterPoisonedError, match="could not be begun"):
        append(log, ["refused too"])
    log.close()
    log, torn = opened(folder)
    assert torn is None
    append(log, ["c"])
    log.close()
    assert len(list(reader.follow(check))) == 1
    reader.close()
    assert texts(folder) == list("abc")


def test_a_segment_that_can_neither_be_begun_nor_taken_back_ends_the_writing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "SEGMENT_LIMIT", 300)
    log, _ = opened(folder)
    append(log, ["a"], ["b"])
    failing("wal.segment.create", FULL)

    def refuse(path: Path, missing_ok: bool = False) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        with pytest.raises(OSError, match="Input/output error"):
            append(log, ["refused"])
    with pytest.raises(WriterPoisonedError, match=r"could not be taken back.*reopen the store"):
        append(log, ["c"])
    log.close()
    log, torn = opened(folder)
    assert torn is None
    append(log, ["c"])
    log.close()
    assert texts(folder) == list("abc")


@pytest.mark.parametrize("where", ["_open_active", "_close_active", "_reopen_index"])
def test_an_interruption_between_two_segments_ends_the_writing_and_cuts_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Ctrl-C may come anywhere: a place in one file and the descriptor of another must never meet."""
    log, wanted = busy(folder)
    before = (folder / "000000000000.seg").read_bytes().rstrip(b"\0")
    monkeypatch.setattr(logs, "SEGMENT_LIMIT", 700)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LogWriter, where, interrupt)
        with pytest.raises(KeyboardInterrupt):
            append(log, ["refused"])
    with pytest.raises(WriterPoisonedError, match="interrupted"):
        append(log, ["refused too"])
    log.close()
    assert (folder / "000000000000.seg").read_bytes().rstrip(b"\0") == before
    assert texts(folder) == wanted


def test_room_that_can_not_be_cut_keeps_the_next_segment_from_being_begun(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, wanted = busy(folder)
    monkeypatch.setattr(logs, "SEGMENT_LIMIT", 700)

    def refuse(fd: int, length: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "ftruncate", refuse)
        with pytest.raises(OSError, match="Input/output error"):
            append(log, ["refused"])
        assert len(list(folder.glob("*.seg"))) == 1
    append(log, ["in the next"])
    log.close()
    assert len(list(folder.glob("*.seg"))) == 2
    assert texts(folder) == [*wanted, "in the next"]


def test_a_file_that_something_else_cut_is_not_written_to(folder: Path) -> None:
    log, _ = opened(folder)
    append(log, ["a"], ["b"])
    size = only_segment(folder).stat().st_size
    os.truncate(only_segment(folder), size - 10)
    with pytest.raises(WriterPoisonedError, match="something else cut it"):
        append(log, ["c"])
    assert only_segment(folder).stat().st_size == size - 10
    log.close()


@pytest.mark.parametrize("content", [b"", b"BRAIDSEG", bytes(63), bytes(64)])
def test_a_segment_that_was_never_born_is_dropped(folder: Path, content: bytes) -> None:
    """A power cut may leave a name without bytes, or zeros in their place."""
    three_transactions(folder)
    unborn = folder / "000000000005.seg"
    unborn.write_bytes(content)
    unborn.with_suffix(".idx").write_bytes(b"")
    assert texts(folder) == list("abcde")
    log, _ = opened(folder)
    assert not unborn.exists()
    append(log, ["f"])
    log.close()
    assert texts(folder) == list("abcdef")


def test_a_segment_in_the_middle_that_lost_its_bytes_is_corruption(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rolled(folder, monkeypatch)
    segments = sorted(folder.glob("*.seg"))
    segments[1].write_bytes(b"")
    with pytest.raises(CorruptLogError, match=f"log/{segments[1].name}"):
        opened(folder)
    assert sorted(folder.glob("*.seg")) == segments


def test_a_missing_segment_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rolled(folder, monkeypatch)
    first, second, *_ = sorted(folder.glob("*.seg"))
    second.rename(second.with_suffix(".away"))
    with pytest.raises(CorruptLogError, match="is missing before this segment"):
        opened(folder)
    first.unlink()
    with pytest.raises(CorruptLogError, match="first segment is missing"):
        opened(folder)
    for path in folder.glob("*.seg"):
        path.unlink()
    with pytest.raises(CorruptLogError, match="there is no segment"):
        opened(folder)


def test_a_torn_frame_that_is_the_first_of_its_segment_is_cut(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = rolled(folder, monkeypatch)
    last = sorted(folder.glob("*.seg"))[-1]
    whole = last.read_bytes()
    survivors = wanted[: int(last.stem)]
    for cut in (SEGMENT_HEADER_BYTES + 1, SEGMENT_HEADER_BYTES + HEADER_BYTES, SEGMENT_HEADER_BYTES + 150):
        last.write_bytes(whole[:cut])
        assert texts(folder) == survivors
        log, torn = opened(folder)
        assert torn
        assert torn[:3] == (f"log/{last.name}", SEGMENT_HEADER_BYTES, cut - SEGMENT_HEADER_BYTES)
        append(log, ["again"])
        log.close()
        assert texts(folder) == [*survivors, "again"]


# -- the index ------------------------------------------------------------------------------------


def test_a_harmed_index_is_derived_again_by_the_writer(folder: Path) -> None:
    three_transactions(folder)
    index = only_segment(folder).with_suffix(".idx")
    whole = index.read_bytes()
    rows = [whole[at : at + ENTRY.size] for at in range(0, len(whole), ENTRY.size)]
    for harmed in (
        None,
        b"",
        whole[:-1],
        whole[: 2 * ENTRY.size],
        whole + b"\0",
        whole + rows[0],
        bytes(len(whole)),
        b"\xff" * len(whole),
        b"".join([rows[1], rows[0], *rows[2:]]),
    ):
        if harmed is None:
            index.unlink()
        else:
            index.write_bytes(harmed)
        log, torn = opened(folder)
        assert torn is None
        assert [log.envelope(at) for at in range(5)] == [record(text).envelope for text in "abcde"]
        log.close()
        assert index.read_bytes() == whole


def test_a_reader_does_without_an_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = rolled(folder, monkeypatch)
    for path in folder.glob("*.idx"):
        path.unlink()
    assert texts(folder) == wanted
    reader = LogReader(folder, STORE)
    reader.rescan(len(wanted))
    assert [reader.body(index) for index in range(9)] == [record(text).body for text in wanted]
    reader.close()
    assert not list(folder.glob("*.idx"))


def test_an_impossible_place_in_the_index_never_becomes_a_system_error(folder: Path) -> None:
    """A bit flip may turn an offset into 2^63: the bytes there are none, which the ledger refuses by their hash."""
    three_transactions(folder)
    index = only_segment(folder).with_suffix(".idx")
    whole = index.read_bytes()
    for at in range(ENTRY.size):
        for bit in range(8):
            harmed = bytearray(whole)
            harmed[ENTRY.size + at] ^= 1 << bit
            index.write_bytes(harmed)
            reader = LogReader(folder, STORE)
            reader.rescan(5)
            assert len(reader.envelope(1)) < 1 << 20
            assert len(reader.body(1)) < 1 << 20
            assert (reader.envelope(1), reader.body(1)) != (record("b").envelope, record("b").body)
            reader.close()


def test_nothing_is_read_to_learn_that_nothing_is_new(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, _ = opened(folder)
    append(log, *([str(n)] for n in range(20)))
    log.close()
    reader = LogReader(folder, STORE)
    assert reader.resume(20)
    reads: list[int] = []
    real = Segment.read

    def counted(self: Segment, offset: int, length: int) -> bytes:
        reads.append(length)
        return real(self, offset, length)

    monkeypatch.setattr(Segment, "read", counted)
    assert list(reader.frames(20)) == []
    assert reads == []
    assert [frame.first for frame in reader.frames(19)] == [19]
    reader.close()


def test_a_position_is_found_from_the_index_or_not_at_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = rolled(folder, monkeypatch)
    log = LogReader(folder, STORE)
    for size in range(1, len(wanted) + 1):
        assert log.resume(size)
        assert (log.next_index, log.next_tx) == (size, size)
        assert [f.first for f in log.follow(check)] == list(range(size, len(wanted)))
        log.rescan(size)
        assert (log.next_index, log.next_tx) == (size, size)
    assert not log.resume(0)
    assert not log.resume(len(wanted) + 1)
    with pytest.raises(CorruptLogError, match="a signed head covers 10"):
        log.rescan(10)
    log.close()
    three = folder.parent / "three"
    three.mkdir()
    LogWriter.create(three, STORE)
    log, _ = opened(three)
    append(log, ["a", "b"])
    append(log, ["c", "d", "e"])
    assert not log.resume(4)
    with pytest.raises(CorruptLogError, match="the log ends at 2 records; a signed head covers 4"):
        log.rescan(4)
    log.close()


# -- failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("point", ["wal.sync", "wal.sync.done"])
def test_a_failed_sync_is_never_retried(folder: Path, point: str) -> None:
    log, _ = opened(folder)
    append(log, ["a"])
    failing(point, OSError(errno.EIO, "Input/output error"))
    with pytest.raises(OutcomeUnknownError, match=r"000000000000\.seg.*idempotency key"):
        append(log, ["b"])
    synced = durable.counts["wal.sync"]
    assert log.poisoned
    with pytest.raises(WriterPoisonedError, match=r"Input/output error.*reopen"):
        append(log, ["c"])
    with pytest.raises(WriterPoisonedError, match=r"Input/output error.*reopen"):
        log.sync()
    assert durable.counts["wal.sync"] == synced
    log.close()
    assert texts(folder) == ["a", "b"]  # unknown to the caller; here it had been written
    log, _ = opened(folder)
    append(log, ["c"])
    log.close()
    assert texts(folder) == ["a", "b", "c"]


def test_a_failing_fdatasync_poisons(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, _ = opened(folder)

    def broken(_fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", broken)
        log.append([[record("a")]], sync=False)
        with pytest.raises(OutcomeUnknownError):
            log.sync()
    with pytest.raises(WriterPoisonedError):
        log.sync()
    log.close()


@pytest.mark.parametrize("point", ["wal.write", "wal.write.done"])
def test_a_full_disk_leaves_the_log_as_it_was_and_usable(folder: Path, point: str) -> None:
    log, _ = opened(folder)
    append(log, ["a"])
    before = only_segment(folder).read_bytes()
    failing(point, FULL)
    with pytest.raises(OSError, match="No space left"):
        append(log, ["b"], ["c"])
    assert only_segment(folder).read_bytes() == before
    assert texts(folder) == ["a"]
    append(log, ["d"])
    log.close()
    assert texts(folder) == ["a", "d"]


def test_a_disk_that_fills_up_in_the_middle_of_a_write(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, _ = opened(folder)
    append(log, ["a"])
    real, calls = os.write, [0]

    def half(fd: int, data: bytes) -> int:
        calls[0] += 1
        if calls[0] > 1:
            raise FULL
        return real(fd, bytes(data)[: len(data) * 3 // 4])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half)
        with pytest.raises(OSError, match="No space left"):
            append(log, ["b"], ["c"])
    assert texts(folder) == ["a"]
    append(log, ["d"])
    log.close()
    assert texts(folder) == ["a", "d"]


def test_a_write_that_can_not_be_taken_back_is_of_unknown_outcome(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first transaction of the group may be whole on disk: nobody may be told that it isn't."""
    log, _ = opened(folder)

    def stuck(_fd: int, _length: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "ftruncate", stuck)
        failing("wal.write.done", FULL)
        with pytest.raises(OutcomeUnknownError):
            append(log, ["a"], ["b"])
    with pytest.raises(WriterPoisonedError):
        append(log, ["c"])
    log.close()


@pytest.mark.parametrize("point", ["wal.idx", "wal.idx.done"])
def test_a_full_disk_at_the_index_loses_nothing(folder: Path, point: str) -> None:
    log, _ = opened(folder)
    append(log, ["a"])
    failing(point, FULL)
    append(log, ["b"])
    log.flush_index()
    append(log, ["c"])
    assert [log.body(index) for index in range(3)] == [record(text).body for text in "abc"]
    assert log.synced == 3
    assert texts(folder) == ["a", "b", "c"]
    log.flush_index()
    assert only_segment(folder).with_suffix(".idx").stat().st_size == 3 * ENTRY.size
    assert [log.body(index) for index in range(3)] == [record(text).body for text in "abc"]
    log.close()
    log, torn = opened(folder)
    assert torn is None
    log.close()


def test_half_an_index_entry_does_no_harm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, _ = opened(folder)
    append(log, ["a"])
    real = os.write

    def short(fd: int, data: bytes) -> int:
        if len(data) == 2 * ENTRY.size:
            return real(fd, bytes(data)[:31])
        if len(data) < 2 * ENTRY.size:
            raise FULL
        return real(fd, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", short)
        append(log, ["b", "c"])
        log._fresh.pop(0)
        only_segment(folder).with_suffix(".idx").write_bytes(b"")
        log.flush_index()
    append(log, ["d"])
    assert [log.body(index) for index in range(4)] == [record(text).body for text in "abcd"]
    assert texts(folder) == list("abcd")
    log.close()
    log, _ = opened(folder)
    append(log, ["e"])
    log.close()
    assert texts(folder) == list("abcde")


@pytest.mark.parametrize("point", ["wal.write.done", "wal.sync", "wal.sync.done", "behind the sync"])
def test_an_interrupted_append_never_lets_the_next_one_overlap(
    folder: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """Ctrl-C between the write and the bookkeeping: this handle must not number the next frame like the last."""
    log, _ = opened(folder)
    append(log, ["a"])
    failing(point, KeyboardInterrupt())

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if point == "behind the sync":
            patch.setattr(log, "_admit", interrupted)
        with pytest.raises((KeyboardInterrupt, OutcomeUnknownError)):
            append(log, ["b"])
    poisoned = False
    try:
        append(log, ["c"])
    except WriterPoisonedError:
        poisoned = True
    log.close()
    assert texts(folder)[-1] == ("b" if poisoned else "c")
    log, torn = opened(folder)
    assert torn is None
    append(log, ["d"])
    log.close()
    assert texts(folder)[-1] == "d"


def test_a_reader_that_met_a_transaction_which_was_taken_back_says_so_or_goes_on(folder: Path) -> None:
    """What isn't whole yet is never shown, however often a reader looks while it grows."""
    three_transactions(folder)
    whole = only_segment(folder).read_bytes()
    for path in folder.iterdir():
        path.unlink()
    LogWriter.create(folder, STORE)
    reader = LogReader(folder, STORE)
    reader.rescan(0)
    seen: list[int] = []
    with only_segment(folder).open("ab", buffering=0) as file:
        for at in range(SEGMENT_HEADER_BYTES, len(whole), 5):
            file.write(whole[at : at + 5])
            seen += [frame.header.count for frame in reader.follow(check)]
    assert seen == [2, 1, 2]
    reader.close()


# -- compaction -----------------------------------------------------------------------------------


def test_compaction_gives_back_blanked_bodies_and_keeps_every_envelope(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = rolled(folder, monkeypatch)
    log, _ = opened(folder)
    gone = {0, 1, 4, 8}
    touched = log.blank(sorted(gone), lambda index, data: True)
    assert touched == sorted({f"log/{log.locate(index)[0].path.name}" for index in gone})
    assert not any(log.body(index).strip(b"\0") for index in gone)
    given_back = log.compact(gone.__contains__)
    assert given_back > 0
    assert log.compact(gone.__contains__) == 0
    for reader in (log, LogReader(folder, STORE)):
        if reader is not log:
            reader.rescan(len(wanted))
        for index, text in enumerate(wanted):
            assert reader.envelope(index) == record(text).envelope
            assert reader.body(index) == (b"" if index in gone else record(text).body)
        if reader is not log:
            reader.close()
    append(log, ["after"])
    assert log.body(9) == record("after").body
    log.close()
    log = LogWriter(folder, STORE)
    log.rescan(9)
    assert [frame.first for frame in log.follow(check)] == [9]
    assert log.cut_tail() is None
    log.close()


@pytest.mark.parametrize(
    "point",
    [
        "compact.write",
        "compact.write.done",
        "compact.unindexed",
        "compact.renamed",
        "wal.idx.rebuild",
        "wal.idx.rebuild.renamed",
    ],
)
def test_dying_in_a_compaction_leaves_every_record_readable(
    folder: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    wanted = rolled(folder, monkeypatch)
    log, _ = opened(folder)
    log.blank([0, 4], lambda index, data: True)
    failing(point, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        log.compact({0, 4}.__contains__)
    log.close()
    failpoint.arm(None)
    log = LogWriter(folder, STORE)
    log.rescan(9)
    deque(log.follow(check), maxlen=0)
    assert log.cut_tail() is None
    assert [log.envelope(index) for index in range(9)] == [record(text).envelope for text in wanted]
    log.compact({0, 4}.__contains__)
    assert [index for index in range(9) if not log.body(index)] == [0, 4]
    log.close()


def test_a_compaction_that_finds_no_room_leaves_nothing_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What needs the least room is done first; what has none is as it was, and the refusal says how much it needs."""
    rolled(folder, monkeypatch)
    log, _ = opened(folder)
    first, second = log.segments[:2]
    gone = {0, *range(second.first, second.first + 2)}  # of the second one less is left
    log.blank(sorted(gone), lambda index, data: True)
    before = first.path.read_bytes()

    def full(name: str) -> None:
        if name == "compact.write" and second.path.stat().st_ino != inode:
            raise FULL

    inode = second.path.stat().st_ino
    failpoint.arm(full)
    with pytest.raises(NoRoomError, match=r"000000000000\.seg: .* bytes must be free") as met:
        log.compact(gone.__contains__)
    failpoint.arm(None)
    assert met.value.errno == errno.ENOSPC
    assert list(folder.glob(".*")) == []
    assert first.path.read_bytes() == before
    assert [index for index in range(log.next_index) if not log.body(index)] == sorted(gone - {0})
    (folder / ".000000000000.seg.new").write_bytes(b"of a process that was killed")
    assert log.compact(gone.__contains__) > 0
    assert list(folder.glob(".*")) == []
    assert first.path.stat().st_size == met.value.needed
    assert [index for index in range(log.next_index) if not log.body(index)] == sorted(gone)
    log.close()


def test_a_compacted_segments_old_file_goes_while_the_log_is_open(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else no segment would make room for the next. What still reads the old file keeps it."""
    rolled(folder, monkeypatch)
    log, _ = opened(folder)
    reading = log.frames(0)
    next(reading)
    log.blank([0, 4], lambda index, data: True)
    log.compact({0, 4}.__contains__)
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        pytest.skip("needs /proc")

    def unlinked() -> list[str]:
        links = [str(one.readlink()) for one in descriptors.iterdir() if one.is_symlink()]
        return [link for link in links if str(folder) in link and "(deleted)" in link and ".seg" in link]

    assert len(unlinked()) == 1
    assert [frame.first for frame in reading] == list(range(1, 9))
    assert unlinked() == []
    log.close()


def test_the_index_of_a_compacted_segment_needs_no_room(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = rolled(folder, monkeypatch)
    log, _ = opened(folder)
    log.blank([0], lambda index, data: True)
    failing("wal.idx.rebuild", FULL)
    assert log.compact({0}.__contains__) > 0
    assert [log.envelope(index) for index in range(9)] == [record(text).envelope for text in wanted]
    log.close()
    assert not only_segment(folder).with_suffix(".idx").exists()
    log = LogWriter(folder, STORE)
    log.rescan(9)
    assert log.cut_tail() is None
    assert only_segment(folder).with_suffix(".idx").exists()
    assert [log.envelope(index) for index in range(9)] == [record(text).envelope for text in wanted]
    log.close()


def test_a_reader_that_was_open_before_a_compaction_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old descriptors, new index files, positions of the old layout: none may lead to wrong bytes or to a loop."""
    monkeypatch.setattr(logs, "SEGMENT_LIMIT", 100_000)
    log, _ = opened(folder)
    for text in "abc":
        append(log, [text, text * 2])
    reader = LogReader(folder, STORE)
    reader.rescan(4)  # "c" and "cc" are its fresh tail
    assert [frame.first for frame in reader.follow(check)] == [4]
    append(log, ["d"])
    log.blank([0, 1], lambda index, data: True)
    log.compact({0, 1}.__contains__)
    append(log, ["e"])
    reader.refresh_segments()
    for index, text in enumerate(["a", "aa", "b", "bb", "c", "cc"]):
        assert reader.envelope(index) == record(text).envelope
        assert reader.body(index) == (b"" if index < 2 else record(text).body)
    assert [frame.first for frame in reader.follow(check)] == [6, 7]
    assert reader.body(7) == record("e").body
    reader.close()
    log.close()


# -- while it is written --------------------------------------------------------------------------

HAMMER = """
import sys, time
from hashlib import sha256
from pathlib import Path
from braid.wal import append as logs
from braid.wal.frame import Stored
logs.SEGMENT_LIMIT = 60_000
log = logs.LogWriter(Path(sys.argv[1]), "abcdefghijklmnop")
log.rescan(0)
list(log.follow(lambda frame: None))
log.cut_tail()
end = time.monotonic() + float(sys.argv[2])
number = 0
while time.monotonic() < end:
    group = []
    for _ in range(1 + number % 3):
        body = b"%d" % number * (1 + number % 50)
        stored = Stored(sha256(body).hexdigest().encode() + b"%d" % number, b"", body)
        group.append([stored] * (1 + number % 7))
        number += 1
    log.append(group, sync=number % 10 == 0)
log.close()
print(number)
"""


@pytest.mark.soak
def test_readers_see_whole_transactions_only_while_another_process_writes(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HAMMER, folder, "1.5"], stdout=subprocess.PIPE, text=True
    ) as writer:
        lasting = LogReader(folder, STORE)
        lasting.rescan(0)
        seen = looks = 0
        while writer.poll() is None:
            looks += 1
            fresh = LogReader(folder, STORE)
            fresh.rescan(0)
            for reader in (lasting, fresh):
                expected = 0 if reader is fresh else seen
                for frame in reader.follow(check):
                    numbers = [int(stored.envelope[64:]) for stored in frame.records()]
                    assert numbers == [expected] * (1 + expected % 7)
                    expected += 1
                    assert reader.envelope(reader.next_index - 1)[64:] == b"%d" % numbers[0]
                if reader is lasting:
                    seen = expected
            fresh.close()
            time.sleep(0.001)
        assert writer.stdout
        total = int(writer.stdout.read())
        seen += sum(1 for _ in lasting.follow(check))
        lasting.close()
    assert writer.returncode == 0
    assert seen == total > 100
    assert looks > 5
    shutil.rmtree(folder)
