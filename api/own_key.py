"""An idempotency key within a scope: of a caller who is held to one, or of the user whom a request is about.

A key that a record of another scope has is put apart by the scope, so that the call succeeds as if the key were new.
Where no record has it, it stays as it is: so a turn that two paths bring, one of them held, is still one record. To who
is held to no scope, another scope is only another user's: their program hands keys on that its users chose.
"""

import re
from functools import cache, partial
from typing import TYPE_CHECKING, Final, cast, get_args, get_type_hints

import msgspec
from blake3 import blake3

from braid.operation import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from braid.session import Session

_CONTEXT: Final = "braid 2026-11 idempotency key within a scope"
_BYTES: Final = 16
_APART: Final = re.compile(r"@[0-9a-f]{32}(?=#\d+$|$)")
MEMBER: Final = "idempotency_key"


def own_key(session: "Session", scope: dict[str, str], key: str, is_own: "Callable[[str], bool]") -> str:
    """Return the key that a key within a scope stands for: itself, or, where it is another scope's, one apart.

    What was once appended under the key apart is found by it ever after. Raises NoVaultError.
    """
    apart = key + mark_of(session, scope)
    found = session.reader.key_index.find([form for one in (apart, key) for form in _forms(one)])
    if any(form in found for form in _forms(apart)):
        return apart
    taken = [found[form] for form in _forms(key) if form in found]
    return key if all(is_own(session.reader.envelope(at).id) for at in taken) else apart


def mark_of(session: "Session", scope: dict[str, str]) -> str:
    """Return what stands behind a key that is put apart by a scope: nobody else can make one that looks like it.

    Raises NoVaultError.
    """
    secret = blake3(session.reader.need_vault().lookup_key, derive_key_context=_CONTEXT).digest()
    within = msgspec.json.encode(scope, order="deterministic")
    return f"@{blake3(within, key=secret).hexdigest(_BYTES)}"


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


def with_users_keys(session: "Session", asked: Request, user: str | None = None) -> Request:
    """Return a request whose keys, and those of the records that it brings, are those of the users that it is about.

    `user`: of what brings it. A key that nobody's record has, or that comes without a user, stays as it is.
    """
    from braid.ledger.write.writer import Writer

    if not isinstance(session.reader, Writer):  # nothing is appended here
        return asked
    user = getattr(asked, "user_id", None) or user
    changes: dict[str, object] = {}
    for name in _bring_keys(type(asked)):
        value = getattr(asked, name)
        if name != MEMBER:
            changes[name] = tuple(with_users_keys(session, one, user) for one in value or ())
        elif value is not None:
            whose = user or _user_of(session, getattr(asked, "id", None))
            if isinstance(whose, str):
                changes[name] = users_key(session, whose, value)
    return msgspec.structs.replace(asked, **changes) if changes else asked


def users_key(session: "Session", user: str, key: str) -> str:
    """Return the key that a user's key stands for. Raises NoVaultError."""
    return own_key(session, {"user_id": user}, key, partial(_is_of, session, user))


@cache
def _bring_keys(request: type[Request]) -> tuple[str, ...]:
    """Return the members of a request that hold a key: its own, and tuples of requests that have one."""
    hints = get_type_hints(request)
    return tuple(
        name
        for name in request.__struct_fields__
        if name == MEMBER
        or any(isinstance(each, type) and issubclass(each, Request) for each in get_args(hints[name]))
    )


def _user_of(session: "Session", id: str | None) -> str | None:
    """Return whose memory a record is; None for nobody's, and for what is no record that can be read."""
    from braid.ledger.errors import LedgerError

    try:
        record = None if id is None else session.reader.get(id, include_forgotten=True)
    except LedgerError:
        return None
    body = None if record is None or record.raw is None else record.body
    return None if body is None or body.scope is None else body.scope.user_id


def _is_of(session: "Session", user: str, id: str) -> bool:
    """Whether a record is a user's, or nobody's."""
    return _user_of(session, id) in (user, None)


def _forms(key: str) -> tuple[str, str]:
    """A key as a record has it: as it is, or of the first of the messages that came under it."""
    return key, f"{key}#0"
