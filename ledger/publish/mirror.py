"""Bringing a folder up to a log's signed head: publishing and mirroring are the same act (SPEC §16.3).

The tree is authenticated from its signed root down before the first byte is written, and shown to continue what the
folder publishes already; then every bundle and tile is checked as it comes. What an interrupted run left is looked at
again, not fetched again.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from braid.ledger.errors import RefusedLogError
from braid.ledger.publish.folder import CHECKPOINT, EVIDENCE, Leaf, Outlet
from braid.ledger.publish.policy import NONE, Policy
from braid.ledger.publish.remote import (
    Gather,
    ServedLog,
    SignedHead,
    judge_growth,
    judge_heads,
    leaves_of,
    open_head,
    refusing,
)
from braid.ledger.publish.succession import all_signatures, follow_keys
from braid.ledger.tree.checkpoint import Checkpoint
from braid.ledger.tree.merkle import EMPTY_ROOT
from braid.ledger.tree.note import VerifierKey
from braid.ledger.tree.tiles import TILE_WIDTH, TileTree, entries_path, tile_path, tile_width, tiles_for_size

BATCH: Final = 64
Progress = Callable[[int, int], None]


def published_head(outlet: Outlet, log: ServedLog, policy: Policy | None = None) -> SignedHead | None:
    """Return the head that a folder publishes, None for a new one; RefusedLogError where it is not this log's.

    With a policy the cosignatures of its witnesses are verified and kept, whatever their number.
    """
    witnesses = replace(policy, quorum=NONE) if policy else None
    try:
        note = outlet.fetch(CHECKPOINT)
    except FileNotFoundError:
        return None
    keys = (log.vkey, *log.others)  # it may stand under a key that has been retired since
    for key in keys:
        try:
            return open_head(note, key, witnesses, others=[other for other in keys if other != key])
        except RefusedLogError as error:
            if key == keys[-1] or error.reason != "signature":
                raise
    raise AssertionError  # the last one returns or raises


def current_head(log: ServedLog, outlet: Outlet) -> tuple[ServedLog, SignedHead]:
    """Return the head that is served now, and the log under the key that signs it (SPEC §16.5).

    Where the pinned key does not sign any more, the log's records lead from the last head that it signed, which the
    folder keeps, to the keys that do. Raises RefusedLogError as `ServedLog.head` and `follow_keys` do.
    """
    try:
        return log, all_signatures(log, log.head())
    except RefusedLogError as error:
        vouching = _last_under(outlet, log.vkey) if error.reason == "signature" else None
        if vouching is None:
            raise
    head, keys = follow_keys(log, vouching.checkpoint, log.note())
    outlet.keep_evidence(vouching.note)
    followed = log.under(keys)
    if log.policy is not None:
        head = open_head(head.whole, head.vkey, log.policy, others=keys[1:])
    return followed, head


def _last_under(outlet: Outlet, key: VerifierKey) -> SignedHead | None:
    """Return the last head that the folder has under a key: the published one, or the one it stood at before."""
    for name in (CHECKPOINT, EVIDENCE):
        try:
            return open_head((outlet.path / name).read_bytes(), key)
        except (FileNotFoundError, RefusedLogError):
            continue
    return None


def copy_log(
    log: ServedLog,
    outlet: Outlet,
    head: SignedHead,
    *,
    twins: Path | None = None,
    gather: Gather | None = None,
    progress: Progress = lambda done, total: None,
) -> TileTree:
    """Put everything that `head` needs into the folder, durable but for the names' folders; the checkpoint is not yet.

    `twins`: a folder whose full tiles, of the same bytes, may be given a second name instead of being written.
    Raises RefusedLogError where `head` goes back behind what the folder publishes or contradicts it, before anything is
    written, and where a tile or an entry is not what was signed.
    """
    known = published_head(outlet, log)
    since = known.checkpoint if known else Checkpoint(log.vkey.name, 0, EMPTY_ROOT)
    judge_heads(since, head.checkpoint)
    tree = log.tree(head.checkpoint)
    judge_growth(since, head.checkpoint, tree)
    batch: list[Leaf] = []
    for leaf in _leaves(log, tree, since.size, twins, gather):
        if not outlet.holds(leaf.path, leaf.data):
            batch.append(leaf)
        if len(batch) >= BATCH:
            outlet.put(batch)
            batch.clear()
            progress(_reached(leaf.path), head.size)
    outlet.put(batch)
    return tree


def finish_copy(log: ServedLog, outlet: Outlet, head: SignedHead) -> int:
    """Publish a head whose tiles and bundles are in place; return how many records it adds to what was published."""
    known = published_head(outlet, log)
    before = known.size if known else 0
    if known is None or known.note != head.note or outlet.is_to_open:
        outlet.finish(head.note, head.size, before)
    return head.size - before


def _leaves(
    log: ServedLog, tree: TileTree, since: int, twins: Path | None, gather: Gather | None
) -> Iterator[Leaf]:
    """Yield the files that a tree needs and one of `since` did not: bundles with their tiles, then the tiles above."""
    for n, data, _ in log.bundles(tree, since // TILE_WIDTH, gather) if tree.size > since else ():
        width = tile_width(0, n, tree.size)
        yield Leaf(entries_path(n, width), data)
        if not width:
            yield Leaf(tile_path(0, n), leaves_of(tree, n), _twin(twins, tile_path(0, n)))
    for level, n, width in tiles_for_size(tree.size, since):
        if level or width:
            path = tile_path(level, n, width)
            tile = refusing(partial(tree.tile, level, n, width))
            yield Leaf(path, tile, None if width else _twin(twins, path))


def _twin(twins: Path | None, path: str) -> Path | None:
    return twins / path if twins else None


def _reached(path: str) -> int:
    digits = "".join(char for char in path.rpartition(".p")[0] or path if char.isdigit())
    return int(digits or "0")
