"""Where what a command writes may go, and how it gets there: whole or not at all, readable by its owner alone.

A store, its vault and its guard are no place for anything else: one slip of `--out` would be the end of the memory.
"""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from braid.tools.cli.access import Chosen, guard_of, where


def outside(path: Path | None, store: Path | None) -> None:
    """Raise ValueError for a place in a store, or one that is the open store's vault, guard or passphrase.

    `store` is what the command's option says; links are followed.
    """
    if path is None:
        return
    real = _real(path)
    for folder in (real, *real.parents):
        if os.path.lexists(folder / "store.json"):
            raise ValueError(
                f"{path} lies in the store {folder}, which holds its own files alone; {_ELSEWHERE}"
            )
    for what, kept in _kept(where(store)):
        if real == _real(kept) or (real.exists() and kept.exists() and real.samefile(kept)):
            raise ValueError(f"{path} is the {what}; {_ELSEWHERE}")


_ELSEWHERE: Final = "choose another place"


def _kept(store: Path) -> Generator[tuple[str, Path]]:
    from braid.ledger.settings import load_settings

    if Chosen.passphrase_file is not None:
        yield "passphrase's file", Chosen.passphrase_file
    yield "store's vault", load_settings(store).vault_path(store)
    yield "store's guard", guard_of(store).path


_OPEN_FILES: Final = ("/dev", "/dev/fd", "/proc/self/fd")
"""Where files are that are open already: another one in their place would be lost on who opened them."""


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))  # which, unlike Path.resolve, has an answer for a loop of links, too


def is_stream(file: Path) -> bool:
    """Whether bytes go on from there (a pipe, a terminal, /dev/stdout), so that nothing can be put in its place.

    Raises IsADirectoryError for a folder.
    """
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder: name a file in it")
    return str(file.absolute().parent) in _OPEN_FILES or (file.exists() and not file.is_file())


@contextmanager
def new_file(file: Path) -> Generator[BinaryIO]:
    """Yield what a file's bytes are written to; at the end it stands in its place, where a link leads there.

    If the process dies before, the old file is as it was. What is a stream is written straight.
    """
    from tempfile import mkstemp

    if is_stream(file):
        with file.open("wb") as stream:
            yield stream
        return
    real = _real(file)
    if not real.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {real.parent}: make it first")
    descriptor, name = mkstemp(".partial", ".", real.parent)
    partial = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
        partial.replace(real)
    finally:
        with suppress(FileNotFoundError):
            partial.unlink()


@contextmanager
def new_folder(folder: Path) -> Generator[Path]:
    """Yield a folder to write into; at the end it stands in its place. Raises FileExistsError for one with content."""
    from tempfile import mkdtemp

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder} exists and is not an empty folder; choose another")
    real = _real(folder)
    real.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(mkdtemp(".partial", ".", real.parent))
    try:
        with owners_alone():
            yield partial
        partial.replace(real)
    finally:
        with suppress(FileNotFoundError):
            shutil.rmtree(partial)


@contextmanager
def owners_alone() -> Generator[None]:
    """Let files and folders that are made meanwhile be readable by their owner alone: they hold plaintext."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
