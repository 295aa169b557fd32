"""A closed store says so, whatever is asked of it."""

import asyncio
import errno
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import braid
from braid.wal import failpoint

ASKED: dict[str, Callable[[Any, str], Any]] = {
    "append": lambda store, id: store.append("more"),
    "remember": lambda store, id: store.remember([{"role": "user", "content": "more"}]),
    "correct": lambda store, id: store.correct(id, "other"),
    "get": lambda store, id: store.get(id),
    "read": lambda store, id: list(store.read()),
    "trace": lambda store, id: store.trace(id),
    "prove": lambda store, id: store.prove(id),
    "sql": lambda store, id: store.sql("SELECT 1"),
    "replay": lambda store, id: store.replay(),
    "verify": lambda store, id: store.verify(),
    "forget": lambda store, id: store.forget(id),
    "erase": lambda store, id: store.erase(id),
    "checkpoint": lambda store, id: store.checkpoint(),
    "status": lambda store, id: store.status(),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_closed_store_says_so(tmp_path: Path, name: str) -> None:
    store = braid.open(tmp_path / "memory")
    id = store.append("one")
    writer = store.writer
    store.close()
    store.close()
    with pytest.raises(ValueError, match="was closed"):
        ASKED[name](store, id)
    with pytest.raises(ValueError, match="was closed"):
        writer.checkpoint()
    with braid.open(tmp_path / "memory") as again:
        assert again.get(id).text == "one"


# -- closing where nothing can be written -------------------------------------------------------------


@pytest.fixture
def full() -> Iterator[Callable[[str], None]]:
    """A function that lets the disk be full at a point."""

    def arm(point: str) -> None:
        def hook(name: str) -> None:
            if name == point:
                raise OSError(errno.ENOSPC, "No space left on device")

        failpoint.arm(hook)

    yield arm
    failpoint.arm(None)


@pytest.mark.parametrize("point", ["guard.write", "tile.write", "checkpoint.write", "checkpoint.history"])
def test_a_full_disk_at_the_end_is_told_by_name_and_loses_nothing(
    tmp_path: Path, full: Callable[[str], None], point: str
) -> None:
    store = braid.open(tmp_path / "memory")
    id = store.append("one")
    full(point)
    with pytest.raises(braid.UnpublishedError, match=r"in the log and safe, .*No space left") as told:
        store.close()
    assert isinstance(told.value, (braid.LedgerError, OSError))
    assert told.value.errno == errno.ENOSPC
    failpoint.arm(None)
    with braid.open(tmp_path / "memory") as again:  # the lock was given back
        assert again.get(id).text == "one"
        assert again.reader.published.size == len(again)


def test_what_was_raised_within_is_not_masked(tmp_path: Path, full: Callable[[str], None]) -> None:
    def use() -> None:
        with braid.open(tmp_path / "memory") as store:
            store.append("one")
            full("guard.write")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as told:
        use()
    assert "could not be published" in told.value.__notes__[0]


def test_nor_is_it_by_the_async_twin(tmp_path: Path, full: Callable[[str], None]) -> None:
    async def use(error: type[Exception] | None) -> None:
        async with await braid.open_async(tmp_path / "memory") as store:
            await store.append("one")
            full("guard.write")
            if error is not None:
                raise error

    with pytest.raises(KeyError) as told:
        asyncio.run(use(KeyError))
    assert "could not be published" in told.value.__notes__[0]
    failpoint.arm(None)
    with pytest.raises(braid.UnpublishedError):
        asyncio.run(use(None))
