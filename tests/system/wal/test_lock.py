"""The writer's lock holds against every other handle: in this process, in a thread, in another process."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from braid.wal.errors import LogLockedError, ObstructedError
from braid.wal.lock import FileLock

TRY = """
import sys
from pathlib import Path
from braid.wal.errors import LogLockedError
from braid.wal.lock import FileLock
lock = FileLock(Path(sys.argv[1]))
try:
    lock.acquire()
except LogLockedError:
    print("refused", flush=True)
else:
    print("taken", flush=True)
    sys.stdin.read()
"""


def _file(path: Path) -> Path:
    path.touch()
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the lock lies."""
    return tmp_path / "lock"


def test_two_handles_of_one_process_exclude_each_other(path: Path) -> None:
    one, two = FileLock(path), FileLock(path)
    one.acquire()
    assert (one.held, two.held) == (True, False)
    with pytest.raises(LogLockedError, match=r"open for writing already in this process.*shared=True"):
        two.acquire()
    one.release()
    one.release()
    two.acquire()
    with pytest.raises(LogLockedError):
        one.acquire()
    two.release()


def test_a_child_of_a_fork_is_not_sent_to_what_it_inherited(path: Path) -> None:
    one = FileLock(path)
    one.acquire()
    if (child := os.fork()) == 0:
        try:
            FileLock(path).acquire()
        except LogLockedError as error:
            os._exit(0 if "open for writing elsewhere" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with pytest.raises(LogLockedError, match="already in this process"):
        FileLock(path).acquire()
    one.release()


def test_other_descriptors_of_the_file_that_close_do_not_drop_the_lock(path: Path) -> None:
    """POSIX record locks would be dropped here."""
    one = FileLock(path)
    one.acquire()
    path.read_bytes()
    with pytest.raises(LogLockedError):
        FileLock(path).acquire()
    one.release()


def test_another_process_is_refused_and_refuses(path: Path) -> None:
    lock = FileLock(path)
    lock.acquire()
    refused = subprocess.run([sys.executable, "-c", TRY, path], capture_output=True, check=True, input=b"")
    assert refused.stdout == b"refused\n"
    lock.release()
    with subprocess.Popen(
        [sys.executable, "-c", TRY, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"taken\n"
        with pytest.raises(LogLockedError):
            lock.acquire()
        holder.kill()  # the system gives back what a dead process held
    lock.acquire(wait_s=5)
    lock.release()


def test_waiting_ends_when_the_holder_is_done_or_the_time_is_up(path: Path) -> None:
    one, two = FileLock(path), FileLock(path)
    one.acquire()
    start = time.monotonic()
    with pytest.raises(LogLockedError, match=r"waited 0\.05 s"):
        two.acquire(wait_s=0.05)
    assert time.monotonic() - start >= 0.05
    timer = threading.Timer(0.05, one.release)
    timer.start()
    two.acquire(wait_s=30)
    timer.join()
    assert two.held
    two.release()


def whole(path: Path) -> tuple[int, ...]:
    """Return what would change if anything were written there; looking at a link changes when it was looked at."""
    held = path.lstat()
    return held.st_ino, held.st_mode, held.st_nlink, held.st_size, held.st_mtime_ns


@pytest.mark.parametrize(
    ("found", "make"),
    [
        ("a folder", os.mkdir),
        ("something else", os.mkfifo),
        ("a link", lambda path: path.symlink_to("/dev/null")),
        ("a link", lambda path: path.symlink_to(path)),
        ("a link", lambda path: path.symlink_to("/nowhere/at/all")),
        ("a link", lambda path: path.symlink_to(path.with_name("elsewhere"))),
        ("a link", lambda path: path.symlink_to(_file(path.with_name("other")))),
    ],
    ids=[
        "folder",
        "pipe",
        "device",
        "link to itself",
        "link to nothing",
        "link to no file yet",
        "link to a file",
    ],
)
def test_what_is_no_file_is_named_and_left(path: Path, found: str, make: Callable[[Path], object]) -> None:
    make(path)
    before = whole(path)
    with pytest.raises(
        ObstructedError, match=f"lock: {found} stands where a lock file belongs; move it away"
    ) as told:
        FileLock(path).acquire()
    assert (told.value.path, told.value.found) == (path, found)
    assert isinstance(told.value, OSError), "who can do without the lock does"
    assert whole(path) == before
    assert not path.with_name("elsewhere").exists(), "nothing is made where a link leads"


def test_a_folder_may_be_reached_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "link").symlink_to("store")
    one, two = FileLock(tmp_path / "link" / "lock"), FileLock(tmp_path / "store" / "lock")
    one.acquire()
    with pytest.raises(LogLockedError):
        two.acquire()
    one.release()


def test_a_file_above_the_lock_is_the_one_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "views").write_text("mine")
    with pytest.raises(ObstructedError, match="views: a file stands where a folder belongs"):
        FileLock(tmp_path / "views" / "duck" / "lock").acquire()
