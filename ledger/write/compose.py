"""From drafts to signed records: body sealed, envelope filled into its template, signed (SPEC §3, §4).
Pure but for the nonce.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from braid.ledger.crypto.seal import MAX_BODY_BYTES, RecordKey, seal_body
from braid.ledger.errors import BodyTooLargeError, InvalidRecordError
from braid.ledger.keys.author_key import Signer
from braid.ledger.record.envelope import (
    MAX_ENVELOPE_BYTES,
    MAX_INLINE_LINKS,
    Link,
    digest_text,
    encode_links,
    pae,
    text_of,
    wrap,
)
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import BODY_TYPES, Draft, with_article
from braid.ledger.tree.merkle import leaf_hash, root_of
from braid.wal.frame import Stored

_encode = msgspec.json.Encoder().encode
_MAX_PAYLOAD_BYTES = (MAX_ENVELOPE_BYTES - len(wrap(b"", bytes(64)))) // 4 * 3
_ALTERED = (bytes, bytearray, memoryview)
"""What JSON has no form for, beside NaN: it would come back as text in base64, and a NaN as null."""
_DECODE = {kind: msgspec.json.Decoder(body).decode for kind, body in BODY_TYPES.items()}


class Unsigned(msgspec.Struct, frozen=True, gc=False):
    """A record that lacks only its signature."""

    payload: bytes
    links: bytes
    body: bytes


class Slot(msgspec.Struct, frozen=True, gc=False):
    """Where in the log a record will stand."""

    index: int
    id: RecordId
    tx: int
    place: int
    count: int
    control: int
    created_at: str


def encode_body(draft: Draft) -> bytes:
    """Return the body's JSON; raise InvalidRecordError for what could not be read back.

    Raises BodyTooLargeError for a body above the limit.
    """
    try:
        raw = _encode(draft.body)
        if draft.extra:
            raw = _encode({**msgspec.json.decode(raw), **draft.extra})
            if b'"scope_chain"' in raw and "scope_chain" in draft.extra:
                raise InvalidRecordError("scope_chain is the writer's own member: leave it out")
        if _DECODE[draft.kind](raw) != draft.body:  # no loss in itself: a tuple comes back as a list
            msgspec.convert(msgspec.to_builtins(draft.body, builtin_types=_ALTERED), type(draft.body))
    except UnicodeEncodeError as error:
        raise InvalidRecordError(f"the text is not valid Unicode: {error.reason} at {error.start}") from error
    except (msgspec.MsgspecError, TypeError, OverflowError) as error:
        raise InvalidRecordError(f"the body is not that of {with_article(draft.kind)}: {error}") from error
    if len(raw) > MAX_BODY_BYTES:
        raise BodyTooLargeError(len(raw), MAX_BODY_BYTES)
    return raw


def compose(
    draft: Draft, raw: bytes, links: list[Link], slot: Slot, *, origin: str, key: RecordKey, author: str
) -> Unsigned:
    """Return the record without its signature. `raw` is the body's JSON, `links` the draft's resolved,
    `author` a key id.
    """
    sealed = seal_body(key, raw, origin=origin, id=slot.id, kind=draft.kind)
    optional = ""
    listed = b""
    if links:
        text, listed = _links_member(links)
        optional = f',"links":{text}'
    if draft.blobs:
        optional += f',"blobs":{_json(draft.blobs)}'
    if draft.public:
        optional += f',"public":{_json(draft.public)}'
    type_member = f',"type":"{draft.type}"' if draft.type else ""
    payload = (
        f'{{"braid":1,"origin":"{origin}","index":{slot.index},"id":"{slot.id}","kind":"{draft.kind}"{type_member},'
        f'"created_at":"{slot.created_at}","tx":[{slot.tx},{slot.place},{slot.count}],"control":{slot.control},'
        f'"key":"{author}","commit":"{text_of(key.commitment)}","body":["{digest_text(sealed)}",{len(sealed)}]'
        f"{optional}}}"
    ).encode()
    if len(payload) > _MAX_PAYLOAD_BYTES:
        raise InvalidRecordError(
            f"the envelope would have more than {MAX_ENVELOPE_BYTES} bytes: use fewer blobs"
        )
    return Unsigned(payload, listed, sealed)


def finish(unsigned: Unsigned, signature: bytes) -> Stored:
    """Return the record's stored bytes."""
    return Stored(wrap(unsigned.payload, signature), unsigned.links, unsigned.body)


def sign_all(records: Sequence[tuple[Signer, Unsigned]]) -> list[Stored]:
    """Sign records, each by its signer; libsodium releases the interpreter's lock, so that threads may sign at once."""
    return [finish(record, signer.sign(pae(record.payload))) for signer, record in records]


def _json(value: Any) -> str:
    try:
        return _encode(value).decode()
    except UnicodeEncodeError as error:
        raise InvalidRecordError(f"the text is not valid Unicode: {error.reason} at {error.start}") from error


def _links_member(links: list[Link]) -> tuple[str, bytes]:
    if len(links) <= MAX_INLINE_LINKS:
        return _json(links), b""
    lines = encode_links(links)
    listed = b"".join(lines)
    root = text_of(root_of([leaf_hash(line) for line in lines]))
    return _json({"count": len(lines), "root": root, "bytes": len(listed)}), listed
