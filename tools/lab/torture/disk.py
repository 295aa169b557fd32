"""A disk that is soon full: a small tmpfs where one may be mounted, else a limit on how long a file may grow."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

DISK_MIB: Final = 32
_FILE_BYTES: Final = 2 << 20
_INSIDE: Final = "BRAID_TORTURE_NAMESPACE"


class SmallDisk:
    """A place that can be filled and emptied. `kind` says what it is."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.mounted = _mount(folder)
        self.kind = (
            f"a tmpfs of {DISK_MIB} MiB" + (", in a user namespace" if _INSIDE in os.environ else "")
            if self.mounted
            else f"RLIMIT_FSIZE of {_FILE_BYTES >> 20} MiB: no file system could be mounted"
        )

    def limits(self) -> dict[str, str]:
        """Return what the processes' environment needs: where nothing is mounted, they limit themselves."""
        return {} if self.mounted else {"BRAID_TORTURE_FILE_BYTES": str(_FILE_BYTES)}

    def nearly_fill(self, free_kib: int) -> None:
        """Leave so much; where nothing is mounted, the processes limit themselves instead."""
        if self.fill():
            with self._filler.open("r+b") as file:
                file.truncate(max(self._filler.stat().st_size - (free_kib << 10), 0))

    def fill(self) -> bool:
        """Leave not a byte; return whether that can be done here."""
        if not self.mounted:
            return False
        with self._filler.open("ab", buffering=0) as file:
            for piece in (1 << 20, 1 << 12, 1):
                try:
                    while file.write(bytes(piece)) == piece:
                        pass
                except OSError:
                    continue
        return True

    def clear(self) -> None:
        """Give the room back."""
        self._filler.unlink(missing_ok=True)

    @property
    def _filler(self) -> Path:
        return self.folder / "filler"

    def close(self) -> None:
        """Unmount it; what was on it is gone."""
        if self.mounted:
            subprocess.run(["/bin/umount", str(self.folder)], check=False)


def _mount(folder: Path) -> bool:
    argv = ["/bin/mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "braid-torture", str(folder)]
    try:
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def enter_namespace() -> None:
    """Begin again as root of a user namespace of our own where this user may not mount, but may have that.

    Returns where it is of no use or can't be had.
    """
    if os.geteuid() == 0 or _INSIDE in os.environ:
        return
    unshare = ["unshare", "--map-root-user", "--mount"]
    try:
        may = subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return
    if may:
        argv = [*unshare, sys.executable, "-m", "braid.tools.lab.torture", *sys.argv[1:]]
        os.execvpe(unshare[0], argv, {**os.environ, _INSIDE: "1"})  # noqa: S606 - ourselves
