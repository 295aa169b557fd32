"""Ways to tamper with a store, from one flipped bit to a history signed anew by somebody who holds the keys.

Two stores are made: `small`, with every kind of control record, media and an erasure; `wide`, with a full tile and a
list of links. An edit changes a copy in place.
"""

import json
import shutil
import struct
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from blake3 import blake3

from braid.ledger.erase.cascade import plan
from braid.ledger.erase.erasure import erase, forget
from braid.ledger.keys.author_key import Signer, load_signers, save_signer
from braid.ledger.keys.logkeys import load_log_key
from braid.ledger.read.blobs import BlobStore
from braid.ledger.record.envelope import unwrap
from braid.ledger.record.record import Body, Content, Draft, ExperienceBody, Provenance
from braid.ledger.settings import load_settings
from braid.ledger.tree.checkpoint import Checkpoint, sign_checkpoint
from braid.ledger.tree.guard import Guard
from braid.ledger.tree.note import signing_key
from braid.ledger.tree.publication import publish_checkpoint
from braid.ledger.write.create import admission, create_store
from braid.ledger.write.writer import Writer
from braid.wal.frame import Stored
from tests.unit.ledger.forge import Frames, flip, read_frames, resign, segment_file, sign_heads, write_frames


class Made(NamedTuple):
    """A store and the folder of its guard."""

    store: Path
    guards: Path

    @property
    def guard(self) -> Guard:
        return Guard.of_store(load_settings(self.store).store_id, self.guards)

    def key(self, role: str) -> Signer:
        return next(one for one in load_signers(self.store / "keys").values() if one.role == role)

    def plant(self, frames: Frames) -> None:
        """Put a log in place as somebody would who holds the log's key and the guard."""
        epoch = struct.unpack_from("<Q", (self.store / "vault").read_bytes(), 32)[0]
        write_frames(self.store, frames)
        sign_heads(self.store, frames, self.guard)
        head = self.guard.read()
        assert head is not None
        assert epoch >= head.vault_epoch


Edit = Callable[[Made], None]


def memory(
    text: str, type_: str = "occurrence", parents: tuple[object, ...] = (), actor: str = "user"
) -> Draft:
    body = ExperienceBody(content=Content(text=text), provenance=Provenance(actor=actor))
    return Draft(kind="experience", type=type_, body=body, links=[("parent", parent) for parent in parents])


def make_small(folder: Path) -> Made:
    """Records 3 … 16: said, drawn, with media; 3 and 9 are erased by 10, a key lives from 12 to 14."""
    made = Made(folder / "store", folder / "guards")
    create_store(made.store, now=datetime.now(UTC), guard_folder=made.guards)
    writer = Writer(made.store, guard=made.guard)
    first = writer.append([memory("first")])[0]
    said = writer.append([memory(f"said {n}") for n in range(3)])  # 4 … 6
    drawn = writer.append([memory("drawn", "inference", (said[0].id, said[1].id))])[0]  # 7
    blobs = [BlobStore(made.store / "blobs").put(b"picture %d" % n * 100) for n in range(2)]
    for ref in blobs:  # 8, 9
        body = ExperienceBody(content=Content(text="shown"))
        writer.append(
            [Draft(kind="experience", type="occurrence", body=body, blobs=[(ref.sha256, ref.size)])]
        )
    erase(writer, plan(writer, [first.index, 9]), lambda: [])  # 10, 11
    agent = Signer.fresh("agent")
    writer.append([admission(writer.origin, agent)])  # 12
    writer.signers[agent.id] = agent
    writer.append([memory("planned", actor="agent")], signer=agent.id)  # 13
    revocation = {"op": "revoke", "id": agent.id, "compromised_since": 13}
    writer.append([Draft(kind="key", body=Body(), public=revocation)])  # 14
    forget(writer, [said[2].id])  # 15
    writer.append([memory("above", "reconciliation", (drawn.id,)), memory("last")])  # 16, 17
    writer.close()
    save_signer(made.store / "keys", agent)
    return made


def make_wide(folder: Path) -> Made:
    """Records 3 … 302 are memories, 303 is drawn from all of them."""
    made = Made(folder / "store", folder / "guards")
    create_store(made.store, now=datetime.now(UTC), guard_folder=made.guards)
    writer = Writer(made.store, guard=made.guard)
    placed = writer.append([memory(f"n {n}") for n in range(300)])
    writer.append([memory("sum", "inference", tuple(one.id for one in placed))])
    writer.close()
    return made


# -- bytes ------------------------------------------------------------------------------------------


def at(pattern: str, offset: int) -> Edit:
    """Flip a bit of a file."""
    return lambda made: flip(
        next(one for one in sorted(made.store.parent.rglob(pattern)) if one.is_file()), offset
    )


def in_frame(part: int, offset: int, number: int = 2) -> Edit:
    """Flip a bit of a frame: of its header (part 0), its envelopes (1) or its bodies (2)."""

    def edit(made: Made) -> None:
        data, place = segment_file(made.store).read_bytes(), 64
        for _ in range(number):
            place += 96 + sum(struct.unpack_from("<QQ", data, place + 32))
        n, head = struct.unpack_from("<I", data, place + 4)[0], struct.unpack_from("<Q", data, place + 32)[0]
        flip(segment_file(made.store), (place, place + 96 + 12 * n, place + 96 + head)[part] + offset)

    return edit


def cut(pattern: str, count: int) -> Edit:
    """Cut bytes off a file's end."""

    def edit(made: Made) -> None:
        path = next(one for one in sorted(made.store.parent.rglob(pattern)) if one.is_file())
        path.write_bytes(path.read_bytes()[:-count])

    return edit


def remove(pattern: str) -> Edit:
    """Remove a file."""
    return lambda made: next(
        one for one in sorted(made.store.parent.rglob(pattern)) if one.is_file()
    ).unlink()


def replace(name: str, old: bytes, new: bytes) -> Edit:
    """Replace bytes of a file."""

    def edit(made: Made) -> None:
        data = (made.store / name).read_bytes()
        assert old in data
        (made.store / name).write_bytes(data.replace(old, new))

    return edit


# -- frames -----------------------------------------------------------------------------------------


def frames_of(change: Callable[[Frames], None], **places: list[int]) -> Edit:
    """Change the frames and give them right checksums."""

    def edit(made: Made) -> None:
        frames = read_frames(made.store)
        change(frames)
        write_frames(made.store, frames, **places)

    return edit


def _swap(frames: Frames) -> None:
    frames[3], frames[4] = frames[4], frames[3]


def _swap_bodies(frames: Frames) -> None:
    one, two = frames[2][0], frames[2][1]
    frames[2][:2] = one._replace(body=two.body), two._replace(body=one.body)


def _body(value: Callable[[Stored], bytes], tx: int = 2) -> Edit:
    def change(frames: Frames) -> None:
        frames[tx][0] = frames[tx][0]._replace(body=value(frames[tx][0]))

    return frames_of(change)


def _drop(frames: Frames) -> None:
    del frames[3]


def _drop_within(frames: Frames) -> None:
    del frames[2][1]


def _repeat(frames: Frames) -> None:
    frames.append([frames[2][0]])


def _signature(frames: Frames) -> None:
    data = bytearray(frames[2][2].envelope)
    data[-20] = ord("A") if data[-20] != ord("A") else ord("B")
    frames[2][2] = frames[2][2]._replace(envelope=bytes(data))


def _list(old: bytes, new: bytes) -> Callable[[Frames], None]:
    def change(frames: Frames) -> None:
        record = frames[-1][0]
        assert old in record.links
        frames[-1][0] = record._replace(links=record.links.replace(old, new, 1))

    return change


def _stray_list(frames: Frames) -> None:
    frames[1][0] = frames[1][0]._replace(links=b"parent 1 x\n")


# -- histories signed anew --------------------------------------------------------------------------


def resigned(
    index: int, change: Callable[[bytes], bytes], by: str = "recorder", *, planted: bool = True
) -> Edit:
    """Change a payload and sign it with the key of a role; `planted`: the heads anew as well."""

    def edit(made: Made) -> None:
        frames = read_frames(made.store)
        left = index
        for records in frames:
            if left < len(records):
                before = unwrap(records[left].envelope).payload
                records[left] = resign(records[left], made.key(by), change)
                assert unwrap(records[left].envelope).payload != before
                break
            left -= len(records)
        if planted:
            made.plant(frames)
        else:
            write_frames(made.store, frames)

    return edit


def swap(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    """Replace bytes of a payload once."""
    return lambda payload: payload.replace(old, new, 1)


def _foreign(made: Made) -> None:
    stranger, old = Signer.fresh("recorder"), made.key("recorder").id.encode()
    frames = read_frames(made.store)
    frames[2][1] = resign(frames[2][1], stranger, swap(old, stranger.id.encode()))
    made.plant(frames)


def _by(role: str, index: int, instead_of: str = "recorder") -> Edit:
    def edit(made: Made) -> None:
        old, new = made.key(instead_of).id.encode(), made.key(role).id.encode()
        resigned(index, swap(old, new), role)(made)

    return edit


def _same_place(payload: bytes) -> bytes:
    at = payload.index(b'["parent",4,"') + len(b'["parent",4,"exp_2026-11-21T00:00:00Z_00000004')
    return payload[:at] + (b"0000" if payload[at : at + 4] != b"0000" else b"0001") + payload[at + 4 :]


def _earlier(payload: bytes) -> bytes:
    start = payload.index(b'"created_at":"') + 14
    second = payload[start : start + 19]
    return payload.replace(second, b"2020-01-01T00:00:00")


def _unlike_genesis(made: Made) -> None:
    resigned(0, swap(b'"format":1', b'"format":2'), "root")(made)


def _public(index: int, shown: Callable[[Made], dict[str, Any]]) -> Edit:
    """Put another `public` into a record that a root key signs."""

    def edit(made: Made) -> None:
        public = b'"public":' + json.dumps(shown(made), separators=(",", ":")).encode() + b"}"
        resigned(index, lambda p: p[: p.index(b'"public":')] + public, "root")(made)

    return edit


def _admits_the_log_key(made: Made) -> dict[str, Any]:
    key = load_log_key(made.store)
    return admission(key.name, Signer(key.seed, "agent")).public


def _names_an_author(made: Made, role: str = "recorder") -> str:
    return str(signing_key(load_log_key(made.store).name, made.key(role).seed).verifier)


def _genesis_of_one_key(made: Made) -> None:
    old = str(load_log_key(made.store).verifier).encode()
    resigned(0, swap(old, _names_an_author(made, "root").encode()), "root")(made)


def _headed_by_an_author(made: Made, *, alone: bool = False) -> None:
    """A `log_key` names an author's key, which has signed the heads too, or alone; the guard remembers it."""
    edit = _public(14, lambda made: {"op": "log_key", "vkey": _names_an_author(made)})
    edit(made)
    own = load_log_key(made.store)
    key = signing_key(own.name, made.key("recorder").seed)
    head = made.guard.read()
    assert head is not None
    checkpoint = Checkpoint(head.origin, head.size, bytes.fromhex(head.root))
    note = sign_checkpoint(checkpoint, [key] if alone else [own, key])
    publish_checkpoint(made.store, note)
    keys = [str(own.verifier), str(key.verifier)]
    made.guard.write(msgspec.structs.replace(head, vkey=keys[1], log_keys=keys, checkpoint=note.decode()))


def _count(payload: bytes) -> bytes:
    return payload.replace(b'"records":2', b'"records":3')


def _dirty(made: Made) -> None:
    """Bring an erased body back: the bytes that were signed, and no zeros."""
    frames = read_frames(made.store)
    frames[1][0] = frames[1][0]._replace(body=b"\x01" * len(frames[1][0].body))
    write_frames(made.store, frames)


def _media_back(made: Made) -> None:
    frames = read_frames(made.store)
    name = next(
        one for records in frames for record in records if (one := _blob_of(record)) and not _there(made, one)
    )
    path = made.store / "blobs" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"what was erased")


def _blob_of(record: Stored) -> str | None:
    from braid.ledger.record.envelope import decode_payload

    blobs = decode_payload(unwrap(record.envelope).payload).blobs
    return blobs[0][0] if blobs else None


def _there(made: Made, name: str) -> bool:
    return (made.store / "blobs" / name[:2] / name[2:]).exists()


# -- heads, guard, vault ----------------------------------------------------------------------------


def _second_history(made: Made) -> None:
    key = load_log_key(made.store)
    note = sign_checkpoint(Checkpoint(key.name, 7, sha256(b"another").digest()), [key])
    with (made.store / "checkpoints").open("ab") as file:
        file.write(note + b"\n")


def _head_of_another_key(made: Made) -> None:
    head = made.guard.read()
    assert head is not None
    key = signing_key(head.origin, bytes(range(32)))
    note = sign_checkpoint(Checkpoint(head.origin, head.size, bytes.fromhex(head.root)), [key])
    (made.store / "checkpoint").write_bytes(note)


def _longer_head(made: Made) -> None:
    key = load_log_key(made.store)
    note = sign_checkpoint(Checkpoint(key.name, 99, sha256(b"more").digest()), [key])
    (made.store / "checkpoint").write_bytes(note)


def _rewritten(made: Made) -> None:
    """Another history under the log's key, and the guard as it was."""
    before = made.guard.path.read_bytes()
    resigned(17, swap(b'"occurrence"', b'"observation"'))(made)
    made.guard.path.write_bytes(before)


def _rolled_back(made: Made) -> None:
    guard = made.guard.path.read_bytes()
    frames = read_frames(made.store)
    made.plant(frames[:-1])
    made.guard.path.write_bytes(guard)


def _vault(at_: int, value: bytes) -> Edit:
    """Write into the vault's header and make its check fit."""

    def edit(made: Made) -> None:
        path = made.store / "vault"
        data = bytearray(path.read_bytes())
        data[at_ : at_ + len(value)] = value
        data[96:128] = blake3(data[:96] + data[128:]).digest()
        path.write_bytes(data)

    return edit


def _whole_vault(made: Made) -> None:
    """A vault of the right epoch whose one node derives every key again."""
    path = made.store / "vault"
    data = bytearray(path.read_bytes())
    data = data[:168] + struct.pack("<QQ32s", 1, 1, bytes(32))
    data[40:48] = struct.pack("<Q", len(data) - 128)
    data[96:128] = blake3(data[:96] + data[128:]).digest()
    path.write_bytes(data)


def _settings(old: str, new: str) -> Edit:
    def edit(made: Made) -> None:
        path, guard = made.store / "store.json", made.guard.path
        path.write_text(path.read_text().replace(old, new))
        shutil.copy(guard, made.guard.path) if guard != made.guard.path else None

    return edit


SMALL: dict[str, Edit] = {
    "segment magic": at("*.seg", 3),
    "segment first index": at("*.seg", 16),
    "segment store id": at("*.seg", 25),
    "segment check": at("*.seg", 50),
    "frame magic": in_frame(0, 0),
    "frame count": in_frame(0, 4),
    "frame first index": in_frame(0, 8),
    "frame tx": in_frame(0, 16),
    "frame body length": in_frame(0, 41),
    "frame header check": in_frame(0, 50),
    "frame content check": in_frame(0, 70),
    "table": in_frame(0, 96),
    "envelope": in_frame(1, 60),
    "body": in_frame(2, 100),
    "last byte of a body": in_frame(2, 255),
    "log cut short": cut("*.seg", 100),
    "log cut to a frame": lambda made: write_frames(made.store, read_frames(made.store)[:-1]),
    "no segment": remove("*.seg"),
    "frames exchanged": frames_of(_swap),
    "frames exchanged, numbers kept": frames_of(
        _swap, firsts=[0, 3, 4, 8, 7, 9, 10, 11, 12, 13, 14, 15, 16], txs=[0, 1, 2, 4, 3, *range(5, 13)]
    ),
    "transaction dropped": frames_of(
        _drop, firsts=[0, 3, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16], txs=[0, 1, 2, *range(4, 13)]
    ),
    "transaction dropped, renumbered": frames_of(_drop),
    "record dropped within a transaction": frames_of(_drop_within),
    "record repeated at the end": frames_of(_repeat),
    "signature": frames_of(_signature),
    "bodies exchanged": frames_of(_swap_bodies),
    "blank body without an erasure": _body(lambda record: bytes(len(record.body))),
    "body absent without an erasure": _body(lambda record: b""),
    "shorter body": _body(lambda record: record.body[:-1]),
    "list behind a record without one": frames_of(_stray_list),
    "payload edited, signed, not in the tree": resigned(
        7, swap(b'"inference"', b'"observation"'), planted=False
    ),
    "duplicate member": resigned(4, swap(b'{"braid":1', b'{"braid":1,"braid":1')),
    "duplicate member in public": resigned(14, swap(b'{"op":', b'{"op":"admit","op":'), "root"),
    "members out of order": resigned(
        4,
        lambda p: p.replace(
            b'"kind":"experience","type":"occurrence"', b'"type":"occurrence","kind":"experience"'
        ),
    ),
    "number that is none": resigned(4, swap(b'"control":2', b'"control":2.0')),
    "another format of record": resigned(4, swap(b'{"braid":1', b'{"braid":2')),
    "another log's record": resigned(4, swap(b'"origin":"braid.', b'"origin":"braif.')),
    "another index": resigned(4, swap(b'"index":4', b'"index":5')),
    "id of another kind": resigned(4, swap(b'"id":"exp_', b'"id":"evt_')),
    "time of another form": resigned(4, lambda p: p.replace(b'Z","tx"', b'+","tx"')),
    "another place": resigned(4, swap(b'"tx":[2,0,3]', b'"tx":[2,1,3]')),
    "time that goes back": resigned(7, _earlier),
    "control record left out": resigned(4, swap(b'"control":2', b'"control":1')),
    "control record to come": resigned(4, swap(b'"control":2', b'"control":14')),
    "key never admitted": _foreign,
    "key of the wrong role": _by("operator", 5),
    "root key signs a memory": _by("root", 17),
    "key revoked before": _by("agent", 17),
    "key not admitted yet": _by("agent", 4),
    "admission of another role": resigned(2, swap(b'"role":"recorder"', b'"role":"operator"'), "root"),
    "admission of a root": resigned(12, swap(b'"role":"agent"', b'"role":"root"'), "root"),
    "revocation of nobody": resigned(14, swap(b'"id":"k_', b'"id":"k_z'), "root"),
    "author key that is the log's": _public(12, _admits_the_log_key),
    "log key that is an author's": _public(
        14, lambda made: {"op": "log_key", "vkey": _names_an_author(made)}
    ),
    "log key that is an author's, under the heads": _headed_by_an_author,
    "log key that is an author's, alone under the heads": lambda made: _headed_by_an_author(made, alone=True),
    "log key that is the root key": _genesis_of_one_key,
    "control record by a recorder": _by("recorder", 15, "operator"),
    "operation that no kind has": resigned(15, swap(b'"op":"forget"', b'"op":"forgive"'), "operator"),
    "genesis of another format": _unlike_genesis,
    "link of an unknown role": resigned(7, swap(b'["parent",4,"', b'["cousin",4,"')),
    "link that points forward": resigned(7, swap(b'["parent",4,"', b'["parent",9,"')),
    "link to another index": resigned(7, swap(b'["parent",4,"', b'["parent",5,"')),
    "link to another record of the index": resigned(7, _same_place),
    "link to an erased record": resigned(
        16, lambda p: p.replace(b'["parent",7,', b'["parent",9,').replace(b"_00000007", b"_00000009")
    ),
    "below its parent": resigned(16, swap(b'"reconciliation"', b'"occurrence"')),
    "type of no lattice": resigned(16, swap(b'"reconciliation"', b'"dream"')),
    "certificate with another count": resigned(11, _count, "operator"),
    "certificate of no erasure": resigned(11, swap(b'"erase":10', b'"erase":9'), "operator"),
    "erasure of a key": resigned(
        10,
        lambda p: p.replace(b'["target",3,"exp_', b'["target",2,"key_').replace(b"_00000003", b"_00000002"),
        "operator",
    ),
    "erasure without an epoch": resigned(10, swap(b'"epoch":1', b'"epoch":"one"'), "operator"),
    "erased body not blank": _dirty,
    "erased media back": _media_back,
    "media altered": at("blobs/*/*", 30),
    "media cut": cut("blobs/*/*", 1),
    "media missing": remove("blobs/*/*"),
    "tile": at("tile/0/*.p/*", 40),
    "tile short": cut("tile/0/*.p/*", 32),
    "tile missing": remove("tile/0/*.p/*"),
    "place index": at("*.idx", 24),
    "place index missing": remove("*.idx"),
    "checkpoint size": at("store/checkpoint", 30),
    "checkpoint signature": at("store/checkpoint", -20),
    "checkpoint missing": remove("store/checkpoint"),
    "checkpoint of another key": _head_of_another_key,
    "checkpoint of a longer log": _longer_head,
    "history signature": at("store/checkpoints", 150),
    "two roots for one size": _second_history,
    "guard": at("*.guard", 30),
    "guard check": at("*.guard", -5),
    "rewritten under the log's key": _rewritten,
    "rolled back": _rolled_back,
    "vault magic": at("vault", 0),
    "vault check": at("vault", 100),
    "vault seed": at("vault", 200),
    "vault of another store": _vault(16, b"a" * 16),
    "vault of an earlier epoch": _vault(32, bytes(8)),
    "vault that still holds erased keys": _whole_vault,
    "settings: origin": replace("store.json", b"braid.local/", b"braid.lokal/"),
    "settings: format": replace("store.json", b'"format": 1', b'"format": 2'),
    "settings: unknown member": replace("store.json", b'"durability"', b'"durabhlity"'),
    "settings: durability": replace("store.json", b'"always"', b'"alwayz"'),
    "settings: vault": replace("store.json", b'"vault": "vault"', b'"vault": ["vaul"]'),
    "settings: no vault": replace("store.json", b'"vault": "vault"', b'"vault": null'),
    "settings cut": cut("store.json", 20),
}
WIDE: dict[str, Edit] = {
    "list: another target": frames_of(_list(b"parent 20 ", b"parent 21 ")),
    "list: a line less": frames_of(
        lambda frames: _list(frames[-1][0].links.split(b"\n")[4] + b"\n", b"")(frames)
    ),
    "list: other blanks": frames_of(_list(b"parent 20 ", b"parent 020 ")),
    "list missing": frames_of(lambda frames: frames.__setitem__(-1, [frames[-1][0]._replace(links=b"")])),
    "full tile": at("tile/0/000", 40 * 32),
    "full tile missing": remove("tile/0/000"),
    "tile above": at("tile/1/000.p/1", 3),
    "record under a full tile": resigned(8, swap(b'"occurrence"', b'"observation"'), planted=False),
}


def copy_of(made: Made, folder: Path) -> Made:
    """Return a copy of a store and its guard."""
    shutil.copytree(made.store.parent, folder)
    return Made(folder / made.store.name, folder / made.guards.name)
