"""Erasures under audit: what is certified is gone, what is gone is named by a signed erase (SPEC §9, §11)."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from braid.ledger.audit.verify import verify
from braid.ledger.erase.cascade import plan
from braid.ledger.erase.erasure import compact, erase, forget
from braid.ledger.errors import UnpurgedError
from braid.ledger.read.blobs import BlobStore
from braid.ledger.record.record import Content, Draft, ExperienceBody
from braid.ledger.write.create import create_store
from braid.ledger.write.writer import Writer
from braid.wal.segment import ENTRY
from tests.system.ledger.test_verify import guard_of, key_of, kinds, memory, only, plant
from tests.unit.ledger.forge import flip, read_frames, resign, segment_file


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Records 3 … 8 are memories, 4 is derived from 3, 8 has a blob; 3 (and 4) are erased by 9, certified by 10."""
    path = tmp_path / "store"
    create_store(path, now=datetime.now(UTC))
    writer = Writer(path)
    first = writer.append([memory("needle")])[0]
    writer.append([memory("from it", "observation", parents=(first.id,))])
    writer.append([memory(f"other {i}") for i in range(3)])
    ref = BlobStore(path / "blobs").put(b"picture" * 1000)
    body = ExperienceBody(content=Content(text="seen"))
    writer.append([Draft(kind="experience", type="occurrence", body=body, blobs=[(ref.sha256, ref.size)])])
    shutil.copy(path / "vault", tmp_path / "older-vault")
    shutil.copy(segment_file(path), tmp_path / "older-segment")
    erase(writer, plan(writer, [first.index]), lambda: [])
    writer.close()
    return path


def test_certified_erasure_is_clean(store: Path) -> None:
    for deep in (False, True):
        report = verify(store, deep=deep)
        assert (report.findings, report.notes, report.could_not_look) == ([], [], [])


def test_compacted_erasure_is_clean(store: Path) -> None:
    writer = Writer(store)
    assert compact(writer) > 0
    writer.close()
    assert verify(store, deep=True).findings == []


def test_body_brought_back(store: Path, tmp_path: Path) -> None:
    path = segment_file(store)
    older = (tmp_path / "older-segment").read_bytes().rstrip(b"\0")  # without the writer's room
    path.write_bytes(older + path.read_bytes()[len(older) :])
    finding = only(verify(store), "erasure")
    assert (finding.index, finding.count) == (3, 2)


def test_erased_body_half_blank(store: Path) -> None:
    data = segment_file(store).with_suffix(".idx").read_bytes()
    flip(segment_file(store), ENTRY.unpack_from(data, 3 * ENTRY.size)[1] + 50)
    finding = only(verify(store), "erasure")
    assert (finding.index, finding.message) == (3, "its erased body is not blank")


def test_older_vault(store: Path, tmp_path: Path) -> None:
    shutil.copy(tmp_path / "older-vault", store / "vault")
    report = verify(store)
    assert kinds(report) == {"vault", "erasure"}
    assert any((f.kind, f.index, f.count) == ("erasure", 3, 2) for f in report.findings)


def test_certificate_that_counts_wrong(store: Path) -> None:
    frames = read_frames(store)
    frames[-1][0] = resign(
        frames[-1][0], key_of(store, "operator"), lambda p: p.replace(b'"records":2', b'"records":5')
    )
    plant(store, frames)
    report = verify(store)
    assert "says 5 records" in next(f for f in report.findings if f.kind == "erasure").message


def test_certificate_of_no_erasure(store: Path) -> None:
    frames = read_frames(store)
    frames[-1][0] = resign(
        frames[-1][0], key_of(store, "operator"), lambda p: p.replace(b'"erase":9', b'"erase":7')
    )
    plant(store, frames)
    assert ("control", 10) in {(f.kind, f.index) for f in verify(store).findings}


def test_erasing_a_key_record(store: Path) -> None:
    frames = read_frames(store)
    admitted = read_frames(store)[0][2]
    id = admitted.envelope  # its id stands in the payload
    from braid.ledger.record.envelope import decode_payload, unwrap

    old = decode_payload(unwrap(frames[1][0].envelope).payload).id.encode()
    new = decode_payload(unwrap(id).payload).id.encode()
    frames[-2][0] = resign(
        frames[-2][0],
        key_of(store, "operator"),
        lambda p: p.replace(b'["target",3,"' + old, b'["target",2,"' + new),
    )
    plant(store, frames)
    assert any(f.kind == "erasure" and "no memory" in f.message for f in verify(store).findings)


def test_link_to_an_erased_record(store: Path) -> None:
    writer = Writer(store)
    target = writer.envelope(5).id
    erased = writer.envelope(3).id
    writer.append([memory("later", "inference", parents=(target,))])
    writer.close()
    frames = read_frames(store)
    frames[-1][0] = resign(
        frames[-1][0],
        key_of(store, "recorder"),
        lambda p: p.replace(f'["parent",5,"{target}"'.encode(), f'["parent",3,"{erased}"'.encode()),
    )
    plant(store, frames)
    finding = only(verify(store), "link")
    assert (finding.index, "record 9 had erased" in finding.message) == (11, True)


def test_erasure_that_was_not_finished_is_a_note(store: Path) -> None:
    writer = Writer(store)
    with pytest.raises(UnpurgedError, match="died"):
        erase(writer, plan(writer, [5]), died)
    writer.close()
    report = verify(store)
    assert report.findings == []
    assert any("not certified yet" in note for note in report.notes)


def died() -> list[str]:
    raise RuntimeError("died")


def test_forgotten_is_whole(store: Path) -> None:
    writer = Writer(store)
    forget(writer, [writer.envelope(6).id])
    writer.close()
    assert verify(store, deep=True).findings == []


@pytest.mark.parametrize("damage", ["flip", "truncate", "unlink"])
def test_damaged_media(store: Path, damage: str) -> None:
    (path,) = (store / "blobs").glob("??/*")
    if damage == "flip":
        flip(path, 100)
    elif damage == "truncate":
        path.write_bytes(path.read_bytes()[:-1])
    else:
        path.unlink()
    finding = only(verify(store), "blob")
    assert (finding.index, finding.file) == (8, f"blobs/{path.parent.name}/{path.name}")


def test_stray_media_are_a_note(store: Path) -> None:
    BlobStore(store / "blobs").put(b"nobody's")
    report = verify(store)
    assert report.findings == []
    assert any("belong to no record" in note for note in report.notes)


def test_erased_media_left_behind(store: Path, tmp_path: Path) -> None:
    shutil.copytree(store / "blobs", tmp_path / "blobs")
    writer = Writer(store)
    erase(writer, plan(writer, [8]), lambda: [])
    writer.close()
    assert verify(store).findings == []
    shutil.rmtree(store / "blobs")
    shutil.copytree(tmp_path / "blobs", store / "blobs")
    finding = only(verify(store), "erasure")
    assert (finding.index, "media" in finding.message) == (8, True)


def test_since_follows_an_erasure_of_the_old_part(store: Path, tmp_path: Path) -> None:
    state = verify(store).state
    before = segment_file(store).read_bytes()
    writer = Writer(store)
    erase(writer, plan(writer, [5]), lambda: [])
    writer.close()
    report = verify(store, since=state)
    assert (report.findings, report.records) == ([], 2)
    path = segment_file(store)
    path.write_bytes(before + path.read_bytes()[len(before) :])
    assert only(verify(store, since=state), "erasure").index == 5
    assert guard_of(store).path.exists()
