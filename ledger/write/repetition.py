"""Whether a draft whose key is in the log says what the record of that key says (SPEC §8.2).

A key makes repeating a call harmless. Met again with something else to say, it is no repetition: to name the first
record then would lose what is said now.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from typing import Any, Final, NamedTuple

import msgspec
from pybase64 import b64decode

from braid.ledger.errors import BlobError, IdempotencyConflictError, LedgerError
from braid.ledger.read.blobs import BlobRef, BlobStore
from braid.ledger.read.reader import Reader
from braid.ledger.read.scopechain import MEMBER as SCOPE_CHAIN
from braid.ledger.record.record import (
    ASKED_BY,
    BODY_TYPES,
    Body,
    Draft,
    ExperienceBody,
    Media,
    Record,
    ViewBody,
)
from braid.ledger.record.validate import check_json, earlier_place
from braid.ledger.write.compose import encode_body
from braid.wal.errors import WalError

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TICK: Final = timedelta(microseconds=1)
_encode = msgspec.json.Encoder(order="deterministic").encode


class _Said(NamedTuple):
    """What a body says: its members as JSON of one form, without what the writer, and attaching, put into it."""

    members: dict[str, bytes]
    media: list[Media]


def refuse_another(reader: Reader, index: int, draft: Draft, earlier: Sequence[str | None]) -> None:
    """Raise IdempotencyConflictError where the record says something else than the draft of the same key.

    `earlier`: the ids of what stands before it in the draft's transaction, None for what is new. A record that can't
    be opened is held to nothing: erased, damaged, or without a vault.
    """
    try:
        record = reader.at(index, include_forgotten=True)
        if record.raw is None:
            return
        said = _said(record.kind, record.raw)
    except (LedgerError, WalError, msgspec.MsgspecError, UnicodeDecodeError):
        return
    if unlike := _unlike(record, said, draft, earlier, BlobStore(reader.path / "blobs", writable=False)):
        raise IdempotencyConflictError(draft.body.once or "", record.id, unlike)


def _unlike(
    record: Record, said: _Said, draft: Draft, earlier: Sequence[str | None], blobs: BlobStore
) -> list[str]:
    """Return what differs: kind, type, public part, links, members of the body. Of other kinds no more is compared."""
    unlike = [name for name in ("kind", "type") if getattr(record, name) != getattr(draft, name)]
    if record.kind != draft.kind:
        return unlike
    check_json(draft.public, "public")
    if _encode(record.envelope.public) != _encode(draft.public):
        unlike.append("public")
    meant = _said(draft.kind, encode_body(draft))
    names = dict.fromkeys([*meant.members, *said.members])
    unlike += [name for name in names if meant.members.get(name) != said.members.get(name)]
    if not _links_alike(record, draft, earlier):
        unlike.append("links")
    if not unlike and not _media_alike(blobs, said.media, meant.media):
        unlike.append("content")
    return unlike


def _said(kind: str, raw: bytes) -> _Said:
    members: dict[str, Any] = msgspec.json.decode(raw)
    for name in (SCOPE_CHAIN, ASKED_BY):  # whoever repeats a call may be another
        members.pop(name, None)
    media: list[Media] = []
    try:
        body = msgspec.json.decode(raw, type=BODY_TYPES.get(kind, Body))
    except msgspec.ValidationError:  # of a later release: as it stands
        return _Said({name: _encode(value) for name, value in members.items()}, media)
    for field in msgspec.structs.fields(body):
        members.pop(field.encode_name, None)
    members |= msgspec.to_builtins(body, builtin_types=(datetime,))
    members.pop("content_hash", None)  # it follows from the rest, and was not always there
    if body.tags:
        members["tags"] = sorted(set(body.tags))
    for part in (members, *members.get("symbolic", ())):
        for name in ("occurred_at", "valid_from", "valid_to"):
            if isinstance(part.get(name), datetime):
                part[name] = _instant(part[name])
    if isinstance(body, ExperienceBody | ViewBody) and body.content and body.content.media:
        media = body.content.media
        members["content"]["media"] = [msgspec.structs.replace(one, blob="", key="") for one in media]
    return _Said({name: _encode(value) for name, value in members.items()}, media)


def _instant(moment: datetime) -> int | str:
    """Return the microseconds since 1970 of a time in any zone; one without a zone is no instant."""
    return moment.isoformat() if moment.tzinfo is None else (moment - _EPOCH) // _TICK


def _links_alike(record: Record, draft: Draft, earlier: Sequence[str | None]) -> bool:
    """Whether the links are the same. One to a record of the transaction that has no key, and so is new, may be any."""
    ids = [
        target if isinstance(target, str) else earlier[earlier_place(target, len(earlier))]
        for _, target in draft.links
    ]
    if len(record.links) != len(ids):
        return False
    return all(
        link.role == role and id in (None, link.id)
        for link, (role, _), id in zip(record.links, draft.links, ids, strict=True)
    )


def _media_alike(blobs: BlobStore, said: list[Media], meant: list[Media]) -> bool:
    """Whether media, alike in all else, hold the same; one that can't be opened may hold anything: erased, damaged."""
    for one, other in zip(said, meant, strict=True):
        if one.blob == other.blob:
            continue
        try:
            pairs = zip_longest(blobs.open(_ref(one)), blobs.open(_ref(other)))
            if any(piece != another for piece, another in pairs):
                return False
        except (BlobError, ValueError):  # ValueError: a name or a key that is none
            continue
    return True


def _ref(medium: Media) -> BlobRef:
    return BlobRef(medium.blob, medium.size, b64decode(medium.key))
