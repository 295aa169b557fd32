"""A list in pages: an operation is asked again for each, and the cursor says behind what the page begins.

A cursor holds nothing that is remembered: a digest of what was asked and in which scope, how many records the log had
then, and digests of the items that were given last. So it gives nobody more than they would be answered anyway. Where
an operation knows the past, later pages are of the log as it was for the first one. Else a page goes on behind the last
item given that is still there: of what stayed none is left out, and none given twice. Rows of `sql`
have no names and are counted: where something was forgotten since the first page, the place is lost. Pure.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import Annotated, Any, Final, NamedTuple, TypeVar, cast
from urllib.parse import urlencode

import msgspec
from starlette.datastructures import QueryParams

from braid import wire
from braid.caller import Caller
from braid.errors import InvalidRequestError, LostPlaceError
from braid.ledger.read.reader import Reader
from braid.operation import Operation, Request
from braid.paging import MOST, USUAL_SIZE, whole

SIZE, CURSOR = "page_size", "cursor"
_NAMED: Final = 32
"""How many of the items that were given last a cursor names: as many may go between two pages."""
_HINT: Final = "ask for the first page again: without cursor, and all else the same"
_Answer = TypeVar("_Answer")


class Cursor(msgspec.Struct, frozen=True, array_like=True):
    """Where a page begins. `asked`: of which question; `records`: how many the log had; `given`: how many items.

    `gone`: a digest of what was forgotten or erased by then.
    """

    asked: bytes
    records: Annotated[int, msgspec.Meta(ge=1)]
    given: Annotated[int, msgspec.Meta(ge=0)]
    last: tuple[bytes, ...]
    gone: bytes = b""


class Page(NamedTuple):
    """A page that is asked for."""

    known: Operation
    asked: Request
    size: int
    digest: bytes
    records: int
    """How many records the log has."""
    gone: bytes
    """A digest of what is forgotten or erased."""
    cursor: Cursor | None
    limited: bool
    """Whether a `limit` was asked for."""

    def request(self) -> Request:
        """Return the request that gives the list of which this is a page: whole, and of one state where it may be."""
        changes: dict[str, Any] = {}
        if self.cursor is not None and self.cursor.records < self.records and _is_of_now(self.asked):
            changes["as_of"] = self.cursor.records - 1
        return whole(self.known, self.asked, limited=self.limited, **changes)

    def of(self, answer: _Answer) -> tuple[_Answer, str | None]:
        """Return an answer with this page of its list, and the cursor of the next; None behind the last one."""
        member = cast("str", self.known.pages)
        items = getattr(answer, member)
        last: tuple[bytes, ...] = ()
        if hasattr(items, "num_rows"):
            if self.cursor is not None and self.cursor.gone != self.gone:
                raise _lost("something was forgotten, recovered or erased since the first page")
            start = min(self.cursor.given if self.cursor else 0, items.num_rows)
            stop, count = start + self.size, items.num_rows
            cut = items.slice(start, self.size)
        else:
            keys = _keys(self.known, items)
            start = _start(self.cursor, keys)
            stop, count = start + self.size, len(items)
            cut, last = items[start:stop], tuple(keys[max(0, min(stop, count) - _NAMED) : stop])
        page = msgspec.structs.replace(cast("Any", answer), **{member: cut})
        if stop >= count:
            return cast("_Answer", page), None
        records = self.cursor.records if self.cursor else self.records
        return cast("_Answer", page), _written(Cursor(self.digest, records, stop, last, self.gone))


def page_of(
    known: Operation,
    query: QueryParams,
    asked: Request,
    caller: Caller,
    records: int,
    *,
    gone: bytes = b"",
    limited: bool = False,
) -> Page | None:
    """Return the page that a URL asks for, None where it asks for the whole answer.

    `records`: how many the log has; `gone`: what `gone_from` says of it; `limited`: whether a `limit` was asked for.
    Raises InvalidRequestError for what is no page, and for the cursor of another question or scope.
    """
    if SIZE not in query and CURSOR not in query:
        return None
    if known.pages is None:
        raise InvalidRequestError(f"{known.name} is not answered in pages")
    said = query.get(SIZE, str(USUAL_SIZE))
    if not (said.isascii() and said.isdigit() and len(said) < 6 and 1 <= int(said) <= MOST):
        raise InvalidRequestError(f"{known.name}: {SIZE} is a whole number from 1 to {MOST}")
    digest = _digest([known.name, wire.to_builtins(asked), caller.scope])
    cursor = _read(query[CURSOR]) if CURSOR in query else None
    if cursor is not None and cursor.asked != digest:
        raise _refused("the cursor belongs to another question, or to a caller of another scope")
    return Page(known, asked, int(said), digest, records, gone, cursor, limited)


def following(path: str, query: QueryParams, cursor: str) -> str:
    """Return the URL of the page that begins where a cursor says: what was asked, with that cursor."""
    kept = [(name, value) for name, value in query.multi_items() if name != CURSOR]
    return f"{path}?{urlencode([*kept, (CURSOR, cursor)])}"


def _read(text: str) -> Cursor:
    try:
        raw = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        return msgspec.msgpack.decode(raw, type=Cursor)
    except (ValueError, msgspec.DecodeError):
        raise _refused("that is no cursor of this server") from None


def _written(cursor: Cursor) -> str:
    return urlsafe_b64encode(msgspec.msgpack.encode(cursor)).rstrip(b"=").decode()


def _refused(why: str) -> InvalidRequestError:
    error = InvalidRequestError(why)
    error.add_note(_HINT)
    return error


def _start(cursor: Cursor | None, keys: Sequence[bytes]) -> int:
    """Return where a page begins: behind the last item given that is still in the list."""
    if cursor is None:
        return 0
    places = {key: at for at, key in enumerate(keys)}
    found = next((places[key] for key in reversed(cursor.last) if key in places), None)
    if found is not None:
        return found + 1
    if cursor.given <= len(cursor.last):
        return 0  # every item that was given is named, and gone: what is there is new to whoever asks
    raise _lost("what the cursor names is no longer in the list")


def _lost(why: str) -> LostPlaceError:
    error = LostPlaceError(why)
    error.add_note(_HINT)
    return error


def gone_from(reader: Reader) -> bytes:
    """Return a digest of what is forgotten or erased."""
    control = reader.control
    return blake2b(f"{sorted(control.hidden)}{sorted(control.erased)}".encode(), digest_size=8).digest()


def _keys(known: Operation, items: Sequence[object]) -> list[bytes]:
    """Return what names each item; of several that are alike, which one it is."""
    seen: Counter[bytes] = Counter()
    keys: list[bytes] = []
    for item in items:
        key = _digest([getattr(item, name) for name in known.page_key] if known.page_key else item)
        seen[key] += 1
        keys.append(key[:8] if seen[key] == 1 else _digest([key.hex(), seen[key]])[:8])
    return keys


def _digest(value: object) -> bytes:
    return blake2b(wire.to_json(value), digest_size=16).digest()


def _is_of_now(asked: Request) -> bool:
    """Whether a request could be asked of the past, and is not."""
    fields = asked.__struct_fields__
    return "as_of" in fields and all(getattr(asked, name, None) is None for name in ("as_of", "as_of_time"))
