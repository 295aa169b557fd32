"""A second reader of Braid's format, written from SPEC.md alone: it shares no line with the first one.

`read_store` looks at a store's files and says what is in them; what is not as SPEC.md says is a finding, never an
exception. Only the standard library, PyNaCl and BLAKE3 are used. It is made to be read, not to be fast: everything is
held in memory. Numbers in comments are sections of SPEC.md.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import struct
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from blake3 import blake3
from nacl import bindings as sodium
from nacl.exceptions import CryptoError
from nacl.pwhash import argon2id

DEPTH = 40
PREFIXES = {
    "experience": "exp",
    "view": "view",
    "stance": "stance",
    "affect": "aff",
    "embedding": "emb",
    "tombstone": "tomb",
    "key": "key",
    "event": "evt",
    "genesis": "gen",
}
TYPES = ("occurrence", "observation", "inference", "reconciliation")
DERIVES = ("parent", "evidence", "applied_to", "support", "candidate", "experience")
ROLES = (*DERIVES, "supersedes", "target", "kept")
WORDS = {"experience", "view", "stance", "affect", "embedding", "event"}
MAY_SIGN = {
    "root": {"genesis", "key"},
    "operator": {"tombstone", "event"},
    **dict.fromkeys(("recorder", "user", "agent", "tool"), WORDS),
}
OPS = {
    "genesis": {"genesis"},
    "key": {"admit", "revoke"},
    "tombstone": {"forget", "recover", "erase"},
    "event": {"clock", "certify"},
}
MEMBERS = (
    "braid",
    "origin",
    "index",
    "id",
    "kind",
    "type",
    "created_at",
    "tx",
    "control",
    "key",
    "commit",
    "body",
    "links",
    "blobs",
    "public",
)
OPTIONAL = {"type", "links", "blobs", "public"}
EMPTY = hashlib.sha256(b"").digest()


class RefusedError(Exception):
    """Bytes that are not what SPEC.md says. `kind` is that of §11.5 where one fits."""

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(what)
        self.kind = kind


def need(held: object, kind: str, what: str) -> None:
    """Refuse what does not hold."""
    if not held:
        raise RefusedError(kind, what)


# ---------------------------------------------------------------------------------------------- encodings


def b64(text: object, kind: str, size: int | None = None) -> bytes:
    """Return canonical RFC 4648 §4 base64, decoded."""
    try:
        raw = base64.b64decode(str(text).encode("ascii"), validate=True)
    except (ValueError, binascii.Error) as error:
        raise RefusedError(kind, f"not base64: {error}") from None
    need(base64.b64encode(raw).decode() == text, kind, "base64 is not canonical")
    need(size is None or len(raw) == size, kind, f"{len(raw)} bytes where {size} belong")
    return raw


def url64(text: object, kind: str) -> bytes:
    """Return a digest: base64url without padding, 43 characters (3.2)."""
    need(isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9_-]{43}", text), kind, "not a digest")
    raw = base64.urlsafe_b64decode(f"{text}=")
    need(base64.urlsafe_b64encode(raw).decode() == f"{text}=", kind, "digest is not canonical")
    return raw


def strict_json(data: bytes, kind: str) -> Any:
    """Decode JSON without repeated members, NaN, or bytes that are not UTF-8."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len({name for name, _ in pairs}) == len(pairs), kind, "a member is repeated")
        return dict(pairs)

    def never(name: str) -> None:
        raise RefusedError(kind, f"{name} is not a number")

    try:
        return json.loads(data.decode(), object_pairs_hook=members, parse_constant=never)
    except (ValueError, RecursionError) as error:
        raise RefusedError(kind, f"not JSON: {error}") from None


def check16(data: bytes) -> bytes:
    """Return the short check of headers (2.1, 2.2)."""
    return blake3(data).digest(length=16)


def padme(length: int) -> int:
    """Return the Padmé size of a length, at least 256: the low bits below its exponent's own width are rounded up."""
    if length <= 256:
        return 256
    exponent = length.bit_length() - 1
    mask = (1 << (exponent - exponent.bit_length())) - 1
    return (length + mask) & ~mask


# ---------------------------------------------------------------------------------------------- Merkle tree (5)


def leaf_hash(data: bytes) -> bytes:
    """Return RFC 6962's hash of a leaf."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return RFC 6962's hash of a node."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def tree_root(leaves: Sequence[bytes]) -> bytes:
    """Return the RFC 6962 root over leaf hashes."""
    if not leaves:
        return EMPTY
    row = list(leaves)
    while len(row) > 1:
        row = [node_hash(*row[i : i + 2]) if i + 1 < len(row) else row[i] for i in range(0, len(row), 2)]
    return row[0]


def tile_path(level: int, n: int, width: int = 256) -> str:
    """Return a tile's place (C2SP tlog-tiles)."""
    groups = [f"{n % 1000:03d}"]
    while n := n // 1000:
        groups.insert(0, f"x{n % 1000:03d}")
    return f"tile/{level}/{'/'.join(groups)}" + (f".p/{width}" if width < 256 else "")


def tiles_of(leaves: Sequence[bytes]) -> dict[str, bytes]:
    """Return every tile of a tree, by path."""
    tiles: dict[str, bytes] = {}
    row, level = list(leaves), 0
    while row:
        above = []
        for n in range(0, len(row), 256):
            part = row[n : n + 256]
            tiles[tile_path(level, n // 256, len(part))] = b"".join(part)
            if len(part) == 256:
                above.append(tree_root(part))
        row, level = above, level + 1
    return tiles


def inclusion_holds(index: int, size: int, leaf: bytes, path: Sequence[bytes], root: bytes) -> bool:
    """Say whether an audit path leads from a leaf to the root (RFC 9162 §2.1.3.2)."""
    if not 0 <= index < size:
        return False
    fn, sn, at = index, size - 1, leaf
    for sibling in path:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            at = node_hash(sibling, at)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            at = node_hash(at, sibling)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and at == root


# ---------------------------------------------------------------------------------------------- signed notes (5.3)


def point(raw: bytes, kind: str) -> bytes:
    """Return a public key that libsodium calls a valid point (3.4)."""
    need(len(raw) == 32 and sodium.crypto_core_ed25519_is_valid_point(raw), kind, "not a public key")
    return raw


def signed_by(key: bytes, message: bytes, signature: bytes) -> bool:
    """Say whether an ed25519 signature holds."""
    try:
        sodium.crypto_sign_open(signature + message, key)
    except CryptoError:
        return False
    return True


def verifier(vkey: object, kind: str) -> tuple[str, bytes, bytes]:
    """Return (name, key id, public key) of a C2SP verifier key."""
    parts = str(vkey).split("+", 2)
    need(len(parts) == 3 and parts[0] and " " not in parts[0], kind, "not a verifier key")
    raw = b64(parts[2], kind, 33)
    need(raw[0] == 1, kind, "not an ed25519 verifier key")
    key_id = hashlib.sha256(parts[0].encode() + b"\n" + raw).digest()[:4]
    need(key_id.hex() == parts[1], kind, "verifier key contradicts its id")
    return parts[0], key_id, point(raw[1:], kind)


def open_head(note: str, vkey: object, kind: str) -> tuple[int, bytes]:
    """Return (size, root) of a checkpoint that the log's key has signed."""
    name, key_id, key = verifier(vkey, kind)
    text, _, signatures = note.rpartition("\n\n")
    text += "\n"
    need(signatures.endswith("\n"), kind, "note has no end")
    held = False
    for line in signatures[:-1].split("\n"):
        parts = line.split(" ")
        need(len(parts) == 3 and parts[0] == "—", kind, "not a signature line")
        blob = b64(parts[2], kind)
        if (parts[1], blob[:4]) == (name, key_id):
            held = signed_by(key, text.encode(), blob[4:])
            need(held, kind, "signature of the log's key does not hold")
    need(held, kind, "not signed by the log's key")
    lines = text.split("\n")
    need(len(lines) == 4 and lines[0] == name, kind, "not a checkpoint of this log")
    need(re.fullmatch(r"0|[1-9][0-9]{0,12}", lines[1]), kind, "not a tree size")
    return int(lines[1]), b64(lines[2], kind, 32)


def split_notes(data: bytes, kind: str) -> list[str]:
    """Return the notes of the history. Between two stands an empty line; the last may be unfinished (11.1)."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise RefusedError(kind, "history is not UTF-8") from None
    notes: list[str] = []
    while text:
        match = re.match(r"(?:[^\n]+\n){3,}\n(?:— [^\n]+\n)+(?=\n|\Z)", text)
        if not match:
            break
        notes.append(match[0])
        text = text[match.end() :].removeprefix("\n")
    need(text.rstrip("\n").count("\n\n") <= 1, kind, "history is not a row of notes")
    return notes


def check_proof(proof: bytes, vkey: str, leaf: bytes | None = None) -> dict[str, Any]:
    """Check a c2sp.org/tlog-proof file with nothing but the log's key; return what it shows."""
    try:
        head, _, note = proof.decode().partition("\n\n")
    except UnicodeDecodeError:
        raise RefusedError("proof", "not UTF-8") from None
    lines = head.split("\n")
    need(lines.pop(0) == "c2sp.org/tlog-proof@v1", "proof", "not a tlog-proof")
    extra = b64(lines.pop(0)[6:], "proof") if lines and lines[0].startswith("extra ") else None
    need(lines and re.fullmatch(r"index (0|[1-9][0-9]{0,12})", lines[0]), "proof", "no index")
    index, path = int(lines[0][6:]), [b64(line, "proof", 32) for line in lines[1:]]
    size, root = open_head(note, vkey, "proof")
    leaf = extra if leaf is None else leaf
    need(leaf is not None, "proof", "no leaf")
    need(
        inclusion_holds(index, size, leaf_hash(leaf or b""), path, root),
        "proof",
        "path does not lead to the root",
    )
    record = Envelope.parse(leaf or b"")
    need(record.index == index, "proof", "the record has another index")
    return {"index": index, "size": size, "root": root, "id": record.id}


# ---------------------------------------------------------------------------------------------- records (3)


@dataclass
class Envelope:
    """A record's envelope, taken apart and agreeing with itself."""

    stored: bytes
    payload: bytes
    signature: bytes
    members: dict[str, Any]
    links: list[tuple[str, int, str]] = field(default_factory=list)

    @property
    def index(self) -> int:
        """The log index."""
        return int(self.members["index"])

    @property
    def id(self) -> str:
        """The record's id."""
        return str(self.members["id"])

    @property
    def kind(self) -> str:
        """The record's kind."""
        return str(self.members["kind"])

    @property
    def public(self) -> dict[str, Any]:
        """The public part; empty where there is none."""
        return dict(self.members.get("public") or {})

    @property
    def op(self) -> str | None:
        """What a control record does; None for other records."""
        return self.public.get("op")

    @property
    def memory(self) -> bool:
        """Whether it may be forgotten and erased (9.1)."""
        return self.op is None and self.kind not in {"key", "tombstone", "genesis"}

    @classmethod
    def parse(cls, stored: bytes) -> Envelope:
        """Take an envelope apart by its template (3.1) and hold its payload to 3.2."""
        match = re.fullmatch(
            rb'\{"payload":"([A-Za-z0-9+/=]+)","payloadType":"application/vnd\.braid\.record\+json",'
            rb'"signatures":\[\{"sig":"([A-Za-z0-9+/=]+)"\}\]\}',
            stored,
        )
        need(match and len(stored) <= 65_535, "envelope", "not the template")
        assert match
        payload = b64(match[1].decode(), "envelope")
        signature = b64(match[2].decode(), "envelope", 64)
        members = strict_json(payload, "envelope")
        need(isinstance(members, dict) and members.get("braid") == 1, "envelope", "not a record of version 1")
        bare = re.sub(rb'"(?:[^"\\]|\\.)*"', b'""', payload)
        need(not re.search(rb"\s", bare), "envelope", "white space")
        known = [name for name in MEMBERS if name in members]
        need(list(members)[: len(known)] == known, "envelope", "members are out of order")
        need(OPTIONAL.issuperset(set(MEMBERS) - members.keys()), "envelope", "a member is missing")
        need(all(members[name] for name in OPTIONAL & members.keys()), "envelope", "an empty member")
        self = cls(stored, payload, signature, members)
        try:
            self._check()
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise RefusedError("envelope", f"a member is not of its type: {error}") from None
        return self

    def _check(self) -> None:
        m = self.members
        for name in ("origin", "id", "kind", "created_at", "key"):
            need(isinstance(m[name], str), "envelope", f"{name} is not text")
        for number in (m["index"], m["control"], *m["tx"], m["body"][1]):
            need(type(number) is int and 0 <= number < 1 << DEPTH, "envelope", "not a number in its range")
        need(len(m["tx"]) == 3 and m["tx"][1] < m["tx"][2], "envelope", "not a place in a transaction")
        need(len(m["body"]) == 2, "envelope", "body is not digest and size")
        url64(m["commit"], "envelope")
        url64(m["body"][0], "envelope")
        need(re.fullmatch(r"[a-z]{1,12}", m["kind"]), "envelope", "not a kind")
        typed = m.get("type") in TYPES if m["kind"] == "experience" else "type" not in m
        need(typed or m["kind"] not in PREFIXES, "envelope", "type does not go with kind")
        form = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"
        need(re.fullmatch(form, m["created_at"], re.ASCII), "envelope", "not a time")
        datetime.fromisoformat(m["created_at"])
        # 1.2: the id says kind, second and index.
        start = f"{PREFIXES.get(m['kind'], m['kind'])}_{m['created_at'][:19]}Z_"
        suffix = m["id"].removeprefix(start)
        need(
            m["id"].startswith(start) and re.fullmatch(r"[0-9a-v]{12}", suffix),
            "id",
            "id contradicts the record",
        )
        need(int(suffix[:8], 32) == m["index"], "id", "id contradicts the index")
        need(re.fullmatch(r"k_[a-z2-7]{20}", m["key"]), "envelope", "not a key id")
        links = m.get("links", [])
        if isinstance(links, list):
            need(len(links) <= 256, "link", "an inline list above 256 links")
            self.links = [self.link(*link) for link in links]
        else:
            need(list(links) == ["count", "root", "bytes"], "link", "not a head of a list")
            need(
                256 < links["count"] <= 10**6 and type(links["bytes"]) is int, "link", "not a count of links"
            )
            url64(links["root"], "link")
        for name, size in m.get("blobs", []):
            need(re.fullmatch(r"[0-9a-f]{64}", name) and type(size) is int, "envelope", "not a blob")
        need(isinstance(m.get("public", {}), dict), "envelope", "public is not an object")

    def link(self, role: str, index: int, target: str) -> tuple[str, int, str]:
        """Return a link that points back (3.6)."""
        need(role in ROLES, "link", f"a role {role!r}")
        need(type(index) is int and 0 <= index < self.index, "link", "a link that does not point back")
        need(isinstance(target, str), "link", "a link without id")
        return role, index, target

    def take_list(self, data: bytes) -> None:
        """Take the list of more than 256 links that lies behind the envelope."""
        head = self.members.get("links")
        if not isinstance(head, dict):
            need(not data, "link", "a list behind an envelope that has none")
            return
        need(len(data) == head["bytes"] and data.endswith(b"\n"), "link", "list is not as long as stated")
        lines = data[:-1].split(b"\n")
        need(len(lines) == head["count"], "link", "list has another count")
        root = tree_root([leaf_hash(line + b"\n") for line in lines])  # a line's LF belongs to it
        need(root == url64(head["root"], "link"), "link", "list has another root")
        for line in lines:
            match = re.fullmatch(
                rb"([a-z_]+) (0|[1-9][0-9]{0,12}) ([a-z]{1,12}_[0-9TZ:-]+_[0-9a-v]{12})", line
            )
            need(match, "link", "a line that is not canonical")
            assert match
            self.links.append(self.link(match[1].decode(), int(match[2]), match[3].decode()))

    def signed(self, key: bytes) -> bool:
        """Say whether the author's signature holds: DSSE v1 (3.1)."""
        kind = b"application/vnd.braid.record+json"
        pae = b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(self.payload), self.payload)
        return signed_by(key, pae, self.signature)


# ---------------------------------------------------------------------------------------------- segments (2)


@dataclass
class Stored:
    """A record's bytes as its frame holds them."""

    index: int
    tx: tuple[int, int, int]
    envelope: bytes
    links: bytes
    body: bytes
    place: tuple[int, int]  # offsets of envelope and body in the segment
    segment: str


def frame_at(data: bytes, at: int) -> tuple[int, int, int, int, int, int]:
    """Return (n, first, tx, group, head_len, body_len) of a frame header that is whole and checks."""
    need(len(data) - at >= 96 and data[at : at + 4] == b"BRF1", "frame", f"no frame at {at}")
    need(check16(data[at : at + 48]) == data[at + 48 : at + 64], "frame", f"header at {at} fails its check")
    fields: tuple[int, int, int, int, int, int] = struct.unpack_from("<IQQQQQ", data, at + 4)
    return fields


def frame_records(data: bytes, at: int, segment: str) -> tuple[list[Stored], int]:
    """Return the records of the frame at an offset, and where it ends (2.2)."""
    n, first, tx, group, head_len, body_len = frame_at(data, at)
    end = at + 96 + head_len + body_len
    need(end <= len(data), "frame", f"frame at {at} is not whole")
    need(
        1 <= n <= 1 << 20 and 12 * n <= head_len and 64 <= group <= at,
        "frame",
        f"frame at {at} contradicts itself",
    )
    content = blake3(data[at : at + 64] + data[at + 96 : at + 96 + head_len]).digest()
    need(content == data[at + 64 : at + 96], "frame", f"frame at {at} fails its content check")
    table = list(struct.iter_unpack("<III", data[at + 96 : at + 96 + 12 * n]))
    head, body = at + 96 + 12 * n, at + 96 + head_len
    sums = 12 * n + sum(e + m for e, m, _ in table), sum(b for _, _, b in table)
    need(sums == (head_len, body_len), "frame", f"table of the frame at {at} does not add up")
    records = []
    for k, (e, m, b) in enumerate(table):
        parts = data[head : head + e], data[head + e : head + e + m], data[body : body + b]
        records.append(Stored(first + k, (tx, k, n), *parts, (head, body), segment))
        head, body = head + e + m, body + b
    return records, end


def other_write_follows(data: bytes, at: int) -> bool:
    """Say whether a well-formed frame of a later write stands behind a broken one: then it is no torn tail (2.3)."""
    found = data.find(b"BRF1", at + 1)
    while found >= 0:
        try:
            if frame_at(data, found)[3] > at:
                return True
        except RefusedError:
            pass
        found = data.find(b"BRF1", found + 1)
    return False


# ---------------------------------------------------------------------------------------------- the vault (4)


def children(seed: bytes) -> tuple[bytes, bytes]:
    """Return the two seeds below a seed (4.1)."""
    out = blake3(b"braid/v1/ggm", key=seed).digest(length=64)
    return out[:32], out[32:]


@dataclass
class Vault:
    """The puncturable key: which indexes can still be opened, and how."""

    epoch: int
    lookup: bytes
    nodes: dict[int, bytes]

    @classmethod
    def parse(cls, data: bytes, store_id: str, passphrase: str | None) -> Vault:
        """Read a vault file (4.3), refusing in the order that is given there."""
        need(len(data) >= 128, "vault", "shorter than its header")
        need(data[:8] == b"BRAIDVLT", "vault", "not a vault")
        version, mode, zero = struct.unpack_from("<HHI", data, 8)
        need(version == 1, "vault", "a newer format")
        need(blake3(data[:96] + data[128:]).digest() == data[96:128], "vault", "fails its check")
        epoch, length, ops, memory = struct.unpack_from("<QQII", data, 32)
        payload = data[128:]
        need(zero == 0 and mode in {0, 1} and length == len(payload), "vault", "header contradicts itself")
        need(mode == 1 or not any(data[48:96]), "vault", "a plain vault with a cost")
        need(mode == 0 or (1 <= ops <= 64 and 8 <= memory <= 4 << 20), "vault", "cost is out of bounds")
        need(data[16:32] == store_id.encode(), "vault", "another store's")
        need(
            (passphrase is not None) == (mode == 1), "vault", "passphrase missing, or given for a plain vault"
        )
        if passphrase is not None:
            secret = unicodedata.normalize("NFC", passphrase).encode()
            key = argon2id.kdf(32, secret, data[56:72], opslimit=ops, memlimit=memory << 10)
            try:
                payload = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(
                    payload, data[:96], data[72:96], key
                )
            except CryptoError:
                raise RefusedError("vault", "wrong passphrase, or forged") from None
        need(len(payload) >= 48, "vault", "payload is short")
        depth, zero, n = struct.unpack_from("<IIQ", payload, 32)
        need((depth, zero, 48 + 40 * n) == (DEPTH, 0, len(payload)), "vault", "payload contradicts itself")
        nodes, behind = {}, 0
        for node, seed in struct.iter_unpack("<Q32s", payload[48:]):
            need(1 <= node < 2 << DEPTH, "vault", "no such node")
            height = DEPTH + 1 - node.bit_length()
            need((node << height) - (1 << DEPTH) >= behind, "vault", "nodes overlap or are out of order")
            behind = ((node + 1) << height) - (1 << DEPTH)
            nodes[node] = seed
        return cls(epoch, payload[:32], nodes)

    def leaf(self, index: int) -> bytes | None:
        """Return the leaf seed of an index; None when it was punctured."""
        at, below = (1 << DEPTH) + index, []
        while at and at not in self.nodes:
            below.append(at & 1)
            at >>= 1
        if not at:
            return None
        seed = self.nodes[at]
        for side in reversed(below):
            seed = children(seed)[side]
        return seed

    def keys(self, index: int) -> tuple[bytes, bytes, bytes] | None:
        """Return (sealing key, commitment, row key) of a record; None when it was punctured."""
        seed = self.leaf(index)
        if seed is None:
            return None
        out = blake3(b"braid/v1/record", key=seed).digest(length=96)
        return out[:32], out[32:64], out[64:]


def cover(erased: Iterable[int]) -> set[int]:
    """Return the nodes that a vault has after these erasures, in whatever order they came."""
    gone: set[int] = set()
    for index in erased:
        node = (1 << DEPTH) + index
        while node and node not in gone:
            gone.add(node)
            node >>= 1
    if not gone:
        return {1}
    return {n ^ 1 for n in gone if n > 1 and n ^ 1 not in gone}


def unseal(record: Envelope, sealed: bytes, keys: tuple[bytes, bytes, bytes]) -> dict[str, Any]:
    """Open a body (4.2) and return its JSON."""
    m = record.members
    need(keys[1] == url64(m["commit"], "seal"), "seal", "another key was committed to")
    aad = f"braid/v1/body\n{m['origin']}\n{record.id}\n{record.kind}\n".encode()
    try:
        plain = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(sealed[24:], aad, sealed[:24], keys[0])
    except (CryptoError, ValueError):
        raise RefusedError("seal", "AEAD refuses") from None
    need(len(plain) >= 4, "seal", "no length")
    length = int.from_bytes(plain[:4], "little")
    need(4 + length <= len(plain) and not any(plain[4 + length :]), "seal", "padding is not zeros")
    need(length <= 16 << 20 and len(sealed) == padme(44 + length), "seal", "not the padded size")
    body = strict_json(plain[4 : 4 + length], "body")
    need(isinstance(body, dict), "body", "not an object")
    return dict(body)


def open_blob(data: bytes, name: str, size: int, key: bytes) -> bytes:
    """Return the content of a sealed blob (4.5)."""
    need(
        len(data) == size and hashlib.sha256(data).hexdigest() == name,
        "blob",
        "other bytes than the record's",
    )
    chunks = [data[at : at + 65_553] for at in range(24, len(data), 65_553)]
    state = sodium.crypto_secretstream_xchacha20poly1305_state()
    plain, content, ended = 0, [], False
    try:
        sodium.crypto_secretstream_xchacha20poly1305_init_pull(state, data[:24], key)
        for at, chunk in enumerate(chunks):
            part, tag = sodium.crypto_secretstream_xchacha20poly1305_pull(state, chunk, None)
            need(tag == (3 if at + 1 == len(chunks) else 0), "blob", "FINAL does not stand at the end")
            plain += len(part)
            n = int.from_bytes(part[:4], "little")
            need(not any(part) if ended else 4 + n <= len(part), "blob", "chunk contradicts itself")
            need(ended or not any(part[4 + n :]), "blob", "padding is not zeros")
            if not ended:
                content.append(part[4 : 4 + n])
                ended = n < 65_532
    except (CryptoError, ValueError, TypeError, RuntimeError) as error:
        raise RefusedError("blob", f"stream refuses: {error}") from None
    while len(content) > 1 and not content[-1]:
        content.pop()
    need(content, "blob", "no chunk")
    need(plain == padme(65_536 * (len(content) - 1) + 4 + len(content[-1])), "blob", "not the padded size")
    return b"".join(content)


# ---------------------------------------------------------------------------------------------- control records (3.5)


@dataclass
class Key:
    """An author key's life."""

    role: str
    public: bytes
    admitted: int
    revoked: int | None = None
    disputed_from: int | None = None


@dataclass
class Fold:
    """What the control records come to, in order."""

    origin: str
    keys: dict[str, Key] = field(default_factory=dict)
    forgotten: dict[int, int] = field(default_factory=dict)  # record → tombstone
    erased: dict[int, int] = field(default_factory=dict)
    erases: dict[int, list[int]] = field(default_factory=dict)  # tombstone → targets
    certified: dict[int, int] = field(default_factory=dict)  # tombstone → certificate
    epoch: int = 0
    certified_epoch: int = 0
    epochs: dict[int, int] = field(default_factory=dict)
    vkey: str = ""
    retention_days: int = 0

    def judge(self, record: Envelope) -> None:
        """Judge a signature at its index, with the keys in force there (3.4)."""
        key = self.keys.get(record.members["key"])
        need(key, "signature", "a key that was never admitted")
        assert key
        need(key.revoked is None, "signature", "a key that was revoked before")
        need(record.signed(key.public), "signature", "signature does not hold")
        allowed = MAY_SIGN[key.role] if record.kind in PREFIXES else WORDS
        need(record.kind in allowed or record.kind not in PREFIXES, "key-role", "a key of the wrong role")
        need(
            key.role == "operator" or record.kind != "event" or not record.op, "key-role", "not an operator's"
        )

    def take(self, record: Envelope) -> None:
        """Fold a record in; refuse an unlawful one."""
        public, op = record.public, record.op
        if record.kind in {"genesis", "key", "tombstone"} or op is not None:
            need(op in OPS.get(record.kind, ()), "control", f"{op!r} in a record of kind {record.kind}")
            try:
                getattr(self, f"_{op}")(record, public)
            except (KeyError, TypeError, ValueError) as error:
                raise RefusedError("control", f"a member is missing or wrong: {error!r}") from None

    def _genesis(self, record: Envelope, public: Mapping[str, Any]) -> None:
        need(record.index == 0 and public["format"] == 1, "control", "not a genesis")
        for text in public["root_keys"]:
            raw = point(b64(text, "control", 32), "control")
            self.keys[key_id(raw)] = Key("root", raw, 0)
        need(
            record.members["key"] == key_id(b64(public["root_keys"][0], "control")),
            "control",
            "not the first key",
        )
        need(verifier(public["log_vkey"], "control")[0] == self.origin, "control", "log key of another log")
        own = verifier(public["log_vkey"], "control")[2]
        need(all(own != key.public for key in self.keys.values()), "control", "the log's key is a root key")
        self.vkey, self.retention_days = public["log_vkey"], int(public["retention_days"])

    def _admit(self, record: Envelope, public: Mapping[str, Any]) -> None:
        raw = point(b64(public["key"], "control", 32), "control")
        need(
            public["id"] == key_id(raw) and public["id"] not in self.keys,
            "control",
            "key id is wrong or taken",
        )
        need(public["role"] in MAY_SIGN.keys() - {"root"}, "control", "no such role")
        need(raw != verifier(self.vkey, "control")[2], "control", "the log's key")
        said = f"braid/key-possession/v1\n{self.origin}\n{public['id']}\n{public['role']}\n".encode()
        need(signed_by(raw, said, b64(public["proof"], "control", 64)), "control", "no proof of possession")
        self.keys[public["id"]] = Key(public["role"], raw, record.index)

    def _revoke(self, record: Envelope, public: Mapping[str, Any]) -> None:
        key, since = self.keys[public["id"]], public["compromised_since"]
        need(since is None or type(since) is int, "control", "not an index")
        key.revoked = record.index if key.revoked is None else key.revoked  # repeated, the first counts
        stated = [one for one in (key.disputed_from, since) if one is not None]
        key.disputed_from = min(stated, default=None)

    def _targets(self, record: Envelope, role: str = "target") -> list[int]:
        return [index for found, index, _ in record.links if found == role]

    def _forget(self, record: Envelope, _: Mapping[str, Any]) -> None:
        for index in self._targets(record):
            self.forgotten.setdefault(index, record.index)

    def _recover(self, record: Envelope, _: Mapping[str, Any]) -> None:
        for index in self._targets(record):
            self.forgotten.pop(index, None)

    def _erase(self, record: Envelope, public: Mapping[str, Any]) -> None:
        need(public["epoch"] >= self.epoch, "control", "epoch goes back")
        self.epoch = self.epochs[record.index] = public["epoch"]
        self.erases[record.index] = self._targets(record)
        need(self.erases[record.index], "control", "an erasure of nothing")
        for index in self.erases[record.index]:
            self.erased[index] = record.index
            self.forgotten.pop(index, None)

    def _clock(self, record: Envelope, public: Mapping[str, Any]) -> None:
        need(type(public["behind_us"]) is int and public["behind_us"] >= 0, "control", "not a lag of a clock")

    def _certify(self, record: Envelope, public: Mapping[str, Any]) -> None:
        tomb = public["erase"]
        need(tomb in self.erases, "control", "certifies no erasure")  # many files: several that share them
        need(public["records"] == len(self.erases[tomb]), "erasure", "certificate has another count")
        need(
            ("target", tomb) in [link[:2] for link in record.links], "control", "does not name its tombstone"
        )
        self.certified.setdefault(tomb, record.index)
        self.certified_epoch = max(self.certified_epoch, self.epochs[tomb])


def key_id(public: bytes) -> str:
    """Return an author key's id (3.4)."""
    return "k_" + base64.b32encode(hashlib.sha256(public).digest()).decode().lower()[:20]


# ---------------------------------------------------------------------------------------------- the whole store


class Reading:
    """One look at a store."""

    def __init__(self, path: Path, guard: Path | None, vkey: str | None) -> None:
        """Note where to look; `read_store` does the rest."""
        self.path, self.guard_path, self.pinned = path, guard, vkey
        self.findings: list[tuple[str, int | None, str]] = []
        self.notes: list[str] = []
        self.stored: list[Stored] = []
        self.records: list[Envelope] = []
        self.settings: dict[str, Any] = {}
        self.guard: dict[str, Any] = {}
        self.heads: list[tuple[str, int, bytes]] = []
        self.leaves: list[bytes] = []
        self.bodies: dict[int, dict[str, Any]] = {}
        self.media: dict[str, bytes] = {}
        self.row_keys: dict[int, bytes] = {}
        self.fold = Fold("")
        self.torn = 0

    def find(self, kind: str, index: int | None, what: str) -> None:
        """Add a finding."""
        self.findings.append((kind, index, what))

    def trying(self, index: int | None, step: Callable[..., None], *args: object) -> bool:
        """Do a step; a refusal becomes a finding."""
        try:
            step(*args)
        except RefusedError as refused:
            self.find(refused.kind, index, str(refused))
            return False
        return True

    def read(self, relative: str, kind: str) -> bytes:
        """Return a file's bytes."""
        try:
            return (self.path / relative).read_bytes()
        except OSError as error:
            raise RefusedError(kind, f"{relative}: {error.strerror}") from None

    # 1.1
    def read_settings(self) -> None:
        """Read `store.json`."""
        settings = strict_json(self.read("store.json", "settings"), "settings")
        need(
            isinstance(settings, dict) and settings.get("format") == 1, "settings", "not settings of format 1"
        )
        need(re.fullmatch(r"[a-z2-7]{16}", str(settings.get("store_id"))), "settings", "not a store id")
        need(settings.get("durability") in {"always", "interval", "none"}, "settings", "no such durability")
        origin = settings.get("origin")
        need(
            isinstance(origin, str) and origin and not re.search(r"[\s+]", origin),
            "settings",
            "not an origin",
        )
        need(isinstance(settings.get("vault"), str), "settings", "no vault")
        self.settings = settings
        self.fold.origin = settings["origin"]

    # 2
    def read_segments(self, covered: int) -> None:
        """Read every frame; a torn tail may stand only in the last segment, behind what heads cover."""
        paths = sorted((self.path / "log").glob("*.seg"))
        need(paths, "segment", "no segment")
        for path in paths:
            self.trying(len(self.stored), self._read_segment, path, path == paths[-1], covered)

    def _read_segment(self, path: Path, last: bool, covered: int) -> None:
        data = path.read_bytes()
        need(len(data) >= 64 and data[:8] == b"BRAIDSEG", "segment", "no header")
        need(check16(data[:48]) == data[48:64], "segment", "header fails its check")
        version, zero, zeros, first = struct.unpack_from("<HHIQ", data, 8)
        need(version == 1 and not (zero or zeros or any(data[40:48])), "segment", "a newer format")
        need(
            data[24:40].decode("ascii", "replace") == self.settings["store_id"], "segment", "another store's"
        )
        need(
            path.name == f"{first:012d}.seg" and first == len(self.stored), "segment", "not the next segment"
        )
        at = 64
        while at < len(data):
            try:
                records, end = frame_records(data, at, path.name)
                tx, expected = records[0].tx[0], self.stored[-1].tx[0] + 1 if self.stored else 0
                need(
                    (records[0].index, tx) == (len(self.stored), expected),
                    "frame",
                    f"frame at {at} is out of turn",
                )
                # 2.3: a body that fails its digest also ends the log; only a tail is looked at here.
                if last and records[-1].index >= covered:
                    for record in records:
                        digest, size = Envelope.parse(record.envelope).members["body"]
                        whole = hashlib.sha256(record.body).digest() == url64(digest, "body")
                        need(whole or not any(record.body), "frame", "a body of the tail fails its digest")
                        need(len(record.body) in {0, size}, "frame", "a body of another size")
            except RefusedError:
                if last and len(self.stored) >= covered and not other_write_follows(data, at):
                    if not any(data[at:]):
                        return  # 2.6: room that a writer kept
                    self.torn = len(data) - at
                    self.notes.append(f"torn tail of {self.torn} bytes")
                    return
                raise
            self.stored += records
            at = end

    def read_index(self, covered: int) -> None:
        """Hold each `.idx` to the frames (2.4)."""
        for path in sorted((self.path / "log").glob("*.idx")):
            mine = [one for one in self.stored if one.segment == f"{path.stem}.seg"]
            derived = b"".join(
                struct.pack("<QQII", *one.place, len(one.envelope), len(one.body)) for one in mine
            )
            under, data = 24 * sum(one.index < covered for one in mine), path.read_bytes()
            # Of records under no head entries may be missing: they are made when the store is opened.
            held = len(data) >= under and derived.startswith(data)
            need(held, "idx", f"{path.name} does not agree with the frames")

    # 6, 5.3
    def read_guard(self) -> None:
        """Read the fork guard."""
        if self.guard_path is None or not self.guard_path.exists():
            self.notes.append("no guard")
            return
        lines = self.guard_path.read_bytes().split(b"\n")
        need(len(lines) == 3 and not lines[2], "guard", "not a guard")
        need(lines[1] == b"blake3 " + blake3(lines[0]).hexdigest().encode(), "guard", "guard fails its check")
        guard = strict_json(lines[0], "guard")
        need(guard["origin"] == self.settings["origin"], "guard", "guard of another log")
        size, root = open_head(guard["checkpoint"], guard["vkey"], "guard")
        need((size, root.hex()) == (guard["size"], guard["root"]), "guard", "guard contradicts its note")
        self.guard = guard
        self.heads.append(("guard", size, root))

    def read_heads(self, vkey: str) -> None:
        """Read the published head and the history of heads."""
        try:
            note = self.read("checkpoint", "checkpoint").decode()
        except UnicodeDecodeError:
            raise RefusedError("checkpoint", "checkpoint is not UTF-8") from None
        self.heads.append(("checkpoint", *open_head(note, vkey, "checkpoint")))
        if (self.path / "checkpoints").exists():
            for one in split_notes(self.read("checkpoints", "checkpoint"), "checkpoint"):
                self.trying(
                    None, lambda one=one: self.heads.append(("history", *open_head(one, vkey, "checkpoint")))
                )

    # 3
    def braid(self) -> None:
        """Take every record in order: envelope, place, time, control chain, signature, links, lattice."""
        control, before = 0, ""
        for stored in self.stored:
            self.leaves.append(leaf_hash(stored.envelope))
            try:
                record = Envelope.parse(stored.envelope)
                record.take_list(stored.links)
            except RefusedError as refused:
                self.find(refused.kind, stored.index, str(refused))
                return  # what follows can't be judged
            m = record.members
            steps: list[tuple[str, bool, str]] = [
                (
                    "id",
                    (record.index, tuple(m["tx"])) == (stored.index, stored.tx),
                    "not its place in the frames",
                ),
                ("id", m["origin"] == self.settings["origin"], "another log's"),
                ("id", (record.kind == "genesis") == (record.index == 0), "genesis is record 0 and no other"),
                ("control", m["control"] == control, "does not name the control record before it"),
                (
                    "time",
                    m["created_at"] == before if m["tx"][1] else m["created_at"] > before,
                    "time is not in order",
                ),
            ]
            for kind, held, what in steps:
                if not held:
                    self.find(kind, stored.index, what)
            if record.index == 0:
                self.trying(0, self.fold.take, record)
                self.trying(0, self._against_genesis, record)
            self.trying(stored.index, self.fold.judge, record)
            for role, index, target in record.links:
                self.trying(stored.index, self._link, record, role, index, target)
            if record.index:
                self.trying(stored.index, self.fold.take, record)
            self.records.append(record)
            if record.op is not None:
                control = record.index
            before = m["created_at"]
            if record.op == "erase":
                self._cascade(record)

    def _against_genesis(self, genesis: Envelope) -> None:
        public = genesis.public
        mine = [public.get("store_id"), genesis.members["origin"], public.get("format")]
        need(
            mine == [self.settings[name] for name in ("store_id", "origin", "format")],
            "settings",
            "not genesis's",
        )

    def _link(self, record: Envelope, role: str, index: int, target: str) -> None:
        there = self.records[index]
        need(there.id == target, "link", f"link to {index} by another id")
        certificate = record.op == "certify"
        need(
            index not in self.fold.erased or certificate, "link", f"link to {index}, which was erased before"
        )
        if record.kind == "tombstone":
            need(role in {"target", "kept"} and there.memory, "link", "a tombstone for what is no memory")
        if role == "parent" and record.kind == there.kind == "experience":
            mine, above = TYPES.index(record.members["type"]), TYPES.index(there.members["type"])
            need(mine >= above, "lattice", f"stands below its parent {index}")

    def _cascade(self, tombstone: Envelope) -> None:
        """Hold an erasure's targets and kept records to 9.2."""
        gone = set(self.fold.erases[tombstone.index])
        lost: set[int] = set()  # to this erasure
        weak: set[int] = set()  # to this one or one before
        for record in self.records[: tombstone.index]:
            derived = [index for role, index, _ in record.links if role in DERIVES]
            dead = [index in self.fold.erased for index in derived]
            if not record.memory or record.index in self.fold.erased or not any(dead):
                continue
            if all(dead) or record.kind in ("embedding", "view"):
                self.find("erasure", record.index, "derives from the erased alone and was not erased")
            weak.add(record.index)
            if gone.intersection(derived):
                lost.add(record.index)
        named = {index for role, index, _ in tombstone.links if role == "kept"}
        if not lost <= named <= weak:  # 9.2 does not say whether those of earlier erasures are named again
            self.find("erasure", tombstone.index, f"kept are {sorted(lost)}, named are {sorted(named)}")

    # 9, 11.1.6
    def check_bodies(self, vault: Vault | None) -> None:
        """Check every body's digest, and open it where its key is at hand."""
        for record, stored in zip(self.records, self.stored, strict=False):
            self.trying(record.index, self._body, record, stored, vault)

    def _body(self, record: Envelope, stored: Stored, vault: Vault | None) -> None:
        digest, size = record.members["body"]
        tomb = self.fold.erased.get(record.index)
        done = tomb in self.fold.certified
        for name, _ in record.members.get("blobs", ()):
            gone = not (self.path / "blobs" / name[:2] / name[2:]).exists()
            need(gone or not done, "erasure", "media of an erased record")
        keys = vault.keys(record.index) if vault else None
        if not any(stored.body):
            need(tomb is not None, "body", "blank without an erasure")
            need(len(stored.body) in {0, size}, "body", "a blank body of another size")
            need(not (done and keys), "erasure", "an erased record's key can still be derived")
            return
        need(not done, "erasure", "an erased body is not blank")
        need(len(stored.body) == size, "body", "another size")
        need(hashlib.sha256(stored.body).digest() == url64(digest, "body"), "body", "another digest")
        if not vault or tomb is not None:
            return
        need(keys, "vault", "key of a living record can't be derived")
        assert keys
        self.row_keys[record.index] = keys[2]
        self.bodies[record.index] = body = unseal(record, stored.body, keys)
        media = body.get("content", {}).get("media", []) if record.kind == "experience" else []
        stated = [[one["blob"], one["size"]] for one in media]
        need(stated == record.members.get("blobs", []), "blob", "body and envelope name other blobs")
        for one in media:
            data = self.read(f"blobs/{one['blob'][:2]}/{one['blob'][2:]}", "blob")
            self.media[one["blob"]] = open_blob(data, one["blob"], one["size"], b64(one["key"], "blob", 32))

    def check_vault(self, vault: Vault) -> None:
        """Hold the vault to the log's and the guard's epoch, and its nodes to what was erased (4.3)."""
        need(
            vault.epoch >= self.fold.certified_epoch, "vault", "older than the log's newest certified erasure"
        )
        need(vault.epoch >= self.guard.get("vault_epoch", 0), "vault", "older than the guard remembers")
        if set(self.fold.certified) == set(self.fold.erases):
            need(set(vault.nodes) == cover(self.fold.erased), "vault", "nodes are not those of the erasures")

    # 5.2, 11.1.8
    def check_heads(self) -> None:
        """Hold every head to the records, and the stored tiles to the published head."""
        for name, size, root in self.heads:
            kind = "guard" if name == "guard" else "checkpoint"
            if size > len(self.leaves):
                self.find(kind, size, f"{name} covers {size} records of {len(self.leaves)}")
            elif tree_root(self.leaves[:size]) != root:
                self.find(kind, size, f"{name} has another root")
        published = next((size for name, size, _ in self.heads if name == "checkpoint"), 0)
        for path, expected in tiles_of(self.leaves[:published]).items():
            if not (self.path / path).is_file() or (self.path / path).read_bytes() != expected:
                self.find("tile", None, f"{path} is missing or other")


def read_store(
    path: Path, *, guard: Path | None = None, vkey: str | None = None, passphrase: str | None = None
) -> dict[str, Any]:
    """Read a whole store and return what it says: facts, and findings as (kind, index, sentence)."""
    look = Reading(path, guard, vkey)
    vault: Vault | None = None
    if look.trying(None, look.read_settings):
        look.trying(None, look.read_guard)
        covered = max((size for _, size, _ in look.heads), default=0)
        look.trying(None, look.read_segments, covered)
        look.trying(None, look.read_index, covered)
        look.braid()
        look.trying(None, look.read_heads, vkey or look.guard.get("vkey") or look.fold.vkey)
        look.check_heads()
        try:
            vault_path = path / look.settings["vault"]
            if vault_path.exists():
                vault = Vault.parse(vault_path.read_bytes(), look.settings["store_id"], passphrase)
        except RefusedError as refused:
            look.find(refused.kind, None, str(refused))
        if vault:
            look.trying(None, look.check_vault, vault)
        look.check_bodies(vault)
    return {
        "origin": look.settings.get("origin"),
        "vkey": look.fold.vkey,
        "records": len(look.records),
        "root": tree_root(look.leaves),
        "head": next(((size, root) for name, size, root in look.heads if name == "checkpoint"), None),
        "ids": [record.id for record in look.records],
        "envelopes": [record.stored for record in look.records],
        "texts": {
            look.records[index].id: body.get("content", {}).get("text", "")
            for index, body in look.bodies.items()
            if look.records[index].kind == "experience" and index not in look.fold.forgotten
        },
        "bodies": look.bodies,
        "links": {record.id: record.links for record in look.records},
        "media": look.media,
        "erased": {look.records[index].id for index in look.fold.erased},
        "forgotten": {look.records[index].id for index in look.fold.forgotten},
        "disputed": sorted(
            record.index
            for record in look.records
            if (key := look.fold.keys.get(record.members["key"]))
            and key.disputed_from is not None
            and record.index >= key.disputed_from
        ),
        "keys": {name: (key.role, key.admitted, key.revoked) for name, key in look.fold.keys.items()},
        "row_keys": look.row_keys,
        "vault": vault,
        "torn": look.torn,
        "findings": look.findings,
        "notes": look.notes,
    }


# ---------------------------------------------------------------------------------------------- projections (10.4)


def pack(value: object) -> bytes:
    """Return a value as MessagePack: shortest forms, floats of 64 bits; a time is its microseconds."""
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, datetime):
        since = value.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
        value = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    if isinstance(value, int):
        return _pack_int(value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        raw = value.encode()
        return _pack_head(len(raw), 0xA0, 32, (0xD9, 0xDA, 0xDB)) + raw
    if isinstance(value, list):
        return _pack_head(len(value), 0x90, 16, (None, 0xDC, 0xDD)) + b"".join(map(pack, value))
    raise TypeError(type(value).__name__)


def _pack_head(n: int, fix: int, below: int, forms: tuple[int | None, int, int]) -> bytes:
    if n < below:
        return bytes([fix | n])
    for form, code in zip(forms, ("B", "H", "I"), strict=True):
        if form is not None and n < 1 << 8 * struct.calcsize(code):
            return bytes([form]) + struct.pack(f">{code}", n)
    raise ValueError("too long")


def _pack_int(value: int) -> bytes:
    if -32 <= value < 128:
        return struct.pack("b", value) if value < 0 else bytes([value])
    first, codes = (0xCC, "BHIQ") if value >= 0 else (0xD0, "bhiq")
    for at, code in enumerate(codes):
        bits = 8 * struct.calcsize(code)
        if (value < 1 << bits) if value >= 0 else (value >= -(1 << (bits - 1))):
            return bytes([first + at]) + struct.pack(f">{code}", value)
    raise ValueError("too large")


def content_digest(
    tables: Sequence[Sequence[Mapping[str, Any]]], row_keys: Mapping[int, bytes], position: int
) -> bytes:
    """Return the digest of a projection's tables, given in the order of docs/schema.md, rows with `log_index`."""
    rows: dict[int, list[tuple[int, int, list[Any]]]] = {}
    for number, table in enumerate(tables):
        for row in table:
            rows.setdefault(row["log_index"], []).append((number, row.get("k") or 0, list(row.values())))
    buckets: list[list[bytes]] = [[] for _ in range(-(-position // 256))]
    for index, found in sorted(rows.items()):
        data = pack([[number, values] for number, _, values in sorted(found, key=lambda one: one[:2])])
        buckets[index // 256].append(blake3(data, key=row_keys.get(index, bytes(32))).digest())
    return tree_root([leaf_hash(tree_root(bucket)) for bucket in buckets])
