"""An attacker's tools: frames put together anew with fresh checksums and, with the log's key, fresh heads."""

import shutil
from collections.abc import Callable
from pathlib import Path

from braid.ledger.keys.author_key import Signer
from braid.ledger.keys.logkeys import load_log_key
from braid.ledger.record.envelope import pae, unwrap, wrap
from braid.ledger.settings import load_settings
from braid.ledger.tree.checkpoint import Checkpoint, sign_checkpoint
from braid.ledger.tree.guard import Guard, Head
from braid.ledger.tree.merkle import leaf_hash
from braid.ledger.tree.publication import publish_checkpoint, write_tiles
from braid.ledger.tree.tiles import Frontier
from braid.wal.frame import Stored, encode_frame
from braid.wal.segment import SEGMENT_HEADER_BYTES, Segment, encode_segment_header, pack_entries

Frames = list[list[Stored]]


def segment_file(store: Path) -> Path:
    """Return the store's only segment."""
    (path,) = sorted((store / "log").glob("*.seg"))
    return path


def read_frames(store: Path) -> Frames:
    """Return the records of each frame."""
    segment = Segment(segment_file(store), load_settings(store).store_id)
    try:
        return [list(frame.records()) for frame in segment.frames(SEGMENT_HEADER_BYTES)]
    finally:
        segment.close()


def write_frames(
    store: Path, frames: Frames, *, firsts: list[int] | None = None, txs: list[int] | None = None
) -> None:
    """Write the frames with right checksums and a right place index, as an attacker would."""
    path, store_id = segment_file(store), load_settings(store).store_id
    data, first = bytearray(encode_segment_header(0, store_id)), 0
    for tx, records in enumerate(frames):
        at = first if firsts is None else firsts[tx]
        data += b"".join(encode_frame(at, tx if txs is None else txs[tx], len(data), records))
        first += len(records)
    path.write_bytes(data)
    segment = Segment(path, store_id)
    rows = b"".join(pack_entries(frame.extents()) for frame in segment.frames(SEGMENT_HEADER_BYTES))
    segment.close()
    path.with_suffix(".idx").write_bytes(rows)


def sign_heads(store: Path, frames: Frames, guard: Guard) -> None:
    """Sign the tree of these frames with the log's key: tiles, checkpoint, history and guard anew."""
    frontier = Frontier()
    frontier.extend([leaf_hash(record.envelope) for records in frames for record in records])
    shutil.rmtree(store / "tile")
    (store / "checkpoints").unlink()
    write_tiles(
        store, [*((level, n, 0, data) for level, n, data in frontier.take_full()), *frontier.partials()]
    )
    key = load_log_key(store)
    checkpoint = Checkpoint(key.name, frontier.size, frontier.root())
    note = sign_checkpoint(checkpoint, [key])
    publish_checkpoint(store, note)
    guard.write(Head(key.name, str(key.verifier), frontier.size, frontier.root().hex(), 0, note.decode()))


def resign(
    record: Stored, signer: Signer, change: Callable[[bytes], bytes] = lambda payload: payload
) -> Stored:
    """Return the record with its payload changed and signed by `signer`."""
    payload = change(unwrap(record.envelope).payload)
    return record._replace(envelope=wrap(payload, signer.sign(pae(payload))))


def flip(path: Path, offset: int, bit: int = 0) -> None:
    """Flip one bit of a file; negative offsets count from its end."""
    data = bytearray(path.read_bytes())
    data[offset] ^= 1 << bit
    path.write_bytes(data)
