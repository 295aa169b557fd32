"""Strict JSON: refuses what RFC 8259 leaves open (duplicate members, NaN, lone surrogates), with a reason."""

import json
import math
import re
from itertools import pairwise
from typing import Never, cast

MAX_DEPTH = 200
TOO_DEEP = f"nested too deeply: more than {MAX_DEPTH} levels"
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
NO_BRACKETS = rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+'
"""Up to the next bracket. Possessive, so that no input makes it go back: strings are passed in one step."""
_BRACKET = re.compile(NO_BRACKETS + rb"([\[\]{}])", flags=re.DOTALL)


class StrictJsonError(ValueError):
    """The text is not JSON that has one meaning. The message is the reason, fit for a report."""


def loads(data: bytes) -> object:
    """Decodes UTF-8 JSON. StrictJsonError for anything else, however it fails."""
    if is_too_deep(data):
        raise StrictJsonError(TOO_DEEP)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StrictJsonError(f"not valid UTF-8 (byte {error.start})") from error
    try:
        value = cast(
            "object",
            json.loads(
                text,
                object_pairs_hook=_members,
                parse_constant=_no_constant,
                parse_float=_finite,
                parse_int=_storable,
            ),
        )
    except StrictJsonError:
        raise
    except RecursionError as error:
        raise StrictJsonError("nested too deeply") from error
    except json.JSONDecodeError as error:
        raise StrictJsonError(f"not JSON: {error.msg} (character {error.pos + 1})") from error
    except ValueError as error:  # an integer beyond the interpreter's limit of digits
        raise StrictJsonError("a number is too long") from error
    if _SURROGATE.search(text):
        _refuse_lone_surrogates(value)
    return value


def is_too_deep(data: bytes) -> bool:
    """Whether JSON is nested deeper than `MAX_DEPTH`: what it decodes to could not be walked or encoded again."""
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return False
    depth = 0
    for match in _BRACKET.finditer(data):
        depth += 1 if match[1] in b"[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False


def as_object(value: object) -> dict[str, object] | None:
    """The value as a JSON object, or None."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def as_list(value: object) -> list[object] | None:
    """The value as a JSON array, or None."""
    return cast("list[object]", value) if isinstance(value, list) else None


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = sorted(name for name, _ in pairs)
        twice = next(name for name, following in pairwise(names) if name == following)
        raise StrictJsonError(f"duplicate member {twice[:80]!r}")
    return members


def _no_constant(word: str) -> Never:
    raise StrictJsonError(f"{word} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise StrictJsonError("a number is beyond the range of a double")
    return number


def _storable(digits: str) -> int:
    number = int(digits)
    if not -(2**63) <= number < 2**64:
        raise StrictJsonError("a number is too long: beyond 64 bits")
    return number


def _refuse_lone_surrogates(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise StrictJsonError("a lone surrogate is not text") from error
    except RecursionError as error:
        raise StrictJsonError("nested too deeply") from error
