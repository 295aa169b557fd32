"""The writer: one at a time; assigns places, seals, signs, appends, and signs heads behind what is durable
(SPEC §8).
"""

import os
import time
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Lock, RLock, Thread

from braid.ledger.errors import (
    GuardError,
    IntegrityError,
    InvalidRecordError,
    KeyRefusedError,
    LedgerError,
    RollbackError,
    UnpublishedError,
    UnwritableError,
)
from braid.ledger.keys.author_key import Signer, load_signers
from braid.ledger.keys.control import FRESH_KEY, SharedKeyError
from braid.ledger.keys.logkeys import load_log_keys
from braid.ledger.read.blobs import BlobStore
from braid.ledger.read.reader import Reader
from braid.ledger.record.envelope import decode_payload, payload_of
from braid.ledger.record.ids import RecordId
from braid.ledger.record.record import Draft, EventBody, ExperienceBody, keys_of
from braid.ledger.tree.checkpoint import Checkpoint, sign_checkpoint
from braid.ledger.tree.guard import Guard, Head
from braid.ledger.tree.merkle import leaf_hashes
from braid.ledger.tree.note import SigningKey
from braid.ledger.tree.publication import drop_partials, publish_checkpoint, write_tiles
from braid.ledger.tree.tiles import partial_tiles, tile_path
from braid.ledger.write.sequence import AppendRequest, Clock, Placed, Sequencer, SignedTransaction
from braid.wal.append import LogWriter
from braid.wal.durable import is_full, is_unwritable
from braid.wal.errors import OutcomeUnknownError, WriterPoisonedError
from braid.wal.frame import MAX_RECORDS
from braid.wal.lock import FileLock
from braid.wal.log import TornTail

CHECKPOINT_RECORDS = 1_000
CHECKPOINT_S = 1.0
SYNC_INTERVAL_S = 0.05
MAX_GROUP = 256
_NO_KEYS: set[str] = set()


def utc_now() -> datetime:
    """Return the system's time."""
    return datetime.now(UTC)


class Writer(Reader):
    """A store opened for appending. Concurrent callers share one write and one sync."""

    log: LogWriter

    def __init__(
        self,
        store: Path,
        *,
        guard: Guard | None = None,
        passphrase: str | None = None,
        adopt: bool = False,
        shared: bool = False,
        wait_s: float = 10.0,
        clock: Clock = utc_now,
        headless: bool = False,
    ) -> None:
        """Take the lock, open, cut a torn tail. `shared` gives the lock back and takes it for each transaction.

        `headless` opens without the log's private key, to let another take its place: until then no head is signed.

        Raises LogLockedError, UnwritableError, GuardError without a guard unless `adopt`, and what `Reader` raises.
        """
        store = store.absolute()
        self._lock = FileLock(store / "lock")
        self._shared = shared
        self._process = os.getpid()
        self._wait_s = wait_s
        self._clock = clock
        self._commit = RLock()
        self._queue: deque[AppendRequest] = deque()
        self._queue_turn = Lock()
        self._stop = Event()
        self._closed = False
        self._thread: Thread | None = None
        self._background_error: BaseException | None = None
        if not (store / "store.json").exists():
            raise FileNotFoundError(f"there is no store at {store}: create one with `braid init`")
        try:
            self._lock.acquire(wait_s if shared else 0.0)
        except OSError as error:
            if is_unwritable(error):
                raise UnwritableError(store, error) from error
            raise
        try:
            super().__init__(store, guard=guard, passphrase=passphrase, _log=LogWriter)
            if self.guarded is None and not adopt:
                raise GuardError(
                    f"{self.guard.path} is missing: the guard that would show whether this store "
                    f"was rolled back; if you are "
                    "sure that this is its newest copy, open it once with --adopt (Python: adopt=True)"
                )
            self._refuse_older_than_vault()
            self.log.keeps_room = not shared
            self.torn: TornTail | None = self.log.cut_tail()
            if not shared:
                BlobStore(store / "blobs")  # clears out what an interrupted `put` left
            self._sequencer = Sequencer(self, load_signers(store / "keys", passphrase), clock)
            self._signing = load_log_keys(store, passphrase)
            self._keys_known = self._keys_named()
            if not headless:
                self.log_signers()
            self._partials = [store / tile_path(*tile[:3]) for tile in self.frontier.partials()]
            self._last_time = self._time_of_last()
            self._checkpointed = time.monotonic()
            if not headless:
                self._publish_tail()
        except BaseException:
            if hasattr(self, "log"):
                self.log.close()
            self._lock.release()
            raise
        self._start_background()
        if shared:
            self._lock.release()

    def _refuse_older_than_vault(self) -> None:
        """A destroyed key belongs to a record: a vault that lacks one still to come has seen a longer log.

        Going on would give the indexes of lost records again, and end at the first whose key is gone.
        """
        vault = self.need_vault()
        if (last := vault.last_erased()) >= self.size:
            raise RollbackError(
                f"the vault {vault.path} has erased the key of record {last}, but this log ends at {self.size} "
                "records: it is an older copy. Restore the newest one; where there is none, begin a new store and "
                "take over what this one holds (`braid export --jsonl` here, `braid import` there)"
            )

    def _publish_tail(self) -> None:
        """Publish the head of the tail that was found. A full disk must not keep an erasure out: it has the reserve."""
        try:
            self.checkpoint()
        except OSError as error:
            if not is_full(error):
                raise
            self._background_error = error

    def _time_of_last(self) -> datetime:
        return datetime.fromisoformat(self.envelope(self.size - 1).created_at)

    @property
    def signers(self) -> dict[str, Signer]:
        """The private author keys of this store, by id."""
        return self._sequencer.signers

    def log_signers(self) -> list[SigningKey]:
        """Return the log's keys that sign the next head; raise KeyRefusedError where one is not here."""
        due = self.control.signing(self.size)
        if missing := [vkey for vkey in due if vkey not in self._signing]:
            raise KeyRefusedError(
                f"{self.path}/keys lacks the private half of {missing[0]}, which signs this log's heads: without "
                "it this store can only be read; where it is lost, `braid key rotate log --lost` lets another take over"
            )
        return [self._signing[vkey] for vkey in due]

    def add_log_key(self, key: SigningKey) -> None:
        """Have a further private key of the log at hand; it signs once a control record says so."""
        self._signing[str(key.verifier)] = key

    # -- appending --------------------------------------------------------------------------------

    def append(
        self,
        drafts: Sequence[Draft],
        *,
        keys: Sequence[str | None] = (),
        signer: str | None = None,
        held: int = 0,
    ) -> list[Placed]:
        """Append the drafts as one transaction; durable as the store's settings say when this returns.

        `keys` makes repeating harmless: a draft whose key is in the log already is left out and its record named. The
        first `held` drafts must say what that record says, else IdempotencyConflictError.
        `signer` is the id of an author key of this store. Raises before anything is written: InvalidRecordError,
        UnknownRecordError, ErasedError, KeyRefusedError, ClockError, OSError (a full disk), WriterPoisonedError
        (an earlier failure ended this handle), ValueError (a closed writer); after that OutcomeUnknownError.
        """
        if not drafts:
            raise ValueError("a transaction holds at least one record")
        if len(drafts) > MAX_RECORDS:
            raise InvalidRecordError(f"a transaction holds up to {MAX_RECORDS} records, not {len(drafts)}")
        if keys and len(keys) != len(drafts):
            raise ValueError(f"{len(keys)} keys for {len(drafts)} drafts: give None for a draft without one")
        self._refuse_unusable()
        request = AppendRequest(drafts, keys or [None] * len(drafts), signer, held)
        with self._queue_turn:
            self._queue.append(request)
        try:
            with self._commit:
                if request.done:
                    pass  # another caller's turn took it along
                elif self._lock.held:
                    self._lead(request)
                else:
                    with self._locked():
                        self._lead(request)
        except BaseException:  # the lock was not to be had, say: who is told so must be able to try again
            with self._queue_turn:
                if request in self._queue:
                    self._queue.remove(request)
            raise
        if request.error is not None:
            raise request.error
        return request.placed

    def _refuse_unusable(self) -> None:
        """A closed handle would take the lock again, and write behind what others have written since.

        A child inherits the lock with its parent's descriptors: two processes would write under one lock.
        """
        if self._closed:
            raise ValueError(f"this handle of {self.path} was closed: open the store again")
        if os.getpid() != self._process:
            raise WriterPoisonedError(
                "this handle was opened before a fork; open the store again in this process"
            )

    def append_turn(self) -> AbstractContextManager[object]:
        """See `Reader.append_turn`: an append holds this before it asks for keys."""
        return self._commit

    @property
    def holds_lock(self) -> bool:
        return self._lock.held

    @contextmanager
    def turn(self) -> Generator[None]:
        """Hold the writer's lock over several acts, so that no other handle comes between them.

        Raises WriterPoisonedError after an earlier failure, ValueError for a closed writer.
        """
        self._refuse_unusable()
        with self._commit, self._locked():
            yield

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Hold the writer's lock for one act: a shared handle takes it, and first catches up; another has it anyway."""
        if self._lock.held:
            yield
            return
        self._lock.acquire(self._wait_s)
        try:
            self._catch_up()
            yield
        finally:
            self._lock.release()

    def refresh(self) -> int:
        """Take in what other writers have appended; nothing to do for the only one.

        What the next append stands on follows here, whoever asks: a read that took their records in leaves none to
        the append behind it.
        """
        if not self._shared:
            return 0
        with self._commit:
            head = self.published.size
            taken = super().refresh()
            if taken:
                self._sequencer.chains.forget()
                self._last_time = self._time_of_last()
            if taken or self.published.size != head:
                self._partials = [self.path / tile_path(*tile) for tile in partial_tiles(self.published.size)]
            if self._keys_known != self._keys_named():
                self._take_keys()
            return taken

    def _keys_named(self) -> tuple[int, int]:
        """Return how many author keys and log keys the log has named so far: none ever leaves these."""
        return len(self.control.keys), len(self.control.log_keys)

    def _take_keys(self) -> None:
        """Have the private keys at hand that another process has admitted: they were on disk before their records."""
        named = self._keys_named()
        # Sealed since, or being wiped: what needs them is refused and says so, and the next refresh tries again.
        with suppress(KeyRefusedError, FileNotFoundError):
            self.signers.update(load_signers(self.path / "keys", self.passphrase))
            self._signing.update(load_log_keys(self.path, self.passphrase))
            self._keys_known = named

    def _catch_up(self) -> None:
        """Stand at the log's end as other writers have left it; the lock is held (SPEC §8.3)."""
        self.refresh()
        self.torn = self.log.stand_ready() or self.torn

    def _lead(self, own: AppendRequest) -> None:
        """Write every waiting transaction, in groups: one write and one sync each. No caller is left
        without an outcome.
        """
        waiting: list[AppendRequest] = []
        try:
            while not own.done:
                with self._queue_turn:
                    waiting = [self._queue.popleft() for _ in range(min(len(self._queue), MAX_GROUP))]
                self._write_groups(waiting)
        except BaseException as error:
            for request in [own, *waiting]:
                if not request.done:
                    request.error, request.done = error, True
            raise

    def _write_groups(self, waiting: list[AppendRequest]) -> None:
        """Prepare and write the requests; one that changes the control state is a group of its own."""
        group: list[SignedTransaction] = []
        once: set[str] = set()
        index, tx, last = self.log.next_index, self.log.next_tx, self._last_time
        for request in waiting:
            alone = any("op" in draft.public for draft in request.drafts)
            keys = {key for key in request.keys if key is not None} if any(request.keys) else _NO_KEYS
            if group and (alone or keys & once):
                self._write(group)  # what follows must see this state
                group, index, tx, last = [], self.log.next_index, self.log.next_tx, self._last_time
            try:
                prepared = self._sequencer.prepare(request, index, tx, last)
                if alone and prepared:
                    self._try_controls(prepared)
            except Exception as error:
                request.error, request.done = error, True
                continue
            if prepared is None:
                request.done = True
                continue
            group.append(prepared)
            once |= keys
            index, tx, last = index + len(prepared.stored), tx + 1, prepared.time
            if alone:
                self._write(group)
                group, index, tx, last = [], self.log.next_index, self.log.next_tx, self._last_time
        if group:
            self._write(group)

    def _try_controls(self, prepared: SignedTransaction) -> None:
        """Raise InvalidRecordError for a control record that no reader would accept: once written, it would stay."""
        trial = self.control.trial()
        try:
            for stored in prepared.stored:
                envelope = decode_payload(payload_of(stored.envelope))
                if envelope.is_control:
                    trial.apply(envelope, self._check_links(envelope, stored.links))
        except IntegrityError as error:
            why = error.__cause__
            kind = KeyRefusedError if isinstance(why, KeyRefusedError) else InvalidRecordError
            advice = f"; {FRESH_KEY}" if isinstance(why, SharedKeyError) else ""
            raise kind(f"nothing was written: {error}{advice}") from error

    def _write(self, group: list[SignedTransaction]) -> None:
        before = self.log.next_index
        try:
            self.log.append([prepared.stored for prepared in group], sync=self.durability == "always")
            for prepared in group:
                self._admit(prepared)
        except BaseException as error:
            in_part = self.log.next_index != before and not all(one.request.done for one in group)
            if in_part or self.size != self.log.next_index:
                # Written, but memory did not follow, or not to its end (a control record): only reopening can tell.
                self.log.poison(f"taking in an append failed ({error})")
            self._sequencer.chains.forget()
            for prepared in group:
                if not prepared.request.done:
                    prepared.request.error, prepared.request.done = error, True
            if not isinstance(error, Exception):
                raise
            return
        if self.size - self.published.size >= CHECKPOINT_RECORDS:
            self._try_checkpoint()

    def _admit(self, prepared: SignedTransaction) -> None:
        """Bring memory up to what is now in the log: tree, control state, known keys."""
        first = self.frontier.size
        leaves = leaf_hashes([stored.envelope for stored in prepared.stored])
        with self._turn:
            self.frontier.extend(leaves)
            for level, n, tile in self.frontier.take_full():
                self._pending[level, n] = tile
        self._last_time = prepared.time
        request = prepared.request
        keys: list[tuple[str, int]] = []
        for k, place in enumerate(prepared.new):
            request.placed[place] = Placed(prepared.ids[k], first + k)
            body = request.drafts[place].body
            content_hash = body.content_hash if isinstance(body, ExperienceBody) else None
            found = keys_of(body.once or request.keys[place], content_hash)
            keys += [(key, first + k) for key in found]
            if "op" in request.drafts[place].public:
                envelope = self.envelope(first + k)
                self.control.apply(envelope, self._links(envelope))
                self._settle_log_keys()
        self.key_index.note(
            first, len(prepared.stored), keys, {} if prepared.chains is None else prepared.chains.scopes
        )
        request.done = True

    def accept_clock(self, reason: str | None = None) -> RecordId:
        """Log that the clock is behind and may be: until it has caught up, times go on from the last record's."""
        behind = max(self._last_time - self._clock(), timedelta(0))
        draft = Draft(
            kind="event",
            body=EventBody(name="clock", reason=reason),
            public={"op": "clock", "behind_us": behind // timedelta(microseconds=1)},
        )
        return self.append([draft])[0].id

    # -- heads ------------------------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Sign and publish the present head: sync, sign, guard, tiles, checkpoint (SPEC §5.4).

        Raises IntegrityError where tree and disk hold different numbers of records.
        """
        with self.turn():
            self._publish()

    def _publish(self) -> None:
        self.log.sync()
        self.log.flush_index()
        size, epoch = self.log.synced, self.need_vault().epoch
        if size != self.size:
            raise IntegrityError(f"{self.size} records in the tree, {size} on disk: reopen the store")
        head = self.guarded
        if size == self.published.size and head and head.size == size and head.vault_epoch == epoch:
            return
        checkpoint = Checkpoint(self.origin, size, self.frontier.root())
        signers = self.log_signers()
        note = sign_checkpoint(checkpoint, signers)
        every = list(self.control.log_keys)
        head = Head(
            origin=self.origin,
            vkey=str(signers[-1].verifier),
            size=size,
            root=checkpoint.root.hex(),
            vault_epoch=epoch,
            checkpoint=note.decode(),
            log_keys=every if len(every) > 1 else [],
        )
        self.guard.write(head)
        # Dying here: the guard is ahead of what is published; opening finds its root in the frames and publishes.
        self.guarded = head
        partials = self.frontier.partials()
        full = [(level, n, 0, data) for (level, n), data in self._pending.items()]
        write_tiles(self.path, full)
        fresh = write_tiles(self.path, partials)
        publish_checkpoint(self.path, note)
        with self._turn:
            self.published, self.checkpoint_note = checkpoint, note
            self._pending.clear()
        drop_partials(self._partials, set(fresh))
        self._partials = fresh
        self._checkpointed = time.monotonic()

    def _try_checkpoint(self) -> None:
        """Publish behind an append that is already durable; a failure is reported by the next call, not by
        this append.
        """
        try:
            self._publish()
        except (OSError, LedgerError, OutcomeUnknownError) as error:
            self._background_error = error

    @property
    def trouble(self) -> BaseException | None:
        """The last failure to publish a head behind the appends, if any; the records themselves are safe."""
        return self._background_error

    def _start_background(self) -> None:
        self._thread = Thread(target=self._tick, name="braid-heads", daemon=True)
        self._thread.start()

    def _tick(self) -> None:
        while not self._stop.wait(SYNC_INTERVAL_S if self.durability == "interval" else CHECKPOINT_S / 4):
            if self.log.poisoned:
                return
            due = self.size > self.published.size and time.monotonic() - self._checkpointed >= CHECKPOINT_S
            unsynced = self.durability == "interval" and self.log.synced < self.log.next_index
            if not (due or unsynced):
                continue
            try:
                with self._commit, self._locked():
                    if due:
                        self._publish()
                    else:
                        self.log.sync()
            except Exception as error:
                self._background_error = error

    def close(self) -> None:
        """Publish the last head and give everything back. Raises UnpublishedError where that can't be; the records are
        durable first.
        """
        if self._stop.is_set():
            return
        self._stop.set()
        if os.getpid() != self._process:
            self.log.poison("it was opened before a fork")
        if self._thread:
            self._thread.join()
        try:
            if not self.log.poisoned:
                self._publish_last()
        finally:
            self._closed = True
            self._sequencer.close()
            try:
                super().close()
            finally:
                self._lock.release()

    def _publish_last(self) -> None:
        try:
            self.checkpoint()
        except OSError as error:
            raise UnpublishedError(error, durable=self.log.synced == self.log.next_index) from error
