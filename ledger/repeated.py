"""Whether a draft whose key is in the log says what the record of that key says (SPEC §8.2).

A key makes repeating a call harmless. Met again with something else to say, it is no repetition: to name the first
record then would lose what is said now.
"""

from collections.abc import Sequence
from typing import Any, Final, cast

import msgspec

from braid.ledger.compose import encode_body
from braid.ledger.errors import IdempotencyConflictError, LedgerError
from braid.ledger.reader import Reader
from braid.ledger.record import Draft, Record, Written
from braid.ledger.scopechain import MEMBER as SCOPE_CHAIN
from braid.wal.errors import WalError

_OWN_TO_A_SEALING: Final = ("blob", "key")
"""What attaching the same media again makes anew: their file's name, and its key."""


def refuse_another(reader: Reader, index: int, draft: Draft, ids: Sequence[str | None]) -> None:
    """Raise IdempotencyConflictError where the record says something else than the draft of the same key.

    `ids`: those of the draft's transaction that are in the log, by place. A record that can't be opened is held to
    nothing: erased, damaged, or without a vault.
    """
    try:
        record = reader.at(index, include_forgotten=True)
    except (LedgerError, WalError):
        return
    if record.raw is None:
        return
    if unlike := _unlike(record, draft, ids):
        raise IdempotencyConflictError(draft.body.once or "", record.id, unlike)


def _unlike(record: Record, draft: Draft, ids: Sequence[str | None]) -> list[str]:
    """Return what differs: kind, type, links, members of the body."""
    said, meant = _said(dict(record.members)), _said(msgspec.json.decode(encode_body(draft)))
    unlike = [name for name in ("kind", "type") if getattr(record, name) != getattr(draft, name)]
    unlike += [name for name in dict.fromkeys([*meant, *said]) if meant.get(name) != said.get(name)]
    if not _links_alike(record, draft, ids):
        unlike.append("links")
    return unlike


def _said(members: dict[str, Any]) -> dict[str, Any]:
    """Return a body without what the writer, and attaching, put into it."""
    members.pop(SCOPE_CHAIN, None)
    if isinstance(members.get("content"), dict):
        content: dict[str, Any] = members["content"]
        media: list[dict[str, Any]] = content.get("media", [])
        bare = [{name: one[name] for name in one if name not in _OWN_TO_A_SEALING} for one in media]
        members["content"] = {**content, "media": bare}
    return members


def _links_alike(record: Record, draft: Draft, ids: Sequence[str | None]) -> bool:
    """Whether the links are the same. One to a record of the transaction that has no key, and so is new, may be any."""
    if len(record.links) != len(draft.links):
        return False
    for link, (role, target) in zip(record.links, draft.links, strict=True):
        id = target if isinstance(target, str) else ids[cast("Written", target).place]
        if link.role != role or id not in (None, link.id):
            return False
    return True
