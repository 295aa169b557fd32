"""Pieces of a JSON document that is too large to be held: the elements of its array, found without decoding.

Each piece is given as its bytes and decoded by `strict.loads`, so that one that is bad, or too long, or too deep is
refused by itself and the next one is read. An event parser (ijson) would do less: it holds a string of any length
whole, takes the last of duplicate members, and ends where an item ends badly.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from braid.tools.importers.source import BOM
from braid.tools.importers.strict import MAX_DEPTH, NO_BRACKETS, TOO_DEEP, StrictJsonError, loads

MAX_PIECE_BYTES = 32 * 2**20
_CHUNK = 2**18

# Possessive, so that no input makes them go back: brackets are counted, and a quote that is still open is told.
_NEXT = re.compile(NO_BRACKETS + rb'([\[\]{}"])', flags=re.DOTALL)
_CLOSE = re.compile(rb'(?:[^"\\]++|\\.)*+"', flags=re.DOTALL)
_SPACE = re.compile(rb"[ \t\r\n]*+")
_SCALAR = re.compile(rb"[^ \t\r\n,\]}]*+")
_QUOTE, _COMMA, _COLON, _OPENING, _CLOSING = b'"'[0], b","[0], b":"[0], b"[{", b"]}"


class SplitElement(NamedTuple):
    """A member or an element; `raw` is None where it is refused, for `reason`."""

    number: int
    """Position from 1, within its array or object."""
    name: str
    """The member's name, empty for an element of the document's own array."""
    raw: bytes | None
    reason: str = ""
    is_element: bool = False


def pieces(stream: BinaryIO, within: str = "", limit: int = MAX_PIECE_BYTES) -> Iterator[SplitElement]:
    """The elements of the document's array; with `within`, the members of its object, that one's elements each.

    A document that is an object is one piece where `within` is not said. Ends with a refused piece where the
    document is no JSON any more, or is cut off.
    """
    scan = _Scan(stream, limit)
    try:
        first = scan.peek()
        if first == b"["[0]:
            yield from _elements(scan, "")
        elif first == b"{"[0] and within:
            yield from _members(scan, within)
        elif first == b"{"[0]:
            yield SplitElement(1, "", *scan.value(), is_element=True)
        else:
            raise _BrokenError("neither a JSON array nor an object" if first >= 0 else "empty")
        if scan.peek() >= 0:
            raise _BrokenError("something follows the end of the JSON document")
    except _BrokenError as error:
        yield SplitElement(scan.count + 1, "", None, str(error), is_element=True)


class _BrokenError(Exception):
    """The document can't be followed any further."""


def _elements(scan: "_Scan", name: str) -> Iterator[SplitElement]:
    scan.at += 1
    scan.count = 0
    if scan.peek() == b"]"[0]:
        scan.at += 1
        return
    while True:
        raw, reason = scan.value()
        scan.count += 1
        yield SplitElement(scan.count, name, raw, reason, is_element=True)
        if scan.expect(b",]") == b"]"[0]:
            return


def _members(scan: "_Scan", within: str) -> Iterator[SplitElement]:
    scan.at += 1
    if scan.peek() == b"}"[0]:
        scan.at += 1
        return
    number = 0
    while True:
        if scan.peek() != _QUOTE:
            raise _BrokenError("not JSON: a member's name was expected")
        name = _name(scan)
        scan.expect(b":")
        number += 1
        if name == within and scan.peek() == b"["[0]:
            yield from _elements(scan, name)
        else:
            scan.peek()
            yield SplitElement(number, name, *scan.value())
        if scan.expect(b",}") == b"}"[0]:
            return


def _name(scan: "_Scan") -> str:
    raw, reason = scan.value()
    try:
        return str(loads(raw)) if raw is not None else ""
    except StrictJsonError as error:
        raise _BrokenError(reason or str(error)) from error


class _Scan:
    """A place in a stream of JSON."""

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        data = stream.read(_CHUNK)
        while 0 < len(data) < len(BOM) and (more := stream.read(_CHUNK)):  # a raw stream may give less
            data += more
        self._data = data.removeprefix(BOM)
        self.at = 0
        self.count = 0

    def _more(self) -> bool:
        self._data, self.at = self._stream.read(_CHUNK), 0
        return bool(self._data)

    def peek(self) -> int:
        """The next byte that is not white space, −1 at the end."""
        while True:
            match = _SPACE.match(self._data, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self._data):
                return self._data[self.at]
            if not self._more():
                return -1

    def expect(self, wanted: bytes) -> int:
        """Pass one of the wanted bytes, and return it."""
        found = self.peek()
        if found < 0:
            raise _BrokenError("cut off: the JSON document is not whole")
        if found not in wanted:
            shown = " or ".join(repr(chr(one)) for one in wanted)
            raise _BrokenError(f"not JSON: {shown} was expected")
        self.at += 1
        return found

    def value(self) -> tuple[bytes | None, str]:
        """Pass the value that begins here; its bytes, or None and why it is refused."""
        if self.peek() < 0:
            raise _BrokenError("cut off: the JSON document is not whole")
        held, size, state = [b""], 0, _State()
        while True:
            end = state.end(self._data, self.at)
            size += (len(self._data) if end is None else end) - self.at
            if size > self._limit or state.deepest > MAX_DEPTH:
                held = []
            elif held:
                held.append(self._data[self.at : end])
            if end is not None:
                self.at = end
                break
            if not self._more():
                if not state.is_scalar:
                    raise _BrokenError("cut off: the JSON document is not whole")
                break
        if size > self._limit:
            return None, f"longer than {self._limit} bytes"
        if state.deepest > MAX_DEPTH:
            return None, TOO_DEEP
        if size == 0:
            raise _BrokenError("not JSON: a value was expected")
        return b"".join(held), ""


class _State:
    """How far into a value the chunks so far have led."""

    def __init__(self) -> None:
        self.depth = self.deepest = 0
        self.is_scalar = False
        self._in_string = self._is_escaped = self._begun = False

    def end(self, data: bytes, at: int) -> int | None:
        """Where in `data` the value ends; None if it goes on behind it."""
        if not self._begun:
            self._begun = True
            first = data[at]
            self.is_scalar = first != _QUOTE and first not in _OPENING
            if first == _QUOTE:
                self._in_string, at = True, at + 1
        if self.is_scalar:
            match = _SCALAR.match(data, at)
            end = match.end() if match else at
            return end if end < len(data) else None
        if self._in_string:
            passed = self._pass_string(data, at)
            if passed is None or self.depth == 0:
                return passed
            at = passed
        return self._pass_brackets(data, at)

    def _pass_string(self, data: bytes, at: int) -> int | None:
        if self._is_escaped and at < len(data):
            self._is_escaped, at = False, at + 1
        match = _CLOSE.match(data, at)
        self._in_string = match is None
        if match is not None:
            return match.end()
        backslashes = len(data) - max(at, len(data.rstrip(b"\\")))
        self._is_escaped = backslashes % 2 == 1
        return None

    def _pass_brackets(self, data: bytes, at: int) -> int | None:
        while match := _NEXT.match(data, at):
            at, found = match.end(), match[1]
            if found in (b"[", b"{"):
                self.depth += 1
                self.deepest = max(self.deepest, self.depth)
            elif found in (b"]", b"}"):
                self.depth -= 1
                if self.depth == 0:
                    return at
            else:
                self._in_string = True
                self._pass_string(data, at)
                return None
        return None
