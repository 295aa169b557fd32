"""A deep audit's look at one body: does it open, is it of its kind, may its key have said it (SPEC §11.2). Pure."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import msgspec

from braid.ledger.audit.facts import KeyFacts
from braid.ledger.audit.findings import FindingKind
from braid.ledger.crypto.seal import RecordKey, unseal_body
from braid.ledger.errors import InvalidRecordError, UnsealError
from braid.ledger.keys.author_key import OWN_WORDS_ROLES
from braid.ledger.record.envelope import Envelope, LinkSummary, text_of
from braid.ledger.record.record import BODY_TYPES, ExperienceBody, with_article
from braid.ledger.record.validate import check_body

_DECODE: Final = {kind: msgspec.json.Decoder(body).decode for kind, body in BODY_TYPES.items()}
Problem = tuple[FindingKind, str]


def examine_body(
    envelope: Envelope, keys: bytes, sealed: bytes, signer: KeyFacts | None
) -> Iterator[Problem]:
    """Yield what is wrong with a body; `keys` are its sealing key and commitment, zeros or nothing when erased."""
    if len(keys) != 64 or not any(keys):
        return  # its erasure is judged with the others
    if text_of(keys[32:]) != envelope.commit:
        yield "seal", "the vault's key is not the one that the record commits to"
        return
    key = RecordKey(keys[:32], keys[32:], b"")
    try:
        raw = unseal_body(key, sealed, origin=envelope.origin, id=envelope.id, kind=envelope.kind)
    except UnsealError as error:
        yield "seal", error.args[0]
        return
    yield from _content(envelope, raw, signer)


def _content(envelope: Envelope, raw: bytes, signer: KeyFacts | None) -> Iterator[Problem]:
    try:
        json.loads(raw, object_pairs_hook=_members, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        yield "body", f"the body is not JSON as the format has it: {error}"
        return
    decode = _DECODE.get(envelope.kind)
    if decode is None:
        return  # an unknown kind is kept, opaque
    try:
        body = decode(raw)
        links = envelope.links
        count = links.count if isinstance(links, LinkSummary) else len(links)
        check_body(body, count, datetime.fromisoformat(envelope.created_at))
    except (msgspec.MsgspecError, InvalidRecordError, ValueError) as error:
        yield "body", f"the body is not that of {with_article(envelope.kind)}: {error}"
        return
    if signer and isinstance(body, ExperienceBody) and (message := _stranger(body, signer)):
        yield "actor", f"key {envelope.key} {message}"


def _stranger(body: ExperienceBody, signer: KeyFacts) -> str | None:
    """Return why these are not the signer's own words, for a role that signs only those (SPEC §3.4)."""
    if signer.role not in OWN_WORDS_ROLES:
        return None
    actor = body.provenance.actor
    if actor.partition("(")[0] != signer.role or signer.actor not in (None, actor, body.provenance.name):
        return f"signs for {signer.actor or signer.role}, not for {actor}"
    return None


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member is repeated")
    return members


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")
