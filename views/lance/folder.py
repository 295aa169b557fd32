"""The files of the LanceDB projection (SPEC §10.10).

    views/lance/lock            flock(2): held by whoever writes the current set
    views/lance/current         JSON: the set that is current, and whose vectors it holds
    views/lance/set-<hex>/      a set: a LanceDB folder with one table
    views/lance/made-<hex>/     a set of another model in the making, for as long as somebody holds the lock `making`
    views/lance/vectors.sqlite  sealed vectors of remote models

Readers open the table of the current set at its newest version and keep that version. A set that was swapped out is
removed at once, old versions and all: a reader that still has it fails, and opens the current one.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from braid.ledger.read.reader import Reader
from braid.views.embedder import Embedder
from braid.views.errors import DamagedViewError
from braid.views.lance.cache import Cache
from braid.views.lance.model import VectorModel, model_of
from braid.views.lance.schema import TABLE, VERSION
from braid.wal.durable import make_folder, remove_tree, replace_file, sync_folder, sync_tree
from braid.wal.errors import LogLockedError
from braid.wal.failpoint import failpoint
from braid.wal.lock import FileLock
from braid.wal.regular import obstructed

if TYPE_CHECKING:  # LanceDB and Arrow are loaded when a set is opened
    from braid.views.lance.view import LanceView

Embedding = Callable[[], Embedder | None]
"""How the embedder is had when it is first needed."""


class Current(msgspec.Struct, frozen=True):
    """What `current` says."""

    folder: str
    model: VectorModel


class LanceHome:
    """The folder `views/lance` of a store."""

    name = "lance"
    version = VERSION

    def __init__(self, folder: Path, reader: Reader, embedder: Embedding) -> None:
        self.folder = folder
        self.cache = Cache(folder / "vectors.sqlite")
        self._reader = reader
        self.embedding = embedder
        self._current = folder / "current"
        self._fresh: tuple[Path, VectorModel] | None = None
        self._made: Current | None = None

    @property
    def model(self) -> VectorModel:
        """The present embedder's: whose vectors a new set holds."""
        return model_of(self.embedding())

    def current(self) -> Current | None:
        """Return which set is current, None where there is none or the file can't be read."""
        try:
            found = msgspec.json.decode(self._current.read_bytes(), type=Current)
        except (FileNotFoundError, msgspec.MsgspecError):
            return None
        except (IsADirectoryError, NotADirectoryError):
            raise obstructed(self._current, "a file") from None
        plain = found.folder.startswith(("set-", "made-")) and Path(found.folder).name == found.folder
        return found if plain and found.model.dimensions > 0 else None

    def signature(self) -> tuple[int, int] | None:
        """Return what changes when another set becomes current."""
        try:
            at = self._current.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return at.st_ino, at.st_mtime_ns

    def commits(self) -> frozenset[str]:
        """Return the names of LanceDB's commits of the current set, which each one changes; opening it costs more."""
        current = self.current()
        if current is None:
            return frozenset()
        try:
            return frozenset(os.listdir(self.folder / current.folder / f"{TABLE}.lance" / "_versions"))  # noqa: PTH208 - names
        except (FileNotFoundError, NotADirectoryError):
            return frozenset()

    def open(self) -> "LanceView":
        """Open the current set; raise DamagedViewError where there is none that can be used."""
        current = self._made or self.current()
        if current is None:
            raise DamagedViewError("there is none yet")
        from braid.views.lance.view import LanceView

        return LanceView.open(
            self.folder / current.folder, current.model, self._reader, self.embedding(), self.cache
        )

    def fresh(self) -> "LanceView":
        """Begin an empty set of the present embedder beside the current one."""
        return self._begin("set-", model_of(self.embedding()))

    def fresh_without(self, gone: Sequence[int]) -> "LanceView":
        """Begin a set with the rows of the current one, but for those of these records; raise DamagedViewError."""
        self.cache.shed(gone)
        source = self.open()
        view = self._begin("set-", source.model)
        view.take_over(source, gone)
        return view

    def fresh_from(self, model: VectorModel, fill: Callable[[Path], None]) -> "LanceView":
        """Begin a set whose folder `fill` makes; raise DamagedViewError for one that can't be read."""
        from braid.views.lance.view import LanceView

        make_folder(self.folder)
        path = self.folder / f"set-{os.urandom(8).hex()}"
        fill(path)
        view = LanceView.open(path, model, self._reader, self.embedding(), self.cache)
        self._fresh = (path, model)
        return view

    def begin_made(self) -> "LanceView":
        """Begin a set of the present embedder that this home opens from now on, until it is swapped in.

        The caller holds the lock `making`.
        """
        view = self._begin("made-", model_of(self.embedding()))
        assert self._fresh is not None  # noqa: S101 - it was just begun
        self._made = Current(self._fresh[0].name, self._fresh[1])
        return view

    def drop_made(self) -> None:
        """Remove the set in the making."""
        if self._made is not None:
            shutil.rmtree(self.folder / self._made.folder, ignore_errors=True)
            self._made = self._fresh = None

    def _begin(self, prefix: str, model: VectorModel) -> "LanceView":
        from braid.views.lance.view import LanceView

        make_folder(self.folder)
        path = self.folder / f"{prefix}{os.urandom(8).hex()}"
        self._fresh = (path, model)
        return LanceView.create(path, model, self._reader, self.embedding(), self.cache)

    def swap(self) -> None:
        """Make the fresh set current, durably, and remove the one before."""
        assert self._fresh is not None  # noqa: S101 - a caller swaps what it has begun
        (path, model), self._fresh, self._made = self._fresh, None, None
        sync_tree(path)
        sync_folder(self.folder)
        # Dying here: the old set is current; the fresh one is removed by the next swap.
        failpoint("views.lance.swap")
        replace_file(self._current, msgspec.json.encode(Current(path.name, model)), "views.lance.current")
        # Dying here: the fresh set is current; the old one is removed by the next swap.
        self.drop_strays()

    def drop_strays(self, *, made: bool = False) -> list[str]:
        """Remove every set that is not current, but for one in the making, unless `made`; return their names."""
        current = self.current()
        removed: list[str] = []
        for path in self.sets():
            if current is not None and path.name == current.folder:
                continue
            if path.name.startswith("made-") and not made and self._is_in_the_making():
                continue
            remove_tree(path)
            removed.append(path.name)
        if removed:
            sync_folder(self.folder)
        return removed

    def spoil_made(self) -> None:
        """Take away what is being made of another model: whoever makes it fails. What is left of it is a stray."""
        current = self.current()
        for path in self.folder.glob("made-*"):
            if current is None or path.name != current.folder:
                shutil.rmtree(path, ignore_errors=True)

    def _is_in_the_making(self) -> bool:
        lock = FileLock(self.folder / "making")
        try:
            lock.acquire()
        except LogLockedError:
            return True
        lock.release()
        return False

    def sets(self) -> list[Path]:
        """Return the folders of all sets."""
        return sorted([*self.folder.glob("set-*"), *self.folder.glob("made-*")])

    def drop_all(self) -> list[str]:
        """Remove everything that holds rows or vectors; return names."""
        names = [path.name for path in self.sets()]
        self._current.unlink(missing_ok=True)
        for path in self.sets():
            remove_tree(path)
        if self.cache.path.exists():
            names.append(self.cache.path.name)
            self.cache.drop()
        if names:
            sync_folder(self.folder)
        return names

    def size_bytes(self) -> int:
        """Return the size of all sets and of the cache."""
        files = [path for path in self.folder.rglob("*") if path.is_file()] if self.folder.is_dir() else []
        return sum(path.stat().st_size for path in files)
