"""From the key that somebody pinned to the keys that sign now, along the log's own records (SPEC §16.5).

A head that the pinned key signed vouches for every record under it: for genesis, and so for the root keys that sign
each later change of the log's key. From there on every control record is read and verified, in order.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from braid.ledger.crypto.signature import verify_signature
from braid.ledger.errors import LedgerError, NoteError, RefusedLogError
from braid.ledger.keys.control import ControlState
from braid.ledger.keys.logkeys import lacking
from braid.ledger.publish.remote import ServedLog, SignedHead, judge_growth, judge_heads
from braid.ledger.record.envelope import Envelope, check_structure, decode_payload, pae, unwrap
from braid.ledger.tree.checkpoint import Checkpoint, parse_checkpoint
from braid.ledger.tree.note import VerifierKey, format_note, open_note, parse_note, parse_vkey
from braid.ledger.tree.tiles import TILE_WIDTH, TileTree

REASON: Final = "succession"
"""Why a head under another key is refused: the log's records do not lead from the pinned key to it."""


class Succession(NamedTuple):
    """A head under the keys in force at its size, and every key that the log ever had, the newest first."""

    head: SignedHead
    keys: tuple[VerifierKey, ...]


def follow_keys(log: ServedLog, known: Checkpoint, note: bytes) -> Succession:
    """Return the head of `note`, which the pinned key has not signed, where those signed that took its place.

    `known` is a head that the pinned key did sign. Raises RefusedLogError: `malformed`, `tile`, `entry`, `missing` as
    for any head; `succession` where records do not lead to the head's keys, for who goes back or contradicts under a
    key of his own convicts nobody; `signature` where the pinned key's is wrong, or where there are no records.
    """
    try:
        text, signatures = parse_note(note)
        head = parse_checkpoint(text)
    except NoteError as error:
        raise RefusedLogError("malformed", f"the checkpoint can't be read: {error}") from error
    if any((one.name, one.id) == (log.vkey.name, log.vkey.id) for one in signatures):
        raise RefusedLogError("signature", f"the signature of the pinned key of {log.vkey.name} is wrong")
    tree = _continuing(log, known, head)
    try:
        control = _vouched(log, tree, known.size)
    except RefusedLogError as error:
        if error.reason != REASON:
            raise
        what = f"the pinned key of {log.vkey.name} did not sign the head, and no record names another: {error.what}"
        raise RefusedLogError("signature", what) from error
    if str(log.vkey) not in control.log_keys:
        raise RefusedLogError(REASON, f"the records of {log.vkey.name} do not name the pinned key")
    for index, stored in _entries(log, tree, known.size):
        envelope = _opened(index, stored, log.vkey.name)
        if envelope.control != control.newest:
            raise RefusedLogError(REASON, f"record {index} passes over a control record")
        if envelope.is_control:
            _take(control, envelope, stored)
    return _held(control, head, note)


def all_signatures(log: ServedLog, head: SignedHead) -> SignedHead:
    """Return a head that the pinned key signed with the signatures of the log's other keys in force, verified too.

    Raises RefusedLogError (`succession`) where one of them has not signed. A log of other entries has one key.
    """
    names = [(one.name, one.id) for one in parse_note(head.whole)[1]]
    if not head.size or names.count((log.vkey.name, log.vkey.id)) == sum(
        name == log.vkey.name for name, _ in names
    ):
        return head
    try:
        control = _vouched(log, log.tree(head.checkpoint), head.size)
    except RefusedLogError as error:
        if error.reason != REASON:
            raise
        return head
    held = _held(control, head.checkpoint, head.whole).head
    verified = [*held.opened.verified, *(one for one in head.opened.verified if one.name != log.vkey.name)]
    return SignedHead(
        log.vkey, head.checkpoint, format_note(head.opened.text, verified), head.opened, head.whole
    )


def _continuing(log: ServedLog, known: Checkpoint, head: Checkpoint) -> TileTree:
    """Return the tree of a head that nobody vouches for yet, shown to continue one that the pinned key signed."""
    if not known.size:
        raise RefusedLogError(
            "signature", f"the pinned key of {log.vkey.name} signed neither this head nor one before"
        )
    try:
        judge_heads(known, head)
        tree = log.tree(head)
        judge_growth(known, head, tree)
    except RefusedLogError as error:
        if error.reason not in ("rollback", "fork"):
            raise
        raise RefusedLogError(REASON, f"under a key that was not pinned, {error.what}") from error
    return tree


def _held(control: ControlState, head: Checkpoint, note: bytes) -> Succession:
    """Hold a head to the keys in force at its size: all of them must have signed it (SPEC §3.7)."""
    keys = [parse_vkey(text) for text in control.signing(head.size)]
    try:
        opened = open_note(note, keys)
    except NoteError as error:
        raise RefusedLogError(
            REASON, f"no key that the log's records name signed the head: {error}"
        ) from error
    if lacks := lacking(control, head, opened):
        raise RefusedLogError(REASON, f"the head of {head.size} records lacks a signature by {lacks}")
    every = tuple(parse_vkey(text) for text in reversed(control.log_keys))
    shown = SignedHead(keys[-1], head, format_note(opened.text, opened.verified), opened, note)
    return Succession(shown, every)


def _vouched(log: ServedLog, tree: TileTree, size: int) -> ControlState:
    """Fold the chain of control records behind the first `size` records, which a trusted head vouches for."""
    origin = log.vkey.name
    bundles: dict[int, list[bytes]] = {}

    def stored(index: int) -> bytes:
        n = index // TILE_WIDTH
        if n not in bundles:
            bundles[n] = log.bundle(tree, n)
        return bundles[n][index % TILE_WIDTH]

    last = _opened(size - 1, stored(size - 1), origin)
    at = last.index if last.is_control else last.control
    chain: list[int] = []
    while not chain or at < chain[-1]:
        chain.append(at)
        at = _opened(at, stored(at), origin).control
    control = ControlState()
    for index in reversed(chain):
        _take(control, _opened(index, stored(index), origin), stored(index))
    return control


def _entries(log: ServedLog, tree: TileTree, start: int) -> Iterator[tuple[int, bytes]]:
    if start == tree.size:
        return
    for n, _, entries in log.bundles(tree, start // TILE_WIDTH):
        first = max(start - n * TILE_WIDTH, 0)
        yield from enumerate(entries[first:], n * TILE_WIDTH + first)


def _opened(index: int, stored: bytes, origin: str) -> Envelope:
    try:
        envelope = decode_payload(unwrap(stored).payload)
        check_structure(envelope, origin)
    except LedgerError as error:
        raise RefusedLogError(REASON, f"entry {index} is no record of {origin}: {error}") from error
    if envelope.index != index:
        raise RefusedLogError(REASON, f"entry {index} says that it stands at {envelope.index}")
    return envelope


def _take(control: ControlState, envelope: Envelope, stored: bytes) -> None:
    """Take in a control record whose author may sign it; of its effects those on keys alone."""
    payload, signature = unwrap(stored)
    try:
        if envelope.index == 0:
            control.apply(envelope, [])
        problem = control.refusal(envelope)
        if not problem and not verify_signature(control.public_key(envelope.key), pae(payload), signature):
            problem = "the author's signature does not hold"
        if not problem and envelope.index and envelope.kind == "key":
            control.apply(envelope, [])
    except LedgerError as error:
        problem = str(error)
    if problem:
        raise RefusedLogError(REASON, f"{envelope.id}: {problem}")
    control.newest = envelope.index
