"""How much text an answer holds that leaves this process as JSON: one rule for HTTP and for an agent's tools. Pure.

The longest texts of an answer that would be too large are cut to one length, and each says how long it is; `excerpt`
reads on. The number of items, and whatever is no text, is bounded by the request.
"""

from bisect import bisect_right
from typing import Any, Final, NamedTuple, cast

import msgspec

from braid import wire
from braid.operation import Json, Operation, Request

ANSWER_BYTES: Final = 2**20
"""Of an answer over HTTP."""
MODEL_BYTES: Final = 2**16
"""Of what a tool gives a model: some 16,000 tokens."""
LEAST: Final = 300
"""Bytes of JSON that each text keeps, however many there are: no text that is shorter is ever cut."""
_WHOLE: Final = frozenset(("graphml", "note", "proof", "token", "secret"))
"""Members that hold a document of another format, of which a part is of no use."""


class Bounded(NamedTuple):
    """An answer within its budget, and how many of its texts were cut."""

    value: Json
    cut: int


def answer_json(known: Operation, asked: Request, answer: object) -> tuple[bytes, int]:
    """Return what an operation answers as JSON, and how many of its texts were cut."""
    return to_json(answer) if is_bounded(known, asked) else (wire.to_json(answer), 0)


def to_json(answer: object, most: int = ANSWER_BYTES) -> tuple[bytes, int]:
    """Return an answer as JSON of about `most` bytes, and how many of its texts were cut for that."""
    encoded = wire.to_json(answer)
    if len(encoded) <= most:
        return encoded, 0
    plain: Json = msgspec.to_builtins(answer, enc_hook=wire.plain, builtin_types=(bytes, bytearray))
    value, cut = bounded(plain, most)
    return msgspec.json.encode(value), cut


def is_bounded(known: Operation, asked: Request) -> bool:
    """Whether the budget holds for an operation's answer: not where it is bytes, a table, or bounded by the request."""
    return known.payload == "json" and not hasattr(asked, "budget")


def bounded(value: Json, most: int) -> Bounded:
    """Return a JSON value of about `most` bytes: of its longest texts the beginning, with how long each is.

    Bytes in it are no text, and stay.
    """
    size = len(msgspec.json.encode(value))
    if size <= most:
        return Bounded(value, 0)
    sizes = sorted(_sizes(value))
    limit = max(LEAST, _limit(sizes, most - (size - sum(sizes))))
    return Bounded(_cut(value, limit), len(sizes) - bisect_right(sizes, limit))


def shortened(text: str, chars: int) -> str:
    """Return a text, or its first `chars` characters and a mark that says how many there are."""
    return text if len(text) <= chars else f"{text[:chars]}… [cut: {chars} of {len(text)} characters]"


def _sizes(value: Json, name: str = "") -> list[int]:
    """Return how many bytes each text takes as JSON, but for documents of another format."""
    if isinstance(value, str):
        return [] if name in _WHOLE else [_size(value)]
    if isinstance(value, dict):
        return [size for key, one in cast("dict[str, Any]", value).items() for size in _sizes(one, key)]
    if isinstance(value, list | tuple):
        return [size for one in cast("list[Any]", value) for size in _sizes(one, name)]
    return []


def _limit(sizes: list[int], room: int) -> int:
    """Return to how many bytes each text is cut so that all together, the shortest first, take the room."""
    for at, size in enumerate(sizes):
        if (share := room // (len(sizes) - at)) < size:
            return share
        room -= size
    return sizes[-1] if sizes else 0


def _cut(value: Json, limit: int, name: str = "") -> Json:
    if isinstance(value, str):
        if name in _WHOLE or _size(value) <= limit:
            return value
        start = value[:limit]
        return shortened(value, bisect_right(range(1, len(start) + 1), limit, key=lambda n: _size(start[:n])))
    if isinstance(value, dict):
        return {key: _cut(one, limit, key) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_cut(one, limit, name) for one in cast("list[Any]", value)]
    return value


def _size(text: str) -> int:
    return len(msgspec.json.encode(text))
