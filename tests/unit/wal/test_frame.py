"""Frames: what goes in comes out, and no bit of header, table, envelopes or lists can change unseen (SPEC §2.2)."""

import struct

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from braid.wal import frame as frames
from braid.wal.frame import HEADER_BYTES, Frame, FrameError, Stored, encode_frame, parse_header

RECORDS = [Stored(b"envelope one", b"", b"body one"), Stored(b"envelope two!", b"parent 0 x\n", b"")]
stored = st.builds(Stored, st.binary(min_size=1, max_size=60), st.binary(max_size=30), st.binary(max_size=60))


def read(data: bytes, offset: int = 0) -> Frame:
    """Read a frame as a segment does: header, then table with envelopes and lists, then bodies."""
    header = parse_header(data[:HEADER_BYTES])
    head_end = HEADER_BYTES + header.head_len
    return Frame(header, offset, data[HEADER_BYTES:head_end], data[head_end : header.length])


def with_right_checks(count: int, section: bytes, bodies: bytes) -> bytes:
    """Build a frame whose checks hold, whatever its section says: what only a broken writer could leave."""
    start = struct.pack("<4sIQQQQQ", frames.MAGIC, count, 0, 0, 0, len(section), len(bodies))
    start += blake3(start).digest(length=16)
    return start + blake3(start).update(section).digest() + section + bodies


@given(
    records=st.lists(stored, min_size=1, max_size=8),
    first=st.integers(0, 1 << 40),
    tx=st.integers(0, 1 << 50),
    offset=st.integers(0, 1 << 30),
)
def test_a_frame_gives_back_what_went_in(records: list[Stored], first: int, tx: int, offset: int) -> None:
    data = b"".join(encode_frame(first, tx, offset, records))
    frame = read(data, offset)
    assert list(frame.records()) == records
    assert list(frame.envelopes()) == [record.envelope for record in records]
    assert (frame.first, frame.end, frame.header.tx, frame.header.group) == (
        first,
        first + len(records),
        tx,
        offset,
    )
    assert frame.end_offset == offset + len(data)
    for place, record in zip(frame.extents(), records, strict=True):
        at, body_at = place.envelope_at - offset, place.body_at - offset
        assert data[at : at + place.envelope_len] == record.envelope
        assert data[at + place.envelope_len :].startswith(record.links)
        assert data[body_at : body_at + place.body_len] == record.body


def test_no_bit_outside_the_bodies_can_change_unseen() -> None:
    data = b"".join(encode_frame(7, 3, 64, RECORDS))
    bodies = sum(len(record.body) for record in RECORDS)
    for bit in range(8 * (len(data) - bodies)):
        harmed = bytearray(data)
        harmed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(FrameError):
            read(bytes(harmed))


def test_a_changed_body_is_left_to_the_digest_in_its_envelope() -> None:
    data = b"".join(encode_frame(7, 3, 64, RECORDS))
    blanked = data[: -len(RECORDS[0].body)] + bytes(len(RECORDS[0].body))
    assert [record.envelope for record in read(blanked).records()] == [record.envelope for record in RECORDS]


def test_a_frame_cut_short_is_incomplete() -> None:
    data = b"".join(encode_frame(0, 0, 64, RECORDS))
    for length in range(HEADER_BYTES + parse_header(data).head_len):
        with pytest.raises(FrameError, match="incomplete"):
            read(data[:length])


@pytest.mark.parametrize(
    ("count", "section"),
    [
        pytest.param(1, struct.pack("<3I", 5, 0, 0) + b"four", id="an envelope longer than the section"),
        pytest.param(1, struct.pack("<3I", 3, 0, 0) + b"four", id="an envelope shorter than the section"),
        pytest.param(1, struct.pack("<3I", 4, 0, 9) + b"four", id="a body longer than the bodies"),
        pytest.param(2, struct.pack("<3I", 4, 0, 0) + b"four", id="a table shorter than the count"),
        pytest.param(0, b"", id="no record"),
        pytest.param(frames.MAX_RECORDS + 1, bytes(12), id="too many records"),
    ],
)
def test_sizes_that_contradict_each_other_are_refused_even_under_right_checks(
    count: int, section: bytes
) -> None:
    with pytest.raises(FrameError):
        read(with_right_checks(count, section, b""))


def test_a_transaction_holds_at_least_one_record_and_not_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="1 to"):
        encode_frame(0, 0, 64, [])
    monkeypatch.setattr(frames, "MAX_RECORDS", 1)
    with pytest.raises(ValueError, match="not 2"):
        encode_frame(0, 0, 64, RECORDS)
