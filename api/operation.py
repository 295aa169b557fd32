"""What an operation is: a frozen request, a frozen response, one function between them, and what is known of it.

Everything that can be asked of a store is declared so, once, in the room of its subject. The methods of `Store` and
`AsyncStore`, the JSON Schemas and every other face are made from these declarations (ADR 54). Pure.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from inspect import Parameter, signature
from pathlib import PurePath
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    get_type_hints,
)
from uuid import UUID

import msgspec

from braid.errors import InvalidRequestError
from braid.ledger.record.scope import MOST_CHARS, NO_CONTROL, SAID
from braid.refusal import refusal

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    ArrowTable: TypeAlias = Any  # pyarrow ships no types
    Vector: TypeAlias = NDArray[float32]
else:  # both take long to load, and few operations answer with them

    class _Known(type):
        """What is one shows by a member: the class itself would have to be imported."""

        def __instancecheck__(cls, value: object) -> bool:
            return hasattr(value, cls.shown_by)

    class ArrowTable(metaclass=_Known):
        """A table of Arrow: a `pyarrow.Table`."""

        shown_by = "column_names"

    class Vector(metaclass=_Known):
        """A vector of numbers: an array of float32."""

        shown_by = "tolist"


Json = Any
"""A JSON value: None, a boolean, a number, text, a list of these or an object of these."""

Access = Literal["read", "write", "modify", "forget", "recover", "erase", "keys", "operate", "admin"]
"""What a caller must be allowed to do.

read: see records and what is derived. write: append. modify: correct, or put a record in another's place.
forget, recover, erase: as they say.
keys: admit and revoke keys. operate: projections, snapshots, backups, audits. admin: settings and imports.
"""
Cost = Literal["record", "index", "log"]
"""How long an operation may take: a few records (milliseconds), a question to a projection that may have to catch up
(a second), or a pass over the whole log (minutes)."""
Payload = Literal["json", "bytes", "arrow"]
"""How an answer leaves the process where it is large: as JSON, as bytes of their own format, as Arrow."""

ALL_ACCESS: Final[frozenset[Access]] = frozenset(get_args(Access))

Id = Annotated[str, msgspec.Meta(min_length=1, description="A record's id.")]
Name = Annotated[str, msgspec.Meta(min_length=1)]
ScopeId = Annotated[
    str, msgspec.Meta(min_length=1, max_length=MOST_CHARS, pattern=NO_CONTROL, extra={"refusal": SAID})
]
"""Whose memory it is: a name for programs, that is also shown to people."""
IdempotencyKey = ScopeId
"""By what a request that is repeated is known: bounded as an id of a scope is, since refusals show it, and the index of
keys and every repetition read it whole. Older logs have others, which stay readable."""
PathName = Annotated[
    str, msgspec.Meta(min_length=1, description="A path of the machine that the store is on.")
]
"""Methods take a `Path` for it, too."""
Index = Annotated[int, msgspec.Meta(ge=0, description="A record's place in the log, from 0.")]
Instant = Annotated[datetime, msgspec.Meta(tz=True, description="A time with its zone.")]


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is asked. Members are flat and immutable, and their defaults are values."""


class Scoped(Request, frozen=True, kw_only=True):
    """A request within a scope: only what belongs to all the ids that are given."""

    user_id: ScopeId | None = None
    agent_id: ScopeId | None = None
    run_id: ScopeId | None = None
    project_id: ScopeId | None = None
    session_id: ScopeId | None = None


class AsOf(Request, frozen=True, kw_only=True):
    """A request to the log as it was: with record `as_of` as its newest, or at the time `as_of_time`."""

    as_of: Index | None = None
    as_of_time: Instant | None = None

    @property
    def past(self) -> int | datetime | None:
        """Which past is meant; None for the present. Raises InvalidRequestError for two at once."""
        return _past(self.as_of, self.as_of_time)


class ScopedAsOf(Scoped, frozen=True, kw_only=True):
    """A request within a scope, to the log as it was."""

    as_of: Index | None = None
    as_of_time: Instant | None = None

    @property
    def past(self) -> int | datetime | None:
        """Which past is meant; None for the present. Raises InvalidRequestError for two at once."""
        return _past(self.as_of, self.as_of_time)


def _past(as_of: int | None, as_of_time: datetime | None) -> int | datetime | None:
    if as_of is not None and as_of_time is not None:
        raise InvalidRequestError("as_of and as_of_time name two pasts: give one of them")
    return as_of if as_of_time is None else as_of_time


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """What is answered."""


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an operation."""

    name: str
    request: type[Request]
    response: type
    """What the function returns; of a stream, each of its items."""
    run: Callable[..., Any]
    access: Access
    reads: bool
    """Whether it also shows what is remembered, and so needs the access `read` too."""
    cost: Cost
    example: Request
    repeatable: bool
    """Whether repeating it does no harm: it changes nothing, or the same thing once."""
    apart: bool
    """Whether each request that it brings is answered by itself: one that may not be asked refuses no other."""
    destructive: bool
    """Whether what it takes away can't be had back."""
    streams: bool
    payload: Payload
    remote: bool
    """Whether it may be asked from another machine; not where it names a path of this one."""
    positional: tuple[str, ...]
    """Members that a method takes by position; `*ids` takes any number."""
    returns: str | None
    """The member of the response that a method returns alone."""
    pages: str | None
    """The member of the response that is a list, or a table, and may be asked for in pages."""
    page_key: tuple[str, ...]
    """Members of an item of it that name it, and those by which the list is ordered if they change; none: it itself."""
    table: str | None
    """The table or view of `sql` that has a row for each item of the list (docs/schema.md)."""
    errors: tuple[type[Exception], ...]

    @property
    def free(self) -> tuple[str, ...]:
        """Members of the request that hold JSON of the caller's own."""
        return _free_of(self.request)

    @property
    def local(self) -> tuple[str, ...]:
        """Keyword arguments of the function that aren't data: models, open files, callbacks."""
        parameters = signature(self.run).parameters.values()
        return tuple(each.name for each in parameters if each.kind is Parameter.KEYWORD_ONLY)

    @property
    def room(self) -> str:
        """The subject's room: `log`, `search`, …"""
        return self.run.__module__.split(".")[1]

    @property
    def summary(self) -> str:
        """The first sentence of what it does."""
        return self.description.partition("\n")[0].partition(". ")[0].rstrip(".") + "."

    @property
    def only_reads(self) -> bool:
        """Whether it changes nothing at all, and so may be asked again, or answered from what was kept."""
        return self.access == "read" and self.repeatable

    @property
    def description(self) -> str:
        """What it does."""
        return self.run.__doc__ or ""

    def checked(self, request: Request) -> Request:
        """Return a request whose types and bounds hold; InvalidRequestError says which member doesn't.

        The constructors of msgspec check neither.
        """
        if type(request) is not self.request:
            raise InvalidRequestError(
                f"{self.name} takes a {self.request.__name__}, not {type(request).__name__}"
            )
        try:
            for name in self.free:
                self._refuse_no_json(name, getattr(request, name))
            plain = msgspec.to_builtins(request, builtin_types=_KEPT, enc_hook=_as_plain)
            return msgspec.convert(plain, self.request, builtin_types=_BYTES)
        except RecursionError:
            raise InvalidRequestError(f"{self.name}: what is asked is nested too deep") from None
        except (msgspec.ValidationError, TypeError, NotImplementedError) as error:
            raise self.refusal(error) from None

    def _refuse_no_json(self, name: str, value: object) -> None:
        """Refuse what JSON has no type for in a free member: as a list or as text it would be what nobody said."""
        kind = type(value).__name__
        if isinstance(value, Mapping):
            for each in cast("Mapping[object, object]", value).values():
                self._refuse_no_json(name, each)
        elif isinstance(value, list | tuple):
            for each in cast("Iterable[object]", value):
                self._refuse_no_json(name, each)
        elif isinstance(value, set | frozenset | Enum) or is_dataclass(value):
            raise InvalidRequestError(f"{self.name}: {name} holds a {kind}; only JSON values can be kept")

    def decoded(self, raw: bytes) -> Request:
        """Return a request from the bytes of its JSON; raise InvalidRequestError for what is no such request."""
        try:
            return msgspec.json.decode(raw or b"{}", type=self.request)
        except RecursionError:
            raise InvalidRequestError(f"{self.name}: what is asked is nested too deep") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self.refusal(error) from None

    def refusal(self, error: Exception) -> InvalidRequestError:
        """Return why a request is refused, in the words of who asked."""
        return InvalidRequestError(f"{self.name}: {refusal(str(error), self.request)}")


def given(value: object) -> Any:
    """Return an argument of a method as the member of a request: what it is, `Session.call` checks."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray | Mapping):
        return tuple(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return value  # pyright: ignore[reportUnknownVariableType]


_KEPT: Final = (bytes, bytearray, datetime, date, time, timedelta, UUID, Decimal)
"""What `msgspec` would write as text. Within a JSON value it stays what it is, for the log to refuse."""


_BYTES: Final = (bytes, bytearray)
"""Text given for bytes is refused: only JSON has no other way to say them."""


def _as_plain(value: object) -> object:
    """Return the plain value of what only derives from one; NotImplementedError for what is none."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, PurePath):
        return str(value)
    for plain in (str, int, float):
        if isinstance(value, plain):
            return plain(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    raise NotImplementedError(f"no value of a request: {type(value).__name__}")


_OPERATIONS: Final[dict[str, Operation]] = {}
_BY_FUNCTION: Final[dict[Callable[..., Any], Operation]] = {}


@cache
def _free_of(request: type[Request]) -> tuple[str, ...]:
    return tuple(name for name, hint in get_type_hints(request).items() if _is_free(hint))


def _is_free(hint: Any) -> bool:
    return hint is Any or any(_is_free(each) for each in get_args(hint))


_Function = TypeVar("_Function", bound=Callable[..., Any])


def operation(
    request: type[Request],
    response: type,
    *,
    access: Access,
    cost: Cost,
    example: Request,
    reads: bool = False,
    repeatable: bool | None = None,
    apart: bool = False,
    destructive: bool = False,
    streams: bool = False,
    payload: Payload = "json",
    remote: bool = True,
    positional: tuple[str, ...] = (),
    returns: str | None = None,
    pages: str | None = None,
    page_key: tuple[str, ...] = (),
    table: str | None = None,
    errors: tuple[type[Exception], ...] = (),
) -> Callable[[_Function], _Function]:
    """Declare the function below as an operation, under its own name; it stays as it is.

    `repeatable` is true of what only reads, unless it is said otherwise. Raises ValueError for a name that is taken.
    """

    def declare(function: _Function) -> _Function:
        name = function.__name__
        if name in _OPERATIONS:
            raise ValueError(f"two operations are called {name}")
        found = Operation(
            name=name,
            request=request,
            response=response,
            run=function,
            access=access,
            reads=reads or access == "read",
            cost=cost,
            example=example,
            repeatable=access == "read" if repeatable is None else repeatable,
            apart=apart,
            destructive=destructive,
            streams=streams,
            payload=payload,
            remote=remote,
            positional=positional,
            returns=returns,
            pages=pages,
            page_key=page_key,
            table=table,
            errors=errors,
        )
        _OPERATIONS[name] = _BY_FUNCTION[function] = found
        return function

    return declare


def declared() -> dict[str, Operation]:
    """Return the operations of the rooms that have been imported, by name (`braid.registry` imports all)."""
    return dict(_OPERATIONS)


def operation_of(function: Callable[..., Any]) -> Operation:
    """Return what is known of a declared function; TypeError for another."""
    found = _BY_FUNCTION.get(function)
    if found is None:
        raise TypeError(f"{getattr(function, '__qualname__', function)} is no operation")
    return found
