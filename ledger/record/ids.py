"""Record ids that read well, sort by time and name their own log index (SPEC §1.2). Pure."""

import re
from typing import Final, NewType

import msgspec

RecordId = NewType("RecordId", str)

EXAMPLE: Final = "exp_2026-01-31T09:30:00Z_000000g1k2v3"
"""What an id looks like, for who gave something else."""
MAX_INDEX: Final = (1 << 40) - 1
PREFIXES: Final = {
    "experience": "exp",
    "view": "view",
    "stance": "stance",
    "affect": "aff",
    "embedding": "emb",
    "tombstone": "tomb",
    "key": "key",
    "event": "evt",
    "genesis": "gen",
}
_DIGITS = "0123456789abcdefghijklmnopqrstuv"
_PAIRS = [a + b for a in _DIGITS for b in _DIGITS]
_ID = re.compile(r"([a-z]{1,12})_(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)_([0-9a-v]{12})", re.ASCII)


class IdParts(msgspec.Struct, frozen=True):
    """What an id says of its record."""

    prefix: str
    second: str
    index: int
    random: int


def prefix_of(kind: str) -> str:
    """Return the id prefix of a kind; an unknown kind is its own prefix."""
    return PREFIXES.get(kind, kind)


def make_id(prefix: str, second: str, index: int, random20: int) -> RecordId:
    """Build an id from `second` (`YYYY-MM-DDTHH:MM:SSZ`), the log index and 20 random bits."""
    n = index << 20 | random20
    pairs = _PAIRS
    return RecordId(
        f"{prefix}_{second}_{pairs[n >> 50]}{pairs[n >> 40 & 1023]}{pairs[n >> 30 & 1023]}"
        f"{pairs[n >> 20 & 1023]}{pairs[n >> 10 & 1023]}{pairs[n & 1023]}"
    )


def parse_id(text: str) -> IdParts:
    """Take an id apart; raise ValueError for text that is none."""
    match = _ID.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a record id (such as {EXAMPLE})")
    number = int(match[3], 32)
    return IdParts(match[1], match[2], number >> 20, number & 0xFFFFF)


def index_of(text: str) -> int:
    """Return the log index that an id names; raise ValueError for text that is no id."""
    return parse_id(text).index
