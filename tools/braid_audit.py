#!/usr/bin/env python3
"""Audit a Braid log without trusting Braid: one file, which needs Python 3.11 and PyNaCl and no part of Braid.

    python braid_audit.py FOLDER --key VKEY [--guard FILE] [--proof FILE] [--json]

FOLDER is a store or what `braid export --audit` wrote. VKEY is the log's public key as you pinned it, or a file that
holds it. Frames, envelopes, author signatures by the keys in force at each index, control records, links, lattice,
erasures, media, the tree with its tiles, every signed head and, where it is given, the fork guard are checked as
SPEC.md says, whose sections the comments name. Sealed bodies are compared with their digests and never opened.

Exit code: 0 clean, 1 findings, 2 could not look. A finding has a kind of SPEC §11.5 and the index of a record. Bad
data never ends an audit. Everything is held in memory: about five times the size of the log.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import errno
import hashlib
import json
import os
import re
import stat
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeGuard, cast

from nacl import bindings as sodium
from nacl.exceptions import CryptoError

SETTINGS = frozenset(("format", "store_id", "origin", "durability", "durability_record", "vault"))
DURABILITIES = ("always", "interval", "none")
KINDS = {
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
LINK_ROLES = (
    *("parent", "evidence", "applied_to", "support", "candidate", "experience"),
    *("supersedes", "target", "kept"),
)
WORDS = frozenset(("experience", "view", "stance", "affect", "embedding", "event"))
MAY_SIGN = {
    "root": frozenset(("genesis", "key")),
    "operator": frozenset(("tombstone", "event")),
    **dict.fromkeys(("recorder", "user", "agent", "tool"), WORDS),
}
OPS = {
    "genesis": {"genesis"},
    "key": {"admit", "revoke", "log_key", "retire_log_key"},
    "tombstone": {"forget", "recover", "erase"},
    "event": {"clock", "certify"},
}
NO_MEMORIES = frozenset(("genesis", "key", "tombstone"))
MEMBERS = (
    *(
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
    ),
    *("links", "blobs", "public"),
)
OPTIONAL = frozenset(("type", "links", "blobs", "public"))
MAX_INDEX = (1 << 40) - 1
MAX_EXACT = (1 << 53) - 1
DIGITS = "0123456789abcdefghijklmnopqrstuv"
ID = re.compile(r"([a-z]{1,12})_([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)_([0-9a-v]{12})")
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
LINE = re.compile(rb"([^ ]+) (0|[1-9][0-9]{0,18}) ([^ ]+)\n")
EMPTY_ROOT = hashlib.sha256(b"").digest()


class BadDataError(Exception):
    """Bytes that are not what SPEC.md says."""


MOST_BYTES = 2 << 30
"""No file that is read whole has as many: a segment ends at 64 MiB, a transaction at 1 GiB."""


def read_plain(path: Path) -> bytes:
    """Return a file's bytes; OSError for a link, a pipe or a device: somebody else may have made the folder."""
    flags = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
    try:
        descriptor = os.open(path, os.O_RDONLY | flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link; a store holds none", str(path)) from None
        raise
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
        os.close(descriptor)
        raise OSError(errno.EINVAL, f"it is no file of at most {MOST_BYTES} bytes", str(path))
    with os.fdopen(descriptor, "rb") as file:
        return file.read(MOST_BYTES)


class BlindError(Exception):
    """Something that must be looked at could not be: no audit."""


@dataclass
class Finding:
    """What is wrong, and for `count` records from `index` on."""

    kind: str
    message: str
    index: int | None = None
    file: str | None = None
    count: int = 1

    def __str__(self) -> str:
        place = [] if self.index is None else [f"record {self.index}"]
        if self.count > 1 and self.index is not None:
            place = [f"records {self.index} to {self.index + self.count - 1}"]
        return f"{self.kind}: {': '.join([*place, *([self.file] if self.file else []), self.message])}"


# -- BLAKE3: the wheel where there is one, else these lines (github.com/BLAKE3-team/BLAKE3-specs) ----------------------

_IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
_PERMUTE = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
_QUARTERS = (
    *((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)),
    *((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)),
)
_START, _END, _PARENT, _ROOT = 1, 2, 4, 8


def _compress(chain: Sequence[int], block: bytes, counter: int, flags: int) -> list[int]:
    """Return the 8 words of a compressed block."""
    m = list(struct.unpack("<16I", block.ljust(64, b"\0")))
    v = [*chain, *_IV[:4], counter & 0xFFFFFFFF, counter >> 32, len(block), flags]
    for _ in range(7):
        for place, (a, b, c, d) in enumerate(_QUARTERS):
            for word, right, left in ((m[2 * place], 16, 12), (m[2 * place + 1], 8, 7)):
                v[a] = (v[a] + v[b] + word) & 0xFFFFFFFF
                turned = v[d] ^ v[a]
                v[d] = (turned >> right | turned << 32 - right) & 0xFFFFFFFF
                v[c] = (v[c] + v[d]) & 0xFFFFFFFF
                turned = v[b] ^ v[c]
                v[b] = (turned >> left | turned << 32 - left) & 0xFFFFFFFF
        m = [m[place] for place in _PERMUTE]
    return [low ^ high for low, high in zip(v[:8], v[8:], strict=True)]


def _subtree(data: bytes, first: int, root: int) -> list[int]:
    """Return the chaining value over data whose first chunk has the number `first`."""
    if len(data) > 1024:
        left = 1024 << ((len(data) - 1) // 1024).bit_length() - 1
        words = [*_subtree(data[:left], first, 0), *_subtree(data[left:], first + left // 1024, 0)]
        return _compress(_IV, struct.pack("<16I", *words), 0, _PARENT | root)
    chain: Sequence[int] = _IV
    blocks = [data[at : at + 64] for at in range(0, len(data), 64)] or [b""]
    for place, block in enumerate(blocks):
        last = place == len(blocks) - 1
        chain = _compress(chain, block, first, (0 if place else _START) | (_END | root if last else 0))
    return list(chain)


def pure_blake3(data: bytes) -> bytes:
    """Return BLAKE3 of data, 32 bytes, in Python alone: about 100 KB/s."""
    return struct.pack("<8I", *_subtree(data, 0, _ROOT))


def _find_blake3() -> Callable[[bytes], bytes]:
    try:
        from blake3 import blake3 as wheel
    except ImportError:
        return pure_blake3
    return lambda data: wheel(data).digest()


blake3 = _find_blake3()


# -- encodings --------------------------------------------------------------------------------------------------------


def need(held: object, what: str) -> None:
    """Refuse what does not hold."""
    if not held:
        raise BadDataError(what)


def unbase64(text: str, size: int | None = None) -> bytes:
    """Return canonical base64 (RFC 4648 §4), decoded."""
    try:
        raw = base64.b64decode(text.encode("ascii"), validate=True)
    except (ValueError, binascii.Error):
        raise BadDataError("not base64") from None
    need(base64.b64encode(raw).decode() == text, "base64 that is not canonical")
    need(size is None or len(raw) == size, f"{len(raw)} bytes where {size} belong")
    return raw


def url_text(digest: bytes) -> str:
    """Return 32 bytes as envelopes write them: base64url without padding (§3.2)."""
    return base64.urlsafe_b64encode(digest).decode()[:43]


def read_json(data: bytes) -> dict[str, Any]:
    """Return a JSON object; refuse repeated members at any depth, NaN, and text that is no Unicode."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len(dict(pairs)) == len(pairs), "a member is repeated")
        return dict(pairs)

    def never(name: str) -> None:
        raise BadDataError(f"{name} is no number of JSON")

    try:
        value = json.loads(data.decode(), object_pairs_hook=members, parse_constant=never)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise BadDataError("not JSON") from None
    if not is_object(value):
        raise BadDataError("not an object of JSON")
    return value


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Say whether a JSON value is a list."""
    return isinstance(value, list)


def is_pair(value: object) -> bool:
    """Say whether a JSON value is a pair of text and number."""
    return is_list(value) and [type(one) for one in value] == [str, int]


def is_link(value: object) -> bool:
    """Say whether a JSON value has the shape of a link."""
    return is_list(value) and [type(one) for one in value] == [str, int, str]


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Say whether a JSON value is an object."""
    return isinstance(value, dict)


def is_number(value: object, below: int = 1 << 62) -> bool:
    """Say whether a JSON value is a whole number of 0 or more."""
    return type(value) is int and 0 <= value < below


def runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield (first, count) of each run of consecutive numbers, which ascend."""
    first, count = 0, 0
    for number in numbers:
        if count and number != first + count:
            yield first, count
            count = 0
        first, count = (first, count + 1) if count else (number, 1)
    if count:
        yield first, count


# -- the tree (§5) ----------------------------------------------------------------------------------------------------


def leaf_hash(data: bytes) -> bytes:
    """Return RFC 6962's hash of a leaf."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return RFC 6962's hash of a node."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_of(leaves: Sequence[bytes]) -> bytes:
    """Return the RFC 6962 root over leaf hashes: the last of an odd row goes up as it is."""
    row = list(leaves)
    while len(row) > 1:
        odd = [row[-1]] if len(row) % 2 else []
        row = [node_hash(left, right) for left, right in zip(row[::2], row[1::2], strict=False)] + odd
    return row[0] if row else EMPTY_ROOT


def inclusion_holds(index: int, size: int, leaf: bytes, path: Sequence[bytes], root: bytes) -> bool:
    """Say whether a path leads from a leaf to the root (RFC 9162 §2.1.3.2)."""
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


def tile_path(level: int, n: int, width: int) -> str:
    """Return the place of a tile; a full one has 256 hashes (C2SP tlog-tiles)."""
    groups = [f"{n % 1000:03d}"]
    while n := n // 1000:
        groups.insert(0, f"x{n % 1000:03d}")
    return f"tile/{level}/{'/'.join(groups)}" + (f".p/{width}" if width < 256 else "")


# -- keys and signed notes (§3.4, §5.3) -------------------------------------------------------------------------------


def check_key(public: bytes) -> bytes:
    """Return a public key that is canonical, of the main subgroup and not of small order."""
    need(len(public) == 32 and sodium.crypto_core_ed25519_is_valid_point(public), "not a sound public key")
    return public


def signed_by(public: bytes, message: bytes, signature: bytes) -> bool:
    """Say whether an ed25519 signature holds."""
    try:
        sodium.crypto_sign_open(signature + message, public)
    except (CryptoError, ValueError):
        return False
    return len(signature) == 64


def author_id(public: bytes) -> str:
    """Return an author key's id."""
    return "k_" + base64.b32encode(hashlib.sha256(public).digest()).decode().lower()[:20]


@dataclass(frozen=True)
class LogKey:
    """A key that signs heads: its C2SP verifier key, taken apart."""

    name: str
    id: bytes
    public: bytes

    @classmethod
    def parse(cls, vkey: str) -> LogKey:
        """Read `<name>+<hex id>+<base64>`."""
        name, _, rest = vkey.partition("+")
        hex_id, _, text = rest.partition("+")
        need(re.fullmatch(r"[^\s+]+", name) and re.fullmatch("[0-9a-f]{8}", hex_id), "not a verifier key")
        raw = unbase64(text, 33)
        need(raw[0] == 1, "not an ed25519 verifier key")
        need(
            hashlib.sha256(name.encode() + b"\n" + raw).digest()[:4].hex() == hex_id,
            "its id is not its key's",
        )
        return cls(name, bytes.fromhex(hex_id), check_key(raw[1:]))

    def __str__(self) -> str:
        text = base64.b64encode(b"\x01" + self.public).decode()
        return f"{self.name}+{self.id.hex()}+{text}"


@dataclass(frozen=True)
class SignedHead:
    """A checkpoint, and which log keys signed it."""

    size: int
    root: bytes
    signers: frozenset[str]


def read_note(note: bytes) -> tuple[str, list[tuple[str, bytes, bytes]]]:
    """Return a note's text and its signatures (name, key id, signature), none of them verified."""
    try:
        text, gap, block = note.decode().rpartition("\n\n")
    except UnicodeDecodeError:
        raise BadDataError("the note is not UTF-8") from None
    need(not re.search(r"[\x00-\x09\x0b-\x1f]", f"{text}{block}"), "the note has a control character")
    need(gap and block.endswith("\n"), "the note does not end in signature lines")
    signatures: list[tuple[str, bytes, bytes]] = []
    for line in block[:-1].split("\n"):
        match = re.fullmatch(r"— ([^\s+]+) ([A-Za-z0-9+/=]+)", line)
        need(match, "not a signature line")
        raw = unbase64(match[2] if match else "")
        need(len(raw) > 4, "a signature line without a signature")
        signatures.append((match[1] if match else "", raw[:4], raw[4:]))
    need(len({one[:2] for one in signatures}) == len(signatures), "two signatures by one key")
    return text + "\n", signatures


def read_head(text: str, origin: str) -> tuple[int, bytes]:
    """Return (size, root) of a checkpoint's text."""
    lines = text.split("\n")
    need(len(lines) >= 4 and not lines[-1] and all(lines[:-1]), "not a checkpoint")
    need(re.fullmatch(r"0|[1-9][0-9]{0,17}", lines[1]), "not the size of a tree")
    size, root = int(lines[1]), unbase64(lines[2], 32)
    need(size or root == EMPTY_ROOT, "a checkpoint of nothing with a root of something")
    need(lines[0] == origin, f"a checkpoint of {lines[0]!r}, not of {origin!r}")
    return size, root


def open_head(note: bytes, keys: Iterable[LogKey], origin: str) -> SignedHead:
    """Return a head that a key of `keys` signed; a wrong signature under one of their names and ids is refused."""
    known = {(key.name, key.id): key for key in keys}
    text, signatures = read_note(note)
    held: set[str] = set()
    for name, id_, signature in signatures:
        if key := known.get((name, id_)):
            need(signed_by(key.public, text.encode(), signature), "the log key's signature does not hold")
            held.add(str(key))
    need(held, "the log's key has not signed it")
    return SignedHead(*read_head(text, origin), frozenset(held))


# -- envelopes (§3) ---------------------------------------------------------------------------------------------------

_HEAD = b'{"payload":"'
_MIDDLE = b'","payloadType":"application/vnd.braid.record+json","signatures":[{"sig":"'
_TAIL = b'"}]}'


@dataclass
class Link:
    """A reference to an earlier record."""

    role: str
    index: int
    id: str

    def problem(self, index: int) -> str | None:
        """Return what is wrong with it as a link of the record at `index`."""
        match = ID.fullmatch(self.id)
        return (
            (self.role not in LINK_ROLES and f"a link has the unknown role {self.role!r}")
            or (not 0 <= self.index < index and "a link points forward")
            or (not match and "a link names no record")
            or (match and int(match[3][:8], 32) != self.index and "a link's id names another index")
            or None
        )


@dataclass
class Envelope:
    """A record's envelope, taken apart (§3.2)."""

    payload: bytes
    signature: bytes
    origin: str
    index: int
    id: str
    kind: str
    type: str
    created_at: str
    tx: tuple[int, int, int]
    control: int
    key: str
    body: tuple[str, int]
    links: list[Link]
    listed: dict[str, Any] | None
    blobs: list[tuple[str, int]]
    public: dict[str, Any]

    @classmethod
    def parse(cls, stored: bytes) -> Envelope:
        """Cut the payload out of the template (§3.1) and read its members, which stand once and in order."""
        cut = len(stored) - len(_MIDDLE) - 88 - len(_TAIL)
        fits = stored.startswith(_HEAD) and stored.startswith(_MIDDLE, cut) and stored.endswith(_TAIL)
        need(len(stored) <= 65_535 and cut >= len(_HEAD) and fits, "not of the signed template")
        payload = unbase64(stored[len(_HEAD) : cut].decode("latin-1"))
        signature = unbase64(stored[-88 - len(_TAIL) : -len(_TAIL)].decode("latin-1"), 64)
        m = read_json(payload)
        expected = [name for name in MEMBERS if name in m or name not in OPTIONAL]
        need(list(m)[: len(expected)] == expected, "its members are not a record's, or not in order")
        need(type(m["braid"]) is int and m["braid"] == 1, "not a record of format 1")
        texts = ("origin", "id", "kind", "created_at", "key", "commit")
        need(all(isinstance(m[name], str) for name in texts), "a member is not text")
        need(all(type(m[name]) is int for name in ("index", "control")), "a member is not a number")
        tx, body = m["tx"], m["body"]
        need(is_list(tx) and [type(one) for one in tx] == [int] * 3, "not a place")
        need(is_pair(body), "body is not digest and size")
        links: Any = m.get("links", [])
        blobs: Any = m.get("blobs", [])
        public: Any = m.get("public", {})
        listed: dict[str, Any] | None = None
        if is_object(links):
            listed = links
            head: list[object] = [listed.get(name) for name in ("count", "root", "bytes")]
            need([type(one) for one in head] == [int, str, int], "not the head of a list of links")
            links = []
        need(is_list(links) and all(map(is_link, links)), "not a list of links")
        need(is_list(blobs) and all(map(is_pair, blobs)), "not a list of blobs")
        need(is_object(public) and isinstance(m.get("type", ""), str), "a member of another type")
        return cls(
            payload=payload,
            signature=signature,
            origin=m["origin"],
            index=m["index"],
            id=m["id"],
            kind=m["kind"],
            created_at=m["created_at"],
            control=m["control"],
            key=m["key"],
            type=m.get("type", ""),
            tx=(tx[0], tx[1], tx[2]),
            body=(body[0], body[1]),
            links=[Link(role, index, id_) for role, index, id_ in links],
            listed=listed,
            blobs=[(name, size) for name, size in blobs],
            public=public,
        )

    @property
    def op(self) -> Any:
        """What a control record does; None for any other record."""
        return self.public.get("op")

    @property
    def is_control(self) -> bool:
        """Whether it is a control record (§3.5)."""
        return "op" in self.public

    def signed(self, public: bytes) -> bool:
        """Say whether the author's signature holds (DSSE v1)."""
        kind = b"application/vnd.braid.record+json"
        return signed_by(
            public, b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(self.payload), self.payload), self.signature
        )

    def numbers(self) -> list[int]:
        """Return the numbers that nothing else bounds: each must be one for readers of doubles too (§3.2)."""
        listed = self.listed["bytes"] if self.listed is not None else 0
        return [*self.tx, self.control, self.body[1], listed, *(size for _, size in self.blobs)]

    def problem(self, origin: str) -> tuple[str, str] | None:
        """Return (kind of finding, sentence) where the envelope contradicts itself (§1.2, §3.2, §3.6)."""
        parts = ID.fullmatch(self.id)
        tx, place, count = self.tx
        what = (
            (self.origin != origin and f"it belongs to {self.origin!r}")
            or (not 0 <= self.index <= MAX_INDEX and "its index is out of range")
            or (not parts and "its id is none")
            or (parts and int(parts[3][:8], 32) != self.index and "its id names another index")
            or (parts and parts[1] != KINDS.get(self.kind, self.kind) and "its id names another kind")
            or (not TIME.fullmatch(self.created_at) and "its time is malformed")
            or (parts and parts[2][:-1] != self.created_at[:19] and "its id names another time")
            or (not (0 <= place < count and tx >= 0) and "its place in the transaction is impossible")
            or (self.control > max(self.index - 1, 0) and "its control record comes later")
            or (max(map(abs, self.numbers())) > MAX_EXACT and f"it has a number beyond {MAX_EXACT}")
        )
        if what:
            return "id", what
        if self.listed is not None:
            fits = 256 < self.listed["count"] <= 10**6
            return None if fits else ("link", "its list of links has an impossible length")
        if len(self.links) > 256:
            return "link", "it holds too many links inline"
        wrong = next((problem for link in self.links if (problem := link.problem(self.index))), None)
        return ("link", wrong) if wrong else None


def read_list(data: bytes, head: Mapping[str, Any], index: int) -> list[Link]:
    """Return the links of a list that is the signed one (§3.6)."""
    links: list[Link] = []
    lines = data.splitlines(keepends=True)
    for line in lines:
        match = LINE.fullmatch(line)
        need(match, "its list of links has a malformed line")
        if match:
            links.append(Link(match[1].decode("latin-1"), int(match[2]), match[3].decode("latin-1")))
    root = url_text(root_of([leaf_hash(line) for line in lines]))
    signed = (len(links), len(data), root) == (head["count"], head["bytes"], head["root"])
    need(signed, "its list of links is not the one that was signed")
    for link in links:
        if problem := link.problem(index):
            raise BadDataError(problem)
    return links


# -- segments and frames (§2) -----------------------------------------------------------------------------------------


Part = tuple[bytes, bytes, bytes, int, int]
"""A record in its frame: envelope, list of links, sealed body, and the offsets of the first and the last."""


@dataclass
class Frame:
    """A frame whose header's check holds and whose table adds up; `whole` when its content's check holds too."""

    at: int
    end: int
    count: int
    first: int
    tx: int
    group: int
    whole: bool
    records: list[Part] = field(default_factory=list[Part])


@dataclass
class Gap:
    """Bytes that are no frame, up to where one begins again."""

    at: int
    end: int
    reason: str


@dataclass
class Segment:
    """A segment: what its header says, and what stands in it."""

    name: str
    first: int
    data: bytes
    seen: list[Frame | Gap] = field(default_factory=list[Frame | Gap])


def read_header(data: bytes, at: int) -> tuple[int, int, int, int, int, int] | str:
    """Return (count, first, tx, group, head length, body length) of a frame's header, or what is wrong."""
    if len(data) - at < 96:
        return "the frame header is incomplete"
    if data[at : at + 4] != b"BRF1":
        return "no frame begins here"
    if blake3(data[at : at + 48])[:16] != data[at + 48 : at + 64]:
        return "the frame header's check does not hold"
    count, first, tx, group, head, body = struct.unpack_from("<IQQQQQ", data, at + 4)
    if not (0 < count <= 1 << 20 and 12 * count <= head and head + body <= 1 << 30):
        return "the frame header states impossible sizes"
    if at + 96 + head + body > len(data):
        return "the frame is longer than the file"
    return count, first, tx, group, head, body


def read_frame(data: bytes, at: int) -> Frame | Gap:
    """Return the frame at an offset, or what is wrong there and where the next header stands."""
    header = read_header(data, at)
    if isinstance(header, str):
        found = data.find(b"BRF1", at + 1)
        while found >= 0 and isinstance(read_header(data, found), str):
            found = data.find(b"BRF1", found + 1)
        return Gap(at, found if found >= 0 else len(data), header)
    count, first, tx, group, head, body = header
    end = at + 96 + head + body
    table = list(struct.iter_unpack("<III", data[at + 96 : at + 96 + 12 * count]))
    heads = 12 * count + sum(e + m for e, m, _ in table)
    if (heads, sum(b for _, _, b in table)) != (head, body):
        return Gap(at, end, "the frame's table does not add up")
    content = blake3(data[at : at + 64] + data[at + 96 : at + 96 + head])
    frame = Frame(at, end, count, first, tx, group, content == data[at + 64 : at + 96])
    place, sealed = at + 96 + 12 * count, at + 96 + head
    for e, m, b in table:
        parts = data[place : place + e], data[place + e : place + e + m], data[sealed : sealed + b]
        frame.records.append((*parts, place, sealed))
        place, sealed = place + e + m, sealed + b
    return frame


def bodies_hold(frame: Frame) -> bool:
    """Say whether every body of a frame has its digest; in a tail none was erased (§2.3)."""
    try:
        return all(
            Envelope.parse(stored).body[0] == url_text(hashlib.sha256(body).digest())
            for stored, _, body, _, _ in frame.records
        )
    except BadDataError:
        return False


def torn_at(segment: Segment, covered: int) -> int | None:
    """Return where a torn tail begins in the last segment (§2.3): behind what heads cover, before no later write."""
    torn: int | None = None
    first = segment.first
    for seen in segment.seen:
        if torn is not None:
            if isinstance(seen, Frame) and seen.group > torn:
                return None
        elif first >= covered and (isinstance(seen, Gap) or not (seen.whole and bodies_hold(seen))):
            torn = seen.at
        elif isinstance(seen, Gap):
            return None
        else:
            first = seen.first + seen.count
    return torn


# -- control records (§3.5) -------------------------------------------------------------------------------------------


@dataclass
class AuthorKey:
    """An author key's life, in log indexes."""

    public: bytes
    role: str
    admitted: int
    revoked: int | None = None
    disputed: int | None = None


@dataclass
class Control:
    """What the control records come to."""

    origin: str = ""
    keys: dict[str, AuthorKey] = field(default_factory=dict[str, AuthorKey])
    log_keys: dict[str, list[int | None]] = field(default_factory=dict[str, list[int | None]])
    """Verifier key → the index from which on it signs heads, and the one behind which it no longer does."""
    genesis: Envelope | None = None
    erased: dict[int, int] = field(default_factory=dict[int, int])
    epochs: dict[int, int] = field(default_factory=dict[int, int])
    certified: dict[int, int] = field(default_factory=dict[int, int])

    def refusal(self, record: Envelope, index: int) -> tuple[str, str] | None:
        """Return (kind of finding, sentence) where the key may not sign the record at its index (§3.4)."""
        key = self.keys.get(record.key)
        if key is None:
            return "signature", f"key {record.key} was never admitted to this log"
        if index < key.admitted:
            return "signature", f"key {record.key} was admitted only at {key.admitted}"
        if key.revoked is not None and index > key.revoked:
            return "signature", f"key {record.key} was revoked at {key.revoked}"
        if record.kind in KINDS:
            operates = not record.is_control or key.role in {"root", "operator"}
            if record.kind not in MAY_SIGN[key.role] or not operates:
                return "key-role", f"a key of role {key.role} may not sign this {record.kind}"
        return None

    def take(self, record: Envelope, links: Sequence[Link]) -> None:
        """Fold a control record in; raise BadDataError for an unlawful one."""
        op = record.op
        lawful = isinstance(op, str) and op in OPS.get(record.kind, ())
        need(lawful, f"a {record.kind} has no operation {op!r}")
        try:
            getattr(self, f"_{op}")(record, record.public, links)
        except (KeyError, TypeError, ValueError, OverflowError):
            raise BadDataError("its public part is malformed") from None

    def _genesis(self, record: Envelope, public: Mapping[str, Any], _: Sequence[Link]) -> None:
        need(record.index == 0 and not self.keys, "genesis stands at index 0 alone")
        log_key, roots = (
            LogKey.parse(public["log_vkey"]),
            [unbase64(text, 32) for text in public["root_keys"]],
        )
        need(log_key.public not in roots, "the log's key is a root key")
        self.origin, self.genesis = record.origin, record
        self.log_keys[str(log_key)] = [0, None]
        int(public["retention_days"])
        for key in map(check_key, roots):
            self.keys[author_id(key)] = AuthorKey(key, "root", 0)

    def _admit(self, record: Envelope, public: Mapping[str, Any], _: Sequence[Link]) -> None:
        key, id_, role = check_key(unbase64(public["key"], 32)), public["id"], public["role"]
        lawful = author_id(key) == id_ and id_ not in self.keys and role in MAY_SIGN and role != "root"
        need(lawful, "the admission is not lawful: id, role or repetition")
        need(all(LogKey.parse(one).public != key for one in self.log_keys), "the author's key is the log's")
        said = f"braid/key-possession/v1\n{self.origin}\n{id_}\n{role}\n".encode()
        need(signed_by(key, said, unbase64(public["proof"], 64)), "the proof of possession does not hold")
        self.keys[id_] = AuthorKey(key, role, record.index)

    def _revoke(self, record: Envelope, public: Mapping[str, Any], _: Sequence[Link]) -> None:
        key, since = self.keys[public["id"]], public.get("compromised_since")
        key.revoked = record.index if key.revoked is None else key.revoked
        if since is not None:
            key.disputed = int(since) if key.disputed is None else min(int(since), key.disputed)

    def _log_key(self, record: Envelope, public: Mapping[str, Any], _: Sequence[Link]) -> None:
        key = LogKey.parse(public["vkey"])
        need(
            key.name == self.origin and str(key) not in self.log_keys,
            "the log key is another log's, or known",
        )
        need(all(one.public != key.public for one in self.keys.values()), "the log key is an author's")
        self.log_keys[str(key)] = [record.index, None]

    def _retire_log_key(self, record: Envelope, public: Mapping[str, Any], _: Sequence[Link]) -> None:
        life = self.log_keys[str(public["vkey"])]
        others = [one for one in self.log_keys.values() if one is not life and one[1] is None]
        need(life[1] is None and others, "the log key is retired already, or the only one")
        life[1] = record.index

    def signing(self, size: int) -> set[str]:
        """Return the log keys that must sign a head of this size."""
        return {
            vkey
            for vkey, (since, until) in self.log_keys.items()
            if (since or 0) < size and (until is None or size <= until)
        }

    def _forget(self, _: Envelope, __: Mapping[str, Any], ___: Sequence[Link]) -> None:
        """Hide; an audit shows nothing."""

    _recover = _forget
    _clock = _forget

    def _erase(self, record: Envelope, public: Mapping[str, Any], links: Sequence[Link]) -> None:
        self.epochs[record.index] = int(public["epoch"])
        for link in links:
            if link.role == "target":
                self.erased.setdefault(link.index, record.index)

    def _certify(self, record: Envelope, public: Mapping[str, Any], _: Sequence[Link]) -> None:
        need(int(public["erase"]) in self.epochs, "the certificate names no erasure")
        self.certified.setdefault(int(public["erase"]), record.index)


# -- the audit (§11) --------------------------------------------------------------------------------------------------


@dataclass
class Report:
    """The verdict; `findings` in the order of their records, those of no record first."""

    folder: str
    findings: list[Finding]
    notes: list[str]
    could_not_look: list[str]
    records: int = 0
    size: int = 0
    root: str = ""
    origin: str = ""
    vkeys: list[str] = field(default_factory=list[str])

    @property
    def exit_code(self) -> int:
        """0 clean, 1 findings, 2 could not look."""
        return 1 if self.findings else 2 if self.could_not_look else 0


class Audit:
    """One look at a folder. Steps follow SPEC §11.1."""

    def __init__(self, folder: Path, vkey: str | None, guard: Path | None) -> None:
        self.folder, self.pinned, self.guard_path = folder, vkey, guard
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self.settings: dict[str, Any] = {}
        self.segments: list[Segment] = []
        self.guard: dict[str, Any] | None = None
        self.heads: list[tuple[str, SignedHead]] = []
        """Published head, guard's, and history's, by the file's name."""
        self.leaves: list[bytes] = []
        self.records: dict[int, Envelope] = {}
        self.links: dict[int, list[Link]] = {}
        self.bodies: dict[int, str] = {}
        self.places: dict[int, tuple[str, bytes]] = {}
        self.unread: set[int] = set()
        self.public: dict[str, bytes] = {}
        self.candidates: dict[str, LogKey] = {}
        self.control = Control()
        self.controls: list[int] = []
        self.end = 0

    def find(
        self, kind: str, message: str, index: int | None = None, *, file: str | None = None, count: int = 1
    ) -> None:
        """Add a finding."""
        self.findings.append(Finding(kind, message, index, file, count))

    def read(self, name: str) -> bytes | None:
        """Return a file's bytes, None where there is none; raise BlindError where it can't be read."""
        try:
            return read_plain(self.folder / name)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise BlindError(f"{name}: {error.strerror}") from None

    def run(self) -> Report:
        """Do all steps."""
        blind: list[str] = []
        try:
            self.read_settings()
            self.read_segments()
            self.gather_keys()
            self.read_heads()
            self.cut_tail()
            self.read_records()
            self.judge_order()
            self.judge_tree()
            self.judge_heads()
            self.judge_erasures()
            self.judge_blobs()
            self.judge_vault()
        except BlindError as error:
            blind.append(str(error))
        self.findings.sort(key=lambda finding: -1 if finding.index is None else finding.index)
        return Report(
            str(self.folder),
            self.findings,
            self.notes,
            blind,
            len(self.records),
            self.end,
            root_of(self.leaves[: self.end]).hex() if self.end else "",
            str(self.settings.get("origin", "")),
            list(self.control.log_keys),
        )

    # 1. settings -------------------------------------------------------------------------------------------------

    def read_settings(self) -> None:
        """Read `store.json` (§1.1)."""
        data = self.read("store.json")
        if data is None:
            raise BlindError("there is no store.json: this is neither a store nor an auditor's copy")
        try:
            self.settings = read_json(data)
        except BadDataError as error:
            raise BlindError(f"store.json is damaged: {error}") from None
        names = ("store_id", "origin", "vault", "durability", "durability_record")
        if self.settings.get("format") != 1 or not all(
            isinstance(self.settings.get(n, ""), str) for n in names
        ):
            raise BlindError("store.json is not of format 1")
        if not self.settings.get("store_id") or not self.settings.get("origin"):
            raise BlindError("store.json names no store")
        if unknown := sorted(self.settings.keys() - SETTINGS):
            raise BlindError(f"store.json is damaged: it has an unknown member {unknown[0]!r}")
        if self.settings.get("durability", "always") not in DURABILITIES:
            raise BlindError("store.json is damaged: it names no durability of this format")

    # 3. segments -------------------------------------------------------------------------------------------------

    def read_segments(self) -> None:
        """Read each segment's header and what stands behind it (§2.1)."""
        paths = sorted((self.folder / "log").glob("*.seg"))
        for path in paths:
            data = self.read(f"log/{path.name}") or b""
            if path == paths[-1] and len(paths) > 1 and len(data) < 64:
                self.notes.append(f"log/{path.name} was being made: it holds nothing")
                break
            named = int(path.stem) if re.fullmatch("[0-9]{12}", path.stem) else None
            first = self.segment_first(data, path.name, named)
            if first is not None:
                self.segments.append(Segment(path.name, first, data))
        for segment in self.segments:
            at = 64
            while at < len(segment.data):
                seen = read_frame(segment.data, at)
                segment.seen.append(seen)
                at = seen.end

    def segment_first(self, data: bytes, name: str, named: int | None) -> int | None:
        """Return a segment's first index: its name's, or its header's where the name is none."""
        file = f"log/{name}"
        if len(data) < 64 or blake3(data[:48])[:16] != data[48:64]:
            self.find("segment", "the segment's header is not whole", file=file)
            return named
        magic, version, zero, zeros, first = struct.unpack_from("<8sHHIQ", data)
        if (magic, version, zero, zeros, any(data[40:48])) != (b"BRAIDSEG", 1, 0, 0, False):
            self.find("segment", "this is not a segment of format 1", file=file)
            return named
        if data[24:40] != self.settings["store_id"].encode():
            self.find("segment", "the segment belongs to another store", file=file)
            return named
        if first != named:
            self.find("segment", f"the header says that its first record is {first}", file=file)
        return int(first) if named is None else named

    def gather_keys(self) -> None:
        """Gather the public keys that control records name. Nothing is believed: ids are hashes of keys."""
        for segment in self.segments:
            for seen in segment.seen:
                for stored, *_ in seen.records if isinstance(seen, Frame) else ():
                    self._gather(stored)

    def _gather(self, stored: bytes) -> None:
        try:
            record = Envelope.parse(stored)
        except BadDataError:
            return
        public = record.public
        keys = public.get("root_keys", []) if record.op == "genesis" else [public.get("key")]
        for text in keys if is_list(keys) else []:
            try:
                key = check_key(unbase64(text, 32))
            except (BadDataError, AttributeError):
                continue
            self.public[author_id(key)] = key
        for text in (public.get("log_vkey"), public.get("vkey")):
            try:
                self.candidates[str(text)] = LogKey.parse(str(text))
            except BadDataError:
                continue

    # 2. signed heads ---------------------------------------------------------------------------------------------

    def read_heads(self) -> None:
        """Open guard, published head and history. Keys are the pinned one and those that the log itself names."""
        origin = self.settings["origin"]
        if self.guard_path is not None:
            self._read_guard(self.guard_path)
        if not self.name_keys():
            return
        keys = list(self.candidates.values())
        note = self.read("checkpoint")
        if note is None:
            self.find("checkpoint", "the published head is missing", file="checkpoint")
        else:
            try:
                self.heads.append(("checkpoint", open_head(note, keys, origin)))
            except BadDataError as error:
                self.find("checkpoint", str(error), file="checkpoint")
        history = self.read("checkpoints")
        if history is None:
            self.notes.append("there is no history of heads")
        for one, last in _notes(history or b""):
            try:
                self.heads.append(("checkpoints", open_head(one, keys, origin)))
            except BadDataError as error:
                if last:
                    self.notes.append("the history of heads ends in an unfinished entry")
                else:
                    self.find("checkpoint", str(error), file="checkpoints")

    def name_keys(self) -> bool:
        """Add the pinned key and the guard's to those that the log names; False when one of them is no key."""
        if self.pinned is None:
            self.notes.append("no key was pinned: the log's key is believed because genesis names it")
        named = self.guard.get("vkey") if self.guard else None
        for text in (self.pinned, named):
            try:
                if text is not None:
                    self.candidates[text] = LogKey.parse(text)
            except BadDataError as error:
                self.find("checkpoint", f"there is no key to check heads with: {error}")
                return False
        return True

    def _read_guard(self, path: Path) -> None:
        """Read the fork guard (§6)."""
        try:
            data = path.read_bytes()
        except OSError:
            self.notes.append(f"there is no guard at {path}")
            return
        text, _, check = data.rpartition(b"\nblake3 ")
        try:
            need(check == blake3(text).hex().encode() + b"\n", "the guard is damaged")
            guard = read_json(text)
            texts = ("origin", "vkey", "root", "checkpoint")
            need(
                all(isinstance(guard.get(name), str) for name in texts), "the guard is not one of this format"
            )
            need(
                is_number(guard.get("size")) and is_number(guard.get("vault_epoch")),
                "the guard lacks a number",
            )
            more = guard.get("log_keys", [])
            need(
                is_list(more) and all(isinstance(one, str) for one in more),
                "the guard's log keys are no texts",
            )
        except BadDataError as error:
            self.find("guard", str(error), file=str(path))
            return
        self.guard = guard
        if guard["origin"] != self.settings["origin"]:
            self.find("guard", f"the guard is of {guard['origin']!r}", file=str(path))
        try:
            keys = [LogKey.parse(guard["vkey"]), *self.candidates.values()]
            head = open_head(guard["checkpoint"].encode(), keys, guard["origin"])
            need(
                (head.size, head.root.hex()) == (guard["size"], guard["root"]),
                "the guard contradicts its note",
            )
        except BadDataError as error:
            self.find("guard", str(error), file=str(path))
            return
        self.heads.append(("guard", head))

    @property
    def published(self) -> int:
        """Records that the published head covers."""
        return next((head.size for name, head in self.heads if name == "checkpoint"), 0)

    def cut_tail(self) -> None:
        """Leave out a torn tail; say what segments are missing."""
        if not self.segments:
            self.find("segment", "the log has no segment that can be read", file="log")
            return
        if self.segments[0].first != 0:
            self.find("segment", "the log's first segment is missing", 0)
        covered = max((head.size for name, head in self.heads if name != "checkpoints"), default=0)
        last = self.segments[-1]
        if (torn := torn_at(last, covered)) is not None:
            if any(last.data[torn:]):  # else room that a writer kept (§2.6)
                self.notes.append(f"{len(last.data) - torn} bytes of an unfinished transaction end the log")
            last.seen = [seen for seen in last.seen if seen.at < torn]

    # 4. every record ---------------------------------------------------------------------------------------------

    def read_records(self) -> None:
        """Take the frames in order: what goes back is passed over, what is missing is named."""
        tx, time = -1, ""
        stored: dict[int, bytes] = {}
        total = sum(len(segment.data) for segment in self.segments)
        for segment in self.segments:
            for seen in segment.seen:
                file = f"log/{segment.name}"
                if isinstance(seen, Gap):
                    self.find("frame", f"{seen.reason}; {seen.end - seen.at} bytes passed over", file=file)
                    continue
                if not seen.whole:
                    reason = "the checksum over the frame's envelopes does not hold"
                    self.find("frame", reason, seen.first, file=file, count=seen.count)
                if seen.first < self.end or seen.first - self.end > total:
                    reason = f"the frame begins with record {seen.first}, {self.end} was due"
                    self.find("frame", reason, seen.first, file=file, count=seen.count)
                    continue
                if seen.first > self.end:
                    missing = seen.first - self.end
                    self.find("frame", "records are missing", self.end, file=file, count=missing)
                    self.stand_in(seen.first)
                elif seen.tx != tx + 1:
                    self.find(
                        "frame",
                        f"transaction {seen.tx} follows {tx}",
                        seen.first,
                        file=file,
                        count=seen.count,
                    )
                tx, due = seen.tx, ""
                for place in range(seen.count):
                    index = seen.first + place
                    stored[index] = struct.pack("<QQ", *seen.records[place][3:]) + struct.pack(
                        "<II", len(seen.records[place][0]), len(seen.records[place][2])
                    )
                    self.places[index] = (segment.name, stored[index])
                    time, due = self.read_record(seen, place, time, due)
        self.check_idx()

    def stand_in(self, until: int) -> None:
        """Let the stored leaves stand for records that can't be read, so that all others can be judged (§11.1.7)."""
        for index in range(self.end, until):
            tile = self.stored_tile(0, index >> 8) or b""
            self.leaves.append(tile[32 * (index & 255) :][:32].ljust(32, b"\0"))
            self.unread.add(index)
        self.end = max(self.end, until)

    def read_record(self, frame: Frame, place: int, time: str, due: str) -> tuple[str, str]:
        """Check a record by itself and where it stands; return the time of its transaction, twice."""
        stored, listed, body, *_ = frame.records[place]
        index = frame.first + place
        self.leaves.append(leaf_hash(stored))
        self.end = index + 1
        try:
            record = Envelope.parse(stored)
        except BadDataError as error:
            self.find("envelope", str(error), index)
            if listed:
                self.find("link", "its list of links belongs to no readable record", index)
            return time, due
        self.records[index] = record
        key = self.public.get(record.key)
        if key is not None and not record.signed(key):
            self.find("signature", f"the signature by {record.key} does not hold", index)
        if problem := record.problem(self.settings["origin"]):
            self.find(*problem, index)
        elif record.index != index:
            self.find("id", f"it names index {record.index} and stands at {index}: it was moved", index)
        if record.tx != (frame.tx, place, frame.count):
            self.find(
                "id", f"it is record {record.tx[1]} of transaction {record.tx[0]}, not of this one", index
            )
        if due and record.created_at != due:
            self.find("time", "it has another time than its transaction", index)
        elif not due:
            if time and record.created_at <= time:
                self.find("time", f"its time {record.created_at} is not after {time}", index)
            time = due = record.created_at
        self.read_links(index, record, listed)
        for name, size in record.blobs:
            if not (re.fullmatch("[0-9a-f]{64}", name) and is_number(size)):
                self.find("blob", "its media have no name that media can have", index)
        digest, size = record.body
        if len(body) != size or url_text(hashlib.sha256(body).digest()) != digest:
            blank = "blank" if len(body) == size and not any(body) else "altered"
            self.bodies[index] = blank if body else "absent"
        return time, due

    def read_links(self, index: int, record: Envelope, listed: bytes) -> None:
        """Take a record's links, inline or from the list behind its envelope."""
        links = record.links
        if record.listed is not None:
            try:
                links = read_list(listed, record.listed, index)
            except BadDataError as error:
                self.find("link", str(error), index)
                links = []
        elif listed:
            self.find("link", "a list of links that nothing signed stands behind it", index)
        self.links[index] = [link for link in links if link.problem(index) is None]

    def check_idx(self) -> None:
        """Compare the place indexes with the frames, for records under a head (§2.4)."""
        covered = max((head.size for name, head in self.heads if name != "checkpoints"), default=0)
        for segment in self.segments:
            name = f"{segment.name.removesuffix('.seg')}.idx"
            data = self.read(f"log/{name}") or b""
            wrong = [
                index
                for index, (where, entry) in self.places.items()
                if where == segment.name
                and index < covered
                and data[24 * (index - segment.first) :][:24] != entry
            ]
            for first, count in runs(wrong):
                self.find(
                    "idx",
                    "the place index does not agree with the frames",
                    first,
                    file=f"log/{name}",
                    count=count,
                )

    # 5. the braid ------------------------------------------------------------------------------------------------

    def judge_order(self) -> None:
        """Fold the control records; judge keys, control chain, links and lattice."""
        for index, record in self.records.items():
            if record.is_control:
                self.fold(index, record)
            for link in self.links[index]:
                self.judge_link(index, record, link)
        self.judge_keys()
        self.judge_chain()
        for index, record in self.records.items():
            if record.kind == "experience" and record.type not in TYPES:
                self.find("lattice", "its type is none of the lattice", index)
        self.judge_genesis()

    def fold(self, index: int, record: Envelope) -> None:
        """Take a control record in, if its signature holds and its key may sign it."""
        self.controls.append(index)
        key = self.public.get(record.key)
        if index and (self.control.refusal(record, index) or key is None or not record.signed(key)):
            return  # named with what its key signed
        if record.listed is not None and not self.links[index]:
            return  # named with its list
        try:
            need(record.index == index, "it was moved")
            self.control.take(record, self.links[index])
        except BadDataError as error:
            self.find("control", str(error), index)
            return
        if record.op == "erase":
            for target in sorted({link.index for link in self.links[index] if link.role == "target"}):
                there = self.records.get(target)
                if there and (there.kind in NO_MEMORIES or there.is_control):
                    self.find("erasure", f"it erases record {target}, which is no memory", index)
        elif record.op == "certify" and not is_number(record.public.get("records")):
            self.find("erasure", "the certificate states no count", index)

    def judge_link(self, index: int, record: Envelope, link: Link) -> None:
        """Hold a link to its target (§3.6)."""
        there = self.records.get(link.index)
        if there and there.id != link.id:
            self.find("link", f"a link names another record than the one at {link.index}", index)
        if link.role == "parent" and there and there.kind == record.kind == "experience":
            known = record.type in TYPES and there.type in TYPES
            if known and TYPES.index(record.type) < TYPES.index(there.type):
                self.find("lattice", f"it stands below its parent {link.index}", index)
        by = self.control.erased.get(link.index)
        if by is not None and by < index and record.op != "certify":
            self.find("link", f"it links to record {link.index}, which record {by} had erased", index)

    def judge_keys(self) -> None:
        """Name what keys signed that they might not, by runs of records."""
        refused: dict[tuple[str, str, str, bool], list[int]] = {}
        disputed: dict[str, int] = {}
        for index, record in self.records.items():
            if refusal := self.control.refusal(record, index):
                refused.setdefault((*refusal, record.kind, record.is_control), []).append(index)
            key = self.control.keys.get(record.key)
            if key and key.disputed is not None and index >= key.disputed:
                disputed[record.key] = disputed.get(record.key, 0) + 1
        for (kind, message, *_), indexes in refused.items():
            for first, count in runs(indexes):
                self.find(kind, message, first, count=count)
        self.notes += [f"{count} records by {key} are disputed" for key, count in disputed.items()]

    def judge_chain(self) -> None:
        """Hold each record to the newest control record before it."""
        wrong: dict[tuple[int, int], list[int]] = {}
        newest, left = 0, iter([*self.controls, self.end])
        coming = next(left)
        for index, record in self.records.items():
            while coming < index:
                newest, coming = coming, next(left)
            if record.control != newest:
                wrong.setdefault((record.control, newest), []).append(index)
        for (named, due), indexes in wrong.items():
            for first, count in runs(indexes):
                self.find(
                    "control",
                    f"it names {named} as the newest control record; that is {due}",
                    first,
                    count=count,
                )

    def judge_genesis(self) -> None:
        """Hold settings to the log's own first record, and the pinned key and the guard's to all that it names."""
        self.judge_key()
        genesis = self.control.genesis
        if genesis is None:
            return
        if genesis.origin != self.settings["origin"]:
            self.find(
                "settings",
                f"store.json says origin {self.settings['origin']!r}, genesis {genesis.origin!r}",
                0,
            )
        for name in ("store_id", "format"):
            if genesis.public.get(name) != self.settings[name]:
                self.find("settings", f"store.json and genesis name another {name}", 0, file="store.json")

    # 7. the tree -------------------------------------------------------------------------------------------------

    def stored_tile(self, level: int, n: int) -> bytes | None:
        """Return the tile that the published tree has at a place."""
        width = min((self.published >> 8 * level) - (n << 8), 256)
        return self.read(tile_path(level, n, width)) if width > 0 else None

    def judge_tree(self) -> None:
        """Compare every stored tile with the records; where they differ, what lies above says which is right."""
        end = self.end
        if end < self.published <= end + 10**6:
            self.stand_in(self.published)
            self.end = end
        level, row, read = 0, self.leaves, self.leaves
        while self.published >> 8 * level:
            for n in range(-(-(self.published >> 8 * level) // 256)):
                self.judge_tile(level, n, row)
            read = [root_of(row[at : at + 256]) for at in range(0, len(row) - 255, 256)]
            row, level = read, level + 1

    def judge_tile(self, level: int, n: int, row: list[bytes]) -> None:
        """Compare a tile; `row` is put right where the tree above confirms the tile, not the records."""
        width = min((self.published >> 8 * level) - (n << 8), 256)
        mine, file = row[n << 8 : (n << 8) + width], tile_path(level, n, width)
        stored = self.read(file)
        if not mine or stored == b"".join(mine):
            return
        if stored is None or len(stored) != 32 * width:
            self.find("tile", "the tile is missing, or has another length", file=file)
            return
        if len(mine) < width:
            return  # the log ends before the head: named there
        theirs = [stored[at : at + 32] for at in range(0, len(stored), 32)]
        if self.confirmed(level, n, width, mine, row) or not self.confirmed(level, n, width, theirs, row):
            self.find("tile", "the tile is not that of the records", file=file)
            return
        span = 256**level
        for place, (left, right) in enumerate(zip(mine, theirs, strict=True)):
            index = ((n << 8) + place) * span
            if left != right and index not in self.unread:
                self.find("leaf", "the record is not the one that the tree holds there", index, count=span)
        row[n << 8 : (n << 8) + width] = theirs

    def confirmed(self, level: int, n: int, width: int, tile: list[bytes], row: list[bytes]) -> bool:
        """Say whether the tile above has this tile, or, for one on the right edge, the signed head."""
        if width == 256:
            above = self.stored_tile(level + 1, n >> 8)
            at = 32 * (n & 255)
            if above is not None and len(above) >= at + 32:
                return above[at : at + 32] == root_of(tile)
        if level or (n << 8) + width != self.published:
            return False
        root = next((head.root for name, head in self.heads if name == "checkpoint"), None)
        return root_of([*row[: n << 8], *tile]) == root

    # 8. heads against records ------------------------------------------------------------------------------------

    def judge_heads(self) -> None:
        """Hold every head to the records, and to the log keys in force at its size."""
        roots = {
            size: root_of(self.leaves[:size])
            for size in {head.size for _, head in self.heads}
            if size <= self.end
        }
        order = {"checkpoint": 0, "guard": 1, "checkpoints": 2}
        signed: set[str] = set()
        for name, head in sorted(self.heads, key=lambda one: order[one[0]]):
            kind = "guard" if name == "guard" else "checkpoint"
            file = str(self.guard_path) if name == "guard" else name
            if head.size > self.end:
                self.find(kind, f"the head covers {head.size} records; the log holds {self.end}", file=file)
                continue
            if roots[head.size] != head.root:
                self.find(kind, f"the head of {head.size} records has another root than they give", file=file)
                continue
            if not self.foreign and (due := self.control.signing(head.size) - head.signers):
                self.find(kind, f"the head of {head.size} records lacks a signature by {min(due)}", file=file)
            signed |= head.signers
        if self.pinned is not None and self.pinned in self.control.log_keys and self.pinned not in signed:
            self.find("checkpoint", "no head of this log is signed by the pinned key")

    @property
    def key(self) -> str | None:
        """The key that heads are judged by: the pinned one, else the guard's; None where neither is a key."""
        text = self.guard["vkey"] if self.pinned is None and self.guard else self.pinned
        return text if text in self.candidates else None

    @property
    def foreign(self) -> bool:
        """Whether that key is none of this log's: whose heads these are can't be told."""
        return bool(self.control.log_keys) and self.key is not None and self.key not in self.control.log_keys

    def judge_key(self) -> None:
        """Name a key that the auditor pinned, or that the guard remembers, and the log does not name."""
        guard, named, file = self.guard, self.control.log_keys, str(self.guard_path)
        if guard and named and not {guard["vkey"], *guard.get("log_keys", ())} <= named.keys():
            self.find("guard", "the guard remembers a log key that this log does not name", file=file)
        if self.foreign:
            self.find("checkpoint", f"the log names no key {self.key}", 0)
            if guard and guard["vkey"] != self.key:
                self.find("guard", f"the guard names another log key than {self.key}", file=file)

    # 6. erasures -------------------------------------------------------------------------------------------------

    def judge_erasures(self) -> None:
        """Blank bodies belong to erasures; what an erasure's certificate says is done (§9.2)."""
        control = self.control
        blank: list[int] = []
        for index, state in self.bodies.items():
            by = control.erased.get(index)
            if by is None and state != "altered":
                blank.append(index)
            elif by is None:
                self.find("body", "the sealed body is not what was signed", index)
            elif state == "altered" and by in control.certified:
                self.find("erasure", "its erased body is not blank", index)
        for first, count in runs(blank):
            self.find("body", "the body is blank, and no erasure names it", first, count=count)
        left = [
            index
            for index, by in sorted(control.erased.items())
            if by in control.certified and index not in self.bodies and index in self.records
        ]
        for first, count in runs(left):
            self.find("erasure", "its erasure is certified, but its body is still there", first, count=count)
        targets: dict[int, int] = {}
        for by in control.erased.values():
            targets[by] = targets.get(by, 0) + 1
        for index in self.controls:
            public = self.records[index].public
            erase = public.get("erase") if public.get("op") == "certify" else None
            if erase in control.epochs and public.get("records") != targets.get(erase, 0):
                self.find("erasure", "the certificate has another count than its erasure", index)
        for index in control.epochs:
            if index not in control.certified:
                self.notes.append(f"the erasure of record {index} is not certified yet")

    def judge_blobs(self) -> None:
        """Media of living records are whole, those of the erased are gone."""
        named: dict[str, list[tuple[int, int]]] = {}
        for index, record in self.records.items():
            for name, size in record.blobs:
                if re.fullmatch("[0-9a-f]{64}", name) and is_number(size):
                    named.setdefault(name, []).append((index, size))
        for name, users in sorted(named.items()):
            file = f"blobs/{name[:2]}/{name[2:]}"
            living = [user for user in users if user[0] not in self.control.erased]
            data = self.read(file)
            if living:
                index, size = living[0]
                if data is None:
                    self.find(
                        "blob", "the media file is missing, and no erasure names the record", index, file=file
                    )
                elif len(data) != size or hashlib.sha256(data).hexdigest() != name:
                    self.find("blob", "the media file is not what was sealed", index, file=file)
            elif data is not None and all(
                self.control.erased[one] in self.control.certified for one, _ in users
            ):
                self.find(
                    "erasure",
                    "its erasure is certified, but its media are still there",
                    users[0][0],
                    file=file,
                )

    def judge_vault(self) -> None:
        """Where a vault lies in the folder: its header, its check, its epoch, and that erased keys are gone (§4.3)."""
        path = self.folder / self.settings.get("vault", "vault")
        if not path.resolve().is_relative_to(self.folder.resolve()) or not path.is_file():
            self.notes.append("there is no vault here: whether erased keys are gone was not looked at")
            return
        try:
            epoch, nodes = read_vault(read_plain(path.resolve()), self.settings["store_id"])
        except BadDataError as error:
            self.find("vault", str(error), file=path.name)
            return
        certified = max((self.control.epochs[one] for one in self.control.certified), default=0)
        if epoch < certified:
            self.find(
                "vault", f"it has epoch {epoch}; erasures up to {certified} are certified", file=path.name
            )
        alive = [
            index
            for index, by in sorted(self.control.erased.items())
            if by in self.control.certified and any((1 << 40) + index >> up in nodes for up in range(41))
        ]
        for first, count in runs(alive):
            self.find(
                "erasure", "its erasure is certified, but the vault still holds its key", first, count=count
            )
        if self.guard and epoch < self.guard["vault_epoch"]:
            self.find("vault", "the guard remembers a higher epoch of the vault", file=path.name)


def read_vault(data: bytes, store_id: str) -> tuple[int, set[int]]:
    """Return a vault's epoch and, where it is in the clear, its nodes; never a seed."""
    need(len(data) >= 128 and data[:8] == b"BRAIDVLT" and data[8:10] == b"\x01\0", "not a vault of format 1")
    need(blake3(data[:96] + data[128:]) == data[96:128], "the vault's check does not hold")
    mode, zero, store, epoch, length = struct.unpack_from("<HI16sQQ", data, 10)
    need(mode in {0, 1} and not zero and length == len(data) - 128, "the vault's header contradicts itself")
    need(store == store_id.encode(), "the vault belongs to another store")
    if mode:
        return epoch, set()
    need(len(data) >= 176, "the vault's payload is short")
    depth, zero, count = struct.unpack_from("<IIQ", data, 160)
    need((depth, zero, 48 + 40 * count) == (40, 0, length), "the vault's payload contradicts itself")
    nodes = [node for node, _ in struct.iter_unpack("<Q32s", data[176:])]
    starts = [(node << 41 - node.bit_length()) for node in nodes]
    ends = [(node + 1 << 41 - node.bit_length()) for node in nodes]
    need(all(0 < node < 1 << 41 for node in nodes), "the vault names no such node")
    need(
        all(end <= start for end, (_, start) in zip(ends, pairwise(starts), strict=False)),
        "the vault's nodes overlap",
    )
    return epoch, set(nodes)


def _notes(data: bytes) -> Iterator[tuple[bytes, bool]]:
    """Yield the notes of the history, each ended by an empty line, and whether one is cut off at the end."""
    at = 0
    while at < len(data):
        gap = data.find(b"\n\n", at)
        end = data.find(b"\n\n", gap + 2) if gap >= 0 else -1
        if end < 0:
            yield data[at:], True
            return
        yield data[at : end + 1], False
        at = end + 2


# -- proofs (§5.3) ----------------------------------------------------------------------------------------------------


def several_lead(leaves: Mapping[int, bytes], size: int, hashes: Sequence[bytes], root: bytes) -> bool:
    """Say whether leaf hashes by index, and the hashes of their unknown siblings, level by level, give the root."""
    if not leaves or not 0 <= min(leaves) <= max(leaves) < size:
        return False
    row, left, width = dict(leaves), list(reversed(hashes)), size
    while width > 1:
        above: dict[int, bytes] = {}
        for node in sorted(row):
            if node >> 1 in above:
                continue
            sibling = node ^ 1
            if sibling == width:
                above[node >> 1] = row[node]
                continue
            if sibling not in row and not left:
                return False
            other = row[sibling] if sibling in row else left.pop()
            above[node >> 1] = node_hash(other, row[node]) if node & 1 else node_hash(row[node], other)
        row, width = above, width + 1 >> 1
    return not left and row[0] == root


def check_multiproof(proof: bytes, vkey: str) -> dict[str, Any]:
    """Return what a braid/multi-proof@v1 file shows of the envelopes in it (§5.5); raise BadDataError."""
    head, _, note = proof.partition(b"\n\n")
    lines = head.decode("latin-1").split("\n")[1:]
    leaves: dict[int, bytes] = {}
    while lines and (match := re.fullmatch("leaf (0|[1-9][0-9]{0,12}) ([A-Za-z0-9+/=]+)", lines[0])):
        index, stored = int(match[1]), unbase64(match[2])
        need(not leaves or index > max(leaves), "the records are not by rising index")
        leaves[index] = stored
        lines.pop(0)
    key = LogKey.parse(vkey)
    signed = open_head(note, [key], key.name)
    hashes = {index: leaf_hash(stored) for index, stored in leaves.items()}
    held = several_lead(hashes, signed.size, [unbase64(line, 32) for line in lines], signed.root)
    need(held, "the hashes do not lead to the signed root")
    ids: list[str] = []
    for index, stored in leaves.items():
        record = Envelope.parse(stored)
        need(record.index == index and record.problem(key.name) is None, "a record contradicts its place")
        ids.append(record.id)
    return {"ids": ids, "size": signed.size, "root": signed.root.hex()}


def check_proof(proof: bytes, vkey: str) -> dict[str, Any]:
    """Return what a proof shows of the records whose envelopes are in it; raise BadDataError."""
    if proof.startswith(b"braid/multi-proof@v1\n"):
        return check_multiproof(proof, vkey)
    head, _, note = proof.partition(b"\n\n")
    lines = head.decode("latin-1").split("\n")
    need(lines.pop(0) == "c2sp.org/tlog-proof@v1", "neither a tlog-proof nor a multi-proof")
    need(lines and lines[0].startswith("extra "), "the proof has no envelope in its extra")
    stored = unbase64(lines.pop(0).removeprefix("extra "))
    match = re.fullmatch("index (0|[1-9][0-9]{0,12})", lines.pop(0) if lines else "")
    need(match, "the proof has no index")
    index = int(match[1]) if match else 0
    key = LogKey.parse(vkey)
    signed = open_head(note, [key], key.name)
    path = [unbase64(line, 32) for line in lines]
    held = inclusion_holds(index, signed.size, leaf_hash(stored), path, signed.root)
    need(held, "the path does not lead to the signed root")
    record = Envelope.parse(stored)
    need(record.index == index and record.problem(key.name) is None, "the record contradicts its place")
    return {"index": index, "id": record.id, "size": signed.size, "root": signed.root.hex()}


def audit(folder: Path, *, vkey: str | None = None, guard: Path | None = None) -> Report:
    """Audit a store or an auditor's copy."""
    return Audit(folder, vkey, guard).run()


# -- the command ------------------------------------------------------------------------------------------------------


def _plain(text: str) -> str:
    """Return text without characters that a terminal would obey."""
    return "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text)


def _show(report: Report, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps({"exit_code": report.exit_code, **asdict(report)}) + "\n")
        return
    lines = [str(finding) for finding in report.findings]
    lines += [f"could not look: {one}" for one in report.could_not_look]
    lines += [f"note: {one}" for one in report.notes]
    verdict = {0: "clean", 1: f"{len(report.findings)} findings", 2: "could not look"}[report.exit_code]
    lines.append(f"{verdict}: {report.records} records of {report.origin}, root {report.root}")
    sys.stdout.write("".join(f"{_plain(line)}\n" for line in lines))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="braid_audit.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="a store, or what `braid export --audit` wrote")
    parser.add_argument(
        "--key", "--vkey", dest="vkey", help="the log's public key that you pinned, or a file that holds it"
    )
    parser.add_argument("--guard", type=Path, help="the fork guard of the store")
    parser.add_argument(
        "--proof", type=Path, action="append", default=[], help="also check a tlog-proof or multi-proof"
    )
    parser.add_argument("--json", action="store_true", help="findings as JSON")
    chosen = parser.parse_args(arguments)
    if chosen.folder is None and not chosen.proof:
        parser.error("name a folder, or a proof")
    vkey: str | None = chosen.vkey
    if vkey and "+" not in vkey:
        try:
            vkey = Path(vkey).read_text("utf-8").strip()
        except (OSError, ValueError) as error:
            parser.error(f"--key is the log's public key, or a file that holds it: {error}")
    if chosen.proof and not vkey:
        parser.error("a proof is checked with --key")
    code = 0
    for path in cast("list[Path]", chosen.proof):
        try:
            proof = path.read_bytes()
        except OSError as error:
            parser.error(str(error))
        try:
            shown = check_proof(proof, vkey or "")
        except BadDataError as error:
            shown, code = {"error": str(error)}, 1
        said = {"proof": str(path), **shown}
        text = (
            json.dumps(said) if chosen.json else ", ".join(f"{name} {value}" for name, value in said.items())
        )
        sys.stdout.write(f"{text if chosen.json else _plain(text)}\n")
    if chosen.folder is None:
        return code
    report = audit(chosen.folder, vkey=vkey, guard=chosen.guard)
    _show(report, as_json=chosen.json)
    return report.exit_code or code


if __name__ == "__main__":
    sys.exit(main())
