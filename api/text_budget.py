"""How much text an answer holds that leaves this process as JSON: one rule for HTTP and for an agent's tools. Pure.

The longest texts of an answer that would be too large are cut to one length, and each says how long it is; `excerpt`
reads on. A block is made under a `budget` of its own, which has an upper bound here. The number of
items, and whatever is no text, is bounded by the request.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, cast

import msgspec

from braid import wire
from braid.errors import InvalidRequestError
from braid.operation import Json, Operation, Request
from braid.recall.context import CHARS_A_TOKEN

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


def most_tokens(most: int) -> int:
    """Return the largest `budget` of a block of about `most` bytes, in tokens by the cautious estimate."""
    return most // CHARS_A_TOKEN


def check_budget(known: Operation, asked: Request, most: int = ANSWER_BYTES) -> None:
    """Raise InvalidRequestError for a request whose `budget` is more than an answer of `most` bytes holds.

    In process it is free: who asks there has the memory that the answer takes.
    """
    budget: object = getattr(asked, "budget", None)
    if isinstance(budget, int) and budget > most_tokens(most):
        raise InvalidRequestError(
            f"{known.name}: budget is a whole number of at most {most_tokens(most)} here, not {budget}"
        )


def size_of(text: str) -> int:
    """Return how many bytes a text takes as JSON."""
    return len(msgspec.json.encode(text))


def bounded(value: Json, most: int, size: Callable[[str], int] = size_of) -> Bounded:
    """Return a JSON value of about `most` bytes: of its longest texts the beginning, with how long each is.

    Bytes in it are no text, and stay. `size`: how many bytes a text takes where it is shown, at least one a character.
    """
    texts = list(_texts(value))
    sizes = sorted(map(size, texts))
    rest = len(msgspec.json.encode(value)) - sum(map(size_of, texts))
    if rest + sum(sizes) <= most:
        return Bounded(value, 0)
    limit = max(LEAST, _limit(sizes, most - rest))
    return Bounded(_cut(value, limit, size), len(sizes) - bisect_right(sizes, limit))


def shortened(text: str, chars: int) -> str:
    """Return a text, or its first `chars` characters and a mark that says how many there are."""
    return text if len(text) <= chars else f"{text[:chars]}… [cut: {chars} of {len(text)} characters]"


def _texts(value: Json, name: str = "") -> Iterator[str]:
    """Yield each text, but for documents of another format."""
    if isinstance(value, str):
        if name not in _WHOLE:
            yield value
    elif isinstance(value, dict):
        for key, one in cast("dict[str, Any]", value).items():
            yield from _texts(one, key)
    elif isinstance(value, list | tuple):
        for one in cast("list[Any]", value):
            yield from _texts(one, name)


def _limit(sizes: list[int], room: int) -> int:
    """Return to how many bytes each text is cut so that all together, the shortest first, take the room."""
    for at, size in enumerate(sizes):
        if (share := room // (len(sizes) - at)) < size:
            return share
        room -= size
    return sizes[-1] if sizes else 0


def _cut(value: Json, limit: int, size: Callable[[str], int], name: str = "") -> Json:
    if isinstance(value, str):
        if name in _WHOLE or size(value) <= limit:
            return value
        start = value[:limit]
        return shortened(value, bisect_right(range(1, len(start) + 1), limit, key=lambda n: size(start[:n])))
    if isinstance(value, dict):
        return {key: _cut(one, limit, size, key) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_cut(one, limit, size, name) for one in cast("list[Any]", value)]
    return value
