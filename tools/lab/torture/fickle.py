"""A disk that says that it failed: after it did what was asked (`done`), or having lost what a sync should have kept.

Only the process that is tormented sees it: it stands between `os` and Python. What a failed fdatasync leaves is either
still to be written or gone for good (fsyncgate), and a program can't know which: so both are played. With `lost` the
file has at once the bytes of its last sync; a folder's names go back to its last sync, and there the power goes too.
"""

import errno
import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

Loss = Literal["done", "lost"]
STEPS: Final = (
    "write", "fsync", "fdatasync", "replace", "rename", "unlink", "link", "mkdir", "rmdir", "truncate", "ftruncate",
)  # fmt: skip
SYNCS: Final = ("fsync", "fdatasync")


class FickleDisk:
    """Stands behind `os` for the files of one folder; the n-th step of `kind` fails, having been `done` or `lost`."""

    def __init__(self, world: Path, kind: str = "", nth: int = 0, loss: Loss = "done") -> None:
        """Remember what is there now as what is durable. Without `kind` nothing fails and `steps` tells what ran."""
        self._world, self._kind, self._left, self._loss = str(world) + "/", kind, nth, loss
        self._real = {step: getattr(os, step) for step in STEPS}
        self._files: dict[int, bytes] = {}
        """What the last sync of a file kept, by inode: a name may change without one."""
        self._folders: dict[int, dict[str, bytes | None]] = {}
        self.steps: list[tuple[str, str]] = []
        for folder, _, names in os.walk(world):
            self._remember(folder)
            for name in names:
                self._remember(f"{folder}/{name}")

    def stand_behind(self) -> None:
        """Take the place of `os`'s functions in this process, for good."""
        for step in STEPS:
            setattr(os, step, self._stepping(step))

    def _stepping(self, step: str) -> Callable[..., Any]:
        real = self._real[step]

        def run(first: Any, *rest: Any, **named: Any) -> Any:
            path = _path(first)
            if not f"{path}/".startswith(self._world):
                return real(first, *rest, **named)
            self.steps.append((step, path.removeprefix(self._world)))
            fails = step == self._kind and self._due()
            if fails and self._loss == "lost":
                self._lose(path)
                raise _failure()
            self._forget(path if step == "unlink" else rest[0] if step in ("replace", "rename") else "")
            result = real(first, *rest, **named)
            if step in SYNCS:
                self._remember(path)
            if fails:
                raise _failure()
            return result

        return run

    def _due(self) -> bool:
        self._left -= 1
        return self._left == 0

    def _remember(self, path: str) -> None:
        if Path(path).is_dir():
            self._folders[_inode(path)] = _names(path)
        else:
            self._files[_inode(path)] = Path(path).read_bytes()

    def _forget(self, path: str) -> None:
        """The file under this name goes: another one may get its inode."""
        if path and Path(path).is_file():
            self._files.pop(_inode(path), None)

    def _lose(self, path: str) -> None:
        """Give the file, or the folder's names, back what the last sync had."""
        if not Path(path).is_dir():
            Path(path).write_bytes(self._files.get(_inode(path), b""))
            return
        known = self._folders.get(_inode(path), {})
        for name, data in _names(path).items():
            if data is not None and name not in known:
                self._real["unlink"](f"{path}/{name}")
        for name, data in known.items():
            if data is not None:
                Path(path, name).write_bytes(data)
        os.kill(os.getpid(), signal.SIGKILL)


def _failure() -> OSError:
    return OSError(errno.EIO, os.strerror(errno.EIO))


def _names(folder: str) -> dict[str, bytes | None]:
    """Return the folder's names, each with the bytes that stand under it; None for a folder."""
    return {entry.name: Path(entry).read_bytes() if entry.is_file() else None for entry in os.scandir(folder)}


def _inode(path: str) -> int:
    return Path(path).stat().st_ino


def _path(what: Any) -> str:
    """The path of what a step was given: a path, or a descriptor of a file or a folder."""
    if not isinstance(what, int):
        return os.path.abspath(str(what))  # noqa: PTH100 - text is what is compared
    mode = os.fstat(what).st_mode
    return str(Path(f"/proc/self/fd/{what}").readlink()) if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else ""
