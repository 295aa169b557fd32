"""The audit names every kind of damage and every forgery, where it is, and nothing else (SPEC §11)."""

import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from nacl.utils import random

from braid.ledger.audit import verify as verify_module
from braid.ledger.audit.findings import KINDS_OF_FINDINGS, MEANING, Finding, Report, VerifiedState
from braid.ledger.audit.verify import verify
from braid.ledger.keys.author_key import Signer, load_signers, save_signer
from braid.ledger.keys.vault import Vault
from braid.ledger.record.record import Body, Content, Draft, EventBody, ExperienceBody, Provenance
from braid.ledger.settings import load_settings
from braid.ledger.tree.guard import Guard
from braid.ledger.write.create import admission, create_store
from braid.ledger.write.writer import Writer
from braid.wal.frame import Stored
from tests.unit.ledger.forge import Frames, flip, read_frames, resign, segment_file, sign_heads, write_frames


def memory(
    text: str, type_: str = "occurrence", *, parents: tuple[object, ...] = (), actor: str = "user"
) -> Draft:
    body = ExperienceBody(content=Content(text=text), provenance=Provenance(actor=actor))
    return Draft(kind="experience", type=type_, body=body, links=[("parent", parent) for parent in parents])


def build(store: Path) -> list[str]:
    """A store of 16 records in 6 transactions: 3 + 1 + 5 + 1 + 1 + 5."""
    create_store(store, now=datetime.now(UTC))
    writer = Writer(store)
    first = writer.append([memory("first")])[0].id
    writer.append([memory(f"note {i}") for i in range(5)])
    second = writer.append([memory("second", "observation", parents=(first,))])[0].id
    writer.append([memory("third", "inference", parents=(first, second))])
    ids = writer.append([memory(f"last {i}") for i in range(5)])
    writer.close()
    return [first, second, *(placed.id for placed in ids)]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRAID_GUARD_DIR", str(folder / "guard"))
        build(folder / "store")
    return folder


@pytest.fixture
def store(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(template, tmp_path / "copy")
    monkeypatch.setenv("BRAID_GUARD_DIR", str(tmp_path / "copy" / "guard"))
    return tmp_path / "copy" / "store"


def guard_of(store: Path) -> Guard:
    return Guard.of_store(load_settings(store).store_id)


def kinds(report: Report) -> set[str]:
    return {finding.kind for finding in report.findings}


def only(report: Report, kind: str) -> Finding:
    assert kinds(report) == {kind}, report.findings
    assert len(report.findings) == 1, report.findings
    return report.findings[0]


def key_of(store: Path, role: str) -> Signer:
    return next(signer for signer in load_signers(store / "keys").values() if signer.role == role)


def plant(store: Path, frames: Frames) -> None:
    """Replace the log as somebody who holds the log's key and the guard would."""
    write_frames(store, frames)
    sign_heads(store, frames, guard_of(store))


# -- a clean store ----------------------------------------------------------------------------------


def test_clean_store_has_no_findings(store: Path) -> None:
    report = verify(store)
    assert (report.findings, report.could_not_look, report.notes, report.exit_code) == ([], [], [], 0)
    assert (report.records, report.size, report.head_size, report.verified_from) == (16, 16, 16, 0)
    assert report.bytes == segment_file(store).stat().st_size - 64
    assert report.root == guard_of(store).read().root  # type: ignore[union-attr]
    assert report.verdict.startswith("clean")


@pytest.mark.parametrize("mode", ["deep", "hash_only"])
def test_other_modes_find_a_clean_store_clean(store: Path, mode: str) -> None:
    report = verify(store, **{mode: True})  # type: ignore[arg-type]
    assert (report.findings, report.could_not_look, report.exit_code) == ([], [], 0)
    assert report.root == verify(store).root


def test_modes_exclude_each_other(store: Path) -> None:
    with pytest.raises(ValueError, match="excludes"):
        verify(store, deep=True, hash_only=True)


def test_every_kind_of_finding_has_a_meaning() -> None:
    assert set(MEANING) == set(KINDS_OF_FINDINGS)


def test_progress_reaches_the_total(store: Path) -> None:
    seen: list[tuple[int, int]] = []
    verify(store, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] > 0


# -- damage -----------------------------------------------------------------------------------------


def test_no_store_is_not_a_finding(tmp_path: Path) -> None:
    report = verify(tmp_path / "nothing")
    assert (report.exit_code, report.findings) == (2, [])
    assert "braid init" in report.could_not_look[0]


def test_flipped_envelope_names_frame_and_record(store: Path) -> None:
    data = segment_file(store).read_bytes()
    flip(segment_file(store), data.index(b'"payloadType"', data.index(b"BRF1", 3000)) + 3)
    report = verify(store)
    assert {"frame", "leaf"} <= kinds(report)
    assert {finding.index for finding in report.findings} == {3}
    assert report.size == 16


def test_recomputed_checksum_does_not_hide_a_flipped_signature(store: Path) -> None:
    frames = read_frames(store)
    record = frames[2][2]
    data = bytearray(record.envelope)
    data[-20] = ord("A") if data[-20] != ord("A") else ord("B")
    frames[2][2] = record._replace(envelope=bytes(data))
    write_frames(store, frames)
    report = verify(store)
    assert kinds(report) == {"signature", "leaf"}
    assert {finding.index for finding in report.findings} == {6}


def test_flipped_body_is_named_with_its_offset(store: Path) -> None:
    path = segment_file(store)
    flip(path, -100)
    finding = only(verify(store), "body")
    assert (finding.index, finding.file) == (15, f"log/{path.name}")
    assert finding.offset is not None
    assert finding.offset < path.stat().st_size


def test_broken_header_is_passed_over(store: Path) -> None:
    path = segment_file(store)
    data = path.read_bytes()
    second = data.index(b"BRF1", 70)
    flip(path, second + 9)
    report = verify(store)
    frame = [finding for finding in report.findings if finding.kind == "frame"]
    assert (frame[0].offset, frame[0].file) == (second, f"log/{path.name}")
    assert any(
        (finding.index, finding.count) == (3, 1) for finding in frame
    )  # the record that is lost with it
    assert kinds(report) == {"frame"}
    assert report.size == 16


def test_every_damage_is_named_not_only_the_first(store: Path) -> None:
    frames = read_frames(store)
    for tx, place in ((1, 0), (2, 1), (5, 4)):
        body = bytearray(frames[tx][place].body)
        body[40] ^= 1
        frames[tx][place] = frames[tx][place]._replace(body=bytes(body))
    write_frames(store, frames)
    report = verify(store)
    assert [(finding.kind, finding.index) for finding in report.findings] == [
        ("body", 3),
        ("body", 5),
        ("body", 15),
    ]


def test_torn_tail_is_a_note(store: Path) -> None:
    with segment_file(store).open("ab") as file:
        file.write(b"BRF1" + bytes(300))
    report = verify(store)
    assert (report.findings, report.size) == ([], 16)
    assert "304 bytes of an unfinished transaction" in report.notes[0]


def test_room_that_a_writer_kept_is_nothing_to_note(store: Path) -> None:
    before = verify(store)
    with segment_file(store).open("ab") as file:
        file.write(bytes(8192))
    report = verify(store)
    assert (report.findings, report.size, report.notes) == ([], 16, before.notes)


def test_truncated_log_is_a_finding(store: Path) -> None:
    path = segment_file(store)
    path.write_bytes(path.read_bytes()[:-10])
    report = verify(store)
    assert {"frame", "checkpoint", "guard"} <= kinds(report)
    assert report.size == 11


@pytest.mark.parametrize("offset", [0, 8, 20, 30, 50])
def test_flipped_segment_header_is_named(store: Path, offset: int) -> None:
    flip(segment_file(store), offset)
    assert only(verify(store), "segment").offset == 0


@pytest.mark.soak
def test_every_flipped_byte_of_the_log_is_found(store: Path) -> None:
    path = segment_file(store)
    data = path.read_bytes()
    for offset in range(0, len(data), 41):
        changed = bytearray(data)
        changed[offset] ^= 0x10
        path.write_bytes(changed)
        assert verify(store, workers=1).findings, offset


# -- forgeries by somebody who can write files --------------------------------------------------------


def test_dropped_transaction(store: Path) -> None:
    frames = read_frames(store)
    del frames[3]
    write_frames(store, frames, firsts=[0, 3, 4, 10, 11], txs=[0, 1, 2, 4, 5])
    report = verify(store)
    assert any(f.kind == "frame" and (f.index, f.count) == (9, 1) for f in report.findings)
    assert "leaf" not in kinds(report)  # all that is there is what was signed


def test_dropped_transaction_with_renumbered_frames(store: Path) -> None:
    frames = read_frames(store)
    del frames[3]
    write_frames(store, frames)
    report = verify(store)
    assert {"id", "leaf"} <= kinds(report)


def test_dropped_record_within_a_transaction(store: Path) -> None:
    frames = read_frames(store)
    del frames[2][1]
    write_frames(store, frames)
    assert {"id", "leaf"} <= kinds(verify(store))


def test_reordered_transactions(store: Path) -> None:
    frames = read_frames(store)
    frames[3], frames[4] = frames[4], frames[3]
    write_frames(store, frames, firsts=[0, 3, 4, 10, 9, 11], txs=[0, 1, 2, 4, 3, 5])
    report = verify(store)
    assert any(
        f.kind == "frame" and f.index == 9 and "repeated or moved" in f.message for f in report.findings
    )
    assert report.size == 16


def test_reordered_and_renumbered_transactions(store: Path) -> None:
    frames = read_frames(store)
    frames[3], frames[4] = frames[4], frames[3]
    write_frames(store, frames)
    report = verify(store)
    assert {(f.kind, f.index) for f in report.findings} >= {("leaf", 9), ("leaf", 10), ("id", 9), ("id", 10)}


def test_replayed_transaction(store: Path) -> None:
    frames = read_frames(store)
    frames.insert(5, frames[1])
    write_frames(store, frames, firsts=[0, 3, 4, 9, 10, 3, 11], txs=[0, 1, 2, 3, 4, 1, 5])
    report = verify(store)
    assert any(f.kind == "frame" and f.index == 3 for f in report.findings)
    assert report.size == 16


def test_replayed_record_at_the_end(store: Path) -> None:
    frames = read_frames(store)
    frames.append([frames[1][0]])
    write_frames(store, frames)
    assert any(f.kind == "id" and f.index == 16 for f in verify(store).findings)


def test_record_transplanted_from_another_store(store: Path, tmp_path: Path) -> None:
    build(tmp_path / "other")
    frames = read_frames(store)
    frames[1] = read_frames(tmp_path / "other")[1]
    write_frames(store, frames)
    report = verify(store)
    assert {("id", 3), ("leaf", 3), ("signature", 3)} <= {(f.kind, f.index) for f in report.findings}


def test_swapped_bodies(store: Path) -> None:
    frames = read_frames(store)
    one, two = frames[2][0], frames[2][1]
    frames[2][0], frames[2][1] = one._replace(body=two.body), two._replace(body=one.body)
    write_frames(store, frames)
    report = verify(store)
    assert [(f.kind, f.index) for f in report.findings] == [("body", 4), ("body", 5)]


@pytest.mark.parametrize("body", [b"", None])
def test_blank_body_without_an_erasure(store: Path, body: bytes | None) -> None:
    frames = read_frames(store)
    record = frames[2][3]
    frames[2][3] = record._replace(body=bytes(len(record.body)) if body is None else body)
    write_frames(store, frames)
    finding = only(verify(store), "body")
    assert finding.index == 7
    assert "no erasure names it" in finding.message


def test_changed_payload_off_the_template(store: Path) -> None:
    frames = read_frames(store)
    signer = key_of(store, "recorder")
    frames[2][0] = resign(
        frames[2][0], signer, lambda payload: payload.replace(b'{"braid":1', b'{"braid":1,"braid":1')
    )
    plant(store, frames)
    finding = only(verify(store), "envelope")
    assert finding.index == 4


# -- forgeries by somebody who holds the log's key ----------------------------------------------------


def test_foreign_key(store: Path) -> None:
    frames = read_frames(store)
    foreign = Signer.fresh("recorder")
    old = key_of(store, "recorder").id.encode()
    frames[2][1] = resign(frames[2][1], foreign, lambda payload: payload.replace(old, foreign.id.encode()))
    plant(store, frames)
    finding = only(verify(store), "signature")
    assert (finding.index, finding.count) == (5, 1)
    assert "never admitted" in finding.message


def test_wrong_role(store: Path) -> None:
    frames = read_frames(store)
    operator, old = key_of(store, "operator"), key_of(store, "recorder").id.encode()
    frames[2][1] = resign(frames[2][1], operator, lambda payload: payload.replace(old, operator.id.encode()))
    plant(store, frames)
    finding = only(verify(store), "key-role")
    assert finding.index == 5
    assert "operator may not sign this experience" in finding.message


def test_revoked_key(store: Path) -> None:
    writer = Writer(store)
    recorder = key_of(store, "recorder")
    writer.append(
        [Draft(kind="key", body=Body(), public={"op": "revoke", "id": recorder.id, "compromised_since": 8})]
    )
    fresh = Signer.fresh("recorder")
    writer.append([admission(writer.origin, fresh)])
    save_signer(store / "keys", fresh)
    writer.close()
    writer = Writer(store)
    writer.append([memory("after")], signer=fresh.id)
    writer.close()
    report = verify(store)
    assert report.findings == []
    assert any("disputed" in note for note in report.notes)
    frames = read_frames(store)
    frames[-1][0] = resign(
        frames[-1][0], recorder, lambda p: p.replace(fresh.id.encode(), recorder.id.encode())
    )
    plant(store, frames)
    finding = only(verify(store), "signature")
    assert finding.index == 18
    assert "revoked at 16" in finding.message


def test_left_out_control_record(store: Path) -> None:
    frames = read_frames(store)
    signer = key_of(store, "recorder")
    frames[-1] = [resign(r, signer, lambda p: p.replace(b'"control":2', b'"control":1')) for r in frames[-1]]
    plant(store, frames)
    finding = only(verify(store), "control")
    assert (finding.index, finding.count) == (11, 5)


def test_time_that_stands_still(store: Path) -> None:
    frames = read_frames(store)
    signer = key_of(store, "recorder")
    earlier = unwrap_time(frames[3][0])
    later = unwrap_time(frames[4][0])
    frames[4][0] = resign(
        frames[4][0], signer, lambda p: p.replace(later, earlier).replace(later[:19], earlier[:19])
    )
    plant(store, frames)
    report = verify(store)
    assert ("time", 10) in {(f.kind, f.index) for f in report.findings}


def unwrap_time(record: Stored) -> bytes:
    from braid.ledger.record.envelope import decode_payload, unwrap

    return decode_payload(unwrap(record.envelope).payload).created_at.encode()


def test_lattice(store: Path) -> None:
    frames = read_frames(store)
    signer = key_of(store, "recorder")
    frames[4][0] = resign(frames[4][0], signer, lambda p: p.replace(b'"inference"', b'"occurrence"'))
    plant(store, frames)
    finding = only(verify(store), "lattice")
    assert finding.index == 10
    assert "parent 9" in finding.message


def test_type_outside_the_lattice(store: Path) -> None:
    frames = read_frames(store)
    signer = key_of(store, "recorder")
    frames[4][0] = resign(frames[4][0], signer, lambda p: p.replace(b'"inference"', b'"dream"'))
    plant(store, frames)
    assert only(verify(store), "lattice").index == 10


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'["parent",3,"', b'["parent",4,"'),
        (b'["parent",3,"', b'["cousin",3,"'),
        (b"_00000003", b"_00000004"),
    ],
)
def test_link_to_no_such_record(store: Path, old: bytes, new: bytes) -> None:
    frames = read_frames(store)
    signer = key_of(store, "recorder")
    frames[3][0] = resign(frames[3][0], signer, lambda p: p.replace(old, new))
    plant(store, frames)
    assert only(verify(store), "link").index == 9


def test_link_to_another_record_at_the_same_index(store: Path) -> None:
    frames = read_frames(store)
    signer = key_of(store, "recorder")

    def change(payload: bytes) -> bytes:
        at = payload.index(b'["parent",3,"') + len(b'["parent",3,"exp_2026-11-21T00:00:00Z_00000003')
        return payload[:at] + (b"0000" if payload[at : at + 4] != b"0000" else b"0001") + payload[at + 4 :]

    frames[3][0] = resign(frames[3][0], signer, change)
    plant(store, frames)
    finding = only(verify(store), "link")
    assert "another record" in finding.message


def test_unlawful_control_record(store: Path) -> None:
    frames = read_frames(store)
    root = key_of(store, "root")
    frames[0][2] = resign(frames[0][2], root, lambda p: p.replace(b'"role":"recorder"', b'"role":"operator"'))
    plant(store, frames)
    report = verify(store)
    assert ("control", 2) in {(f.kind, f.index) for f in report.findings}
    assert any(f.kind == "signature" and "never admitted" in f.message for f in report.findings)


# -- lists of links ---------------------------------------------------------------------------------


@pytest.fixture
def wide(store: Path) -> Path:
    """The store with a record of 300 links behind it (record 316 of 317)."""
    writer = Writer(store)
    placed = writer.append([memory(f"n {i}") for i in range(300)])
    writer.append([memory("sum", "inference", parents=tuple(p.id for p in placed))])
    writer.close()
    return store


def test_long_list_of_links(wide: Path) -> None:
    assert verify(wide).findings == []
    frames = read_frames(wide)
    record = frames[-1][0]
    assert record.links
    frames[-1][0] = record._replace(links=record.links.replace(b"parent 20 ", b"parent 21 ", 1))
    write_frames(wide, frames)
    finding = only(verify(wide), "link")
    assert finding.index == 316


# -- derived files ----------------------------------------------------------------------------------


def test_edited_place_index_is_named_and_not_believed(store: Path) -> None:
    path = segment_file(store).with_suffix(".idx")
    flip(path, 7 * 24)
    finding = only(verify(store), "idx")
    assert (finding.index, finding.file, finding.offset) == (7, f"log/{path.name}", 7 * 24)


def test_missing_place_index(store: Path) -> None:
    segment_file(store).with_suffix(".idx").unlink()
    finding = only(verify(store), "idx")
    assert (finding.index, finding.count) == (0, 16)


def test_edited_tile(wide: Path) -> None:
    flip(wide / "tile/0/000", 40 * 32)
    finding = only(verify(wide), "tile")
    assert finding.file == "tile/0/000"


def test_edited_partial_tile(store: Path) -> None:
    flip(store / "tile/0/000.p/16", 40)
    assert only(verify(store), "tile").file == "tile/0/000.p/16"


def test_missing_tile(wide: Path) -> None:
    (wide / "tile/0/000").unlink()
    assert only(verify(wide), "tile").file == "tile/0/000"


def test_altered_record_under_a_full_tile_is_named_alone(wide: Path) -> None:
    frames = read_frames(wide)
    frames[2][0] = resign(frames[2][0], key_of(wide, "recorder"), lambda p: p + b"")
    payload = frames[2][0].envelope
    frames[2][0] = resign(
        frames[2][0],
        key_of(wide, "recorder"),
        lambda p: p.replace(b'"commit":"', b'"commit":"A', 1)[:-1] + b"}",
    )
    assert frames[2][0].envelope != payload
    write_frames(wide, frames)
    report = verify(wide)
    assert {finding.index for finding in report.findings} == {4}
    assert "leaf" in kinds(report)
    assert not kinds(report) & {"checkpoint", "guard", "tile"}


# -- heads ------------------------------------------------------------------------------------------


def test_every_flipped_byte_of_the_checkpoint_is_found(store: Path) -> None:
    path = store / "checkpoint"
    data = path.read_bytes()
    for offset in range(len(data)):
        changed = bytearray(data)
        changed[offset] ^= 1
        path.write_bytes(changed)
        assert "checkpoint" in kinds(verify(store)), offset


def test_missing_checkpoint(store: Path) -> None:
    (store / "checkpoint").unlink()
    assert only(verify(store), "checkpoint").file == "checkpoint"


def test_flipped_history(store: Path) -> None:
    path = store / "checkpoints"
    second = path.read_bytes().index(b"\n\n", path.read_bytes().index(b"\n\n") + 2) + 2
    flip(path, 60)
    report = verify(store)
    assert kinds(report) == {"checkpoint"}
    assert report.findings[0].file == "checkpoints"
    assert (report.findings[0].offset or 0) < second
    assert "`braid doctor --fix` sets the harm in it aside" in report.findings[0].message


def test_another_history_signed_by_the_log(store: Path) -> None:
    from braid.ledger.keys.logkeys import load_log_key
    from braid.ledger.tree.checkpoint import Checkpoint, sign_checkpoint

    key = load_log_key(store)
    note = sign_checkpoint(Checkpoint(key.name, 9, random(32)), [key])
    with (store / "checkpoints").open("ab") as file:
        file.write(note + b"\n")
    finding = only(verify(store), "checkpoint")
    assert "of 9 records has another root" in finding.message


def test_flipped_guard(store: Path) -> None:
    flip(guard_of(store).path, 30)
    assert kinds(verify(store)) == {"guard"}


def test_rolled_back_store(store: Path, tmp_path: Path) -> None:
    shutil.copytree(store, tmp_path / "before")
    writer = Writer(store)
    writer.append([memory("more")])
    writer.close()
    finding = only(verify(tmp_path / "before"), "guard")
    assert "covers 17 records; the log holds 16" in finding.message


def test_rewritten_store_contradicts_the_guard(store: Path) -> None:
    before = guard_of(store).path.read_bytes()
    frames = read_frames(store)
    frames[5] = list(frames[5])
    frames[5][0] = resign(
        frames[5][0], key_of(store, "recorder"), lambda p: p.replace(b'"occurrence"', b'"observation"')
    )
    plant(store, frames)
    guard_of(store).path.write_bytes(before)
    finding = only(verify(store), "guard")
    assert "another root" in finding.message


def test_missing_guard_is_a_note(store: Path) -> None:
    guard_of(store).path.unlink()
    report = verify(store)
    assert report.exit_code == 0
    assert any("no guard" in note for note in report.notes)
    assert any("believed because genesis" in note for note in report.notes)
    assert not any("believed" in note for note in verify(store, vkey=report.vkey).notes)


def test_another_pinned_key(store: Path, tmp_path: Path) -> None:
    build(tmp_path / "other")
    report = verify(store, vkey=verify(tmp_path / "other").vkey)
    assert {"guard", "checkpoint"} <= kinds(report)


@pytest.mark.parametrize("member", ["origin", "store_id"])
def test_edited_settings(store: Path, member: str) -> None:
    path = store / "store.json"
    settings = msgspec.json.decode(path.read_bytes())
    settings[member] = {"origin": "example.org/other", "store_id": "a" * 16}[member]
    guard = guard_of(store)
    path.write_bytes(msgspec.json.encode(settings))
    assert {"settings", "segment"} & kinds(verify(store, guard=guard))


def test_newer_format_could_not_be_looked_at(store: Path) -> None:
    path = store / "store.json"
    path.write_bytes(path.read_bytes().replace(b'"format": 1', b'"format": 2'))
    report = verify(store)
    assert report.exit_code == 2
    assert "upgrade" in report.could_not_look[0]


# -- deep -------------------------------------------------------------------------------------------


def test_deep_without_a_vault(store: Path) -> None:
    (store / "vault").unlink()
    assert verify(store).exit_code == 0
    report = verify(store, deep=True)
    assert (report.exit_code, report.findings) == (2, [])
    assert "vault" in report.could_not_look[0]
    assert not any("unsealed" in one for one in report.checked)


def test_deep_with_another_vault(store: Path) -> None:
    (store / "vault").unlink()
    Vault.create(store / "vault", load_settings(store).store_id)
    assert kinds(verify(store, deep=True)) == {"seal"}


def test_deep_reports_what_projections_say(store: Path) -> None:
    report = verify(store, deep=True, projections=lambda: [Finding("projection", "row 3 differs", 3)])
    assert only(report, "projection").index == 3
    assert verify(store, projections=lambda: [Finding("projection", "row 3 differs", 3)]).findings == []


def test_deep_finds_words_of_another_actor(store: Path) -> None:
    writer = Writer(store)
    agent = Signer.fresh("agent", "agent")
    writer.append([admission(writer.origin, agent)])
    save_signer(store / "keys", agent)
    writer.close()
    writer = Writer(store)
    writer.append([memory("mine", actor="agent")], signer=agent.id)
    writer.append([memory("yours", actor="user")])
    writer.close()
    assert verify(store, deep=True).findings == []
    frames = read_frames(store)
    recorder = key_of(store, "recorder")
    frames[-1][0] = resign(frames[-1][0], agent, lambda p: p.replace(recorder.id.encode(), agent.id.encode()))
    plant(store, frames)
    assert verify(store).findings == []
    finding = only(verify(store, deep=True), "actor")
    assert finding.index == 18


# -- since ------------------------------------------------------------------------------------------


def grow(store: Path, count: int = 10) -> None:
    writer = Writer(store)
    first = writer.append([memory(f"day two {i}") for i in range(count)])[0].id
    writer.append([memory("over", "inference", parents=(first,))])
    writer.close()


def clean_state(store: Path) -> VerifiedState:
    report = verify(store)
    assert report.state is not None
    return VerifiedState.from_json(report.state.to_json())


def test_since_reads_the_day_only(wide: Path) -> None:
    state = clean_state(wide)
    grow(wide)
    report = verify(wide, since=state)
    assert (report.findings, report.records, report.verified_from, report.size) == ([], 11, 317, 328)
    assert report.bytes < segment_file(wide).stat().st_size // 10
    assert report.root == verify(wide).root
    again = report.state
    assert again is not None
    assert verify(wide, since=again).records == 0


def test_since_finds_damage_in_the_day(store: Path) -> None:
    state = clean_state(store)
    grow(store)
    flip(segment_file(store), -100)
    finding = only(verify(store, since=state), "body")
    assert finding.index == 26


def test_since_looks_at_linked_records_of_the_old_part(store: Path) -> None:
    state = clean_state(store)
    first = read_frames(store)
    writer = Writer(store)
    target = writer.envelope(3).id
    writer.append([memory("again", "inference", parents=(target,))])
    writer.close()
    assert verify(store, since=state).findings == []
    del first
    frames = read_frames(store)
    frames[-1][0] = resign(
        frames[-1][0], key_of(store, "recorder"), lambda p: p.replace(b'["parent",3,"', b'["parent",4,"')
    )
    plant(store, frames)
    assert only(verify(store, since=state), "link").index == 16


def test_since_refuses_another_history(store: Path) -> None:
    state = clean_state(store)
    frames = read_frames(store)
    frames[5][0] = resign(
        frames[5][0], key_of(store, "recorder"), lambda p: p.replace(b'"occurrence"', b'"observation"')
    )
    plant(store, frames)
    assert verify(store).findings == []
    report = verify(store, since=state)
    assert "since" in kinds(report)
    assert report.verified_from == 0  # and the whole log was looked at


def test_since_refuses_an_older_copy(store: Path, tmp_path: Path) -> None:
    shutil.copytree(store, tmp_path / "before")
    grow(store)
    state = clean_state(store)
    report = verify(tmp_path / "before", since=state)
    assert {"since", "guard"} == kinds(report)


def test_no_state_after_findings(store: Path) -> None:
    flip(segment_file(store), -100)
    assert verify(store).state is None


def test_state_of_another_log(store: Path, tmp_path: Path) -> None:
    build(tmp_path / "other")
    assert "since" in kinds(verify(store, since=clean_state(tmp_path / "other")))


# -- workers ----------------------------------------------------------------------------------------


def comparable(report: Report) -> Report:
    return msgspec.structs.replace(report, seconds=0.0, verified_at="", state=None)


@pytest.mark.parametrize("damaged", [False, True])
def test_threads_and_processes_say_the_same(
    wide: Path, monkeypatch: pytest.MonkeyPatch, damaged: bool
) -> None:
    if damaged:
        frames = read_frames(wide)
        body = bytearray(frames[6][200].body)
        body[30] ^= 4
        frames[6][200] = frames[6][200]._replace(body=bytes(body))
        write_frames(wide, frames)
        flip(segment_file(wide), segment_file(wide).read_bytes().index(b"BRF1", 70) + 9)
    alone = verify(wide, workers=1)
    monkeypatch.setattr(verify_module, "MIN_CHUNK", 2048)
    threads = verify(wide, workers=3)
    monkeypatch.setattr(verify_module, "CHECKER_BYTES", 0)
    checkers = verify(wide, workers=2)
    monkeypatch.setattr(verify_module, "CHILD_BYTES", 0)
    children = verify(wide, workers=2, deep=False)
    assert comparable(alone) == comparable(threads) == comparable(checkers) == comparable(children)
    assert bool(alone.findings) == damaged


def test_lying_place_index_leads_nowhere(wide: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_module, "MIN_CHUNK", 2048)
    path = segment_file(wide).with_suffix(".idx")
    rows = path.read_bytes()
    path.write_bytes(rows[24:] + rows[:24])
    report = verify(wide, workers=2)
    assert kinds(report) == {"idx"}
    assert report.size == 317


@pytest.mark.parametrize("child_bytes", [0, 1 << 40])
def test_caller_without_a_main_guard(wide: Path, child_bytes: int) -> None:
    """A plain script may audit on all cores: workers never run the caller's program again."""
    script = wide.parent / "script.py"
    script.write_text(
        "import sys\nfrom pathlib import Path\nfrom braid.ledger.audit import verify as v\n"
        f"v.MIN_CHUNK, v.CHECKER_BYTES, v.CHILD_BYTES = 2048, 0, {child_bytes}\n"
        f"print(v.verify(Path({str(wide)!r}), workers=2).exit_code)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "0\n"


def test_events_and_unknown_kinds_are_kept(store: Path) -> None:
    writer = Writer(store)
    writer.append([Draft(kind="event", body=EventBody(name="swept"))])
    writer.close()
    frames = read_frames(store)
    signer = key_of(store, "recorder")
    frames[-1][0] = resign(
        frames[-1][0],
        signer,
        lambda p: p.replace(b'"kind":"event"', b'"kind":"dream"').replace(b'"evt_', b'"dream_'),
    )
    plant(store, frames)
    assert verify(store).findings == []


# -- a log in use, a log of many segments -------------------------------------------------------------


def test_log_that_is_ahead_of_its_head(store: Path) -> None:
    writer = Writer(store)
    writer.append([memory("not under a head yet")])
    report = verify(store)
    writer.close()
    assert report.findings == []
    assert report.size == 17
    assert report.state is not None
    assert report.state.size == report.head_size


def test_unsigned_tail_is_checked_too(store: Path) -> None:
    frames = read_frames(store)
    foreign, old = Signer.fresh("recorder"), key_of(store, "recorder").id.encode()
    cut = frames[:5]
    write_frames(store, cut)
    sign_heads(store, cut, guard_of(store))
    frames[5] = [resign(r, foreign, lambda p: p.replace(old, foreign.id.encode())) for r in frames[5]]
    write_frames(store, frames)
    finding = only(verify(store), "signature")
    assert (finding.index, finding.count) == (11, 5)


@pytest.fixture
def long(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store with five segments behind it."""
    monkeypatch.setattr("braid.wal.append.SEGMENT_LIMIT", 20_000)
    for day in range(5):
        writer = Writer(store)
        for i in range(12):
            writer.append([memory(f"{day} {i} {k} " + "x" * 400) for k in range(2)])
        writer.close()
    assert len(list((store / "log").glob("*.seg"))) > 3
    return store


def test_many_segments(long: Path) -> None:
    report = verify(long)
    assert (report.findings, report.size) == ([], 136)
    assert verify(long, hash_only=True).findings == []
    assert verify(long, deep=True).findings == []


def test_missing_segment_in_the_middle(long: Path) -> None:
    paths = sorted((long / "log").glob("*.seg"))
    lost = int(paths[2].stem) - int(paths[1].stem)
    paths[1].unlink()
    report = verify(long)
    frames = [finding for finding in report.findings if finding.kind == "frame"]
    assert [(f.index, f.count, f.file) for f in frames] == [
        (int(paths[1].stem), lost, f"log/{paths[2].name}")
    ]
    assert report.size == 136
    assert not kinds(report) & {"leaf", "checkpoint", "tile", "signature"}


def test_missing_first_segment(long: Path) -> None:
    sorted((long / "log").glob("*.seg"))[0].unlink()
    report = verify(long)
    assert {"segment", "frame"} <= kinds(report)


def test_since_across_segments(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("braid.wal.append.SEGMENT_LIMIT", 20_000)
    state = None
    for day in range(6):
        grow(store, 7)
        report = verify(store, since=state)
        assert (report.findings, report.size) == ([], 16 + 8 * (day + 1))
        assert report.records == (8 if day else 24)
        state = report.state
    assert len(list((store / "log").glob("*.seg"))) > 1
