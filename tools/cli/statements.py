"""Where a statement ends, which parameters it names, and what `--param` says. Pure.

DuckDB's own lexer tells, so that a `;` or a `$name` in a string, a quoted name or a comment is none.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final, NamedTuple

# No leading + or 0: those are what telephone numbers and codes begin with.
_NUMBER: Final = re.compile(r"-?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
"""Not what would lose something as a number: `00123` is somebody's id, and stays text."""
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BOOLEANS: Final = {"true": True, "false": False}


class Statement(NamedTuple):
    """A statement, or a command that begins with a dot, and the line it begins at, from 1."""

    text: str
    line: int


class _Token(NamedTuple):
    start: int
    end: int
    kind: str


def _tokens(data: bytes) -> list[_Token]:
    """Return what DuckDB's lexer finds; its places count bytes."""
    import duckdb

    found = duckdb.tokenize(data.decode())
    if not found:
        return []
    ends = [place for place, _ in found[1:]] + [len(data)]
    return [_Token(place, end, kind.name) for (place, kind), end in zip(found, ends, strict=True)]


def is_finished(text: str) -> bool:
    """Whether nothing more belongs to the text: blank, a dot command, or ending in `;`."""
    if not text.strip() or text.lstrip().startswith("."):
        return True
    if ";" not in text:
        return False
    data = text.encode()
    told = [token for token in _tokens(data) if token.kind != "comment"]
    return bool(told) and data[told[-1].start : told[-1].start + 1] == b";" and told[-1].kind == "operator"


def statements(lines: Iterable[str]) -> Iterator[Statement]:
    """Yield the statements of a text as soon as each has ended; a line that begins with a dot is one of its own."""
    held, begun = "", 1
    for number, line in enumerate(lines, 1):
        if not held.strip() or (line.startswith(".") and _is_comment(held)):
            held, begun = "", number
        held += line if line.endswith("\n") else f"{line}\n"
        if is_finished(held):
            yield from _split(held, begun)
            held = ""
    yield from _split(held, begun)


def _is_comment(text: str) -> bool:
    """Whether the text is comments, and they are closed."""
    *before, last = _tokens(f"{text}x".encode())
    return all(token.kind == "comment" for token in before) and last.kind != "comment"


def _split(text: str, line: int) -> Iterator[Statement]:
    if text.lstrip().startswith("."):
        yield Statement(text.strip(), line)
        return
    data = text.encode()
    begun: int | None = None
    for token in _tokens(data):
        if token.kind == "operator" and data[token.start : token.start + 1] == b";":
            if begun is not None:
                yield _cut(data, begun, token.start, line)
            begun = None
        elif begun is None and token.kind != "comment":
            begun = token.start
    if begun is not None:
        yield _cut(data, begun, len(data), line)


def _cut(data: bytes, start: int, end: int, line: int) -> Statement:
    return Statement(data[start:end].decode().strip(), line + data.count(b"\n", 0, start))


def named_in(statement: str) -> set[str]:
    """Return the names of the parameters that a statement has."""
    data = statement.encode()
    tokens = _tokens(data)
    return {
        data[name.start : name.end].decode().strip().lower()
        for sign, name in pairwise(tokens)
        if data[sign.start : sign.start + 1] == b"$"
        and (sign.kind, sign.start + 1) == ("operator", name.start)
    }


def parameters(given: Sequence[str]) -> dict[str, Any]:
    """Return the parameters that `name=value` words give; raise ValueError for a word that gives none."""
    found: dict[str, Any] = {}
    for word in given:
        name, equals, value = word.partition("=")
        if not equals or not _NAME.fullmatch(name):
            raise ValueError(f"--param takes name=value, with a plain name; not {word!r}")
        found[name.lower()] = value_of(value)
    return found


def value_of(text: str) -> Any:
    """Return what a text stands for: a number, true or false, a time (UTC), else text; `'…'` is always text."""
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    if _NUMBER.fullmatch(text):
        return _number(text)
    if _TIME.fullmatch(text):
        try:
            time = datetime.fromisoformat(text)
        except ValueError:  # the 30th of February
            return text
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time
    return text


def _number(text: str) -> int | float:
    """Return an integer where it is one that 64 bits hold, else a float."""
    try:
        number = int(text)
    except ValueError:
        return float(text)
    return number if -(1 << 63) <= number < 1 << 63 else float(text)
