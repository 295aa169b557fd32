"""Who asks: what a caller may do, and whose memory is theirs to see.

A session is opened with everything allowed; a server puts a caller between it and whoever asks from outside. A caller
who is held to a scope sees that scope and no other: its ids are put into every request, ids that a request names must
be of it, and no answer that names a record of another scope leaves. An operation that can't be held so is refused.
"""

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from braid.errors import AccessDeniedError
from braid.ledger.record.record import ASKED_BY
from braid.operation import ALL_ACCESS, Access, Id, Operation, Request

if TYPE_CHECKING:
    from braid.ledger.record.record import Draft
    from braid.session import Session

CallerKind = Literal["operator", "person", "agent", "autonomous", "model"]
SCOPE: Final = ("user_id", "agent_id", "run_id", "session_id")
GRANTS: Final[dict[CallerKind, frozenset[Access]]] = {
    "operator": ALL_ACCESS,
    "person": frozenset(("read", "write", "modify", "forget", "recover")),
    "agent": frozenset(("read", "write", "modify")),
    "autonomous": frozenset(("read", "write")),
    "model": frozenset(("read",)),
}
"""What a caller of each kind is given where nothing narrower is said; more is never given but to an operator."""
_SPEAK_FOR_OWNER: Final[frozenset[CallerKind]] = frozenset(("operator", "person"))
"""Kinds whose callers may say what the owner says: what any other captures of a person is on the word of an agent."""
_NOBODYS: Final = ("tomb", "evt", "key")
"""Kinds that are nobody's memory where they name no scope: what `forget` answers is the id of a tombstone."""
_Answer = TypeVar("_Answer")
_RECORD: Final = re.compile(r"[a-z]+_\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ_[0-9a-v]{12}", flags=re.ASCII)


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Whoever asks. Ids that are given hold them to that scope; `operations`, to those alone."""

    name: str
    kind: CallerKind = "operator"
    allowed: frozenset[Access] = ALL_ACCESS
    operations: frozenset[str] | None = None
    token: str | None = None
    """The id of the token that they ask with."""
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    session_id: str | None = None

    @property
    def scope(self) -> dict[str, str]:
        """The ids that hold them; empty for whoever may see the whole store."""
        return {name: value for name in SCOPE if (value := getattr(self, name)) is not None}


_ASKING: ContextVar[Caller | None] = ContextVar("braid_caller", default=None)


def asking() -> Caller | None:
    """Return who asks; None within the process that opened the store."""
    return _ASKING.get()


@contextmanager
def asked_by(caller: Caller | None) -> Generator[None]:
    """Let what is called in the block be asked by a caller."""
    token = _ASKING.set(caller)
    try:
        yield
    finally:
        _ASKING.reset(token)


THIS_MACHINE: Final = "this machine"
"""Who asks through the socket in the store's folder: whoever can open that folder has the store anyway."""


def asked_for() -> dict[str, str]:
    """Return what a body says of who asks; nothing within the process that opened the store."""
    caller = asking()
    if caller is None or (caller.kind == "operator" and caller.name == THIS_MACHINE):
        return {}
    return {ASKED_BY: f"{caller.kind} {caller.name}"}


def attributed(batch: "Sequence[Draft]") -> "Sequence[Draft]":
    """Return drafts that say who asked for them (`003_` §22.1)."""
    said = asked_for()
    if not said:
        return batch
    return [msgspec.structs.replace(one, extra={**one.extra, **said}) for one in batch]


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
        return asked
    named = list(_ids(asked))
    held_to_scope = _within(caller, asked)
    if held_to_scope is None and not named:
        raise AccessDeniedError(
            f"{known.name} is about the whole store, and {caller.name} is held to {_said(caller.scope)}"
        )
    for id in named:
        _require_own(session, caller, id)
    return held_to_scope or asked


def as_said_by(caller: Caller | None, batch: "Sequence[Draft]") -> "Sequence[Draft]":
    """Return drafts as a caller may say them: whoever speaks for no owner is no owner, whatever actor they name."""
    if caller is None or caller.kind in _SPEAK_FOR_OWNER:
        return batch
    return [_lowered(draft) for draft in batch]


def _lowered(draft: "Draft") -> "Draft":
    from braid.ledger.record.record import ExperienceBody
    from braid.ledger.record.source import WORDS, at_first_hand

    body = draft.body
    if not isinstance(body, ExperienceBody) or at_first_hand("", body) != "owner":
        return draft
    tags = [tag for tag in body.tags if not tag.startswith(WORDS)]
    return msgspec.structs.replace(draft, body=msgspec.structs.replace(body, tags=[*tags, f"{WORDS}agent"]))


def own_answer(session: "Session", caller: Caller, known: Operation, answer: _Answer) -> _Answer:
    """Return an answer that names no record outside of a caller's scope, of a stream each item when it is taken.

    Raises AccessDeniedError, which says so and no more.
    """
    if not caller.scope:
        return answer
    if isinstance(answer, Iterator):
        return cast("_Answer", _own_items(session, caller, known, cast("Iterator[object]", answer)))
    _require_own_ids(session, caller, known, answer)
    return answer


def _own_items(
    session: "Session", caller: Caller, known: Operation, items: Iterator[object]
) -> Iterator[object]:
    for item in items:
        _require_own_ids(session, caller, known, item)
        yield item


def _require_own_ids(session: "Session", caller: Caller, known: Operation, answer: object) -> None:
    for id in set(_recorded(msgspec.to_builtins(answer, enc_hook=_as_text))):
        scope = _scope_of(session, id)
        if scope is None or (not scope and id.partition("_")[0] in _NOBODYS):
            continue
        if not _covers(caller.scope, scope):
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
        if (given := getattr(asked, name)) not in (None, own):
            raise AccessDeniedError(f"{caller.name} is held to {name} {own!r}, and asked for {given!r}")
        changes[name] = own
    return msgspec.structs.replace(asked, **changes)


def _requests(value: object) -> list[Request]:
    """Return the requests that a member brings, such as the records of a transaction."""
    if not isinstance(value, tuple):
        return []
    return [one for one in cast("tuple[object, ...]", value) if isinstance(one, Request)]


def _ids(asked: Request) -> Iterator[str]:
    """Yield the ids of records that a request names, those in what it brings too; a link `$0` names none."""
    hints = get_type_hints(type(asked), include_extras=True)
    for name in asked.__struct_fields__:
        value = getattr(asked, name)
        if _is_id(hints[name]):
            yield from (
                one for one in ((value,) if isinstance(value, str) else value or ()) if one[:1] != "$"
            )
        elif brought := _requests(value):
            for one in brought:
                yield from _ids(one)
        else:
            yield from _recorded(msgspec.to_builtins(value, enc_hook=_as_text))


def _is_id(hint: Any) -> bool:
    return hint == Id or (get_origin(hint) is not Annotated and any(_is_id(each) for each in get_args(hint)))


def _recorded(value: object) -> Iterator[str]:
    """Yield every text in a JSON value that is a record's id, and nothing else."""
    if isinstance(value, str):
        if _RECORD.fullmatch(value):
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


def _covers(own: dict[str, str], scope: dict[str, str]) -> bool:
    return all(scope.get(name) == value for name, value in own.items())


def _said(scope: dict[str, str]) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in scope.items())


def narrowed(kind: CallerKind, asked: Iterable[Access] | None) -> frozenset[Access]:
    """Return what a caller of a kind is given; AccessDeniedError for more than their kind may have."""
    given = GRANTS[kind] if asked is None else frozenset(asked)
    if over := sorted(given - GRANTS[kind]):
        raise AccessDeniedError(f"a caller of the kind {kind} is never given {', '.join(over)}")
    return given
