"""The writer: one at a time; assigns places, seals, signs, appends, and signs heads behind what is durable
(SPEC §8).
"""

import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Lock, RLock, Thread
from typing import Protocol, cast

import msgspec
from nacl.utils import random

from braid.ledger.checkpoint import Checkpoint, sign_checkpoint
from braid.ledger.compose import Slot, Unsigned, compose, encode_body, sign_all
from braid.ledger.envelope import Link
from braid.ledger.errors import (
    ClockError,
    ErasedError,
    GuardError,
    IntegrityError,
    InvalidRecordError,
    KeyRefusedError,
    LedgerError,
    UnknownRecordError,
)
from braid.ledger.guard import Guard, Head
from braid.ledger.ids import RecordId, make_id, prefix_of
from braid.ledger.lattice import may_derive
from braid.ledger.merkle import leaf_hash
from braid.ledger.note import SigningKey, parse_skey
from braid.ledger.publish import drop_partials, publish_checkpoint, write_tiles
from braid.ledger.reader import Reader
from braid.ledger.record import Draft, EventBody, ExperienceBody, Target
from braid.ledger.seal import RecordKey
from braid.ledger.sign import OWN_WORDS_ROLES, ROLE_KINDS, Signer, load_signers
from braid.ledger.tiles import partial_tiles, tile_path
from braid.ledger.validate import check_draft
from braid.wal.errors import OutcomeUnknownError
from braid.wal.frame import MAX_RECORDS, Stored
from braid.wal.lock import FileLock
from braid.wal.log import LogWriter, TornTail

CHECKPOINT_RECORDS = 1_000
CHECKPOINT_S = 1.0
SYNC_INTERVAL_S = 0.05
CLOCK_TOLERANCE = timedelta(minutes=5)
MAX_GROUP = 256
SIGN_CHUNK = 64
SIGN_THREADS = min(os.cpu_count() or 1, 4)
Clock = Callable[[], datetime]


class KnownKeys(Protocol):
    """Finds records by the key that makes repeating an append harmless."""

    def find(self, keys: Sequence[str]) -> dict[str, int]:
        """Return the index of each key that is in the log, up to its present end."""
        ...

    def add(self, keys: dict[str, int]) -> None:
        """Remember what was just appended."""
        ...


class Placed(msgspec.Struct, frozen=True):
    """What became of a draft: its id, and whether it was in the log already."""

    id: RecordId
    index: int
    known: bool = False


class _Request:
    """One transaction waiting for the writer."""

    __slots__ = ("done", "drafts", "error", "keys", "placed", "signer")

    def __init__(self, drafts: Sequence[Draft], keys: Sequence[str | None], signer: str | None) -> None:
        self.drafts = drafts
        self.keys = keys
        self.signer = signer
        self.placed: list[Placed] = []
        self.error: BaseException | None = None
        self.done = False


class _Prepared(msgspec.Struct):
    """A transaction ready to be written."""

    request: _Request
    stored: list[Stored]
    new: list[int]
    """Places in the request of the drafts that are new."""
    ids: list[RecordId]
    time: datetime


def utc_now() -> datetime:
    """Return the system's time."""
    return datetime.now(UTC)


def load_log_key(store: Path) -> SigningKey:
    """Return the key that signs heads; raise KeyRefusedError where it is missing or damaged."""
    path = store / "keys" / "log.key"
    try:
        return parse_skey(path.read_text("utf-8").strip())
    except FileNotFoundError:
        raise KeyRefusedError(
            f"{path} is missing: without the log's key this store can only be read"
        ) from None
    except ValueError as error:
        raise KeyRefusedError(f"{path}: not the log's private key") from error


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
    ) -> None:
        """Take the lock, open, cut a torn tail. `shared` gives the lock back and takes it for each transaction.

        Raises LogLockedError, GuardError without a guard unless `adopt`, and what `Reader` raises.
        """
        self._lock = FileLock(store / "lock")
        self._shared = shared
        self._wait_s = wait_s
        self._clock = clock
        self._commit = RLock()
        self._queue: deque[_Request] = deque()
        self._queue_turn = Lock()
        self.known: KnownKeys | None = None
        self.on_erased: Callable[[], None] | None = None
        self._stop = Event()
        self._pool = ThreadPoolExecutor(SIGN_THREADS, thread_name_prefix="braid-sign")
        self._thread: Thread | None = None
        self._background_error: BaseException | None = None
        if not (store / "store.json").exists():
            raise FileNotFoundError(f"there is no store at {store}: create one with `braid init`")
        self._lock.acquire(wait_s if shared else 0.0)
        try:
            super().__init__(store, guard=guard, passphrase=passphrase, _log=LogWriter)
            self.torn: TornTail | None = self.log.cut_tail()
            if self.guarded is None and not adopt:
                raise GuardError(
                    f"{self.guard.path} is missing: the guard that would show whether this store "
                    f"was rolled back; if you are "
                    "sure that this is its newest copy, open it once with --adopt (Python: adopt=True)"
                )
            self.need_vault()
            self.signers = load_signers(store / "keys")
            self._chosen: dict[tuple[object, ...], Signer] = {}
            self._log_key = load_log_key(store)
            if str(self._log_key.verifier) != str(self.vkey):
                raise KeyRefusedError(f"{store}/keys/log.key is not the key of this log")
            self._partials = [store / tile_path(*tile[:3]) for tile in self.frontier.partials()]
            self._last_time = self._time_of_last()
            self._checkpointed = time.monotonic()
            self.checkpoint()
        except BaseException:
            if hasattr(self, "log"):
                self.log.close()
            self._lock.release()
            raise
        self._start_background()
        if shared:
            self._lock.release()

    def _time_of_last(self) -> datetime:
        return datetime.fromisoformat(self.envelope(self.size - 1).created_at)

    # -- appending --------------------------------------------------------------------------------

    def append(
        self, drafts: Sequence[Draft], *, keys: Sequence[str | None] = (), signer: str | None = None
    ) -> list[Placed]:
        """Append the drafts as one transaction; durable as the store's settings say when this returns.

        `keys` makes repeating harmless: a draft whose key is in the log already is left out and its record named.
        `signer` is the id of an author key of this store. Raises before anything is written: InvalidRecordError,
        UnknownRecordError, ErasedError, KeyRefusedError, ClockError, OSError (a full disk); after that
        OutcomeUnknownError.
        """
        if not drafts:
            raise ValueError("a transaction holds at least one record")
        if len(drafts) > MAX_RECORDS:
            raise InvalidRecordError(f"a transaction holds up to {MAX_RECORDS} records, not {len(drafts)}")
        request = _Request(drafts, keys or [None] * len(drafts), signer)
        with self._queue_turn:
            self._queue.append(request)
        with self._commit:
            if not request.done:
                with self._locked():
                    self._lead(request)
        if request.error is not None:
            raise request.error
        return request.placed

    def _locked(self) -> "_Turn":
        return _Turn(self)

    def _catch_up(self) -> None:
        """Stand at the log's end as other writers have left it; the lock is held (SPEC §8.3)."""
        if self.refresh():
            self._last_time = self._time_of_last()
            self._partials = [self.path / tile_path(*tile) for tile in partial_tiles(self.published.size)]
        self.torn = self.log.stand_ready() or self.torn

    def _lead(self, own: _Request) -> None:
        """Write every waiting transaction, in groups: one write and one sync each. No caller is left
        without an outcome.
        """
        waiting: list[_Request] = []
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

    def _write_groups(self, waiting: list[_Request]) -> None:
        """Prepare and write the requests; one that changes the control state is a group of its own."""
        group: list[_Prepared] = []
        index, tx, last = self.log.next_index, self.log.next_tx, self._last_time
        for request in waiting:
            alone = any("op" in draft.public for draft in request.drafts)
            if alone and group:
                self._write(group)  # what follows must see this state
                group, index, tx, last = [], self.log.next_index, self.log.next_tx, self._last_time
            try:
                prepared = self._prepare(request, index, tx, last)
            except Exception as error:
                request.error, request.done = error, True
                continue
            if prepared is None:
                request.done = True
                continue
            group.append(prepared)
            index, tx, last = index + len(prepared.stored), tx + 1, prepared.time
            if alone:
                self._write(group)
                group, index, tx, last = [], self.log.next_index, self.log.next_tx, self._last_time
        if group:
            self._write(group)

    def _write(self, group: list[_Prepared]) -> None:
        try:
            self.log.append(
                [prepared.stored for prepared in group], sync=self.settings.durability == "always"
            )
            for prepared in group:
                self._admit(prepared)
        except BaseException as error:
            if (
                self.size != self.log.next_index
            ):  # written, but memory did not follow: only reopening can tell
                self.log.poison(f"taking in an append failed ({error})")
            for prepared in group:
                if not prepared.request.done:
                    prepared.request.error, prepared.request.done = error, True
            if not isinstance(error, Exception):
                raise
            return
        if self.size - self.published.size >= CHECKPOINT_RECORDS:
            self._try_checkpoint()

    def _admit(self, prepared: _Prepared) -> None:
        """Bring memory up to what is now in the log: tree, control state, known keys."""
        first = self.size
        with self._turn:
            self.frontier.extend([leaf_hash(stored.envelope) for stored in prepared.stored])
            self._collect_tiles_of_writer()
        self._last_time = prepared.time
        request = prepared.request
        keys: dict[str, int] = {}
        for k, place in enumerate(prepared.new):
            request.placed[place] = Placed(prepared.ids[k], first + k)
            key = request.keys[place]
            if key is not None:
                keys[key] = first + k
            if "op" in request.drafts[place].public:
                envelope = self.envelope(first + k)
                self.control.apply(envelope, self._links(envelope))
        if keys and self.known:
            self.known.add(keys)
        request.done = True

    def _collect_tiles_of_writer(self) -> None:
        for level, n, tile in self.frontier.take_full():
            self._pending[level, n] = tile

    # -- preparing --------------------------------------------------------------------------------

    def _prepare(self, request: _Request, first: int, tx: int, last: datetime) -> _Prepared | None:
        """Check, seal and sign a transaction that will stand at `first`; None when all of it is known already."""
        new = self._unknown_places(request)
        if not new:
            return None
        now = self._next_time(last, request.drafts)
        created_at = now.isoformat(timespec="microseconds")[:26] + "Z"
        second = created_at[:19] + "Z"
        bits = random(3 * len(new))
        ids = [
            make_id(
                prefix_of(request.drafts[place].kind),
                second,
                first + k,
                int.from_bytes(bits[3 * k : 3 * k + 3], "big") >> 4,
            )
            for k, place in enumerate(new)
        ]
        written = {place: (first + k, ids[k]) for k, place in enumerate(new)}
        for place, known in enumerate(request.placed):
            if known.known:
                written[place] = (known.index, known.id)
        keys = self._keys(first, len(new))
        control = max(self.control.newest, 0)
        unsigned: list[tuple[Signer, Unsigned]] = []
        for k, place in enumerate(new):
            draft = request.drafts[place]
            check_draft(draft, now)
            raw = encode_body(draft)
            links = self._resolve(draft, request, written, place) if draft.links else []
            signer = self._signer_for(draft, request.signer)
            key = keys[k]
            slot = Slot(first + k, ids[k], tx, k, len(new), control, created_at)
            unsigned.append(
                (signer, compose(draft, raw, links, slot, origin=self.origin, key=key, author=signer.id))
            )
            if "op" in draft.public:
                control = first + k
        return _Prepared(request, self._sign(unsigned), new, ids, now)

    def _sign(self, unsigned: list[tuple[Signer, Unsigned]]) -> list[Stored]:
        """Sign in order; a large transaction on all cores, after composing: hand-offs between the two
        would cost more.
        """
        if len(unsigned) < SIGN_CHUNK:
            return sign_all(unsigned)
        share = -(-len(unsigned) // SIGN_THREADS)
        parts = [unsigned[at : at + share] for at in range(0, len(unsigned), share)]
        return [record for part in self._pool.map(sign_all, parts) for record in part]

    def _keys(self, first: int, count: int) -> list[RecordKey]:
        vault = self.need_vault()
        if count < SIGN_CHUNK:  # the vault keeps the path of the last key: the next one costs two hashes
            return [vault.key(index) for index in range(first, first + count)]
        keys = [key for key in vault.keys(first, count) if key is not None]
        if len(keys) != count:
            raise IntegrityError(f"the vault lacks keys for indexes behind {first}, which were never used")
        return keys

    def _unknown_places(self, request: _Request) -> list[int]:
        """Return the places of drafts that are not in the log, filling in those that are."""
        if not any(request.keys):
            request.placed = [Placed(RecordId(""), -1)] * len(request.drafts)
            return list(range(len(request.drafts)))
        wanted = [key for key in request.keys if key is not None]
        found = self.known.find(wanted) if wanted and self.known else {}
        request.placed = [
            Placed(RecordId(self.envelope(found[key]).id), found[key], known=True)
            if key is not None and key in found
            else Placed(RecordId(""), -1)
            for key in request.keys
        ]
        seen: set[str] = set()
        new: list[int] = []
        for place, (key, placed) in enumerate(zip(request.keys, request.placed, strict=True)):
            if placed.known:
                continue
            if key is not None and key in seen:
                raise InvalidRecordError(f"the transaction uses the key {key!r} twice")
            if key is not None:
                seen.add(key)
            new.append(place)
        return new

    def _next_time(self, last: datetime, drafts: Sequence[Draft]) -> datetime:
        """Return max(now, last + 1 µs); raise ClockError when the clock stands more than five minutes behind."""
        now = self._clock()
        if last - now > CLOCK_TOLERANCE and not self._accepted(last, drafts):
            raise ClockError(
                f"the clock says {now:%Y-%m-%d %H:%M:%S}Z, but the log's last record is of "
                f"{last:%Y-%m-%d %H:%M:%S}Z; set the "
                "clock right, or accept it once with `braid doctor --accept-clock` (it is logged)"
            )
        return max(now, last + timedelta(microseconds=1))

    def _accepted(self, last: datetime, drafts: Sequence[Draft]) -> bool:
        """Whether the clock's lag was accepted and has lasted since: then each transaction was one
        microsecond later.
        """
        if any(draft.public.get("op") == "clock" for draft in drafts):
            return True
        if self.control.clock is None:
            return False
        time_, tx = self.control.clock
        return last - datetime.fromisoformat(time_) <= timedelta(microseconds=self.log.next_tx - tx)

    def accept_clock(self, reason: str | None = None) -> RecordId:
        """Log that the clock is behind and may be: until it has caught up, times go on from the last record's."""
        behind = max(self._last_time - self._clock(), timedelta(0))
        draft = Draft(
            kind="event",
            body=EventBody(name="clock", reason=reason),
            public={"op": "clock", "behind_us": behind // timedelta(microseconds=1)},
        )
        return self.append([draft])[0].id

    def _resolve(
        self, draft: Draft, request: _Request, written: dict[int, tuple[int, RecordId]], place: int
    ) -> list[Link]:
        """Turn the draft's targets into links; raise for one that is unknown, erased, or below its parents."""
        links: list[Link] = []
        for role, target in draft.links:
            if isinstance(target, str):
                index = self.index_of(target)
                envelope = self.envelope(index)
                if envelope.id != target:
                    raise UnknownRecordError(f"{target}: no such record; index {index} is {envelope.id}")
                if index in self.control.erased and draft.public.get("op") != "certify":
                    raise ErasedError(f"{target} was erased and can't be linked to")
                kind, type_, id = envelope.kind, envelope.type, RecordId(target)
            else:
                other = cast("Target", target)
                at = getattr(other, "place", -1)
                if not 0 <= at < place:
                    raise UnknownRecordError(
                        "a link names a record that does not stand earlier in the transaction"
                    )
                index, id = written[at]
                kind, type_ = request.drafts[at].kind, request.drafts[at].type
            if role == "parent" and draft.kind == kind == "experience" and not may_derive(type_, draft.type):
                raise InvalidRecordError(
                    f"a {draft.type} can't be derived from {id}, a {type_}: derivation goes up"
                )
            links.append(Link(role, index, id))
        return links

    def _signer_for(self, draft: Draft, wanted: str | None) -> Signer:
        """Return the key that may sign this draft; raise KeyRefusedError where there is none."""
        alike = (*_signature_class(draft), wanted, self.control.newest, len(self.signers))
        signer = self._chosen.get(alike)
        if signer is None:
            if len(self._chosen) > MAX_GROUP:
                self._chosen.clear()
            signer = self._chosen[alike] = self._choose_signer(draft, wanted)
        return signer

    def _choose_signer(self, draft: Draft, wanted: str | None) -> Signer:
        control = "op" in draft.public
        if wanted is not None:
            signer = self.signers.get(wanted)
            if signer is None:
                raise KeyRefusedError(f"{wanted} is not a private key of this store")
            candidates = [signer]
        else:
            order = (
                ("root", "operator")
                if control or draft.kind in ("key", "tombstone")
                else ("recorder", "agent", "user", "tool")
            )
            candidates = [s for role in order for s in self.signers.values() if s.role == role]
        refusal = f"no private key here may sign a {draft.kind}"
        for signer in candidates:
            problem = self._signing_problem(signer, draft, control=control)
            if problem is None:
                return signer
            refusal = problem
        raise KeyRefusedError(refusal)

    def _signing_problem(self, signer: Signer, draft: Draft, *, control: bool) -> str | None:
        life = self.control.keys.get(signer.id)
        if draft.kind != "genesis":
            if life is None:
                return f"key {signer.id} was never admitted to this log"
            if life.revoked is not None:
                return f"key {signer.id} was revoked at {life.revoked}"
        if draft.kind not in ROLE_KINDS[signer.role] or (control and signer.role not in ("root", "operator")):
            return f"a key of role {signer.role} may not sign this {draft.kind}"
        if signer.role in OWN_WORDS_ROLES and isinstance(draft.body, ExperienceBody):
            actor = draft.body.provenance.actor
            if actor.partition("(")[0] != signer.role or (
                signer.actor and signer.actor not in (actor, draft.body.provenance.name)
            ):
                return f"key {signer.id} signs for {signer.actor or signer.role}, not for {actor}"
        return None

    # -- heads ------------------------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Sign and publish the present head: sync, sign, guard, tiles, checkpoint (SPEC §5.4)."""
        with self._commit, self._locked():
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
        note = sign_checkpoint(checkpoint, [self._log_key])
        head = Head(self.origin, str(self.vkey), size, checkpoint.root.hex(), epoch, note.decode())
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
        pause = SYNC_INTERVAL_S if self.settings.durability == "interval" else CHECKPOINT_S / 4
        while not self._stop.wait(pause):
            if self.log.poisoned:
                return
            due = self.size > self.published.size and time.monotonic() - self._checkpointed >= CHECKPOINT_S
            unsynced = self.settings.durability == "interval" and self.log.synced < self.log.next_index
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
        """Publish the last head and give everything back. Raises what publishing raises; the records are
        durable first.
        """
        if self._stop.is_set():
            return
        self._stop.set()
        if self._thread:
            self._thread.join()
        try:
            if not self.log.poisoned:
                self.checkpoint()
        finally:
            self._pool.shutdown()
            self.log.close()
            self._lock.release()


def _signature_class(draft: Draft) -> tuple[str, bool, str | None, str | None]:
    """Return what decides who may sign a draft: drafts alike in this have the same signer."""
    body = draft.body
    if isinstance(body, ExperienceBody):
        return draft.kind, "op" in draft.public, body.provenance.actor, body.provenance.name
    return draft.kind, "op" in draft.public, None, None


class _Turn:
    """Holds the writer's lock for one act of a shared handle; nothing to do for an exclusive one."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._taken = False

    def __enter__(self) -> None:
        lock = self._writer._lock
        if not lock.held:
            lock.acquire(self._writer._wait_s)
            self._taken = True
            try:
                self._writer._catch_up()
            except BaseException:
                lock.release()
                raise

    def __exit__(self, *_: object) -> None:
        if self._taken:
            self._writer._lock.release()
