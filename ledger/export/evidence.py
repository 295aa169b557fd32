"""Records away from their log, each with what shows that it was signed, recorded and said so (SPEC §13). Pure.

An export is lines of JSON: a head, which names the log, its key and a signed checkpoint; records, each with its
envelope, its path to the checkpoint's root, and the seed that opens its body; their media; an end. Whoever has the
log's public key can check all of it without the store: the author's signature, the inclusion, and, by sealing the text
again, that it is the text that was signed.
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from braid.ledger.crypto.seal import record_key, seal_body
from braid.ledger.crypto.signature import verify_signature
from braid.ledger.errors import EnvelopeError, EvidenceError, IntegrityError, NoteError, ProofError
from braid.ledger.keys.author_key import key_id
from braid.ledger.keys.control import ControlState
from braid.ledger.read.reader import Reader
from braid.ledger.read.scopechain import MEMBER as SCOPE_CHAIN
from braid.ledger.record.envelope import (
    Envelope,
    Link,
    LinkSummary,
    check_structure,
    decode_payload,
    digest_text,
    encode_links,
    link_problem,
    pae,
    text_of,
    unwrap,
)
from braid.ledger.record.record import Record
from braid.ledger.record.shape import shape
from braid.ledger.tree.checkpoint import Checkpoint, open_checkpoint
from braid.ledger.tree.merkle import SubtreeHash, check_inclusion, leaf_hash, prove_inclusion, root_of
from braid.ledger.tree.note import VerifierKey, open_note, parse_vkey
from braid.ledger.tree.proof import check_proof, format_proof

VERSION: Final = 2
_NONCE_BYTES: Final = 24
_SUBTREES: Final = 1024
_NO_BODY: Final = msgspec.Raw()


class Opening(msgspec.Struct, frozen=True):
    """What opens one body: its leaf seed (32 bytes) and its nonce (24 bytes), base64 (SPEC §4.1, §4.2)."""

    seed: str
    nonce: str


class ExportHead(msgspec.Struct, frozen=True, tag_field="line", tag="head", kw_only=True):
    """The first line. `whole`: every control record is in the export, so that a missing one shows."""

    braid_export: int = VERSION
    origin: str
    vkey: str
    checkpoint: str
    whole: bool


class ExportItem(
    msgspec.Struct, frozen=True, tag_field="line", tag="record", kw_only=True, omit_defaults=True
):
    """A record. `record` is the schema's shape, `body` what was signed: both left out where only the envelope goes."""

    id: str
    kind: str
    type: str = ""
    links: list[Link] = []
    forgotten: bool = False
    record: dict[str, Any] | None = None
    body: msgspec.Raw = _NO_BODY
    opening: Opening | None = None
    envelope: str
    path: list[str]
    """Hashes of the inclusion proof, from the leaf up."""


class MediaPiece(msgspec.Struct, frozen=True, tag_field="line", tag="media"):
    """A stretch of a sealed blob; pieces follow the record that names the blob, in order."""

    blob: str
    data: str


class End(msgspec.Struct, frozen=True, tag_field="line", tag="end"):
    """The last line: without it, the export was cut off."""

    records: int


Line = ExportHead | ExportItem | MediaPiece | End
encode_line = msgspec.json.Encoder().encode
_decode: Callable[[bytes], Line] = msgspec.json.Decoder(Line).decode


class _Version(msgspec.Struct, frozen=True):
    braid_export: int = VERSION


def decode_line(data: bytes) -> Line:
    """Read a line of an export; raise EvidenceError for what is none."""
    try:
        return _decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise EvidenceError(_what_it_is(data) or f"not a line of an export: {error}") from None


def _what_it_is(data: bytes) -> str:
    try:
        version = msgspec.json.decode(data, type=_Version).braid_export
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return (
        ""
        if version == VERSION
        else f"export format {version}; this release reads {VERSION}: export again with the same release"
    )


# -- out ------------------------------------------------------------------------------------------


class Anchor(NamedTuple):
    """The signed head that an export stands on: one, though the log grows while it is written."""

    checkpoint: Checkpoint
    note: bytes
    subtree: SubtreeHash
    """The tree's hashes; those of late are kept, since neighbours' proofs share all but a few."""


def anchor_of(reader: Reader) -> Anchor:
    """Return the published head as it is now."""
    note = reader.checkpoint_note
    checkpoint = open_checkpoint(note, reader.log_keys, reader.origin)[0]
    return Anchor(checkpoint, note, lru_cache(_SUBTREES)(reader.tree.subtree))


def head_of(reader: Reader, anchor: Anchor, *, whole: bool) -> ExportHead:
    """Return the first line of an export that reaches as far as its anchor."""
    signed = {(one.name, one.id) for one in open_note(anchor.note, reader.log_keys).verified}
    vkey = next(key for key in reversed(reader.log_keys) if (key.name, key.id) in signed)
    return ExportHead(origin=reader.origin, vkey=str(vkey), checkpoint=anchor.note.decode(), whole=whole)


def item_of(reader: Reader, record: Record, anchor: Anchor, *, content: bool = True) -> ExportItem:
    """Return the line of a record under the checkpoint; without `content`, or a body, only its envelope goes."""
    envelope, body, opening = record.envelope, _NO_BODY, None
    if content and record.raw is not None:
        nonce = reader.log.body(record.index)[:_NONCE_BYTES]
        opening = Opening(_base64(reader.need_vault().seed(record.index)), _base64(nonce))
        body = msgspec.Raw(record.raw)
    return ExportItem(
        id=envelope.id,
        kind=envelope.kind,
        type=envelope.type,
        links=record.links,
        forgotten=record.index in reader.control.hidden,
        record=None if opening is None else shape(record),
        body=body,
        opening=opening,
        envelope=record.stored.decode(),
        path=[_base64(hash_) for hash_ in _path(record.index, anchor)],
    )


def proof_of(reader: Reader, index: int, anchor: Anchor) -> bytes:
    """Return a record's inclusion under the anchor as a c2sp.org/tlog-proof file, its envelope as `extra`."""
    return format_proof(index, _path(index, anchor), anchor.note, reader.stored_envelope(index))


def _path(index: int, anchor: Anchor) -> list[bytes]:
    return prove_inclusion(index, anchor.checkpoint.size, anchor.subtree)


# -- in -------------------------------------------------------------------------------------------


class Examiner:
    """Checks an export line by line: each against the checkpoint, and against the keys admitted before it."""

    def __init__(self, head: ExportHead, pinned: VerifierKey | None = None) -> None:
        """Check the head; raise EvidenceError. Without a pinned key the export's own is believed: first use."""
        try:
            self.vkey = pinned or parse_vkey(head.vkey)
            if self.vkey.name != head.origin:
                raise EvidenceError(f"the key is of {self.vkey.name}, the export of {head.origin}")
            self.checkpoint: Checkpoint = open_checkpoint(head.checkpoint.encode(), [self.vkey], head.origin)[
                0
            ]
        except NoteError as error:
            raise EvidenceError(f"the export's signed head does not hold: {error}") from error
        if head.braid_export != VERSION:
            raise EvidenceError(f"export format {head.braid_export}; this release reads {VERSION}")
        self.head = head
        self.control = ControlState()
        self._last = -1

    def examine(self, item: ExportItem) -> Record:
        """Return the record that a line shows, without a body where it brings none; raise EvidenceError."""
        try:
            record = self._examine(item)
        except (EnvelopeError, ProofError, IntegrityError) as error:
            raise EvidenceError(str(error)) from error
        return record

    def _examine(self, item: ExportItem) -> Record:
        stored = item.envelope.encode()
        signed = unwrap(stored)
        envelope = decode_payload(signed.payload)
        check_structure(envelope, self.head.origin)
        if (item.id, item.kind, item.type) != (envelope.id, envelope.kind, envelope.type):
            raise EvidenceError(f"{item.id}: its envelope is that of {envelope.id}")
        if envelope.index <= self._last:
            raise EvidenceError(f"{item.id}: it stands out of order, or twice")
        path = [_bytes(text, 32, f"{item.id}: a hash of its proof") for text in item.path]
        check_inclusion(envelope.index, self.checkpoint.size, leaf_hash(stored), path, self.checkpoint.root)
        links = _check_links(envelope, item.links)
        self._check_author(envelope, links, signed.payload, signed.signature)
        self._last = envelope.index
        raw = _open(item, envelope)
        record = Record(envelope, links, raw, stored)
        if item.record is not None and (raw is None or shape(record) != item.record):
            raise EvidenceError(f"{item.id}: what it is said to say is not what was signed")
        return record

    def _check_author(self, envelope: Envelope, links: list[Link], payload: bytes, signature: bytes) -> None:
        """Judge the signature by the control records before it, which the export of a whole log has without a gap."""
        control = self.control
        if self.head.whole and envelope.control != max(control.newest, 0):
            raise EvidenceError(f"{envelope.id}: a control record before it is missing from the export")
        if envelope.index == 0:
            control.apply(
                envelope, links
            )  # it may name an older key: the trusted one signed the head above it
        if refusal := control.refusal(envelope):
            raise EvidenceError(f"{envelope.id}: {refusal}")
        public = control.public_key(envelope.key)
        if not verify_signature(public, pae(payload), signature):
            raise EvidenceError(f"{envelope.id}: the author's signature does not hold")
        _refuse_log_key(envelope, public, self.vkey)
        if envelope.index and envelope.is_control:
            control.apply(envelope, links)

    def proof_of(self, item: ExportItem, index: int) -> str:
        """Return the record's inclusion as a c2sp.org/tlog-proof file, without `extra`."""
        path = [b64decode(text) for text in item.path]
        return format_proof(index, path, self.head.checkpoint.encode()).decode()


def _check_links(envelope: Envelope, links: list[Link]) -> list[Link]:
    summary = envelope.links
    if not isinstance(summary, LinkSummary):
        if links != summary:
            raise EvidenceError(f"{envelope.id}: its links are not those that were signed")
        return summary
    lines = encode_links(links)
    listed = (len(lines), text_of(root_of([leaf_hash(line) for line in lines])), sum(map(len, lines)))
    if listed != (summary.count, summary.root, summary.bytes):
        raise EvidenceError(f"{envelope.id}: its links are not those that were signed")
    for link in links:
        if problem := link_problem(link, envelope.index):
            raise EvidenceError(f"{envelope.id}: {problem}")
    return links


def _open(item: ExportItem, envelope: Envelope) -> bytes | None:
    """Return the body, shown to be the one that was signed: sealed again it has the signed digest."""
    raw = bytes(item.body)
    if not raw:
        return None
    if item.opening is None:
        raise EvidenceError(f"{item.id}: nothing shows that its text is what was signed")
    key = record_key(_bytes(item.opening.seed, 32, f"{item.id}: its seed"))
    nonce = _bytes(item.opening.nonce, _NONCE_BYTES, f"{item.id}: its nonce")
    if text_of(key.commitment) != envelope.commit:
        raise EvidenceError(f"{item.id}: its key is not the one that the record commits to")
    sealed = seal_body(key, raw, origin=envelope.origin, id=envelope.id, kind=envelope.kind, nonce=nonce)
    if (digest_text(sealed), len(sealed)) != envelope.body:
        raise EvidenceError(f"{item.id}: its text is not what was signed")
    return raw


# -- what an imported record keeps ------------------------------------------------------------------


class Imported(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record's life in another log, kept in its body: `imported`. Everything needed to check it again is in here."""

    id: str
    origin: str
    created_at: str
    vkey: str
    envelope: str
    proof: str
    author: str
    """The author's public key, base64; the envelope names its id."""
    links: list[Link] = []
    opening: Opening
    was: dict[str, Any] = {}
    """Members that were changed on the way in, as they were; null where there was none."""
    body: str | None = None
    """The body as it was signed, where it does not follow from the record's own."""
    imported: Any = None
    """What it had kept of a log before that one."""


def keep(examiner: Examiner, item: ExportItem, record: Record) -> Imported:
    """Return what an imported record keeps of the examined one; raise EvidenceError for a bare envelope."""
    if item.opening is None:
        raise EvidenceError(f"{item.id}: only its envelope is in the export")
    return Imported(
        id=item.id,
        origin=examiner.head.origin,
        created_at=record.envelope.created_at,
        vkey=str(examiner.vkey),
        envelope=item.envelope,
        proof=examiner.proof_of(item, record.index),
        author=_base64(examiner.control.public_key(record.envelope.key)),
        links=record.links,
        opening=item.opening,
        imported=record.members.get("imported"),
    )


def original_body(members: dict[str, Any]) -> bytes:
    """Return the body that an imported record had in its first log, from the body that it has now."""
    kept: dict[str, Any] = members["imported"]
    if "body" in kept:
        return str(kept["body"]).encode()
    restored = dict(members)
    was = {SCOPE_CHAIN: None, **kept.get("was", {}), "imported": kept.get("imported")}
    for name, value in was.items():
        if value is None:
            restored.pop(name, None)
        else:
            restored[name] = value
    return msgspec.json.encode(restored)


def check_imported(members: dict[str, Any], pinned: VerifierKey | None = None) -> Imported:
    """Check again what an imported record has kept: its text, author and place in the first log; raise EvidenceError.

    `pinned` is the first log's key; without it the one that was believed at the import is believed again.
    """
    try:
        kept = msgspec.convert(members.get("imported"), Imported)
        stored = kept.envelope.encode()
        signed = unwrap(stored)
        envelope = decode_payload(signed.payload)
        proven = check_proof(kept.proof.encode(), leaf_hash(stored), pinned or parse_vkey(kept.vkey))
        check_structure(envelope, proven.checkpoint.origin)
        if (envelope.id, envelope.index) != (kept.id, proven.index):
            raise EvidenceError(f"{kept.id}: the envelope kept is that of {envelope.id}")
        _check_links(envelope, kept.links)
        public = _check_author_key(envelope, kept.author, signed.payload, signed.signature)
        _refuse_log_key(envelope, public, pinned or parse_vkey(kept.vkey))
    except (msgspec.MsgspecError, EnvelopeError, ProofError, NoteError) as error:
        raise EvidenceError(f"what was kept of the first log does not hold: {error}") from error
    raw = original_body(members)
    item = ExportItem(
        id=kept.id,
        kind=envelope.kind,
        body=msgspec.Raw(raw),
        opening=kept.opening,
        envelope=kept.envelope,
        path=[],
    )
    _open(item, envelope)
    return kept


def _check_author_key(envelope: Envelope, author: str, payload: bytes, signature: bytes) -> bytes:
    public = _bytes(author, 32, f"{envelope.id}: its author's key")
    if key_id(public) != envelope.key or not verify_signature(public, pae(payload), signature):
        raise EvidenceError(f"{envelope.id}: the author's signature does not hold")
    return public


def _refuse_log_key(envelope: Envelope, public: bytes, vkey: VerifierKey) -> None:
    """Refuse an author whose key is the one that the head stands under: it signs heads and nothing else (SPEC §3.4)."""
    if public == vkey.public:
        raise EvidenceError(
            f"{envelope.id}: its author's key is the log's, which signs heads and nothing else"
        )


def _base64(data: bytes) -> str:
    return b64encode(data).decode()


def _bytes(text: str, size: int, name: str) -> bytes:
    try:
        data = b64decode(text, validate=True)
    except (Base64Error, ValueError):
        data = b""
    if len(data) != size:
        raise EvidenceError(f"{name} is not {size} bytes in base64")
    return data
