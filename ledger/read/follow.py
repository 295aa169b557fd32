"""Opening a store and following its log: what is trusted, and why (SPEC §7).

A handle trusts a signed head, the tiles that lead to it, and the tail behind it, whose every signature it has checked
itself. Opening costs the tail and the control records, not the log.
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from threading import RLock

from braid.ledger.crypto.signature import verify_signature
from braid.ledger.errors import (
    EnvelopeError,
    IntegrityError,
    NoteError,
    RollbackError,
    TileError,
    VaultMissingError,
)
from braid.ledger.keys.control import ControlState
from braid.ledger.keys.logkeys import claimed_keys, lacking
from braid.ledger.keys.vault import Vault
from braid.ledger.record.envelope import (
    Envelope,
    Link,
    LinkSummary,
    check_structure,
    decode_links,
    decode_payload,
    digest_text,
    link_problem,
    pae,
    payload_of,
    text_of,
    unwrap,
)
from braid.ledger.record.ids import parse_id
from braid.ledger.settings import STRICTNESS, Durability, Settings, load_settings
from braid.ledger.tree.checkpoint import Checkpoint, open_checkpoint, parse_checkpoint
from braid.ledger.tree.guard import Guard, Head
from braid.ledger.tree.merkle import leaf_hash, range_root, root_of
from braid.ledger.tree.note import VerifierKey, parse_note, parse_vkey
from braid.ledger.tree.tiles import Frontier, TileTree, partial_tiles, tile_path
from braid.wal.append import LogWriter
from braid.wal.errors import CorruptLogError
from braid.wal.frame import Frame, FrameError
from braid.wal.log import LogReader
from braid.wal.regular import read_regular

_OPEN_TRIES = 5


class Follower:
    """A store's records as far as this process has followed them, each under an authenticated leaf."""

    def __init__(
        self,
        store: Path,
        *,
        guard: Guard | None = None,
        passphrase: str | None = None,
        _log: type[LogReader] = LogReader,
    ) -> None:
        """Open and check: guard, checkpoint, right-edge tiles, control chain, tail. Costs the tail, not the log."""
        self.path = store = store.absolute()  # whoever opened it may change folders
        self.settings: Settings = load_settings(store)
        self.guard = guard or Guard.of_store(self.settings.store_id)
        self.control = ControlState()
        self._turn = RLock()
        self._pending: dict[tuple[int, int], bytes] = {}
        self._agreed: Head | None = None
        self._covered = 0
        """Records under a head that was signed: their bodies are checked when they are read, and may be
        blank by then.
        """
        self.contradiction = ""
        """How the guard contradicts this copy, which may then be read and not written; empty where it agrees."""
        self._writes = _log is LogWriter
        self.passphrase = passphrase
        self.vault: Vault | None = None
        self.log = _log(store / "log", self.settings.store_id)
        try:
            self.guarded: Head | None = self.guard.read()
            self._open_head()
            self._fold_controls()
            self._compare_guard()
            self._check_unguarded()
            self._catch_up_with_heads()
            self._settle_log_keys()
            self.durability: Durability = self._borne_out_durability()
            self._open_vault(writable=_log is LogWriter)
        except BaseException:
            self.log.close()
            raise

    def close(self) -> None:
        """Close the files."""
        self.log.close()

    @property
    def origin(self) -> str:
        """The log's origin."""
        return self.settings.origin

    @property
    def size(self) -> int:
        """Number of records, the unsigned tail included."""
        return self.frontier.size

    def _open_head(self) -> None:
        """Set `published`, `frontier` and the log's position; retried, since a writer may publish meanwhile."""
        self.log_keys = self.guarded.keys if self.guarded else [parse_vkey(self._claimed_vkey())]
        if self.guarded and self.guarded.origin != self.origin:
            raise RollbackError(f"{self.guard.path} is of {self.guarded.origin}, this store is {self.origin}")
        for attempt in range(_OPEN_TRIES):
            try:
                self.published, self.checkpoint_note = self._read_head()
                self.frontier = self._right_edge(self.published)
                break
            except TileError:
                if attempt == _OPEN_TRIES - 1:
                    raise
        self._covered = self.published.size
        self.tree = TileTree(self._load_tile, self.frontier, self._pending)
        if not self.log.resume(self.published.size):
            self.log.rescan(self.published.size)
        if self.published.size == 0:
            raise IntegrityError(f"{self.path}: the checkpoint covers no record; a store begins with genesis")
        if self._verified_envelope(self.published.size - 1)[0].tx[0] + 1 != self.log.next_tx:
            raise CorruptLogError(
                self.log.segments[-1].name,
                0,
                "the last signed frame does not state the transaction that was signed",
            )

    def _claimed_vkey(self) -> str:
        """Return the log key that genesis names: trusted on first use where no guard knows better."""
        segment = self.log.segments[0]
        frame = next(segment.frames(64, bodies=False), None)
        if frame is None:
            raise CorruptLogError(segment.name, 64, "there is no genesis record")
        envelope = decode_payload(payload_of(frame.envelopes()[0]))
        return str(envelope.public.get("log_vkey", ""))

    def _right_edge(self, checkpoint: Checkpoint) -> Frontier:
        tiles: dict[int, bytes] = {}
        for level, n, width in partial_tiles(checkpoint.size):
            try:
                tiles[level] = self._load_tile(level, n, width)
            except FileNotFoundError:
                raise TileError(
                    f"{tile_path(level, n, width)} is missing; rebuild tiles with `braid doctor --fix`"
                ) from None
        frontier = Frontier.from_partials(checkpoint.size, tiles)
        if frontier.root() != checkpoint.root:
            names = ", ".join(tile_path(*tile) for tile in partial_tiles(checkpoint.size))
            raise TileError(
                f"the right-edge tiles ({names}) don't give the checkpoint's root; rebuild tiles "
                f"with `braid doctor --fix`"
            )
        return frontier

    def _load_tile(self, level: int, n: int, width: int) -> bytes:
        path = self.path / tile_path(level, n, width)
        try:
            return read_regular(path)
        except (IsADirectoryError, NotADirectoryError):  # a tile all the same, and none that can be read
            raise FileNotFoundError(path) from None

    def _fold_controls(self) -> None:
        """Walk the chain of control records back from the head, then fold it forward (SPEC §3.5)."""
        chain: list[tuple[Envelope, list[Link], bytes]] = []
        envelope, data = self._verified_envelope(self.published.size - 1)
        if not envelope.is_control and envelope.index > 0:
            envelope, data = self._verified_envelope(envelope.control)
        while True:
            chain.append((envelope, self._links(envelope), data))
            if envelope.index == 0:
                break
            if envelope.control >= envelope.index:
                raise IntegrityError(f"{envelope.id}: the chain of control records does not lead back")
            envelope, data = self._verified_envelope(envelope.control)
        for envelope, links, data in reversed(chain):
            self._fold(envelope, links, data)
        named = (self.control.origin, chain[-1][0].public.get("store_id"))
        first = self.control.log_vkey in {str(key) for key in self.log_keys}
        if named != (self.origin, self.settings.store_id) or not first:
            raise IntegrityError(
                f"{self.path}: genesis names another store, origin or log key than the store's guard or settings"
            )
        self._check_signers(self.checkpoint_note)

    def _check_signers(self, note: bytes) -> None:
        """Every log key in force at a head's size must have signed it: one of them alone may be stolen."""
        missing = lacking(self.control, *open_checkpoint(note, self.log_keys, self.origin))
        if missing is not None:
            raise NoteError(
                f"{self.path}/checkpoint lacks a signature by {missing}, a log key in force at its size"
            )

    @property
    def vkey(self) -> VerifierKey:
        """The newest log key in force: to be pinned by whoever checks what comes."""
        return self.log_keys[-1]

    def _settle_log_keys(self) -> None:
        """Know every key that the control records name, those in force last; the guard may know no other."""
        if self.guarded and not {str(key) for key in self.guarded.keys} <= self.control.log_keys.keys():
            self._contradict(f"{self.guard.path} remembers a log key that no record of {self.path} names")
        force = self.control.signing(self.control.newest + 1)
        past = [text for text in self.control.log_keys if text not in force]
        self.log_keys = [parse_vkey(text) for text in (*past, *force)]

    def _borne_out_durability(self) -> Durability:
        """Return the durability of `store.json`, or a stricter one where no operator's event bears it out (§1.1)."""
        asked = self.settings.durability
        if asked == "always":
            return asked
        signed = self._signed_durability(self.settings.durability_record)
        return next(one for one in STRICTNESS if one in (asked, signed))

    def _signed_durability(self, id: str) -> Durability:
        """Return what the event of this id allows: `always` where there is none, or no operator signed it."""
        try:
            index = parse_id(id).index
            envelope, data = self._verified_envelope(index)
            self._check_signature(envelope, data)
        except (ValueError, LookupError, IntegrityError):
            return "always"
        said = envelope.public.get("durability")
        by_operator = self.control.keys[envelope.key].role == "operator"
        named = (envelope.id, envelope.kind, envelope.public.get("name")) == (id, "event", "durability")
        if not (named and by_operator and said in STRICTNESS):
            return "always"
        return STRICTNESS[STRICTNESS.index(said)]

    def _read_head(self) -> tuple[Checkpoint, bytes]:
        """Return the published head; without a guard also one by a key that only the log itself names."""
        try:
            return read_checkpoint(self.path, self.log_keys, self.origin)
        except NoteError:
            if self.guarded is not None:
                raise
        size = parse_checkpoint(parse_note(read_regular(self.path / "checkpoint"))[0]).size
        if not self.log.resume(size):
            self.log.rescan(size)
        read = self.log.envelope
        self.log_keys = claimed_keys(lambda index: decode_payload(payload_of(read(index))), size - 1)
        return read_checkpoint(self.path, self.log_keys, self.origin)

    def _fold(self, envelope: Envelope, links: list[Link], data: bytes) -> None:
        """Take in a control record, checking its signature at its index."""
        if envelope.index == 0:
            self.control.apply(envelope, links)
        self._check_signature(envelope, data)
        if envelope.index:
            self.control.apply(envelope, links)

    def _check_signature(self, envelope: Envelope, data: bytes) -> None:
        payload, signature = unwrap(data)
        if refusal := self.control.refusal(envelope):
            raise IntegrityError(f"{envelope.id}: {refusal}")
        if not verify_signature(self.control.public_key(envelope.key), pae(payload), signature):
            raise IntegrityError(f"{envelope.id} (index {envelope.index}): the signature does not hold")

    def _compare_guard(self) -> None:
        """What the guard remembers must be a prefix of this log, wherever the transactions end: then the
        log is adopted.
        """
        head = self.guarded
        if head is None or head.size > self.size or head == self._agreed or self.contradiction:
            return
        root = range_root(0, head.size, self.tree.subtree) if head.size else root_of([])
        if root.hex() != head.root:
            self._contradict(
                f"the log contradicts the head of size {head.size} that {self.guard.path} remembers: this store was "
                "forked or replaced"
            )
            return
        self._agreed = head

    def _contradict(self, how: str, cause: Exception | None = None) -> None:
        """Refuse to write in a copy that the guard contradicts; whoever reads goes on, and can see it (SPEC §6)."""
        said = (
            f"{how}. Go on with the copy that the guard remembers; where this one is to go on in its place, "
            "`braid fork REASON` says so in its log"
        )
        if self._writes:
            raise RollbackError(said) from cause
        self.contradiction = said

    def refuse_contradicted(self) -> None:
        """Raise RollbackError where the guard contradicts this copy: nothing is signed for it, or given to others."""
        if self.contradiction:
            raise RollbackError(self.contradiction)

    def _check_unguarded(self) -> None:
        """Check the signatures of what was published after the guard's head: the log's key alone forges no author."""
        head = self.guarded
        if head is None or head.size >= self.published.size:
            return
        for frame in self.log.frames(head.size, bodies=False):
            for index, data in enumerate(frame.envelopes(), frame.first):
                if head.size <= index < self.published.size:
                    envelope = self._verified_envelope(index)[0]
                    check_structure(envelope, self.origin)
                    self._check_signature(envelope, data)

    def _follow(self) -> int:
        """Take in whole transactions behind the position, checking digests and signatures; return how many records."""
        head = None if self.contradiction else self.guarded
        signed = max(self.published.size, self._covered)
        floor = max(head.size if head else 0, signed)
        before = self.size
        try:
            for frame in self.log.follow(self._check_frame, floor):
                self._take_in(frame)
        except CorruptLogError as error:
            if not (head and signed <= self.size < head.size and error.reason.startswith("the log ends")):
                raise
            self._contradict(
                f"the log ends at {self.size} records, but {self.guard.path} remembers {head.size}: this is an older "
                "copy of the store",
                error,
            )
        self._compare_guard()
        return self.size - before

    def _check_frame(self, frame: Frame) -> None:
        """Raise FrameError unless every body matches its digest, EnvelopeError for an envelope that is none.

        The frame's checksum holds: a malformed envelope is not what a crash leaves, and never a torn tail to be cut.
        """
        for k, stored in enumerate(frame.records()):
            try:
                envelope = decode_payload(unwrap(stored.envelope).payload)
            except EnvelopeError as error:
                raise EnvelopeError(f"record {frame.first + k}: {error}") from error
            blank = frame.end <= self._covered or envelope.index in self.control.erased
            if not blank and (
                envelope.body[1] != len(stored.body) or envelope.body[0] != digest_text(stored.body)
            ):
                raise FrameError(f"record {frame.first + k}: the sealed body does not match its digest")

    def _take_in(self, frame: Frame) -> None:
        leaves: list[bytes] = []
        for k, (data, links, _) in enumerate(frame.records()):
            envelope = decode_payload(payload_of(data))
            check_structure(envelope, self.origin)
            if envelope.index != frame.first + k or envelope.tx != (frame.header.tx, k, frame.header.count):
                raise IntegrityError(f"{envelope.id} stands at index {frame.first + k}: it was moved")
            if envelope.control != max(self.control.newest, 0):
                raise IntegrityError(f"{envelope.id}: it names another control record than the newest")
            decoded = self._check_links(envelope, links)
            if envelope.is_control:
                self._fold(envelope, decoded, data)
            else:
                self._check_signature(envelope, data)
            leaves.append(leaf_hash(data))
        with self._turn:
            self.frontier.extend(leaves)
            self._collect_tiles()

    def _collect_tiles(self) -> None:
        for level, n, tile in self.frontier.take_full():
            self._pending[level, n] = tile
        if len(self._pending) > 256:  # only a reader's: a writer clears them when it publishes
            for level, n in list(self._pending):
                if (self.path / tile_path(level, n)).exists():
                    del self._pending[level, n]

    def _open_vault(self, *, writable: bool) -> None:
        try:
            self.vault = Vault.open(
                self.settings.vault_path(self.path),
                self.passphrase,
                store_id=self.settings.store_id,
                writable=writable,
            )
        except VaultMissingError:
            self.vault = None
            return
        least = max(self.control.vault_epoch, self.guarded.vault_epoch if self.guarded else 0)
        if self.vault.epoch < least:
            raise RollbackError(
                f"the vault {self.vault.path} has epoch {self.vault.epoch}, but erasures up to "
                f"epoch {least} are certified: "
                "an older vault would bring erased memories back; restore the newest one"
            )

    def refresh(self) -> int:
        """Take in what other processes have appended since; return how many records."""
        with self._turn:
            if self.log.next_index != self.size:
                raise IntegrityError(
                    f"{self.path}: record {self.size} was refused before; open the store again"
                )
            newest = self.control.newest
            known, self.guarded = self.guarded, self.guard.read() or self.guarded
            if self.guarded != known:
                self.contradiction = ""  # judged again
            if self.guarded:
                self.log_keys = list(dict.fromkeys([*self.log_keys, *self.guarded.keys]))
            taken = self._catch_up_with_heads()
            if self.control.newest != newest:
                self._settle_log_keys()
            self._follow_head()
            if self.control.newest != newest and self.vault:
                self.vault.refresh()
            return taken

    def _catch_up_with_heads(self) -> int:
        """Take in the tail; return how many records. A body in it may have been blanked under a head
        published since.
        """
        before = self.size
        while True:
            try:
                self._follow()
                return self.size - before
            except CorruptLogError:
                size = read_checkpoint(self.path, self.log_keys, self.origin)[0].size
                if size <= self._covered:
                    raise
                self._covered = size

    def _follow_head(self) -> None:
        """Take over a newer published checkpoint when its root is that of this handle's own tree."""
        checkpoint, note = read_checkpoint(self.path, self.log_keys, self.origin)
        if not self.published.size < checkpoint.size <= self.size:
            return
        if range_root(0, checkpoint.size, self.tree.subtree) != checkpoint.root:
            raise RollbackError(
                f"{self.path}/checkpoint contradicts the log's own records: another history was signed"
            )
        self._check_signers(note)
        self.published, self.checkpoint_note = checkpoint, note
        for level, n in list(self._pending):
            if (n + 1) << 8 * (level + 1) <= checkpoint.size:
                del self._pending[level, n]

    # -- envelopes -------------------------------------------------------------------------------

    def _verified_envelope(self, index: int) -> tuple[Envelope, bytes]:
        """Return (envelope, stored bytes), equal to the authenticated leaf."""
        data = self._verified_leaf(index)
        envelope = decode_payload(payload_of(data))
        if envelope.index != index:
            raise IntegrityError(f"{envelope.id} stands at index {index}: it was moved")
        return envelope, data

    def _verified_leaf(self, index: int) -> bytes:
        """Return a record's stored envelope, equal to the authenticated leaf, not decoded."""
        data = self.log.envelope(index)
        with self._turn:
            expected = self.tree.leaf(index)
        return data if sha256(b"\x00" + data).digest() == expected else self._reread(index, expected)

    def _reread(self, index: int, expected: bytes) -> bytes:
        """Read once more from reopened files: compaction may have swapped them since."""
        self.log.refresh_segments()
        data = self.log.envelope(index)
        if leaf_hash(data) != expected:
            segment, extent = self.log.locate(index)
            raise IntegrityError(
                f"{segment.name}, offset {extent.envelope_at}: record {index} is not what was signed (or the segment's "
                "index is wrong): run `braid verify`, and `braid doctor --fix` if only the index is named"
            )
        return data

    def _links(self, envelope: Envelope) -> list[Link]:
        links = envelope.links
        if not isinstance(links, LinkSummary):
            return links
        return self._check_links(envelope, self.log.links(envelope.index, links.bytes))

    @staticmethod
    def _check_links(envelope: Envelope, data: bytes) -> list[Link]:
        """Return the record's links, from `data` where the envelope holds only their root."""
        links = envelope.links
        if not isinstance(links, LinkSummary):
            return links
        decoded = decode_links(data)
        root = root_of([leaf_hash(line) for line in data.splitlines(keepends=True)])
        if len(decoded) != links.count or text_of(root) != links.root or len(data) != links.bytes:
            raise IntegrityError(f"{envelope.id}: the list of links is not the one that was signed")
        for link in decoded:
            if problem := link_problem(link, envelope.index):
                raise IntegrityError(f"{envelope.id}: {problem}")
        return decoded


def read_checkpoint(store: Path, vkeys: Sequence[VerifierKey], origin: str) -> tuple[Checkpoint, bytes]:
    """Return the published checkpoint and its note; raise NoteError when it is not signed by a key of the log."""
    try:
        note = read_regular(store / "checkpoint")
    except FileNotFoundError:
        raise NoteError(
            f"{store}/checkpoint is missing: `braid doctor --fix` restores it from the guard"
        ) from None
    try:
        return open_checkpoint(note, vkeys, origin)[0], note
    except NoteError as error:
        raise NoteError(f"{store}/checkpoint: {error}") from error
