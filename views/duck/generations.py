"""The DuckDB projection's files: one working file for its owner, immutable generations for everybody else (SPEC §10.6).

    views/duck/lock                      flock(2): held by whoever opens the working file, for as long as it is open
    views/duck/work.duckdb               the working file
    views/duck/fresh.duckdb              a rebuild under way; removed by the next one
    views/duck/gen-<position>-<hex>.duckdb    a copy that nobody writes to
    views/duck/ask-<hex>.duckdb          a copy for one question that takes long, removed with it
    views/duck/current                   the name of the newest generation
    views/duck/seals/<file>              shows that the vault's holder wrote the file (`views/duck/seal.py`)

A reader that has a generation open keeps it when its name goes: the file lives until it is closed.
"""

import os
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import TYPE_CHECKING

from braid.views.duck.schema import VERSION
from braid.views.duck.seal import FOLDER, Seals, seal_of
from braid.views.errors import DamagedViewError
from braid.wal.durable import make_folder, no_room, replace_file, sync_folder
from braid.wal.failpoint import failpoint
from braid.wal.regular import obstructed

if (
    TYPE_CHECKING
):  # DuckDB and Arrow are loaded when a file is opened: a process that only appends needs neither
    from braid.views.duck.projection import DuckView

_GENERATION = re.compile(r"gen-(\d+)-[0-9a-f]+\.duckdb")
_COPY_BYTES = 8 << 20
GROWTH_PERCENT = 10
"""A new generation is due when the log has grown by this much: copying then costs a constant share of all writing."""


class DuckHome:
    """The folder `views/duck` of a store."""

    name = "duck"
    version = VERSION

    def __init__(self, folder: Path, history: Path, seals: Seals) -> None:
        """`folder` is `views/duck`; `history` the store's file of published checkpoints."""
        self.folder = folder
        self.seals = seals
        self.work = folder / "work.duckdb"
        self._fresh = folder / "fresh.duckdb"
        self._history = history
        self._current = folder / "current"
        self._made = 0
        """The position at which the fresh file was closed."""

    def open(self) -> "DuckView":
        """Open the working file; raise DamagedViewError where there is none that can be used, or may be believed."""
        from braid.views.duck.projection import DuckView

        if not self.work.exists():
            raise DamagedViewError("there is none yet")
        self.seals.require(self.work)
        view = DuckView.open(self.work, self._history)
        view.when_closed = lambda position: self.seals.closed(self.work, position)
        return view

    @contextmanager
    def reading(self) -> Generator[Path]:
        """Yield a path by which the closed working file is read, as `Seals.opened`."""
        with self.seals.opened(self.work) as path:
            yield path

    def private_copy(self, path: Path) -> "PrivateCopy":
        """Return a copy of a closed file for one question; what dead processes have left of theirs is removed."""
        for left in self.folder.glob("ask-*.duckdb"):
            PrivateCopy.remove_left(left)
        return PrivateCopy(self.folder / f"ask-{os.urandom(8).hex()}.duckdb", path)

    def fresh(self) -> "DuckView":
        """Begin an empty file beside the working one."""
        from braid.views.duck.projection import DuckView

        make_folder(self.folder)
        remove_file(self._fresh)
        view = DuckView.create(self._fresh, self._history)
        view.when_closed = self._fresh_closed
        return view

    def fresh_from(self, path: Path) -> "DuckView":
        """Begin with a copy of a generation; raise DamagedViewError where it may not be believed, or can't be read."""
        from braid.views.duck.projection import DuckView

        make_folder(self.folder)
        remove_file(self._fresh)
        with self.seals.opened(path) as held:
            copy_file(held, self._fresh)
        view = DuckView.open(self._fresh, self._history)
        view.when_closed = self._fresh_closed
        return view

    def _fresh_closed(self, position: int) -> None:
        self._made = position
        self.seals.closed(self._fresh, position, whole=False)

    def fresh_without(self, gone: Sequence[int]) -> "DuckView":
        """Begin a file with the rows of the working one, but for those of these records; raise DamagedViewError."""
        view = self.fresh()
        try:
            with self.reading() as path:
                view.take_over(path, gone)
        except BaseException:
            view.close()
            raise
        return view

    def swap(self) -> None:
        """Put the closed fresh file in the working one's place, durably."""
        require_whole(self._fresh)
        failpoint("views.fresh.sync")
        _sync(self._fresh)
        failpoint("views.fresh.sync.done")
        # Dying here: the old file is live, whole and behind; the fresh one is removed by the next rebuild.
        _wal(self.work).unlink(missing_ok=True)
        # Dying here: the old file without its write-ahead file stands at an earlier batch, rows and position together.
        failpoint("views.swap")
        self._fresh.replace(self.work)
        # Dying here: the new file with the old one's seal, which does not fit it; it is made again.
        self.seals.renamed(self._fresh, self.work, self._made)
        sync_folder(self.folder)
        failpoint("views.swap.done")
        # Dying here: the rebuilt file is live; generations are as old as they were.

    # -- generations ------------------------------------------------------------------------------

    def current(self) -> tuple[Path, int] | None:
        """Return the newest generation and its position, or None where there is none."""
        try:
            name = self._current.read_text("utf-8").strip()
        except (FileNotFoundError, UnicodeDecodeError):
            return None
        except (IsADirectoryError, NotADirectoryError):
            raise obstructed(self._current, "a file") from None
        found = _GENERATION.fullmatch(name)
        path = self.folder / name
        return (path, int(found[1])) if found and path.exists() else None

    def is_due(self, position: int) -> bool:
        """Whether the log has grown enough since the newest generation for another."""
        newest = self.current()
        return newest is None or 100 * (position - newest[1]) >= GROWTH_PERCENT * newest[1]

    def publish(self, position: int) -> Path:
        """Copy the closed working file, which stands at `position`, into a new generation; remove the older ones."""
        path = self.folder / f"gen-{position:012d}-{os.urandom(4).hex()}.duckdb"
        copy = self.folder / "copy.duckdb"
        require_whole(self.work)
        failpoint("views.generation.copy")
        try:
            with self.reading() as work:
                copy_file(work, copy)
        except OSError:
            copy.unlink(missing_ok=True)  # what is left of it would keep the disk full
            raise
        # Dying here: a copy without a generation's name lies about; the next publication overwrites it.
        failpoint("views.generation.copy.done")
        copy.replace(path)
        # Dying here: a generation that nothing points to; the next publication removes it.
        self.seals.closed(path, position, whole=False)
        self.seals.seal(path, position, durably=True)
        replace_file(self._current, f"{path.name}\n".encode(), "views.current")
        # Dying here: the new generation is current, an older one lies about; the next publication removes it.
        self._remove_generations(keep=path)
        return path

    def _remove_generations(self, keep: Path | None) -> list[str]:
        removed: list[str] = []
        for path in sorted(self.folder.glob("gen-*.duckdb")):
            if path != keep:
                failpoint("views.generation.drop")
                remove_file(path)
                removed.append(path.name)
        if removed:
            sync_folder(self.folder)
            failpoint("views.generation.drop.done")
        return removed

    def drop_generations(self, older_than: int | None = None) -> list[str]:
        """Remove every generation, or those that stand at `older_than` or before; return their names."""
        if not self.folder.is_dir():
            return []
        newest = self.current()
        if older_than is not None and newest is not None and newest[1] > older_than:
            return self._remove_generations(keep=newest[0])
        self._current.unlink(missing_ok=True)
        return self._remove_generations(keep=None)

    def drop_all(self) -> list[str]:
        """Remove every file that holds rows, for good; return their names."""
        if not self.folder.is_dir():
            return []
        return self.drop_generations() + self.drop_strays()

    def drop_strays(self, *keep: Path) -> list[str]:
        """Remove every file that may hold rows but those named, whatever DuckDB or a crash has left; return names."""
        removed = [path for path in self.files() if path not in keep]
        kept = {seal_of(path) for path in keep}
        seals = [path for path in (self.folder / FOLDER).glob("*") if path not in kept]
        for path in (*removed, *seals):
            path.unlink(missing_ok=True)
        if removed:
            sync_folder(self.folder)
        return [path.name for path in removed]

    def signature(self) -> object:
        """Return what changes when anybody writes the working file; None where there is none."""
        return self.seals.state(self.work)

    def files(self) -> list[Path]:
        """Return the files that hold rows."""
        return sorted(self.folder.glob("*.duckdb*"))


class PrivateCopy:
    """A copy of a file while it is open, at `path`; whoever erases may take its name away."""

    def __init__(self, path: Path, of: Path) -> None:
        """Raises OSError where it can't be written. Dying here leaves what the next copy, or a purge, removes."""
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            flock(self._file, LOCK_EX | LOCK_NB)
            with of.open("rb") as source:
                while os.copy_file_range(source.fileno(), self._file, _COPY_BYTES):
                    pass
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove it."""
        self.path.unlink(missing_ok=True)
        os.close(self._file)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()

    @staticmethod
    def remove_left(path: Path) -> None:
        """Remove a copy that no process has open."""
        with suppress(OSError):
            file = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                flock(file, LOCK_EX | LOCK_NB)
                path.unlink(missing_ok=True)
            finally:
                os.close(file)


def require_whole(path: Path) -> None:
    """Raise OSError for a closed file whose write-ahead file is still there: DuckDB had no room to fold it in.

    DuckDB does not say so itself; without the other file, this one stands at an earlier batch.
    """
    if _wal(path).exists():
        number = no_room(path.parent)
        raise OSError(number, "there is no room to complete the projection's file", str(path))


def _wal(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")


def remove_file(path: Path) -> None:
    """Remove a DuckDB file, what DuckDB keeps beside it, and its seal."""
    for each in (_wal(path), path.with_name(f"{path.name}.wal.checkpoint"), path, seal_of(path)):
        each.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file that nobody has open for writing, inside the kernel, and sync the copy."""
    with source.open("rb") as src:
        fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            while os.copy_file_range(src.fileno(), fd, _COPY_BYTES):
                pass
            os.fsync(fd)
        finally:
            os.close(fd)
