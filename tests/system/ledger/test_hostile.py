"""Attacks and accidents that once got through: each was a failing test first."""

import os
import struct
from datetime import UTC, datetime
from pathlib import Path

import pytest

import braid
from braid.ledger.erase.cascade import plan
from braid.ledger.erase.erasure import erase
from braid.ledger.errors import EnvelopeError, ErasedError, IntegrityError
from braid.ledger.keys.logkeys import load_log_key
from braid.ledger.read.reader import Reader
from braid.ledger.record.envelope import decode_payload, payload_of
from braid.ledger.record.ids import make_id
from braid.ledger.record.record import Content, Draft, ExperienceBody
from braid.ledger.tree.checkpoint import Checkpoint, sign_checkpoint
from braid.ledger.tree.merkle import leaf_hash
from braid.ledger.tree.publication import publish_checkpoint, write_tiles
from braid.ledger.write.compose import Slot, compose, encode_body, finish
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import Writer
from braid.wal import append as appending
from braid.wal.errors import CorruptLogError, WriterPoisonedError
from braid.wal.segment import ENTRY


def said(text: str, *parents: str) -> Draft:
    return Draft(
        kind="experience",
        type="inference" if parents else "occurrence",
        body=ExperienceBody(content=Content(text=text)),
        links=[("parent", parent) for parent in parents],
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    create_store(tmp_path / "store", now=datetime.now(UTC))
    return tmp_path / "store"


@pytest.fixture
def two_segments(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(appending, "SEGMENT_LIMIT", 4_000)
    writer = Writer(store)
    for n in range(8):
        writer.append([said(f"n{n}")])
    writer.close()
    return store


def drop_frame(store: Path, place: int) -> None:
    """Cut a frame out of the first segment, and shift the place index, as an attacker would."""
    segment, index = store / "log/000000000000.seg", store / "log/000000000000.idx"
    reader = Reader(store)
    frames = list(reader.log.segments[0].frames(64))
    reader.close()
    frame = frames[place]
    data = segment.read_bytes()
    segment.write_bytes(data[: frame.offset] + data[frame.end_offset :])
    rows = [
        list(ENTRY.unpack(row))
        for row in struct.iter_unpack(f"{ENTRY.size}s", index.read_bytes())
        for row in row
    ]
    shifted = [
        [row[0] - frame.header.length, row[1] - frame.header.length, *row[2:]] if at >= frame.end else row
        for at, row in enumerate(rows)
    ]
    index.write_bytes(b"".join(ENTRY.pack(*row) for row in shifted))


def test_a_frame_dropped_from_a_closed_segment_is_missed_by_bulk_reads(two_segments: Path) -> None:
    drop_frame(two_segments, 1)
    reader = Reader(two_segments)
    with pytest.raises((CorruptLogError, IntegrityError)):
        list(reader.entries())
    with pytest.raises((CorruptLogError, IntegrityError)):
        list(reader.envelopes())
    reader.close()


def test_blanking_does_not_trust_the_place_index(two_segments: Path) -> None:
    writer = Writer(two_segments)
    index = two_segments / "log/000000000000.idx"
    data = bytearray(index.read_bytes())
    data[ENTRY.size * 3 + 9] ^= 2  # the body's offset of record 3, off by 512
    index.write_bytes(data)
    erase(writer, plan(writer, [3]), list)
    with pytest.raises(ErasedError):
        writer.at(3)
    assert [entry.record.index for batch in writer.entries() for entry in batch] == list(range(writer.size))
    writer.close()


def test_what_was_derived_after_the_plan_is_erased_too(store: Path) -> None:
    with braid.open(store) as opened:
        parent = opened.append("secret")
        cascade = opened.plan_erase(parent)
        child = opened.session.append_drafts([said("derived secret", parent)])[0].id
        opened.erase(*(one.id for one in cascade.asked))
        with pytest.raises(ErasedError):
            opened.get(child)


def test_an_erasure_by_scope_sees_what_another_process_appended(store: Path) -> None:
    one, two = braid.open(store, shared=True), braid.open(store, shared=True)
    id = two.append("Maya's", user_id="maya")
    assert len(one.erase(user_id="maya")) == 1
    with pytest.raises(ErasedError):
        one.get(id)
    one.close()
    two.close()


def test_an_erasure_names_as_kept_only_what_it_weakens_itself(store: Path) -> None:
    writer = Writer(store)
    a, b, c = (writer.append([said(text)])[0] for text in "abc")
    writer.append([said("of a and b", a.id, b.id)])
    assert [len(plan(writer, [a.index]).kept)] == [1]
    erase(writer, plan(writer, [a.index]), list)
    assert plan(writer, [c.index]).kept == []
    writer.close()


def test_a_forked_child_can_not_write_under_its_parents_lock(store: Path) -> None:
    writer = Writer(store)
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            writer.append([said("child")])
            os.write(sending, b"wrote")
        except WriterPoisonedError:
            os.write(sending, b"refused")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(receiving, 10) == b"refused"
    os.close(receiving)
    os.close(sending)
    assert writer.append([said("parent")])[0].index == 3
    writer.close()


def test_a_link_member_can_not_hide_a_repeated_one(store: Path) -> None:
    writer = Writer(store)
    parent = writer.append([said("a")])[0]
    child = writer.append([said("b", parent.id)])[0]
    payload = payload_of(writer.stored_envelope(child.index))
    writer.close()
    links = payload[payload.index(b',"links"') : -1]
    for forged in (payload[:-1] + links + b"}", payload[:-1] + b',"index":77}'):
        with pytest.raises(EnvelopeError, match="repeats"):
            decode_payload(forged)


def test_the_transaction_number_of_the_last_signed_frame_is_checked(store: Path) -> None:
    from blake3 import blake3

    Writer(store).close()
    path = store / "log/000000000000.seg"
    data = bytearray(path.read_bytes())
    data[64 + 16 : 64 + 24] = (999).to_bytes(8, "little")
    head = int.from_bytes(data[64 + 32 : 64 + 40], "little")
    data[64 + 48 : 64 + 64] = blake3(bytes(data[64:112])).digest(length=16)
    data[64 + 64 : 64 + 96] = blake3(bytes(data[64:128])).update(bytes(data[160 : 160 + head])).digest()
    path.write_bytes(data)
    with pytest.raises(CorruptLogError, match="transaction"):
        Reader(store)


def test_the_logs_key_alone_forges_no_author(store: Path) -> None:
    reader = Reader(store)
    index, time = reader.size, datetime.now(UTC).isoformat(timespec="microseconds")[:26] + "Z"
    slot = Slot(
        index,
        make_id("exp", time[:19] + "Z", index, 1),
        reader.log.next_tx,
        0,
        1,
        reader.control.newest,
        time,
    )
    author = next(life.id for life in reader.control.keys.values() if life.role == "recorder")
    draft, key = said("never said"), reader.need_vault().key(index)
    unsigned = compose(draft, encode_body(draft), [], slot, origin=reader.origin, key=key, author=author)
    forged = finish(unsigned, bytes(64))
    log = appending.LogWriter(store / "log", reader.settings.store_id)
    assert log.resume(index)
    log.cut_tail()
    log.append([[forged]], sync=True)
    log.close()
    frontier = reader.frontier.copy()
    frontier.extend([leaf_hash(forged.envelope)])
    head = Checkpoint(reader.origin, frontier.size, frontier.root())
    write_tiles(store, frontier.partials())
    publish_checkpoint(store, sign_checkpoint(head, [load_log_key(store)]))
    reader.close()
    with pytest.raises(IntegrityError, match="signature"):
        Reader(store)
