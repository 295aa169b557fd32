"""What passes between an audit and its workers: a stretch of the log, and the columns that it gives (SPEC §11.1)."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from braid.ledger.audit.findings import Finding
from braid.ledger.record.envelope import Envelope
from braid.ledger.record.lattice import RANK
from braid.ledger.record.record import KINDS

KIND_CODES: Final = {kind: 16 + place for place, kind in enumerate(KINDS)}
NO_SIGNER: Final = 0xFFFFFFFF
UNKNOWN_TYPE, UNKNOWN_KIND, UNREAD = 240, 250, 254
"""Codes of a record's kind: 0 … 3 are the lattice's ranks of experiences, 16 … the other kinds."""
ROLES: Final = (
    "parent",
    "evidence",
    "applied_to",
    "support",
    "candidate",
    "experience",
    "supersedes",
    "target",
    "kept",
)
DIGITS: Final = "0123456789abcdefghijklmnopqrstuv"
_PAIRS: Final = [a + b for a in DIGITS for b in DIGITS]


class KeyFacts(msgspec.Struct, frozen=True):
    """What an audit knows of a key beforehand; whether it was in force is judged later. `actor` only with a vault."""

    public: bytes
    role: str = ""
    actor: str | None = None


class AuditTerms(msgspec.Struct, frozen=True):
    """What is the same for every stretch of one audit."""

    origin: str
    keys: dict[str, KeyFacts]
    hash_only: bool = False
    deep: bool = False


class Chunk(msgspec.Struct, frozen=True):
    """A stretch of a segment from one frame's start to another's; `keys` are the record keys for a deep audit."""

    path: str
    name: str
    start: int
    stop: int
    end: int
    """Where the log ends in this file."""
    segment_first: int
    first: int
    keys: bytes = b""
    """64 bytes a record from `first` on (sealing key, commitment), zeros where it was erased."""
    due: int | None = None
    """The record that must come next, where the parent knows better than the first frame."""


class StretchFacts(msgspec.Struct):
    """What a stretch holds; columns have one row for each record of `runs`, in order."""

    stopped: int = 0
    runs: list[tuple[int, int]] = []
    leaves: bytes = b""
    ids: bytes = b""
    kinds: bytes = b""
    signers: list[tuple[str, str, bool]] = []
    signed: bytes = b""
    """Place in `signers` as u32; 0xFFFFFFFF where the envelope can't be read."""
    controls: list[tuple[int, bytes, bytes, bytes, bool]] = []
    """Index, payload, signature, list of links, whether the signature holds."""
    pointers: list[tuple[int, int]] = []
    link_rows: bytes = b""
    blobs: list[tuple[int, str, int]] = []
    bodies: list[tuple[int, str, int]] = []
    findings: list[Finding] = []
    unknown_keys: list[str] = []
    tx: tuple[int, int] = (-1, -1)
    time: tuple[str, str] = ("", "")


def stretches(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield (first, count) of each run of consecutive numbers; they must ascend."""
    first, count = 0, 0
    for number in numbers:
        if count and number == first + count:
            count += 1
            continue
        if count:
            yield first, count
        first, count = number, 1
    if count:
        yield first, count


def kind_code(envelope: Envelope) -> int:
    if envelope.kind == "experience":
        return RANK.get(envelope.type, UNKNOWN_TYPE)
    return KIND_CODES.get(envelope.kind, UNKNOWN_KIND)


def index_text(index: int) -> str:
    """Return the 8 characters of an id that name the index (SPEC §1.2)."""
    pairs = _PAIRS
    return f"{pairs[index >> 30 & 1023]}{pairs[index >> 20 & 1023]}{pairs[index >> 10 & 1023]}{pairs[index & 1023]}"
