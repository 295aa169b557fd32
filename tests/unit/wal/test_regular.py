"""Files in folders that others may have made: nothing is followed, nothing is waited for."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from braid.wal.durable import create_file, fresh_folder, replace_file
from braid.wal.errors import ObstructedError
from braid.wal.regular import copy_regular, entries_below, open_regular, read_regular


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as held:
        here = Path.cwd()
        os.chdir(path.parent)  # a socket's path is short
        try:
            held.bind(path.name)
        finally:
            os.chdir(here)


STRANGE: list[Callable[[Path], None]] = [
    os.mkfifo,
    _socket,
    lambda path: path.symlink_to("/dev/zero"),
    lambda path: path.symlink_to(path),
    lambda path: path.symlink_to(path.with_name("other")),
]


@pytest.mark.parametrize("make", STRANGE)
def test_only_a_regular_file_is_read_written_or_copied(tmp_path: Path, make: Callable[[Path], None]) -> None:
    (tmp_path / "other").write_bytes(b"somebody's")
    path = tmp_path / "file"
    make(path)
    for act in (
        read_regular,
        lambda one: open_regular(one, os.O_WRONLY | os.O_CREAT),
        lambda one: create_file(one, b"mine", "step"),
        lambda one: copy_regular(one, tmp_path / "copy"),
    ):
        with pytest.raises(ObstructedError, match="stands where a file belongs; move it away"):
            act(path)
    assert (tmp_path / "other").read_bytes() == b"somebody's"


def test_a_folder_is_said_to_be_one(tmp_path: Path) -> None:
    for flags in (os.O_RDONLY, os.O_WRONLY):
        with pytest.raises(IsADirectoryError, match=r": a folder stands where a file belongs; move it away"):
            open_regular(tmp_path, flags)


def test_no_more_is_read_than_a_file_may_have(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_regular(path, 5) == b"12345"
    with pytest.raises(ObstructedError, match="a file of 5 bytes stands where one of at most 4 belongs"):
        read_regular(path, 4)
    os.truncate(path, 1 << 40)
    with pytest.raises(ObstructedError):
        read_regular(path)


def test_a_size_that_is_no_promise_is_not_believed() -> None:
    """As in /proc, where each file says that it has no byte."""
    assert read_regular(Path("/proc/self/stat"))
    with pytest.raises(ObstructedError):
        read_regular(Path("/proc/self/stat"), 10)


def test_a_replacement_is_not_written_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"somebody's")
    (tmp_path / ".file.new").symlink_to(tmp_path / "other")
    with pytest.raises(ObstructedError):
        replace_file(tmp_path / "file", b"mine", "step")
    (tmp_path / "file").symlink_to(tmp_path / "other")
    (tmp_path / ".file.new").unlink()
    replace_file(tmp_path / "file", b"mine", "step")
    assert not (tmp_path / "file").is_symlink()
    assert (tmp_path / "other").read_bytes() == b"somebody's"


def test_a_fresh_folder_is_empty_and_is_no_link(tmp_path: Path) -> None:
    (tmp_path / "old" / "in").mkdir(parents=True)
    fresh_folder(tmp_path / "old")
    assert list((tmp_path / "old").iterdir()) == []
    assert (tmp_path / "old").stat().st_mode & 0o777 == 0o700
    (tmp_path / "other" / "in").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "other")
    with pytest.raises(ObstructedError, match="a link stands where a new folder belongs"):
        fresh_folder(tmp_path / "link")
    assert (tmp_path / "other" / "in").is_dir()


def test_what_is_below_a_folder_is_listed_behind_no_link(tmp_path: Path) -> None:
    (tmp_path / "one" / "two" / "three").mkdir(parents=True)
    (tmp_path / "one" / "link").symlink_to(tmp_path)
    names = sorted(entry.name for entry in entries_below(tmp_path))
    assert names == ["link", "one", "three", "two"]
    assert sorted(entry.name for entry in entries_below(tmp_path, 1)) == ["link", "one", "two"]
