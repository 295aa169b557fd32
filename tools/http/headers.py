"""Headers that stand for a member of a request, on whichever route it comes."""

from functools import cache
from typing import Any, Final, TypeVar, get_type_hints

import msgspec
from starlette.requests import Request

from braid.errors import InvalidRequestError
from braid.operation import Request as Asked
from braid.refusal import refusal

_MEMBERS: Final = (("Idempotency-Key", "idempotency_key"), ("If-Match", "if_version"))
_Form = TypeVar("_Form", bound=Asked)


def with_headers(request: Request, asked: _Form, name: str) -> _Form:
    """Return what is asked with what its headers say. `name`: what is asked for, for who reads a refusal.

    Raises InvalidRequestError for a header that has no member here, is none such, or says something else than the body.
    """
    for header, member in _MEMBERS:
        text = request.headers.get(header)
        if text is None:
            continue
        if member not in asked.__struct_fields__:
            raise InvalidRequestError(f"{name} takes no {header}")
        value = _version(text) if member == "if_version" else text
        try:
            msgspec.convert(value, _types(type(asked))[member])
        except msgspec.ValidationError as error:
            raise InvalidRequestError(
                f"{header}: {refusal(f'{error} - at `$.{member}`', type(asked))}"
            ) from None
        said = getattr(asked, member)
        if said not in (None, value):
            raise InvalidRequestError(
                f"{header} is {value!r}, and {member} in the body {said!r}: leave one out"
            )
        asked = msgspec.structs.replace(asked, **{member: value})
    return asked


@cache
def _types(form: type[Asked]) -> dict[str, Any]:
    return get_type_hints(form, include_extras=True)


def _version(text: str) -> int:
    """Return the version that If-Match names, quoted or not."""
    digits = text.strip('"')
    if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
        raise InvalidRequestError('If-Match is the version of a memory, such as "3"')
    return int(digits)
