"""The calls that make bytes durable: all bytes or an error, old file or new, and failpoints on both sides."""

import errno
import os
import resource
import shutil
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from braid.wal import durable, failpoint
from braid.wal.durable import (
    create_file,
    make_folder,
    no_room,
    remove_tree,
    replace_file,
    sync_data,
    write_all,
)
from braid.wal.errors import ObstructedError


class DeathError(BaseException):
    """Stands for the process dying."""


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    """Leave no failpoint armed behind."""
    yield
    failpoint.arm(None)


def dying_at(name: str) -> None:
    """Arm a death at the failpoint."""

    def hook(passed: str) -> None:
        if passed == name:
            raise DeathError(name)

    failpoint.arm(hook)


def mode(path: Path) -> int:
    """Return the permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


def test_short_writes_go_on_until_every_byte_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data[:3])))
    create_file(tmp_path / "file", b"0123456789", "test.write")
    assert (tmp_path / "file").read_bytes() == b"0123456789"


def test_a_step_is_counted_once_it_is_done_and_passes_two_failpoints(tmp_path: Path) -> None:
    passed: list[str] = []
    failpoint.arm(passed.append)
    before = durable.counts["test.step"]
    fd = os.open(tmp_path / "file", os.O_WRONLY | os.O_CREAT)
    write_all(fd, b"x", "test.step")
    sync_data(fd, "test.step")
    os.close(fd)
    assert passed == ["test.step", "test.step.done"] * 2
    assert durable.counts["test.step"] == before + 2


def test_files_and_folders_are_the_owners_alone(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    create_file(tmp_path / "a" / "b" / "file", b"", "test.write")
    replace_file(tmp_path / "a" / "b" / "other", b"", "test.write")
    assert [mode(tmp_path / "a"), mode(tmp_path / "a" / "b")] == [0o700, 0o700]
    assert [mode(path) for path in (tmp_path / "a" / "b").iterdir()] == [0o600, 0o600]


@pytest.mark.parametrize(
    ("point", "content"),
    [("test.write", b"old"), ("test.write.done", b"old"), ("test.write.renamed", b"new")],
)
def test_a_replaced_file_is_the_old_or_the_new_wherever_it_dies(
    tmp_path: Path, point: str, content: bytes
) -> None:
    path = tmp_path / "file"
    replace_file(path, b"old", "test.write")
    dying_at(point)
    with pytest.raises(DeathError):
        replace_file(path, b"new", "test.write")
    assert path.read_bytes() == content
    failpoint.arm(None)
    replace_file(path, b"newer", "test.write")
    assert path.read_bytes() == b"newer"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_an_error_of_the_system_comes_through_and_leaves_no_descriptor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0  # noqa: PTH208

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        replace_file(tmp_path / "file", b"data", "test.write")
    assert not (tmp_path / "file").exists()
    if open_before:
        assert len(os.listdir("/proc/self/fd")) == open_before  # noqa: PTH208


def test_a_kill_order_names_a_point_and_which_pass_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    monkeypatch.setattr(os, "kill", lambda _pid, number: killed.append(number))
    failpoint.arm(failpoint.kill_at("wal.sync@2"))
    for name in ("wal.sync", "wal.write", "wal.sync.done"):
        failpoint.failpoint(name)
    assert killed == []
    failpoint.failpoint("wal.sync")
    failpoint.failpoint("wal.sync")
    assert killed == [signal.SIGKILL]


@pytest.mark.parametrize("below", [".", "b", "b/c"])
def test_a_file_where_a_folder_belongs_is_named_and_left(tmp_path: Path, below: str) -> None:
    (tmp_path / "a").write_text("mine")
    with pytest.raises(ObstructedError, match="a: a file stands where a folder belongs; move it away"):
        make_folder(tmp_path / "a" / below)
    assert (tmp_path / "a").read_text() == "mine"


def test_a_folder_is_removed_though_another_writes_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "set"
    (folder / "inner").mkdir(parents=True)
    remove, late = shutil.rmtree, iter(["one", "two"])

    def beaten(path: Path) -> None:
        for name in late:
            (path / "inner" / name).touch()
            raise OSError(errno.ENOTEMPTY, "Directory not empty", "inner")
        remove(path)

    monkeypatch.setattr(shutil, "rmtree", beaten)
    monkeypatch.setattr("braid.wal.durable.sleep", lambda _: None)
    remove_tree(folder)
    assert not folder.exists()
    remove_tree(folder)  # another was faster


def test_what_can_not_be_removed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(shutil, "rmtree", refuse)
    with pytest.raises(PermissionError):
        remove_tree(tmp_path)


@pytest.mark.parametrize(
    ("limit", "free", "number"),
    [
        (resource.RLIM_INFINITY, 0, errno.ENOSPC),
        (resource.RLIM_INFINITY, 1 << 40, errno.ENOSPC),
        (1 << 20, 1 << 30, errno.EFBIG),
        (1 << 20, 1 << 10, errno.ENOSPC),
    ],
)
def test_what_kept_a_file_from_growing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, free: int, number: int
) -> None:
    """A disk that has less free than a file may have is what was met first."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    assert no_room(tmp_path) == number
