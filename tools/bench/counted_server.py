"""`braid` on a disk whose syncs are counted, and may be made slower: for figures of a server, in a process of its own.

python -m braid.tools.bench.counted_server COUNTER DELAY_S serve --store PATH

COUNTER is a file of eight bytes that holds how often `fdatasync` has run. It is read while the server works.
"""

import mmap
import os
import struct
import sys
import time
from pathlib import Path
from threading import Lock
from typing import Final

from braid.tools.cli.entry import run

_COUNT: Final = struct.Struct("<Q")


def new_counter(path: Path) -> Path:
    """Make a counter that stands at 0."""
    path.write_bytes(_COUNT.pack(0))
    return path


def counted(path: Path) -> int:
    """Return how often the server that counts there has synced."""
    (count,) = _COUNT.unpack(path.read_bytes())
    return int(count)


def main(counter: Path, delay_s: float, words: list[str]) -> None:
    """Do a command of `braid` whose every sync takes `delay_s` longer, and is counted."""
    sync, lock = os.fdatasync, Lock()
    with counter.open("r+b") as file, mmap.mmap(file.fileno(), _COUNT.size) as shared:

        def slow_sync(fd: int) -> None:
            if delay_s:
                time.sleep(delay_s)
            sync(fd)
            with lock:
                _COUNT.pack_into(shared, 0, _COUNT.unpack_from(shared)[0] + 1)

        os.fdatasync = slow_sync  # type: ignore[assignment]
        sys.argv = ["braid", *words]
        run()


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
