"""A log as others serve it (C2SP tlog-tiles): head, tree and entries, each checked before it is used (SPEC §16.4).

Whoever answers (a server, a folder, a store) is asked for paths and believed nothing: the head must be signed by the
pinned key, every tile must lead to the signed root, every entry must be the leaf at its place.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import msgspec

from braid.ledger.errors import NoteError, RefusedLogError, TileError
from braid.ledger.publish.policy import Policy
from braid.ledger.tree.checkpoint import Checkpoint, parse_checkpoint
from braid.ledger.tree.merkle import HASH_BYTES, leaf_hashes, range_root
from braid.ledger.tree.note import ED25519, SignedNote, VerifierKey, format_note, open_note, parse_note
from braid.ledger.tree.tiles import (
    MAX_ENTRY_BYTES,
    TILE_BYTES,
    TILE_WIDTH,
    Frontier,
    TileTree,
    entries_path,
    pack_entries,
    partial_tiles,
    tile_path,
    tile_width,
    unpack_entries,
)

MAX_BUNDLE_BYTES: Final = TILE_WIDTH * (2 + MAX_ENTRY_BYTES)

Fetch = Callable[[str], bytes]
"""A path of the log (`checkpoint`, `tile/…`) to its bytes. FileNotFoundError where there is nothing, OSError where
nobody answers, RefusedLogError for an answer that can be none."""

Gather = Callable[[Iterable[str]], Iterator[bytes]]
"""Paths to their bytes, in order; may fetch ahead. Errors as for `Fetch`."""


class SignedHead(msgspec.Struct, frozen=True):
    """A head under the log's pinned key, and who else signed it: the note holds the verified signatures alone."""

    vkey: VerifierKey
    checkpoint: Checkpoint
    note: bytes
    opened: SignedNote
    whole: bytes
    """The note as it was served: signatures of keys that nobody pinned are in it too."""

    @property
    def size(self) -> int:
        """Number of records."""
        return self.checkpoint.size


def open_head(
    note: bytes,
    vkey: VerifierKey,
    policy: Policy | None = None,
    *,
    others: Sequence[VerifierKey] = (),
    whole: bool = False,
) -> SignedHead:
    """Return a head signed by the pinned key and, where a policy is stated, by its quorum; else RefusedLogError.

    Reasons: `malformed`, `origin`, `signature`, `policy`, `quorum`. Signatures of keys that nobody pinned are left out,
    but for those of the log's `others`, and unless the `whole` note is asked for. Raises ValueError for a pinned key
    that isn't Ed25519.
    """
    try:
        checkpoint = parse_checkpoint(parse_note(note)[0])
    except NoteError as error:
        raise RefusedLogError("malformed", f"the checkpoint can't be read: {error}") from error
    if checkpoint.origin != vkey.name:
        raise RefusedLogError("origin", f"the head is of the log {checkpoint.origin!r}, not of {vkey.name!r}")
    if vkey.type != ED25519:
        raise ValueError(f"a log signs with Ed25519; {vkey} is a key of another type")
    if policy and policy.logs and policy.log_key(vkey.name) not in (vkey, *others):
        raise RefusedLogError("policy", f"the policy names other logs than {vkey}")
    keys = [vkey, *others, *(policy.cosigners if policy else ())]
    try:
        opened = open_note(note, keys)
    except NoteError as error:
        raise RefusedLogError("signature", f"the head of {vkey.name} is not signed: {error}") from error
    if not any((one.name, one.id) == (vkey.name, vkey.id) for one in opened.verified):
        raise RefusedLogError("signature", f"the pinned key of {vkey.name} did not sign the head")
    if policy and (lacking := policy.lacking(opened)):
        raise RefusedLogError("quorum", f"the head of {checkpoint.size} records lacks {lacking}")
    kept = note if whole else format_note(opened.text, opened.verified)
    return SignedHead(vkey, checkpoint, kept, opened, note)


def judge_heads(known: Checkpoint, head: Checkpoint) -> None:
    """Raise RefusedLogError where a head goes back behind one that is known (`rollback`) or contradicts it (`fork`)."""
    if head.size < known.size:
        what = f"a head of {known.size} records was signed before; now one of {head.size} is shown"
        raise RefusedLogError("rollback", what)
    if head.size == known.size and head.root != known.root:
        what = f"two heads of {head.size} records are signed, with the roots {known.root.hex()} and {head.root.hex()}"
        raise RefusedLogError("fork", what)


def judge_growth(known: Checkpoint, head: Checkpoint, tree: TileTree) -> None:
    """Raise RefusedLogError unless `head`, whose tree this is, continues a head that is known."""
    judge_heads(known, head)
    if known.size and refusing(lambda: range_root(0, known.size, tree.subtree)) != known.root:
        what = f"the head of {head.size} records does not continue the head of {known.size} that was signed before"
        raise RefusedLogError("fork", what)


def refusing(read: Callable[[], bytes]) -> bytes:
    """Return what `read` gives; a tile that is wrong becomes a RefusedLogError."""
    try:
        return read()
    except TileError as error:
        raise RefusedLogError("tile", str(error).partition(";")[0]) from error


class ServedLog:
    """One log, read through `fetch`, under the key that the caller has pinned."""

    def __init__(
        self,
        fetch: Fetch,
        vkey: VerifierKey,
        policy: Policy | None = None,
        others: Sequence[VerifierKey] = (),
    ) -> None:
        """`others`: further known keys of the log; heads may have their signatures, or stood under them once."""
        self.vkey = vkey
        self.policy = policy
        self.others = tuple(key for key in others if key != vkey)
        self._fetch = fetch
        self._ahead: dict[int, bytes] = {}

    def head(self) -> SignedHead:
        """Return the head that is served now; FileNotFoundError where there is none."""
        return open_head(self.note(), self.vkey, self.policy, others=self.others)

    def note(self) -> bytes:
        """Return the head's note as it is served, not looked at; FileNotFoundError where there is none."""
        try:
            return self._fetch("checkpoint")
        except FileNotFoundError:
            raise FileNotFoundError("there is no checkpoint: this is not (or not yet) a log") from None

    def under(self, keys: Sequence[VerifierKey]) -> "ServedLog":
        """Return the same log under the first of these keys; the rest it had before."""
        return ServedLog(self._fetch, keys[0], self.policy, keys)

    def tree(self, checkpoint: Checkpoint) -> TileTree:
        """Return the tree of a signed head; the tiles of its right edge are read now and must give its root.

        Raises RefusedLogError where they don't.
        """
        edge = {level: self._tile(level, n, width) for level, n, width in partial_tiles(checkpoint.size)}
        frontier = Frontier.from_partials(checkpoint.size, edge)
        if frontier.root() != checkpoint.root:
            names = ", ".join(tile_path(*tile) for tile in partial_tiles(checkpoint.size))
            raise RefusedLogError("tile", f"the right edge ({names}) does not give the signed root")
        return TileTree(self._tile, frontier)

    def bundles(
        self, tree: TileTree, start: int, gather: Gather | None = None
    ) -> Iterator[tuple[int, bytes, list[bytes]]]:
        """Yield (n, bytes, entries) of the bundles from number `start` to the tree's end, each entry checked.

        Raises RefusedLogError for a bundle that is missing or isn't in the tree.
        """
        full = tree.size // TILE_WIDTH
        paths = (path for n in range(start, full) for path in (tile_path(0, n), entries_path(n)))
        got = gather(paths) if gather else map(self._read, paths)
        for n in range(start, full):
            try:
                self._ahead[n] = next(got)
                data = next(got)
            except FileNotFoundError as error:
                raise RefusedLogError("missing", f"{error} is missing under a signed head") from None
            yield n, data, check_bundle(data, leaves_of(tree, n), n)
            self._ahead.clear()
        if start <= full and (width := tree.size % TILE_WIDTH):
            data = self._bundle(full, width)
            yield full, data, check_bundle(data, leaves_of(tree, full), full)

    def bundle(self, tree: TileTree, n: int) -> list[bytes]:
        """Return the entries of bundle n, each checked."""
        width = tile_width(0, n, tree.size)
        data = self._bundle(n, width) if width else self._either(entries_path(n), entries_path(n))
        return check_bundle(data, leaves_of(tree, n), n)

    def _read(self, path: str) -> bytes:
        try:
            return self._fetch(path)
        except FileNotFoundError:
            raise FileNotFoundError(path) from None

    def _tile(self, level: int, n: int, width: int) -> bytes:
        if level == 0 and not width and n in self._ahead:
            data = self._ahead.pop(n)
        else:
            data = self._either(tile_path(level, n, width), tile_path(level, n))[
                : (width or TILE_WIDTH) * HASH_BYTES
            ]
        if len(data) != (width or TILE_WIDTH) * HASH_BYTES:
            raise RefusedLogError("tile", f"{tile_path(level, n, width)} has {len(data)} bytes")
        return data

    def _bundle(self, n: int, width: int) -> bytes:
        data = self._either(entries_path(n, width), entries_path(n))
        entries = _unpack(data, n)
        return data if len(entries) == width else pack_entries(entries[:width])

    def _either(self, path: str, full: str) -> bytes:
        """Return a partial tile or bundle, or the full one that has taken its place (tlog-tiles, Partial Tiles)."""
        for name in (path, full):
            try:
                return self._fetch(name)
            except FileNotFoundError:
                continue
        raise RefusedLogError("missing", f"{path} is missing under a signed head")


def leaves_of(tree: TileTree, n: int) -> bytes:
    """Return the authenticated leaf hashes of bundle n, back to back."""
    return refusing(lambda: tree.tile(0, n, tile_width(0, n, tree.size)))


def check_bundle(data: bytes, leaves: bytes, n: int) -> list[bytes]:
    """Return the entries of bundle n if they are exactly the leaves; RefusedLogError (`entry`) otherwise."""
    entries, count = _unpack(data, n), len(leaves) // HASH_BYTES
    if len(entries) != count:
        raise RefusedLogError("entry", f"{entries_path(n)} holds {len(entries)} entries, not {count}")
    hashes = leaf_hashes(entries)
    if b"".join(hashes) != leaves:
        bad = next(k for k in range(count) if not leaves.startswith(hashes[k], k * HASH_BYTES))
        what = f"entry {n * TILE_WIDTH + bad} in {entries_path(n)} is not what the signed tree holds there"
        raise RefusedLogError("entry", what)
    return entries


def _unpack(data: bytes, n: int) -> list[bytes]:
    try:
        return unpack_entries(data)
    except ValueError as error:
        raise RefusedLogError("entry", f"{entries_path(n)}: {error}") from error


def limit_of(path: str) -> int:
    """Return the most bytes that an answer for this path may have."""
    if path.startswith("tile/entries/"):
        return MAX_BUNDLE_BYTES
    return TILE_BYTES if path.startswith("tile/") else 1_000_000
