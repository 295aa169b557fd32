"""What no auditor opens, opened by hand as SPEC.md says: vault, bodies, media (§4), and the content digest (§10.4).

tools/braid_audit.py finds the records; nothing here calls Braid's own code but to compare with what it says.
"""

import base64
import hashlib
import json
import struct
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest
from blake3 import blake3
from nacl import bindings as sodium
from nacl.pwhash import argon2id

from tests.system.spec.auditors import python_auditor
from tests.system.spec.test_released_stores import NAMES, Released

TABLES = (
    "experiences links claims mentions views stances candidates justifications affect_snapshots signatures events "
    "tombstones transactions keys"
)
auditor = python_auditor()


class Opened:
    """A released store, read by hand: bodies and row keys by index, media by name."""

    def __init__(self, released: Released) -> None:
        look = auditor.Audit(released.path, released.expected["vkey"], None)
        assert look.run().findings == []
        self.size: int = look.end
        self.nodes = dict(_nodes((released.path / "vault").read_bytes(), released.passphrase))
        self.bodies: dict[int, dict[str, Any]] = {}
        self.row_keys: dict[int, bytes] = {}
        self.media: dict[str, bytes] = {}
        self.erased = set(look.control.erased)
        frames = [seen for segment in look.segments for seen in segment.seen if hasattr(seen, "records")]
        for frame in frames:
            for place, part in enumerate(frame.records):
                if frame.first + place < self.size:
                    self._open(look.records[frame.first + place], part[2], released.path)

    def _open(self, record: Any, sealed: bytes, path: Path) -> None:
        seed = self._leaf(record.index)
        assert (seed is None) == (record.index in self.erased)
        if seed is None:
            return
        out = blake3(b"braid/v1/record", key=seed).digest(length=96)
        commit = base64.urlsafe_b64decode(json.loads(record.payload)["commit"] + "=")
        assert commit == out[32:64]
        aad = f"braid/v1/body\n{record.origin}\n{record.id}\n{record.kind}\n".encode()
        plain = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(sealed[24:], aad, sealed[:24], out[:32])
        length = int.from_bytes(plain[:4], "little")
        assert not any(plain[4 + length :])
        assert len(sealed) == _padme(44 + length)
        self.bodies[record.index] = body = json.loads(plain[4 : 4 + length])
        self.row_keys[record.index] = out[64:]
        for one in body.get("content", {}).get("media", []) if record.kind == "experience" else []:
            data = (path / "blobs" / one["blob"][:2] / one["blob"][2:]).read_bytes()
            assert hashlib.sha256(data).hexdigest() == one["blob"]
            self.media[one["blob"]] = _media(data, base64.b64decode(one["key"]))

    def _leaf(self, index: int) -> bytes | None:
        at, sides = (1 << 40) + index, list[int]()
        while at and at not in self.nodes:
            sides.append(at & 1)
            at >>= 1
        seed = self.nodes.get(at)
        for side in reversed(sides):
            seed = blake3(b"braid/v1/ggm", key=seed).digest(length=64)[32 * side :][:32] if seed else None
        return seed


def _nodes(vault: bytes, passphrase: str | None) -> Iterator[tuple[int, bytes]]:
    header, payload = vault[:96], vault[128:]
    ops, memory = struct.unpack_from("<II", header, 48)
    if passphrase is not None:
        said = unicodedata.normalize("NFC", passphrase).encode()
        key = argon2id.kdf(32, said, header[56:72], opslimit=ops, memlimit=memory << 10)
        payload = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(payload, header, header[72:96], key)
    yield from struct.iter_unpack("<Q32s", payload[48:])


def _media(data: bytes, key: bytes) -> bytes:
    state = sodium.crypto_secretstream_xchacha20poly1305_state()
    sodium.crypto_secretstream_xchacha20poly1305_init_pull(state, data[:24], key)
    content = b""
    for at in range(24, len(data), 65_553):
        part, _ = sodium.crypto_secretstream_xchacha20poly1305_pull(state, data[at : at + 65_553], None)
        content += part[4 : 4 + int.from_bytes(part[:4], "little")]
    return content


def _padme(length: int) -> int:
    if length <= 256:
        return 256
    exponent = length.bit_length() - 1
    mask = (1 << (exponent - exponent.bit_length())) - 1
    return (length + mask) & ~mask


def _digest(tables: list[list[dict[str, Any]]], row_keys: dict[int, bytes], position: int) -> str:
    rows: dict[int, list[tuple[int, int, list[Any]]]] = {}
    for number, table in enumerate(tables):
        for row in table:
            values = [_stored(value) for value in row.values()]
            rows.setdefault(row["log_index"], []).append((number, row.get("k") or 0, values))
    buckets: list[list[bytes]] = [[] for _ in range(-(-position // 256))]
    for index, found in sorted(rows.items()):
        found.sort(key=lambda one: one[:2])
        data = msgspec.msgpack.encode([[number, values] for number, _, values in found])
        buckets[index // 256].append(blake3(data, key=row_keys.get(index, bytes(32))).digest())
    roots = [auditor.root_of(bucket) for bucket in buckets]
    return str(auditor.root_of([auditor.leaf_hash(root) for root in roots]).hex())


def _stored(value: object) -> object:
    if not isinstance(value, datetime):
        return value
    since = value.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


@pytest.fixture(params=NAMES)
def released(request: pytest.FixtureRequest, tmp_path: Path) -> Released:
    return Released(request.param, tmp_path / "released")


def test_bodies_and_media_open_by_hand(released: Released) -> None:
    opened = Opened(released)
    assert opened.erased
    with released.open(read_only=True) as store:
        read = list(store.read(include_forgotten=True))
        media = {one["blob"]: one for body in opened.bodies.values() for one in _named(body)}
        assert media.keys() == opened.media.keys() != set()
    assert {record.index: record.members for record in read} == opened.bodies
    assert b"\x89PNG not really" in opened.media.values()


def _named(body: dict[str, Any]) -> list[dict[str, Any]]:
    content = body.get("content")
    return list(content.get("media", [])) if isinstance(content, dict) else []


def test_the_projections_digest_is_that_of_its_rows(released: Released) -> None:
    opened, tables = Opened(released), list[list[dict[str, Any]]]()
    with released.open() as store:
        store.replay("duck")
    with duckdb.connect(str(released.path / "views/duck/work.duckdb"), read_only=True) as db:
        for name in TABLES.split():
            rows = db.execute(f"SELECT * FROM main.{name}")
            columns = [column[0] for column in rows.description or ()]
            tables.append([dict(zip(columns, row, strict=True)) for row in rows.fetchall()])
        (stated,) = db.execute("SELECT digest FROM view_state.meta").fetchall()
    assert _digest(tables, opened.row_keys, opened.size) == stated[0]
