"""The part that an earlier audit covered: authenticated by its root, read where the new part needs it (SPEC §11.4)."""

import os
from bisect import bisect_right
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from braid.ledger.audit.facts import kind_code
from braid.ledger.audit.findings import Finding, VerifiedState
from braid.ledger.audit.plan import SegmentFile
from braid.ledger.audit.tree import ReadTile, edge_root, read_edge
from braid.ledger.errors import IntegrityError, LedgerError
from braid.ledger.keys.control import ControlState
from braid.ledger.record.envelope import (
    Envelope,
    Link,
    LinkSummary,
    decode_links,
    decode_payload,
    text_of,
    unwrap,
)
from braid.ledger.tree.merkle import leaf_hash, root_of
from braid.ledger.tree.tiles import Frontier, TileTree, partial_tiles, tile_path
from braid.wal.regular import open_regular
from braid.wal.segment import ENTRY


class Start(NamedTuple):
    """Where the new part begins: segment, offset, and what the records before it add up to."""

    segment: int
    offset: int
    first: int
    tx: int
    time: str
    control: ControlState
    edge: list[bytes]


class OldPart:
    """Reads records of the old part, each compared with its authenticated leaf."""

    def __init__(self, segments: list[SegmentFile], tree: TileTree) -> None:
        self._segments = segments
        self._firsts = [segment.first for segment in segments]
        self._tree = tree
        self.findings: list[Finding] = []

    def entry(self, index: int) -> tuple[SegmentFile, tuple[int, int, int, int]]:
        """Return where a record lies; raise IntegrityError without an entry."""
        segment = self._segments[max(bisect_right(self._firsts, index) - 1, 0)]
        try:
            data = _read(segment.path.with_suffix(".idx"), (index - segment.first) * ENTRY.size, ENTRY.size)
        except FileNotFoundError:
            data = b""
        if len(data) != ENTRY.size:
            raise IntegrityError(f"{segment.name}: the place index lacks record {index}")
        return segment, ENTRY.unpack(data)

    def envelope(self, index: int) -> Envelope:
        """Return an envelope that is the leaf at `index`; raise IntegrityError, TileError, EnvelopeError."""
        segment, (offset, _, length, _) = self.entry(index)
        data = _read(segment.path, offset, min(length, 65_535))
        if leaf_hash(data) != self._tree.leaf(index):
            raise IntegrityError(
                f"{segment.name}, offset {offset}: record {index} is not what was verified before"
            )
        envelope = decode_payload(unwrap(data).payload)
        if envelope.index != index:
            raise IntegrityError(f"{envelope.id} stands at index {index}: it was moved")
        return envelope

    def links(self, envelope: Envelope) -> list[Link]:
        """Return an old record's links; raise IntegrityError when the list is not the signed one."""
        summary = envelope.links
        if not isinstance(summary, LinkSummary):
            return summary
        segment, (offset, _, length, _) = self.entry(envelope.index)
        data = _read(segment.path, offset + length, summary.bytes)
        if text_of(root_of([leaf_hash(line) for line in data.splitlines(keepends=True)])) != summary.root:
            raise IntegrityError(f"{envelope.id}: its list of links is not the one that was signed")
        return decode_links(data)

    def look(self, index: int) -> tuple[bytes, int] | None:
        """Return id hash and kind code of an old record; None, with a finding, when it is not what was verified."""
        try:
            envelope = self.envelope(index)
        except (LedgerError, ValueError) as error:
            self.findings.append(Finding("since", str(error), index))
            return None
        return sha256(envelope.id.encode()).digest()[:8], kind_code(envelope)

    def blank(self, index: int) -> bool | None:
        """Return whether an old record's body is blank; None when it can't be told."""
        try:
            segment, (_, offset, _, length) = self.entry(index)
        except IntegrityError:
            return None
        data = _read(segment.path, offset, length)
        return data.count(0) == len(data)

    def control(self, last: Envelope) -> ControlState:
        """Return the control state behind `last`, by the chain of control records."""
        chain: list[Envelope] = []
        envelope = last if last.is_control else self.envelope(last.control)
        while True:
            chain.append(envelope)
            if envelope.index == 0:
                break
            if envelope.control >= envelope.index:
                raise IntegrityError(f"{envelope.id}: the chain of control records does not lead back")
            envelope = self.envelope(envelope.control)
        state = ControlState()
        for envelope in reversed(chain):
            state.apply(envelope, self.links(envelope))
        return state


def resume(
    segments: list[SegmentFile], since: VerifiedState, published: int, read: ReadTile
) -> tuple[Start, OldPart] | Finding:
    """Stand behind what was verified before; a Finding when the log does not continue it."""
    size = since.size
    edge = read_edge(size, published, read)
    if edge is None:
        return Finding("tile", f"a tile that the head of {size} records needs is missing: run a full audit")
    if edge_root(edge).hex() != since.root:
        return Finding(
            "since", f"the tree does not continue the head of {size} records that was verified before"
        )
    partials = {tile.level: edge[tile.level] for tile in partial_tiles(size)}
    tree = TileTree(
        lambda level, n, width: _load(read, level, n, width), Frontier.from_partials(size, partials)
    )
    old = OldPart(segments, tree)
    try:
        last = old.envelope(size - 1)
        control = old.control(last)
        segment, (_, body_at, _, body_len) = old.entry(size - 1)
    except (LedgerError, ValueError) as error:
        return Finding("since", str(error), size - 1)
    place = segments.index(segment)
    offset = body_at + body_len
    if offset >= segment.end and place + 1 < len(segments):
        place, offset = place + 1, 64
    return Start(place, offset, size, last.tx[0], last.created_at, control, edge), old


def _load(read: ReadTile, level: int, n: int, width: int) -> bytes:
    data = read(level, n, width)
    if data is None:
        raise FileNotFoundError(tile_path(level, n, width))
    return data


def _read(path: Path, offset: int, length: int) -> bytes:
    if not 0 <= offset < 1 << 62:
        return b""
    fd = open_regular(path)
    try:
        return os.pread(fd, length, offset)
    finally:
        os.close(fd)
