"""The snapshots of a store: made, listed, begun from, dropped; and what an erasure does to them (SPEC §10.11).

    views/snapshots/lock                           flock(2): held by whoever makes or removes one
    views/snapshots/at-<size, 12 digits>-<8 hex>/  a snapshot; nobody writes to it
    views/snapshots/.making-<8 hex>/               one in the making; `.dropped-…` is on its way out, `.checking-…` is
                                                   compared with the log. Leftovers go with the next make or drop.

A rebuild begins from the newest that fits, and goes on as every catch-up does. One that is damaged, of another log or
release, or that holds what has been erased is refused and named, and the next older one is tried.
"""

import os
import re
import shutil
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from braid.ledger.keys.author_key import Signer
from braid.ledger.keys.control import ControlState
from braid.ledger.read.reader import Reader
from braid.views.errors import DamagedViewError, SnapshotError, UnknownSnapshotError, ViewBusyError
from braid.views.projection import HeadFacts, Home, Projection
from braid.views.replay import ERASED, SnapshotStart, refusal
from braid.views.snapshot.manifest import NAME, ProjectionShare, SnapshotManifest, differing, read, seal
from braid.views.status import KEPT, Snapshot
from braid.wal.durable import make_folder, replace_file, sync_folder, sync_tree
from braid.wal.errors import LogLockedError
from braid.wal.failpoint import failpoint
from braid.wal.lock import FileLock

_WAIT_S: Final = 120.0
_NAME: Final = re.compile(r"at-(\d{12})-[0-9a-f]{8}")


class Snapshots:
    """The folder `views/snapshots` of a store."""

    def __init__(self, folder: Path, reader: Reader) -> None:
        self.folder = folder
        self._reader = reader
        self._lock = FileLock(folder / "lock")

    @contextmanager
    def held(self, wait_s: float) -> Generator[None]:
        """Let nobody make or remove a snapshot meanwhile; raise ViewBusyError."""
        make_folder(self.folder)
        try:
            self._lock.acquire(wait_s)
        except LogLockedError:
            raise ViewBusyError(
                f"{self.folder}: another process is at work on the snapshots; try again shortly"
            ) from None
        try:
            yield
        finally:
            self._lock.release()

    def folders(self) -> list[Path]:
        """Return the folders of all snapshots, the newest first."""
        return sorted((path for path in self.folder.glob("at-*") if _NAME.fullmatch(path.name)), reverse=True)

    def find(self, name: str) -> Path:
        """Return a snapshot's folder; raise UnknownSnapshotError where there is none of that name."""
        for path in self.folders():
            if path.name == name:
                return path
        raise UnknownSnapshotError(f"there is no snapshot {name!r}")

    def manifest(self, folder: Path) -> SnapshotManifest:
        """Return what a snapshot says of itself; SnapshotError unless it is this log's and holds nothing erased."""
        manifest = read(folder, self._reader.control, self._reader.origin)
        if gone := held_erased(manifest.size, self._reader.control):
            raise SnapshotError(f"it holds {len(gone)} records that were erased since, {gone[0]} among them")
        return manifest

    def all(self) -> list[Snapshot]:
        """Return every snapshot, the newest first; files are not looked into."""
        return [self._described(path) for path in self.folders()]

    def _described(self, folder: Path) -> Snapshot:
        held = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        try:
            manifest = self.manifest(folder)
        except SnapshotError as error:
            return Snapshot(folder.name, _size_in(folder), "", held, [], trouble=str(error))
        duck = manifest.part("duck")
        parts = [part.name for part in manifest.parts]
        return Snapshot(
            folder.name, manifest.size, manifest.root, held, parts, digest=duck.digest if duck else ""
        )

    # -- making -----------------------------------------------------------------------------------

    def make(
        self,
        dumps: Sequence[Callable[[Path], ProjectionShare]],
        standing: HeadFacts,
        root: str,
        signer: Signer,
        *,
        keep: int = KEPT,
    ) -> Snapshot:
        """Make one of what stands at `standing`; only the `keep` newest stay. The views' locks are the caller's.

        Dying on the way leaves a folder `.making-…` that the next one removes.
        """
        with self.held(_WAIT_S):
            self._drop_unfinished()
            building = self.folder / f".making-{os.urandom(4).hex()}"
            building.mkdir(mode=0o700)
            try:
                parts = [dump(building) for dump in dumps]
                failpoint("views.snapshot.parts")
                manifest = SnapshotManifest(1, standing.origin, standing.size, root, parts)
                replace_file(building / NAME, seal(manifest, signer), "views.snapshot.manifest")
                sync_tree(building)
                failpoint("views.snapshot.synced")
                # Dying here: a whole snapshot under a name that nobody reads; the next maker removes it.
                place = self.folder / f"at-{standing.size:012d}-{building.name.rpartition('-')[2]}"
                building.rename(place)
            except BaseException:
                shutil.rmtree(building, ignore_errors=True)
                raise
            sync_folder(self.folder)
            failpoint("views.snapshot.made")
            # Dying here: the snapshot is there; an older one too many lies about until the next is made.
            self._remove(self.folders()[keep:])
            return self._described(place)

    def _drop_unfinished(self) -> list[Path]:
        return self._remove(self._leftovers())

    def _leftovers(self) -> list[Path]:
        return [path for kind in ("making", "dropped", "checking") for path in self.folder.glob(f".{kind}-*")]

    def _remove(self, folders: Iterable[Path]) -> list[Path]:
        """Remove folders, each from its name first: what is left of one is no snapshot. Return the files they held."""
        gone: list[Path] = []
        for folder in list(folders):
            gone += [path for path in sorted(folder.rglob("*")) if not path.is_dir()]
            leaving = folder.with_name(f".dropped-{os.urandom(4).hex()}")
            folder.rename(leaving)
            failpoint("views.snapshot.drop")
            # Dying here: a folder that nobody reads; the next who makes or drops one removes it.
            shutil.rmtree(leaving)
        if gone:
            sync_folder(self.folder)
            failpoint("views.snapshot.drop.done")
        return gone

    def drop(self, *names: str) -> list[str]:
        """Remove these snapshots, or all and what a crash left of others; return their names. Raises SnapshotError."""
        if not self.folder.is_dir():
            return [self.find(name).name for name in names]
        with self.held(_WAIT_S):
            wanted = [self.find(name) for name in names] or [*self.folders(), *self._leftovers()]
            self._remove(wanted)
        return [path.name for path in wanted]

    def purge(self) -> list[str]:
        """After an erasure: remove what holds, or may hold, a byte of the erased; return the files, from the store's
        `views` on. Repeating it is harmless, and reads meanwhile refuse what is still to go.
        """
        if not self.folder.is_dir():
            return []
        with self.held(_WAIT_S):
            gone = self._drop_unfinished()
            for folder in self.folders():
                try:
                    self.manifest(folder)
                except (SnapshotError, OSError):  # what can't be read can't be known to be clean
                    gone += self._remove([folder])
        return [str(path.relative_to(self.folder.parent)) for path in gone]

    # -- beginning from one -----------------------------------------------------------------------

    def begin(self, home: Home, standing: HeadFacts) -> SnapshotStart:
        """Begin a fresh file of a projection from the newest snapshot that fits; say which, and which were refused."""
        refused: list[str] = []
        for folder in self.folders():
            try:
                return SnapshotStart(self._load(folder, home, standing), folder.name, tuple(refused))
            except (SnapshotError, DamagedViewError, OSError) as error:
                refused.append(f"{folder.name}: {error}")
        return SnapshotStart(None, "", tuple(refused))

    def _load(self, folder: Path, home: Home, standing: HeadFacts) -> Projection:
        manifest = self.manifest(folder)
        part = manifest.part(home.name)
        if part is None:
            raise SnapshotError(f"it holds nothing of {home.name}")
        why = refusal(part.stamp, home.version, self._reader, standing)
        if (
            why is not None and why != ERASED
        ):  # of what is erased it holds nothing: the manifest was just held to that
            raise SnapshotError(why)
        if part.model is not None and part.model != _model_of(home):
            raise SnapshotError(f"its vectors are of the model {part.model.name or 'none'}")
        if wrong := differing(folder, part):
            path, what = next(iter(wrong.items()))
            raise SnapshotError(f"{path} {what}")
        begun: Projection = module_of(home.name).load(home, folder, part)
        return begun


def module_of(name: str) -> Any:
    """Return the module that dumps and loads a projection's part; Arrow and LanceDB are loaded with it."""
    return import_module(f"braid.views.snapshot.{name}")


def held_erased(size: int, control: ControlState) -> list[int]:
    """Return the records below `size` that were erased by tombstones at or behind it: a snapshot of then holds them."""
    return sorted(index for index, by in control.erased.items() if index < size <= by)


def _model_of(home: Home) -> object:
    return getattr(home, "model", None)


def _size_in(folder: Path) -> int:
    found = _NAME.fullmatch(folder.name)
    return int(found[1]) if found else 0
