"""`records.json` of an export of a subject, read record by record: it may be larger than the memory there is."""

import json
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import IO, Any, Final

import msgspec

from braid.exchange.lines import MAX_LINE_BYTES
from braid.ledger.errors import EvidenceError
from braid.ledger.subject.format import HeldRecord, Holding

NAME: Final = "records.json"
_STEP: Final = 1 << 16
_SPACE: Final = " \t\r\n"
_FIELDS: Final = {one.encode_name: one.type for one in msgspec.structs.fields(Holding)}


def read_holding(stream: IO[bytes]) -> Iterator[HeldRecord]:
    """Yield the records of `records.json`, each checked against its form; all else of the file is checked, and let go.

    Raises EvidenceError for another form, a member that stands twice, and a value longer than a line may be.
    """
    try:
        yield from _records(_Text(stream))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise EvidenceError(f"{NAME} is not what an export holds: {error}") from None


def _records(text: "_Text") -> Iterator[HeldRecord]:
    held: dict[str, Any] = {}
    text.take("{")
    while True:
        name = msgspec.json.decode(text.value(), type=str)
        text.take(":")
        if name in held:  # of two, readers differ in which one counts
            raise ValueError(f"{name} stands twice")
        listed: Any = getattr(_FIELDS.get(name), "__args__", ()) if text.peek() == "[" else ()
        if listed:
            held[name] = []
            for raw in _items(text):
                item = msgspec.json.decode(raw, type=listed[0])
                if isinstance(item, HeldRecord):
                    yield item
        else:
            raw = text.value()
            held[name] = msgspec.json.decode(raw) if name in _FIELDS else None  # a later release may say more
        if text.either(",", "}") == "}":
            break
    text.end()
    msgspec.convert(held, Holding)


def _items(text: "_Text") -> Iterator[bytes]:
    text.take("[")
    if text.peek() == "]":
        text.take("]")
        return
    while True:
        yield text.value()
        if text.either(",", "]") == "]":
            return


class _Text:
    """Text that is read as it is needed, value by value."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decoder = getincrementaldecoder("utf-8")()
        self._json = json.JSONDecoder()
        self._held = ""
        self._at = 0
        self._ended = False

    def peek(self) -> str:
        """Return the next character that is no space; ValueError at the end."""
        while True:
            while self._at < len(self._held):
                if self._held[self._at] not in _SPACE:
                    return self._held[self._at]
                self._at += 1
            if not self._more(_STEP):
                raise ValueError("it is cut off")

    def take(self, sign: str) -> None:
        """Go behind a sign; ValueError where another stands."""
        self.either(sign, sign)

    def either(self, one: str, other: str) -> str:
        """Return which of two signs stands here, and go behind it."""
        found = self.peek()
        if found not in (one, other):
            raise ValueError(f"{found!r} stands where {one} is wanted")
        self._at += 1
        return found

    def value(self) -> bytes:
        """Return the next value as it is written. ValueError for none, and for one that is too long."""
        self.peek()
        step = _STEP
        while True:
            try:
                end = self._json.raw_decode(self._held, self._at)[1]
            except (
                ValueError
            ):  # no value, or not all of it yet: twice as much is looked at, so that it costs no square
                end = len(self._held)
            if end < len(self._held):  # a number may go on behind the end of what is held
                raw = self._held[self._at : end].encode()
                self._at = end
                return raw
            if len(self._held) - self._at > MAX_LINE_BYTES:
                raise ValueError(f"a value is longer than {MAX_LINE_BYTES} characters")
            if not self._more(step):
                raise ValueError("it is cut off, or no JSON")
            step *= 2

    def end(self) -> None:
        """Raise ValueError where anything but space is left."""
        while self._at < len(self._held) or self._more(_STEP):
            if self._held[self._at :].strip(_SPACE):
                raise ValueError("more stands behind its end")
            self._at = len(self._held)

    def _more(self, size: int) -> bool:
        """Read on, and let go of what was taken; return whether there was more."""
        if self._ended:
            return False
        read = self._stream.read(size)
        self._ended = not read
        self._held = self._held[self._at :] + self._decoder.decode(read, final=self._ended)
        self._at = 0
        return not self._ended
