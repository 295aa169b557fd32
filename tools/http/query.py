"""A request of an operation as the query of a URL says it."""

from datetime import datetime
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
from starlette.datastructures import QueryParams

from braid.errors import InvalidRequestError
from braid.operation import Operation
from braid.operation import Request as Asked
from braid.tools.http.pages import CURSOR, SIZE


def from_query(known: Operation, given: QueryParams) -> Asked:
    """Return the request that a query says: numbers and truths as text, lists by repeating, objects as JSON.

    Raises InvalidRequestError.
    """
    types = get_type_hints(known.request)
    members: dict[str, object] = {}
    for name in given:
        if known.pages is not None and name in (SIZE, CURSOR):
            continue
        if _is_time(types.get(name)) and _is_number(given[name]):
            raise InvalidRequestError(f"{known.name}: {name} is a time with its zone, not a number")
        values = [_value(one) for one in given.getlist(name)]
        is_whole = len(values) == 1 and not (isinstance(values[0], str) and _is_several(types.get(name)))
        members[name] = values[0] if is_whole else values
    try:
        return msgspec.convert(members, known.request, strict=False)
    except (msgspec.ValidationError, RecursionError) as error:
        raise known.refusal(error) from None


def _is_time(hint: Any) -> bool:
    return hint is datetime or any(_is_time(each) for each in get_args(hint))


def _is_number(text: str) -> bool:
    """Whether a text is a number, which a lenient reading would take for seconds since 1970."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_several(hint: Any) -> bool:
    return get_origin(hint) is tuple or any(get_origin(each) is tuple for each in get_args(hint))


def _value(text: str) -> object:
    if text[:1] not in ("{", "["):
        return text
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text
