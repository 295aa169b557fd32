"""Projections of a store that can't be written: worked on in a private folder, which goes with the handle.

Evidence is kept on media for reading only. What has to be made to look at it, or to ask it, holds plaintext: it lies in
a folder that only its owner may enter, made by the rules for temporary ones (`TMPDIR`). Who is killed leaves it there.
"""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from braid.views.duck.generations import DuckHome
from braid.views.duck.seal import Seals
from braid.views.errors import UnsealedError


class Aside:
    """A private folder, made when it is first needed."""

    def __init__(self, source: DuckHome, history: Path, seals: Seals) -> None:
        """`source` is the projection in the store, `history` the store's file of published checkpoints."""
        self._source = source
        self._seals = seals
        self._history = history
        self._turn = Lock()
        self._folder: TemporaryDirectory[str] | None = None

    def home(self) -> DuckHome:
        """Return a home of the DuckDB projection there, with a copy of the store's newest generation that bears its
        seal.
        """
        home = DuckHome(self.folder() / "duck", self._history, self._seals)
        if not home.folder.exists():
            home.folder.mkdir()
            newest = self._source.current()
            if newest is not None:
                copy = home.folder / newest[0].name
                try:
                    with self._seals.opened(newest[0]) as held:
                        shutil.copyfile(held, copy)
                except UnsealedError:  # what was edited is no beginning
                    copy.unlink(missing_ok=True)
                else:
                    self._seals.closed(copy, newest[1], whole=False)
                    (home.folder / "current").write_text(newest[0].name, "utf-8")
        return home

    def folder(self) -> Path:
        """Return the folder; whoever asks first makes it."""
        with self._turn:
            if self._folder is None:
                self._folder = TemporaryDirectory(prefix="braid-views-")
            return Path(self._folder.name)

    def copy_of_work(self) -> Path:
        """Return a copy of the working file, as it stands; a path without a file where there is none."""
        copy = self.home().work
        for path in (self._source.work, self._source.work.with_name(f"{self._source.work.name}.wal")):
            if path.exists():
                shutil.copyfile(path, copy.with_name(path.name))
        return copy

    def close(self) -> None:
        """Remove the folder and all in it."""
        with self._turn:
            folder, self._folder = self._folder, None
        if folder is not None:
            folder.cleanup()
