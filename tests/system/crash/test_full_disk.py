"""A full disk, or a used-up quota, refuses appends and keeps no erasure out, whatever a crash has left (SPEC §9.4)."""

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import braid
from braid.ledger.audit.verify import verify
from braid.tools.lab.torture.disk import SmallDisk
from braid.wal import failpoint
from braid.wal.errors import NoRoomError


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    failpoint.arm(None)


def full(code: int, *points: str, until: Path | None = None) -> Callable[[str], None]:
    """Return a hook by which there is no room at these points, as long as the file `until` is there."""

    def hook(name: str) -> None:
        if name in points and (until is None or until.exists()):
            raise OSError(code, os.strerror(code))

    return hook


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_an_index_left_behind_by_a_crash_keeps_no_erasure_out(store: Path, code: int) -> None:
    with braid.open(store) as opened:
        ids = [opened.append(f"memory {number}") for number in range(5)]
    index = store / "log" / "000000000000.idx"
    index.write_bytes(
        index.read_bytes()[: 3 * 24]
    )  # it is written with heads alone: a crash leaves it behind
    failpoint.arm(full(code, "wal.idx.rebuild", "wal.idx"))
    with braid.open(store) as opened:
        opened.erase(ids[1])
        assert opened.get(ids[4]).text == "memory 4"
    failpoint.arm(None)
    with braid.open(store) as opened:
        assert opened.get(ids[4]).text == "memory 4"
    assert [str(finding) for finding in verify(store, deep=True, workers=1).findings] == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_the_reserve_is_given_up_for_an_erasure(store: Path, code: int) -> None:
    with braid.open(store) as opened:
        id = opened.append("to go")
        failpoint.arm(full(code, "wal.write", until=store / "reserve"))
        with pytest.raises(OSError, match=os.strerror(code)):
            opened.append("no room")
        opened.erase(id)
        failpoint.arm(None)
        opened.append("room again")
    assert [str(finding) for finding in verify(store, deep=True, workers=1).findings] == []


def test_a_key_is_looked_up_without_room(tmp_path: Path) -> None:
    """What is kept of the keys is a file too: that it can't be made harms nothing, and no key appends twice."""
    disk = SmallDisk(tmp_path / "disk")
    try:
        if not disk.mounted:
            pytest.skip("needs a user who may mount")
        store = disk.folder / "memory"
        with braid.open(store, guard_dir=tmp_path / "guard") as opened:
            opened.append("before")
        disk.fill()
        with (
            pytest.raises(OSError, match=os.strerror(errno.ENOSPC)),
            braid.open(store, guard_dir=tmp_path / "guard") as opened,
        ):
            opened.append("once", idempotency_key="k")
        disk.clear()
        with braid.open(store, guard_dir=tmp_path / "guard") as opened:
            assert opened.append("once", idempotency_key="k") == opened.append("once", idempotency_key="k")
            assert len([record for record in opened.read() if record.text == "once"]) == 1
            assert opened.verify(deep=True).exit_code == 0
    finally:
        disk.close()


def test_a_compaction_says_what_room_it_lacks_and_leaves_nothing_behind(tmp_path: Path) -> None:
    disk = SmallDisk(tmp_path / "disk")
    try:
        if not disk.mounted:
            pytest.skip("needs a user who may mount")
        store, guard = disk.folder / "memory", tmp_path / "guard"
        with braid.open(store, guard_dir=guard) as opened:
            gone, kept = opened.append(os.urandom(200_000).hex()), opened.append(os.urandom(1_000_000).hex())
            text = opened.get(kept).text
            opened.erase(gone)
            needed = 0
            for free_kib in (0, 1_000):
                disk.nearly_fill(free_kib)
                with pytest.raises(NoRoomError, match="bytes must be free") as met:
                    opened.compact()
                needed = met.value.needed
                assert 2_000_000 < needed < 2_100_000
                assert list((store / "log").glob(".*")) == []
                disk.clear()
            assert (store / "reserve").stat().st_size == 1 << 20
            disk.nearly_fill((needed >> 10) + 40)
            assert opened.compact() > 400_000
            assert opened.get(kept).text == text
        disk.clear()
        assert [str(finding) for finding in verify(store, deep=True, workers=1).findings] == []
    finally:
        disk.close()
