"""Lists item by item. A store in this process makes a list once; a server is asked for a page of it at a time. Pure."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from braid.errors import InvalidRequestError
from braid.operation import Operation, Request

USUAL_SIZE: Final = 100
MOST: Final = 1000


def require_page(known: Operation, page_size: int) -> None:
    """Raise InvalidRequestError for a list that has no pages, and for a size that no page has."""
    if known.pages is None:
        raise InvalidRequestError(f"{known.name} is not answered in pages")
    if type(page_size) is not int or not 1 <= page_size <= MOST:
        raise InvalidRequestError(f"{known.name}: page_size is a whole number from 1 to {MOST}")


def whole(known: Operation, asked: Request, *, limited: bool, **changes: Any) -> Request:
    """Return the request for all of a list: its usual `limit` does not count, one asked for (`limited`) does."""
    most = highest_limit(known)
    if most is not None and not limited:
        changes["limit"] = most
    return msgspec.structs.replace(asked, **changes)


def items_of(known: Operation, answer: Any, page_size: int) -> Iterator[Any]:
    """Yield the items of a list; of a table, tables of at most so many rows: one of none where it is empty."""
    listed = getattr(answer, known.pages or "")
    if not hasattr(listed, "num_rows"):
        yield from listed
        return
    for start in range(0, max(listed.num_rows, 1), page_size):
        yield listed.slice(start, page_size)


def highest_limit(known: Operation) -> int | None:
    """Return the highest `limit` of an operation; None where it has none."""
    described: Any = msgspec.inspect.type_info(known.request)
    for field in described.fields:
        if field.name == "limit":
            number = getattr(field.type, "type", field.type)  # a description is wrapped around it
            return int(number.le)
    return None
