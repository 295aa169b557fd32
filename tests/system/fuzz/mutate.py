"""Small harm to bytes, as a fuzzer does it, seeded; and harm to what the bytes mean, where they are JSON or lines."""

import json
import random
from collections.abc import Callable
from typing import Any, Final

_PIECES: Final = (
    b"", b"\n", b"\n\n", b" ", b"\x00", b"\xff", b"0", b"00", b"-1", b"1e3", b"99999999999999999999", b"=", b"==",
    b"\r\n", "\u2014 ".encode(), "\u0661".encode(), "\u00a0".encode(), "\ufeff".encode(), "\u2028".encode(),
    b"\xed\xa0\x80", b"x001/", b".p/",
)  # fmt: skip
_VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, 1.0, 1.5, 2**40, 2**53, 2**53 + 1, 2**63, 2**64, 10**30, "", "x", "\u0661", [], {},
    [[]], [1, 2, 3], {"op": 1}, [["parent", 0, "x"]], [["parent", True, "x"]], {"count": 300, "root": "", "bytes": 1},
)  # fmt: skip


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return the bytes after one to four small harms."""
    for _ in range(chance.randint(1, 4)):
        data = chance.choice(_HARMS)(data, chance)
    return data


def _flip(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return b"\x00"
    changed = bytearray(data)
    changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _splice(data: bytes, chance: random.Random) -> bytes:
    start, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    start = max(start, end - chance.choice((0, 1, 2, 8, 1000)))
    return data[:start] + chance.choice((*_PIECES, data[start:end] * 2)) + data[end:]


def _lines(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(3):
        case 0:
            lines[at], lines[other] = lines[other], lines[at]
        case 1:
            lines.insert(at, lines[other])
        case _:
            lines.pop(at)
    return b"\n".join(lines)


def _number(data: bytes, chance: random.Random) -> bytes:
    """Change four or eight bytes as a little-endian number: lengths and counts are such."""
    if len(data) < 8:
        return data
    at, size = chance.randrange(len(data) - 7), chance.choice((4, 8))
    value = int.from_bytes(data[at : at + size], "little") + chance.choice((-1, 1, 12, -12, 1 << 20, 1 << 30))
    return data[:at] + (value % (1 << 8 * size)).to_bytes(size, "little") + data[at + size :]


def _member(data: bytes, chance: random.Random) -> bytes:
    try:
        members = json.loads(data)
    except ValueError:
        return _splice(data, chance)
    if not isinstance(members, dict) or not members:
        return _splice(data, chance)
    name = chance.choice(list(members))
    match chance.randrange(4):
        case 0:
            members[name] = chance.choice(_VALUES)
        case 1:
            del members[name]
        case 2:
            members[name] = _inside(members[name], chance)
        case _:
            members = dict(chance.sample(list(members.items()), len(members)))
    return json.dumps(members, ensure_ascii=chance.random() < 0.3, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def _inside(value: Any, chance: random.Random) -> Any:
    if isinstance(value, list) and value:
        at = chance.randrange(len(value))
        return [*value[:at], _inside(value[at], chance), *value[at + 1 :]]
    if isinstance(value, str) and value:
        at = chance.randrange(len(value))
        return (
            value[:at] + chance.choice(("", "\u0661", "\u00e9", "A", "=", "\n", "\u200b")) + value[at + 1 :]
        )
    return chance.choice(_VALUES)


_HARMS: Final[tuple[Callable[[bytes, random.Random], bytes], ...]] = (
    _flip,
    _splice,
    _splice,
    _lines,
    _number,
    _member,
    _member,
)
