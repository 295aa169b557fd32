"""What holds a caller to their scope: they see it and no other, and nothing of theirs lands in another.

A caller's ids are put into every request, ids that a request names must be of their scope, and no answer or error that
names a record of another leaves. What they append is of their scope. An operation that can't be held so is refused.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, get_args, get_type_hints

import msgspec

from braid.caller import Caller, asking
from braid.errors import AccessDeniedError, InvalidRequestError
from braid.ledger.record.scope import SCOPES
from braid.operation import Id, Operation, Request
from braid.own_key import as_given, own_key, with_own_keys, with_users_keys

if TYPE_CHECKING:
    from braid.ledger.record.record import Draft
    from braid.session import Session

_NOBODYS: Final = ("tomb", "evt", "key")
"""Kinds that are nobody's memory where they name no scope: what `forget` answers is the id of a tombstone."""
_Answer = TypeVar("_Answer")
RECORD: Final = re.compile(r"[a-z]+_\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ_[0-9a-v]{12}", flags=re.ASCII)


def held(session: "Session", caller: Caller, known: Operation, asked: Request) -> Request:
    """Return a request as this caller may ask it: within their scope, naming their records alone.

    Raises AccessDeniedError for an operation that is not theirs, and for another's scope; UnknownRecordError for
    another's record, in the words for one that is not there.
    """
    if caller.operations is not None and known.name not in caller.operations:
        raise AccessDeniedError(f"{caller.name} may not ask {known.name}")
    if getattr(asked, "signer", None) and caller.kind != "operator":
        raise AccessDeniedError(f"{caller.name} may not choose whose key signs: leave signer out")
    if not caller.scope:
        return with_users_keys(session, asked)
    try:
        named = list(_ids(asked))
    except RecursionError:
        raise InvalidRequestError(f"{known.name}: the request is nested too deeply to be read") from None
    held_to_scope = _within(caller, asked)
    if held_to_scope is None and not _names_records(asked):
        raise AccessDeniedError(
            f"{known.name} is about the whole store, and {caller.name} is held to {_said(caller.scope)}"
        )
    if not known.apart:
        for id in named:
            _require_own(session, caller, id)
    own = partial(own_key, session, caller.scope, is_own=partial(is_own, session, caller))
    return with_own_keys(held_to_scope or asked, own)


def require_own_request(session: "Session", asked: Request) -> None:
    """Raise UnknownRecordError where a request that another one brings names a record that isn't the asker's."""
    caller = asking()
    if caller is not None and caller.scope:
        for id in _ids(asked):
            _require_own(session, caller, id)


def is_offered(caller: Caller, known: Operation) -> bool:
    """Whether an operation answers a caller at all: it is theirs, and about a scope where they are held to one."""
    if known.access not in caller.allowed or (
        caller.operations is not None and known.name not in caller.operations
    ):
        return False
    return not caller.scope or _is_held(known.request)


def own_answer(
    session: "Session", caller: Caller, known: Operation, asked: Request, answer: _Answer
) -> _Answer:
    """Return an answer that names no record outside of a caller's scope, of a stream each item when it is taken.

    What they have named themselves may be named to them. Raises AccessDeniedError, which says so and no more.
    """
    if not caller.scope:
        return answer
    if isinstance(answer, Iterator):
        return cast("_Answer", _own_items(session, caller, known, cast("Iterator[object]", answer)))
    _require_own_ids(session, caller, known, answer, frozenset(_ids(asked)) if known.apart else frozenset())
    return answer


def told_to_asker(session: "Session", what: str, error: Exception) -> Exception:
    """Return why something was refused, as who asks may be told; `what`: the operation."""
    caller = asking()
    return error if caller is None else own_error(session, caller, what, error)


def own_error(session: "Session", caller: Caller, what: str, error: Exception) -> Exception:
    """Return why something was refused without a word of records outside of a caller's scope."""
    from braid.ledger.errors import IdempotencyConflictError

    if not caller.scope:
        return error
    told = all(is_own(session, caller, id) for id in set(RECORD.findall(str(error))))
    if isinstance(error, IdempotencyConflictError):
        key = as_given(error.key)
        return (
            IdempotencyConflictError(key, error.id, error.unlike)
            if told
            else IdempotencyConflictError(key, "", ())
        )
    if told:
        return error
    return AccessDeniedError(
        f"{what} failed ({type(error).__name__}) by a record outside of {_said(caller.scope)}"
    )


def is_own(session: "Session", caller: Caller, id: str) -> bool:
    """Whether an id may be told: a record of the scope, or nobody's; of one that can't be read nothing else is told."""
    scope = _scope_of(session, id)
    return scope is None or (not scope and id.partition("_")[0] in _NOBODYS) or _covers(caller.scope, scope)


def of_asker(session: "Session") -> Callable[[str], bool]:
    """Return what says of a record whether it is shown to who asks: of an erased one nobody knows whose it was."""
    caller = asking()
    if caller is None or not caller.scope:
        return lambda _: True
    held_to = caller

    def is_shown(id: str) -> bool:
        return _scope_of(session, id) is not None and is_own(session, held_to, id)

    return is_shown


def require_own_drafts(session: "Session", caller: Caller, batch: "Sequence[Draft]") -> None:
    """Raise AccessDeniedError for a draft outside of a caller's scope; IdempotencyConflictError for another's key."""
    from braid.ledger.errors import IdempotencyConflictError

    for draft in batch:
        scope = draft.body.scope
        own = {name: getattr(scope, name) for name in SCOPES} if scope is not None else {}
        if not _covers(caller.scope, own):
            raise AccessDeniedError(
                f"{caller.name} is held to {_said(caller.scope)}: what is outside of it is not written"
            )
    keys = [draft.body.once for draft in batch if draft.body.once is not None]
    for key, index in session.reader.key_index.find(keys).items() if keys else ():
        if not is_own(session, caller, session.reader.envelope(index).id):
            raise IdempotencyConflictError(key, "", ())


def key_of_asking(session: "Session", key: str) -> str:
    """Return the key that one which an operation makes stands for: itself, but for who is held to a scope (ADR 75)."""
    caller = asking()
    if caller is None or not caller.scope:
        return key
    return own_key(session, caller.scope, key, is_own=partial(is_own, session, caller))


def _own_items(
    session: "Session", caller: Caller, known: Operation, items: Iterator[object]
) -> Iterator[object]:
    try:
        for item in items:
            _require_own_ids(session, caller, known, item)
            yield item
    except Exception as error:
        if (told := own_error(session, caller, known.name, error)) is error:
            raise
        raise told from None


def _require_own_ids(
    session: "Session", caller: Caller, known: Operation, answer: object, given: frozenset[str] = frozenset()
) -> None:
    for id in set(_recorded(msgspec.to_builtins(answer, enc_hook=_as_text))) - given:
        if not is_own(session, caller, id):
            raise AccessDeniedError(
                f"the answer of {known.name} names records outside of {_said(caller.scope)}: it was not given"
            )


def _within(caller: Caller, asked: Request) -> Request | None:
    """Return a request with the caller's scope in it, and in the records that it brings; None where it has no scope."""
    fields = asked.__struct_fields__
    changes: dict[str, Any] = {}
    for name in fields:
        brought = _requests(getattr(asked, name))
        if brought:
            inner = [_within(caller, one) for one in brought]
            if None in inner:
                return None
            changes[name] = tuple(inner)
    if "user_id" not in fields:
        return msgspec.structs.replace(asked, **changes) if changes else None
    for name, own in caller.scope.items():
        given = getattr(asked, name)
        if given is msgspec.UNSET:  # what is erased is never made more than was said
            if _names_records(asked):  # each must be of the scope, which would only add to them
                continue
            raise AccessDeniedError(f"{caller.name} is held to {name} {own!r}: say so in the request")
        if given not in (None, own):
            raise AccessDeniedError(f"{caller.name} is held to {name} {own!r}, and asked for {given!r}")
        changes[name] = own
    return msgspec.structs.replace(asked, **changes)


def _requests(value: object) -> list[Request]:
    """Return the requests that a member brings, such as the records of a transaction."""
    if not isinstance(value, tuple):
        return []
    return [one for one in cast("tuple[object, ...]", value) if isinstance(one, Request)]


def _names_records(asked: Request) -> bool:
    """Whether a request is about records that it names: an id that stands in a text or a parameter makes none so."""
    ids = (getattr(asked, name) for name in _id_members(type(asked)))
    brought = [one for name in asked.__struct_fields__ for one in _requests(getattr(asked, name))]
    return any(ids) or (bool(brought) and all(map(_names_records, brought)))


def _ids(asked: Request) -> Iterator[str]:
    """Yield the ids of records that a request names, those in what it brings too; a link `$0` names none."""
    ids = _id_members(type(asked))
    for name in asked.__struct_fields__:
        value = getattr(asked, name)
        if name in ids:
            yield from (
                one for one in ((value,) if isinstance(value, str) else value or ()) if one[:1] != "$"
            )
        elif brought := _requests(value):
            for one in brought:
                yield from _ids(one)
        else:
            yield from _recorded(msgspec.to_builtins(value, enc_hook=_as_text))


@cache
def _id_members(request: type[Request]) -> frozenset[str]:
    """Return the names of a request's members that are ids."""
    hints = get_type_hints(request, include_extras=True)
    return frozenset(name for name in request.__struct_fields__ if _is_id(hints[name]))


@cache
def _is_held(request: type[Request]) -> bool:
    """Whether a request has a scope, names records, or brings requests that do."""
    hints = get_type_hints(request, include_extras=True)
    brings = any(_is_request(hints[name]) for name in request.__struct_fields__)
    return "user_id" in request.__struct_fields__ or bool(_id_members(request)) or brings


def _is_id(hint: Any) -> bool:
    """Whether a type is an id, or holds one; with a description of its own it is one still."""
    return set(get_args(Id)[1:]) <= set(get_args(hint)[1:]) or any(map(_is_id, get_args(hint)))


def _is_request(hint: Any) -> bool:
    return (isinstance(hint, type) and issubclass(hint, Request)) or any(map(_is_request, get_args(hint)))


def _recorded(value: object) -> Iterator[str]:
    """Yield every text in a JSON value that is a record's id, and nothing else."""
    if isinstance(value, str):
        if RECORD.fullmatch(value):
            yield value
    elif isinstance(value, dict):
        for pair in cast("dict[object, object]", value).items():
            yield from _recorded(pair)
    elif isinstance(value, list | tuple):
        for each in cast("Iterable[object]", value):
            yield from _recorded(each)


def _as_text(value: Any) -> object:
    """Return what stands for a value that JSON has no type for, so that the ids in it are seen."""
    from braid.wire import plain

    return None if value is msgspec.UNSET else plain(value)


def _require_own(session: "Session", caller: Caller, id: str) -> None:
    from braid.ledger.errors import UnknownRecordError

    scope = _scope_of(session, id)
    if scope is None or not _covers(caller.scope, scope):
        raise UnknownRecordError(f"{id}: no such record")


def _scope_of(session: "Session", id: str) -> dict[str, str] | None:
    """Return whose memory a record is, {} for nobody's; None where there is no such record, or it can't be read."""
    from braid.ledger.errors import ErasedError, UnknownRecordError

    try:
        record = session.reader.get(id, include_forgotten=True)
    except (UnknownRecordError, ErasedError):
        return None
    scope: object = record.members.get("scope") if record.raw is not None else None
    return cast("dict[str, str]", scope) if isinstance(scope, dict) else {}


def _covers(own: Mapping[str, str], scope: Mapping[str, str | None]) -> bool:
    return all(scope.get(name) == value for name, value in own.items())


def _said(scope: dict[str, str]) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in scope.items())
