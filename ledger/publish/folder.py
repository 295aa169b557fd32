"""The folder that a log is served from: tiles and entry bundles, then the checkpoint that needs them (SPEC §16.2).

A file stands under its name whole or not at all, and never changes afterwards; the checkpoint is replaced last. So a
process that dies in between leaves files that no published checkpoint needs yet, and a reader never meets a gap.
"""

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from braid.ledger.tree.tiles import entries_path, parse_entries_path, parse_tile_path, tile_path
from braid.wal.durable import create_file, make_folder, replace_file, sync_folder
from braid.wal.failpoint import failpoint
from braid.wal.lock import FileLock

CHECKPOINT: Final = "checkpoint"
EVIDENCE: Final = "succession"
"""The last head under a key that has been retired, where a mirror has followed the log to another: never served."""
_OWN: Final = frozenset((CHECKPOINT, f".{CHECKPOINT}.new", EVIDENCE, f".{EVIDENCE}.new", "tile", ".lock"))
_THREADS: Final = 8


class Leaf(NamedTuple):
    """A file to be put out: its path, its bytes, and a durable file with the same bytes, if there is one."""

    path: str
    data: bytes
    twin: Path | None = None


def is_served_path(path: str) -> bool:
    """Whether a log serves something at this path, as tlog-tiles writes paths: nothing else is ever looked for."""
    if path == CHECKPOINT:
        return True
    for parse in (parse_tile_path, parse_entries_path):
        with suppress(ValueError):
            parse(path)
            return True
    return False


class Folder:
    """A folder as a log: answers for the paths of tlog-tiles, in the way that `Fetch` asks."""

    def __init__(self, folder: Path) -> None:
        self.path = folder

    def fetch(self, path: str) -> bytes:
        """Return the bytes of a path; FileNotFoundError where there is nothing."""
        if not is_served_path(path):
            raise FileNotFoundError(path)
        try:
            return (self.path / path).read_bytes()
        except (IsADirectoryError, NotADirectoryError):
            raise FileNotFoundError(path) from None


class Outlet(Folder):
    """Such a folder, being written. One process at a time."""

    def __init__(self, folder: Path, *, public: bool = False) -> None:
        """Make the folder where there is none, and take its lock; FileExistsError for one that holds other things.

        With `public` everybody on this machine may read it, a web server among them: modes 0644 and 0755.
        """
        super().__init__(folder.absolute())
        make_folder(self.path)
        self._public = public
        self._mode = 0o644 if public else 0o600
        if strangers := sorted({entry.name for entry in self.path.iterdir()} - _OWN):
            raise FileExistsError(
                f"{folder} holds {strangers[0]}, which no published log has; choose a folder of its own"
            )
        self._lock = FileLock(self.path / ".lock")
        self._lock.acquire()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="braid-outlet")
        self._touched: set[Path] = set()
        self._writing: list[Future[None]] = []
        self._links = True

    def close(self) -> None:
        """Give the lock back."""
        self._pool.shutdown()
        self._lock.release()

    @property
    def is_to_open(self) -> bool:
        """Whether everybody may read it, and somebody can't yet: an earlier run was private."""
        head = self.path / CHECKPOINT
        return self._public and head.exists() and not head.stat().st_mode & 0o004

    def holds(self, path: str, data: bytes) -> bool:
        """Whether the file at `path` holds exactly `data`: an interrupted run left it, no need to write it again."""
        try:
            same = (self.path / path).read_bytes() == data
        except FileNotFoundError:
            return False
        if same:
            self._touched.add((self.path / path).parent)  # its name may not be durable yet
        return same

    def put(self, leaves: Iterable[Leaf]) -> None:
        """Write files, many at a time: one sync after the other would wait for the disk each time.

        They are being written when this returns; the next call, and `finish`, wait for them and raise what failed.
        """
        leaves = list(leaves)
        for folder in {(self.path / leaf.path).parent for leaf in leaves}:
            make_folder(folder)
            self._let_in(folder)
            self._touched.add(folder)
        self._wait()
        failpoint("outlet.put")
        self._writing = [self._pool.submit(self._put, leaf) for leaf in leaves]

    def _wait(self) -> None:
        writing, self._writing = self._writing, []
        for one in writing:
            one.result()

    def _put(self, leaf: Leaf) -> None:
        path = self.path / leaf.path
        fresh = path.with_name(f".{path.name}.new")
        # A second name has the store's own mode, which is nobody else's: a public file is one of its own.
        if leaf.twin is None or self._public or not self._linked(leaf.twin, fresh):
            create_file(fresh, leaf.data, "outlet.write", self._mode)
        fresh.replace(path)
        with suppress(FileNotFoundError):
            fresh.unlink()  # rename(2) leaves both names where they are links to one file

    def _linked(self, twin: Path, fresh: Path) -> bool:
        """Give a store's tile a second name: tiles are replaced by renaming, so neither changes the other."""
        if not self._links:
            return False
        fresh.unlink(missing_ok=True)
        try:
            os.link(twin, fresh)
        except FileNotFoundError:
            return False
        except OSError:  # another file system, or one without links
            self._links = False
            return False
        return True

    def finish(self, note: bytes, size: int, before: int) -> None:
        """Publish `note`, the checkpoint of `size` after one of `before`: everything that it needs is in place.

        Partial tiles and bundles that have become full go first: had the process to die in between, the next run would
        know the same `before` and remove them then. Who still reads them falls back to the full ones.
        """
        self._wait()
        if self.is_to_open:
            self._open_up()  # then the checkpoint: dying in between, the next run does it again
        for folder in sorted(self._touched):
            sync_folder(folder)
        self._touched.clear()
        for name in outgrown(before, size):
            self._drop(self.path / name)
        replace_file(self.path / CHECKPOINT, note, "outlet.checkpoint", self._mode)

    def _let_in(self, folder: Path) -> None:
        """Let everybody into a public folder, and into those above it up to the log's own."""
        while self._public and not folder.stat().st_mode & 0o005:
            folder.chmod(0o755)
            if folder != self.path:
                folder = folder.parent

    def _open_up(self) -> None:
        """Let everybody read what an earlier run published privately; what is a store's too is parted from it."""
        for folder, _, names in os.walk(self.path):
            self._let_in(Path(folder))
            for path in (Path(folder, name) for name in names if name not in (".lock", EVIDENCE)):
                found = path.stat()
                if not found.st_mode & 0o004:
                    if found.st_nlink > 1:
                        fresh = path.with_name(f".{path.name}.new")
                        create_file(fresh, path.read_bytes(), "outlet.write")
                        fresh.replace(path)
                        self._touched.add(path.parent)
                    path.chmod(0o644)

    def keep_evidence(self, note: bytes) -> None:
        """Keep the head from which the log's keys were followed: the published one is about to go."""
        replace_file(self.path / EVIDENCE, note, "outlet.evidence")

    @staticmethod
    def _drop(partials: Path) -> None:
        with suppress(FileNotFoundError):
            for file in partials.iterdir():
                file.unlink(missing_ok=True)
            partials.rmdir()


def outgrown(before: int, size: int) -> Iterator[str]:
    """Yield the folders of partial tiles and bundles of a tree of `before` that are full in one of `size`.

    Those that are still partial stay: heads of their sizes were published (tlog-tiles, Partial Tiles).
    """
    level = 0
    while before >> 8 * level:
        n = before >> 8 * (level + 1)
        if (n + 1) << 8 * (level + 1) <= size:
            yield f"{tile_path(level, n)}.p"
            if level == 0:
                yield f"{entries_path(n)}.p"
        level += 1
