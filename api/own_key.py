"""An idempotency key of a caller who is held to a scope: it means what it means within that scope, and tells nothing of
another.

A key that a record of another scope has is put apart by the scope, so that the call succeeds as if the key were new.
Where no record has it, it stays as it is: so a turn that two paths bring, one of them held, is still one record.
"""

import re
from typing import TYPE_CHECKING, Final, cast

import msgspec
from blake3 import blake3

from braid.caller import Caller
from braid.operation import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from braid.session import Session

_CONTEXT: Final = "braid 2026-11 idempotency key within a scope"
_BYTES: Final = 16
_APART: Final = re.compile(r"@[0-9a-f]{32}(?=#\d+$|$)")
MEMBER: Final = "idempotency_key"


def own_key(session: "Session", caller: Caller, key: str, is_own: "Callable[[str], bool]") -> str:
    """Return the key that a caller's key stands for: itself, or, where it is another scope's, one apart.

    What was once appended under the key apart is found by it ever after. Raises NoVaultError.
    """
    apart = f"{key}@{_digest(session, caller)}"
    found = session.reader.key_index.find([form for one in (apart, key) for form in _forms(one)])
    if any(form in found for form in _forms(apart)):
        return apart
    taken = [found[form] for form in _forms(key) if form in found]
    return key if all(is_own(session.reader.envelope(at).id) for at in taken) else apart


def as_given(key: str) -> str:
    """Return a key as its caller gave it."""
    return _APART.sub("", key)


def with_own_keys(asked: Request, own: "Callable[[str], str]") -> Request:
    """Return a request whose keys, and those of the records that it brings, are the caller's own."""
    changes: dict[str, object] = {}
    for name in asked.__struct_fields__:
        value = getattr(asked, name)
        if name == MEMBER and isinstance(value, str):
            changes[name] = own(value)
        elif isinstance(value, tuple):
            brought = cast("tuple[object, ...]", value)
            if any(isinstance(one, Request) for one in brought):
                changes[name] = tuple(
                    with_own_keys(one, own) if isinstance(one, Request) else one for one in brought
                )
    return msgspec.structs.replace(asked, **changes) if changes else asked


def _forms(key: str) -> tuple[str, str]:
    """A key as a record has it: as it is, or of the first of the messages that came under it."""
    return key, f"{key}#0"


def _digest(session: "Session", caller: Caller) -> str:
    """Return what stands for a scope in a key: nobody else can make a key that looks like it."""
    secret = blake3(session.reader.need_vault().lookup_key, derive_key_context=_CONTEXT).digest()
    scope = msgspec.json.encode(caller.scope, order="deterministic")
    return blake3(scope, key=secret).hexdigest(_BYTES)
