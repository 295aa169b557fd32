"""A store that is open, and whoever uses it: log, projections, clock, model, and what may be asked.

Each operation is a function of a session and a request, and `Session.call` is the door that all go through.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import Lock
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, Self, TypeVar, cast
from warnings import warn

from braid.caller import Caller, as_said_by, asked_by, asking, attributed
from braid.errors import AccessDeniedError, FrozenError
from braid.event_log import within
from braid.freeze_switch import require_thawed
from braid.isolation import RECORD, held, own_answer, own_error, require_own_drafts
from braid.ledger.erase import erasure as erasing
from braid.ledger.errors import IdempotencyConflictError, ReadOnlyError, UnpurgedError
from braid.ledger.read import prefix
from braid.ledger.read.reader import Reader
from braid.ledger.record.record import Draft, ExperienceBody, Media
from braid.ledger.write.sequence import Clock, Placed
from braid.ledger.write.writer import Writer, utc_now
from braid.mutation_watch import WATCHED, mutation_watch
from braid.operation import ALL_ACCESS, Access, Operation, Request, operation_of
from braid.own_key import as_given, with_users_keys
from braid.paging import items_of, require_page
from braid.settings import require_unfrozen
from braid.severity import Severity, severity_of
from braid.text.parse import ParserMissingError
from braid.wal.log import TornTail

if TYPE_CHECKING:
    from braid.recall.cache import RowCache
    from braid.recall.vocabulary import Vocabulary
    from braid.text.parse import Parser, Parsing
    from braid.text.rerank import Reranker, Reranking
    from braid.views.duck.past import Past
    from braid.views.embedder import Embedder
    from braid.views.lance.folder import Embedding
    from braid.views.store import Views


_Asked = TypeVar("_Asked", bound=Request)
_Answered = TypeVar("_Answered")
_Local = ParamSpec("_Local")
_Kept = TypeVar("_Kept")


Follower = Callable[["Session", Sequence[str]], None]
"""Takes in what was appended; is given the ids of the records that were corrected by it."""


class Called(NamedTuple):
    """A call that has ended: for metrics and audits. It holds nothing of what was asked or answered."""

    name: str
    seconds: float
    error: str | None
    """The name of the exception's class, None where it went well."""
    record: str | None = None
    """The id of the record that was asked about, where the request names one."""
    severity: Severity | None = None
    """How bad the exception is, None where it went well."""


class Session:
    """An open store, as operations use it. Safe to share between threads; a context manager."""

    def __init__(
        self,
        reader: Reader,
        clock: Clock = utc_now,
        embedder: "Embedding | None" = None,
        parser: "Parsing | None" = None,
        reranker: "Reranking | None" = None,
    ) -> None:
        """For `braid.open`; completes erasures that a crash has interrupted."""
        self._begin(reader, reader.path, clock, embedder, parser, reranker=reranker)
        if reader.contradiction:
            from braid.ledger.tree.guard import OtherCopyWarning

            warn(f"{reader.contradiction}. This one is only read", OtherCopyWarning, stacklevel=4)
        if isinstance(reader, Writer):
            if reader.torn is not None:
                self._tell_torn(reader, reader.torn)
            if reader.durability != reader.settings.durability:
                self._tell_durability(reader)
            if reader.control.unfinished():
                self._finish(reader)

    def _finish(self, writer: Writer) -> None:
        """Finish erasures that were cut short; what keeps views/ from being purged keeps nobody from writing."""
        try:
            erasing.finish(writer, self.views.purge)
        except UnpurgedError as error:
            warn(
                f"{error}; once that is mended, opening finishes it",
                erasing.UnfinishedErasureWarning,
                stacklevel=5,
            )

    def _begin(
        self,
        reader: Reader | None,
        path: Path,
        clock: Clock,
        embedder: "Embedding | None",
        parser: "Parsing | None",
        *,
        reranker: "Reranking | None" = None,
    ) -> None:
        """Set what a session has from the beginning; without a reader its log isn't open yet."""
        self._handle: Reader | None = reader
        self._path = path
        self._clock = clock
        self._embedder = None if embedder is None else partial(self._near_or_gated, embedder)
        self.embedding_gate: Callable[[Embedder], Embedder] | None = None
        """Stands before an embedder that is not on this machine; without one such is refused."""
        self.parsing = parser
        self._reranking = reranker
        self._vocabulary: Vocabulary | None = None
        self._shelf: RowCache | None = None
        self._views: Views | None = None
        self._views_turn = Lock()
        self._kept: dict[type[object], object] = {}
        self.allowed: frozenset[Access] = ALL_ACCESS
        """What may be asked through this session."""
        self.observers: list[Callable[[Called], None]] = []
        """Each is told of every call that has ended."""
        self.followers: list[Follower] = []
        """What follows the log: called behind an operation that has appended words (ADR 54)."""

    def call(
        self,
        function: Callable[Concatenate["Session", _Asked, _Local], _Answered],
        request: _Asked,
        *args: _Local.args,
        **local: _Local.kwargs,
    ) -> _Answered:
        """Return what an operation answers: its request is checked, its access granted, its end told to observers.

        Raises InvalidRequestError, AccessDeniedError, and what the operation raises.
        """
        known = operation_of(function)
        with within(getattr(request, "session_id", None)), self._observed(known, request):
            if known.access not in WATCHED or not isinstance(self._handle, Writer):
                return self._admitted(known, function, request, *args, **local)
            watch = mutation_watch(self)
            watch.begin(known)
            try:
                answer = self._admitted(known, function, request, *args, **local)
            except Exception as error:
                watch.failed(known, error)
                raise
            watch.done(known, request, answer)
            return answer

    def _admitted(
        self,
        known: Operation,
        function: Callable[Concatenate["Session", _Asked, _Local], _Answered],
        request: _Asked,
        *args: _Local.args,
        **local: _Local.kwargs,
    ) -> _Answered:
        """Return what an operation answers to who may ask it."""
        caller = self._granted(known)
        checked: _Asked = known.checked(request)  # type: ignore[assignment]  # of the class that it was given
        if getattr(checked, "include_forgotten", False):
            self.require(f"{known.name} with include_forgotten", "recover")
        if caller is None:
            own = cast("Callable[[], _Asked]", partial(with_users_keys, self, checked))
            return self._run_keyed(function, own(), own, *args, **local)
        return self._asked_by(caller, function, checked, *args, **local)

    def items(
        self, function: Callable[["Session", _Asked], _Answered], request: _Asked, page_size: int
    ) -> Iterator[Any]:
        """Yield the items of an operation's list, up to its `limit`; of a table, tables of at most `page_size` rows.

        The list is made once, as it is when this is called. Raises as `call`, and InvalidRequestError for no page.
        """
        known = operation_of(function)
        require_page(known, page_size)
        return items_of(known, self.call(function, request), page_size)

    @contextmanager
    def _observed(self, known: Operation, request: Request) -> Generator[None]:
        began, error, severity = perf_counter(), None, None
        try:
            yield
        except BaseException as raised:
            error, severity = type(raised).__name__, severity_of(raised)
            raise
        finally:
            self._observe(Called(known.name, perf_counter() - began, error, _named(request), severity))

    def _granted(self, known: Operation) -> Caller | None:
        """Return who asks, None for this program itself; raise AccessDeniedError for what they may not ask now."""
        caller = asking()
        self.require(known.name, known.access)
        if known.access != "read" and caller is not None and caller.kind != "operator":
            require_thawed(self, known.name)
        require_unfrozen(self, known.access, caller, known.name, reads=known.reads)
        if known.reads:
            self.require(known.name, "read")
            self._take_in()
        return caller

    def _asked_by(
        self,
        caller: Caller,
        function: Callable[Concatenate["Session", _Asked, _Local], _Answered],
        checked: _Asked,
        *args: _Local.args,
        **local: _Local.kwargs,
    ) -> _Answered:
        """Return what a caller is answered; neither that nor why it is refused names what is outside their scope."""
        known = operation_of(function)
        own = cast("Callable[[], _Asked]", partial(held, self, caller, known, checked))
        asked = own()
        try:
            answer = self._run_keyed(function, asked, own, *args, **local)
            return own_answer(self, caller, known, asked, answer)
        except Exception as error:
            if (told := own_error(self, caller, known.name, error)) is error:
                raise
            raise told from None

    def _take_in(self) -> None:
        """Follow the log before something is shown: what another process has forgotten since is not."""
        self._reader.refresh()

    def _run_keyed(
        self,
        function: Callable[Concatenate["Session", _Asked, _Local], _Answered],
        asked: _Asked,
        own: Callable[[], _Asked],
        *args: _Local.args,
        **local: _Local.kwargs,
    ) -> _Answered:
        """Do what was asked, with the keys that `own` gives.

        One that another's record took since they were looked at is put apart: nothing was written under it, so the same
        is asked again.
        """
        while True:
            try:
                return self._run(function, asked, *args, **local)
            except IdempotencyConflictError as error:
                before, asked = asked, own()
                if asked == before:
                    raise IdempotencyConflictError(as_given(error.key), error.id, error.unlike) from None

    def _run(
        self,
        function: Callable[Concatenate["Session", _Asked, _Local], _Answered],
        request: _Asked,
        *args: _Local.args,
        **local: _Local.kwargs,
    ) -> _Answered:
        """Do what was checked and granted."""
        return function(self, request, *args, **local)

    def require(self, what: str, access: Access) -> None:
        """Raise AccessDeniedError where an access isn't given here; `what` needs it."""
        if not self.may(access):
            caller = asking()
            whom = "here" if caller is None else f"to {caller.name}"
            raise AccessDeniedError(f"{what} needs the access {access!r}, which is not given {whom}")

    def may(self, access: Access) -> bool:
        """Whether an access is given here, to who asks."""
        caller = asking()
        return access in self.allowed and (caller is None or access in caller.allowed)

    def may_append(self) -> bool:
        """Whether who asks may append here now: it is open for writing, and not frozen for them."""
        if not (isinstance(self._reader, Writer) and self.may("write")):
            return False
        try:
            _ = self.writer
        except FrozenError:
            return False
        return True

    def _observe(self, called: Called) -> None:
        """Tell observers; one that fails is warned of: what was asked has been done, or has failed on its own."""
        for observer in self.observers:
            try:
                observer(called)
            except Exception as error:
                warn(f"an observer of {called.name} failed: {type(error).__name__}: {error}", stacklevel=3)

    def append_drafts(
        self, batch: Sequence[Draft], *, signer: str | None = None, held: int = 0
    ) -> list[Placed]:
        """Append drafts as one transaction; one whose `once` key is in the log already is named, not added.

        Claims in it that contradict each other while nothing says which gives way are all kept, and an event `review`
        is appended with them. Of the first `held` drafts a repeated key must say the same. Raises as `Writer.append`.
        """
        caller = asking()
        batch = as_said_by(caller, batch)
        together = attributed(batch if signer else _reviewed(batch))
        keys = [draft.body.once for draft in together]
        if caller is not None and caller.scope and not signer:
            require_own_drafts(self, caller, batch)
        return self.writer.append(together, keys=keys, signer=signer, held=held)[: len(batch)]

    def kept(self, kind: type[_Kept], make: Callable[[], _Kept]) -> _Kept:
        """Return the one object of a class that is kept while the store is open, made when it is first asked for."""
        with self._views_turn:
            found = self._kept.get(kind)
            if not isinstance(found, kind):
                found = self._kept[kind] = make()
            return found

    @property
    def session(self) -> "Session":
        """The session itself: what holds one can be handed one."""
        return self

    @property
    def parser(self) -> "Parser":
        """What takes sentences apart. Raises ParserMissingError where none was given, or none is installed."""
        if self.parsing is None:
            raise ParserMissingError("this store was opened without a parser: nothing is learned")
        return self.parsing()

    def reranker(self) -> "Reranker | None":
        """Return what reads a question and a turn together; None where none was given, or none is installed."""
        return None if self._reranking is None else self._reranking()

    def blob(self, media: Media) -> Iterator[bytes]:
        """Yield the content of attached media in chunks, verified."""
        from base64 import b64decode

        from braid.ledger.read.blobs import BlobRef, BlobStore

        ref = BlobRef(sha256=media.blob, size=media.size, key=b64decode(media.key))
        return BlobStore(self.path / "blobs", writable=False).open(ref)

    def follow(self, corrected: Sequence[str] = ()) -> None:
        """Let what follows the log take in what was appended: it is in the log already, whatever comes of this.

        It is the store's own doing, not the caller's: what others have appended since is taken in with it.
        """
        with asked_by(None):
            for follower in self.followers:
                follower(self, corrected)

    def size_at(self, as_of: int | None, as_of_time: datetime | None) -> int | None:
        """Return how many records the log had in the past that is meant, None for the present.

        Raises ValueError for two pasts at once, and for one that never was.
        """
        if as_of is None and as_of_time is None:
            return None
        if as_of is not None and as_of_time is not None:
            raise ValueError("as_of and as_of_time name two pasts: give one of them")
        return prefix.size_at(self._reader, as_of_time or as_of or 0)

    @staticmethod
    def _tell_torn(writer: Writer, torn: TornTail) -> None:
        """Tell the log, then whoever opens, that its end was cut; imported where it is needed, which is rare."""
        from braid.ledger.write.tail import TornTailWarning, describe, note

        note(writer, torn)
        warn(describe(torn, writer.durability), TornTailWarning, stacklevel=4)

    @staticmethod
    def _tell_durability(writer: Writer) -> None:
        from braid.ledger.write.durability import DurabilityWarning, describe

        warn(describe(writer), DurabilityWarning, stacklevel=4)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace_: TracebackType | None
    ) -> None:
        try:
            self.close()
        except Exception as second:
            if error is None:
                raise
            error.add_note(f"closing the store failed too: {second}")

    def close(self) -> None:
        """Publish the newest head and close every file; whatever is asked of the store afterwards raises ValueError.

        Raises UnpublishedError where the head can't be published: what was appended is in the log all the same.
        """
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

        with self._views_turn:
            reader = self._reader  # looked at under the lock: nothing is opened once `close` has begun
            if self._views is None:
                self._views = Views(self.path / "views", reader, self._embedder)
            return self._views

    @property
    def lag(self) -> int:
        """How many of the newest records were not looked at, because the projections can't be written here."""
        return self._views.lag if self._views is not None else 0

    @property
    def server(self) -> str | None:
        """The address of the server that is asked; None where the store is open in this process."""
        return None

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
        caller = asking()
        if caller is not None and caller.kind != "operator":  # `ask` reads, and may write what it answered
            require_thawed(self, "this")
            require_unfrozen(self, "write", caller, "this")
        return self._reader

    def __len__(self) -> int:
        return self._reader.size

    def refresh(self) -> int:
        """Take in what other processes have appended; return how many records."""
        return self._reader.refresh()

    def now(self) -> datetime:
        """Return the time by the store's clock."""
        return self._clock()

    def embedding(self) -> "tuple[Embedder | None, Vocabulary | None, RowCache]":
        """Return the model that searches by meaning, and what is kept of its answers while the store is open."""
        from braid.recall.cache import RowCache
        from braid.recall.vocabulary import Vocabulary

        embedder = self._embedder() if self._embedder is not None else None
        if self._vocabulary is None and embedder is not None and not embedder.remote:
            self._vocabulary = Vocabulary(embedder)
        if self._shelf is None:
            control = self._reader.control
            self._shelf = RowCache(lambda: (tuple(sorted(control.hidden)), len(control.erased)))
        return embedder, self._vocabulary, self._shelf

    def _near_or_gated(self, embedder: "Embedding") -> "Embedder | None":
        """Return the embedder, behind the gate where its texts leave this machine."""
        from braid.views.embedder import EmbeddingError

        found = embedder()
        if found is None or not getattr(found, "leaves", False):
            return found
        if self.embedding_gate is None:
            raise EmbeddingError(f"{found.name} is not on this machine, and no gate is before it")
        return self.embedding_gate(found)

    def past(
        self,
        as_of: int | datetime | None = None,
        valid_at: datetime | None = None,
        *,
        include_forgotten: bool = False,
    ) -> "Past | None":
        """Return which past of the projection is meant, None for the present; ValueError where there was none."""
        from braid.views.duck.past import Past

        if as_of is None and valid_at is None and not include_forgotten:
            return None
        if valid_at is not None:
            prefix.zoned(valid_at)
        size = self._reader.size if as_of is None else prefix.size_at(self._reader, as_of)
        return Past(size, include_forgotten, valid_at)


def _named(request: Request) -> str | None:
    """Return the record's id that a request names as its `id`; None for what only looks like one."""
    id: object = getattr(request, "id", None)
    return id if isinstance(id, str) and RECORD.fullmatch(id) else None


def _reviewed(batch: Sequence[Draft]) -> Sequence[Draft]:
    """Return a batch, with an event `review` behind it for claims in it that contradict each other undecidedly."""
    if not any(isinstance(draft.body, ExperienceBody) and draft.body.symbolic for draft in batch):
        return batch
    from braid.stance.review import with_reviews

    return with_reviews(batch)
