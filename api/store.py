"""The front door: a store to remember in, to read, correct, forget and erase, to prove, replay and ask."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from braid import drafts
from braid.ledger import asof
from braid.ledger import erase as erasing
from braid.ledger.blobs import BlobRef, BlobStore, Readable
from braid.ledger.ceremony import take_in
from braid.ledger.create import admission, create_store
from braid.ledger.errors import InvalidRecordError, ReadOnlyError, UnknownRecordError
from braid.ledger.guard import Guard
from braid.ledger.ids import RecordId
from braid.ledger.reader import Reader
from braid.ledger.record import Draft, EventBody, ExperienceBody, KeyBody, Media, Record, Target
from braid.ledger.sequence import Clock, Placed
from braid.ledger.settings import Durability, Settings
from braid.ledger.sign import Signer
from braid.ledger.trace import TraceNode, trace
from braid.ledger.writer import Writer, utc_now

if TYPE_CHECKING:
    from braid.affect.vad import Reading
    from braid.agent.parts import Composer
    from braid.agent.stage import Stage
    from braid.asking import Answer as Reply
    from braid.deciding import Conflict, Explained, Stance
    from braid.learning import Learned, Learner, Told
    from braid.ledger.audit.findings import Report
    from braid.lens_views import Standing
    from braid.lensing import View
    from braid.recall.hits import Answer
    from braid.recall.shelf import Shelf
    from braid.recall.vocabulary import Vocabulary
    from braid.views.embedder import Embedder
    from braid.views.lance.home import Embedding
    from braid.views.past import Past
    from braid.views.replay import Caught
    from braid.views.store import Views

DEFAULT_PATH = "memory"


def init(
    path: str | Path = DEFAULT_PATH,
    *,
    origin: str | None = None,
    durability: Durability = "always",
    retention_days: int = 30,
    vault: str | Path | None = None,
    passphrase: str | None = None,
    guard_dir: str | Path | None = None,
    clock: Clock = utc_now,
    scope_chains: bool = False,
) -> Settings:
    """Create a store with fresh keys; raise FileExistsError where something is already.

    `scope_chains`: each record names the one before it in its scopes and their count, so that an omission shows.
    """
    return create_store(
        Path(path),
        now=clock(),
        origin=origin,
        durability=durability,
        retention_days=retention_days,
        vault=Path(vault) if vault else None,
        passphrase=passphrase,
        guard_folder=Path(guard_dir) if guard_dir else None,
        scope_chains=scope_chains,
    )


def open(
    path: str | Path = DEFAULT_PATH,
    *,
    create: bool = True,
    read_only: bool = False,
    shared: bool = False,
    adopt: bool = False,
    passphrase: str | None = None,
    guard_dir: str | Path | None = None,
    wait_s: float = 10.0,
    clock: Clock = utc_now,
    embedder: "Embedding | None" = None,
    headless: bool = False,
) -> "Store":
    """Open a store, creating it where there is none (unless `create=False` or `read_only`).

    `shared` lets several processes write, each taking the lock for a transaction and waiting up to `wait_s` seconds.
    `adopt` accepts a store whose fork guard is missing. `embedder` returns the model that searches by meaning, when one
    is first needed; `braid.open` passes the one that comes with Braid. `headless` opens without the log's private key,
    which is lost, so that another can take its place.
    Raises LogLockedError, GuardError, RollbackError, IntegrityError, FileNotFoundError.
    """
    store = Path(path)
    guard_folder = Path(guard_dir) if guard_dir else None
    if create and not read_only and not (store / "store.json").exists():
        create_store(store, now=clock(), passphrase=passphrase, guard_folder=guard_folder)
    settings_guard = None
    if guard_folder is not None:
        from braid.ledger.settings import load_settings

        settings_guard = Guard.of_store(load_settings(store).store_id, guard_folder)
    reader: Reader
    if read_only:
        reader = Reader(store, guard=settings_guard, passphrase=passphrase)
    else:
        reader = Writer(
            store,
            guard=settings_guard,
            passphrase=passphrase,
            adopt=adopt,
            shared=shared,
            wait_s=wait_s,
            clock=clock,
            headless=headless,
        )
    try:
        return Store(reader, clock, embedder)
    except BaseException:
        reader.close()
        raise


class Pending:
    """A record of an open transaction: later records of it may link to it; `id` is known once it has been committed."""

    __slots__ = ("_placed", "place")

    def __init__(self, place: int) -> None:
        self.place = place
        self._placed: Placed | None = None

    def settle(self, placed: Placed) -> None:
        """Note where the commit has put the record."""
        self._placed = placed

    @property
    def id(self) -> RecordId:
        """The record's id; raises ValueError before the commit."""
        if self._placed is None:
            raise ValueError("the transaction has not been committed")
        return self._placed.id


class Transaction:
    """Several records, all or none. Committed when its block ends without an exception."""

    def __init__(self, writer: Writer, signer: str | None) -> None:
        self._writer = writer
        self._signer = signer
        self._drafts: list[Draft] = []
        self._pending: list[Pending] = []

    def append(self, what: str | Draft, **fields: Any) -> Pending:
        """Add a record (see `Store.append`); it may link to what this method returned before."""
        self._drafts.append(as_draft(what, fields))
        self._pending.append(Pending(len(self._drafts) - 1))
        return self._pending[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._drafts:
            batch = self._drafts if self._signer else reviewed(self._drafts)
            keys = [draft.body.once for draft in batch]
            done = self._writer.append(batch, keys=keys, signer=self._signer)
            for pending, placed in zip(self._pending, done, strict=False):
                pending.settle(placed)


def reviewed(batch: Sequence[Draft]) -> Sequence[Draft]:
    """Return a batch, with an event `review` behind it for claims in it that contradict each other undecidedly."""
    if not any(isinstance(draft.body, ExperienceBody) and draft.body.symbolic for draft in batch):
        return batch
    from braid.stance.review import with_reviews

    return with_reviews(batch)


def as_draft(what: str | Draft, fields: dict[str, Any]) -> Draft:
    """Return the draft of an experience from text and fields; a Draft stays as it is."""
    if isinstance(what, Draft):
        if fields:
            raise TypeError("a Draft takes no further fields")
        return what
    names = ("user_id", "agent_id", "run_id", "session_id")
    within = drafts.scope(**{name: fields.pop(name, None) for name in names})
    if (key := fields.pop("idempotency_key", None)) is not None:
        fields["once"] = key
    return drafts.experience(what, within=within, **fields)


class _CatalogKeys:
    """Looks keys up in the catalog, which is opened when the first one is asked for."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def find(self, keys: Sequence[str]) -> dict[str, int]:
        """See `KnownKeys`."""
        return self._store.views.catalog.find(keys)

    def add(self, keys: dict[str, int]) -> None:
        """See `KnownKeys`."""
        self._store.views.catalog.add(keys)


class Store:
    """An open store. Safe to share between threads; a context manager."""

    def __init__(self, reader: Reader, clock: Clock = utc_now, embedder: "Embedding | None" = None) -> None:
        """For `braid.open`; completes erasures that a crash has interrupted."""
        self._handle: Reader | None = reader
        self._path = reader.path
        self._clock = clock
        self._embedder = embedder
        self._vocabulary: Vocabulary | None = None
        self._shelf: Shelf | None = None
        self._learner: Learner | None = None
        self._views: Views | None = None
        self._views_turn = Lock()
        if isinstance(reader, Writer):
            reader.know(_CatalogKeys(self), lambda: self.views.catalog)
            if reader.control.unfinished():
                erasing.finish(reader, self.views.purge)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace_: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Publish the newest head and close every file; whatever is asked of the store afterwards raises ValueError."""
        handle = self._handle
        if handle is None:
            return
        try:
            if self._views is not None:
                self._views.close()
        finally:
            self._handle = None
            handle.close()

    @property
    def _reader(self) -> Reader:
        if self._handle is None:
            raise ValueError(f"the store {self._path} was closed: open it again")
        return self._handle

    @property
    def views(self) -> "Views":
        """The projections, opened when they are first needed: DuckDB and Arrow take longer to load than an append."""
        from braid.views.store import Views

        reader = self._reader
        with self._views_turn:
            if self._views is None:
                self._views = Views(self.path / "views", reader, self._embedder)
            return self._views

    # -- what a store is --------------------------------------------------------------------------

    @property
    def path(self) -> Path:
        """The store's folder."""
        return self._path

    @property
    def origin(self) -> str:
        """The log's origin."""
        return self._reader.origin

    @property
    def vkey(self) -> str:
        """The log's public key, to be pinned by whoever checks proofs."""
        return str(self._reader.vkey)

    @property
    def reader(self) -> Reader:
        """The verified reader under this store."""
        return self._reader

    @property
    def writer(self) -> Writer:
        """The writer under this store; raises ReadOnlyError when it was opened for reading."""
        if not isinstance(self._reader, Writer):
            raise ReadOnlyError(f"{self.path} is open for reading only")
        return self._reader

    def __len__(self) -> int:
        return self._reader.size

    # -- remembering ------------------------------------------------------------------------------

    def append(self, what: str | Draft, *, signer: str | None = None, **fields: Any) -> RecordId:
        """Append an experience (text and the fields of `drafts.experience`, scope ids, `idempotency_key`) or a Draft.

        Durable as the store's setting says when this returns. Raises InvalidRecordError, UnknownRecordError,
        ErasedError, KeyRefusedError, ClockError, OSError, OutcomeUnknownError.
        """
        draft = as_draft(what, fields)
        batch = [draft] if signer else reviewed([draft])
        return self.writer.append(batch, keys=[one.body.once for one in batch], signer=signer)[0].id

    def transaction(self, *, signer: str | None = None) -> Transaction:
        """Return a block whose records enter the log together or not at all."""
        return Transaction(self.writer, signer)

    def remember(
        self,
        messages: str | Mapping[str, Any] | Iterable[Mapping[str, Any] | str],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        session_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        learn: bool = True,
    ) -> list[RecordId]:
        """Append chat messages `{role, content, timestamp?, name?, id?}` as one transaction and return their ids.

        With an `idempotency_key`, repeating the call (after OutcomeUnknownError, say) adds nothing. What they state is
        then read (see `learn`).
        """
        several: Iterable[Mapping[str, Any] | str]
        several = [messages] if isinstance(messages, str) else messages
        if isinstance(messages, Mapping):
            several = [cast("Mapping[str, Any]", messages)]
        within = drafts.scope(user_id, agent_id, run_id, session_id)
        keys: list[str | None] = []
        batch: list[Draft] = []
        for place, said in enumerate(several):
            keys.append(None if idempotency_key is None else f"{idempotency_key}#{place}")
            batch.append(drafts.message(said, within, metadata or {}, keys[-1]))
        placed = self.append_all(batch)
        if learn:
            self.learn()
        return [one.id for one in placed]

    def learn(self, *, dry_run: bool = False, told: "Told | None" = None) -> "Learned":
        """Read what has not been read yet for plain statements; append these as inference records above their turns.

        Follows the log; repeating it adds nothing. `told` is shown each record that states something, and the draft.
        """
        from braid.learning import Learner

        self.refresh()
        if dry_run:
            return Learner(self).learn(dry_run=True, told=told)
        self.writer  # noqa: B018 - refuses a store that is open for reading only, before it is read
        if self._learner is None:
            self._learner = Learner(self)
        return self._learner.learn(told=told)

    def append_all(self, batch: Sequence[Draft]) -> list[Placed]:
        """Append drafts as one transaction; one whose `once` key is in the log already is named, not added.

        Claims in it that contradict each other while nothing says which gives way are all kept, and an event `review`
        is appended with them.
        """
        together = reviewed(batch)
        return self.writer.append(together, keys=[draft.body.once for draft in together])[: len(batch)]

    def correct(self, id: str, text: str, *, reason: str | None = None) -> RecordId:
        """Append what is right in place of a record; the old one stays, superseded. Returns the new record's id."""
        old = self.get(id)
        if not isinstance(old.body, ExperienceBody):
            raise InvalidRecordError(f"{id} is a {old.kind}; only experiences are corrected")
        with self.transaction() as transaction:
            new = transaction.append(
                drafts.experience(
                    text,
                    type=old.type,
                    actor=old.body.provenance.actor,
                    name=old.body.provenance.name,
                    method="correct",
                    supersedes=[id],
                    within=old.body.scope,
                    occurred_at=old.body.occurred_at,
                    tags=old.body.tags,
                )
            )
            event = EventBody(name="correction", reason=reason, scope=old.body.scope)
            links: list[tuple[str, Target]] = [("evidence", new), ("supersedes", id)]
            transaction.append(Draft(kind="event", body=event, links=links))
        return new.id

    def attach(
        self,
        content: bytes | Readable,
        *,
        media_type: str,
        name: str | None = None,
        caption: str | None = None,
    ) -> Media:
        """Seal media into a blob and return what an experience's `media` takes."""
        from base64 import b64encode

        ref: BlobRef = BlobStore(self.writer.path / "blobs", writable=False).put(content)
        return Media(
            blob=ref.sha256,
            size=ref.size,
            key=b64encode(ref.key).decode(),
            media_type=media_type,
            name=name,
            caption=caption,
        )

    def media(self, media: Media) -> Iterator[bytes]:
        """Yield the content of attached media in chunks, verified."""
        from base64 import b64decode

        ref = BlobRef(sha256=media.blob, size=media.size, key=b64decode(media.key))
        return BlobStore(self.path / "blobs", writable=False).open(ref)

    # -- reading ----------------------------------------------------------------------------------

    def get(self, id: str, *, as_of: int | datetime | None = None, include_forgotten: bool = False) -> Record:
        """Return a record, verified against the signed tree. Raises UnknownRecordError, ErasedError,
        ForgottenError, IntegrityError.

        With `as_of`, as the log was with that record in it or at that time: what came later is unknown, what was
        forgotten then stays so; what is erased by now stays erased.
        """
        if as_of is None:
            return self._reader.get(id, include_forgotten=include_forgotten)
        size = asof.size_at(self._reader, as_of)
        return asof.get_at(self._reader, id, size, include_forgotten=include_forgotten)

    def read(
        self, start: int = 0, stop: int | None = None, *, include_forgotten: bool = False
    ) -> Iterator[Record]:
        """Yield the records from log index `start`, verified; the erased are left out, the forgotten
        unless asked for.
        """
        control = self._reader.control
        for entries in self._reader.entries(start, stop):
            for record, _ in entries:
                if record.index not in control.erased and (
                    include_forgotten or record.index not in control.hidden
                ):
                    yield record

    def refresh(self) -> int:
        """Take in what other processes have appended; return how many records."""
        return self._reader.refresh()

    def trace(
        self, id: str, *, up: bool = True, down: bool = True, depth: int | None = None, text: bool = False
    ) -> TraceNode:
        """Return the braid of a record: what it descends from, and what descends from it.

        With `text` each record also says who said what; without, all of it comes from envelopes.
        """
        self.refresh()
        return trace(
            self._reader,
            id,
            up=up,
            down=down,
            depth=depth,
            children=self._children(),
            text=text,
        )

    def _children(self) -> Callable[[int], list[tuple[int, str]]] | None:
        """Return what finds the records that link to one; None on read-only media, where no catalogue can be kept."""
        catalog = self.views.catalog
        try:
            catalog.catch_up()
        except OSError:
            return None
        return lambda index: [(at, role) for at, _, role in catalog.children(index)]

    def prove(self, id: str) -> bytes:
        """Return a c2sp.org/tlog-proof file that shows offline that the record is in the log."""
        index = self._reader.index_of(id)
        if self._reader.envelope(index).id != id:
            raise UnknownRecordError(f"{id}: no such record")
        if index >= self._reader.published.size and isinstance(self._reader, Writer):
            self._reader.checkpoint()
        return self._reader.prove(index)

    def prove_many(self, ids: Iterable[str]) -> bytes:
        """Return one proof that shows offline that all of these records are in the log, with their envelopes.

        A node of the tree that several need is in it once. `braid check-proof` checks it, and so does
        `ledger.multiproof.check_multiproof`. Raises UnknownRecordError, and ValueError for no id.
        """
        indexes = {self._reader.index_of(id): id for id in ids}
        for index, id in indexes.items():
            if self._reader.envelope(index).id != id:
                raise UnknownRecordError(f"{id}: no such record")
        if max(indexes, default=0) >= self._reader.published.size and isinstance(self._reader, Writer):
            self._reader.checkpoint()
        return self._reader.prove_many(indexes)

    # -- stances ----------------------------------------------------------------------------------

    def stance(
        self,
        question: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        session_id: str | None = None,
        at: datetime | None = None,
        as_of: int | datetime | None = None,
        append: bool = True,
    ) -> "Stance":
        """Return what is held of a question: one claim, or undecided, with what was weighed and what would change it.

        `at`: when it should hold (else what the question says: "before September"; else now). `as_of`: as the log was
        with that record in it, or at that time. Appends the stance and the reconciliation that it is, superseding the
        stance before; where nothing that was weighed has changed, returns that one. `append=False` writes nothing.
        Raises ValueError, TypeError, ReadOnlyError, and what reading the log raises.
        """
        from braid.deciding import decide

        self.refresh()
        scope = drafts.scope(user_id, agent_id, run_id, session_id)
        if append:
            _ = self.writer
        return decide(self, question, scope, at=at, as_of=as_of, append=append)

    def stances(self, question: str | None = None, **scope: str | None) -> "list[Stance]":
        """Return the stances on a question, or on every one, oldest first, with what superseded each."""
        from braid.deciding import history

        self.refresh()
        return history(self, question, drafts.scope(**scope))

    def why(self, id: str) -> "Explained":
        """Return why a stance holds what it holds, or why what a record claims stands or doesn't, down to records.

        Raises ValueError for a record that claims nothing, and as `get`.
        """
        from braid.deciding import why

        self.refresh()
        return why(self, id)

    def contradictions(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        session_id: str | None = None,
        at: datetime | None = None,
        as_of: int | datetime | None = None,
    ) -> "list[Conflict]":
        """Return pairs of claims that exclude each other while both hold, and which of the two stands now, or `at`.

        With `at` only those that both hold at that time; `as_of`: among what was known then.
        """
        from braid.deciding import find_contradictions

        self.refresh()
        return find_contradictions(
            self, drafts.scope(user_id, agent_id, run_id, session_id), at=at, as_of=as_of
        )

    # -- lenses -----------------------------------------------------------------------------------

    def apply_lens(
        self,
        name: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        session_id: str | None = None,
        ids: Sequence[str] | None = None,
        version: str | None = None,
        params: Mapping[str, Any] | None = None,
        limit_s: float = 60.0,
    ) -> "View":
        """Return a lens's view of a scope's records (of all without one, or of those with these ids), and keep it.

        Where nothing has changed since the last one, that is returned and nothing is written; else what came since is
        read, and the new view supersedes it. Raises UnknownLensError, LensFailedError, ValueError, TypeError.
        """
        from braid.lensing import apply_lens
        from braid.looking import request_of

        self.refresh()
        within = drafts.scope(user_id, agent_id, run_id, session_id)
        return apply_lens(self, request_of(name, within, params, ids), version=version, limit_s=limit_s)

    def lens_views(self) -> list[dict[str, Any]]:
        """Return every view that a lens made, oldest first, of all versions, with why it is stale."""
        from braid.lens_views import all_views

        self.refresh()
        return all_views(self)

    def lens_view(self, id: str, *, include_forgotten: bool = False) -> "View":
        """Return a view in full, with what it stands on, and why it is stale. Raises ViewUnreadableError, and as `get`;
        ForgottenError also when something that it rests on is forgotten."""
        from braid.lens_views import show

        self.refresh()
        return show(self, id, include_forgotten=include_forgotten)

    def lens_standings(self) -> "list[Standing]":
        """Return how each thing that was asked of a lens stands: its newest view, and why that is stale."""
        from braid.lens_views import standings

        self.refresh()
        return list(standings(self))

    def refresh_lenses(self, *ids: str, limit_s: float = 60.0) -> "list[View]":
        """Make these views anew (or all that are stale); return those that were appended. Errors as for
        `apply_lens`."""
        from braid.lens_views import refresh

        self.refresh()
        return refresh(self, ids, limit_s=limit_s)

    def lens_difference(self, one: str, other: str) -> dict[str, Any]:
        """Return what makes one view of another: items added and removed, records, weights."""
        from braid.lens_views import difference

        self.refresh()
        return difference(self, one, other)

    # -- forgetting -------------------------------------------------------------------------------

    def forget(self, *ids: str, reason: str | None = None) -> RecordId:
        """Hide records, and what was read of them, until they are recovered or, past the window, erased by `retain`."""
        from braid.learning import readings_of

        return erasing.forget(self.writer, [*ids, *readings_of(self, ids)], reason)

    def recover(self, *ids: str, reason: str | None = None) -> RecordId:
        """Bring forgotten records back within the retention window."""
        from braid.learning import hidden_with

        return erasing.recover(self.writer, [*ids, *hidden_with(self, ids)], self._clock(), reason)

    def plan_erase(self, *ids: str, **scope: str) -> erasing.Cascade:
        """Return what erasing these ids, or everything of a scope (`user_id=…`, `session_id=…`), would
        take and weaken.
        """
        self.refresh()
        indexes = [self._reader.index_of(id) for id in ids]
        for id, index in zip(ids, indexes, strict=True):
            if self._reader.envelope(index).id != id:
                raise UnknownRecordError(f"{id}: no such record")
        if scope:
            indexes += self._within(scope)
        return erasing.plan(self._reader, indexes)

    def _within(self, scope: Mapping[str, str]) -> list[int]:
        """Return the records of a scope by reading the log itself: a projection may lag, or leave out the forgotten."""
        unknown = set(scope) - {"user_id", "agent_id", "run_id", "session_id"}
        if unknown:
            raise ValueError(
                f"unknown scope {', '.join(sorted(unknown))}; known: user_id, agent_id, run_id, session_id"
            )
        self._reader.need_vault()
        found: list[int] = []
        for record in self.read(include_forgotten=True):
            if record.envelope.is_control or record.kind in ("genesis", "key", "tombstone"):
                continue
            given: dict[str, str] = record.members.get("scope") or {}
            if all(given.get(name) == value for name, value in scope.items()):
                found.append(record.index)
        return found

    def erase(self, *ids: str, reason: str | None = None, **scope: str) -> list[erasing.Certificate]:
        """Erase records and what is derived from them alone: keys destroyed, bodies blanked, projections
        rebuilt, certified.
        """
        self.plan_erase(*ids)  # refuses unknown ids before anything is done
        indexes = [self._reader.index_of(id) for id in ids]
        choose = partial(self._chosen, indexes, scope)
        return erasing.erase(self.writer, choose, self.views.purge, reason=reason)

    def _chosen(self, indexes: list[int], scope: Mapping[str, str]) -> list[int]:
        within = self._within(scope) if scope else []
        return indexes + [index for index in within if index not in self._reader.control.erased]

    def carry_out(self, cascade: erasing.Cascade, *, reason: str | None = None) -> list[erasing.Certificate]:
        """Erase what `plan_erase` was asked for, planned anew: what was derived from it since then goes too."""
        return erasing.erase(self.writer, cascade, self.views.purge, reason=reason)

    def retain(self) -> list[erasing.Certificate]:
        """Erase what was forgotten longer ago than the retention window; a logged event says when the sweep looked."""
        return erasing.retain(self.writer, self._clock(), self.views.purge)

    def retention_due(self) -> list[int]:
        """Return the forgotten records that the next `retain` would erase."""
        return erasing.due(self._reader, self._clock())

    def compact(self) -> int:
        """Give back the disk space of erased bodies; return bytes."""
        return erasing.compact(self.writer)

    # -- keys -------------------------------------------------------------------------------------

    def admit(self, role: str, actor: str | None = None) -> Signer:
        """Make a key for one role and actor, admit it to the log and keep its private half in `keys/`."""
        signer = Signer.fresh(role, actor)
        take_in(self.writer, signer, [admission(self.origin, signer)])
        return signer

    def revoke(
        self, key_id: str, *, compromised_since: int | None = None, reason: str | None = None
    ) -> RecordId:
        """Revoke a key from here on; records it signed from `compromised_since` (a log index) on become disputed."""
        if key_id not in self._reader.control.keys:
            raise UnknownRecordError(f"{key_id} was never admitted to this log")
        public = {"op": "revoke", "id": key_id, "compromised_since": compromised_since}
        return self.append(Draft(kind="key", body=KeyBody(reason=reason), public=public))

    # -- checking, rebuilding, asking ---------------------------------------------------------------

    def checkpoint(self) -> None:
        """Sign and publish the present head now."""
        self.writer.checkpoint()

    def verify(self, *, deep: bool = False, rederive: bool = False, **options: Any) -> "Report":
        """Verify the whole log from its files; `deep` also unseals bodies and compares projections, `rederive`
        makes every view, claim and stance again from what it names and compares."""
        from braid.ledger.audit.verify import verify

        if isinstance(self._reader, Writer):
            self._reader.checkpoint()
        options.setdefault("passphrase", self._reader.passphrase)
        report = verify(
            self.path,
            deep=deep,
            guard=self._reader.guard,
            projections=self.views.check if deep else None,
            **options,
        )
        if not rederive:
            return report
        from braid import rederive as again

        return again.with_rederived(report, again.rederive(self._reader))

    def replay(self, view: str | None = None) -> "list[Caught]":
        """Rebuild the projections (or the one named) from the log into fresh files and swap them in."""
        return self.views.replay(view)

    def sql(
        self,
        query: str,
        parameters: Sequence[Any] | Mapping[str, Any] | None = None,
        *,
        tables: Mapping[str, Any] | None = None,
        as_of: int | datetime | None = None,
        valid_at: datetime | None = None,
        include_forgotten: bool = False,
        **limits: Any,
    ) -> Any:
        """Return a SELECT over the DuckDB projection, caught up, as a pyarrow Table.

        `tables`: name → pyarrow Table, or frame of pandas or polars, which the query may join.
        `as_of`: as the log was with that record in it, or at that time, less what is erased by now.
        `valid_at`: only what had happened and held at that time. `include_forgotten`: the forgotten too.
        `limits`: seconds, rows, result_bytes, memory_bytes. Untrusted SQL can't write, read files or reach the network.
        Raises SqlError, SqlTimeoutError, SqlLimitError.
        """
        from braid.views.sql import Limits

        self.refresh()
        past = self.past(as_of, valid_at, include_forgotten=include_forgotten)
        return self.views.sql(query, parameters, tables=tables, past=past, limits=Limits(**limits)).table

    def vector(self, uri: str) -> Any:
        """Return what `vec://role/id` names: a unit vector (float32[d]), None where there is none yet.

        Raises ValueError for another kind of address or an unknown role; UnknownRecordError, ErasedError and
        ForgottenError as for `get`.
        """
        from braid.views.search import vector_address

        role, id = vector_address(uri)
        self.refresh()
        self.get(id)
        return self.views.search.index(wait_s=10.0).resolve(role, id)

    def recall(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        session_id: str | None = None,
        top_k: int = 10,
        filters: Mapping[str, Any] | None = None,
        as_of: int | datetime | None = None,
        valid_at: datetime | None = None,
        affect: Mapping[str, Any] | None = None,
        explain: bool = False,
        prove: bool = False,
        stance: bool = False,
        **how: Any,
    ) -> dict[str, Any]:
        """Return the records that fit a question, best first: `{"results": [{"id", "index", "text", "score", …}], …}`.

        Scopes bind every way in. `filters`: `{"type": {"eq": "observation"}}` with eq, ne, in, gt, gte, lt, lte,
        contains, joined by AND, OR, NOT. `as_of`: as the log was with that record in it, or at that time.
        `valid_at`: only what had happened by then, less what has been superseded. `affect`: `{"v", "a", "d"}` and
        maybe `"within"`; tone has a say only then. `explain` adds what each signal gave, `prove` an offline
        proof, `stance` what is held of the question (as `Store.stance`; nothing is appended). `how`: now, uncertainty,
        cross_encoder, lens, limit_s, index_s, decomposer. What couldn't be asked in time is told in `degraded`.
        Raises ValueError and TypeError for what can't be meant, IntegrityError.
        """
        scope = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id, "session_id": session_id}
        asked: dict[str, Any] = scope | {"top_k": top_k, "filters": filters, "affect": affect} | how
        sent = self.answer(query, as_of=as_of, valid_at=valid_at, prove=prove, **asked).wire(explain=explain)
        if stance:
            held = self.stance(query, **scope, at=valid_at, as_of=as_of, append=False)
            sent["stance"] = held.wire()
        return sent

    def answer(
        self,
        query: str,
        *,
        as_of: int | datetime | None = None,
        valid_at: datetime | None = None,
        prove: bool = False,
        **asked: Any,
    ) -> "Answer":
        """Return what `recall` sends, as values: hits with their verified records."""
        from braid.recalling import recalled

        self.refresh()
        return recalled(self, query, prove=prove, as_of=as_of, valid_at=valid_at, **asked)

    def context(
        self, query: str, *, budget: int = 800, probe: str | None = None, top_k: int = 30, **asked: Any
    ) -> str:
        """Return the `<experience_context>` block for a question, at most `budget` tokens by a cautious estimate.

        Stored text in it is data: escaped, fenced, every line with the id that it comes from. `probe`: a question that
        waits to be asked, for which room is kept. The rest as for `recall`.
        """
        from braid.recall.context import block
        from braid.recall.decompose import decompose

        answer = self.answer(query, top_k=top_k, **asked)
        now = asked.get("now") or asked.get("valid_at") or self.now()
        return block(decompose(query, now), answer, now, budget=budget, probe=probe)

    def ask(
        self,
        question: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        session_id: str | None = None,
        as_of: int | datetime | None = None,
        composer: "Composer | None" = None,
        affect: bool = True,
        write: bool = True,
        **how: Any,
    ) -> "Reply":
        """Return an answer that cites the records it rests on, or says that it doesn't know.

        Without a `composer` it is put together from what is held and what was said; with one, that one writes it and
        this is what it falls back to. Tone shapes its manner alone (`affect=False`: not at all). Question, answer,
        tones, a new stance and a reflection enter the log in one transaction; `write=False` writes nothing. `how`: now,
        lens, top_k. Raises ValueError and TypeError for what can't be meant, IntegrityError, and what appending raises.
        """
        from braid.asking import ask

        self.refresh()
        if write:
            _ = self.writer
        scope = drafts.scope(user_id, agent_id, run_id, session_id)
        return ask(self, question, scope, as_of=as_of, composer=composer, affect=affect, write=write, **how)

    def how(self, id: str) -> str:
        """Return in two or three sentences how an answer, a stance or what a record says is known, by its links alone.

        Ids stand in brackets behind what they bear out. Raises ValueError for another kind of record, and as `get`.
        """
        from braid.agent.provenance import tell
        from braid.grounding import ground

        self.refresh()
        return tell(ground(self, id))

    def sense(self, text: str) -> "Reading":
        """Return a text's tone: valence, arousal, dominance, a word for it, how sure and why. Writes nothing."""
        from braid.feeling import sense

        return sense(self, [text])[0]

    def feel(self, *ids: str, stage: str = "input", actor: str | None = None) -> list[RecordId]:
        """Append a snapshot of the tone of each experience, as one transaction, and return their ids.

        `stage`: input, draft or augmented; `actor`: user or agent, by default who the experience is from. Repeating it
        adds nothing. Raises InvalidRecordError for a record without words, and what `get` and `append` raise.
        """
        from braid.feeling import drafts as snapshots

        self.refresh()
        batch = [draft for draft, _ in snapshots(self, ids, stage, actor)]
        return [placed.id for placed in self.append_all(batch)] if batch else []

    def now(self) -> datetime:
        """Return the time by the store's clock."""
        return self._clock()

    def embedding(self) -> "tuple[Embedder | None, Vocabulary | None, Shelf]":
        """Return the model that searches by meaning, and what is kept of its answers while the store is open."""
        from braid.recall.shelf import Shelf
        from braid.recall.vocabulary import Vocabulary

        embedder = self._embedder() if self._embedder is not None else None
        if self._vocabulary is None and embedder is not None and not embedder.remote:
            self._vocabulary = Vocabulary(embedder)
        if self._shelf is None:
            control = self._reader.control
            self._shelf = Shelf(lambda: (tuple(sorted(control.hidden)), len(control.erased)))
        return embedder, self._vocabulary, self._shelf

    def past(
        self,
        as_of: int | datetime | None = None,
        valid_at: datetime | None = None,
        *,
        include_forgotten: bool = False,
    ) -> "Past | None":
        """Return which past of the projection is meant, None for the present; ValueError where there was none."""
        from braid.views.past import Past

        if as_of is None and valid_at is None and not include_forgotten:
            return None
        if valid_at is not None and valid_at.tzinfo is None:
            raise ValueError(f"{valid_at.isoformat()} has no time zone: add one, such as Z")
        size = self._reader.size if as_of is None else asof.size_at(self._reader, as_of)
        return Past(size, include_forgotten, valid_at)

    def status(
        self, *, as_of: int | datetime | None = None, valid_at: datetime | None = None
    ) -> dict[str, Any]:
        """Return size, head, lag of the projections, what is forgotten and due, and the space used.

        With `as_of` or `valid_at`: size, root and time of the log then, and how many rows its projection has.
        """
        self.refresh()
        past = self.past(as_of, valid_at)
        return self._status() if past is None else self._status_then(past)

    def stage(self) -> "Stage":
        """Return how far the memory has come, from empty to expert, and what it lacks to the next stage.

        Counted in the projection, which is caught up. Raises as `sql`; ViewUnreadableError without a vault.
        """
        from braid.agent.stage import COUNTS, SAID, Counts, stage

        self._reader.need_vault()
        row = self.sql(SAID + COUNTS).to_pylist()[0]
        return stage(Counts(**row))

    def _status_then(self, past: "Past") -> dict[str, Any]:
        reader = self._reader
        then = asof.control_at(reader, past.size)
        last = reader.envelope(past.size - 1)
        counts = self.views.count(past)
        return {
            "store": str(self.path),
            "origin": self.origin,
            "records": past.size,
            "since_then": reader.size - past.size,
            "transactions": last.tx[0] + 1,
            "root": asof.root_at(reader, past.size),
            "created_at": last.created_at,
            "valid_at": past.valid_at,
            "forgotten": len(then.hidden),
            "erased": sum(index < past.size for index in reader.control.erased),
            "keys": sum(life.revoked is None for life in then.keys.values()),
            "rows": counts,
        }

    def _status(self) -> dict[str, Any]:
        reader = self._reader
        return {
            "store": str(self.path),
            "origin": self.origin,
            "vkey": self.vkey,
            "durability": reader.settings.durability,
            "records": reader.size,
            "transactions": reader.log.next_tx,
            "log_bytes": reader.log.bytes_on_disk,
            "checkpoint": {"size": reader.published.size, "root": reader.published.root.hex()},
            "guard": str(reader.guard.path) if reader.guarded else None,
            "vault_epoch": reader.vault.epoch if reader.vault else None,
            "forgotten": len(reader.control.hidden),
            "erased": len(reader.control.erased),
            "retention": {
                "days": reader.control.retention_days,
                "due": len(self.retention_due()),
                "next": self._next_due(),
            },
            "views": self.views.status(),
        }

    def _next_due(self) -> str | None:
        control = self._reader.control
        first = min((since for _, since in control.hidden.values()), default=None)
        return (
            (datetime.fromisoformat(first) + timedelta(days=control.retention_days)).isoformat()
            if first
            else None
        )
