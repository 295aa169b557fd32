"""Verified reads: nothing leaves here that is not what was signed (SPEC §7).

A record is read by its place, compared with its authenticated leaf, and only then decoded and unsealed.
"""

from collections.abc import Collection, Container, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from braid.ledger.crypto.seal import RecordKey, unseal_body
from braid.ledger.errors import (
    ErasedError,
    ForgottenError,
    IntegrityError,
    NoVaultError,
    PuncturedError,
    UnknownRecordError,
)
from braid.ledger.keys.vault import Vault
from braid.ledger.read.follow import Follower
from braid.ledger.read.prefix import control_at
from braid.ledger.record.envelope import Envelope, Link, decode_payload, digest_text, payload_of, text_of
from braid.ledger.record.ids import EXAMPLE, parse_id
from braid.ledger.record.record import Record
from braid.ledger.record.source import SourceClasses
from braid.ledger.record.standing import StandingFacts, Standings
from braid.ledger.tree.checkpoint import Checkpoint
from braid.ledger.tree.merkle import prove_inclusion, range_root
from braid.ledger.tree.multiproof import MultiProof, format_multiproof, prove_inclusions
from braid.ledger.tree.proof import format_proof
from braid.wal.frame import Frame

if TYPE_CHECKING:  # numpy is loaded with these, when links or keys are first asked for: a tenth of a second
    from braid.ledger.read.backlinks import Backlinks
    from braid.ledger.read.idempotency import KeyIndex
    from braid.ledger.read.retirement import Retirements


class LogEntry(NamedTuple):
    """A record on its way into a projection: its row key is None when it was erased or there is no vault."""

    record: Record
    row_key: bytes | None


class Reader(Follower):
    """A store as any process may read it."""

    _backlinks: "Backlinks | None" = None
    _key_index: "KeyIndex | None" = None
    _retirements: "Retirements | None" = None
    _standings: tuple[tuple[int, int, int], Standings] | None = None
    _sources: tuple[int, SourceClasses] | None = None

    @property
    def backlinks(self) -> "Backlinks":
        """Which records link to a record, by what was signed."""
        with self._turn:
            if self._backlinks is None:
                from braid.ledger.read.backlinks import Backlinks  # noqa: PLC0415 - see above

                self._backlinks = Backlinks(self)
            return self._backlinks

    @property
    def key_index(self) -> "KeyIndex":
        """Which records have an idempotency key, and which are the newest of a scope; NoVaultError without a vault."""
        with self._turn:
            if self._key_index is None:
                from braid.ledger.read.idempotency import KeyIndex  # noqa: PLC0415 - see above

                self._key_index = KeyIndex(self)
            return self._key_index

    @property
    def retirements(self) -> "Retirements":
        """Which readers were retired, by what was signed."""
        with self._turn:
            if self._retirements is None:
                from braid.ledger.read.retirement import Retirements  # noqa: PLC0415 - see above

                self._retirements = Retirements(self)
            return self._retirements

    def append_turn(self) -> AbstractContextManager[object]:
        """Hold off appends of this handle: what looks keys up must not wait for an append that waits for it."""
        return nullcontext()

    @property
    def holds_lock(self) -> bool:
        """Whether this handle is the one that may append now, and knows all that was erased."""
        return False

    def close(self) -> None:
        """Keep what was learned of the keys, and close the files."""
        try:
            if self._key_index is not None:
                self._key_index.close()
        finally:
            super().close()

    @property
    def source_classes(self) -> SourceClasses:
        """Whose words records are (SPEC §4.9): kept while nothing more is erased, since links lead back alone."""
        erased = len(self.control.erased)
        known = self._sources
        if known is None or known[0] != erased:
            known = self._sources = erased, SourceClasses(self.unless_erased, self.role)
        return known[1]

    def unless_erased(self, index: int) -> Record | None:
        """Return a record, a forgotten one too; None for an erased one."""
        try:
            return self.at(index, include_forgotten=True)
        except ErasedError:
            return None

    def role(self, key: str) -> str:
        """Return the role of an author key; empty for one that was never admitted."""
        life = self.control.keys.get(key)
        return life.role if life is not None else ""

    def standings(self, size: int | None = None) -> Standings:
        """Return how records stand now, or stood when the log held `size` records: what is forgotten or erased by now
        is gone then, too.
        """
        from braid.ledger.read.backlinks import SignedEdges  # noqa: PLC0415 - see above

        edges = SignedEdges(self, self.backlinks)
        control = self.control
        if size is not None and size < self.size:
            hidden = control_at(self, size).hidden.keys() | control.hidden.keys()
            return Standings(self.standing_facts(size, hidden, frozenset(control.erased)), edges)
        while True:
            control, now = self.control, self.size
            newest = control.newest
            marks = self.backlinks.superseding, self.retirements.count
            if (self.size, self.control.newest) == (now, newest):
                break  # else a record came in between: it may have replaced another, and be in `marks` alone
        known = self._standings
        if known is None or known[0] != (newest, *marks):
            past = self.standing_facts(now, frozenset(control.hidden), frozenset(control.erased))
            known = (newest, *marks), Standings(past, edges)
        elif known[1].past.size != now:
            known = known[0], known[1].grown(now)
        self._standings = known
        return known[1]

    def standing_facts(self, size: int, hidden: Container[int], erased: Container[int]) -> StandingFacts:
        """Return what the first `size` records are judged by while some of them are forgotten or erased."""
        return StandingFacts(size, hidden, erased, self.retirements.at(size, hidden, erased))

    def index_of(self, id: str) -> int:
        """Return the index that an id names; raise UnknownRecordError where no such record can be.

        Raises TypeError for an id that isn't text.
        """
        try:
            index = parse_id(id).index
        except ValueError as error:
            raise UnknownRecordError(f"{id}: no such record; an id is such as {EXAMPLE}") from error
        except TypeError:
            raise TypeError(f"an id is text, not {type(id).__name__}") from None
        if index >= self.size:
            raise UnknownRecordError(
                f"{id}: no such record; the log has no record {index} (it holds {self.size})"
            )
        return index

    def envelope(self, index: int) -> Envelope:
        """Return a record's envelope, verified against the tree; erased and forgotten ones too."""
        return self._verified_envelope(index)[0]

    def stored_envelope(self, index: int) -> bytes:
        """Return a record's envelope as it is stored: the leaf's data."""
        return self._verified_envelope(index)[1]

    def links(self, index: int) -> list[Link]:
        """Return a record's links, verified."""
        return self._links(self.envelope(index))

    def get(self, id: str, *, include_forgotten: bool = False) -> Record:
        """Return the record of this id, verified and unsealed.

        Raises UnknownRecordError, ErasedError, ForgottenError, and IntegrityError where the bytes are not
        what was signed.
        """
        return self.at(self.index_of(id), id=id, include_forgotten=include_forgotten)

    def at(self, index: int, *, id: str | None = None, include_forgotten: bool = False) -> Record:
        """Return the record at a log index, verified and unsealed.

        Raises UnknownRecordError, ErasedError, ForgottenError, and IntegrityError for bytes that were changed.
        """
        if not 0 <= index < self.size:
            raise UnknownRecordError(f"the log has no record {index} (it holds {self.size})")
        envelope, stored = self._verified_envelope(index)
        if id is not None and envelope.id != id:
            raise UnknownRecordError(f"{id}: no such record; index {index} is {envelope.id}")
        if index in self.control.erased:
            raise ErasedError(f"{envelope.id} was erased by record {self.control.erased[index]}")
        if not include_forgotten and index in self.control.hidden:
            raise ForgottenError(f"{envelope.id} is forgotten; `recover` brings it back")
        return Record(envelope, self._links(envelope), self._body(envelope), stored)

    def _body(self, envelope: Envelope) -> bytes | None:
        if self.vault is None:
            return None
        try:
            key = self.vault.key(envelope.index)
        except PuncturedError as error:
            raise ErasedError(f"{envelope.id} was erased") from error
        try:
            return self.unseal(envelope, key, self.log.body(envelope.index))
        except IntegrityError:
            if self._erased_meanwhile(envelope.index):
                raise ErasedError(f"{envelope.id} was erased") from None
            raise

    def _erased_meanwhile(self, index: int) -> bool:
        """Whether another process has erased the record since this handle last looked: its tombstone says so."""
        self.refresh()
        return index in self.control.erased

    def unseal(self, envelope: Envelope, key: RecordKey, sealed: bytes) -> bytes:
        """Return the body's JSON; raise IntegrityError or UnsealError unless digest, commitment and AEAD all hold."""
        digest, size = envelope.body
        if len(sealed) != size or digest_text(sealed) != digest:
            segment, extent = self.log.locate(envelope.index)
            raise IntegrityError(
                f"{segment.name}, offset {extent.body_at}: the body of {envelope.id} is not what was signed"
            )
        if text_of(key.commitment) != envelope.commit:
            raise IntegrityError(f"{envelope.id}: the vault's key is not the one that the record commits to")
        return unseal_body(key, sealed, origin=self.origin, id=envelope.id, kind=envelope.kind)

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[list[LogEntry]]:
        """Yield the records from `start` to `stop` by transactions, verified and unsealed, for projections and exports.

        Forgotten ones are among them; an erased one has no body. Raises IntegrityError for bytes that were changed.
        """
        end = self.size if stop is None else stop
        for frame in self.log.frames(start):
            if frame.first >= end:
                return
            yield self._frame_entries(frame, start, end)

    def subtree(self, level: int, index: int) -> bytes:
        """Return the authenticated hash of the records [index << level, (index + 1) << level), all in the log."""
        with self._turn:
            return self.tree.subtree(level, index)

    def envelopes(
        self, start: int = 0, stop: int | None = None, *, members: Sequence[str] = ()
    ) -> Iterator[tuple[Envelope, list[Link]]]:
        """Yield the envelopes from `start` to `stop` with their links, verified against the tree; no body is read.

        With `members` (`links`, `blobs`), only those that have one of them: the others are passed over undecoded.
        Raises IntegrityError for an envelope that was changed or moved.
        """
        wanted = [f'"{member}":'.encode() for member in members] or [b""]
        end = self.size if stop is None else stop
        for frame in self.log.frames(start, bodies=False):
            if frame.first >= end:
                return
            with self._turn:
                leaves = self.tree.leaves(frame.first, frame.end)
            index = frame.first - 1
            for leaf, (data, links, _) in zip(leaves, frame.records(), strict=True):
                index += 1
                if not start <= index < end:
                    continue
                stored = data if sha256(b"\x00" + data).digest() == leaf else self._reread(index, leaf)
                payload = payload_of(stored)
                if any(one in payload for one in wanted):
                    envelope = decode_payload(payload)
                    if envelope.index != index:
                        raise IntegrityError(f"{envelope.id} stands at index {index}: it was moved")
                    yield envelope, self._check_links(envelope, links)

    def _frame_entries(self, frame: Frame, start: int, stop: int) -> list[LogEntry]:
        """Return the frame's records from `start` to `stop`, where it has them."""
        index, end = max(frame.first, start), min(frame.end, stop)
        keys = self.vault.keys(index, end - index) if self.vault else [None] * (end - index)
        erased, hash_ = self.control.erased, sha256
        with self._turn:
            leaves = self.tree.leaves(index, end)
        entries: list[LogEntry] = []
        records = islice(frame.records(), index - frame.first, end - frame.first)
        for leaf, key, (data, links, body) in zip(leaves, keys, records, strict=True):
            if hash_(b"\x00" + data).digest() != leaf:
                data = self._reread(index, leaf)  # noqa: PLW2901 - the same record, read again
            envelope = decode_payload(payload_of(data))
            if envelope.index != index:
                raise IntegrityError(f"{envelope.id} stands at index {index}: it was moved")
            raw = row_key = None
            if index not in erased:
                if key is not None:
                    raw = self._unseal_unless_erased(envelope, key, body)
                    row_key = None if raw is None else key.row
                elif self.vault:
                    raise IntegrityError(
                        f"{envelope.id}: the vault has no key for it, and no erasure names it"
                    )
            entries.append(LogEntry(Record(envelope, self._check_links(envelope, links), raw, data), row_key))
            index += 1
        return entries

    def _unseal_unless_erased(self, envelope: Envelope, key: RecordKey, sealed: bytes) -> bytes | None:
        try:
            return self.unseal(envelope, key, sealed)
        except IntegrityError:
            if self._erased_meanwhile(envelope.index):
                return None
            raise

    def need_vault(self) -> Vault:
        """Return the vault; raise NoVaultError where there is none."""
        if self.vault is None:
            raise NoVaultError(
                f"{self.path}: there is no vault at {self.settings.vault_path(self.path)}, so "
                f"bodies can't be read or written; "
                "an auditor's copy can be verified, traced and proved"
            )
        return self.vault

    def prove(self, index: int) -> bytes:
        """Return a c2sp.org/tlog-proof file for a record under the published checkpoint; ValueError when
        it is behind.
        """
        return self._proof(index, self.published, self.checkpoint_note)

    def prove_under(self, index: int, head: Checkpoint, note: bytes) -> bytes:
        """Return such a file under another head of this log, whose note says the same; ValueError where it is none."""
        if head.size > self.size or range_root(0, head.size, self.tree.subtree) != head.root:
            raise ValueError(f"the head of {head.size} records is not of what this store holds")
        return self._proof(index, head, note)

    def _proof(self, index: int, head: Checkpoint, note: bytes) -> bytes:
        if index >= head.size:
            raise ValueError(
                f"record {index} is not under a published checkpoint yet (it covers {head.size})"
            )
        with self._turn:
            hashes = prove_inclusion(index, head.size, self.tree.subtree)
        return format_proof(index, hashes, note)

    def prove_many(
        self, indexes: Collection[int], head: Checkpoint | None = None, note: bytes | None = None
    ) -> bytes:
        """Return one multi-proof for records with their envelopes, under the published head or another (SPEC §5.5).

        `note` is the signed note of `head`.
        Raises ValueError for no record, one that the head does not cover, or a head that is none of this log.
        """
        chosen = sorted(set(indexes))
        if head is None or note is None:
            head, note = self.published, self.checkpoint_note
        elif head.size > self.size or range_root(0, head.size, self.tree.subtree) != head.root:
            raise ValueError(f"the head of {head.size} records is not of what this store holds")
        if not chosen:
            raise ValueError("a proof is of one record at least")
        if chosen[-1] >= head.size:
            raise ValueError(
                f"record {chosen[-1]} is not under a published checkpoint yet (it covers {head.size})"
            )
        leaves = tuple((index, self._verified_leaf(index)) for index in chosen)
        with self._turn:
            hashes = prove_inclusions(chosen, head.size, self.tree.subtree)
        return format_multiproof(MultiProof(leaves, tuple(hashes), note))
