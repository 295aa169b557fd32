"""The LanceDB projection of one store: caught up, asked, filled by remote models, re-embedded, tended, purged.

Whoever asks gets the newest state that can be had without waiting: caught up when nobody else is at work, else the
current set as it is. Nothing here is on the path of an append.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock, Thread
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from braid.ledger.read.reader import Reader
from braid.views.embedder import Embedder, EmbeddingError
from braid.views.errors import DamagedViewError, ViewBusyError, ViewError
from braid.views.lance.folder import Embedding, LanceHome
from braid.views.lance.model import model_of
from braid.views.lance.schema import WAITING, WORTH_ROWS
from braid.views.projection import HeadFacts
from braid.views.replay import ERASED, Begin, Progress, begin_empty, catch_up, replay
from braid.views.status import Caught
from braid.wal.durable import is_in_passing, is_unwritable, keeps_reading, make_folder
from braid.wal.errors import LogLockedError
from braid.wal.lock import FileLock

if TYPE_CHECKING:
    from braid.ledger.audit.findings import Finding
    from braid.views.lance.addresses import Addresses
    from braid.views.lance.index import LanceIndex
    from braid.views.lance.similar import Pairs

PURGE_WAIT_S = 120.0
WAIT_S = 0.5
_OPENINGS = 5


class _MakingError(ViewBusyError):
    """Another model's set is being made."""


class SearchStatus(msgspec.Struct, frozen=True):
    """How the projection stands."""

    position: int
    bytes: int
    model: str = ""
    pending: int = 0
    note: str = ""


class Vectors(NamedTuple):
    """Which vectors there are: of all records below `position` but those that wait, by `model`."""

    position: int
    model: str
    waiting: list[int]


class Search:
    """The LanceDB projection of one store. Safe to share between threads, which take turns where they write."""

    def __init__(
        self,
        folder: Path,
        reader: Reader,
        embedder: Embedding,
        begin: Begin = begin_empty,
        private: Callable[[], Path] | None = None,
    ) -> None:
        """`folder` is `views/lance`; `embedder` is called when a model is first needed, and may return None; `begin`
        begins a rebuild; `private` is where a set is made when there is none and none can be written.
        """
        self._begin = begin
        self._private = private
        self._aside: Search | None = None
        """The projection in the private folder."""
        self.home = LanceHome(folder, reader, embedder)
        self._reader = reader
        self._embedder = embedder
        self._turn = RLock()
        self._lock = FileLock(folder / "lock")
        self._opened: tuple[object, LanceIndex, frozenset[str]] | None = None
        self._addresses: tuple[Path | None, Addresses | None] = (None, None)
        """A set's place, and where its rows lie."""
        self._behind: Thread | None = None
        self._rebuilt: str | None = None
        self._met: tuple[str, str] | None = None
        """The folder of a set in which a question met damage, and what."""
        self._spoilt: tuple[str, str] | None = None
        """The same of one that was damaged still when it was opened again."""
        self._mended = ""
        """The folder of the set that was made for that reason."""
        self.lag = 0
        """How many records the current set lacks because it can't be written here."""

    @contextmanager
    def _owning(self, wait_s: float) -> Generator[None]:
        if not self._turn.acquire(timeout=max(wait_s, 0.0)):
            raise ViewBusyError("another thread is at work on it", self.home.folder)
        try:
            if self._lock.held:
                yield
                return
            make_folder(self.home.folder)
            try:
                self._lock.acquire(wait_s)
            except LogLockedError:
                raise ViewBusyError("another process is at work on it", self.home.folder) from None
            try:
                yield
            finally:
                self._lock.release()
        finally:
            self._turn.release()

    @contextmanager
    def _making(self, wait_s: float) -> Generator[None]:
        """Be the one that makes a set of another model; always taken before `_owning`."""
        lock = FileLock(self.home.folder / "making")
        try:
            lock.acquire(wait_s)
        except LogLockedError:
            raise _MakingError("another model's vectors are being made", self.home.folder) from None
        try:
            yield
        finally:
            lock.release()

    # -- following the log ------------------------------------------------------------------------

    @property
    def exists(self) -> bool:
        """Whether there is a projection: it is made when it is first asked."""
        return self.home.current() is not None

    def catch_up(self, *, wait_s: float = 10.0, progress: Progress | None = None) -> Caught:
        """Bring the projection to the log's end; indexes, and another model's vectors, follow in the background."""
        with self._owning(wait_s):
            known = self.exists or bool(self.home.sets())
            spoilt, current = self._spoilt, self.home.current()
            if spoilt is not None and current is not None and current.folder == spoilt[0]:
                caught = replay(self._reader, self.home, spoilt[1], begin=self._begin, progress=progress)
                made = self.home.current()
                self._mended = made.folder if made is not None else ""
            else:
                caught = catch_up(self._reader, self.home, begin=self._begin, progress=progress)
            self._spoilt = None
        if known and caught.rebuilt not in (None, ERASED):
            self._rebuilt = caught.rebuilt
        self._follow_up(caught)
        return caught

    def rebuilt(self) -> str | None:
        """Return why a set that was there had to be made again, once; None where none had, and for erasures."""
        why, self._rebuilt = self._rebuilt, None
        return why

    def mend(self, *, again: bool) -> bool:
        """Return whether a question has met damage that opening the set hadn't shown. Then it may be asked again:
        of the set opened again, since another process may have compacted it, or, `again`, of one made from the log.
        """
        met, self._met = self._met, None
        if met is None or met[0] == self._mended:  # what fails in a set just made is no damage of files
            return False
        self._opened = None
        if again:
            self._spoilt = met
        return True

    def replay(
        self,
        why: str = "asked for",
        *,
        wait_s: float = 10.0,
        begin: Begin = begin_empty,
        progress: Progress | None = None,
    ) -> Caught:
        """Rebuild the projection, from the log alone unless `begin` has more, with the present model."""
        with self._owning(wait_s):
            caught = replay(self._reader, self.home, why, begin=begin, progress=progress)
        self._follow_up(caught)
        return caught

    @contextmanager
    def standing_at(self, standing: HeadFacts, *, wait_s: float = 10.0) -> Generator[LanceHome]:
        """Bring the current set to a head, and let nobody write to it meanwhile."""
        with self._owning(wait_s):
            catch_up(self._reader, self.home, begin=self._begin, standing=standing)
            yield self.home

    def _follow_up(self, caught: Caught) -> None:
        """Start what may take its time, unless it is under way."""
        if self._behind is not None and self._behind.is_alive():
            return
        steps: list[Callable[[], object]] = []
        if self._is_of_another_model():
            steps.append(self._change_quietly)
        begun = 0 if caught.rebuilt is not None else caught.before
        if begun // WORTH_ROWS != caught.position // WORTH_ROWS:
            steps.append(self.tend)
        if steps:
            self._behind = Thread(target=_each, args=(steps,), name="braid-lance", daemon=False)
            self._behind.start()

    def _is_of_another_model(self) -> bool:
        current, embedder = self.home.current(), self._embedder()
        return current is not None and embedder is not None and current.model != model_of(embedder)

    def _change_quietly(self) -> None:
        try:
            self.change_model()
        except (EmbeddingError, ViewError, OSError):
            return  # the set of the old model stays; the next catch-up tries again

    def settle(self) -> None:
        """Return once nothing is under way in the background."""
        if self._behind is not None:
            self._behind.join()

    # -- asking -----------------------------------------------------------------------------------

    def index(self, *, wait_s: float = WAIT_S) -> "LanceIndex":
        """Return the newest state that can be had: caught up, or the current set while others are at work on it for
        longer than `wait_s`.

        One that turns out to be damaged is rebuilt. Raises ViewBusyError where there is nothing to ask yet.
        """
        key = (self._reader.size, max(self._reader.control.erasures, default=-1), self.home.signature())
        opened = self._opened
        if opened is not None and opened[0] == key and not self._is_filled(*opened[1:]):
            return opened[1]
        try:
            with self._owning(wait_s):
                index = self._caught_up()
                commits = self.home.commits()
                self.lag = 0
        except ViewBusyError:
            return self._as_it_is()
        except OSError as error:
            if is_in_passing(error):  # a set was removed that was being made or read
                return self._as_it_is()
            if not keeps_reading(error):
                raise
            if not self.exists:
                return self._from_aside(error, wait_s)
            index = self._as_it_is()
            self.lag = self._reader.size - index.position
            return index
        key = (index.position, max(self._reader.control.erasures, default=-1), self.home.signature())
        self._opened = (key, index, commits)
        return index

    def _from_aside(self, error: OSError, wait_s: float) -> "LanceIndex":
        """Return the index of a set in the private folder; raise `error` where there is no such place."""
        if self._private is None:
            raise error
        with self._turn:
            if self._aside is None:
                self._aside = Search(self._private() / "lance", self._reader, self._embedder, self._begin)
            aside = self._aside
        return aside.index(wait_s=wait_s)

    def leave_aside(self) -> None:
        """Ask no set in the private folder any more: the folder goes."""
        with self._turn:
            aside, self._aside = self._aside, None
        if aside is not None:
            aside.close()

    def index_near(self, behind: int) -> "LanceIndex":
        """Return the index that was opened last, where it lacks at most `behind` records and nothing else has changed;
        else as `index`.
        """
        opened = self._opened
        if opened is None or self._is_filled(*opened[1:]):
            return self.index()
        key, index = opened[:2]
        erasure = max(self._reader.control.erasures, default=-1)
        is_same = key == (index.position, erasure, self.home.signature())
        return index if is_same and self._reader.size - index.position <= behind else self.index()

    def _is_filled(self, index: "LanceIndex", commits: frozenset[str]) -> bool:
        """Whether rows may have been filled since an index was opened in which some waited: by another process, too."""
        return index.pending > 0 and self.home.commits() != commits

    def _caught_up(self) -> "LanceIndex":
        """Return the set at the log's end, made again where it turns out that it can't be opened; the lock is held."""
        self.catch_up()
        try:
            return self._open()
        except DamagedViewError as error:
            current = self.home.current()
            if current is None:
                raise
            self._spoilt = (current.folder, str(error))
        self.catch_up()
        return self._open()

    def _open(self) -> "LanceIndex":
        from braid.views.lance.addresses import Addresses
        from braid.views.lance.index import LanceIndex
        from braid.views.lance.view import told_as_damage

        view = self.home.open()
        with told_as_damage("read"):
            place = view.table.path
        known, addresses = self._addresses
        if addresses is None or known != place:
            addresses = Addresses()
            self._addresses = (place, addresses)
        folder = place.parent.name

        def damaged(why: str) -> None:
            self._met = (folder, why)

        return LanceIndex(view, self._gone, addresses, damaged)

    def _as_it_is(self) -> "LanceIndex":
        """Return the current set without catching up; never one from before an erasure."""
        erased = max(self._reader.control.erasures, default=-1)
        for _ in range(_OPENINGS):
            try:
                index = self._open()
            except DamagedViewError:  # it was swapped out while it was being opened, or there is none
                continue
            if index.position > erased:
                return index
        raise ViewBusyError("it is being made", self.home.folder)

    def _gone(self) -> frozenset[int]:
        control = self._reader.control
        return frozenset(control.hidden) | frozenset(control.erased)

    # -- models -----------------------------------------------------------------------------------

    def fill(self, embedder: Embedder | None = None, *, limit: int | None = None) -> int:
        """Give pending rows their vectors, asking the model, and return how many; nothing waits meanwhile.

        Raises EmbeddingError when the model fails: what it gave before stays. ValueError for another model's embedder.
        """
        from braid.views.lance import embedding

        embedder = embedder or self._embedder()
        if embedder is None:
            raise ValueError("there is no model to ask: give an embedder")
        self.catch_up()
        done = 0
        while limit is None or done < limit:
            most = embedding.FILL_ROWS if limit is None else min(embedding.FILL_ROWS, limit - done)
            waiting = embedding.pending(self.home.open(), embedder, most)
            if not waiting:
                break
            vectors, fresh = embedding.asked(self._reader, self.home.cache, embedder, waiting)
            with self._owning(PURGE_WAIT_S):
                self._reader.refresh()  # what was erased while the model was asked must not be kept
                erased = self._reader.control.erased
                self.home.cache.put({one: fresh[one] for one in fresh if one.record not in erased})
                filled = embedding.put(self.home.open(), vectors)
                self._opened = None
            if not filled:
                break
            done += filled
        return done

    def change_model(self) -> bool:
        """Make a set of the present embedder's vectors beside the current one, then swap it in; False when that is
        under way elsewhere, or the current set is of this model.

        The log may grow meanwhile, and lose records: the new set catches up, under the lock, by the code of every
        catch-up. Raises EmbeddingError with the current set as it was.
        """
        from braid.views.lance import embedding

        embedder = self._embedder()
        if embedder is None or not self._is_of_another_model():
            return False
        maker = LanceHome(self.home.folder, self._reader, lambda: embedder)
        try:
            with self._making(0.0):
                source = self.home.open()
                made = maker.begin_made()
                embedding.copy(self._reader, source, made, embedder, self.home.cache)
                with self._owning(PURGE_WAIT_S):
                    caught = catch_up(self._reader, maker)
                    if caught.rebuilt is None:
                        maker.swap()
                    self._opened = None
        except _MakingError:
            return False
        finally:
            maker.drop_made()
        return True

    # -- keeping ----------------------------------------------------------------------------------

    def tend(self) -> None:
        """Bring the indexes up to the rows. Readers keep what they have open; catching up waits for the short part."""
        from braid.views.lance import maintenance

        try:
            view = self.home.open()
            maintenance.index_vectors(view.table)
            with self._owning(PURGE_WAIT_S):
                maintenance.compact(self.home.open().table)
                self._opened = None
        except (ViewError, OSError):
            return  # an index is a matter of speed: the next one tries again

    def purge(self) -> list[str]:
        """After an erasure: rebuild without what is gone, so that no file here holds a byte of it; return names."""
        if not self.home.folder.is_dir():
            return []
        names = [path.name for path in self.home.sets()]
        self.home.spoil_made()  # whoever makes one gives the lock back; another's fresh set is not ours to touch
        try:
            with self._making(PURGE_WAIT_S), self._owning(PURGE_WAIT_S):
                names += self._rebuilt_without()
        except (OSError, ViewError):  # they don't give the lock back: what they are at goes with all else
            names += self.home.drop_all()
        return sorted(set(names))

    def _rebuilt_without(self) -> list[str]:
        """Make the current set again without what is gone and remove all others; return names. The lock is held."""
        self._opened = None
        try:
            if self.exists:
                catch_up(self._reader, self.home, begin=self._begin)
            self.home.cache.shed(self._reader.control.erased)
            self.home.drop_strays(made=True)
        except (OSError, ViewError):
            return self.home.drop_all()
        return [path.name for path in self.home.sets()]

    def drop(self) -> list[str]:
        """Remove every file that holds rows; return names. It is made again when it is next asked."""
        if not self.home.folder.is_dir():
            return []
        self.settle()
        with self._owning(PURGE_WAIT_S):
            self._opened = None
            return self.home.drop_all()

    def status(self) -> SearchStatus:
        """Return how the projection stands; nothing is caught up for it."""
        current = self.home.current()
        held = self.home.size_bytes()
        if current is None:
            return SearchStatus(0, held, note="it is made when it is first asked")
        from braid.views.lance.view import told_as_damage

        try:
            view = self.home.open()
            with told_as_damage("read"):
                pending = view.table.count(WAITING)
        except DamagedViewError as error:
            return SearchStatus(0, held, current.model.name, note=str(error))
        position = view.stamp.position if view.stamp else 0
        note = "another model's vectors are to come" if self._is_of_another_model() else ""
        return SearchStatus(position, held, current.model.name, pending, note)

    def held(self) -> Vectors:
        """Return which vectors there are; nothing is caught up for it. Raises DamagedViewError."""
        from braid.views.lance.view import COPY_ROWS, told_as_damage

        view = self.home.open()
        with told_as_damage("read"):
            waiting = [
                index
                for batch in view.table.batches(WAITING, ["log_index"], COPY_ROWS)
                for index in batch.column("log_index").to_pylist()
            ]
        return Vectors(view.stamp.position if view.stamp else 0, view.model.name, sorted(waiting))

    def similar(self) -> "Pairs":
        """Return which records mean nearly the same; nothing is caught up for it. Raises DamagedViewError."""
        from braid.views.lance.similar import similar_pairs

        return similar_pairs(self.home.open())

    def check(self) -> "list[Finding]":
        """Compare the current set with the log; findings are values. Nothing is caught up for it."""
        if not self.exists:
            return []
        from braid.views.lance.check import check_rows

        try:
            with self._owning(PURGE_WAIT_S):
                return check_rows(self._reader, self.home, self._embedder())
        except OSError as error:
            if not is_unwritable(error):
                raise
        return check_rows(self._reader, self.home, self._embedder())  # nobody changes what can't be written

    def close(self) -> None:
        """Wait for what is under way."""
        self.leave_aside()
        self.settle()


def _each(steps: list[Callable[[], object]]) -> None:
    for step in steps:
        step()
